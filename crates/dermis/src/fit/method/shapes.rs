//! What pose space deformation and EigenSkin are, as methods.

use super::{
    Method, MethodInfo, MethodOption, MethodOptions, OptionKind, OptionOf, Promises, StockPlayers,
    Weights, count, describe, number, set, word_or,
};
use crate::fit::{FitError, PsdOptions};

pub(super) static PSD: MethodInfo = MethodInfo {
    key: "psd",
    aliases: &[],
    title: "pose space deformation",
    summary: "the skin of another method, its base, and shapes that the turns of joints switch on",
    use_when: "muscles, creases and sculpts must be met, and bytes per vertex matter less",
    promises: Promises {
        turns_with_the_character: true,
        is_linear: true,
        weights: Weights::Shares,
        in_stock_players: StockPlayers::Baked,
        meets_examples_with: &[("smoothing", "0"), ("shape-tolerance", "0")],
    },
};

pub(super) static EIGEN_SKIN: MethodInfo = MethodInfo {
    key: "eigenskin",
    aliases: &[],
    title: "EigenSkin",
    summary: "pose space deformation with at most five shapes per joint",
    use_when: "shapes are wanted and an engine holds only so many morph targets",
    promises: Promises {
        meets_examples_with: &[],
        ..PSD.promises
    },
};

/// The word for what examples left out of the fit decide.
const AUTO: &str = "auto";
/// The word for no limit.
const ALL: &str = "all";

const TABLE: &[OptionOf<PsdOptions>] = &[
    OptionOf {
        name: "base",
        kind: OptionKind::Method { word: AUTO },
        help: "The skin that shapes are added to: any other method, or auto for that of lbs, pseudo-bones, \
               rotational-regression and animation-space which gives the smallest skin within 5% of the lowest error \
               on examples left out of those that are fitted",
        instead_of: None,
        get: |options| match &options.bases[..] {
            [base] => base.info().name().to_owned(),
            _ => AUTO.to_owned(),
        },
        set: |options, text| {
            let max_influences = options.max_influences();
            let bases = match text {
                AUTO => PsdOptions::default().bases,
                name => vec![Method::from_key(name)?],
            };
            options.bases = bases;
            options.set_max_influences(max_influences);
            Some(())
        },
    },
    OptionOf {
        name: "base-rounds",
        kind: OptionKind::Count {
            least: 0,
            word: None,
        },
        help: "How many times the base is fitted again, to the examples without what the shapes already explain",
        instead_of: None,
        get: |options| options.base_rounds.to_string(),
        set: |options, text| {
            options.base_rounds = count(text)?;
            Some(())
        },
    },
    OptionOf {
        name: "falloff",
        kind: OptionKind::Degrees { word: Some(AUTO) },
        help: "How far around its own joint angle an example has an effect, in degrees; auto for the best on examples \
               kept from the fit",
        instead_of: None,
        get: |options| match options.falloff {
            // Rounded, so that degrees which were given come back as they were.
            Some(radians) => ((radians.to_degrees() * 1e9).round() / 1e9).to_string(),
            None => AUTO.to_owned(),
        },
        set: |options, text| {
            options.falloff = word_or(AUTO, text, number)?.map(f64::to_radians);
            Some(())
        },
    },
    OptionOf {
        name: "smoothing",
        kind: OptionKind::Number { word: Some(AUTO) },
        help: "How much the shapes may miss the examples to stay smooth: 0 meets every example exactly, auto is the \
               best on examples kept from the fit",
        instead_of: None,
        get: |options| options.smoothing.map_or(AUTO.to_owned(), |s| s.to_string()),
        set: |options, text| {
            options.smoothing = word_or(AUTO, text, number)?;
            Some(())
        },
    },
    OptionOf {
        name: "shape-tolerance",
        kind: OptionKind::Number { word: None },
        help: "How far shapes may be off after similar ones are combined, as a share of the rest box's diagonal",
        instead_of: None,
        get: |options| options.tolerance.to_string(),
        set: |options, text| {
            options.tolerance = number(text)?;
            Some(())
        },
    },
    OptionOf {
        name: "shapes-per-joint",
        kind: OptionKind::Count {
            least: 1,
            word: Some(ALL),
        },
        help: "Most shapes that one joint may have; those that matter most are kept",
        instead_of: None,
        get: |options| {
            let limit = options.shapes_per_joint;
            limit.map_or(ALL.to_owned(), |limit| limit.to_string())
        },
        set: |options, text| {
            options.shapes_per_joint = word_or(ALL, text, count)?;
            Some(())
        },
    },
];

impl MethodOptions for PsdOptions {
    fn check(&self) -> Result<(), FitError> {
        self.check()
    }

    fn max_influences(&self) -> usize {
        let bases = self.bases.iter().map(Method::max_influences);
        bases.max().unwrap_or(0)
    }

    fn set_max_influences(&mut self, max_influences: usize) {
        let bases = std::mem::take(&mut self.bases).into_iter();
        let limited = bases.map(|base| base.with_max_influences(max_influences));
        self.bases = limited.collect();
    }

    fn options(&self) -> Vec<MethodOption> {
        describe(self, TABLE)
    }

    /// Options of the base are for the base, if there is one alone.
    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), FitError>> {
        set(self, TABLE, name, text).or_else(|| match &mut self.bases[..] {
            [base] => base.set_own(name, text),
            _ => None,
        })
    }
}
