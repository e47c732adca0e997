//! Clips as matrices at even steps: what a shader needs to pose any instance at any time.
//!
//! A clip is played once when the character is loaded, by [`dermis::run`] and therefore with derived bones and proxy bones,
//! and the matrices of every step are kept. Between two steps matrices are blended in a straight line. So a pose costs
//! one blend for each bone that a level uses, and bones that it does not use cost nothing, whatever hangs on them. Blended
//! positions stay on the line between those of two poses: a ball that holds the poses of a clip holds everything in between.

use dermis::document::sampling_rate;
use dermis::run::{
    ClipSampler, FrameInputs, Mat3x4, Output, PackedPoseProgram, PackedSkin, PaletteEntry,
    PoseBuffer,
};
use dermis::{Clip, Skin};
use glam::Vec3;

use super::CrowdError;

/// Fewest and most steps per second that are tried first.
const RATES: [f64; 2] = [20.0, 60.0];
/// Steps between two keys that are tried last: a clip that still strays between them jumps.
const MOST_STEPS: usize = 16;
/// Steps between which nothing strays farther than this are close enough: a share of the character's size.
const ALLOWED: f32 = 5e-4;
/// Most bytes of all matrices; beyond that, fewer steps have to do.
const MOST_BYTES: usize = 64 << 20;
/// Places between steps where the error is measured, over all clips.
const MEASURED: usize = 96;

/// One clip in [`Moves`].
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Name of the clip.
    pub name: String,
    /// The first of its steps.
    pub first: u32,
    /// How many steps it has, at least 2, the first at its begin and the last at its end.
    pub steps: u32,
    /// How long it takes, in seconds, above 0.
    pub seconds: f32,
}

/// The matrices of some clips at even steps.
#[derive(Debug, Clone)]
pub struct Moves {
    /// The clips.
    pub clips: Vec<Move>,
    /// Bones that have matrices, by rising number: those that any level uses.
    pub bones: Vec<u16>,
    /// For each step, a matrix for each of `bones`: what the skin's kernel takes, three rows of four.
    pub matrices: Vec<Mat3x4>,
    /// Steps from one key to the next, or from one of some evenly spaced times to the next where keys are too far apart or
    /// too near.
    pub steps_per_key: usize,
    /// How far any drawn vertex strays from the clip between two steps, the largest that was found, in model units.
    pub error: f32,
    bone_count: usize,
}

/// Two steps and how far between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// The earlier step, counted over all clips.
    pub step: u32,
    /// 0 at that step, 1 at the next one.
    pub share: f32,
}

impl Move {
    /// Where a clip that repeats without end is at a time.
    pub fn at(&self, seconds: f32) -> Moment {
        // In this order in shaders, too.
        let turns = seconds / self.seconds;
        let along = (turns - turns.floor()) * (self.steps - 1) as f32;
        let step = (along as u32).min(self.steps - 2);
        Moment {
            step: self.first + step,
            share: along - step as f32,
        }
    }
}

impl Moves {
    /// Plays clips of a skin, as often per second as it takes for the vertices of its first level to stay on their way.
    ///
    /// `skin` is the one that clips are for, `levels` what moves vertices, all of one kind.
    pub(super) fn new(
        skin: &Skin,
        clips: &[&Clip],
        levels: &[&PackedSkin],
        bones: Vec<u16>,
        size: f32,
    ) -> Result<Self, CrowdError> {
        let mut player = Posing::new(skin, clips, levels)?;
        let mut steps_per_key = 1;
        loop {
            let moves = Self::at_rate(&mut player, steps_per_key, &bones)?;
            let twice = 2 * size_of_val(&moves.matrices[..]);
            if moves.error <= ALLOWED * size || steps_per_key >= MOST_STEPS || twice > MOST_BYTES {
                return Ok(moves);
            }
            steps_per_key *= 2;
        }
    }

    fn at_rate(
        player: &mut Posing<'_>,
        steps_per_key: usize,
        bones: &[u16],
    ) -> Result<Self, CrowdError> {
        let mut moves = Self {
            clips: Vec::new(),
            bones: bones.to_vec(),
            matrices: Vec::new(),
            steps_per_key,
            error: 0.0,
            bone_count: player.palette.len(),
        };
        let mut first = 0;
        for clip in 0..player.samplers.len() {
            let (name, start, seconds) = player.range(clip);
            let rate = player.rates[clip] * steps_per_key as f64;
            let steps = ((seconds * rate - 1e-6).ceil().max(1.0) as u32) + 1;
            for step in 0..steps {
                let share = f64::from(step) / f64::from(steps - 1);
                player.pose(clip, start + share * seconds)?;
                let rows = bones
                    .iter()
                    .map(|&bone| rows_of(&player.palette[usize::from(bone)]));
                moves.matrices.extend(rows);
            }
            moves.clips.push(Move {
                name,
                first,
                steps,
                seconds: if seconds > 0.0 { seconds as f32 } else { 1.0 },
            });
            first += steps;
        }
        moves.error = moves.strays(player)?;
        Ok(moves)
    }

    /// How far vertices are from where they should be half-way between steps.
    fn strays(&self, player: &mut Posing<'_>) -> Result<f32, CrowdError> {
        let count = player.levels[0].vertex_count();
        let (mut exact, mut found) = (vec![[0.0; 3]; count], vec![[0.0; 3]; count]);
        let gaps: u32 = self.clips.iter().map(|clip| clip.steps - 1).sum();
        let every = (gaps as usize / MEASURED).max(1);
        let mut largest = 0.0f32;
        let all =
            (0..self.clips.len()).flat_map(|c| (0..self.clips[c].steps - 1).map(move |k| (c, k)));
        for (clip, step) in all.step_by(every) {
            let (_, start, seconds) = player.range(clip);
            let own = &self.clips[clip];
            let share = (f64::from(step) + 0.5) / f64::from(own.steps - 1);
            player.pose(clip, start + share * seconds)?;
            evaluate(player.levels[0], &player.palette, &mut exact)?;
            let moment = Moment {
                step: own.first + step,
                share: 0.5,
            };
            self.palette(moment, &mut player.palette);
            evaluate(player.levels[0], &player.palette, &mut found)?;
            for (a, b) in exact.iter().zip(&found) {
                largest = largest.max(Vec3::from(*a).distance(Vec3::from(*b)));
            }
        }
        Ok(largest)
    }

    /// How many bones the skin has.
    pub fn bone_count(&self) -> usize {
        self.bone_count
    }

    /// Steps per second of the clip that has most.
    pub fn largest_rate(&self) -> f64 {
        let rate = |clip: &Move| f64::from(clip.steps - 1) / f64::from(clip.seconds);
        self.clips.iter().map(rate).fold(0.0, f64::max)
    }

    /// How many steps there are, over all clips.
    pub fn step_count(&self) -> usize {
        self.matrices.len() / self.bones.len().max(1)
    }

    /// Every step of every clip.
    pub fn every_step(&self) -> impl Iterator<Item = Moment> + '_ {
        self.clips.iter().flat_map(|clip| {
            let last = clip.steps - 1;
            (0..clip.steps).map(move |step| Moment {
                step: clip.first + step.min(last - 1),
                share: if step == last { 1.0 } else { 0.0 },
            })
        })
    }

    /// The matrix of one bone, by its place in `bones`, as shaders blend it.
    pub fn matrix(&self, moment: Moment, at: usize) -> Mat3x4 {
        let stride = self.bones.len();
        let a = &self.matrices[moment.step as usize * stride + at];
        let b = &self.matrices[(moment.step as usize + 1) * stride + at];
        std::array::from_fn(|k| a[k] + moment.share * (b[k] - a[k]))
    }

    /// Writes the palette of a moment, with an entry for each bone of the skin; those that no level uses stay as they are.
    pub fn palette(&self, moment: Moment, out: &mut [PaletteEntry]) {
        for (at, &bone) in self.bones.iter().enumerate() {
            let rows = self.matrix(moment, at);
            let entry = &mut out[usize::from(bone)];
            for (c, column) in entry.columns.iter_mut().enumerate() {
                *column = [rows[c], rows[c + 4], rows[c + 8], 0.0];
            }
        }
    }
}

/// Positions of the drawn vertices under a palette.
pub(super) fn evaluate(
    packed: &PackedSkin,
    palette: &[PaletteEntry],
    out: &mut [[f32; 3]],
) -> Result<(), CrowdError> {
    let inputs = FrameInputs {
        palette,
        coefficients: &[],
    };
    let out = Output::Vertices {
        positions: out,
        normals: None,
    };
    Ok(packed.evaluate(&inputs, out)?)
}

/// So many times the rate of keys, or a whole part of it, that there are neither too few steps nor too many.
fn even_rate(key_rate: f64) -> f64 {
    match key_rate {
        rate if !(rate.is_finite() && rate > 0.0) => RATES[0],
        rate if rate < RATES[0] => rate * (RATES[0] / rate).ceil(),
        rate if rate > RATES[1] => rate / (rate / RATES[1]).ceil(),
        rate => rate,
    }
}

fn rows_of(entry: &PaletteEntry) -> Mat3x4 {
    std::array::from_fn(|k| entry.columns[k % 4][k / 4])
}

/// Poses a skin by its clips; a skin without clips stands in its default pose.
struct Posing<'a> {
    levels: &'a [&'a PackedSkin],
    samplers: Vec<(String, Option<ClipSampler>)>,
    /// Steps per second of each, on its keys.
    rates: Vec<f64>,
    program: PackedPoseProgram,
    pose: PoseBuffer,
    matrices: Vec<Mat3x4>,
    palette: Vec<PaletteEntry>,
}

impl<'a> Posing<'a> {
    fn new(skin: &Skin, clips: &[&Clip], levels: &'a [&'a PackedSkin]) -> Result<Self, CrowdError> {
        let mut samplers = Vec::new();
        for clip in clips {
            samplers.push((clip.name.clone(), Some(ClipSampler::for_skin(skin, clip)?)));
        }
        if samplers.is_empty() {
            samplers.push(("default pose".to_owned(), None));
        }
        let bone_count = skin.skeleton.bone_count();
        let rates = clips
            .iter()
            .map(|clip| even_rate(sampling_rate(clip, Some(skin))));
        Ok(Self {
            levels,
            rates: rates.chain([1.0]).collect(),
            samplers,
            program: PackedPoseProgram::new(skin)?,
            pose: PoseBuffer::for_skin(skin),
            matrices: vec![[0.0; 12]; bone_count],
            palette: vec![PaletteEntry::default(); bone_count],
        })
    }

    /// Name, start and length of a clip.
    fn range(&self, clip: usize) -> (String, f64, f64) {
        let (name, sampler) = &self.samplers[clip];
        let [start, end] = sampler.as_ref().map_or([0.0; 2], |s| [s.start(), s.end()]);
        (name.clone(), start, (end - start).max(0.0))
    }

    fn pose(&mut self, clip: usize, time: f64) -> Result<(), CrowdError> {
        if let Some(sampler) = &mut self.samplers[clip].1 {
            sampler.sample(time, &mut self.pose)?;
        }
        self.program.run(&mut self.pose, &mut self.matrices)?;
        // Each level loads the bones that move it.
        for level in self.levels {
            level.load_palette(&self.matrices, &mut self.palette)?;
        }
        Ok(())
    }
}
