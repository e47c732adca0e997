//! Raw arguments of a fitting method, as typed; `plan` says which of them belong together.

use clap::Args;
use clap::builder::PossibleValuesParser;
use dermis::fit::Method;

use crate::args::{parse_count, parse_positive};

const WEIGHTS: &str = "For ssd, pseudo-bones and dual-quaternion, and psd on them";
const FREE: &str = "For animation-space and mwe";
const SHAPES: &str = "For psd and eigenskin";
pub(crate) const PROXIES: &str = "For rotational-regression, and psd on it";
const AUTO: &str = "For auto";
const TARGET: &str = "For auto, rotational-regression, and psd on it";

/// The method of a fit. Flags that only some methods have are optional here, so that one given to
/// another method can be refused.
#[derive(Debug, Args)]
pub(crate) struct MethodArgs {
    /// How to fit; auto tries all but mwe and takes the smallest skin within 5% of the lowest error on held-out
    /// examples, as --target shows it.
    #[arg(long, value_name = "METHOD", default_value = "ssd", value_parser = method_or_auto())]
    pub(crate) method: String,
    /// Most bones that may move one vertex.
    #[arg(long, value_name = "K", default_value_t = 4, value_parser = parse_positive)]
    pub(crate) max_influences: usize,
    /// Bones each vertex chooses from: all, N best alone, or near:N for those of its neighbours too; also
    /// for rotational-regression [default: all]
    #[arg(long, value_name = "WHICH", help_heading = WEIGHTS)]
    pub(crate) candidates: Option<String>,
    /// Rounds of fitting the rest positions too, in turn with the weights [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = WEIGHTS)]
    pub(crate) rest_rounds: Option<usize>,
    /// How strongly fitted rest positions are held at the given ones [default: 0.01]
    #[arg(long, value_name = "S", help_heading = WEIGHTS)]
    pub(crate) rest_stiffness: Option<f64>,
    /// Smoothing along edges: a number, larger is smoother, or auto for the best on examples held
    /// out of the fit [default: auto]
    #[arg(long, value_name = "DELTA", value_parser = parse_delta, help_heading = FREE)]
    pub(crate) delta: Option<Delta>,
    /// Smoothing of each vertex alone, by a pull towards zero; for animation-space instead of --delta
    #[arg(long, value_name = "LAMBDA", conflicts_with = "delta", help_heading = FREE)]
    pub(crate) lambda: Option<f64>,
    /// What smoothing pulls towards: zero, or the linear blend skin of the same examples
    /// [default: zero]
    #[arg(long, value_enum, help_heading = FREE)]
    pub(crate) prior: Option<PriorArg>,
    /// How the system of all vertices is solved [default: auto]
    #[arg(long, value_enum, help_heading = FREE)]
    pub(crate) solver: Option<SolverArg>,
    /// Which bones each vertex may use: auto, skin (those that move it in the examples' file or in
    /// --skeleton), or a JSON file with the vertices or the colours of each bone [default: auto]
    #[arg(long, value_name = "WHICH", help_heading = FREE)]
    pub(crate) influences: Option<String>,
    /// Let stock players show animation space exactly, at up to four joints per bone.
    #[arg(long, help_heading = FREE)]
    pub(crate) plain_exact: bool,
    /// The skin that shapes are added to: any other method, or auto for the best of ssd, pseudo-bones,
    /// rotational-regression and animation-space on examples left out of those that are fitted. auto takes about three
    /// times as long as the slowest of them [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = method_or_auto(), help_heading = SHAPES)]
    pub(crate) base: Option<String>,
    /// How often the base is fitted again without what shapes explain [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = SHAPES)]
    pub(crate) base_rounds: Option<usize>,
    /// How far from its own turn of a joint an example counts, in degrees [default: the best on
    /// examples left out]
    #[arg(long, value_name = "DEGREES", help_heading = SHAPES)]
    pub(crate) falloff: Option<f64>,
    /// How much of noise is not followed: 0 meets every example [default: as for --falloff]
    #[arg(long, value_name = "S", help_heading = SHAPES)]
    pub(crate) smoothing: Option<f64>,
    /// What combined shapes may miss, as a share of the rest box's diagonal [default: 0.0005]
    #[arg(long, value_name = "SHARE", help_heading = SHAPES)]
    pub(crate) shape_tolerance: Option<f64>,
    /// Most shapes of one joint, those that matter most [default: 5 for eigenskin, any number for psd]
    #[arg(long, value_name = "N", value_parser = parse_count, help_heading = SHAPES)]
    pub(crate) shapes_per_joint: Option<usize>,
    /// How many proxy bones carry the skin that turns [default: one for every 128 vertices beyond 400, 8 to 60]
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
    /// Largest skin to choose, in bytes per vertex
    #[arg(long, value_name = "BYTES", help_heading = AUTO)]
    pub(crate) max_bytes_per_vertex: Option<f64>,
    /// The error to reach. For auto a held-out E_RMS, with as few bytes as possible; for rotational-regression an
    /// E_RMS on the examples, or an enveloping error such as 5%, with as few proxy bones as could follow them to it.
    /// If the skin misses it, it is written all the same and the exit code is 1
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
    /// Vertices that linear blend skinning meets to this share of the rest box's diagonal stay with it
    /// [default: 0.0005]
    #[arg(long, value_name = "T", allow_negative_numbers = true, help_heading = PROXIES)]
    pub(crate) rigid_tolerance: Option<f64>,
    /// How strongly vertices are pulled to where their patches are predicted to be, beside the pull of edges; 0 as
    /// in the paper [default: 0.01]
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

/// The names of all methods: a method that joins the library's list can be asked for at once.
pub(crate) fn method_keys() -> PossibleValuesParser {
    let methods = Method::all(1);
    PossibleValuesParser::new(methods.iter().map(Method::key).collect::<Vec<_>>())
}

fn method_or_auto() -> PossibleValuesParser {
    let methods = Method::all(1);
    let keys = methods.iter().map(Method::key).chain(["auto"]);
    PossibleValuesParser::new(keys.collect::<Vec<_>>())
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
