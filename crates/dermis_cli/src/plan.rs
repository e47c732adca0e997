//! Checked arguments: which method a fit uses, and whether every flag belongs to it.

use anyhow::{Context, bail};
use dermis::ExampleSet;
use dermis::fit::{Budget, InfluenceChoice, Method, Target};
use dermis::measure::e_rms_at_enveloping_error;

use crate::examples::Prepared;
use crate::influences::InfluenceSource;
use crate::method_args::{AUTO, MethodArgs, TargetArg, TargetError};
use crate::option_flags::{GivenOption, and, has_option, methods_with};

/// What `dermis fit` will do.
#[derive(Debug)]
pub(crate) struct Plan {
    way: Way,
    influences: InfluenceSource,
    /// What proxy bones should reach.
    target: Option<TargetError>,
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

impl Plan {
    /// Checks the flags of a method against each other, before any file is read.
    pub(crate) fn new(args: &MethodArgs) -> anyhow::Result<Self> {
        refuse_foreign_flags(args)?;
        if let Some(target) = args.target_error {
            target.check()?;
        }
        let way = match args.method.as_str() {
            AUTO => {
                let budget = Budget {
                    max_influences: args.max_influences,
                    max_bytes_per_vertex: args.max_bytes_per_vertex,
                    target_error: match args.target_error {
                        Some(TargetError::Rms(error)) => Some(error),
                        Some(TargetError::Enveloping(percent)) => bail!(
                            "--target-error {percent}%: --method auto takes an E_RMS; a share in per \
                             cent is for rotational-regression"
                        ),
                        None => None,
                    },
                    target: match args.target {
                        Some(TargetArg::Dermis) => Target::Dermis,
                        Some(TargetArg::Engine) | None => Target::Engine,
                    },
                    max_morph_targets: args
                        .max_morph_targets
                        .unwrap_or(Budget::default().max_morph_targets),
                    plain_exact: args.plain_exact,
                };
                if budget.target == Target::Dermis && args.max_morph_targets.is_some() {
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
                    if let Some(influences) = posed.influences_mut() {
                        *influences = match self.influences.sets(prepared)? {
                            Some(sets) => InfluenceChoice::Given(sets),
                            None => InfluenceChoice::Automatic,
                        };
                    }
                    if let Some(target) = self.target {
                        target.set(posed, &prepared.set)?;
                    }
                }
                Resolved::One(method)
            }
        })
    }
}

impl TargetError {
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

    /// Tells a method, if it has such an option, what it should reach on some examples.
    pub(crate) fn set(self, method: &mut Method, set: &ExampleSet) -> anyhow::Result<()> {
        if has_option(method, "target-error") {
            method.set("target-error", &self.e_rms(set)?.to_string())?;
        }
        Ok(())
    }

    /// The error to reach on some examples.
    fn e_rms(self, set: &ExampleSet) -> anyhow::Result<f64> {
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
    let is_shapes = |key: &str| methods_with("base").iter().any(|m| m.key() == key);
    // Flags of the base's own method are for the base, if it is named.
    let base = args.named_base().filter(|_| is_shapes(chosen));
    let base: &str = match &base {
        Some(base) => base.key(),
        None => chosen,
    };
    for (flag, methods) in args.given_flags() {
        if methods.contains(&chosen) || methods.contains(&base) {
            continue;
        }
        let bases = methods.iter().find(|m| !is_shapes(m) && **m != AUTO);
        let with_base = match bases {
            Some(base) if is_shapes(chosen) => format!(" unless --base {base}"),
            _ => String::new(),
        };
        let list = and(&methods);
        bail!("--{flag} belongs to --method {list}, not to {chosen}{with_base}");
    }
    Ok(())
}

fn method(key: &str, args: &MethodArgs) -> anyhow::Result<Method> {
    let Some(method) = Method::from_key(key) else {
        bail!("--method {key}: no such method");
    };
    let mut method = method.with_max_influences(args.max_influences);
    for GivenOption { name, values } in args.options.given() {
        let [value] = &values[..] else {
            bail!(
                "--{name} {}: expected one whole number; several, separated by commas, are for dermis compare",
                values.join(",")
            );
        };
        method.set(name, value)?;
    }
    Ok(method)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Cli, Command};
    use clap::Parser;
    use dermis::fit::{AnimSpaceOptions, Prior, ProxyCount, RotationalOptions, Smoothing};

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
    fn without_flags_every_method_has_the_defaults_of_the_library() {
        for method in Method::all(4) {
            let found = method_of(&format!("--method {}", method.key()));
            assert_eq!(found, method, "the flags share the library's defaults");
        }
        assert_eq!(method_of("").key(), "ssd", "the method unless one is named");
    }

    #[test]
    fn flags_reach_the_options_of_their_method() {
        let Method::PseudoBones(options) =
            method_of("--method pseudo-bones --rest-stiffness 0.5 --rest-rounds 2")
        else {
            panic!("pseudo-bones");
        };
        assert_eq!(options.rest_stiffness, 0.5, "--rest-stiffness");
        assert_eq!(options.rest_rounds, 2, "--rest-rounds");

        let space = "--method animation-space --max-influences 3";
        let found = method_of(&format!("{space} --delta 0.01 --prior zero"));
        let expected = Method::AnimSpace(AnimSpaceOptions {
            max_influences: 3,
            smoothing: Smoothing::Edges { delta: 0.01 },
            prior: Prior::Zero,
            ..AnimSpaceOptions::default()
        });
        assert_eq!(found, expected, "--delta --prior");
        let Method::AnimSpace(found) = method_of(&format!("{space} --lambda 0.1")) else {
            panic!("animation space");
        };
        assert_eq!(
            found.smoothing,
            Smoothing::Ridge { lambda: 0.1 },
            "--lambda"
        );
        let both = format!("{space} --lambda 0.1 --delta 0.1");
        assert!(plan(&both).is_err(), "one or the other");

        let Method::MultiWeight(found) = method_of("--method mwe --lambda 0.5") else {
            panic!("multi-weight enveloping");
        };
        assert_eq!(found.lambda, 0.5, "--lambda");

        let proxied = "--rigid-tolerance 0.001 --place-weight 0 --proxy-bones 30";
        let expected = RotationalOptions {
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
                "--method animation-space --rest-rounds 4",
                "--rest-rounds belongs to --method ssd, pseudo-bones and dual-quaternion, not to \
                 animation-space",
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
