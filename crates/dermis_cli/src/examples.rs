//! The examples of a command, and which of them are held out.

use anyhow::bail;
use dermis::document::{Note, TestSet, free_name};
use dermis::{ExampleSet, Split};
use dermis_io::{DocumentError, ExampleOptions, InputError, InputOptions, read_examples};

pub(crate) use dermis::document::AssembledExamples as Prepared;

use crate::args::ExampleArgs;
use crate::cmd::measure::said_still;
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

/// Reads the sets of `--test`: examples of the same mesh and bones that nothing is fitted to.
pub(crate) fn read_tests(
    args: &ExampleArgs,
    prepared: &Prepared,
    talk: &Talk,
) -> anyhow::Result<Vec<TestSet>> {
    let matching = &args.sequence.matching;
    let options = ExampleOptions {
        inputs: InputOptions {
            rest: None,
            ..args.sequence.options(talk)
        },
        frames_per_second: args.fps,
        ..ExampleOptions::default()
    };
    let mut tests: Vec<TestSet> = Vec::new();
    for file in &args.test {
        let read = match read_examples(&[file], &options, talk) {
            Err(InputError::Document(DocumentError::NoPoses { .. })) => bail!(
                "{}: --test takes examples with the pose of the skeleton in each: an .npz file with bone_pose, or a \
                 skinned file with clips",
                file.display()
            ),
            other => other.explained(matching)?,
        };
        // Clips of a test are not written: what they might be taken for is no matter.
        let of_reading = |note: &&Note| matches!(note, Note::Reading { .. });
        talk.remark_all(read.notes.iter().filter(of_reading));
        let fitted = (&prepared.set, prepared.look.path.as_path());
        let test = read
            .look
            .as_test_of(&read.set, fitted.0, fitted.1, &matching.options(talk));
        let (mut test, notes) = test.explained(matching)?;
        talk.remark_all(&notes);
        if !test.still.is_empty() {
            talk.remark(format!(
                "note: {} poses part of the bones{}",
                file.display(),
                said_still(&test.still)
            ));
        }
        test.name = free_name(&test.name, |name| tests.iter().any(|t| t.name == name));
        tests.push(test);
    }
    Ok(tests)
}

/// What `--hold-out` takes.
const HELD_OUT: &str =
    "expected every:N, one, none, or numbers such as 3,7,9 and names such as 'run_*'";

/// Reads `--hold-out`.
pub(crate) fn parse_split(
    texts: &[String],
    set: &ExampleSet,
    talk: &Talk,
) -> anyhow::Result<Split> {
    let split = split_of(texts, set)?;
    let folds = set.folds(&split)?;
    talk.say_more(|| {
        let held_out: usize = folds.iter().map(|fold| fold.held_out.len()).sum();
        let (all, tests) = (set.examples().len(), plural(folds.len(), "test"));
        let text = texts.join(" ");
        format!("--hold-out {text}: {held_out} of {all} held out, in {tests}")
    });
    Ok(split)
}

fn split_of(texts: &[String], set: &ExampleSet) -> anyhow::Result<Split> {
    let examples = set.examples();
    if let [text] = texts {
        match (text.as_str(), text.strip_prefix("every:")) {
            ("none", _) => return Ok(Split::TrainOnAll),
            ("one", _) => return Ok(Split::LeaveOneOut),
            (_, Some(n)) => {
                return match n.parse::<usize>() {
                    // Fewer examples than that leave none to hold out.
                    Ok(n) if n >= 2 && n > examples.len() => Ok(Split::TrainOnAll),
                    Ok(n) if n >= 2 => Ok(Split::EveryNth(n)),
                    _ => bail!(
                        "--hold-out {text}: expected a whole number of at least 2 after every:"
                    ),
                };
            }
            _ => {}
        }
    }
    let mut held_out = Vec::new();
    for item in texts.iter().flat_map(|text| text.split(',')).map(str::trim) {
        if let Ok(number) = item.parse::<usize>() {
            held_out.push(number);
            continue;
        }
        if matches!(item, "none" | "one") || item.starts_with("every:") {
            bail!("--hold-out {item}: stands alone; {HELD_OUT}");
        }
        let named = (0..examples.len()).filter(|&k| matches_pattern(item, &examples[k].name));
        let before = held_out.len();
        held_out.extend(named);
        if held_out.len() == before {
            bail!(
                "--hold-out {item}: no example has such a name, the first is '{}'; {HELD_OUT}",
                examples.first().map_or("", |e| e.name.as_str())
            );
        }
    }
    Ok(Split::HoldOut(held_out))
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
    use super::*;
    use dermis::synth::{TubeOptions, tube};

    #[test]
    fn numbers_names_and_patterns_are_held_out_together() {
        let set = tube(&TubeOptions {
            ring_count: 4,
            segment_count: 3,
            bone_count: 2,
            example_count: 6,
        });
        let set = set.examples;
        let name = |k: usize| set.examples()[k].name.clone();
        let split = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
            split_of(&texts, &set)
        };
        let held_out = |texts: &[&str]| split(texts).expect("they are there");
        assert_eq!(held_out(&["3,1"]), Split::HoldOut(vec![3, 1]), "numbers");
        let names = format!("{},{}", name(2), name(4));
        assert_eq!(
            held_out(&[&names, "0"]),
            Split::HoldOut(vec![2, 4, 0]),
            "both"
        );
        let end = name(5);
        let end = end.chars().last().expect("a letter");
        let ends = (0..6).filter(|&k| name(k).ends_with(end)).collect();
        assert_eq!(
            held_out(&[&format!("*{end}")]),
            Split::HoldOut(ends),
            "a pattern"
        );
        assert_eq!(held_out(&["every:3"]), Split::EveryNth(3), "a rule");
        for (texts, part) in [
            (
                &["3", "walk_*"][..],
                "--hold-out walk_*: no example has such a name",
            ),
            (&["3", "one"], "--hold-out one: stands alone"),
            (&["every:1"], "at least 2"),
            (&[""], "no example has such a name"),
        ] {
            let error = split(texts).expect_err("refused").to_string();
            assert!(error.contains(part), "{texts:?}: {error}");
        }
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(matches_pattern("g_*", "g_0007"), "a prefix");
        assert!(matches_pattern("*_b", "a_b"), "a suffix");
        assert!(matches_pattern("a*c*e", "abcde"), "both and between");
        assert!(!matches_pattern("g_*", "10"), "another name");
        assert!(!matches_pattern("*x", "größe"), "letters of several bytes");
    }
}
