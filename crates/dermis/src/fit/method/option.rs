//! Options of methods by name: described, read and set as text.

use super::Method;
use crate::fit::{FitError, InfluenceChoice};

/// One option of a method, as the method has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodOption {
    /// Its name, words joined by `-`.
    pub name: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// What it does: a sentence without a full stop.
    pub help: &'static str,
    /// Its value as text, which [`Method::set`] takes.
    pub value: String,
    /// Another option whose place it takes: to set one undoes the other.
    pub instead_of: Option<&'static str>,
}

/// What an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// A whole number.
    Count {
        /// The smallest.
        least: usize,
        /// A word that may stand for a number.
        word: Option<&'static str>,
    },
    /// A number of at least 0.
    Number {
        /// A word that may stand for a number.
        word: Option<&'static str>,
    },
    /// An angle in degrees.
    Degrees {
        /// A word that may stand for an angle.
        word: Option<&'static str>,
    },
    /// One of some words.
    Words(&'static [&'static str]),
    /// The name of a method.
    Method {
        /// A word that may stand for one.
        word: &'static str,
    },
}

impl OptionKind {
    /// The words to choose from, where nothing else is taken.
    pub fn words(self) -> Option<Vec<&'static str>> {
        match self {
            Self::Words(words) => Some(words.to_vec()),
            Self::Method { word } => {
                let methods = Method::all(1);
                let names = methods.iter().map(|method| method.info().name());
                Some(names.chain([word]).collect())
            }
            _ => None,
        }
    }

    /// What could follow "expected".
    pub fn expected(self) -> String {
        let (word, number) = match self {
            Self::Count { least, word } => (word, format!("a whole number of at least {least}")),
            Self::Number { word } => (word, "a number of at least 0".to_owned()),
            Self::Degrees { word } => (word, "an angle in degrees".to_owned()),
            Self::Words(_) | Self::Method { .. } => {
                return self.words().unwrap_or_default().join(", ");
            }
        };
        match word {
            Some(word) => format!("{word} or {number}"),
            None => number,
        }
    }
}

/// What every struct of options can do.
pub(in crate::fit) trait MethodOptions {
    /// Checks that every option is in its range.
    fn check(&self) -> Result<(), FitError>;
    /// Most bones that may move one vertex.
    fn max_influences(&self) -> usize;
    fn set_max_influences(&mut self, max_influences: usize);
    /// Every other option, in the order of help texts.
    fn options(&self) -> Vec<MethodOption>;
    /// Sets an option of this name; `None` if there is none.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), FitError>>;
    /// Where the bones of each vertex can be given, if they can.
    fn influences_mut(&mut self) -> Option<&mut InfluenceChoice> {
        None
    }
}

/// A line of a table of options: of one field of `T`.
pub(in crate::fit) struct OptionOf<T> {
    pub(in crate::fit) name: &'static str,
    pub(in crate::fit) kind: OptionKind,
    pub(in crate::fit) help: &'static str,
    pub(in crate::fit) instead_of: Option<&'static str>,
    /// The value as text.
    pub(in crate::fit) get: fn(&T) -> String,
    /// Takes what `get` gives, and `None` for text of another kind. Ranges are for the check of all options.
    pub(in crate::fit) set: fn(&mut T, &str) -> Option<()>,
}

/// The options of a table with their values.
pub(in crate::fit) fn describe<T>(options: &T, table: &[OptionOf<T>]) -> Vec<MethodOption> {
    let describe = |line: &OptionOf<T>| MethodOption {
        name: line.name,
        kind: line.kind,
        help: line.help,
        value: (line.get)(options),
        instead_of: line.instead_of,
    };
    table.iter().map(describe).collect()
}

/// Sets the option of a table that has this name; `None` if none has.
pub(in crate::fit) fn set<T>(
    options: &mut T,
    table: &[OptionOf<T>],
    name: &str,
    text: &str,
) -> Option<Result<(), FitError>> {
    let line = table.iter().find(|line| line.name == name)?;
    Some(
        (line.set)(options, text).ok_or_else(|| FitError::BadOption {
            option: line.name,
            problem: format!("{text} is not {}", line.kind.expected()),
        }),
    )
}

/// A whole number.
pub(in crate::fit) fn count(text: &str) -> Option<usize> {
    text.parse().ok()
}

/// Any number.
pub(in crate::fit) fn number(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// `None` inside for the word, else what `parse` makes of the text.
pub(in crate::fit) fn word_or<T>(
    word: &str,
    text: &str,
    parse: fn(&str) -> Option<T>,
) -> Option<Option<T>> {
    match text == word {
        true => Some(None),
        false => parse(text).map(Some),
    }
}
