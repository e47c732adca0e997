//! A character, the poses that give statistics and those that judge, and how far a level is off in the latter.

use std::time::Instant;

use dermis::lod::{LevelShape, LevelTarget, LodOptions, simplify};
use dermis::measure::SurfaceDistance;
use dermis::mesh::DrawMesh;
use dermis::progress::Silent;
use dermis::rig::Pose;
use dermis::skin::{Skin, SkinError, SsdProgram, VertexProgram};
use dermis_io::Document;
use glam::{DAffine3, DQuat, DVec3};

/// Most poses, of those that clips show.
const MOST_POSES: usize = 200;

pub struct Character {
    pub name: String,
    pub document: Document,
    pub skin: Skin,
    pub program: SsdProgram,
    /// Poses that give statistics.
    pub seen: Vec<Pose>,
    truth: Truth,
}

/// Points of the full surface in the poses that judge.
struct Truth {
    poses: Vec<Pose>,
    shapes: Vec<Shape>,
    size: f64,
}

/// Points of a surface in one pose.
struct Shape {
    points: Vec<DVec3>,
    /// Area that each point stands for in this pose. At rest a file may show hands of a hundredth of their size, which bones
    /// that scale make as large as they are.
    areas: Vec<f64>,
}

impl Character {
    pub fn read(path: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let document = dermis_io::read(path.as_ref())?;
        let skin = document.skin.clone().ok_or("a file without a skin")?;
        let VertexProgram::Ssd(program) = skin.program.clone() else {
            return Err("not a linear blend".into());
        };
        let shown = document.shown_poses()?;
        let poses: Vec<Pose> = shown.into_iter().flat_map(|clip| clip.poses).collect();
        let thin = poses.len().div_ceil(MOST_POSES).max(1);
        let poses: Vec<Pose> = poses.into_iter().step_by(thin).collect();
        let pick =
            |first: usize| -> Vec<Pose> { poses.iter().skip(first).step_by(2).cloned().collect() };
        let truth = Truth::new(&skin, &document, pick(1))?;
        let stem = std::path::Path::new(path).file_stem().unwrap_or_default();
        Ok(Self {
            name: stem.to_string_lossy().into_owned(),
            seen: pick(0),
            truth,
            program,
            skin,
            document,
        })
    }

    /// The same character in other poses: every joint turned at random by up to so many degrees. Half of them judge.
    pub fn with_every_joint_turning(&self, degrees: f64) -> Result<Self, SkinError> {
        let skeleton = &self.skin.skeleton;
        let mut state = 1_u64;
        // A linear congruential generator is random enough to turn joints by.
        let mut unit = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut random_pose = || {
            let mut pose = skeleton.rest_pose();
            let joints = skeleton.bones().iter().enumerate();
            for (j, _) in joints.filter(|(_, bone)| bone.parent.is_some()) {
                let turn = DVec3::new(unit(), unit(), unit()) / 3f64.sqrt() * degrees.to_radians();
                pose.parent_from_bone[j] *= DAffine3::from_quat(DQuat::from_scaled_axis(turn));
            }
            pose
        };
        let mut poses: Vec<Pose> = (0..240).map(|_| random_pose()).collect();
        let unseen = poses.split_off(200);
        Ok(Self {
            name: self.name.clone(),
            document: self.document.clone(),
            skin: self.skin.clone(),
            program: self.program.clone(),
            seen: poses,
            truth: Truth::new(&self.skin, &self.document, unseen)?,
        })
    }

    pub fn triangle_count(&self) -> usize {
        self.document.mesh.triangles().len()
    }

    /// The surface alone: no seams, no textures.
    pub fn bare(&self) -> DrawMesh {
        let mesh = &self.document.mesh;
        DrawMesh::plain("", mesh.vertex_count(), mesh.triangles())
    }

    /// Our levels for some targets.
    pub fn levels(
        &self,
        poses: &[Pose],
        targets: &[LevelTarget],
        options: &LodOptions,
    ) -> Vec<LevelShape> {
        let (mesh, draw) = (&self.document.mesh, self.bare());
        let made = simplify(
            &self.skin, mesh, &draw, poses, targets, options, None, &Silent,
        );
        made.expect("a character").levels
    }

    pub fn error_of_level(&self, level: &LevelShape) -> f64 {
        self.error(
            &self.with_program(level.program.clone()),
            level.mesh.triangles(),
        )
    }

    pub fn with_program(&self, program: VertexProgram) -> Skin {
        Skin {
            program,
            ..self.skin.clone()
        }
    }

    /// The error of some faces on the full character's own vertices.
    pub fn error_of_faces(&self, faces: &[[u32; 3]]) -> f64 {
        self.error(&self.skin, faces)
    }

    /// Root mean square distance of the full surface from a skin's, as a share of the size.
    pub fn error(&self, skin: &Skin, faces: &[[u32; 3]]) -> f64 {
        let truth = &self.truth;
        let (mut sum, mut area) = (0.0, 0.0);
        for (pose, shape) in truth.poses.iter().zip(&truth.shapes) {
            let posed = skin.evaluate(pose).expect("a pose of the skeleton");
            let apart = SurfaceDistance::new(&posed, faces).distances(&shape.points);
            let weighted = apart.iter().zip(&shape.areas);
            sum += weighted.map(|(d, a)| a * d * d).sum::<f64>();
            area += shape.areas.iter().sum::<f64>();
        }
        (sum / area).sqrt() / truth.size
    }

    /// How far the simplified surface's vertices stand out at most, in the poses that judge, as a share of the size.
    pub fn stands_out(&self, level: &LevelShape) -> f64 {
        let skin = self.with_program(level.program.clone());
        let mut farthest: f64 = 0.0;
        for pose in self.truth.poses.iter().step_by(4) {
            let full = self.skin.evaluate(pose).expect("a pose of the skeleton");
            let posed = skin.evaluate(pose).expect("a pose of the skeleton");
            let surface = SurfaceDistance::new(&full, self.document.mesh.triangles());
            let apart = surface.distances(&posed);
            farthest = apart.into_iter().fold(farthest, f64::max);
        }
        farthest / self.truth.size
    }

    /// Root mean square and largest distance of vertices from where they should be, as shares of the size: for skins with
    /// the vertices of the full one.
    pub fn vertex_error(&self, skin: &Skin) -> f64 {
        let truth = &self.truth;
        let (mut sum, mut count) = (0.0, 0);
        for pose in &truth.poses {
            let ours = skin.evaluate(pose).expect("a pose of the skeleton");
            let full = self.skin.evaluate(pose).expect("a pose of the skeleton");
            sum += ours
                .iter()
                .zip(&full)
                .map(|(a, b)| a.distance_squared(*b))
                .sum::<f64>();
            count += full.len();
        }
        (sum / count as f64).sqrt() / truth.size
    }
}

impl Truth {
    fn new(skin: &Skin, document: &Document, poses: Vec<Pose>) -> Result<Self, SkinError> {
        let triangles = document.mesh.triangles();
        let shapes = poses
            .iter()
            .map(|pose| Ok(Shape::new(skin.evaluate(pose)?, triangles)))
            .collect::<Result<_, SkinError>>()?;
        Ok(Self {
            poses,
            shapes,
            size: skin.size()?,
        })
    }
}

impl Shape {
    /// Corners and middles of triangles, each with half of the area around it.
    fn new(mut points: Vec<DVec3>, triangles: &[[u32; 3]]) -> Self {
        let mut areas = vec![0.0; points.len()];
        for triangle in triangles {
            let [a, b, c] = triangle.map(|i| points[i as usize]);
            let area = 0.5 * (b - a).cross(c - a).length();
            triangle
                .iter()
                .for_each(|&i| areas[i as usize] += area / 6.0);
            points.push((a + b + c) / 3.0);
            areas.push(area / 2.0);
        }
        Self { points, areas }
    }
}

/// The result, and the least of three times in milliseconds.
pub fn timed<T>(work: impl Fn() -> T) -> (T, f64) {
    let mut best = f64::INFINITY;
    let mut result = None;
    for _ in 0..3 {
        let start = Instant::now();
        result = Some(work());
        best = best.min(1e3 * start.elapsed().as_secs_f64());
    }
    (result.expect("it ran"), best)
}
