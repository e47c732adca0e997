//! What a method is, in words, and what can be relied on.

/// What a method is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodInfo {
    /// The name that files record.
    pub key: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// What people call it.
    pub title: &'static str,
    /// What it is: a phrase without a full stop.
    pub summary: &'static str,
    /// When to use it: what could follow "use it when".
    pub use_when: &'static str,
    /// What can be relied on. For a method with a base: if the base promises the same.
    pub promises: Promises,
}

impl MethodInfo {
    /// The name to show: the first alias, where there is one.
    pub fn name(&self) -> &'static str {
        self.aliases.first().unwrap_or(&self.key)
    }

    /// Whether a name, shown or recorded, is this method's.
    pub fn is_called(&self, name: &str) -> bool {
        self.key == name || self.aliases.contains(&name)
    }
}

/// What can be relied on in every skin that a method makes with its defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Promises {
    /// Turning the whole character turns the result and does nothing else.
    pub turns_with_the_character: bool,
    /// The skin becomes animation space, the one kernel, by [`Skin::to_linear`](crate::Skin::to_linear).
    pub is_linear: bool,
    /// What the weights of a vertex are.
    pub weights: Weights,
    /// What players of plain glTF show.
    pub in_stock_players: StockPlayers,
    /// Options, each with the value, with which every training example is met in which no vertex of a base collapses;
    /// none if no options do that.
    pub meets_examples_with: &'static [(&'static str, &'static str)],
}

impl Promises {
    /// What of this is left on a base.
    pub(super) fn on(self, base: Self) -> Self {
        Self {
            turns_with_the_character: self.turns_with_the_character
                && base.turns_with_the_character,
            is_linear: self.is_linear && base.is_linear,
            weights: self.weights.min(base.weights),
            in_stock_players: match base.in_stock_players {
                StockPlayers::Exact | StockPlayers::Baked => self.in_stock_players,
                StockPlayers::StandIn | StockPlayers::StandInOrExact => StockPlayers::StandIn,
            },
            meets_examples_with: self.meets_examples_with,
        }
    }
}

/// What the weights of a vertex are; the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weights {
    /// Any numbers.
    Free,
    /// Numbers that sum to 1, some of them negative.
    SumToOne,
    /// Shares: at least 0, summing to 1.
    Shares,
}

/// What players of plain glTF show of skins with up to four influences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StockPlayers {
    /// The skin, in every pose.
    Exact,
    /// The skin, in clips: what it computes from the pose is written into them.
    Baked,
    /// A linear blend stand-in.
    StandIn,
    /// A linear blend stand-in, or the skin itself over more joints.
    StandInOrExact,
}
