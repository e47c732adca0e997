//! Spheres in the `DERMIS_skin` extension.

use crate::mesh::Ball;
use crate::rig::Similarity;
use serde::{Deserialize, Serialize};

/// Bounding spheres of a skin, in model space.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BoundsRecord {
    /// The poses for which `legal` is a bound.
    pub assumes: AssumedPoses,
    /// Bounds the skin in every legal pose; `None` for skins that are not sums of matrices times vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Ball>,
    /// Bounds the skin in all clips of the file; `None` without clips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clips: Option<Ball>,
    /// The sphere for culling where `legal` is not enough: for clips that leave it, and for the plain
    /// stand-in that stock players show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culling: Option<Ball>,
    /// The same for each primitive, in the order of the file.
    pub parts: Vec<PartBounds>,
}

/// Bounding spheres of one primitive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartBounds {
    /// As [`BoundsRecord::legal`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal: Option<Ball>,
    /// As [`BoundsRecord::clips`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clips: Option<Ball>,
    /// As [`BoundsRecord::culling`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub culling: Option<Ball>,
}

/// The poses that count as legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum AssumedPoses {
    /// Every rotation of every joint, and translations and scales as in the clips.
    AnyRotation,
    /// Joint limits that were given.
    Limits,
    /// The range of each joint in the poses of the statistics, in any combination.
    Seen,
}

impl AssumedPoses {
    /// The poses that [`BoundsRecord::legal`] holds in, for people.
    pub fn description(self) -> &'static str {
        match self {
            Self::AnyRotation => "every rotation",
            Self::Limits => "every pose within limits",
            Self::Seen => "every pose of seen joints",
        }
    }
}

impl BoundsRecord {
    /// The spheres of the model after a move.
    #[must_use]
    pub fn moved(&self, by: &Similarity) -> Self {
        let ball = |ball: &Ball| Ball {
            center: by.point(ball.center),
            radius: by.scale() * ball.radius,
        };
        Self {
            assumes: self.assumes,
            legal: self.legal.as_ref().map(ball),
            clips: self.clips.as_ref().map(ball),
            culling: self.culling.as_ref().map(ball),
            parts: (self.parts.iter())
                .map(|part| PartBounds {
                    legal: part.legal.as_ref().map(ball),
                    clips: part.clips.as_ref().map(ball),
                    culling: part.culling.as_ref().map(ball),
                })
                .collect(),
        }
    }

    /// The sphere of the whole that an engine should use, as [`PartBounds::best`].
    pub fn best(&self) -> Option<&Ball> {
        (self.culling.as_ref())
            .or(self.legal.as_ref())
            .or(self.clips.as_ref())
    }
}

impl PartBounds {
    /// The sphere that an engine should use: the one for culling, else the one for every legal pose, else
    /// that of the clips.
    pub fn best(&self) -> Option<&Ball> {
        (self.culling.as_ref())
            .or(self.legal.as_ref())
            .or(self.clips.as_ref())
    }
}
