//! Reading a sequence: every file is compared with the rest mesh.

use std::path::{Path, PathBuf};

use dermis::TriMesh;
use dermis::document::can_reorder;
use dermis::mesh::Polygons;
use dermis::rig::{Pose, Skeleton};
use glam::DVec3;

use super::inputs::expand;
use crate::format::{read, read_geometry, read_point_cache, stem};
use crate::geometry::{Geometry, faces};
use crate::placement::{move_points, placed};
use crate::{Document, Fault, Format, Frame, FrameStorage, IoError, Placement};

/// How to read a sequence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SequenceOptions {
    /// The rest mesh, and with it everything but the frames: skin, polygons, materials.
    ///
    /// Default: the first mesh of the inputs in natural order. A rest mesh that is also among the inputs is no
    /// frame.
    pub rest: Option<PathBuf>,
    /// The mesh whose points a point cache moves, when `rest` is not given.
    ///
    /// Default: the file beside the cache with the same name and another extension (`.obj`,
    /// `.ply`, `.glb`, `.gltf`, `.npz`, `.abc`, in that order).
    pub mesh: Option<PathBuf>,
    /// Unit and axes of the rest mesh, and of the skin and clips in its file.
    pub placement: Placement,
    /// Unit and axes of the frames.
    pub frame_placement: Placement,
    /// Also accept meshes whose faces differ from the rest mesh's; their vertices may be in another order.
    pub any_faces: bool,
}

/// Reads the files that the inputs name: one file, or a sequence of meshes and point caches.
///
/// Inputs are files, folders, globs and numbered names. One file without options is read as it
/// is. Otherwise each mesh becomes a frame named after its file, in natural order; a file that
/// holds frames itself adds all of them.
///
/// # Errors
/// [`IoError::Content`] for a mesh whose vertices or faces are not those of the rest mesh, with
/// both files and both numbers, and for a point cache without a mesh; otherwise as [`read`].
pub fn read_inputs<P: AsRef<Path>>(
    inputs: &[P],
    options: &SequenceOptions,
) -> Result<Document, IoError> {
    let mut files = expand(inputs)?;
    let Some(first) = files.first().cloned() else {
        return Err(Fault::malformed("input", "at least one file", "none").in_file(Path::new("-")));
    };
    let is_cache = |file: &PathBuf| Ok(Format::of(file)?.is_point_cache());
    let caches: Vec<bool> = files.iter().map(is_cache).collect::<Result<_, IoError>>()?;
    let meshes = caches.iter().filter(|&&is_cache| !is_cache).count();
    let cache = files.iter().zip(&caches).find(|(_, is_cache)| **is_cache);

    let base = match (&options.rest, cache) {
        (Some(rest), _) => rest.clone(),
        (None, None) if files.len() == 1 => {
            return placed(read(&first)?, &options.placement, &options.frame_placement);
        }
        (None, None) => first,
        (None, Some((cache, _))) => match (&options.mesh, meshes) {
            (Some(mesh), _) => mesh.clone(),
            (None, 0) => mesh_beside(cache)?,
            (None, _) => files
                .iter()
                .zip(&caches)
                .find(|(_, c)| !**c)
                .map_or(first, |(f, _)| f.clone()),
        },
    };
    let mut sequence = Sequence::new(read(&base)?, base.clone(), options)?;
    // The mesh of a cache, and a rest mesh given in the options, are not frames.
    if options.rest.is_some() || cache.is_some() {
        let canonical = |path: &Path| path.canonicalize().unwrap_or(path.to_owned());
        let base = canonical(&base);
        files.retain(|file| canonical(file) != base);
        if files.is_empty() {
            return Ok(sequence.whole_base());
        }
    }
    let several = files.len() > 1;
    for file in &files {
        let member = sequence.read_member(file)?;
        sequence.add(member, several)?;
    }
    Ok(sequence.finish())
}

/// The mesh of the same name beside a point cache.
fn mesh_beside(cache: &Path) -> Result<PathBuf, IoError> {
    let mut formats = Format::ALL.to_vec();
    formats.retain(|format| format.is_read() && !format.is_point_cache());
    // Files of a single mesh first: a rig of the same name may have been made from one.
    formats.sort_by_key(|format| format.frames() != FrameStorage::FileEach);
    let candidates = formats.iter().map(|f| cache.with_extension(f.extension()));
    let found = candidates.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| {
        let stem = stem(cache);
        let names = (formats.iter()).map(|format| format!("{stem}.{}", format.extension()));
        let names = names.collect();
        Fault::NoMeshOfCache { names }.in_file(cache)
    })
}

/// The frames that one file adds.
struct Member {
    path: PathBuf,
    /// Faces to compare, when the file has a mesh.
    geometry: Option<Geometry>,
    /// Frames of its own; otherwise its mesh is one.
    frames: Vec<Frame>,
    poses: Vec<Pose>,
    skeleton: Option<Skeleton>,
    frames_per_second: Option<f64>,
    bytes: u64,
    notes: Vec<String>,
}

struct Sequence<'a> {
    base: Document,
    base_path: PathBuf,
    options: &'a SequenceOptions,
    /// The rest mesh, for when it is one of the frames.
    base_shape: Vec<DVec3>,
    /// Frames and poses that the base file had itself.
    base_frames: Vec<Frame>,
    base_poses: Vec<Pose>,
    /// True once a frame came without a pose.
    pose_missing: bool,
}

impl<'a> Sequence<'a> {
    fn new(
        base: Document,
        base_path: PathBuf,
        options: &'a SequenceOptions,
    ) -> Result<Self, IoError> {
        let mut base_shape = base.mesh.positions().to_vec();
        place(&mut base_shape, &base_path, options)?;
        let mut base = placed(base, &options.placement, &options.frame_placement)?;
        Ok(Self {
            base_frames: std::mem::take(&mut base.frames),
            base_poses: std::mem::take(&mut base.frame_poses),
            base,
            base_path,
            options,
            base_shape,
            pose_missing: false,
        })
    }

    /// The base file alone.
    fn whole_base(self) -> Document {
        Document {
            frames: self.base_frames,
            frame_poses: self.base_poses,
            ..self.base
        }
    }

    fn skeleton(&self) -> Option<&Skeleton> {
        let of_skin = self.base.skin.as_ref().map(|skin| &skin.skeleton);
        of_skin.or(self.base.skeleton.as_ref())
    }

    fn read_member(&mut self, path: &Path) -> Result<Member, IoError> {
        let mut member = Member {
            path: path.to_owned(),
            geometry: None,
            frames: Vec::new(),
            poses: Vec::new(),
            skeleton: None,
            frames_per_second: None,
            bytes: 0,
            notes: Vec::new(),
        };
        if path == self.base_path {
            member.frames = std::mem::take(&mut self.base_frames);
            member.poses = std::mem::take(&mut self.base_poses);
            member.skeleton = self.skeleton().cloned();
            if member.frames.is_empty() {
                member.frames = vec![Frame {
                    name: String::new(),
                    positions: self.base_shape.clone(),
                }];
            }
            return Ok(member);
        }
        if Format::of(path)?.is_point_cache() {
            let (cache, bytes) = read_point_cache(path)?;
            self.check_count(path, "points", cache.point_count)?;
            member.frames = cache.frames;
            for frame in &mut member.frames {
                place(&mut frame.positions, path, self.options)?;
            }
            member.frames_per_second = cache.frames_per_second;
            self.base.is_motion = true;
            member.bytes = bytes;
            member.notes = cache.notes;
        } else if let Some(mut geometry) = read_geometry(path)? {
            let mut positions = geometry.mesh.positions().to_vec();
            place(&mut positions, path, self.options)?;
            let placed = geometry.mesh.with_positions(positions);
            geometry.mesh = placed.map_err(|error| Fault::from(error).in_file(path))?;
            member.bytes = std::fs::metadata(path).map_or(0, |m| m.len());
            member.geometry = Some(geometry);
        } else {
            let placement = &self.options.frame_placement;
            let document = placed(read(path)?, placement, placement)?;
            member.frames = document.frames;
            member.poses = document.frame_poses;
            member.skeleton = document
                .skin
                .map(|skin| skin.skeleton)
                .or(document.skeleton);
            member.frames_per_second = document.frames_per_second;
            member.bytes = document.facts.bytes;
            member.notes = document.notes;
            member.geometry = Some(Geometry {
                mesh: document.mesh,
                polygons: document.polygons,
            });
        }
        Ok(member)
    }

    fn add(&mut self, member: Member, several: bool) -> Result<(), IoError> {
        if let Some(geometry) = &member.geometry {
            self.check_count(&member.path, "vertices", geometry.mesh.vertex_count())?;
            self.check_faces(&member.path, geometry)?;
        }
        let name = stem(&member.path);
        let same_bones = member.skeleton.is_some() && member.skeleton.as_ref() == self.skeleton();
        if same_bones && !member.poses.is_empty() {
            self.base.frame_poses.extend(member.poses);
        } else {
            self.pose_missing = true;
        }
        if member.frames.is_empty() {
            let mesh = member.geometry.map(|g| g.mesh);
            let positions: Vec<DVec3> = mesh.map_or(Vec::new(), |m| m.positions().to_vec());
            self.base.frames.push(Frame { name, positions });
        } else {
            for frame in member.frames {
                let name = match frame.name.as_str() {
                    "" => name.clone(),
                    own if several => format!("{name}_{own}"),
                    _ => frame.name,
                };
                self.base.frames.push(Frame { name, ..frame });
            }
        }
        self.base.frames_per_second = self.base.frames_per_second.or(member.frames_per_second);
        self.base.facts.bytes += member.bytes;
        let notes = member.notes.into_iter();
        self.base
            .notes
            .extend(notes.map(|note| format!("{}: {note}", member.path.display())));
        Ok(())
    }

    fn finish(mut self) -> Document {
        if !self.base_frames.is_empty() {
            let path = self.base_path.display();
            let count = self.base_frames.len();
            let note = format!(
                "{path}: its own {count} frames are left out: those of the sequence are used."
            );
            self.base.notes.push(note);
        }
        if self.pose_missing && !self.base.frame_poses.is_empty() {
            self.base.frame_poses.clear();
            let note = "Poses are left out: not every file has the rest mesh's bones and a pose for each frame.";
            self.base.notes.push(note.to_owned());
        }
        self.base
    }

    fn check_count(&self, path: &Path, what: &str, found: usize) -> Result<(), IoError> {
        let expected = self.base.mesh.vertex_count();
        if expected == found {
            return Ok(());
        }
        let expected = format!("{expected} as in {}", self.base_path.display());
        Err(Fault::malformed(what, expected, found.to_string()).in_file(path))
    }

    /// Refuses a mesh whose faces differ from the rest mesh's; clouds of points have none and pass.
    fn check_faces(&self, path: &Path, geometry: &Geometry) -> Result<(), IoError> {
        let rest = &self.base;
        if self.options.any_faces
            || rest.mesh.triangles().is_empty()
            || geometry.mesh.triangles().is_empty()
        {
            return Ok(());
        }
        let difference = match (&rest.polygons, &geometry.polygons) {
            (Some(a), Some(b)) if a == b => None,
            (None, None) if rest.mesh.triangles() == geometry.mesh.triangles() => None,
            (Some(a), Some(b)) => first_difference(&rest.mesh, Some(a), &geometry.mesh, Some(b)),
            // One file has triangles where the other has polygons: compare triangles.
            _ => first_difference(&rest.mesh, None, &geometry.mesh, None),
        };
        let Some((face, expected, found)) = difference else {
            return Ok(());
        };
        let text = |corners: Option<Vec<u32>>| match corners {
            Some(corners) => {
                let corners: Vec<String> = corners.iter().map(u32::to_string).collect();
                format!("vertices {}", corners.join(" "))
            }
            None => "no such face".to_owned(),
        };
        let fault = Fault::OtherFaces {
            face,
            expected: text(expected),
            rest: self.base_path.clone(),
            found: text(found),
            can_reorder: can_reorder(&rest.mesh, &geometry.mesh),
        };
        Err(fault.in_file(path))
    }
}

/// Takes points of a frame into the model's unit and axes.
fn place(points: &mut [DVec3], path: &Path, options: &SequenceOptions) -> Result<(), IoError> {
    let by = options.frame_placement.of_format(Format::of(path)?);
    if let Some(by) = by.map_err(|fault| fault.in_file(path))? {
        move_points(points, &by);
    }
    Ok(())
}

type Difference = (usize, Option<Vec<u32>>, Option<Vec<u32>>);

fn first_difference(
    a: &TriMesh,
    a_polygons: Option<&Polygons>,
    b: &TriMesh,
    b_polygons: Option<&Polygons>,
) -> Option<Difference> {
    let mut of_a = faces(a, a_polygons);
    let mut of_b = faces(b, b_polygons);
    for face in 0.. {
        match (of_a.next(), of_b.next()) {
            (None, None) => return None,
            (x, y) if x == y => {}
            (x, y) => return Some((face, x.map(<[u32]>::to_vec), y.map(<[u32]>::to_vec))),
        }
    }
    None
}
