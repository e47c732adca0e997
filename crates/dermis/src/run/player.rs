//! A whole character at run time: load it, play a clip, read the vertices to draw.

use glam::DVec3;

use super::{
    ClipSampler, FrameInputs, Mat3x4, Normals, Output, PackOptions, PackedPoseProgram, PackedSkin,
    PaletteEntry, PoseBuffer, RunError,
};
use crate::document::Document;
use crate::mesh::{DrawMesh, vertex_normals};
use crate::skin::Skin;

/// Plays the clips of a character, and gives positions and normals of its drawn vertices.
///
/// It combines the parts of [this module](super): the packed skin, its pose program, a sampler
/// per clip, and the buffers. Every kind of skin plays the same way.
///
/// ```
/// # use dermis::document::Document;
/// # use dermis::synth::{BodyOptions, body};
/// use dermis::run::{Player, PlayerOptions};
/// # let body = body(&BodyOptions { vertex_count: 500, ..BodyOptions::default() });
/// # let clip = dermis::Clip::from_poses("Run", &body.skin.skeleton, &[body.pose.clone()], 24.0)?;
/// # let document = Document {
/// #     mesh: body.mesh, skin: Some(body.skin), clips: vec![clip], ..Document::default()
/// # };
///
/// // Once; `dermis_io::read("hero.glb")` gives the document.
/// let mut player = Player::new(&document, &PlayerOptions::default())?;
/// assert_eq!(player.clip_names().next(), Some("Run"));
///
/// // Every frame.
/// player.play_looped("Run", 1.25)?;
/// let (positions, normals) = (player.positions(), player.normals());
/// assert_eq!(positions.len(), normals.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Drawn vertices stand part after part, as [`Document::draw`] has them; without a drawn mesh they are the points.
/// Nothing is allocated after [`Player::new`]. A clone plays independently. It copies the packed vertices and
/// shares the packed clips and pose program; keep one player per character and thread.
#[derive(Debug, Clone)]
pub struct Player {
    skin: PackedSkin,
    program: PackedPoseProgram,
    clips: Vec<(String, ClipSampler)>,
    /// The pose that is shown. Bones and sliders that no clip moves keep their defaults.
    pose: PoseBuffer,
    matrices: Vec<Mat3x4>,
    palette: Vec<PaletteEntry>,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    threaded: bool,
}

/// How a character is played.
#[derive(Debug, Clone, PartialEq)]
pub struct PlayerOptions {
    /// Whether normals are computed, by turning the rest normals; default true.
    pub normals: bool,
    /// Whether vertices are evaluated on the threads of the current pool; default false: many characters are
    /// better spread over threads one by one.
    pub threaded: bool,
    /// How the vertices are packed. Its `normals` are ignored: see above.
    pub pack: PackOptions,
}

impl Default for PlayerOptions {
    fn default() -> Self {
        Self {
            normals: true,
            threaded: false,
            pack: PackOptions::default(),
        }
    }
}

impl Player {
    /// Packs a character with all its clips, in the default pose.
    ///
    /// # Errors
    /// [`RunError::NoSkin`] for a document without a skin, and the errors of packing the skin, its pose
    /// program or a clip.
    pub fn new(document: &Document, options: &PlayerOptions) -> Result<Self, RunError> {
        let skin = document.skin.as_ref().ok_or(RunError::NoSkin)?;
        let points = document.mesh.vertex_count();
        RunError::check_count("vertices of the skin", points, skin.vertex_count())?;
        let of_point = drawn_points(&document.draw, points)?;
        let drawn = Skin {
            program: skin.program.copied(&of_point),
            ..skin.clone()
        };
        let normals = match options.normals {
            true => Normals::Rest(drawn_normals(document, &of_point)),
            false => Normals::None,
        };
        let packed = PackedSkin::new(
            &drawn,
            &PackOptions {
                normals,
                ..options.pack.clone()
            },
        )?;
        let clips = document.clips.iter().map(|clip| {
            let sampler = ClipSampler::for_skin(skin, clip)?;
            Ok((clip.name.clone(), sampler))
        });
        let mut player = Self {
            program: PackedPoseProgram::new(skin)?,
            clips: clips.collect::<Result<_, RunError>>()?,
            pose: PoseBuffer::for_skin(skin),
            matrices: vec![[0.0; 12]; packed.bone_count()],
            palette: vec![PaletteEntry::default(); packed.bone_count()],
            positions: vec![[0.0; 3]; of_point.len()],
            normals: vec![[0.0; 3]; if options.normals { of_point.len() } else { 0 }],
            skin: packed,
            threaded: options.threaded,
        };
        player.update()?;
        Ok(player)
    }

    /// The names of the clips, in the document's order.
    pub fn clip_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.clips.iter().map(|(name, _)| name.as_str())
    }

    /// Time of the first and of the last key of a clip, in seconds.
    ///
    /// # Errors
    /// [`RunError::NoClip`].
    pub fn clip_range(&self, clip: &str) -> Result<[f64; 2], RunError> {
        let sampler = &self.clips[self.find(clip)?].1;
        Ok([sampler.start(), sampler.end()])
    }

    /// Shows a clip at a time in seconds; before its first and after its last key it is held.
    ///
    /// # Errors
    /// [`RunError::NoClip`].
    pub fn play(&mut self, clip: &str, time: f64) -> Result<(), RunError> {
        let found = self.find(clip)?;
        self.clips[found].1.sample(time, &mut self.pose)?;
        self.update()
    }

    /// Shows a clip that repeats without end.
    ///
    /// # Errors
    /// [`RunError::NoClip`].
    pub fn play_looped(&mut self, clip: &str, time: f64) -> Result<(), RunError> {
        let sampler = &self.clips[self.find(clip)?].1;
        let time = sampler.loop_time(time);
        self.play(clip, time)
    }

    /// The pose that is shown, to be changed by hand; [`Player::update`] then shows it.
    pub fn pose_mut(&mut self) -> &mut PoseBuffer {
        &mut self.pose
    }

    /// Shows the pose as it is now.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when the pose was replaced by one of another skin.
    pub fn update(&mut self) -> Result<(), RunError> {
        self.program.run(&mut self.pose, &mut self.matrices)?;
        self.skin.load_palette(&self.matrices, &mut self.palette)?;
        let inputs = FrameInputs {
            palette: &self.palette,
            coefficients: self.pose.coefficients(),
        };
        let normals = match self.normals.is_empty() {
            true => None,
            false => Some(&mut self.normals[..]),
        };
        let out = Output::Vertices {
            positions: &mut self.positions,
            normals,
        };
        match self.threaded {
            true => self.skin.evaluate_threaded(&inputs, out),
            false => self.skin.evaluate(&inputs, out),
        }
    }

    /// Positions of the drawn vertices in the pose that is shown.
    pub fn positions(&self) -> &[[f32; 3]] {
        &self.positions
    }

    /// Unit normals of the drawn vertices; empty when [`PlayerOptions::normals`] is false.
    pub fn normals(&self) -> &[[f32; 3]] {
        &self.normals
    }

    /// `G_j` of every bone in the pose that is shown: for objects attached to bones, and for shaders.
    pub fn model_from_bone(&self) -> &[Mat3x4] {
        &self.matrices
    }

    /// Writes positions and normals into one vertex buffer: six numbers (three without normals) at the start
    /// of every `stride` numbers. The rest of the buffer stays as it is.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when the buffer has not `stride` numbers per drawn vertex, or the stride
    /// has no room for them.
    pub fn write_interleaved(&self, stride: usize, out: &mut [f32]) -> Result<(), RunError> {
        let width = if self.normals.is_empty() { 3 } else { 6 };
        if stride < width {
            return Err(RunError::CountMismatch {
                what: "numbers per vertex at least",
                expected: width,
                found: stride,
            });
        }
        let count = self.positions.len() * stride;
        RunError::check_count("numbers in the vertex buffer", count, out.len())?;
        for (vertex, position) in out.chunks_exact_mut(stride).zip(&self.positions) {
            vertex[..3].copy_from_slice(position);
        }
        for (vertex, normal) in out.chunks_exact_mut(stride).zip(&self.normals) {
            vertex[3..6].copy_from_slice(normal);
        }
        Ok(())
    }

    fn find(&self, clip: &str) -> Result<usize, RunError> {
        let found = self.clips.iter().position(|(name, _)| name == clip);
        found.ok_or_else(|| RunError::NoClip {
            wanted: clip.to_owned(),
            names: self.clips.iter().map(|(name, _)| name.clone()).collect(),
        })
    }
}

/// The point that each drawn vertex copies.
fn drawn_points(draw: &DrawMesh, point_count: usize) -> Result<Vec<u32>, RunError> {
    if draw.parts.is_empty() {
        return Ok((0..point_count as u32).collect());
    }
    let points: Vec<u32> = (draw.parts.iter())
        .flat_map(|part| part.points.iter().copied())
        .collect();
    match points.iter().find(|&&point| point as usize >= point_count) {
        None => Ok(points),
        Some(&point) => Err(RunError::CountMismatch {
            what: "points at least",
            expected: point as usize + 1,
            found: point_count,
        }),
    }
}

/// Rest normals of the drawn vertices: the file's own, else those of the smooth surface.
fn drawn_normals(document: &Document, of_point: &[u32]) -> Vec<DVec3> {
    let smooth = vertex_normals(document.mesh.positions(), document.mesh.triangles());
    let mut normals: Vec<DVec3> = of_point.iter().map(|&v| smooth[v as usize]).collect();
    let mut first = 0;
    for part in &document.draw.parts {
        let own = part.normals.iter().take(part.points.len());
        for (normal, own) in normals[first..].iter_mut().zip(own) {
            *normal = DVec3::from(own.map(f64::from)).normalize_or_zero();
        }
        first += part.points.len();
    }
    normals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clip;
    use crate::fit::{SsdOptions, fit_pseudo_bones};
    use crate::mesh::DrawPart;
    use crate::progress::Silent;
    use crate::synth::arm;

    /// A fitted arm with pseudo-bones, its vertices drawn backwards and the first one twice.
    fn document() -> Document {
        let set = arm(&Default::default()).examples;
        let training: Vec<usize> = (0..set.examples().len()).collect();
        let fitted = fit_pseudo_bones(&set, &training, &SsdOptions::default(), &Silent);
        let poses: Vec<_> = set.examples().iter().map(|e| e.pose.clone()).collect();
        let clip = Clip::from_poses("bend", set.skeleton(), &poses, 24.0).expect("rigid poses");
        let last = set.rest().vertex_count() as u32 - 1;
        let part = DrawPart {
            points: (0..=last).rev().chain([0]).collect(),
            ..DrawPart::default()
        };
        Document {
            mesh: set.rest().clone(),
            draw: DrawMesh { parts: vec![part] },
            skin: Some(fitted.expect("it fits").skin),
            clips: vec![clip],
            ..Document::default()
        }
    }

    #[test]
    fn drawn_vertices_are_where_the_plain_evaluation_puts_their_points() {
        let document = document();
        let skin = document.skin.as_ref().expect("it has one");
        let mut player = Player::new(&document, &PlayerOptions::default()).expect("it packs");
        let diagonal = document.mesh.bounds().diagonal();
        for time in [0.0, 0.3, 0.71] {
            player.play("bend", time).expect("there is such a clip");
            let exact = skin.evaluate(&skin.sample(&document.clips[0], time));
            let exact = exact.expect("its own clip");
            let points = &document.draw.parts[0].points;
            for (found, &point) in player.positions().iter().zip(points) {
                let off = DVec3::from(found.map(f64::from)).distance(exact[point as usize]);
                assert!(off < 2e-5 * diagonal, "{off} at {time}");
            }
        }
        let lengths = player
            .normals()
            .iter()
            .map(|n| glam::Vec3::from(*n).length());
        for length in lengths {
            assert!((length - 1.0).abs() < 1e-5, "a unit normal, not {length}");
        }
    }

    #[test]
    fn one_buffer_may_hold_positions_normals_and_the_callers_own_numbers() {
        let player = Player::new(&document(), &PlayerOptions::default()).expect("it packs");
        let count = player.positions().len();
        let mut buffer = vec![7.0; 8 * count];
        player
            .write_interleaved(8, &mut buffer)
            .expect("there is room");
        assert_eq!(buffer[8..11], player.positions()[1], "a position");
        assert_eq!(buffer[11..14], player.normals()[1], "its normal");
        assert_eq!(buffer[14..16], [7.0, 7.0], "what was there");
        let error = player.write_interleaved(5, &mut buffer);
        assert!(error.is_err(), "no room for six numbers in five");
    }

    #[test]
    fn an_unknown_clip_is_named_with_the_clips_that_exist() {
        let mut player = Player::new(&document(), &PlayerOptions::default()).expect("it packs");
        let error = player.play("Walk", 0.0).expect_err("no such clip");
        assert_eq!(
            error.to_string(),
            "there is no clip 'Walk': the clips are 'bend'",
            "what to choose from"
        );
        let [start, end] = player.clip_range("bend").expect("it is there");
        player.play_looped("bend", end + 0.25).expect("it repeats");
        let looped = player.positions().to_vec();
        player.play("bend", start + 0.25).expect("it is there");
        let off = (looped.iter().zip(player.positions()))
            .map(|(a, b)| glam::Vec3::from(*a).distance(glam::Vec3::from(*b)))
            .fold(0.0, f32::max);
        assert!(off < 1e-5, "the same moment of the loop: {off}");
    }
}
