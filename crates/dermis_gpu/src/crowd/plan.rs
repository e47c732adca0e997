//! What a frame draws, worked out on the processor: the plain twin of the shaders, which are tested against it.

use std::ops::Range;

use glam::{Vec3, Vec4};

use super::view::View;
use super::{Character, Instance};

/// What becomes of an instance in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// No pixel can show it.
    Culled,
    /// It is drawn.
    Drawn {
        /// With this level,
        level: u32,
        /// so far on the way to the next one: 0 to 1.
        share: f32,
    },
}

/// What a frame draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// For each instance.
    pub choices: Vec<Choice>,
    /// Numbers of the instances that are drawn, by level, and by number within a level.
    pub drawn: Vec<u32>,
    /// The part of `drawn` that each level has.
    pub levels: Vec<Range<usize>>,
    /// What that costs.
    pub counts: Counts,
}

/// What a frame costs, in numbers that do not depend on the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Counts {
    /// Instances in the crowd.
    pub instances: u64,
    /// For each level, instances drawn.
    pub drawn: Vec<u64>,
    /// For each level, those of them that are on the way to the next one.
    pub morphing: Vec<u64>,
    /// For each level, triangles of all its instances.
    pub triangles: Vec<u64>,
    /// For each level, vertices of all its instances.
    pub vertices: Vec<u64>,
    /// For each level, influences of all its instances: one for each bone that acts on a drawn vertex, and for those on the
    /// way to the next level also those of what the vertex becomes.
    pub influences: Vec<u64>,
    /// For each level, matrices made for its instances.
    pub bones: Vec<u64>,
}

impl Counts {
    /// The costs of a frame that draws so many instances of each level, of which so many are on the way to the next.
    pub fn new(character: &Character, instances: u64, drawn: Vec<u64>, morphing: Vec<u64>) -> Self {
        let each = |cost: &dyn Fn(usize) -> u64| -> Vec<u64> {
            drawn
                .iter()
                .enumerate()
                .map(|(level, count)| count * cost(level))
                .collect()
        };
        let level = |number: usize| &character.levels[number];
        let triangles = each(&|l| level(l).triangles.len() as u64);
        let vertices = each(&|l| level(l).vertex_count() as u64);
        let bones = each(&|l| character.bones_of_level(l).len() as u64);
        let mut influences = each(&|l| level(l).influences);
        for (number, count) in morphing.iter().enumerate() {
            influences[number] += count * level(number).morph_influences;
        }
        Self {
            instances,
            drawn,
            morphing,
            triangles,
            vertices,
            influences,
            bones,
        }
    }

    /// Instances that no pixel can show.
    pub fn culled(&self) -> u64 {
        self.instances - self.drawn.iter().sum::<u64>()
    }
}

impl Plan {
    /// Chooses for every instance, and sorts those that are drawn by level.
    pub fn new(character: &Character, instances: &[Instance], view: &View) -> Self {
        let choices: Vec<Choice> = instances
            .iter()
            .map(|instance| choose(character, instance, view))
            .collect();
        let (mut drawn, mut levels, mut morphing) = (Vec::new(), Vec::new(), Vec::new());
        for wanted in 0..character.levels.len() as u32 {
            let begin = drawn.len();
            let mut on_the_way = 0;
            for (number, choice) in choices.iter().enumerate() {
                if let Choice::Drawn { level, share } = choice
                    && *level == wanted
                {
                    drawn.push(number as u32);
                    on_the_way += u64::from(*share > 0.0);
                }
            }
            levels.push(begin..drawn.len());
            morphing.push(on_the_way);
        }
        let per_level = levels.iter().map(|range| range.len() as u64).collect();
        let counts = Counts::new(character, instances.len() as u64, per_level, morphing);
        Self {
            choices,
            drawn,
            levels,
            counts,
        }
    }
}

/// Whether an instance can be seen, and with which level: the coarsest whose error projects to no more pixels than are
/// allowed anywhere in its ball.
fn choose(character: &Character, instance: &Instance, view: &View) -> Choice {
    let ball = Vec4::from(view.ball);
    let center = instance.world_from_model(ball.truncate());
    let radius = instance.scale * ball.w + view.slack;
    let distance = |plane: [f32; 4]| Vec3::new(plane[0], plane[1], plane[2]).dot(center) + plane[3];
    if view.culling == 1 && view.planes.iter().any(|plane| distance(*plane) < -radius) {
        return Choice::Culled;
    }
    if let Ok(level) = u32::try_from(view.forced_level) {
        return Choice::Drawn { level, share: 0.0 };
    }
    let depth = (distance(view.depth) - radius).max(0.0);
    let allowed = depth * view.allowed_per_depth / instance.scale;
    let fits = |level: &usize| character.levels[*level].error <= allowed;
    let level = (0..character.levels.len()).rev().find(fits).unwrap_or(0);
    Choice::Drawn {
        level: level as u32,
        share: morph_share(character, level, allowed, view.morph_share),
    }
}

/// How far vertices have moved towards the next level: not at all until the last part of the room between both errors.
fn morph_share(character: &Character, level: usize, allowed: f32, last_part: f32) -> f32 {
    if !character.can_morph(level) || last_part <= 0.0 {
        return 0.0;
    }
    let (own, next) = (
        character.levels[level].error,
        character.levels[level + 1].error,
    );
    if next <= own {
        return 0.0;
    }
    let between = ((allowed - own) / (next - own)).clamp(0.0, 1.0);
    ((between - (1.0 - last_part)) / last_part).max(0.0)
}
