//! Levels of detail of a document.

use super::legal::{evenly, poses_within};
use super::{AssumedPoses, Document, EditError, Level, LevelRecord};
use crate::fit::{made_up_poses, plain_fallback};
use crate::lod::{
    LegalPoseLimits, LevelShape, LevelTarget, LodOptions, Picture, Simplified, simplify,
};
use crate::measure::SurfaceDistance;
use crate::par;
use crate::progress::Progress;
use crate::rig::{BoneId, Pose};
use crate::skin::{ShownPoses, Skin, VertexProgram};

/// Most poses that levels are made for; of more, so many evenly spaced ones.
const MOST_POSES: usize = 200;
/// Poses of the clips that levels are measured in.
const MEASURED_POSES: usize = 24;
/// Influences of what stock players show.
const PLAIN_INFLUENCES: usize = 4;
/// The picture for which files say when to change levels: by then an error is one pixel of it.
const COMMON_PICTURE: Picture = Picture {
    width: 1920.0,
    height: 1080.0,
    field_of_view_x_rad: 1.57,
};

/// How to make levels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LevelOptions {
    /// What each level should have, from fine to coarse.
    pub targets: Vec<LevelTarget>,
    /// How to simplify.
    pub lod: LodOptions,
    /// Whether to state an error that holds in every legal pose.
    pub certify: bool,
    /// No level may be farther from the full character than this in any legal pose, in model units.
    pub tolerance: Option<f64>,
}

/// Where the poses came from that levels are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LevelPoses {
    /// The document's clips and frames.
    Clips,
    /// Poses within the limits or statistics that the document records.
    Limits,
    /// Nothing is known: every joint turned by up to 60°.
    MadeUp,
}

/// A document with levels, and how they were made.
#[derive(Debug, Clone)]
pub struct Leveled {
    /// The document, with its levels.
    pub document: Document,
    /// What was found of each level.
    pub shapes: Vec<LevelShape>,
    /// Which poses they are made for.
    pub poses: LevelPoses,
    /// The poses that the guaranteed errors hold in.
    pub assumes: AssumedPoses,
    /// What users should know, one sentence each.
    pub notes: Vec<String>,
}

impl Document {
    /// The document with coarser levels, which are best in the poses of its clips.
    ///
    /// Without clips they are made for the limits in the record, and without those for joints that turn by up to
    /// 60°. Levels that the document had are replaced.
    ///
    /// # Errors
    /// [`EditError::NoSkin`], [`EditError::Lod`], and [`EditError::Fit`] for stand-ins of animation-space levels.
    pub fn with_levels(
        &self,
        options: &LevelOptions,
        progress: &dyn Progress,
    ) -> Result<Leveled, EditError> {
        let skin = self.skin.as_ref().ok_or(EditError::NoSkin)?;
        let shown = ShownPoses::all(&self.shown_poses()?);
        let seen = skin.joint_statistics(&shown);
        let (limits, assumes) = self.legal_limits(&seen);
        let (poses, source) = match (shown.is_empty(), assumes) {
            (false, _) => (some_of(&shown, MOST_POSES), LevelPoses::Clips),
            (true, AssumedPoses::AnyRotation) => {
                (made_up_poses(&skin.skeleton), LevelPoses::MadeUp)
            }
            (true, _) => (poses_within(skin, &limits)?, LevelPoses::Limits),
        };
        let mut notes = Vec::new();
        let mut lod = options.lod.clone();
        if source == LevelPoses::Clips {
            let still = still_joints(skin, &poses);
            notes.extend(note_of_still(skin, &still));
            lod.rare_poses = turned_poses(skin, &poses, &still);
        }
        let wants_bound = options.certify || options.tolerance.is_some();
        let can_bound = skin.coefficients.is_empty()
            && !matches!(skin.program, VertexProgram::DualQuaternion(_));
        if wants_bound && !can_bound {
            notes.push(
                "no guaranteed error: it is known for linear skins without morph targets only"
                    .to_owned(),
            );
        }
        let legal = (wants_bound && can_bound).then_some(LegalPoseLimits {
            limits: &limits,
            tolerance: options.tolerance,
        });
        let simplified = simplify(
            skin,
            &self.mesh,
            &self.draw,
            &poses,
            &options.targets,
            &lod,
            legal,
            progress,
        )?;
        notes.extend(self.notes_of(&simplified, options.targets.len()));
        let mut document = Self {
            levels: Vec::new(),
            progressive: simplified.progressive.clone(),
            ..self.clone()
        };
        let measured = some_of(&shown, MEASURED_POSES);
        for shape in &simplified.levels {
            let own = Skin {
                program: shape.program.clone(),
                ..skin.clone()
            };
            document.levels.push(Level {
                mesh: shape.mesh.clone(),
                draw: shape.draw.clone(),
                fallback: match shape.program {
                    VertexProgram::Linear(_) => {
                        let plain = plain_fallback(&own, &poses, PLAIN_INFLUENCES, progress)?;
                        Some(plain.program)
                    }
                    _ => None,
                },
                program: shape.program.clone(),
                record: LevelRecord {
                    rms_error: Some(shape.rms_error),
                    clips_rms_error: surface_error(skin, &own, shape, &measured)?,
                    guaranteed_error: shape.guaranteed_error,
                    screen_coverage: Some(coverage(shape.largest_error, skin.size()?)),
                },
                becomes: shape.becomes.clone(),
            });
        }
        Ok(Leveled {
            document,
            shapes: simplified.levels,
            poses: source,
            assumes,
            notes,
        })
    }

    fn notes_of(&self, simplified: &Simplified, wanted: usize) -> Vec<String> {
        let mut notes = Vec::new();
        let dropped = simplified.dropped_triangles;
        if dropped > 0 {
            notes.push(format!(
                "{dropped} triangles that name a point twice or repeat another triangle are in no level"
            ));
        }
        if self.draw.parts.iter().any(|part| !part.tangents.is_empty()) {
            notes
                .push("levels have no tangents: engines make them from normals and UVs".to_owned());
        }
        for (number, level) in simplified.levels.iter().enumerate() {
            if !level.is_met {
                notes.push(format!(
                    "level {} stopped at {} triangles: a further step would tear a seam, turn a triangle over in some \
                     pose, or break the guarantee",
                    number + 1,
                    level.mesh.triangles().len()
                ));
            }
        }
        let made = simplified.levels.len();
        if made < wanted {
            notes.push(format!(
                "{made} of {wanted} levels were made: no coarser one is within the guarantee"
            ));
        }
        notes
    }
}

/// At most so many of some poses, evenly spaced.
fn some_of(poses: &[Pose], most: usize) -> Vec<Pose> {
    evenly(poses.len(), most)
        .map(|k| poses[k].clone())
        .collect()
}

/// Joints that never turn in some poses though they move vertices.
fn still_joints(skin: &Skin, poses: &[Pose]) -> Vec<BoneId> {
    let mut is_used = vec![false; skin.skeleton.bone_count()];
    skin.program
        .bones()
        .for_each(|bone| is_used[bone.index()] = true);
    let still = skin.joint_statistics(poses).into_iter().filter(|joint| {
        let is_root = skin.skeleton.bones()[joint.bone.index()].parent.is_none();
        !is_root && is_used[joint.bone.index()] && joint.max_angle_rad < STILL_RAD
    });
    still.map(|joint| joint.bone).collect()
}

fn note_of_still(skin: &Skin, still: &[BoneId]) -> Option<String> {
    const NAMED: usize = 4;
    let name = |bone: &BoneId| &skin.skeleton.bones()[bone.index()].name[..];
    let names: Vec<&str> = still.iter().take(NAMED).map(name).collect();
    (!still.is_empty()).then(|| {
        let more = match still.len() > NAMED {
            true => format!(" and {} more", still.len() - NAMED),
            false => String::new(),
        };
        format!(
            "joints that never turn in the clips count little, so what they move may be simplified away: {}{more}",
            names.join(", ")
        )
    })
}

/// A few of some poses with still joints turned, too: they may turn in clips that are yet to come.
fn turned_poses(skin: &Skin, poses: &[Pose], still: &[BoneId]) -> Vec<Pose> {
    if still.is_empty() {
        return Vec::new();
    }
    let rest = skin.skeleton.rest_pose();
    let turned = made_up_poses(&skin.skeleton).into_iter().skip(1).take(2);
    let with_turns = |(n, turned): (usize, Pose)| {
        let mut pose = poses[n * (poses.len() - 1)].clone();
        for j in still.iter().map(|bone| bone.index()) {
            if j < pose.parent_from_bone.len() {
                let turn = rest.parent_from_bone[j].inverse() * turned.parent_from_bone[j];
                pose.parent_from_bone[j] *= turn;
            }
        }
        pose
    };
    turned.enumerate().map(with_turns).collect()
}

/// A joint that turns by less is still.
const STILL_RAD: f64 = 1e-3;

/// Root mean square distance of the full character's points from a level, over some poses; `None` without poses.
fn surface_error(
    full: &Skin,
    level: &Skin,
    shape: &LevelShape,
    poses: &[Pose],
) -> Result<Option<f64>, EditError> {
    let squares = par::map(poses.len(), |k| {
        let posed = level.evaluate(&poses[k])?;
        let surface = SurfaceDistance::new(&posed, shape.mesh.triangles());
        let points = full.evaluate(&poses[k])?;
        let sum: f64 = points.iter().map(|p| surface.distance(*p).powi(2)).sum();
        Ok(sum / points.len().max(1) as f64)
    });
    let squares = squares
        .into_iter()
        .collect::<Result<Vec<f64>, EditError>>()?;
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    Ok((!squares.is_empty()).then(|| mean.sqrt()))
}

/// The share of a common picture that a character of this size covers when an error is one pixel of it.
fn coverage(error: f64, size: f64) -> f64 {
    let pixels = 0.5 * size / error.max(f64::MIN_POSITIVE);
    let area = std::f64::consts::PI * pixels * pixels;
    (area / (COMMON_PICTURE.width * COMMON_PICTURE.height)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::testing::tube_with_clips;
    use crate::progress::Silent;

    fn options(targets: &[LevelTarget]) -> LevelOptions {
        LevelOptions {
            targets: targets.to_vec(),
            certify: true,
            ..LevelOptions::default()
        }
    }

    #[test]
    fn levels_have_fewer_and_fewer_triangles_and_honest_errors() {
        let document = tube_with_clips(&["bend"]);
        let full = document.mesh.triangles().len();
        let targets = [2, 4].map(|n| LevelTarget::Triangles(full / n));
        let leveled = document
            .with_levels(&options(&targets), &Silent)
            .expect("a tube");
        assert_eq!(leveled.poses, LevelPoses::Clips, "it has a clip");
        let levels = &leveled.document.levels;
        for (level, target) in levels.iter().zip([full / 2, full / 4]) {
            assert!(level.mesh.triangles().len() <= target, "as few as asked");
            let [rms, shown, most] = [
                level.record.rms_error,
                level.record.clips_rms_error,
                level.record.guaranteed_error,
            ]
            .map(|error| error.expect("all three are known"));
            assert!(shown <= most && rms <= most, "{rms} {shown} {most}");
        }
        assert_eq!(
            levels[0].becomes.len(),
            document.mesh.vertex_count(),
            "of the tube"
        );
        assert_eq!(
            levels[1].becomes.len(),
            levels[0].mesh.vertex_count(),
            "of level 1"
        );
    }

    #[test]
    fn no_level_is_beyond_the_guarantee() {
        let document = tube_with_clips(&["bend"]);
        let full = document.mesh.triangles().len();
        let size = document
            .skin
            .as_ref()
            .expect("a skin")
            .size()
            .expect("a size");
        let mut wanted = options(&[LevelTarget::Triangles(full / 20)]);
        wanted.tolerance = Some(0.1 * size);
        let leveled = document.with_levels(&wanted, &Silent).expect("a tube");
        for level in &leveled.document.levels {
            let most = level.record.guaranteed_error.expect("stated");
            assert!(most <= 0.1 * size, "{most} of {size}");
        }
        assert!(!leveled.notes.is_empty(), "it says why it stopped");
    }

    #[test]
    fn without_clips_joints_are_turned_for_a_try() {
        let document = tube_with_clips(&[]);
        let quarter = [LevelTarget::Triangles(document.mesh.triangles().len() / 4)];
        let leveled = document
            .with_levels(&options(&quarter), &Silent)
            .expect("a tube");
        assert_eq!(leveled.poses, LevelPoses::MadeUp, "nothing is known of it");
        assert_eq!(
            leveled.document.levels[0].record.clips_rms_error, None,
            "no clips"
        );
    }
}
