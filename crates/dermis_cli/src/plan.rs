//! Checked arguments: which method a fit uses, and whether every flag belongs to it.

use anyhow::{Context, bail};
use dermis::ExampleSet;
use dermis::fit::{
    AnimSpaceOptions, Budget, Candidates, GlobalSolver, InfluenceChoice, Method,
    MultiWeightOptions, Prior, ProxyCount, PsdOptions, PseudoBoneOptions, RotationalOptions,
    Smoothing, SsdOptions,
};
use dermis::measure::e_rms_at_enveloping_error;

use crate::examples::Prepared;
use crate::influences::InfluenceSource;
use crate::method_args::{Delta, MethodArgs, PlayerArg, PriorArg, ProxyArgs, SolverArg, Target};

/// What `dermis fit` will do.
#[derive(Debug)]
pub(crate) struct Plan {
    way: Way,
    influences: InfluenceSource,
    /// What proxy bones should reach.
    target: Option<Target>,
    /// Whether stock players should get the exact form.
    pub(crate) plain_exact: bool,
}

#[derive(Debug)]
enum Way {
    One(Method),
    Auto(Budget),
}

/// The plan with everything that the examples had to say.
pub(crate) enum Resolved {
    /// Use this method.
    One(Method),
    /// Choose one.
    Auto(Budget),
}

const WEIGHTED: &[&str] = &["ssd", "pseudo-bones", "dual-quaternion"];
const WEIGHED_FIRST: &[&str] = &[
    "ssd",
    "pseudo-bones",
    "dual-quaternion",
    "rotational-regression",
];
const SPACE: &[&str] = &["animation-space"];
const FREE: &[&str] = &["animation-space", "mwe"];
const SHAPES: &[&str] = &["psd", "eigenskin"];
const PROXIES: &[&str] = &["rotational-regression"];
const AUTO: &[&str] = &["auto"];

impl Plan {
    /// Checks the flags of a method against each other, before any file is read.
    pub(crate) fn new(args: &MethodArgs) -> anyhow::Result<Self> {
        refuse_foreign_flags(args)?;
        if let Some(target) = args.target_error {
            target.check()?;
        }
        let way = match args.method.as_str() {
            "auto" => {
                let budget = Budget {
                    max_influences: args.max_influences,
                    max_bytes_per_vertex: args.max_bytes_per_vertex,
                    target_error: match args.target_error {
                        Some(Target::Rms(error)) => Some(error),
                        Some(Target::Enveloping(percent)) => bail!(
                            "--target-error {percent}%: --method auto takes an E_RMS; a share in per \
                             cent is for rotational-regression"
                        ),
                        None => None,
                    },
                    target: match args.target {
                        Some(PlayerArg::Dermis) => dermis::fit::Target::Dermis,
                        Some(PlayerArg::Engine) | None => dermis::fit::Target::Engine,
                    },
                    max_morph_targets: args
                        .max_morph_targets
                        .unwrap_or(Budget::default().max_morph_targets),
                    plain_exact: args.plain_exact,
                };
                if budget.target == dermis::fit::Target::Dermis && args.max_morph_targets.is_some()
                {
                    bail!(
                        "--max-morph-targets belongs to --target engine: dermis takes any number"
                    );
                }
                budget.check()?;
                Way::Auto(budget)
            }
            key => {
                let method = method(key, args)?;
                method.check()?;
                Way::One(method)
            }
        };
        Ok(Self {
            way,
            influences: InfluenceSource::parse(args.influences.as_deref().unwrap_or("auto"))?,
            target: args.target_error,
            plain_exact: args.plain_exact,
        })
    }

    /// Looks up in the examples what the plan takes from them.
    pub(crate) fn resolve(self, prepared: &Prepared) -> anyhow::Result<Resolved> {
        Ok(match self.way {
            Way::Auto(budget) => Resolved::Auto(budget),
            Way::One(mut method) => {
                let posed = match &mut method {
                    Method::Psd(options) => &mut options.bases[..],
                    other => std::slice::from_mut(other),
                };
                for posed in posed {
                    if let Method::AnimSpace(AnimSpaceOptions { influences, .. })
                    | Method::MultiWeight(MultiWeightOptions { influences, .. }) = posed
                    {
                        *influences = match self.influences.sets(prepared)? {
                            Some(sets) => InfluenceChoice::Given(sets),
                            None => InfluenceChoice::Automatic,
                        };
                    }
                    if let (Method::RotationalRegression(options), Some(target)) =
                        (posed, self.target)
                    {
                        options.proxies = ProxyCount::TargetError(target.e_rms(&prepared.set)?);
                    }
                }
                Resolved::One(method)
            }
        })
    }
}

impl Target {
    /// Refuses what no fit could reach.
    pub(crate) fn check(self) -> anyhow::Result<()> {
        let (Self::Rms(error) | Self::Enveloping(error)) = self;
        if !(error > 0.0 && error.is_finite()) {
            bail!(
                "--target-error: {error} is not a finite number above 0; expected an E_RMS such as 1.5, or an enveloping \
                 error such as 5%"
            );
        }
        Ok(())
    }

    /// The error to reach on some examples.
    pub(crate) fn e_rms(self, set: &ExampleSet) -> anyhow::Result<f64> {
        match self {
            Self::Rms(error) => Ok(error),
            Self::Enveloping(percent) => {
                e_rms_at_enveloping_error(set, percent).with_context(|| {
                    format!(
                        "--target-error {percent}%: every vertex follows one bone exactly, so there is no \
                         enveloping error; give an E_RMS"
                    )
                })
            }
        }
    }
}

/// One sentence for the first flag that the chosen method does not have.
fn refuse_foreign_flags(args: &MethodArgs) -> anyhow::Result<()> {
    let chosen = args.method.as_str();
    // Flags of the base's own method are for the base, if it is named.
    let base = match chosen {
        "psd" | "eigenskin" => args.named_base().unwrap_or_default(),
        _ => chosen,
    };
    for (flag, given, methods) in [
        ("--candidates", args.candidates.is_some(), WEIGHED_FIRST),
        ("--rest-rounds", args.rest_rounds.is_some(), WEIGHTED),
        ("--rest-stiffness", args.rest_stiffness.is_some(), WEIGHTED),
        ("--delta", args.delta.is_some(), SPACE),
        ("--lambda", args.lambda.is_some(), FREE),
        ("--prior", args.prior.is_some(), SPACE),
        ("--solver", args.solver.is_some(), SPACE),
        ("--influences", args.influences.is_some(), FREE),
        (
            "--plain-exact",
            args.plain_exact,
            &["animation-space", "auto"],
        ),
        ("--base", args.base.is_some(), SHAPES),
        ("--base-rounds", args.base_rounds.is_some(), SHAPES),
        ("--falloff", args.falloff.is_some(), SHAPES),
        ("--smoothing", args.smoothing.is_some(), SHAPES),
        ("--shape-tolerance", args.shape_tolerance.is_some(), SHAPES),
        ("--target", args.target.is_some(), AUTO),
        (
            "--max-morph-targets",
            args.max_morph_targets.is_some(),
            AUTO,
        ),
        (
            "--max-bytes-per-vertex",
            args.max_bytes_per_vertex.is_some(),
            AUTO,
        ),
        (
            "--shapes-per-joint",
            args.shapes_per_joint.is_some(),
            SHAPES,
        ),
        ("--proxy-bones", args.proxy_bones.is_some(), PROXIES),
        (
            "--rigid-tolerance",
            args.proxies.rigid_tolerance.is_some(),
            PROXIES,
        ),
        (
            "--place-weight",
            args.proxies.place_weight.is_some(),
            PROXIES,
        ),
        (
            "--target-error",
            args.target_error.is_some(),
            &["rotational-regression", "auto"],
        ),
    ] {
        if given && !methods.contains(&chosen) && !methods.contains(&base) {
            let (last, others) = methods.split_last().expect("every flag has a method");
            let list = match others {
                [] => (*last).to_owned(),
                _ => format!("{} and {last}", others.join(", ")),
            };
            let with_base = match methods
                .iter()
                .find(|m| !SHAPES.contains(m) && **m != "auto")
            {
                Some(base) if SHAPES.contains(&chosen) => format!(" unless --base {base}"),
                _ => String::new(),
            };
            bail!("{flag} belongs to --method {list}, not to {chosen}{with_base}");
        }
    }
    if args.lambda.is_some() && args.solver.is_some() {
        bail!("--solver has nothing to solve with --lambda, which fits each vertex alone");
    }
    Ok(())
}

fn method(key: &str, args: &MethodArgs) -> anyhow::Result<Method> {
    let Some(method) = Method::from_key(key) else {
        bail!("--method {key}: no such method");
    };
    Ok(match method.with_max_influences(args.max_influences) {
        Method::Ssd(options) => Method::Ssd(weights(options, args)?),
        Method::DualQuaternion(options) => Method::DualQuaternion(weights(options, args)?),
        Method::PseudoBones(options) => Method::PseudoBones(PseudoBoneOptions {
            ssd: weights(options.ssd.clone(), args)?,
            ..options
        }),
        Method::AnimSpace(options) => Method::AnimSpace(animation_space(options, args)),
        Method::MultiWeight(options) => Method::MultiWeight(MultiWeightOptions {
            lambda: args.lambda.unwrap_or(options.lambda),
            ..options
        }),
        Method::Psd(options) => Method::Psd(shapes(options, args)?),
        Method::RotationalRegression(options) => {
            let options = proxied(options, args.proxy_bones, &args.proxies);
            Method::RotationalRegression(RotationalOptions {
                ssd: weights(options.ssd.clone(), args)?,
                ..options
            })
        }
        other => other,
    })
}

fn shapes(options: PsdOptions, args: &MethodArgs) -> anyhow::Result<PsdOptions> {
    let bases = match args.named_base() {
        Some(base) if SHAPES.contains(&base) => {
            bail!("--base {base}: pose space deformation cannot be its own base");
        }
        Some(base) => vec![method(base, args)?],
        None => options.bases,
    };
    Ok(PsdOptions {
        bases,
        base_rounds: args.base_rounds.unwrap_or(options.base_rounds),
        falloff: args.falloff.map(f64::to_radians).or(options.falloff),
        smoothing: args.smoothing.or(options.smoothing),
        tolerance: args.shape_tolerance.unwrap_or(options.tolerance),
        shapes_per_joint: args.shapes_per_joint.or(options.shapes_per_joint),
    })
}

/// Rotational regression with what was said about its proxy bones.
pub(crate) fn proxied(
    options: RotationalOptions,
    count: Option<usize>,
    args: &ProxyArgs,
) -> RotationalOptions {
    RotationalOptions {
        proxies: count.map_or(options.proxies, ProxyCount::Exactly),
        rigid_tolerance: args.rigid_tolerance.unwrap_or(options.rigid_tolerance),
        place_weight: args.place_weight.unwrap_or(options.place_weight),
        ..options
    }
}

fn weights(options: SsdOptions, args: &MethodArgs) -> anyhow::Result<SsdOptions> {
    Ok(SsdOptions {
        candidates: match &args.candidates {
            Some(text) => parse_candidates(text)?,
            None => options.candidates,
        },
        rest_rounds: args.rest_rounds.unwrap_or(options.rest_rounds),
        rest_stiffness: args.rest_stiffness.unwrap_or(options.rest_stiffness),
        ..options
    })
}

fn animation_space(options: AnimSpaceOptions, args: &MethodArgs) -> AnimSpaceOptions {
    let smoothing = match (args.lambda, args.delta) {
        (Some(lambda), _) => Smoothing::Ridge { lambda },
        (None, Some(Delta::Fixed(delta))) => Smoothing::Edges { delta },
        (None, Some(Delta::Auto) | None) => options.smoothing,
    };
    AnimSpaceOptions {
        smoothing,
        prior: match args.prior {
            Some(PriorArg::Zero) => Prior::Zero,
            Some(PriorArg::Ssd) => Prior::Ssd,
            None => options.prior,
        },
        solver: match args.solver {
            Some(SolverArg::Auto) => GlobalSolver::Auto,
            Some(SolverArg::Cholesky) => GlobalSolver::Cholesky,
            Some(SolverArg::Cg) => GlobalSolver::ConjugateGradients,
            None => options.solver,
        },
        ..options
    }
}

fn parse_candidates(text: &str) -> anyhow::Result<Candidates> {
    let count = |number: &str| match number.parse::<usize>() {
        Ok(count) if count > 0 => Ok(count),
        _ => bail!("--candidates {text}: expected all, a number such as 12, or near:N"),
    };
    Ok(match text.strip_prefix("near:") {
        Some(number) => Candidates::BestNearby {
            count: count(number)?,
        },
        None if text == "all" => Candidates::All,
        None => Candidates::BestAlone {
            count: count(text)?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;

    fn plan(flags: &str) -> anyhow::Result<Plan> {
        let words = "dermis fit in.npz -o out.glb".split(' ');
        let words = words.chain(flags.split(' ').filter(|word| !word.is_empty()));
        match Cli::try_parse_from(words)?.command {
            Command::Fit(args) => Plan::new(&args.method),
            _ => unreachable!("it is fit"),
        }
    }

    fn method_of(flags: &str) -> Method {
        match plan(flags).expect("a good plan").way {
            Way::One(method) => method,
            Way::Auto(budget) => panic!("one method, found {budget:?}"),
        }
    }

    #[test]
    fn without_flags_every_method_has_the_librarys_defaults() {
        for method in Method::all(4) {
            let found = method_of(&format!("--method {}", method.key()));
            assert_eq!(found, method, "the flags share the library's defaults");
        }
        assert_eq!(method_of("").key(), "ssd", "the method unless one is named");
    }

    #[test]
    fn flags_reach_the_options_of_their_method() {
        let Method::PseudoBones(options) =
            method_of("--method pseudo-bones --candidates near:3 --rest-rounds 2")
        else {
            panic!("pseudo-bones");
        };
        let near = Candidates::BestNearby { count: 3 };
        assert_eq!(options.ssd.candidates, near, "--candidates");
        assert_eq!(options.ssd.rest_rounds, 2, "--rest-rounds");

        let space = "--method animation-space --max-influences 3";
        let found = method_of(&format!("{space} --delta 0.01 --prior ssd --solver cg"));
        let expected = Method::AnimSpace(AnimSpaceOptions {
            max_influences: 3,
            smoothing: Smoothing::Edges { delta: 0.01 },
            prior: Prior::Ssd,
            solver: GlobalSolver::ConjugateGradients,
            ..AnimSpaceOptions::default()
        });
        assert_eq!(found, expected, "--delta --prior --solver");
        let Method::AnimSpace(found) = method_of(&format!("{space} --lambda 0.1")) else {
            panic!("animation space");
        };
        assert_eq!(
            found.smoothing,
            Smoothing::Ridge { lambda: 0.1 },
            "--lambda"
        );

        let Method::MultiWeight(found) = method_of("--method mwe --lambda 0.5") else {
            panic!("multi-weight enveloping");
        };
        assert_eq!(found.lambda, 0.5, "--lambda");

        let proxied = "--rigid-tolerance 0.001 --place-weight 0 --proxy-bones 30 --candidates 7";
        let expected = RotationalOptions {
            ssd: SsdOptions {
                candidates: Candidates::BestAlone { count: 7 },
                ..SsdOptions::default()
            },
            proxies: ProxyCount::Exactly(30),
            rigid_tolerance: 0.001,
            place_weight: 0.0,
            ..RotationalOptions::default()
        };
        let found = method_of(&format!("--method rotational-regression {proxied}"));
        assert_eq!(
            found,
            Method::RotationalRegression(expected.clone()),
            "proxies"
        );
        let Method::Psd(found) = method_of(&format!(
            "--method psd --base rotational-regression {proxied}"
        )) else {
            panic!("pose space deformation");
        };
        assert_eq!(
            found.bases,
            [Method::RotationalRegression(expected)],
            "of the base"
        );
        let both = "--method rotational-regression --proxy-bones 30 --target-error 2";
        assert!(plan(both).is_err(), "one or the other");
    }

    #[test]
    fn a_flag_of_another_method_is_refused_in_one_sentence() {
        for (flags, sentence) in [
            (
                "--delta 0.1",
                "--delta belongs to --method animation-space, not to ssd",
            ),
            (
                "--method animation-space --candidates 4",
                "--candidates belongs to --method ssd, pseudo-bones, dual-quaternion and \
                 rotational-regression, not to animation-space",
            ),
            (
                "--method mwe --plain-exact",
                "--plain-exact belongs to --method animation-space and auto, not to mwe",
            ),
            (
                "--method ssd --target-error 1",
                "--target-error belongs to --method rotational-regression and auto, not to ssd",
            ),
            (
                "--method auto --target-error 5%",
                "--target-error 5%: --method auto takes an E_RMS; a share in per cent is for \
                 rotational-regression",
            ),
            (
                "--target dermis",
                "--target belongs to --method auto, not to ssd",
            ),
            (
                "--method auto --target dermis --max-morph-targets 8",
                "--max-morph-targets belongs to --target engine: dermis takes any number",
            ),
            (
                "--method psd --proxy-bones 30",
                "--proxy-bones belongs to --method rotational-regression, not to psd unless --base \
                 rotational-regression",
            ),
            (
                "--method rotational-regression --target-error -1",
                "--target-error: -1 is not a finite number above 0; expected an E_RMS such as 1.5, or an \
                 enveloping error such as 5%",
            ),
            (
                "--method rotational-regression --target-error inf",
                "--target-error: inf is not a finite number above 0; expected an E_RMS such as 1.5, or an \
                 enveloping error such as 5%",
            ),
            (
                "--method rotational-regression --proxy-bones 0",
                "option proxy-bones: 0 is not between 1 and 2000",
            ),
            (
                "--method rotational-regression --rigid-tolerance -1",
                "option rigid-tolerance: -1 is not ",
            ),
            (
                "--method rotational-regression --place-weight inf",
                "option place-weight: inf is not ",
            ),
            (
                "--method eigenskin --shapes-per-joint 0",
                "option shapes-per-joint: at least 1 is needed",
            ),
            (
                "--method animation-space --lambda 0.1 --solver cg",
                "--solver has nothing to solve with --lambda, which fits each vertex alone",
            ),
        ] {
            let error = plan(flags).expect_err(flags);
            assert!(error.to_string().starts_with(sentence), "{flags}: {error}");
        }
    }

    #[test]
    fn shapes_have_a_base_with_flags_of_its_own() {
        let Method::Psd(options) = method_of(
            "--method psd --base dual-quaternion --max-influences 3 --rest-rounds 2 --falloff 90 \
             --smoothing 0 --shape-tolerance 0.001 --base-rounds 0",
        ) else {
            panic!("pose space deformation");
        };
        let [Method::DualQuaternion(base)] = &options.bases[..] else {
            panic!("the base that was asked for, found {:?}", options.bases);
        };
        assert_eq!((base.max_influences, base.rest_rounds), (3, 2), "passed on");
        assert_eq!(
            options.falloff,
            Some(std::f64::consts::FRAC_PI_2),
            "degrees"
        );
        assert_eq!(options.smoothing, Some(0.0), "as given");
        assert_eq!(
            (options.tolerance, options.base_rounds),
            (0.001, 0),
            "as given"
        );

        let text = |flags: &str| plan(flags).expect_err("refused").to_string();
        assert_eq!(
            text("--falloff 40"),
            "--falloff belongs to --method psd and eigenskin, not to ssd"
        );
        assert_eq!(
            text("--method psd --delta 0.1"),
            "--delta belongs to --method animation-space, not to psd unless --base animation-space"
        );
        assert!(
            plan("--method psd --base animation-space --delta 0.1").is_ok(),
            "the base's"
        );
        assert!(
            text("--method psd --base psd").contains("its own base"),
            "no towers"
        );
        let unnamed = method_of("--method psd --max-influences 3");
        assert_eq!(
            method_of("--method psd --base auto --max-influences 3"),
            unnamed,
            "the default"
        );
        let Method::Psd(options) = unnamed else {
            panic!("pose space deformation");
        };
        let keys: Vec<&str> = options.bases.iter().map(Method::key).collect();
        let expected = [
            "ssd",
            "pseudo-bones",
            "rotational-regression",
            "animation-space",
        ];
        assert_eq!(keys, expected, "what auto chooses from");
        assert_eq!(
            text("--method psd --rest-rounds 2"),
            "--rest-rounds belongs to --method ssd, pseudo-bones and dual-quaternion, not to psd unless --base ssd"
        );
    }
}
