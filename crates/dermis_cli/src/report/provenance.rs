//! What a result was made from and how: enough to make it again, and to notice when it would be another.

use clap::{ArgMatches, CommandFactory};
use serde_json::{Map, Value, json};

use super::model::Report;
use crate::args::Cli;

/// What a result was made from and how.
#[derive(Debug, Default)]
pub(super) struct Provenance {
    command: String,
    /// Every flag of the command that has a value, given or not.
    options: Map<String, Value>,
    /// What was chosen beside that: methods with all their options.
    resolved: Map<String, Value>,
    /// Names and SHA-256 of the files that were read.
    inputs: Vec<[String; 2]>,
}

impl Provenance {
    /// That of a report of the command that is running.
    pub(super) fn of(report: &Report) -> Self {
        let read = dermis_io::recorded_reads().into_iter();
        Self {
            command: report.command.clone(),
            options: options(),
            resolved: report.resolved.clone(),
            inputs: read
                .map(|file| [file.path.display().to_string(), file.sha256])
                .collect(),
        }
    }

    /// As the JSON output has it.
    pub(super) fn json(&self) -> Value {
        let input = |[file, sha256]: &[String; 2]| json!({"file": file, "sha256": sha256});
        let mut value = json!({
            "dermis": env!("CARGO_PKG_VERSION"),
            "command": self.command,
            "options": self.options,
            "inputs": self.inputs.iter().map(input).collect::<Vec<_>>(),
        });
        for (key, resolved) in &self.resolved {
            value[key] = resolved.clone();
        }
        value
    }

    /// As the lines above a CSV table.
    pub(super) fn comments(&self) -> Vec<String> {
        let mut lines = vec![
            format!("dermis: {}", env!("CARGO_PKG_VERSION")),
            format!("command: {}", self.command),
            format!("options: {}", Value::Object(self.options.clone())),
        ];
        let resolved = self.resolved.iter();
        lines.extend(resolved.map(|(key, value)| format!("{key}: {value}")));
        let inputs = self.inputs.iter();
        lines.extend(inputs.map(|[file, sha256]| format!("input: {file} sha256:{sha256}")));
        // A line break in a name would end the comment.
        let line = |line: &String| format!("# {}", line.replace(['\n', '\r'], " "));
        lines.iter().map(line).collect()
    }
}

/// Flags that change nothing of a result, or say what is printed of it.
const BESIDE_THE_RESULT: [&str; 9] = [
    "threads",
    "limit_memory",
    "quiet",
    "verbose",
    "color",
    "force",
    "json",
    "csv",
    "wide",
];

/// Every flag of the command that is running, with its value, by its long name.
fn options() -> Map<String, Value> {
    let matches = Cli::command().try_get_matches_from(std::env::args_os());
    match matches.as_ref().map(ArgMatches::subcommand) {
        Ok(Some((name, matches))) => options_of(name, matches),
        // Not by the program, but by a test of it.
        _ => Map::new(),
    }
}

fn options_of(command: &str, matches: &ArgMatches) -> Map<String, Value> {
    let mut cli = Cli::command();
    cli.build();
    let arguments = cli.find_subcommand(command);
    let mut options = Map::new();
    for argument in arguments.iter().flat_map(|command| command.get_arguments()) {
        let id = argument.get_id().as_str();
        let Some(name) = argument.get_long() else {
            continue;
        };
        let is_known = matches.try_contains_id(id).unwrap_or(false);
        if BESIDE_THE_RESULT.contains(&id) || !is_known {
            continue;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = values.map(|v| v.to_string_lossy().into_owned()).collect();
        let value = match &values[..] {
            [one] if one == "true" || one == "false" => json!(one == "true"),
            [one] => json!(one),
            several => json!(several),
        };
        if value != json!(false) {
            options.insert(name.to_owned(), value);
        }
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options_in(command: &str) -> Value {
        let matches = Cli::command().try_get_matches_from(command.split(' '));
        let matches = matches.expect("a good command");
        let (name, matches) = matches.subcommand().expect("a command");
        Value::Object(options_of(name, matches))
    }

    #[test]
    fn every_flag_has_its_value_whether_it_was_given_or_not() {
        let options = options_in("dermis fit in.npz -o out.glb --threads 2 --json --plain-exact");
        assert_eq!(options["hold-out"], "every:4", "a default: {options:#}");
        assert_eq!(options["output"], "out.glb", "given: {options:#}");
        assert_eq!(options["plain-exact"], true, "a switch: {options:#}");
        assert_eq!(options["reorder"], Value::Null, "not given: {options:#}");
        assert_eq!(options["threads"], Value::Null, "no matter: {options:#}");
    }

    #[test]
    fn comments_are_lines_that_begin_with_a_sign() {
        let provenance = Provenance {
            command: "dermis test 'a\nb'".to_owned(),
            inputs: vec![["a.npz".to_owned(), "00ff".to_owned()]],
            ..Provenance::default()
        };
        let lines = provenance.comments();
        assert!(lines.iter().all(|line| line.starts_with("# ")), "{lines:?}");
        assert!(lines.iter().all(|line| !line.contains('\n')), "{lines:?}");
        assert_eq!(
            lines.last().map(String::as_str),
            Some("# input: a.npz sha256:00ff"),
            "what was read"
        );
    }
}
