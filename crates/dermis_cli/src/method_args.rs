//! Raw arguments of a fitting method, as typed; `plan` says which of them belong together.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dermis::fit::Method;

use crate::args::{parse_count, parse_positive};

const WEIGHTS: &str = "For lbs, pseudo-bones and dual-quaternion, and psd on them";
const FREE: &str = "For animation-space and mwe";
const SHAPES: &str = "For psd and eigenskin";
pub(crate) const PROXIES: &str = "For rotational-regression, and psd on it";
const AUTO: &str = "For auto";
const TARGET: &str = "For auto, rotational-regression, and psd on it";

/// The method of a fit. Flags that only some methods have are optional here, so that one given to
/// another method can be refused.
#[derive(Debug, Args)]
pub(crate) struct MethodArgs {
    /// How to fit. lbs, also called ssd, is linear blend skinning; auto tries all but mwe and takes the
    /// smallest skin within 5% of the lowest error on held-out examples, as --target shows it
    #[arg(long, value_name = "METHOD", default_value = LINEAR_BLEND, value_parser = method_or_auto())]
    pub(crate) method: String,
    /// Most bones that may move one vertex.
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = parse_positive)]
    pub(crate) max_influences: usize,
    /// Which bones each vertex may choose from: all; N, the N bones that fit it best one by one; or near:N, those and
    /// its neighbours' N best. Also for rotational-regression [default: all]
    #[arg(long, value_name = "WHICH", help_heading = WEIGHTS)]
    pub(crate) candidates: Option<String>,
    /// How many times the rest positions are fitted too, and then the weights again [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = WEIGHTS)]
    pub(crate) rest_rounds: Option<usize>,
    /// How strongly fitted rest positions are pulled back to the given ones [default: 0.01]
    #[arg(long, value_name = "S", help_heading = WEIGHTS)]
    pub(crate) rest_stiffness: Option<f64>,
    /// For animation-space: smoothing along edges. A number, larger is smoother; or auto for the one with the lowest
    /// error on examples kept from the fit [default: auto]
    #[arg(long, value_name = "DELTA", value_parser = parse_delta, help_heading = FREE)]
    pub(crate) delta: Option<Delta>,
    /// Smoothing of each vertex alone, by a pull towards linear blend skinning, or towards zero with --prior zero; for
    /// animation-space instead of --delta
    #[arg(long, value_name = "LAMBDA", conflicts_with = "delta", help_heading = FREE)]
    pub(crate) lambda: Option<f64>,
    /// For animation-space: what smoothing pulls towards, zero or the linear blend skin of the same examples
    /// [default: lbs]
    #[arg(long, value_enum, help_heading = FREE)]
    pub(crate) prior: Option<PriorArg>,
    /// For animation-space: how the equations of all vertices are solved [default: auto]
    #[arg(long, value_enum, help_heading = FREE)]
    pub(crate) solver: Option<SolverArg>,
    /// Which bones each vertex may use: auto, skin (those that move it in the examples' file or in
    /// --skeleton), or a JSON file with the vertices or the colours of each bone [default: auto]
    #[arg(long, value_name = "WHICH", help_heading = FREE)]
    pub(crate) influences: Option<String>,
    /// For animation-space: write a skin that stock players show exactly, with up to four joints per bone
    #[arg(long, help_heading = FREE)]
    pub(crate) plain_exact: bool,
    /// The skin that shapes are added to: any other method, or auto for the best of lbs, pseudo-bones,
    /// rotational-regression and animation-space on examples left out of those that are fitted. auto takes about three
    /// times as long as the slowest of them [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = method_or_auto(), help_heading = SHAPES)]
    pub(crate) base: Option<String>,
    /// How many times the base is fitted again, to the examples without what the shapes already explain [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = SHAPES)]
    pub(crate) base_rounds: Option<usize>,
    /// How far around its own joint angle an example has an effect, in degrees [default: the best on examples kept
    /// from the fit]
    #[arg(long, value_name = "DEGREES", help_heading = SHAPES)]
    pub(crate) falloff: Option<f64>,
    /// How much the shapes may miss the examples to stay smooth; 0 meets every example exactly [default: as for
    /// --falloff]
    #[arg(long, value_name = "S", help_heading = SHAPES)]
    pub(crate) smoothing: Option<f64>,
    /// How far shapes may be off after similar ones are combined, as a share of the rest box's diagonal [default: 0.0005]
    #[arg(long, value_name = "SHARE", help_heading = SHAPES)]
    pub(crate) shape_tolerance: Option<f64>,
    /// Most shapes that one joint may have; those that matter most are kept [default: 5 for eigenskin, no limit for psd]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = SHAPES)]
    pub(crate) shapes_per_joint: Option<usize>,
    /// How many extra bones (proxy bones) carry the skin that turns with joints [default: one for every 128 vertices
    /// beyond 400, 8 to 60]
    #[arg(long, value_name = "N", value_parser = parse_one_count, allow_negative_numbers = true,
        conflicts_with = "target_error", help_heading = PROXIES)]
    pub(crate) proxy_bones: Option<usize>,
    #[command(flatten)]
    pub(crate) proxies: ProxyArgs,
    /// What will play the skin: engine for stock glTF players, which show a stand-in of animation-space and
    /// dual-quaternion, read 4 influences and hold 256 joints; dermis for its own run-time, which shows the exact
    /// model [default: engine]
    #[arg(long, value_enum, help_heading = AUTO)]
    pub(crate) target: Option<PlayerArg>,
    /// Most morph targets that the engine holds; some old WebGL engines hold 8 [default: 64]
    #[arg(long, value_name = "N", help_heading = AUTO)]
    pub(crate) max_morph_targets: Option<usize>,
    /// Choose no skin that takes more bytes per vertex than this
    #[arg(long, value_name = "BYTES", help_heading = AUTO)]
    pub(crate) max_bytes_per_vertex: Option<f64>,
    /// The error to reach. For auto: an E_RMS on held-out examples, with as few bytes as possible. For
    /// rotational-regression: an E_RMS on the examples fitted to, or an enveloping error such as 5%, with as few proxy
    /// bones as can. If the skin misses the error, it is written all the same and the exit code is 1
    #[arg(long, value_name = "ERROR", value_parser = parse_target, allow_negative_numbers = true,
        help_heading = TARGET)]
    pub(crate) target_error: Option<Target>,
}

impl MethodArgs {
    /// The base that was asked for by name.
    pub(crate) fn named_base(&self) -> Option<&str> {
        self.base.as_deref().filter(|base| *base != "auto")
    }
}

/// What `dermis fit` and `dermis compare` may say alike about rotational regression.
#[derive(Debug, Args)]
pub(crate) struct ProxyArgs {
    /// Vertices keep linear blend skinning where it is off by no more than this share of the rest box's diagonal
    /// [default: 0.0005]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = PROXIES)]
    pub(crate) rigid_tolerance: Option<f64>,
    /// How strongly vertices are pulled to the predicted place of their patch of skin, beside the pull along edges; 0
    /// for edges alone, as in the paper [default: 0.01]
    #[arg(long, value_name = "W", allow_negative_numbers = true, help_heading = PROXIES)]
    pub(crate) place_weight: Option<f64>,
}

/// `--target-error`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Target {
    /// An E_RMS.
    Rms(f64),
    /// An enveloping error, in per cent.
    Enveloping(f64),
}

/// `--target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PlayerArg {
    /// A stock engine.
    Engine,
    /// The run-time of dermis.
    Dermis,
}

/// `--delta`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Delta {
    /// By held-out error.
    Auto,
    /// As given.
    Fixed(f64),
}

/// `--prior`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PriorArg {
    /// As the papers do.
    Zero,
    /// The linear blend skin of the same examples.
    #[value(name = "lbs", alias = "ssd")]
    Ssd,
}

/// `--solver`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SolverArg {
    /// By size.
    Auto,
    /// Sparse Cholesky.
    Cholesky,
    /// Conjugate gradients.
    Cg,
}

/// What linear blend skinning is called here and in most other programs; the key of the library is accepted, too.
const LINEAR_BLEND: &str = "lbs";

/// The names of all methods: a method that joins the library's list can be asked for at once.
pub(crate) fn method_keys() -> impl TypedValueParser<Value = String> {
    keys_of(&[])
}

fn method_or_auto() -> impl TypedValueParser<Value = String> {
    keys_of(&["auto"])
}

/// Takes the name of a method, and gives the library's key of it.
fn keys_of(others: &[&'static str]) -> impl TypedValueParser<Value = String> {
    let linear_blend = Method::Ssd(Default::default()).key();
    let methods = Method::all(1);
    let keys = methods
        .iter()
        .map(Method::key)
        .chain(others.iter().copied());
    let names = keys.map(|key| match key == linear_blend {
        true => PossibleValue::new(LINEAR_BLEND).alias(linear_blend),
        false => PossibleValue::new(key),
    });
    let parser = PossibleValuesParser::new(names.collect::<Vec<_>>());
    parser.map(move |name| match name == LINEAR_BLEND {
        true => linear_blend.to_owned(),
        false => name,
    })
}

/// A number whose range is for the plan to check.
fn parse_one_count(text: &str) -> Result<usize, String> {
    let expected = match text.contains(',') {
        true => "expected one whole number; several, separated by commas, are for dermis compare",
        false => "expected a whole number of at least 1",
    };
    text.parse().map_err(|_| expected.to_owned())
}

pub(crate) fn parse_target(text: &str) -> Result<Target, String> {
    let (number, target): (&str, fn(f64) -> Target) = match text.strip_suffix('%') {
        Some(number) => (number, Target::Enveloping),
        None => (text, Target::Rms),
    };
    // Whether it is above 0 is for the plan to say, in one line.
    let expected = || "expected an E_RMS such as 1.5, or an enveloping error such as 5%".to_owned();
    number.parse().map(target).map_err(|_| expected())
}

fn parse_delta(text: &str) -> Result<Delta, String> {
    match text.parse::<f64>() {
        _ if text == "auto" => Ok(Delta::Auto),
        Ok(delta) if delta >= 0.0 && delta.is_finite() => Ok(Delta::Fixed(delta)),
        _ => Err("expected auto or a number of at least 0, such as 0.005".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command, FitArgs};
    use clap::Parser;
    use dermis::fit::{AnimSpaceOptions, Prior};

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
            assert_eq!(
                fit(&format!("--method {name}")).method.method,
                "ssd",
                "--method"
            );
            let shapes = fit(&format!("--method psd --base {name} --prior {name}"));
            assert_eq!(shapes.method.base.as_deref(), Some("ssd"), "--base");
            assert_eq!(shapes.method.prior, Some(PriorArg::Ssd), "--prior");
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

    #[test]
    fn help_says_the_defaults_that_the_library_has() {
        use clap::CommandFactory;
        let mut cli = Cli::command();
        let fit = cli.find_subcommand_mut("fit").expect("there is fit");
        let help = fit.render_long_help().to_string();
        let after = |flag: &str| {
            let start = help.find(&format!("{flag} <")).expect("the flag");
            let text = help[start..].split("[default: ").nth(1).expect("a default");
            text.split(']').next().expect("an end").to_owned()
        };
        let prior = match AnimSpaceOptions::default().prior {
            Prior::Zero => "zero",
            Prior::Ssd => "lbs",
        };
        assert_eq!(after("--prior"), prior, "--prior");
        assert_eq!(after("--method"), "lbs", "--method");
    }
}
