//! A flag for every option that a method has, made from what the library says about it.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use dermis::fit::{Method, MethodOption, OptionKind};

use crate::args::parse_count;

/// Options that commands have flags of their own for: `auto` has them, too.
const OWN: &[&str] = &["max-influences", "target-error"];

/// Options that `dermis compare` takes several values of, for a row each.
const LISTS: &[&str] = &["proxy-bones"];

/// The options of methods that were given, as typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct OptionFlags {
    given: Vec<GivenOption>,
}

/// A flag and its values: one, but for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GivenOption {
    pub(crate) name: &'static str,
    pub(crate) values: Vec<String>,
}

impl OptionFlags {
    /// What was given: the base first, because what follows may be for it.
    pub(crate) fn given(&self) -> &[GivenOption] {
        &self.given
    }

    /// The value of an option, if it was given.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let given = self.given.iter().find(|given| given.name == name)?;
        given.values.first().map(String::as_str)
    }
}

impl Args for OptionFlags {
    fn augment_args(command: Command) -> Command {
        command.args(flags().iter().map(Flag::arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for OptionFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given: Vec<GivenOption> = (flags().iter())
            .filter_map(|flag| {
                let values = matches.get_many::<String>(flag.name)?;
                Some(GivenOption {
                    name: flag.name,
                    values: values.cloned().collect(),
                })
            })
            .collect();
        given.sort_by_key(|given| given.name != "base");
        Ok(Self { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The names of all flags, for flags that exclude them.
pub(crate) fn option_names() -> Vec<&'static str> {
    flags().iter().map(|flag| flag.name).collect()
}

/// The methods that have an option.
pub(crate) fn methods_with(name: &str) -> Vec<Method> {
    methods_that(|method| has_option(method, name))
}

/// Whether a method itself, not its base, has an option.
pub(crate) fn has_option(method: &Method, name: &str) -> bool {
    method.options().iter().any(|option| option.name == name)
}

/// The methods of which something is true.
pub(crate) fn methods_that(is_so: impl Fn(&Method) -> bool) -> Vec<Method> {
    let mut methods = Method::all(1);
    methods.retain(is_so);
    methods
}

/// Whose flags stand below: the methods by name, and shapes on them.
pub(crate) fn heading(methods: &[Method]) -> String {
    let names: Vec<&str> = methods.iter().map(|method| method.info().name()).collect();
    let on_them = match methods {
        _ if methods.iter().any(|method| has_option(method, "base")) => "",
        [_] => ", and psd on it",
        _ => ", and psd on them",
    };
    format!("For {}{on_them}", and(&names))
}

/// "a, b and c".
pub(crate) fn and(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [word] => (*word).to_owned(),
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// One flag, for the option of this name of every method that has it.
struct Flag {
    name: &'static str,
    options: Vec<(Method, MethodOption)>,
}

/// Every flag, in the order of the methods and their options.
fn flags() -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    for method in Method::all(1) {
        for option in method.options() {
            if OWN.contains(&option.name) {
                continue;
            }
            let of = (method.clone(), option);
            match flags.iter_mut().find(|flag| flag.name == of.1.name) {
                Some(flag) => flag.options.push(of),
                None => flags.push(Flag {
                    name: of.1.name,
                    options: vec![of],
                }),
            }
        }
    }
    flags
}

impl Flag {
    fn arg(&self) -> Arg {
        let (_, first) = &self.options[0];
        let methods: Vec<Method> = self.options.iter().map(|(m, _)| m.clone()).collect();
        let value_name = match first.kind {
            OptionKind::Count { .. } => "N",
            OptionKind::Number { .. } => "NUMBER",
            OptionKind::Degrees { .. } => "DEGREES",
            OptionKind::Words(_) => "WORD",
            OptionKind::Method { .. } => "METHOD",
        };
        let mut help = first.help.to_owned();
        let mut arg = Arg::new(self.name)
            .long(self.name)
            .value_name(value_name)
            .value_parser(self.parser())
            .allow_negative_numbers(true)
            .help_heading(heading(&methods));
        let instead_of = self
            .options
            .iter()
            .find_map(|(_, option)| option.instead_of);
        if let Some(other) = instead_of {
            help += &format!("; in the place of --{other}");
            arg = arg.conflicts_with(other);
        }
        if LISTS.contains(&self.name) {
            arg = arg.action(ArgAction::Append).value_delimiter(',');
        }
        arg.help(format!("{help} [default: {}]", self.default()))
    }

    /// The value that methods have unless another is given; with their names where they differ.
    fn default(&self) -> String {
        let values = || self.options.iter().map(|(_, option)| option.value.as_str());
        let first = values().next().unwrap_or_default();
        if values().all(|value| value == first) {
            return first.to_owned();
        }
        let named = |(method, option): &(Method, MethodOption)| {
            format!("{} for {}", option.value, method.info().name())
        };
        let list: Vec<String> = self.options.iter().map(named).collect();
        list.join(", ")
    }

    /// Takes what one of the methods takes. Ranges are for the plan to check.
    fn parser(&self) -> ValueParser {
        let (_, option) = &self.options[0];
        if let Some(words) = option.kind.words() {
            let methods = Method::all(1);
            let named = |word: &&'static str| {
                let method = methods.iter().find(|method| method.info().name() == *word);
                PossibleValue::new(*word).aliases(method.map(Method::key))
            };
            let values: Vec<PossibleValue> = words.iter().map(named).collect();
            return PossibleValuesParser::new(values).into();
        }
        let (name, kind) = (self.name, option.kind);
        let methods: Vec<Method> = self.options.iter().map(|(m, _)| m.clone()).collect();
        let parse = move |text: &str| -> Result<String, String> {
            if matches!(kind, OptionKind::Count { .. }) && text.parse::<usize>().is_ok() {
                parse_count(text)?;
            }
            let mut takes = methods.iter().map(|m| m.clone().set(name, text).is_ok());
            match takes.any(|is_so| is_so) {
                true => Ok(text.to_owned()),
                false => Err(format!("expected {}", kind.expected())),
            }
        };
        ValueParser::new(parse)
    }
}

/// Takes the name of a method, or another word, and gives the library's key of it.
pub(crate) fn method_keys(others: &[&'static str]) -> impl TypedValueParser<Value = String> {
    let methods = Method::all(1);
    let names = methods.iter().map(|method| {
        let info = method.info();
        PossibleValue::new(info.name()).alias(info.key)
    });
    let names = names.chain(others.iter().copied().map(PossibleValue::new));
    let parser = PossibleValuesParser::new(names.collect::<Vec<_>>());
    parser.map(|name| match Method::from_key(&name) {
        Some(method) => method.key().to_owned(),
        None => name,
    })
}
