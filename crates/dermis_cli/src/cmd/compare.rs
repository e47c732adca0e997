//! `dermis compare`: every method on the same examples.

use std::path::{Path, PathBuf};

use anyhow::bail;
use dermis::compare::{CompareOptions, Comparison, ComparisonRow, compare, row_names};
use dermis::fit::Method;
use dermis::progress::Progress;
use dermis_io::{IoError, Transaction, WriteOptions};
use serde_json::Value;

use super::compare_decompositions;
use super::fit::skin_document;
use crate::Outcome;
use crate::args::CompareArgs;
use crate::examples::{Prepared, parse_split, prepare_examples, read_tests};
use crate::option_flags::{GivenOption, and, has_option, methods_with};
use crate::overwrite;
use crate::report;
use crate::resumed::EarlierRows;
use crate::talk::Talk;

pub(crate) fn run(args: &CompareArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let saved = args.save.iter().flat_map(|folder| skins_in(folder));
    let saved: Vec<PathBuf> = saved.collect();
    overwrite::check(
        saved.iter().chain(&args.report),
        args.examples.files(),
        talk,
    )?;
    if let Some(bone_count) = args.decompose {
        return compare_decompositions::run(args, bone_count, talk);
    }
    refuse_flags_without_their_method(args)?;
    if args.resume.is_some() {
        // Rows are worth keeping for the same inputs alone.
        dermis_io::record_reads();
    }
    let mut methods = methods(args)?;
    for method in &methods {
        method.check()?;
    }
    let prepared = prepare_examples(&args.examples, talk)?;
    if let Some(folder) = &args.save {
        super::check_faces(&prepared.look, &folder.join("skin.glb"))?;
    }
    let set = &prepared.set;
    if let Some(target) = args.target_error {
        for method in &mut methods {
            target.set(method, set)?;
        }
    }
    let split = parse_split(&args.examples.hold_out, set, talk)?;
    let tests = read_tests(&args.examples, &prepared, talk)?;
    let folds = set.folds(&split)?;
    if tests.is_empty() && folds.iter().all(|fold| fold.held_out.is_empty()) {
        talk.remark(
            "warning: nothing is held out, so the numbers say how well each method repeats the \
             examples, which favours the one with the most unknowns; --hold-out every:4 or one would \
             say how well it does in other poses",
        );
    }
    let options = CompareOptions {
        surface: args.surface,
        ..CompareOptions::default()
    };
    let known = Known::new(args.resume.as_deref(), &methods, talk)?;
    let progress = &Patient { talk };
    let mut comparison = match known.missing.is_empty() {
        true => Comparison::default(),
        false => compare(set, &split, &known.missing, &options, progress)?,
    };
    for test in &tests {
        comparison.measure_on(&test.name, &test.set)?;
    }
    let failed = (comparison.rows.iter())
        .find_map(|row| row.outcome.as_ref().err())
        .filter(|_| known.is_all_missing() && comparison.compared().next().is_none())
        .map(ToString::to_string);
    let rows = known.with(&mut comparison, |row| report::row_data(set, row));
    let report = report::report_of_rows(set, rows, report::command_line());
    let is_stopped = !comparison.unfinished.is_empty();
    // A page of reasons is no comparison, and one of some methods is not what was asked for.
    let page = match (args.report.as_ref()).filter(|_| failed.is_none() && !is_stopped) {
        Some(path) => {
            let figures = report::comparison_figures(set, &comparison, args.up, talk)?;
            Some((path, report::html(&report, &figures)?))
        }
        None => None,
    };
    let mut files = Transaction::new();
    let mut written = match &args.save {
        Some(folder) => add_skins(&mut files, &prepared, &comparison, folder, talk)?,
        None => Vec::new(),
    };
    if let Some((path, page)) = &page {
        files.add(path, page.as_bytes())?;
        written.push((*path).clone());
    }
    if let Some(path) = &args.resume {
        files.add(path, report::as_json(&report)?.as_bytes())?;
        written.push(path.clone());
    }
    files.commit()?;
    talk.clear();
    report::print(&report, args.print)?;
    for path in &written {
        talk.remark_written(&[path]);
    }
    if is_stopped {
        let finished = methods.len() - comparison.unfinished.len();
        bail!(
            "stopped after {finished} of {} methods; {}",
            methods.len(),
            match &args.resume {
                Some(path) => format!(
                    "the same command goes on with the rest, and takes what is finished from {}",
                    path.display()
                ),
                None => "with --resume FILE the numbers of finished methods are kept, and the same command goes on \
                         with the rest"
                    .to_owned(),
            }
        );
    }
    match failed {
        Some(reason) => bail!("no method could be fitted: {reason}"),
        None => Ok(Outcome::Done),
    }
}

/// Passes progress on; from the second method on there is a result to keep, so that the end is waited for.
struct Patient<'a> {
    talk: &'a Talk,
}

impl Progress for Patient<'_> {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        if !stage.starts_with("method 1 of ") {
            self.talk.finish_when_stopped();
        }
        self.talk.report(stage, done, total)
    }

    fn detail(&self, text: &str) {
        self.talk.detail(text);
    }
}

/// Which methods an earlier run has finished.
struct Known {
    /// A row for each method that was asked for, where an earlier run has it, and its names.
    rows: Vec<(Option<Value>, [String; 2])>,
    /// The methods that are still to be fitted.
    missing: Vec<Method>,
}

impl Known {
    fn new(file: Option<&Path>, methods: &[Method], talk: &Talk) -> anyhow::Result<Self> {
        let earlier = file.map(EarlierRows::read).transpose()?;
        let row = |(method, names): (&Method, [String; 2])| {
            let row = earlier
                .as_ref()
                .and_then(|rows| rows.row_of(method, &names));
            (row, names)
        };
        let rows: Vec<_> = methods.iter().zip(row_names(methods)).map(row).collect();
        let reused: Vec<&str> = (rows.iter().filter(|(row, _)| row.is_some()))
            .map(|(_, [label, _])| label.as_str())
            .collect();
        if let (Some(file), false) = (file, reused.is_empty()) {
            talk.remark(format!(
                "note: {} reused from {}: the inputs, options and version are the same",
                match &reused[..] {
                    [one] => format!("{one} is"),
                    several => format!("{} are", and(several)),
                },
                file.display()
            ));
        }
        let missing = methods.iter().zip(&rows);
        let missing = missing.filter(|(_, (row, _))| row.is_none());
        Ok(Self {
            missing: missing.map(|(method, _)| method.clone()).collect(),
            rows,
        })
    }

    fn is_all_missing(&self) -> bool {
        self.missing.len() == self.rows.len()
    }

    /// The rows of both runs in the order of the methods; new ones get the names that they have among all.
    fn with(
        self,
        comparison: &mut Comparison,
        data: impl Fn(&ComparisonRow) -> Value,
    ) -> Vec<Value> {
        let mut new = comparison.rows.iter_mut();
        let row = |(known, [label, title]): (Option<Value>, [String; 2])| match known {
            Some(row) => Some(row),
            None => {
                let row = new.next()?;
                (row.label, row.title) = (label, title);
                Some(data(row))
            }
        };
        self.rows.into_iter().filter_map(row).collect()
    }
}

/// Every method that was asked for, with the options that it has; of an option with several values, a row for each.
fn methods(args: &CompareArgs) -> anyhow::Result<Vec<Method>> {
    let mut rows = Vec::new();
    for method in Method::all(args.max_influences) {
        if !args.methods.is_empty() && !args.methods.iter().any(|key| key == method.key()) {
            continue;
        }
        let mut variants = vec![method];
        for GivenOption { name, values } in args.options.given() {
            if !has_option(&variants[0], name) {
                continue;
            }
            let mut set = Vec::new();
            for variant in &variants {
                for value in values {
                    let mut variant = variant.clone();
                    variant.set(name, value)?;
                    set.push(variant);
                }
            }
            variants = set;
        }
        // With a limit to its shapes, pose space deformation is EigenSkin: once is enough.
        for variant in variants {
            if !rows.contains(&variant) {
                rows.push(variant);
            }
        }
    }
    Ok(rows)
}

/// One sentence for a flag of methods that are not compared.
fn refuse_flags_without_their_method(args: &CompareArgs) -> anyhow::Result<()> {
    let is_compared =
        |method: &Method| args.methods.is_empty() || args.methods.iter().any(|m| m == method.key());
    let given = args.options.given().iter().map(|given| given.name);
    for name in given.chain(args.target_error.map(|_| "target-error")) {
        let methods = methods_with(name);
        if !methods.iter().any(is_compared) {
            let keys: Vec<&str> = methods.iter().map(Method::key).collect();
            let are_not = match &keys[..] {
                [_] => "which is not",
                _ => "none of which is",
            };
            bail!(
                "--{name} belongs to {}, {are_not} among --methods",
                and(&keys)
            );
        }
    }
    if let Some(target) = args.target_error {
        target.check()?;
    }
    for GivenOption { name, values } in args.options.given() {
        let mut values = values.clone();
        values.sort_unstable();
        if let Some(pair) = values.windows(2).find(|pair| pair[0] == pair[1]) {
            bail!("--{name}: {} is there twice", pair[0]);
        }
    }
    Ok(())
}

/// Files of a folder that may be skins which `--save` wrote before: they are named after methods.
fn skins_in(folder: &Path) -> Vec<PathBuf> {
    let is_skin = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let mut methods = Method::all(1).into_iter();
        name.is_some_and(|name| methods.any(|method| name.starts_with(method.key())))
    };
    let mut files = dermis_io::expand_inputs(&[folder.join("*.glb")]).unwrap_or_default();
    files.retain(is_skin);
    files
}

/// Adds every skin that there is to the files to write. One that its format cannot hold does not keep the others back.
fn add_skins(
    files: &mut Transaction,
    prepared: &Prepared,
    comparison: &Comparison,
    folder: &Path,
    talk: &Talk,
) -> anyhow::Result<Vec<PathBuf>> {
    let mut written = Vec::new();
    for (row, compared) in comparison.compared() {
        let path = folder.join(format!("{}.glb", row.label));
        let document = skin_document(
            prepared,
            &row.method,
            &compared.report,
            &compared.engine,
            talk,
        );
        match files.add_document(&path, &document, &WriteOptions::default()) {
            Ok(names) => written.extend(names),
            Err(IoError::Content { fault, .. }) => {
                talk.remark(format!("note: {} is not written: {fault}", path.display()));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(written)
}
