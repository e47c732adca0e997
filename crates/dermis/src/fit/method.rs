//! The ways to fit, as one choice.

use super::{
    AnimSpaceOptions, FitError, Fitted, MultiWeightOptions, ProxyCount, PsdOptions,
    PseudoBoneOptions, RotationalOptions, SsdOptions, fit_anim_space, fit_multi_weight, fit_psd,
    fit_pseudo_bones, fit_rotational_regression, fit_ssd,
};
use crate::example::ExampleSet;
use crate::progress::Progress;
use crate::skin::{DualQuaternionProgram, VertexProgram};

/// A way to fit, with its options.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Linear blend skinning.
    Ssd(SsdOptions),
    /// Linear blend skinning over the skeleton's bones and pseudo-bones between them.
    PseudoBones(PseudoBoneOptions),
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

impl Method {
    /// Every method with its defaults, the simplest first: what `dermis compare` runs. A new method
    /// joins the comparison by joining this list.
    pub fn all(max_influences: usize) -> Vec<Self> {
        let methods = [
            Self::Ssd(SsdOptions::default()),
            Self::PseudoBones(PseudoBoneOptions::default()),
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

    /// Those of [`Method::all`] that [`Method::turns_with_the_character`]: what `--method auto`
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
        match self {
            Self::MultiWeight(_) => false,
            Self::Psd(options) => {
                let mut bases = options.bases.iter();
                bases.all(Self::turns_with_the_character)
            }
            _ => true,
        }
    }

    /// The method of a name, with its defaults; `None` for a name that no method has.
    ///
    /// ```
    /// use dermis::fit::Method;
    ///
    /// let method = Method::from_key("animation-space").expect("it is one");
    /// assert_eq!(method.title(), "animation space");
    /// assert!(Method::from_key("magic").is_none());
    /// ```
    pub fn from_key(key: &str) -> Option<Self> {
        let mut methods = Self::all(SsdOptions::default().max_influences).into_iter();
        methods.find(|method| method.key() == key)
    }

    /// The name that `--method` takes and files record.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Ssd(_) => "ssd",
            Self::PseudoBones(_) => "pseudo-bones",
            Self::AnimSpace(_) => "animation-space",
            Self::MultiWeight(_) => "mwe",
            Self::DualQuaternion(_) => "dual-quaternion",
            Self::Psd(options) if options.shapes_per_joint.is_some() => "eigenskin",
            Self::Psd(_) => "psd",
            Self::RotationalRegression(_) => "rotational-regression",
        }
    }

    /// What people call the method.
    pub fn title(&self) -> &'static str {
        match self {
            Self::Ssd(_) => "linear blend skinning",
            Self::PseudoBones(_) => "linear blend skinning with pseudo-bones",
            Self::AnimSpace(_) => "animation space",
            Self::MultiWeight(_) => "multi-weight enveloping",
            Self::DualQuaternion(_) => "dual quaternion skinning",
            Self::Psd(options) if options.shapes_per_joint.is_some() => "EigenSkin",
            Self::Psd(_) => "pose space deformation",
            Self::RotationalRegression(_) => "rotational regression",
        }
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
        match self {
            Self::Ssd(options) | Self::DualQuaternion(options) => options.max_influences,
            Self::PseudoBones(options) => options.ssd.max_influences,
            Self::AnimSpace(options) => options.max_influences,
            Self::MultiWeight(options) => options.max_influences,
            Self::Psd(options) => {
                let bases = options.bases.iter().map(Self::max_influences);
                bases.max().unwrap_or(0)
            }
            Self::RotationalRegression(options) => options.ssd.max_influences,
        }
    }

    /// The same method with another number of bones that may move one vertex.
    pub fn with_max_influences(mut self, max_influences: usize) -> Self {
        match &mut self {
            Self::Ssd(options) | Self::DualQuaternion(options) => {
                options.max_influences = max_influences;
            }
            Self::PseudoBones(options) => options.ssd.max_influences = max_influences,
            Self::AnimSpace(options) => options.max_influences = max_influences,
            Self::MultiWeight(options) => options.max_influences = max_influences,
            Self::Psd(options) => {
                let bases = std::mem::take(&mut options.bases).into_iter();
                let limited = bases.map(|base| base.with_max_influences(max_influences));
                options.bases = limited.collect();
            }
            Self::RotationalRegression(options) => options.ssd.max_influences = max_influences,
        }
        self
    }

    /// Checks that every option is in its range, before any work is done.
    ///
    /// # Errors
    /// [`FitError::BadOption`] naming the first that is not.
    pub fn check(&self) -> Result<(), FitError> {
        match self {
            Self::Ssd(options) | Self::DualQuaternion(options) => options.check(),
            Self::PseudoBones(options) => options.ssd.check(),
            Self::AnimSpace(options) => options.check(),
            Self::MultiWeight(options) => options.check(),
            Self::Psd(options) => options.check(),
            Self::RotationalRegression(options) => options.check(),
        }
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
        assert!(error.to_string().contains("max_influences"), "{error}");
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
