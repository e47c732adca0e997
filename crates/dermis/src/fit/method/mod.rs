//! The ways to fit, as one choice, and what each of them is: names, promises, options.
//!
//! A method describes itself once. Its [`MethodInfo`] says what it is and what can be relied on; its options are a table
//! of names, helps and setters beside the struct that holds them. Help texts, pages and the flags of programs are made
//! from these, and one suite of tests (`tests/all/every_method.rs`) holds every method to what it says.

mod choice;
mod info;
mod option;
mod shapes;

pub use choice::Method;
pub use info::{MethodInfo, Promises, StockPlayers, Weights};
pub use option::{MethodOption, OptionKind};

pub(in crate::fit) use option::{MethodOptions, OptionOf, count, describe, number, set, word_or};
