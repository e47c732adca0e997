//! Levels in poses of the character, beside what simplification at rest alone gives for as many triangles: the arm that
//! lost its elbow.

use anyhow::Context;
use dermis::bounds::complete_limits;
use dermis::document::{LevelPoses, Leveled};
use dermis::fit::made_up_poses;
use dermis::joint::LegalPoses;
use dermis::lod::{LevelTarget, LodOptions, simplify};
use dermis::measure::SurfaceDistance;
use dermis::skin::ShownPoses;
use dermis::{Pose, Skin, TriMesh, VertexProgram};
use dermis_io::Document;
use glam::DVec3;

use super::skin_of;
use crate::talk::Talk;

/// Most poses that are looked at: as many as the errors in files are measured in.
const MOST_POSES: usize = 24;

/// Levels, and what could have been in their places, in the same poses.
pub(crate) struct Judged {
    /// Each with what people call it.
    pub(crate) poses: Vec<(String, Pose)>,
    /// From fine to coarse.
    pub(crate) levels: Vec<Judgement>,
    /// The same simplified at rest alone, to as many triangles; empty where levels lose influences, which at rest none
    /// would miss.
    pub(crate) rest_only: Vec<Judgement>,
}

/// A coarse form of the character, and how far the full one is from it.
pub(crate) struct Judgement {
    pub(crate) mesh: TriMesh,
    skin: Skin,
    /// Root mean square distance of the full character's points in each pose, in model units.
    pub(crate) rms_of_pose: Vec<f64>,
    /// Largest distance of the full character's points in any pose.
    pub(crate) farthest: f64,
    /// Largest distance of its own points from the full character in any pose: spikes that stand out are near to no point of
    /// the full character, and the errors above do not see them.
    pub(crate) stands_out: f64,
}

/// The full character in a pose.
struct Truth {
    points: Vec<DVec3>,
    surface: SurfaceDistance,
}

impl Judged {
    /// Simplifies at rest alone, and measures that and the levels.
    pub(super) fn new(
        document: &Document,
        leveled: &Leveled,
        options: &LodOptions,
        talk: &Talk,
    ) -> anyhow::Result<Self> {
        let full = skin_of(document)?;
        let poses = poses(document, leveled.poses)?;
        let triangles = document.mesh.triangles();
        let truth = |(_, pose): &(String, Pose)| {
            let points = full.evaluate(pose)?;
            let surface = SurfaceDistance::new(&points, triangles);
            anyhow::Ok(Truth { points, surface })
        };
        let truths = poses.iter().map(truth).collect::<Result<Vec<_>, _>>()?;
        let judge = |mesh: &TriMesh, program: &VertexProgram| {
            Judgement::new(full, mesh, program, &poses, &truths)
        };
        let mut levels = Vec::new();
        for level in &leveled.document.levels {
            levels.push(judge(&level.mesh, &level.program)?);
            talk.check_stopped()?;
        }
        let mut rest_only = Vec::new();
        if !options.drop_influences {
            let targets: Vec<LevelTarget> = (levels.iter())
                .map(|level| LevelTarget::Triangles(level.mesh.triangles().len()))
                .collect();
            let rest = [full.skeleton.rest_pose()];
            let (mesh, draw) = (&document.mesh, &document.draw);
            let simplified = simplify(full, mesh, draw, &rest, &targets, options, None, talk)?;
            for shape in &simplified.levels {
                rest_only.push(judge(&shape.mesh, &shape.program)?);
                talk.check_stopped()?;
            }
        }
        Ok(Self {
            poses,
            levels,
            rest_only,
        })
    }

    /// Number of the pose in which simplification at rest alone is worst for a level, or where it was not tried, the pose in
    /// which the level itself is.
    pub(crate) fn worst_pose(&self, level: usize) -> usize {
        let form = self.rest_only.get(level).unwrap_or(&self.levels[level]);
        let errors = &form.rms_of_pose;
        let worst = (0..errors.len()).max_by(|a, b| errors[*a].total_cmp(&errors[*b]));
        worst.unwrap_or(0)
    }
}

impl Judgement {
    fn new(
        full: &Skin,
        mesh: &TriMesh,
        program: &VertexProgram,
        poses: &[(String, Pose)],
        truths: &[Truth],
    ) -> anyhow::Result<Self> {
        let mut judgement = Self {
            mesh: mesh.clone(),
            skin: Skin {
                program: program.clone(),
                ..full.clone()
            },
            rms_of_pose: Vec::new(),
            farthest: 0.0,
            stands_out: 0.0,
        };
        for ((_, pose), truth) in poses.iter().zip(truths) {
            let (points, distances) = judgement.posed(pose, &truth.points)?;
            let own = truth.surface.distances(&points);
            judgement.farthest = distances.iter().copied().fold(judgement.farthest, f64::max);
            judgement.stands_out = own.into_iter().fold(judgement.stands_out, f64::max);
            let squares: f64 = distances.iter().map(|d| d * d).sum();
            let mean = squares / distances.len().max(1) as f64;
            judgement.rms_of_pose.push(mean.sqrt());
        }
        Ok(judgement)
    }

    /// Root mean square over all poses, in model units.
    pub(crate) fn rms(&self) -> f64 {
        let squares: f64 = self.rms_of_pose.iter().map(|rms| rms * rms).sum();
        (squares / self.rms_of_pose.len().max(1) as f64).sqrt()
    }

    /// Its points in a pose, and how far each point of the full character, posed alike, is from its surface.
    pub(crate) fn posed(
        &self,
        pose: &Pose,
        truth: &[DVec3],
    ) -> anyhow::Result<(Vec<DVec3>, Vec<f64>)> {
        let points = self.skin.evaluate(pose)?;
        let surface = SurfaceDistance::new(&points, self.mesh.triangles());
        let distances = surface.distances(truth);
        Ok((points, distances))
    }
}

/// Poses of the clips, or where there are none, such as the levels were made for.
fn poses(document: &Document, source: LevelPoses) -> anyhow::Result<Vec<(String, Pose)>> {
    let skin = skin_of(document)?;
    let named: Vec<(String, Pose)> = match source {
        LevelPoses::Clips => {
            let shown = document.shown_poses()?;
            let names = document.clips.iter().map(|clip| clip.name.as_str());
            let names = names.chain(["frames"]);
            let of_clip = |(name, shown): (&str, ShownPoses)| {
                let count = shown.poses.len();
                let name = format!("clip {name}");
                let named = move |(k, pose)| (format!("{name}, pose {} of {count}", k + 1), pose);
                shown.poses.into_iter().enumerate().map(named)
            };
            names.zip(shown).flat_map(of_clip).collect()
        }
        LevelPoses::Limits => {
            let (limits, _) = document.legal_limits(&[]);
            let limits = complete_limits(skin, &limits)?;
            let drawn = LegalPoses::new(&skin.skeleton, &limits, 0.5, 1);
            let drawn = drawn.context("the limits that the file records")?;
            let named = |(k, pose)| (format!("legal pose {}", k + 1), pose);
            drawn.take(MOST_POSES).enumerate().map(named).collect()
        }
        LevelPoses::MadeUp => {
            let named = |(k, pose)| (format!("made-up pose {k}"), pose);
            let poses = made_up_poses(&skin.skeleton);
            poses.into_iter().enumerate().map(named).collect()
        }
    };
    Ok(evenly(named, MOST_POSES))
}

/// At most so many of a list, evenly spaced: the same that errors in files are measured in.
fn evenly<T>(list: Vec<T>, most: usize) -> Vec<T> {
    if list.len() <= most {
        return list;
    }
    let last = list.len() - 1;
    let mut wanted = (0..most).map(|k| k * last / (most - 1)).peekable();
    let is_wanted = |(at, _): &(usize, T)| wanted.next_if_eq(at).is_some();
    (list.into_iter().enumerate())
        .filter(is_wanted)
        .map(|(_, item)| item)
        .collect()
}
