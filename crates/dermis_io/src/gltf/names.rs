//! Names of the custom attributes that dermis writes and recognises, of its nodes, and of other people's extensions.
//!
//! Case is ignored, because tools change it (three.js makes custom names lower case).

/// The point that a drawn vertex is a copy of.
pub(super) const POINT: &str = "_ORIG";

/// The node above all roots of a skeleton that has several: glTF requires one root for all joints.
pub(super) const COMMON_ROOT: &str = "skeleton";

/// The extension by which a node names the nodes that take its place farther away.
pub(super) const LEVELS: &str = "MSFT_lod";

/// In `extras` of such a node, how much of the picture each of them covers at least.
pub(super) const SCREEN_COVERAGE: &str = "MSFT_screencoverage";

/// The content of an attribute of dermis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// [`POINT`].
    Point,
    /// `_AS_n` or `_MW_n`: numbers of the influences, one or three VEC4 each.
    Vector(Exact, usize),
    /// `_ASJ_n` or `_MWJ_n`: joints of four influences.
    Joints(Exact, usize),
    /// `_ASC_t_s`: the vector that morph target t adds to the animation-space vector of influence s.
    Shift(usize, usize),
    /// `_MWR`: where the vertex rests in the exact model.
    Rest(Exact),
}

/// The kinds of exact model that have attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exact {
    /// Animation-space vectors.
    Linear,
    /// Multi-weight enveloping.
    MultiWeight,
}

impl Exact {
    /// How its attributes begin, after the underscore.
    pub(super) fn prefix(self) -> &'static str {
        match self {
            Self::Linear => "AS",
            Self::MultiWeight => "MW",
        }
    }

    /// How many VEC4 one influence has.
    pub(super) fn vectors_per_slot(self) -> usize {
        match self {
            Self::Linear => 1,
            Self::MultiWeight => 3,
        }
    }

    /// The name shown to people.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Linear => "animation-space vectors",
            Self::MultiWeight => "multi-weight rows",
        }
    }
}

impl Name {
    /// The content of a custom attribute; `None` when dermis did not define it.
    pub(super) fn of(attribute: &str) -> Option<Self> {
        let upper = attribute.to_ascii_uppercase();
        if upper == POINT {
            return Some(Self::Point);
        }
        [Exact::Linear, Exact::MultiWeight]
            .into_iter()
            .find_map(|kind| {
                let rest = upper.strip_prefix('_')?.strip_prefix(kind.prefix())?;
                if rest == "R" {
                    return Some(Self::Rest(kind));
                }
                let number = |text: &str| text.parse::<usize>().ok();
                if let (Exact::Linear, Some(rest)) = (kind, rest.strip_prefix("C_")) {
                    let (target, slot) = rest.split_once('_')?;
                    return Some(Self::Shift(number(target)?, number(slot)?));
                }
                if let Some(n) = rest.strip_prefix("J_") {
                    return number(n).map(|n| Self::Joints(kind, n));
                }
                number(rest.strip_prefix('_')?).map(|n| Self::Vector(kind, n))
            })
    }

    /// The attribute's name without its underscore.
    pub(super) fn text(self) -> String {
        match self {
            Self::Point => POINT[1..].to_owned(),
            Self::Vector(kind, n) => format!("{}_{n}", kind.prefix()),
            Self::Joints(kind, n) => format!("{}J_{n}", kind.prefix()),
            Self::Shift(target, slot) => format!("{}C_{target}_{slot}", Exact::Linear.prefix()),
            Self::Rest(kind) => format!("{}R", kind.prefix()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_recognised_in_either_case() {
        let names = [
            Name::Point,
            Name::Vector(Exact::Linear, 11),
            Name::Joints(Exact::MultiWeight, 2),
            Name::Rest(Exact::MultiWeight),
            Name::Shift(3, 12),
        ];
        for name in names {
            let text = format!("_{}", name.text());
            assert_eq!(Name::of(&text), Some(name), "{text}");
            let lower = text.to_ascii_lowercase();
            assert_eq!(Name::of(&lower), Some(name), "{lower}");
        }
        for other in [
            "_AS", "_AS_", "_AS_x", "_AS_-1", "_ASK_0", "_ASC_1", "_MWC_0_0", "AS_0", "_HEAT",
        ] {
            assert_eq!(Name::of(other), None, "{other} belongs to others");
        }
    }
}
