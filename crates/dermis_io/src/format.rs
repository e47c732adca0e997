//! Reading and writing one file of any format.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use dermis::mesh::DrawMesh;
use dermis::{TriMesh, limits};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use glam::DVec3;

use crate::fbx;
use crate::format_table::lower_name;
use crate::geometry::Geometry;
use crate::gltf;
use crate::obj::{self, ObjWriter};
use crate::ply::{self, PlyEncoding, PlyWriter};
use crate::point_cache::{self, PointCache};
use crate::sequence::{self, SequenceOptions};
use crate::{Document, Fault, Format, IoError, Transaction, alembic, npz, read_file};

fn is_packed(path: &Path) -> bool {
    lower_name(path).ends_with(".gz")
}

/// The file's name without extension, and without `.gz`.
pub(crate) fn stem(path: &Path) -> String {
    let plain = if is_packed(path) {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    plain
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// How to write files.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// How `.ply` files are stored; binary by default.
    pub ply: PlyEncoding,
}

/// Reads one file of any format.
///
/// A point cache has no faces: the mesh of the same name beside it is read too.
///
/// # Errors
/// [`IoError::Read`] and [`IoError::Content`].
pub fn read(path: &Path) -> Result<Document, IoError> {
    let format = Format::of(path)?;
    if !format.is_read() {
        let what = format!("reading {}", format.name());
        return Err(
            Fault::unsupported(what, "dermis writes this format but does not read it")
                .in_file(path),
        );
    }
    if format.is_point_cache() {
        return sequence::read_inputs(&[path], &SequenceOptions::default());
    }
    let file = FileBytes::read(path)?;
    let mut document = read_bytes(path, &file.bytes)?;
    // glTF counts the buffers beside it too.
    document.facts.bytes = document.facts.bytes.max(file.size_on_disk);
    Ok(document)
}

/// Reads what a file holds from memory, unpacked.
///
/// The path's extension says which format it is. Buffers and materials that a file names are looked for beside it. A
/// point cache is read as [`read_points`] does.
///
/// ```
/// let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
/// let document = dermis_io::read_bytes("dropped.obj".as_ref(), text)?;
/// assert_eq!(document.mesh.triangles(), [[0, 1, 2]]);
/// # Ok::<(), dermis_io::IoError>(())
/// ```
///
/// # Errors
/// [`IoError::Read`] for files beside it, and [`IoError::Content`].
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<Document, IoError> {
    let document = match Format::of(path)? {
        Format::Glb | Format::Gltf => Ok(gltf::read(path, bytes)?),
        Format::Obj => obj::read(path, bytes),
        Format::Ply => ply::read(path, bytes),
        Format::Npz => npz::read(path, bytes),
        Format::Pc2 => point_cache::read_pc2(bytes).and_then(|cache| cloud(path, cache)),
        Format::Mdd => point_cache::read_mdd(bytes).and_then(|cache| cloud(path, cache)),
        Format::Abc => alembic::read(bytes),
        Format::Fbx => fbx::read(path, bytes),
    };
    let mut document = document.map_err(|fault| fault.in_file(path))?;
    document.path = path.to_owned();
    document.facts.bytes = document.facts.bytes.max(bytes.len() as u64);
    Ok(document)
}

/// Reads the poses of a file's frames and the bones that they are of. An `.npz` file needs no meshes for that; the frames
/// of the document that is returned have names, and positions only where the format always has them.
///
/// # Errors
/// [`IoError::Read`] and [`IoError::Content`].
pub fn read_poses(path: &Path) -> Result<Document, IoError> {
    if Format::of(path)? != Format::Npz {
        return read(path);
    }
    let file = FileBytes::read(path)?;
    let document = npz::read_bones(&file.bytes).map_err(|fault| fault.in_file(path))?;
    Ok(Document {
        path: path.to_owned(),
        ..document
    })
}

/// Reads a point cache as a cloud of points, for when its mesh is not at hand.
///
/// The first frame serves as the rest mesh.
///
/// # Errors
/// [`IoError::Read`] and [`IoError::Content`].
pub fn read_points(path: &Path) -> Result<Document, IoError> {
    let (cache, bytes) = read_point_cache(path)?;
    let mut document = cloud(path, cache).map_err(|fault| fault.in_file(path))?;
    document.facts.bytes = bytes;
    Ok(document)
}

/// The points of a cache, with the first frame as the rest mesh.
fn cloud(path: &Path, cache: PointCache) -> Result<Document, Fault> {
    let rest = cache.frames.first().map(|frame| frame.positions.clone());
    let mesh = TriMesh::new(rest.unwrap_or_default(), Vec::new())?;
    let mut document = Document {
        path: path.to_owned(),
        draw: DrawMesh::plain(stem(path), mesh.vertex_count(), &[]),
        mesh,
        frames: cache.frames,
        frames_per_second: cache.frames_per_second,
        is_motion: true,
        notes: cache.notes,
        ..Document::default()
    };
    document.facts.mesh_count = 1;
    Ok(document)
}

/// Reads points and faces alone where that is quicker: `None` for formats where it is not.
pub(crate) fn read_geometry(path: &Path) -> Result<Option<Geometry>, IoError> {
    if Format::of(path)? != Format::Obj {
        return Ok(None);
    }
    let file = FileBytes::read(path)?;
    let geometry = obj::read_geometry(&file.bytes).map_err(|fault| fault.in_file(path))?;
    Ok(Some(geometry))
}

/// Reads a point cache without its mesh.
pub(crate) fn read_point_cache(path: &Path) -> Result<(PointCache, u64), IoError> {
    let format = Format::of(path)?;
    let file = FileBytes::read(path)?;
    let cache = match format {
        Format::Mdd => point_cache::read_mdd(&file.bytes),
        _ => point_cache::read_pc2(&file.bytes),
    };
    Ok((
        cache.map_err(|fault| fault.in_file(path))?,
        file.size_on_disk,
    ))
}

struct FileBytes {
    /// The content, unpacked.
    bytes: Vec<u8>,
    size_on_disk: u64,
}

impl FileBytes {
    fn read(path: &Path) -> Result<Self, IoError> {
        let error = |source| IoError::Read {
            path: path.to_owned(),
            source,
        };
        let format = Format::of(path)?;
        // Only plain files have a size; anything else is counted after reading.
        let size = std::fs::metadata(path).map_or(0, |about| about.len());
        format
            .check_size(size)
            .map_err(|fault| fault.in_file(path))?;
        let bytes = read_file(path).map_err(error)?;
        let size_on_disk = bytes.len() as u64;
        let bytes = if is_packed(path) {
            unpack(&bytes, format).map_err(|fault| fault.in_file(path))?
        } else {
            bytes
        };
        Ok(Self {
            bytes,
            size_on_disk,
        })
    }
}

/// Undoes gzip, up to 200 times the packed size: meshes shrink 3 to 20 times, bombs 1000 times.
///
/// Also stops at the limit of memory.
fn unpack(packed: &[u8], format: Format) -> Result<Vec<u8>, Fault> {
    let most = (packed.len() as u64).saturating_mul(200).max(1 << 20);
    let within_memory = limits::memory_bytes() / format.memory_per_byte();
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed)
        .take(most.min(within_memory) + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Fault::malformed("file", "gzip data", error.to_string()))?;
    format.check_size(bytes.len() as u64)?;
    if bytes.len() as u64 > most {
        let expected = format!("at most {most} bytes unpacked, 200 times the file");
        return Err(Fault::malformed("file", expected, "more"));
    }
    Ok(bytes)
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.expect("writing to memory cannot fail")
}

/// Writes a document as the format that the file's name asks for, and returns the files written.
///
/// Either all files are written or, when one fails, none; see [`Transaction::add_document`].
///
/// # Errors
/// [`IoError::Write`], and [`IoError::Content`] when the format cannot hold the document.
pub fn write(
    path: &Path,
    document: &Document,
    options: &WriteOptions,
) -> Result<Vec<PathBuf>, IoError> {
    let mut files = Transaction::new();
    let names = files.add_document(path, document, options)?;
    files.commit()?;
    Ok(names)
}

/// A document as the bytes of one file, for programs that send it elsewhere than to a file.
///
/// # Errors
/// A [`Fault`] when the format cannot hold the document, or needs several files for it.
///
/// ```
/// use dermis_io::{Document, Format, WriteOptions, to_bytes};
///
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// let mesh = dermis::TriMesh::new(corners.map(Into::into).to_vec(), vec![[0, 1, 2]])?;
/// let draw = dermis::mesh::DrawMesh::plain("triangle", 3, mesh.triangles());
/// let document = Document { mesh, draw, ..Document::default() };
/// let text = to_bytes(&document, Format::Obj, &WriteOptions::default())?;
/// assert!(String::from_utf8(text)?.contains("f 1 2 3"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn to_bytes(
    document: &Document,
    format: Format,
    options: &WriteOptions,
) -> Result<Vec<u8>, Fault> {
    check_frames(document)?;
    let frames = frames(document);
    let moving = !document.frames.is_empty();
    let single = || match frames[..] {
        [positions] => Ok(positions),
        _ => Err(Fault::unsupported(
            format!(
                "{} frames in one .{} file",
                frames.len(),
                format.extension()
            ),
            "choose one frame, or a format that holds all of them, such as .npz",
        )),
    };
    match format {
        Format::Glb => gltf::to_glb(document),
        Format::Gltf => Err(Fault::unsupported(
            "glTF as JSON in one file",
            "its numbers are in a file beside it: choose .glb",
        )),
        Format::Obj => Ok(ObjWriter::new(document, !moving).to_bytes(single()?)),
        Format::Ply => Ok(PlyWriter::new(document, options.ply, !moving).to_bytes(single()?)),
        Format::Npz => npz::write(document),
        Format::Pc2 => point_cache::write_pc2(&frames),
        Format::Mdd => point_cache::write_mdd(&frames, document.frames_per_second),
        Format::Abc | Format::Fbx => Err(not_written(format)),
    }
}

/// The fault of a format that is only read.
fn not_written(format: Format) -> Fault {
    Fault::unsupported(
        format!("writing {}", format.name()),
        format!("choose {}", Format::writers_of(&[])),
    )
}

/// Fails when a frame has other points than the rest mesh.
fn check_frames(document: &Document) -> Result<(), Fault> {
    let vertex_count = document.mesh.vertex_count();
    let mut frames = document.frames.iter();
    match frames.find(|frame| frame.positions.len() != vertex_count) {
        None => Ok(()),
        Some(frame) => Err(Fault::malformed(
            format!("frame {}", frame.name),
            format!("{vertex_count} positions"),
            frame.positions.len().to_string(),
        )),
    }
}

/// The frames of a document, or its rest mesh as the only one.
fn frames(document: &Document) -> Vec<&[DVec3]> {
    match document.frames.as_slice() {
        [] => vec![document.mesh.positions()],
        frames => frames.iter().map(|f| f.positions.as_slice()).collect(),
    }
}

impl Transaction {
    /// Adds a document as the format that the file's name asks for, and returns the names of its files.
    ///
    /// Frames of a document go to `.obj` and `.ply` as one file each: `out.obj` becomes
    /// `out_0001.obj` and so on, unless the name itself has a place for the number, as in
    /// `out.####.obj` or `out.%04d.obj`. A single frame needs no number. Without frames the rest mesh
    /// is written. Point caches take all frames, or the rest mesh as their only one. Beside `out.gltf` there is
    /// its buffer, `out.bin`; when a file of that name belongs to another file, `out_1.bin` and so on.
    ///
    /// # Errors
    /// [`IoError::Write`], and [`IoError::Content`] when the format cannot hold the document.
    pub fn add_document(
        &mut self,
        path: &Path,
        document: &Document,
        options: &WriteOptions,
    ) -> Result<Vec<PathBuf>, IoError> {
        check_frames(document).map_err(|fault| fault.in_file(path))?;
        let format = Format::of(path)?;
        let moving = !document.frames.is_empty();
        match format {
            Format::Gltf => return gltf::add_with_buffer(self, path, document),
            Format::Obj => {
                let writer = ObjWriter::new(document, !moving);
                return self.add_numbered(path, &frames(document), |p| writer.to_bytes(p));
            }
            Format::Ply => {
                let writer = PlyWriter::new(document, options.ply, !moving);
                return self.add_numbered(path, &frames(document), |p| writer.to_bytes(p));
            }
            Format::Glb | Format::Npz | Format::Pc2 | Format::Mdd | Format::Abc | Format::Fbx => {}
        }
        let bytes = to_bytes(document, format, options).map_err(|fault| fault.in_file(path))?;
        self.add(path, &bytes)?;
        Ok(vec![path.to_owned()])
    }

    /// Adds one file per frame, or one file under the plain name when there is only one.
    fn add_numbered(
        &mut self,
        path: &Path,
        frames: &[&[DVec3]],
        to_bytes: impl Fn(&[DVec3]) -> Vec<u8>,
    ) -> Result<Vec<PathBuf>, IoError> {
        let mut files = Vec::with_capacity(frames.len());
        for (k, positions) in frames.iter().enumerate() {
            let file = match sequence::NumberedName::of(path) {
                Some(pattern) => pattern.with_number(k + 1),
                None if frames.len() > 1 => numbered(path, k + 1, frames.len()),
                None => path.to_owned(),
            };
            let bytes = to_bytes(positions);
            let bytes = if is_packed(&file) {
                pack(&bytes)
            } else {
                bytes
            };
            self.add(&file, &bytes)?;
            files.push(file);
        }
        Ok(files)
    }
}

/// `out.obj` to `out_0001.obj`, with as many digits as the last number needs.
fn numbered(path: &Path, number: usize, last: usize) -> PathBuf {
    let digits = last.to_string().len().max(4);
    let packed = path.extension().filter(|_| is_packed(path));
    let plain = match packed {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    };
    let mut name = plain.file_stem().unwrap_or_default().to_owned();
    name.push(format!("_{number:0digits$}"));
    for extension in plain.extension().into_iter().chain(packed) {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_numbered_before_the_extension() {
        let name = |path: &str, last| numbered(Path::new(path), 7, last);
        assert_eq!(name("x/a.obj", 9), Path::new("x/a_0007.obj"), "four digits");
        assert_eq!(
            name("a.obj.gz", 9),
            Path::new("a_0007.obj.gz"),
            "before .gz"
        );
        assert_eq!(
            name("a.b.PLY", 12345),
            Path::new("a.b_00007.PLY"),
            "five where needed"
        );
    }

    #[test]
    fn a_gzip_bomb_is_refused() {
        let bomb = pack(&vec![b' '; 8 << 20]);
        assert!(bomb.len() < 10_000, "a bomb, of {} bytes", bomb.len());
        unpack(&bomb, Format::Obj).expect_err("8 MiB of spaces");
        let text = b"v 0 0 0\n".repeat(1000);
        assert_eq!(
            unpack(&pack(&text), Format::Obj).expect("small"),
            text,
            "a small file is unpacked"
        );
    }
}
