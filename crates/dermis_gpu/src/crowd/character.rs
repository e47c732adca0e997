//! A character as a crowd knows it: levels with their errors, moves, and a ball that always holds it.

use dermis::bounds::{Holding, enclose, hold_vertices};
use dermis::document::Document;
use dermis::mesh::{Ball, enclosing_ball};
use dermis::run::PaletteEntry;
use dermis::skin::{ShownPoses, VertexProgram};
use dermis::{Clip, Skin};
use glam::{DVec3, Mat4, Vec3, Vec4};

use super::CrowdError;
use super::errors::measured_errors;
use super::level::CrowdLevel;
use super::moves::{Moment, Moves, evaluate};
use super::stripped::{has_shapes, stripped};

/// The ball is made larger by this share, for the rounding of shaders.
const ROUNDING: f64 = 1e-5;

/// What to make of a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CharacterOptions {
    /// Numbers of the clips that are played; empty for all.
    pub clips: Vec<usize>,
    /// The error that levels are chosen by. Default measured.
    pub errors: LevelErrors,
    /// The ball that instances are culled by. Default that of all legal poses.
    pub ball: BallKind,
}

/// Which error of a level counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LevelErrors {
    /// The largest distance between the surfaces of full character and level, in either direction, measured in poses of the
    /// clips that are played.
    #[default]
    Measured,
    /// The error of the file that no legal pose exceeds.
    Guaranteed,
}

/// Which ball instances are culled by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BallKind {
    /// It holds every legal pose, and the clips: right whatever is blended or aimed by hand.
    #[default]
    Legal,
    /// It holds the clips that are played, and nothing else: smaller.
    Clips,
}

/// A character that can be drawn thousands of times.
#[derive(Debug, Clone)]
pub struct Character {
    /// From fine to coarse; the first is the full character.
    pub levels: Vec<CrowdLevel>,
    /// Its clips.
    pub moves: Moves,
    /// Holds all levels in all poses, in model space.
    pub ball: Ball,
    /// The lowest and the highest corner of a box around the full character in the poses of the clips.
    pub box_corners: [DVec3; 2],
    /// Where its feet are: the lowest point of the first pose.
    pub floor: f64,
    /// What shadows follow: a bone, by its place in the bones of `moves`, and a point that it carries, as its kernel takes it.
    pub anchor: (u32, [f32; 4]),
    /// What is shown otherwise than in the file, one sentence each.
    pub notes: Vec<String>,
}

impl Character {
    /// Packs the levels and clips of a document.
    ///
    /// # Errors
    /// [`CrowdError`]: for documents without a skin, skins that are not sums of matrices times vectors, shapes driven by the
    /// pose, and clips or levels that do not exist.
    pub fn new(document: &Document, options: &CharacterOptions) -> Result<Self, CrowdError> {
        let skin = document
            .skin
            .as_ref()
            .ok_or(dermis::run::RunError::NoSkin)?;
        check(skin)?;
        let clips = chosen_clips(document, &options.clips)?;
        let mut notes = Vec::new();
        if has_shapes(skin) {
            notes.push(
                "morph targets stay as they are by default: a crowd moves bones alone".to_owned(),
            );
        }
        let skins = level_skins(document, skin)?;
        let mut levels = Vec::new();
        for (number, skin) in skins.iter().enumerate() {
            let (mesh, draw) = match number {
                0 => (&document.mesh, &document.draw),
                _ => (
                    &document.levels[number - 1].mesh,
                    &document.levels[number - 1].draw,
                ),
            };
            levels.push(CrowdLevel::new(skin, mesh, draw)?);
        }
        for number in 1..levels.len() {
            let (fine, coarse) = levels.split_at_mut(number);
            fine[number - 1].join(&coarse[0], &document.levels[number - 1].becomes);
        }
        let mut bones: Vec<u16> = levels
            .iter()
            .flat_map(|level| &level.bones)
            .copied()
            .collect();
        bones.sort_unstable();
        bones.dedup();
        let packed: Vec<_> = levels.iter().map(|level| &level.packed).collect();
        let size = skins[0].size()? as f32;
        let moves = Moves::new(skin, &clips, &packed, bones, size)?;
        let anchor = anchor(&levels[0], &moves);
        set_errors(document, &mut levels, &moves, options.errors)?;
        let (clip_ball, box_corners, floor) = played(&levels, &moves)?;
        let ball = match options.ball {
            BallKind::Clips => clip_ball,
            BallKind::Legal => legal_ball(document, &skins, clip_ball)?,
        };
        Ok(Self {
            levels,
            moves,
            ball: Ball {
                radius: ball.radius * (1.0 + ROUNDING),
                ..ball
            },
            box_corners,
            floor,
            anchor,
            notes,
        })
    }

    /// Errors of the levels, from fine to coarse.
    pub fn errors(&self) -> Vec<f32> {
        self.levels.iter().map(|level| level.error).collect()
    }

    /// Whether vertices of a level are known to become vertices of the next one.
    pub fn can_morph(&self, level: usize) -> bool {
        self.levels
            .get(level)
            .is_some_and(|level| !level.becomes.is_empty())
    }

    /// Bones that an instance of a level needs: those of the level, those of the next one that it may be blended into, and
    /// the one that its shadow follows; as places in the bones of [`Character::moves`].
    pub fn bones_of_level(&self, level: usize) -> Vec<u32> {
        let mut own = self.levels[level].bones.clone();
        if self.can_morph(level) {
            own.extend(&self.levels[level + 1].bones);
        }
        own.extend(self.moves.bones.get(self.anchor.0 as usize));
        own.sort_unstable();
        own.dedup();
        let place = |bone: &u16| {
            self.moves
                .bones
                .binary_search(bone)
                .ok()
                .map(|at| at as u32)
        };
        own.iter().filter_map(place).collect()
    }

    /// Height of the character in its clips.
    pub fn height(&self) -> f64 {
        (self.box_corners[1].y - self.floor).max(f64::MIN_POSITIVE)
    }
}

/// Refuses what crowds cannot show.
fn check(skin: &Skin) -> Result<(), CrowdError> {
    let refuse = |what: String, hint| Err(CrowdError::NotSupported { what, hint });
    if skin.pose_program.driven_count() > 0 {
        return refuse(
            "shapes that are driven by the pose".to_owned(),
            "their bulges would be missing; `dermis render` shows them",
        );
    }
    match skin.program {
        VertexProgram::Ssd(_) | VertexProgram::Linear(_) => Ok(()),
        _ => refuse(
            format!("a {} skin", skin.program.name()),
            "it shows linear blend and animation space, for example what `dermis fit --method anim-space` makes",
        ),
    }
}

fn chosen_clips<'a>(document: &'a Document, chosen: &[usize]) -> Result<Vec<&'a Clip>, CrowdError> {
    if chosen.is_empty() {
        return Ok(document.clips.iter().collect());
    }
    let clip = |&found: &usize| {
        let count = document.clips.len();
        document
            .clips
            .get(found)
            .ok_or(CrowdError::NoClip { found, count })
    };
    chosen.iter().map(clip).collect()
}

/// The skin of each level without shapes, all of one kind.
fn level_skins(document: &Document, skin: &Skin) -> Result<Vec<Skin>, CrowdError> {
    let programs =
        std::iter::once(&skin.program).chain(document.levels.iter().map(|level| &level.program));
    let mut skins = Vec::new();
    for program in programs {
        let skin = Skin {
            program: program.clone(),
            ..skin.clone()
        };
        check(&skin)?;
        skins.push(stripped(&skin));
    }
    let is_ssd = |skin: &Skin| matches!(skin.program, VertexProgram::Ssd(_));
    if !skins.iter().all(is_ssd) {
        for skin in &mut skins {
            *skin = skin.to_linear()?;
        }
    }
    Ok(skins)
}

/// Bones that move less than this share of a character say little about where it is.
const LEAST_MOVED: f32 = 0.02;

/// The bone nearest to the middle of a level in the first step of the first clip, and the middle as it carries it.
fn anchor(level: &CrowdLevel, moves: &Moves) -> (u32, [f32; 4]) {
    let mut sums = vec![Vec4::ZERO; moves.bones.len()];
    let streams = &level.streams;
    let [fixed, of_bone] = streams.counts;
    for vertex in 0..level.vertex_count() {
        for item in streams.influences(vertex) {
            let Ok(place) = moves.bones.binary_search(&streams.bones[item]) else {
                continue;
            };
            let own = &streams.of_bones[item * of_bone..];
            sums[place] += match fixed {
                0 => Vec4::new(own[0], own[1], own[2], own[3]),
                _ => own[0] * Vec3::from_slice(&streams.fixed[vertex * fixed..]).extend(1.0),
            };
        }
    }
    let first = Moment {
        step: 0,
        share: 0.0,
    };
    let matrix = |place: usize| {
        let [rx, ry, rz]: [Vec4; 3] =
            std::array::from_fn(|r| Vec4::from_slice(&moves.matrix(first, place)[4 * r..]));
        Mat4::from_cols(rx, ry, rz, Vec4::W).transpose()
    };
    let posed: Vec<Vec4> = (0..sums.len())
        .map(|place| matrix(place) * sums[place])
        .collect();
    let all: Vec4 = posed.iter().sum();
    let middle = all / all.w.max(f32::MIN_POSITIVE);
    let away = |place: &usize| (posed[*place] / posed[*place].w - middle).length();
    let candidates = (0..sums.len()).filter(|place| posed[*place].w > LEAST_MOVED * all.w);
    let place = candidates
        .min_by(|a, b| away(a).total_cmp(&away(b)))
        .unwrap_or(0);
    let carried = match matrix(place).determinant().abs() > f32::MIN_POSITIVE {
        true => matrix(place).inverse() * middle,
        false => Vec4::W,
    };
    (place as u32, carried.to_array())
}

fn set_errors(
    document: &Document,
    levels: &mut [CrowdLevel],
    moves: &Moves,
    kind: LevelErrors,
) -> Result<(), CrowdError> {
    let errors: Vec<f64> = match kind {
        LevelErrors::Measured => measured_errors(levels, moves)?,
        LevelErrors::Guaranteed => {
            let error = |(number, level): (usize, &dermis::document::Level)| {
                let known = level.record.guaranteed_error;
                known.ok_or(CrowdError::NoGuarantee { level: number + 1 })
            };
            let each = document.levels.iter().enumerate().map(error);
            each.collect::<Result<_, _>>()?
        }
    };
    for (level, error) in levels.iter_mut().skip(1).zip(errors) {
        // Rounded up: what is promised stays promised.
        level.error = (error as f32).next_up();
    }
    Ok(())
}

/// What the levels cover in the clips: a ball around all of them, a box around the full character, and where its feet are.
fn played(levels: &[CrowdLevel], moves: &Moves) -> Result<(Ball, [DVec3; 2], f64), CrowdError> {
    let mut extremes: Vec<DVec3> = Vec::new();
    let mut corners = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let mut floor = None;
    for_every_step(levels, moves, |level, points| {
        if level == 0 {
            let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
            let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
            corners = [corners[0].min(low), corners[1].max(high)];
            floor.get_or_insert(low.y);
        }
        extremes.extend(outermost(points));
    })?;
    // The outermost points say where the middle is; how far the ball reaches, all of them do.
    let mut ball = enclosing_ball(&extremes);
    for_every_step(levels, moves, |_, points| {
        let reach = points.iter().map(|p| p.distance_squared(ball.center));
        ball.radius = ball.radius.max(reach.fold(0.0, f64::max).sqrt());
    })?;
    Ok((ball, corners, floor.unwrap_or(0.0)))
}

/// Hands on the drawn vertices of every level at every step.
fn for_every_step(
    levels: &[CrowdLevel],
    moves: &Moves,
    mut each: impl FnMut(usize, &[DVec3]),
) -> Result<(), CrowdError> {
    let mut palette = vec![PaletteEntry::default(); moves.bone_count()];
    let mut positions = Vec::new();
    for moment in moves.every_step() {
        moves.palette(moment, &mut palette);
        for (number, level) in levels.iter().enumerate() {
            positions.resize(level.vertex_count(), [0.0; 3]);
            evaluate(&level.packed, &palette, &mut positions)?;
            let points: Vec<DVec3> = positions
                .iter()
                .map(|p| DVec3::from(p.map(f64::from)))
                .collect();
            each(number, &points);
        }
    }
    Ok(())
}

/// The points that lie farthest in each of the 26 directions of a cube's faces, edges and corners.
fn outermost(points: &[DVec3]) -> impl Iterator<Item = DVec3> + '_ {
    let signs = [-1.0, 0.0, 1.0];
    let directions = signs.into_iter().flat_map(move |x| {
        signs
            .into_iter()
            .flat_map(move |y| signs.into_iter().map(move |z| DVec3::new(x, y, z)))
    });
    directions
        .filter(|d| *d != DVec3::ZERO)
        .filter_map(|direction| {
            let farther =
                |a: &&DVec3, b: &&DVec3| direction.dot(**a).total_cmp(&direction.dot(**b));
            points.iter().max_by(farther).copied()
        })
}

/// The ball of all levels in every legal pose, and of the clips, which may leave those.
fn legal_ball(document: &Document, skins: &[Skin], clips: Ball) -> Result<Ball, CrowdError> {
    let seen = match &document.skin {
        Some(skin) => skin.joint_statistics(&ShownPoses::all(&document.shown_poses()?)),
        None => Vec::new(),
    };
    let (limits, _) = document.legal_limits(&seen);
    let mut held = Vec::new();
    for skin in skins {
        held.extend(hold_vertices(skin, &limits, &[])?);
    }
    held.push(Holding([clips; 3]));
    Ok(enclose(&held))
}
