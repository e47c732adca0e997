//! Fits real-time skinning models to example meshes.
//!
//! # A tour
//!
//! An [`ExampleSet`] is a rest mesh, a skeleton, and meshes in known poses. Here one is made by
//! formula; `dermis_io` reads them from files.
//!
//! ```
//! use dermis::fit::{SsdOptions, evaluate_fit, fit_ssd};
//! use dermis::progress::Silent;
//! use dermis::{BoneId, Split, VertexProgram};
//!
//! let arm = dermis::synth::arm(&Default::default());
//! let examples = &arm.examples;
//! assert_eq!(examples.skeleton().bone_count(), 3);
//!
//! // A fit makes a skin from the training examples. `evaluate_fit` fits all examples, which gives the skin
//! // to keep, then fits again with some examples held out (kept from the fit) and measures that second skin
//! // on them. `fit_ssd` fits SSD, that is linear blend skinning.
//! let options = SsdOptions { max_influences: 2, ..SsdOptions::default() };
//! let report = evaluate_fit(examples, &Split::EveryNth(4), |training| {
//!     fit_ssd(examples, training, &options, &Silent)
//! })?;
//! let unseen = &report.held_out.as_ref().expect("a quarter was held out").measured.total;
//! assert_eq!(unseen.example_count, 12);
//! // EE (enveloping error): the error as a share of the error when every vertex follows one bone rigidly.
//! // Blending gains little on a twisted forearm.
//! assert!(unseen.enveloping_error_percent.expect("the arm is not rigid") > 70.0);
//!
//! // A skin turns a pose into positions.
//! let mut pose = report.skin.skeleton.rest_pose();
//! let elbow = report.skin.skeleton.find("forearm").expect("the arm has one");
//! pose.parent_from_bone[elbow.index()] *= glam::DAffine3::from_rotation_z(1.2);
//! let positions = report.skin.evaluate(&pose)?;
//! assert_eq!(positions.len(), examples.rest().vertex_count());
//!
//! // Every linear model compiles to one vertex program.
//! let linear = report.skin.to_linear()?;
//! assert!(matches!(linear.program, VertexProgram::Linear(_)));
//! let same = linear.evaluate(&pose)?;
//! assert!(positions.iter().zip(&same).all(|(a, b)| a.distance(*b) < 1e-12));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! From the ground up: [`solve`] (small constrained least squares), [`mesh`], [`rig`], [`clip`], [`joint`], [`pose_space`], [`example`],
//! [`skin`], [`subdiv`], [`metric`] and [`bounds`] (distances and spheres over all poses), [`normal`], [`measure`],
//! [`fit`], [`document`] (a character as files hold it), [`run`], [`compare`]; beside them [`synth`] makes
//! characters, [`progress`] reports how far a fit is, and [`limits`] bounds the memory that it may plan to
//! take. Fits and measures are in `f64`. Nothing here opens a file or prints.
//!
//! The `threads` feature, on by default, works on vertices and examples in parallel, in the current
//! rayon pool. Results are the same, bit for bit, on any number of threads and without it.

pub mod bake;
pub mod bounds;
pub mod clip;
pub mod compare;
pub mod document;
pub mod example;
pub mod fit;
pub mod joint;
pub mod limits;
pub mod lod;
mod math;
pub mod measure;
pub mod mesh;
pub mod metric;
pub mod normal;
mod par;
pub mod param;
pub mod pose_space;
pub mod progress;
pub mod rig;
mod rows;
pub mod run;
pub mod skin;
pub mod solve;
pub mod subdiv;
pub mod synth;

pub use clip::Clip;
pub use document::Document;
pub use example::{Example, ExampleSet, Fold, MeshAnimation, MeshClip, Split};
pub use mesh::TriMesh;
pub use rig::{BoneId, Palette, Pose, Skeleton};
pub use rows::Rows;
pub use skin::{Skin, VertexProgram};

/// The README's Rust, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct ReadmeExamples;

/// The same of the README that the package has.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadmeExamples;

/// The Rust of the guide to subdivision, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/subdivide.md")]
struct SubdivisionGuideExamples;

/// The Rust of the guide to levels of detail, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/levels-of-detail.md")]
struct LevelGuideExamples;

/// The Rust of the guide to texture coordinates, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/unwrap.md")]
struct UnwrapGuideExamples;
