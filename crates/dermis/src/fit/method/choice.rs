//! The ways to fit, as one choice.

use super::{
    MethodInfo, MethodOption, MethodOptions, OptionKind, OptionOf, Promises, StockPlayers, count,
    describe, set, shapes,
};
use crate::example::ExampleSet;
use crate::fit::{
    AnimSpaceOptions, FitError, Fitted, InfluenceChoice, MultiWeightOptions, ProxyCount,
    PsdOptions, RotationalOptions, SsdOptions, anim_space, fit_anim_space, fit_multi_weight,
    fit_psd, fit_pseudo_bones, fit_rotational_regression, fit_ssd, mwe, pseudo_bones, rotational,
    ssd,
};
use crate::progress::Progress;
use crate::skin::{DualQuaternionProgram, VertexProgram};

/// A way to fit, with its options.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Linear blend skinning.
    Ssd(SsdOptions),
    /// Linear blend skinning over the skeleton's bones and pseudo-bones between them.
    PseudoBones(SsdOptions),
    /// Animation space.
    AnimSpace(AnimSpaceOptions),
    /// Multi-weight enveloping.
    MultiWeight(MultiWeightOptions),
    /// Dual quaternion skinning with the weights of linear blend skinning.
    DualQuaternion(SsdOptions),
    /// Pose space deformation: a base skin, and shapes that joints drive. With a limit to the shapes of a joint
    /// it is EigenSkin.
    Psd(PsdOptions),
    /// Rotational regression: skin that turns with joints, on proxy bones.
    RotationalRegression(RotationalOptions),
}

/// The option that every method has.
const MAX_INFLUENCES: OptionOf<Method> = OptionOf {
    name: "max-influences",
    kind: OptionKind::Count {
        least: 1,
        word: None,
    },
    help: "Most bones that may move one vertex",
    instead_of: None,
    get: |method| method.max_influences().to_string(),
    set: |method, text| {
        let max_influences = count(text)?;
        method.options_mut().set_max_influences(max_influences);
        Some(())
    },
};

static DUAL_QUATERNION: MethodInfo = MethodInfo {
    key: "dual-quaternion",
    aliases: &[],
    title: "dual quaternion skinning",
    summary: "the weights of lbs, with rigid motions blended instead of matrices",
    use_when: "joints twist, nothing else deforms, and the engine blends dual quaternions",
    promises: Promises {
        is_linear: false,
        in_stock_players: StockPlayers::StandIn,
        ..ssd::INFO.promises
    },
};

impl Method {
    /// Every method with its defaults, the simplest first: what `dermis compare` runs. A new method
    /// joins the comparison by joining this list.
    pub fn all(max_influences: usize) -> Vec<Self> {
        let methods = [
            Self::Ssd(SsdOptions::default()),
            Self::PseudoBones(SsdOptions::default()),
            Self::DualQuaternion(SsdOptions::default()),
            Self::AnimSpace(AnimSpaceOptions::default()),
            Self::Psd(PsdOptions::default()),
            Self::Psd(PsdOptions::eigen_skin()),
            Self::RotationalRegression(RotationalOptions::default()),
            Self::MultiWeight(MultiWeightOptions::default()),
        ];
        methods
            .into_iter()
            .map(|method| method.with_max_influences(max_influences))
            .collect()
    }

    /// Those of [`Method::all`] that turn with the character ([`Method::promises`]): what `--method auto`
    /// chooses from, because held-out examples seldom tell on the others.
    pub fn candidates(max_influences: usize) -> Vec<Self> {
        let mut methods = Self::all(max_influences);
        methods.retain(Self::turns_with_the_character);
        methods
    }

    /// Whether turning the whole character turns the result and does nothing else.
    ///
    /// Multi-weight enveloping weighs the entries of a matrix one by one, and those do not turn one
    /// by one: a character that faces another way than in the examples is distorted.
    pub fn turns_with_the_character(&self) -> bool {
        self.promises().turns_with_the_character
    }

    /// The method of a name, with its defaults; `None` for a name that no method has.
    ///
    /// ```
    /// use dermis::fit::Method;
    ///
    /// let method = Method::from_key("animation-space").expect("it is one");
    /// assert_eq!(method.title(), "animation space");
    /// assert_eq!(Method::from_key("lbs"), Method::from_key("ssd"));
    /// assert!(Method::from_key("magic").is_none());
    /// ```
    pub fn from_key(key: &str) -> Option<Self> {
        let mut methods = Self::all(SsdOptions::default().max_influences).into_iter();
        methods.find(|method| method.info().is_called(key))
    }

    /// What the method is, and what can be relied on.
    pub fn info(&self) -> &'static MethodInfo {
        match self {
            Self::Ssd(_) => &ssd::INFO,
            Self::PseudoBones(_) => &pseudo_bones::INFO,
            Self::AnimSpace(_) => &anim_space::INFO,
            Self::MultiWeight(_) => &mwe::INFO,
            Self::DualQuaternion(_) => &DUAL_QUATERNION,
            Self::Psd(options) if options.shapes_per_joint.is_some() => &shapes::EIGEN_SKIN,
            Self::Psd(_) => &shapes::PSD,
            Self::RotationalRegression(_) => &rotational::INFO,
        }
    }

    /// What can be relied on. With a base, that holds for this one, or for whichever of several is taken.
    pub fn promises(&self) -> Promises {
        let own = self.info().promises;
        match self {
            Self::Psd(options) => {
                let bases = options.bases.iter().map(Self::promises);
                bases.fold(own, Promises::on)
            }
            _ => own,
        }
    }

    /// The name that `--method` takes and files record.
    pub fn key(&self) -> &'static str {
        self.info().key
    }

    /// What people call the method.
    pub fn title(&self) -> &'static str {
        self.info().title
    }

    fn options_ref(&self) -> &dyn MethodOptions {
        match self {
            Self::Ssd(o) | Self::PseudoBones(o) | Self::DualQuaternion(o) => o,
            Self::AnimSpace(o) => o,
            Self::MultiWeight(o) => o,
            Self::Psd(o) => o,
            Self::RotationalRegression(o) => o,
        }
    }

    fn options_mut(&mut self) -> &mut dyn MethodOptions {
        match self {
            Self::Ssd(o) | Self::PseudoBones(o) | Self::DualQuaternion(o) => o,
            Self::AnimSpace(o) => o,
            Self::MultiWeight(o) => o,
            Self::Psd(o) => o,
            Self::RotationalRegression(o) => o,
        }
    }

    /// Every option that can be set by name, with its value. Those of a base are the base's.
    pub fn options(&self) -> Vec<MethodOption> {
        let mut options = describe(self, &[MAX_INFLUENCES]);
        options.extend(self.options_ref().options());
        options
    }

    /// Sets an option by its name, with `-` or `_` between words; [`Method::check`] says whether it is in its range.
    /// Pose space deformation with one base passes on what it does not have itself.
    ///
    /// ```
    /// use dermis::fit::Method;
    ///
    /// let mut method = Method::from_key("ssd").expect("it is one");
    /// method.set("rest-rounds", "5")?;
    /// let error = method.set("rest_rounds", "few").expect_err("no number");
    /// assert_eq!(error.to_string(), "option rest-rounds: few is not a whole number of at least 0");
    /// let error = method.set("delta", "0.1").expect_err("of animation space");
    /// assert!(error.to_string().starts_with("linear blend skinning has no option delta"));
    /// # Ok::<(), dermis::fit::FitError>(())
    /// ```
    ///
    /// # Errors
    /// [`FitError::NoSuchOption`], and [`FitError::BadOption`] for text of another kind.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), FitError> {
        let name = name.replace('_', "-");
        match self.set_own(&name, text) {
            Some(result) => result,
            None => {
                let names: Vec<&str> = self.options().iter().map(|option| option.name).collect();
                Err(FitError::NoSuchOption {
                    method: self.title(),
                    options: names.join(", "),
                    name,
                })
            }
        }
    }

    pub(super) fn set_own(&mut self, name: &str, text: &str) -> Option<Result<(), FitError>> {
        let common = set(self, &[MAX_INFLUENCES], name, text);
        common.or_else(|| self.options_mut().set(name, text))
    }

    /// Where the bones of each vertex can be given, for the methods whose vertices are not free to choose.
    pub fn influences_mut(&mut self) -> Option<&mut InfluenceChoice> {
        self.options_mut().influences_mut()
    }

    /// What tells the method from the same with other options: in short, and in words after "with".
    pub fn variant(&self) -> [String; 2] {
        match self {
            Self::RotationalRegression(options) => match options.proxies {
                ProxyCount::Automatic => {
                    let words = "a proxy bone for every 128 vertices beyond 400";
                    ["auto".to_owned(), words.to_owned()]
                }
                ProxyCount::Exactly(count) => [count.to_string(), format!("{count} proxy bones")],
                ProxyCount::TargetError(error) => [
                    format!("{error}"),
                    format!("proxy bones for an E_RMS of {error}"),
                ],
            },
            _ => {
                let count = self.max_influences();
                [count.to_string(), format!("{count} influences")]
            }
        }
    }

    /// Most bones that may move one vertex.
    pub fn max_influences(&self) -> usize {
        self.options_ref().max_influences()
    }

    /// The same method with another number of bones that may move one vertex.
    pub fn with_max_influences(mut self, max_influences: usize) -> Self {
        self.options_mut().set_max_influences(max_influences);
        self
    }

    /// Checks that every option is in its range, before any work is done.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        self.options_ref().check()
    }

    /// Fits to the examples numbered in `training`.
    ///
    /// # Errors
    /// What the method's own function returns.
    pub fn fit(
        &self,
        set: &ExampleSet,
        training: &[usize],
        progress: &dyn Progress,
    ) -> Result<Fitted, FitError> {
        match self {
            Self::Ssd(options) => fit_ssd(set, training, options, progress),
            Self::PseudoBones(options) => fit_pseudo_bones(set, training, options, progress),
            Self::AnimSpace(options) => fit_anim_space(set, training, options, progress),
            Self::MultiWeight(options) => fit_multi_weight(set, training, options, progress),
            Self::Psd(options) => fit_psd(set, training, options, progress),
            Self::RotationalRegression(options) => {
                fit_rotational_regression(set, training, options, progress)
            }
            Self::DualQuaternion(options) => {
                let mut fitted = fit_ssd(set, training, options, progress)?;
                if let VertexProgram::Ssd(weighted) = fitted.skin.program {
                    let program = DualQuaternionProgram { weighted };
                    fitted.skin.program = VertexProgram::DualQuaternion(program);
                }
                Ok(fitted)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::measure;
    use crate::progress::Silent;
    use crate::synth::{TubeOptions, tube};

    #[test]
    fn every_method_has_a_name_of_its_own_and_takes_the_influences_asked_for() {
        let methods = Method::all(3);
        assert_eq!(methods[0].key(), "ssd", "the simplest comes first");
        for (number, method) in methods.iter().enumerate() {
            assert_eq!(method.max_influences(), 3, "{}", method.key());
            let found = Method::from_key(method.key()).expect("its own name");
            assert_eq!(found.title(), method.title(), "{}", method.key());
            let same =
                |other: &Method| other.key() == method.key() || other.title() == method.title();
            assert!(!methods[..number].iter().any(same), "{}", method.key());
        }
    }

    #[test]
    fn auto_does_not_choose_what_breaks_when_the_character_turns() {
        let keys: Vec<&str> = Method::candidates(4).iter().map(Method::key).collect();
        assert!(keys.contains(&"animation-space"), "{keys:?}");
        assert!(!keys.contains(&"mwe"), "{keys:?}");
    }

    #[test]
    fn a_method_that_may_use_no_bone_is_refused() {
        let none = Method::Ssd(SsdOptions::default()).with_max_influences(0);
        let error = none.check().expect_err("no bone");
        assert!(error.to_string().contains("max-influences"), "{error}");
    }

    #[test]
    fn dual_quaternions_take_the_weights_of_linear_blend_skinning() {
        let tube = tube(&TubeOptions {
            ring_count: 9,
            segment_count: 6,
            bone_count: 2,
            example_count: 4,
        });
        let which = [0, 1, 2, 3];
        let fit = |method: Method| {
            let fitted = method.fit(&tube.examples, &which, &Silent);
            fitted.expect("a tube can be fitted").skin
        };
        let linear = fit(Method::Ssd(SsdOptions::default()));
        let dual = fit(Method::DualQuaternion(SsdOptions::default()));
        let VertexProgram::Ssd(weights) = &linear.program else {
            panic!("linear blend skinning, found {}", linear.program.name());
        };
        let VertexProgram::DualQuaternion(blended) = &dual.program else {
            panic!("dual quaternions, found {}", dual.program.name());
        };
        assert_eq!(&blended.weighted, weights, "the same numbers");
        let error = |skin| {
            measure(skin, &tube.examples, &which)
                .expect("fits")
                .total
                .e_rms
        };
        // The tube was made by linear blending, so that is the truth and the other is not.
        assert!(error(&linear) < 1e-6, "E_RMS {}", error(&linear));
        assert!(error(&dual) > 0.1, "E_RMS {}", error(&dual));
    }
}
