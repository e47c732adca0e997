//! Opens an FBX file: limits, unit and axes, files beside it, and what the file has that is not read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use dermis::limits::{memory_bytes, size_text};
use ufbx::{
    AllocatorOpts, CoordinateAxes, CoordinateAxis, ErrorType, FileFormat,
    GeometryTransformHandling, InheritModeHandling, LoadOpts, MirrorAxis, OpenFileCb, Scene,
    SceneRoot, SpaceConversion, Stream, WarningType,
};

use crate::{FbxError, counted};

/// Reads a file beside the FBX file: a geometry cache or a picture.
pub type ReadBeside<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// The largest number of memory blocks that reading may take; a file of 100 MB takes some ten thousand.
const MOST_ALLOCATIONS: usize = 1 << 22;
/// The deepest tree of nodes; characters have some fifty levels.
const MOST_LEVELS: u32 = 4096;

/// Files that the FBX file names, looked for beside it and nowhere else: opening a model must not read files that the user
/// did not point to.
pub(crate) struct Beside<'a> {
    path: PathBuf,
    read: ReadBeside<'a>,
    /// What was read; a cache is opened once for every frame.
    files: RefCell<BTreeMap<PathBuf, Option<Rc<[u8]>>>>,
    /// Bytes of the files that were read.
    byte_count: RefCell<u64>,
    missing: RefCell<BTreeSet<String>>,
}

impl<'a> Beside<'a> {
    pub(crate) fn new(path: &Path, read: ReadBeside<'a>) -> Self {
        Self {
            path: path.to_owned(),
            read,
            files: RefCell::default(),
            byte_count: RefCell::default(),
            missing: RefCell::default(),
        }
    }

    /// The first of a file's possible places that has it.
    pub(crate) fn find(&self, name: &str) -> Option<Rc<[u8]>> {
        let found = (self.places(name).into_iter()).find_map(|place| self.bytes(&place));
        if found.is_none() {
            self.missing.borrow_mut().insert(last_name(name).to_owned());
        }
        found
    }

    /// Bytes of all files that were read.
    pub(crate) fn byte_count(&self) -> u64 {
        *self.byte_count.borrow()
    }

    /// Where a file may be: at its path when that is inside the folder of the FBX file, in the folder itself, and in the
    /// folder that Maya makes for caches.
    fn places(&self, name: &str) -> Vec<PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let plain = name.replace('\\', "/");
        let plain = Path::new(&plain);
        let inside = plain.strip_prefix(folder).unwrap_or(plain);
        let is_inside = (inside.components())
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let last = last_name(name);
        if matches!(last, "" | "." | "..") {
            return Vec::new();
        }
        let mut caches = self.path.file_stem().unwrap_or_default().to_owned();
        caches.push("_fpc");
        let mut places = Vec::new();
        if is_inside {
            places.push(folder.join(inside));
        }
        places.push(folder.join(last));
        places.push(folder.join(caches).join(last));
        places
    }

    fn bytes(&self, place: &Path) -> Option<Rc<[u8]>> {
        if let Some(known) = self.files.borrow().get(place) {
            return known.clone();
        }
        let bytes: Option<Rc<[u8]>> = (self.read)(place).ok().map(Into::into);
        *self.byte_count.borrow_mut() += bytes.as_ref().map_or(0, |bytes| bytes.len() as u64);
        (self.files.borrow_mut()).insert(place.to_owned(), bytes.clone());
        bytes
    }

    /// The file as ufbx wants it.
    pub(crate) fn stream(&self, name: &str) -> Option<Stream> {
        Some(Stream::Read(Box::new(Cursor::new(self.find(name)?))))
    }
}

/// The last part of a path with either kind of slash.
pub(crate) fn last_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// Memory limits of one job of ufbx.
pub(crate) fn allocator() -> AllocatorOpts {
    AllocatorOpts {
        memory_limit: usize::try_from(memory_bytes()).unwrap_or(usize::MAX),
        allocation_limit: MOST_ALLOCATIONS,
        ..AllocatorOpts::default()
    }
}

/// Loads a file in metres, y up, with everything that it names beside it.
pub(crate) fn load(bytes: &[u8], beside: &Beside<'_>) -> Result<SceneRoot, FbxError> {
    let path = beside.path.to_string_lossy();
    let open = |name: &str, _: &ufbx::OpenFileInfo| beside.stream(name);
    let options = LoadOpts {
        temp_allocator: allocator(),
        result_allocator: allocator(),
        // What the file is, its content says.
        no_format_from_extension: true,
        filename: ufbx::StringOpt::Ref(&path),
        node_depth_limit: MOST_LEVELS,
        load_external_files: true,
        ignore_missing_external_files: true,
        open_file_cb: OpenFileCb::Ref(&open),
        target_axes: CoordinateAxes::right_handed_y_up(),
        target_unit_meters: 1.0,
        // Points and bones are in metres themselves: a scale at the root would stay in every bone.
        space_conversion: SpaceConversion::ModifyGeometry,
        handedness_conversion_axis: MirrorAxis::X,
        // Both are computed from the nodes as they are: helper nodes would have names that no artist gave.
        geometry_transform_handling: GeometryTransformHandling::Preserve,
        inherit_mode_handling: InheritModeHandling::Preserve,
        use_blender_pbr_material: true,
        ..LoadOpts::default()
    };
    let scene = ufbx::load_memory(bytes, options).map_err(|error| failure(&error))?;
    match scene.metadata.file_format {
        FileFormat::Fbx => Ok(scene),
        _ => Err(no_fbx()),
    }
}

fn no_fbx() -> FbxError {
    let found = "something else: export it again as FBX";
    FbxError::malformed("file", "a binary or ASCII FBX file", found)
}

/// The sentence of an error of ufbx.
pub(crate) fn failure(error: &ufbx::Error) -> FbxError {
    let (expected, found) = match error.type_ {
        ErrorType::EmptyFile => ("an FBX file", "an empty file".to_owned()),
        ErrorType::UnrecognizedFileFormat => return no_fbx(),
        ErrorType::TruncatedFile => (
            "a whole FBX file",
            "its end too early: the file is cut off".to_owned(),
        ),
        ErrorType::UnsupportedVersion => (
            "FBX of version 6.0 to 7.7",
            "another version: export it as FBX 2014 or later".to_owned(),
        ),
        ErrorType::NodeDepthLimit => (
            "a tree of at most 4096 levels",
            "nodes that are deeper".to_owned(),
        ),
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => (
            "a file that can be read within the memory limit",
            format!("that it takes more than {}", size_text(memory_bytes())),
        ),
        _ => ("a sound FBX file", broken(error)),
    };
    FbxError::malformed("file", expected, found)
}

/// What ufbx says of a broken file, with its detail where it has one.
fn broken(error: &ufbx::Error) -> String {
    let said = error.description.to_string();
    match error.info() {
        "" => format!("a fault ({said}): export it again"),
        info => format!("a fault ({said}, {info}): export it again"),
    }
}

/// One sentence for the unit and axes that were changed, and for everything that is not read.
pub(crate) fn notes(scene: &Scene, beside: &Beside<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let settings = &scene.settings;
    let up = match settings.axes.up {
        CoordinateAxis::PositiveX => "x up",
        CoordinateAxis::NegativeX => "x down",
        CoordinateAxis::NegativeY => "y down",
        CoordinateAxis::PositiveZ => "z up",
        CoordinateAxis::NegativeZ => "z down",
        _ => "y up",
    };
    let unit = unit_name(settings.unit_meters);
    if unit != "metres" || up != "y up" {
        notes.push(format!("{unit}, {up}: read as metres, y up"));
    }
    if scene.metadata.mirror_axis != MirrorAxis::None {
        notes.push("left-handed axes: mirrored along x to right-handed ones".to_owned());
    }
    let missing = beside.missing.borrow();
    for name in missing.iter() {
        notes.push(format!(
            "{name} is named by the file and was not found beside it: what it holds is left out"
        ));
    }
    if scene.constraints.count > 0 {
        let what = counted(scene.constraints.count, "constraint", "constraints");
        notes.push(format!(
            "{what} left out: bake constraints into keys before exporting if they move anything"
        ));
    }
    let curves = scene.nurbs_curves.count + scene.line_curves.count;
    for (count, one, many) in [
        (
            scene.nurbs_surfaces.count,
            "NURBS surface",
            "NURBS surfaces",
        ),
        (curves, "curve", "curves"),
    ] {
        if count > 0 {
            let what = counted(count, one, many);
            notes.push(format!("{what} left out: only meshes are read"));
        }
    }
    for warning in &scene.metadata.warnings {
        // Missing files have a note of their own.
        if warning.type_ != WarningType::MissingExternalFile {
            let what = warning.description.to_string();
            notes.push(format!("repaired while reading: {}", what.to_lowercase()));
        }
    }
    notes
}

fn unit_name(metres: f64) -> String {
    let named = [
        (0.001, "millimetres"),
        (0.01, "centimetres"),
        (0.0254, "inches"),
        (0.1, "decimetres"),
        (0.3048, "feet"),
        (0.9144, "yards"),
        (1.0, "metres"),
        (1000.0, "kilometres"),
    ];
    let near = |(size, _): &&(f64, &str)| (metres - size).abs() <= 1e-6 * size;
    match named.iter().find(near) {
        Some((_, name)) => (*name).to_owned(),
        None => format!("units of {metres} m"),
    }
}
