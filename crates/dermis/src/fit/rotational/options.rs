//! How to fit rotational regression.

use crate::fit::method::{
    MethodInfo, MethodOption, MethodOptions, OptionKind, OptionOf, Promises, StockPlayers, count,
    describe, number, set, word_or,
};
use crate::fit::{FitError, SsdOptions, bad_option, check_max_influences, ssd};

/// How many proxy bones there are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ProxyCount {
    /// One for every 128 vertices beyond 400, at least 8 and at most 60: a whole frame then takes at most twice as
    /// long as one of linear blend skinning on the sets that it was measured on (`docs/performance/proxy-bones.md`).
    /// Small meshes have fewer for their size, because to place even ten takes as long as to move some 500 vertices.
    Automatic,
    /// As many as given, or fewer where the skin has not as many triangles; at least 1 and at most 2000.
    ///
    /// Every patch has a say in the place of every proxy, so memory grows with the square of their number and time
    /// faster: a mesh of 3,000 vertices took 0.2 GB for 500, 0.4 GB for 1000 and 2 GB for 2000, and 5 s, 23 s and 4
    /// minutes on two busy cores.
    Exactly(usize),
    /// As few as follow the training examples to this E_RMS (see [`Measures`](crate::measure::Measures)), when
    /// they are moved as well as they can be.
    ///
    /// That is the second of [`Fitted::round_errors`](crate::fit::Fitted::round_errors), over all vertices, those that
    /// stay with linear blend skinning as that has them. It bounds neither the error of the skin as it runs, which has what is predicted of the motions
    /// in the place of the best ones (the third), nor that of poses that were held out: to know those every count would
    /// have to be fitted to the end.
    ///
    /// A target that is out of reach is no error: the search ends where twice as many proxies take off less than a
    /// twentieth, and the second of the errors says how far they go.
    TargetError(f64),
}

impl ProxyCount {
    /// How many proxies are wanted for a mesh; 1, the fewest to try, where an error decides.
    pub(super) fn least(self, vertex_count: usize) -> usize {
        match self {
            Self::Automatic => (vertex_count.saturating_sub(400) / 128).clamp(8, 60),
            Self::Exactly(count) => count,
            Self::TargetError(_) => 1,
        }
    }
}

/// How to fit rotational regression.
#[derive(Debug, Clone, PartialEq)]
pub struct RotationalOptions {
    /// Most bones, or proxies, that may move one vertex; at least 1, default 4.
    pub max_influences: usize,
    /// How many proxy bones; by default as many as the mesh is worth.
    pub proxies: ProxyCount,
    /// A vertex that linear blend skinning meets to this share of the rest box's diagonal, root mean square
    /// over the training examples, stays with it; at least 0, default 5e-4.
    pub rigid_tolerance: f64,
    /// How strongly a vertex is pulled to where its patches are predicted to be, beside the pull of an edge; at
    /// least 0, default 0.01. At 0 places follow from edges and held vertices alone, as in \[Wang07\], and the
    /// best-predicted vertex of each part of the mesh is held whatever its error.
    pub place_weight: f64,
    /// What moves a proxy by less than this share of the rest box's diagonal is left out of its sums, for speed; at
    /// least 0, default 1e-4.
    pub smallest_share: f64,
}

impl Default for RotationalOptions {
    fn default() -> Self {
        Self {
            max_influences: SsdOptions::default().max_influences,
            proxies: ProxyCount::Automatic,
            rigid_tolerance: 5e-4,
            place_weight: 0.01,
            smallest_share: 1e-4,
        }
    }
}

pub(in crate::fit) static INFO: MethodInfo = MethodInfo {
    key: "rotational-regression",
    aliases: &[],
    title: "rotational regression",
    summary: "skin that turns with joints, on proxy bones of its own: twists, elbows, forearms",
    use_when: "joints twist and bend far, and shapes for every pose would take too much memory",
    promises: Promises {
        in_stock_players: StockPlayers::Baked,
        ..ssd::INFO.promises
    },
};

/// The word for a number that follows from the mesh.
const AUTO: &str = "auto";
/// The word for a number of proxies that no error decides.
const NONE: &str = "none";

const TABLE: &[OptionOf<RotationalOptions>] = &[
    OptionOf {
        name: "proxy-bones",
        kind: OptionKind::Count {
            least: 1,
            word: Some(AUTO),
        },
        help: "How many extra bones (proxy bones) carry the skin that turns with joints; auto is one for every 128 \
               vertices beyond 400, 8 to 60",
        instead_of: None,
        get: |options| match options.proxies {
            ProxyCount::Exactly(count) => count.to_string(),
            ProxyCount::Automatic => AUTO.to_owned(),
            ProxyCount::TargetError(_) => NONE.to_owned(),
        },
        set: |options, text| {
            options.proxies = match word_or(AUTO, text, count)? {
                Some(count) => ProxyCount::Exactly(count),
                None => ProxyCount::Automatic,
            };
            Some(())
        },
    },
    OptionOf {
        name: "target-error",
        kind: OptionKind::Number { word: Some(NONE) },
        help: "Use as few proxy bones as can reach this E_RMS on the examples fitted to",
        instead_of: Some("proxy-bones"),
        get: |options| match options.proxies {
            ProxyCount::TargetError(error) => error.to_string(),
            _ => NONE.to_owned(),
        },
        set: |options, text| {
            options.proxies = match word_or(NONE, text, number)? {
                Some(error) => ProxyCount::TargetError(error),
                None => ProxyCount::Automatic,
            };
            Some(())
        },
    },
    OptionOf {
        name: "rigid-tolerance",
        kind: OptionKind::Number { word: None },
        help: "Vertices keep linear blend skinning where it is off by no more than this share of the rest box's diagonal",
        instead_of: None,
        get: |options| options.rigid_tolerance.to_string(),
        set: |options, text| {
            options.rigid_tolerance = number(text)?;
            Some(())
        },
    },
    OptionOf {
        name: "place-weight",
        kind: OptionKind::Number { word: None },
        help: "How strongly vertices are pulled to the predicted place of their patch of skin, beside the pull along \
               edges; 0 for edges alone, as in the paper",
        instead_of: None,
        get: |options| options.place_weight.to_string(),
        set: |options, text| {
            options.place_weight = number(text)?;
            Some(())
        },
    },
];

/// Most proxy bones: the system of their places is dense.
pub(super) const MOST_PROXIES: usize = 2000;

impl MethodOptions for RotationalOptions {
    fn check(&self) -> Result<(), FitError> {
        check_max_influences(self.max_influences)?;
        match self.proxies {
            ProxyCount::Exactly(count) if !(1..=MOST_PROXIES).contains(&count) => {
                let problem = format!("{count} is not between 1 and {MOST_PROXIES}");
                return bad_option("proxy-bones", problem);
            }
            ProxyCount::TargetError(error) if !(error > 0.0 && error.is_finite()) => {
                let problem = format!("{error} is not a finite number above 0");
                return bad_option("target-error", problem);
            }
            _ => {}
        }
        for (name, number) in [
            ("rigid-tolerance", self.rigid_tolerance),
            ("place-weight", self.place_weight),
            ("smallest-share", self.smallest_share),
        ] {
            if !(number >= 0.0 && number.is_finite()) {
                let problem = format!("{number} is not a finite number of 0 or more");
                return bad_option(name, problem);
            }
        }
        Ok(())
    }

    fn max_influences(&self) -> usize {
        self.max_influences
    }

    fn set_max_influences(&mut self, max_influences: usize) {
        self.max_influences = max_influences;
    }

    fn options(&self) -> Vec<MethodOption> {
        describe(self, TABLE)
    }

    fn set(&mut self, name: &str, text: &str) -> Option<Result<(), FitError>> {
        set(self, TABLE, name, text)
    }
}
