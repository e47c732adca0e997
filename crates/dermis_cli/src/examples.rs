//! The examples of a command, and which of them are held out.

use anyhow::{Context, bail};
use dermis::{ExampleSet, Split};
use dermis_io::{ExampleOptions, read_examples};

pub(crate) use dermis::document::AssembledExamples as Prepared;

use crate::args::ExampleArgs;
use crate::hints::Explained;
use crate::talk::{Talk, plural};

/// Reads the meshes of a command and finds the pose of each.
pub(crate) fn prepare_examples(args: &ExampleArgs, talk: &Talk) -> anyhow::Result<Prepared> {
    let options = ExampleOptions {
        inputs: args.sequence.options(talk),
        skeleton: args.skeleton.clone(),
        bones: args.bones,
        clip: args.clip.clone(),
        frames_per_second: args.fps,
    };
    let prepared =
        read_examples(&args.inputs, &options, talk).explained(&args.sequence.matching)?;
    talk.remark_all(&prepared.notes);
    let set = &prepared.set;
    talk.say_more(|| {
        format!(
            "{} of {} vertices, in poses of {}",
            plural(set.examples().len(), "example"),
            set.rest().vertex_count(),
            plural(set.skeleton().bone_count(), "bone")
        )
    });
    Ok(prepared)
}

/// Reads `--hold-out`.
pub(crate) fn parse_split(text: &str, set: &ExampleSet, talk: &Talk) -> anyhow::Result<Split> {
    let expected = "expected every:N, one, none, numbers such as 3,7,9, or names such as 'run_*'";
    let example_count = set.examples().len();
    let split = match text {
        "none" => Split::TrainOnAll,
        "one" => Split::LeaveOneOut,
        _ if text.contains('*') => {
            let matches = |k: &usize| matches_pattern(text, &set.examples()[*k].name);
            let named: Vec<usize> = (0..example_count).filter(matches).collect();
            if named.is_empty() {
                bail!(
                    "--hold-out {text}: no example has such a name; the first is '{}'",
                    set.examples().first().map_or("", |e| e.name.as_str())
                );
            }
            Split::HoldOut(named)
        }
        _ => match text.strip_prefix("every:") {
            Some(n) => match n.parse::<usize>() {
                // Fewer examples than that leave none to hold out.
                Ok(n) if n >= 2 && n > example_count => Split::TrainOnAll,
                Ok(n) if n >= 2 => Split::EveryNth(n),
                _ => bail!("--hold-out {text}: expected a whole number of at least 2 after every:"),
            },
            None => {
                let numbers: Result<Vec<usize>, _> = text
                    .split(',')
                    .map(|number| number.trim().parse())
                    .collect();
                Split::HoldOut(numbers.with_context(|| format!("--hold-out {text}: {expected}"))?)
            }
        },
    };
    let folds = set.folds(&split)?;
    talk.say_more(|| {
        let held_out: usize = folds.iter().map(|fold| fold.held_out.len()).sum();
        let tests = plural(folds.len(), "test");
        format!("--hold-out {text}: {held_out} of {example_count} held out, in {tests}")
    });
    Ok(split)
}

/// True when a name fits a pattern in which `*` stands for any letters.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|&at| rest.is_char_boundary(at))
                .any(|at| matches_pattern(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::matches_pattern;

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(matches_pattern("g_*", "g_0007"), "a prefix");
        assert!(matches_pattern("*_b", "a_b"), "a suffix");
        assert!(matches_pattern("a*c*e", "abcde"), "both and between");
        assert!(!matches_pattern("g_*", "10"), "another name");
        assert!(!matches_pattern("*x", "größe"), "letters of several bytes");
    }
}
