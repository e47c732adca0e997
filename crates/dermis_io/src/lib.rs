//! Reads and writes the files that dermis works on.
//!
//! From files to a file in three steps: read examples, fit, write.
//!
//! ```
//! use dermis::Split;
//! use dermis::document::Document;
//! use dermis::fit::{Method, engine_report, evaluate_fit};
//! use dermis::progress::Silent;
//! use dermis_io::{ExampleOptions, WriteOptions, read_examples};
//! # let folder = std::env::temp_dir().join(format!("dermis_three_steps_{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let arm = dermis::synth::arm(&Default::default());
//! # let made = dermis_io::Document {
//! #     mesh: arm.examples.rest().clone(),
//! #     draw: arm.draw,
//! #     skeleton: Some(arm.examples.skeleton().clone()),
//! #     frame_poses: arm.examples.examples().iter().map(|e| e.pose.clone()).collect(),
//! #     frames: (arm.examples.examples().iter())
//! #         .map(|e| dermis_io::Frame { name: e.name.clone(), positions: e.positions.clone() })
//! #         .collect(),
//! #     ..Default::default()
//! # };
//! # dermis_io::write(&folder.join("arm.npz"), &made, &WriteOptions::default())?;
//! # let at = |name: &str| folder.join(name);
//!
//! let examples = read_examples(&[at("arm.npz")], &ExampleOptions::default(), &Silent)?;
//! for note in &examples.notes {
//!     eprintln!("{note}");
//! }
//!
//! let method = Method::from_key("ssd").expect("linear blend skinning");
//! let fitted = evaluate_fit(&examples.set, &Split::EveryNth(4), |training| {
//!     method.fit(&examples.set, training, &Silent)
//! })?;
//! let engine = engine_report(&examples.set, &fitted, false, &Silent)?;
//!
//! let (look, set) = (&examples.look, &examples.set);
//! let skin = Document::of_fit(look, set, &method, &fitted, &engine, &examples.clips);
//! dermis_io::write(&at("skin.glb"), &skin, &WriteOptions::default())?;
//! # assert!(dermis_io::read(&at("skin.glb"))?.skin.is_some());
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod alembic;
mod assembled;
mod error;
mod fbx;
mod files;
mod format;
mod format_table;
mod geometry;
pub mod gltf;
mod images;
pub mod limits;
mod look;
mod npz;
mod obj;
mod placement;
mod ply;
mod point_cache;
pub mod project;
mod sequence;
mod text_file;

pub use assembled::{
    ExampleOptions, InputOptions, MotionOptions, ReadMeshes, read_animation, read_examples,
    read_influences, read_meshes, read_rig, read_vertex_list,
};
pub use dermis::document::{
    AssumedPoses, BoundsRecord, Document, DocumentError, EditError, FallbackError, FileFacts,
    Frame, Image, LevelFacts, Materials, PartBounds, SkinRecord, SubdivideOptions, Subdivided,
};
pub use error::{Fault, InputError, IoError};
pub use files::{
    ReadFile, Transaction, abandon_writes, on_read, read_file, record_reads, recorded_reads,
    sha256, write_file,
};
pub use format::{WriteOptions, read, read_bytes, read_points, read_poses, to_bytes, write};
pub use format_table::{Content, Format, FrameStorage};
pub use images::{ImageError, decode_image, encode_png};
pub use look::{DrawnCharacter, DrawnPart, Look, Looks, Opacity, PlacedPicture};
pub use npz::tangent_map_npz;
pub use placement::{Placement, placed};
pub use ply::PlyEncoding;
pub use sequence::{SequenceOptions, expand_inputs, natural_order, read_inputs};

/// Compiles and runs the Rust examples of the guide to the run-time.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/run-a-skin.md")]
struct RunGuideExamples;

/// The same of the README that the package has.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadmeExamples;
