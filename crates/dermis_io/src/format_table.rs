//! The formats, and the one table of their contents, which all other code asks.

use std::path::Path;

use dermis::limits;

use crate::{Fault, IoError};

/// The formats that dermis reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// glTF 2.0 in one binary file.
    Glb,
    /// glTF 2.0 as JSON, with buffers beside it or inside.
    Gltf,
    /// Wavefront OBJ, also gzipped (`.obj.gz`).
    Obj,
    /// Stanford PLY, also gzipped (`.ply.gz`).
    Ply,
    /// A NumPy archive of arrays.
    Npz,
    /// Point cache of 3ds Max and Blender: frames without faces.
    Pc2,
    /// Point cache of LightWave and Blender: frames without faces.
    Mdd,
    /// Alembic, in its container Ogawa: read, not written.
    Abc,
    /// FBX, binary or ASCII, in builds with the feature `fbx`; read, and not written.
    Fbx,
}

/// What a file may hold beside the positions of its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// The triangles between the points.
    Faces,
    /// Faces with more than three corners.
    Polygons,
    /// Bones and the weights with which they move the points.
    Skin,
    /// Motions of a skin, as keys.
    Clips,
    /// How a skin was made, and statistics and limits of its joints: [`SkinRecord`](crate::SkinRecord).
    Record,
    /// The pose of the bones in each frame.
    FramePoses,
}

/// How a format holds the frames of a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FrameStorage {
    /// One file holds the positions of all frames.
    OneFile,
    /// Each frame is a file of its own.
    FileEach,
    /// As morph targets of the rest mesh, with a clip that shows one after the other. They take the
    /// place of a skin: a file has one or the other.
    MorphTargets,
}

/// A row of the table: the facts about one format.
struct Row {
    name: &'static str,
    extension: &'static str,
    may_be_gzipped: bool,
    is_read: bool,
    is_written: bool,
    is_y_up: bool,
    is_text: bool,
    needs_faces: bool,
    needs_files_beside: bool,
    frames: FrameStorage,
    holds: &'static [Content],
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] = [
        Self::Glb,
        Self::Gltf,
        Self::Obj,
        Self::Ply,
        Self::Npz,
        Self::Pc2,
        Self::Mdd,
        Self::Abc,
        Self::Fbx,
    ];

    /// The table: a new format needs a row here, and its reader and writer in `read` and `write`.
    const fn row(self) -> Row {
        use Content::{Clips, Faces, FramePoses, Polygons, Record, Skin};
        const MESH: Row = Row {
            name: "",
            extension: "",
            may_be_gzipped: false,
            is_read: true,
            is_written: true,
            is_y_up: false,
            is_text: false,
            needs_faces: false,
            needs_files_beside: false,
            frames: FrameStorage::FileEach,
            holds: &[Faces, Polygons],
        };
        const GLTF: Row = Row {
            is_y_up: true,
            needs_faces: true,
            frames: FrameStorage::MorphTargets,
            holds: &[Faces, Skin, Clips, Record],
            ..MESH
        };
        const POINT_CACHE: Row = Row {
            frames: FrameStorage::OneFile,
            holds: &[],
            ..MESH
        };
        match self {
            Self::Glb => Row {
                name: "glTF in one binary file",
                extension: "glb",
                ..GLTF
            },
            Self::Gltf => Row {
                name: "glTF as JSON",
                extension: "gltf",
                is_text: true,
                needs_files_beside: true,
                ..GLTF
            },
            Self::Obj => Row {
                name: "Wavefront OBJ",
                extension: "obj",
                may_be_gzipped: true,
                is_text: true,
                ..MESH
            },
            Self::Ply => Row {
                name: "Stanford PLY",
                extension: "ply",
                may_be_gzipped: true,
                ..MESH
            },
            Self::Npz => Row {
                name: "NumPy archive",
                extension: "npz",
                frames: FrameStorage::OneFile,
                holds: &[Faces, Polygons, Skin, FramePoses],
                ..MESH
            },
            Self::Pc2 => Row {
                name: "PC2 point cache",
                extension: "pc2",
                ..POINT_CACHE
            },
            Self::Mdd => Row {
                name: "MDD point cache",
                extension: "mdd",
                ..POINT_CACHE
            },
            Self::Abc => Row {
                name: "Alembic",
                extension: "abc",
                is_written: false,
                frames: FrameStorage::OneFile,
                ..MESH
            },
            // Its reader turns what is not y up.
            Self::Fbx => Row {
                name: "FBX",
                extension: "fbx",
                is_written: false,
                is_y_up: true,
                frames: FrameStorage::OneFile,
                holds: &[Faces, Polygons, Skin, Clips],
                ..MESH
            },
        }
    }

    /// Upper estimate of the bytes of memory per byte of file while reading; 1 for formats whose readers count memory
    /// themselves.
    pub(crate) fn memory_per_byte(self) -> u64 {
        match self {
            Self::Glb | Self::Gltf | Self::Npz | Self::Abc | Self::Fbx => 1,
            // Three single-precision numbers become double ones.
            Self::Pc2 | Self::Mdd => 3,
            // `f 1 2 3` is stored three times: as a polygon, a triangle, and a drawn triangle.
            Self::Obj | Self::Ply => 8,
        }
    }

    /// Fails when a file of this many bytes, together with the document read from it, would not fit into memory.
    pub(crate) fn check_size(self, bytes: u64) -> Result<(), Fault> {
        let what = || format!("reading {bytes} bytes of .{}", self.extension());
        let factors = [bytes, self.memory_per_byte()];
        Ok(limits::check_memory(&factors, what, "split the file")?)
    }

    /// The format that a file's name says it has; upper and lower case are the same.
    ///
    /// # Errors
    /// [`Fault::Unsupported`], with the known extensions.
    ///
    /// ```
    /// use dermis_io::Format;
    /// assert_eq!(Format::of("poses/01.OBJ.gz".as_ref())?, Format::Obj);
    /// # Ok::<(), dermis_io::IoError>(())
    /// ```
    pub fn of(path: &Path) -> Result<Self, IoError> {
        let name = lower_name(path);
        let plain = name.strip_suffix(".gz");
        let extension = plain
            .unwrap_or(&name)
            .rsplit_once('.')
            .map_or("", |(_, e)| e);
        let format = Self::ALL.into_iter().find(|f| f.extension() == extension);
        if let Some(format) = format.filter(|f| plain.is_none() || f.may_be_gzipped()) {
            return Ok(format);
        }
        let what = match name.rsplit_once('.') {
            Some(_) => format!("the extension of {name}"),
            None => "a file name without an extension".to_owned(),
        };
        let plain = Self::ALL.iter().map(|f| format!(".{}", f.extension()));
        let packed = Self::ALL.iter().filter(|f| f.may_be_gzipped());
        let packed = packed.map(|f| format!(".{}.gz", f.extension()));
        let known = in_words(&plain.chain(packed).collect::<Vec<_>>(), "and");
        Err(Fault::unsupported(what, format!("known extensions are {known}")).in_file(path))
    }

    /// The name shown to people, such as "Wavefront OBJ".
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The extension, in lower case and without a dot.
    pub fn extension(self) -> &'static str {
        self.row().extension
    }

    /// True when a file may also be gzipped, with `.gz` after its extension.
    pub fn may_be_gzipped(self) -> bool {
        self.row().may_be_gzipped
    }

    /// True when [`read`](crate::read) can read it.
    pub fn is_read(self) -> bool {
        self.row().is_read
    }

    /// True when [`write`](crate::write) can write it.
    pub fn is_written(self) -> bool {
        self.row().is_written
    }

    /// True when its standard says that y is up, or its reader turns what the file says is not: such files are never turned.
    pub fn is_y_up(self) -> bool {
        self.row().is_y_up
    }

    /// True when what dermis writes is text, which a terminal can show.
    pub fn is_text(self) -> bool {
        self.row().is_text
    }

    /// True when what dermis writes is more than one file even for a single mesh, so that
    /// [`to_bytes`](crate::to_bytes) cannot make it.
    pub fn needs_files_beside(self) -> bool {
        self.row().needs_files_beside
    }

    /// True when a file must have faces: points alone cannot be written.
    pub fn needs_faces(self) -> bool {
        self.row().needs_faces
    }

    /// True when this format can store a kind of content, so that it survives writing and reading.
    ///
    /// ```
    /// use dermis_io::{Content, Format};
    /// assert!(Format::Glb.holds(Content::Clips) && !Format::Obj.holds(Content::Skin));
    /// ```
    pub fn holds(self, content: Content) -> bool {
        self.row().holds.contains(&content)
    }

    /// How it holds the frames of a sequence.
    pub fn frames(self) -> FrameStorage {
        self.row().frames
    }

    /// True for formats that hold frames but no faces.
    pub fn is_point_cache(self) -> bool {
        !self.holds(Content::Faces)
    }

    /// The extensions of the formats that dermis can write and that hold all these contents, in words.
    ///
    /// ```
    /// use dermis_io::{Content, Format};
    /// assert_eq!(Format::writers_of(&[Content::Skin, Content::Clips]), ".glb or .gltf");
    /// ```
    pub fn writers_of(contents: &[Content]) -> String {
        let fits = |format: &Self| {
            format.is_written() && contents.iter().all(|&content| format.holds(content))
        };
        let extensions = Self::ALL.into_iter().filter(fits);
        let extensions: Vec<String> = extensions.map(|f| format!(".{}", f.extension())).collect();
        in_words(&extensions, "or")
    }
}

/// `a, b or c`.
fn in_words(items: &[String], word: &str) -> String {
    match items {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} {word} {last}", first.join(", ")),
    }
}

/// The last part of a path, in lower case.
pub(crate) fn lower_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_name_formats_in_any_case() {
        for (name, expected) in [
            ("a.GLB", Format::Glb),
            ("a.b.gltf", Format::Gltf),
            ("a.Obj.GZ", Format::Obj),
            ("a.ply.gz", Format::Ply),
            ("a.npz", Format::Npz),
            ("a.pc2", Format::Pc2),
            ("a.mdd", Format::Mdd),
            ("a.abc", Format::Abc),
            ("a.FBX", Format::Fbx),
        ] {
            let found = Format::of(Path::new(name)).expect("a known extension");
            assert_eq!(found, expected, "for {name}");
        }
    }

    #[test]
    fn unknown_extensions_are_refused_with_the_known_ones() {
        for name in ["a.max", "a", "a.npz.gz", ".gz", "", "obj"] {
            let message = Format::of(Path::new(name))
                .expect_err("unknown")
                .to_string();
            assert!(message.contains(".glb, .gltf, .obj"), "{message}");
            assert!(
                message.ends_with(".mdd, .abc, .fbx, .obj.gz and .ply.gz"),
                "{message}"
            );
        }
    }

    #[test]
    fn every_format_has_a_name_and_an_extension_of_its_own() {
        for format in Format::ALL {
            let same = |other: &Format| {
                other.name() == format.name() || other.extension() == format.extension()
            };
            assert_eq!(
                Format::ALL.iter().filter(|other| same(other)).count(),
                1,
                "{format:?}"
            );
            assert!(
                format.is_read() || format.is_written(),
                "{format:?} can be read or written"
            );
        }
    }

    #[test]
    fn gltf_and_fbx_say_which_axis_is_up() {
        let upright = Format::ALL.into_iter().filter(|format| format.is_y_up());
        let upright: Vec<Format> = upright.collect();
        let expected = [Format::Glb, Format::Gltf, Format::Fbx];
        assert_eq!(upright, expected, "by their standard, or in the file");
    }

    #[test]
    fn lists_of_formats_come_from_the_table() {
        let all = Format::writers_of(&[]);
        assert_eq!(all, ".glb, .gltf, .obj, .ply, .npz, .pc2 or .mdd", "all");
        let poses = Format::writers_of(&[Content::FramePoses]);
        assert_eq!(poses, ".npz", "a single one");
        let none = Format::writers_of(&[Content::Clips, Content::FramePoses]);
        assert_eq!(none, "nothing", "no format holds both");
    }
}
