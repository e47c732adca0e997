//! `--influences`: which bones each vertex may use, as painted or listed by somebody.

use std::path::PathBuf;

use anyhow::{Context, bail};
use dermis::fit::InfluenceSets;
use dermis_io::read_influences;

use crate::examples::Prepared;

/// Where influence sets come from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum InfluenceSource {
    Automatic,
    Skin,
    File(PathBuf),
}

impl InfluenceSource {
    /// Reads `--influences`.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        match text {
            "auto" => Ok(Self::Automatic),
            "skin" => Ok(Self::Skin),
            path if path.ends_with(".json") => Ok(Self::File(path.into())),
            _ => bail!("--influences {text}: expected auto, skin or the name of a .json file"),
        }
    }

    /// The sets for these examples; `None` leaves the choice to the fit.
    pub(crate) fn sets(&self, prepared: &Prepared) -> anyhow::Result<Option<InfluenceSets>> {
        Ok(match self {
            Self::Automatic => None,
            Self::Skin => {
                let skin = prepared.rig_skin.as_ref().with_context(|| {
                    format!(
                        "--influences skin: neither {} nor the file of --skeleton has weights for its vertices",
                        prepared.look.path.display()
                    )
                })?;
                Some(InfluenceSets::of_skin(skin).context("--influences skin")?)
            }
            Self::File(path) => {
                let skeleton = prepared.set.skeleton();
                Some(read_influences(path, skeleton, &prepared.look)?)
            }
        })
    }
}
