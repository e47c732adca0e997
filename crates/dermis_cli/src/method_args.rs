//! Raw arguments of a fitting method, as typed; `plan` says which of them belong together.

use clap::Args;
use dermis::fit::{Method, StockPlayers};

use crate::args::parse_positive;
use crate::option_flags::{OptionFlags, and, heading, method_keys, methods_that, methods_with};

/// The word that leaves the method to `dermis fit`.
pub(crate) const AUTO: &str = "auto";

/// The method of a fit. Flags that only some methods have are optional here, so that one given to
/// another method can be refused.
#[derive(Debug, Args)]
pub(crate) struct MethodArgs {
    /// How to fit. lbs, also called ssd, is linear blend skinning; auto tries all but mwe and takes the
    /// smallest skin within 5% of the lowest error on held-out examples, as --target shows it
    #[arg(long, value_name = "METHOD", default_value = "lbs", value_parser = method_keys(&[AUTO]))]
    pub(crate) method: String,
    /// Most bones that may move one vertex.
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = parse_positive)]
    pub(crate) max_influences: usize,
    #[command(flatten)]
    pub(crate) options: OptionFlags,
    /// Which bones each vertex may use: auto, skin (those that move it in the examples' file or in
    /// --skeleton), or a JSON file with the vertices or the colours of each bone [default: auto]
    #[arg(long, value_name = "WHICH", help_heading = heading(&given_influences()))]
    pub(crate) influences: Option<String>,
    /// Write a skin that stock players show exactly, with up to four joints per bone
    #[arg(long, help_heading = with_auto(&exact_in_plain_files()))]
    pub(crate) plain_exact: bool,
    /// The error to reach. For auto: an E_RMS on held-out examples, with as few bytes as possible. For
    /// rotational-regression: an E_RMS on the examples fitted to, or an enveloping error such as 5%, with as few proxy
    /// bones as can. If the skin misses the error, it is written all the same and the exit code is 1
    #[arg(long, value_name = "ERROR", value_parser = parse_target, allow_negative_numbers = true,
        conflicts_with = "proxy-bones", help_heading = with_auto(&methods_with("target-error")))]
    pub(crate) target_error: Option<TargetError>,
    /// What will play the skin: engine for stock glTF players, which show a stand-in of animation-space and
    /// dual-quaternion, read 4 influences and hold 256 joints; dermis for its own run-time, which shows the exact
    /// model [default: engine]
    #[arg(long, value_enum, help_heading = "For auto")]
    pub(crate) target: Option<TargetArg>,
    /// Most morph targets that the engine holds; some old WebGL engines hold 8 [default: 64]
    #[arg(long, value_name = "N", help_heading = "For auto")]
    pub(crate) max_morph_targets: Option<usize>,
    /// Choose no skin that takes more bytes per vertex than this
    #[arg(long, value_name = "BYTES", help_heading = "For auto")]
    pub(crate) max_bytes_per_vertex: Option<f64>,
}

impl MethodArgs {
    /// The base that was asked for by name.
    pub(crate) fn named_base(&self) -> Option<Method> {
        self.options.value("base").and_then(Method::from_key)
    }

    /// Every flag that was given and not every method has, with the methods that have it.
    pub(crate) fn given_flags(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let keys = |methods: Vec<Method>| methods.iter().map(Method::key).collect::<Vec<_>>();
        let or_auto = |methods: Vec<Method>| [keys(methods), vec![AUTO]].concat();
        let given = self.options.given().iter();
        let mut flags: Vec<_> = given
            .map(|given| (given.name, keys(methods_with(given.name))))
            .collect();
        for (flag, is_given, methods) in [
            (
                "influences",
                self.influences.is_some(),
                keys(given_influences()),
            ),
            (
                "plain-exact",
                self.plain_exact,
                or_auto(exact_in_plain_files()),
            ),
            (
                "target-error",
                self.target_error.is_some(),
                or_auto(methods_with("target-error")),
            ),
            ("target", self.target.is_some(), vec![AUTO]),
            (
                "max-morph-targets",
                self.max_morph_targets.is_some(),
                vec![AUTO],
            ),
            (
                "max-bytes-per-vertex",
                self.max_bytes_per_vertex.is_some(),
                vec![AUTO],
            ),
        ] {
            if is_given {
                flags.push((flag, methods));
            }
        }
        flags
    }
}

/// The methods that take the bones of each vertex.
fn given_influences() -> Vec<Method> {
    methods_that(|method| method.clone().influences_mut().is_some())
}

/// The methods that stock players can show exactly, over more joints.
fn exact_in_plain_files() -> Vec<Method> {
    methods_that(|method| method.promises().in_stock_players == StockPlayers::StandInOrExact)
}

/// The heading of flags that some methods have and `auto`.
fn with_auto(methods: &[Method]) -> String {
    let names = methods.iter().map(|method| method.info().name());
    format!("For {}", and(&names.chain([AUTO]).collect::<Vec<_>>()))
}

/// `--target-error`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TargetError {
    /// An E_RMS.
    Rms(f64),
    /// An enveloping error, in per cent.
    Enveloping(f64),
}

/// `--target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TargetArg {
    /// A stock engine.
    Engine,
    /// The run-time of dermis.
    Dermis,
}

pub(crate) fn parse_target(text: &str) -> Result<TargetError, String> {
    let (number, target): (&str, fn(f64) -> TargetError) = match text.strip_suffix('%') {
        Some(number) => (number, TargetError::Enveloping),
        None => (text, TargetError::Rms),
    };
    // Whether it is above 0 is for the plan to say, in one line.
    let expected = || "expected an E_RMS such as 1.5, or an enveloping error such as 5%".to_owned();
    number.parse().map(target).map_err(|_| expected())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command, FitArgs};
    use crate::option_flags::has_option;
    use clap::{CommandFactory, Parser};

    fn fit(flags: &str) -> Box<FitArgs> {
        let words = "dermis fit in.npz -o out.glb"
            .split(' ')
            .chain(flags.split(' '));
        match Cli::try_parse_from(words).expect("good flags").command {
            Command::Fit(args) => args,
            _ => unreachable!("it is fit"),
        }
    }

    #[test]
    fn lbs_and_ssd_name_the_same_method_wherever_one_is_named() {
        for name in ["lbs", "ssd"] {
            let method = fit(&format!("--method {name}")).method.method;
            assert_eq!(method, "ssd", "--method");
            let shapes = fit(&format!("--method psd --base {name} --prior {name}"));
            let base = shapes.method.named_base().expect("named");
            assert_eq!(base.key(), "ssd", "--base");
            assert_eq!(shapes.method.options.value("prior"), Some(name), "--prior");
            let words = ["dermis", "compare", "in.npz", "--methods"];
            let list = format!("mwe,{name}");
            let words = words.into_iter().chain([list.as_str()]);
            let Command::Compare(compare) = Cli::try_parse_from(words).expect("good").command
            else {
                unreachable!("it is compare");
            };
            assert_eq!(compare.methods, ["mwe", "ssd"], "--methods");
        }
    }

    /// Headings begin with "For" where flags are not every method's.
    #[test]
    fn every_flag_of_a_method_is_an_option_that_the_library_describes() {
        let cli = Cli::command();
        let fit = cli.find_subcommand("fit").expect("there is fit");
        let methods = Method::all(fit_default_influences(fit));
        for argument in fit.get_arguments() {
            let Some(heading) = argument.get_help_heading() else {
                continue;
            };
            let flag = argument.get_long().expect("every flag is long");
            let is_described = methods.iter().any(|method| has_option(method, flag));
            let is_of_auto = heading.ends_with(AUTO);
            assert!(
                is_described || is_of_auto || flag == "influences",
                "--{flag} under {heading}"
            );
        }
        for method in &methods {
            for option in method.options() {
                let mut arguments = fit.get_arguments();
                let argument = arguments.find(|a| a.get_long() == Some(option.name));
                let argument = argument.unwrap_or_else(|| panic!("no --{}", option.name));
                let Some(heading) = argument.get_help_heading() else {
                    assert_eq!(option.name, "max-influences", "every method has it");
                    continue;
                };
                assert!(
                    heading.contains(method.info().name()),
                    "--{} of {}: {heading}",
                    option.name,
                    method.key()
                );
            }
        }
    }

    fn fit_default_influences(fit: &clap::Command) -> usize {
        let mut arguments = fit.get_arguments();
        let argument = arguments.find(|a| a.get_long() == Some("max-influences"));
        let defaults = argument.expect("a flag").get_default_values();
        let text = defaults[0].to_str().expect("a number");
        let methods = Method::all(text.parse().expect("a number"));
        assert_eq!(
            Method::from_key("ssd").as_ref(),
            methods.first(),
            "the library's default"
        );
        methods[0].max_influences()
    }

    #[test]
    fn help_says_the_defaults_that_the_library_has() {
        let mut cli = Cli::command();
        let fit = cli.find_subcommand_mut("fit").expect("there is fit");
        let help = fit.render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let after = |flag: &str| {
            let start = help.find(&format!("--{flag} <")).expect("the flag");
            let text = help[start..].split("[default: ").nth(1).expect("a default");
            text.split(']').next().expect("an end").to_owned()
        };
        assert_eq!(after("method"), "lbs", "--method");
        assert_eq!(after("prior"), "lbs", "--prior");
        assert_eq!(after("delta"), "auto", "--delta");
        assert_eq!(after("rest-stiffness"), "0.01", "--rest-stiffness");
        assert_eq!(
            after("lambda"),
            "none for animation-space, 0.1 for mwe",
            "differ"
        );
        assert_eq!(
            after("shapes-per-joint"),
            "all for psd, 5 for eigenskin",
            "differ"
        );
    }
}
