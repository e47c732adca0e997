//! Pictures of meshes and of fitting error, for reports and documentation.
//!
//! This crate draws on the CPU, needs no window and no GPU, and gives the same bytes on any number of
//! threads. It takes plain slices of positions, normals and triangles, so it knows nothing about skins or
//! files.
//!
//! # A tour
//!
//! 1. Put meshes into a [`Scene`]: each [`Surface`] is positions, normals, triangles and a [`Paint`], which
//!    is one colour, a colour per vertex or triangle, a number per vertex shown as a heat map, a chequerboard
//!    that shows how texture coordinates stretch, a texture ([`TexturePicture`]), or all that a file says of
//!    it ([`Material`]). [`smooth_normals`] helps out when a mesh has none, and
//!    [`SurfaceFollower`] takes those of a rest shape along to another.
//! 2. Choose a [`Camera`]. [`Camera::three_quarter`] finds a good one for several meshes at once, so that
//!    pictures side by side can be compared; [`Camera::framing`] fits a direction of your own.
//! 3. [`render`] makes an [`Image`]: smooth edges, clay shading, a soft background, and, if you ask for a
//!    [`Ground`], a contact shadow. A renderer of your own gets the same look from [`Lights`],
//!    [`Camera::clip_from_world`], [`SAMPLE_PLACES`] and [`compose`].
//! 4. [`sheet()`] sets pictures side by side with captions, [`HeatScale::legend`] explains the colours, and
//!    [`Image::to_png`] gives the bytes of a file; [`animated_png`] those of a file that moves.
//! 5. [`Chart`] draws curves as SVG text for an HTML report, [`CurvePlot`] as a picture to stand beside
//!    rendered ones; [`Histogram`] draws distributions, from the shares that [`shares_in_bins`] counts.
//! 6. [`atlas_picture`] draws the texture coordinates themselves: the charts of an atlas, coloured by
//!    [`chart_tint`] or by a number per triangle, with their borders.
//!
//! ```
//! use dermis_render::glam::Vec3;
//! use dermis_render::{
//!     Camera, HeatScale, LegendSide, Paint, Panel, Scene, SheetStyle, Surface, UpAxis, render, sheet,
//!     smooth_normals,
//! };
//!
//! // A square sheet with a dent, and the depth of the dent as an error.
//! let n = 24;
//! let positions: Vec<Vec3> = (0..n * n)
//!     .map(|i| {
//!         let (x, z) = ((i % n) as f32 / 12.0 - 1.0, (i / n) as f32 / 12.0 - 1.0);
//!         Vec3::new(x, -0.4 * (-4.0 * (x * x + z * z)).exp(), z)
//!     })
//!     .collect();
//! let triangles: Vec<[u32; 3]> = (0..(n - 1) * (n - 1))
//!     .map(|i| (i / (n - 1) * n + i % (n - 1)) as u32)
//!     .flat_map(|i| [[i, i + n as u32, i + 1], [i + 1, i + n as u32, i + 1 + n as u32]])
//!     .collect();
//! let error: Vec<f32> = positions.iter().map(|p| -p.y).collect();
//! let normals = smooth_normals(&positions, &triangles);
//!
//! // One camera and one scale for all pictures.
//! let camera = Camera::three_quarter(&[&positions], UpAxis::Y, 1.0);
//! let scale = HeatScale::fitting(error.iter().copied(), "cm");
//! let surface = Surface::new(&positions, &normals, &triangles);
//! let heat = Paint::Heat { values: &error, scale: scale.clone() };
//!
//! let draw = |surface| render(&Scene { surfaces: vec![surface], ..Scene::default() }, &camera, 160, 160);
//! let panels = [
//!     Panel::new(draw(surface.clone())?, "shape"),
//!     Panel::new(draw(surface.painted(heat))?, "error"),
//! ];
//! let legend = Some(scale.legend(LegendSide::Vertical, 160, 14.0));
//! let png: Vec<u8> = sheet(&panels, &SheetStyle { legend, ..SheetStyle::default() }).to_png()?;
//! assert!(png.starts_with(b"\x89PNG"));
//! # Ok::<(), dermis_render::RenderError>(())
//! ```
//!
//! # Conventions
//!
//! Positions are `f32` in model units, right-handed. Colours are sRGB at the border and linear inside. Pixel
//! rows and texture coordinates run from the top. Bad input is a [`RenderError`]; a position that is not finite only hides its
//! triangles.

mod animation;
mod atlas;
mod camera;
mod color;
mod curves;
mod error;
mod follow;
mod heatmap;
mod image;
mod lights;
mod material;
mod median_cut;
mod palette;
mod plot;
mod projector;
mod raster;
mod scene;
mod sheet;
mod text;
mod texture;
mod ticks;

pub use glam;

pub use animation::animated_png;
pub use atlas::{AtlasFill, AtlasPicture, atlas_picture, chart_tint};
pub use camera::{Camera, Projection, UpAxis, three_quarter_direction};
pub use color::linear_from_srgb3;
pub use curves::{Curve, CurvePlot};
pub use error::RenderError;
pub use follow::{FollowedShape, SurfaceFollower};
pub use heatmap::{HeatScale, LegendSide, NO_DATA};
pub use image::Image;
pub use lights::Lights;
pub use material::{Glow, Material, NormalMap, Opacity, Sides};
pub use palette::dark_chart_style;
pub use plot::{
    Axis, AxisScale, Band, Chart, Draw, Histogram, HistogramDraw, HistogramSeries, Marker, Point,
    Series, bin_edges, histogram, shares_in_bins,
};
pub use raster::{MAX_SIDE, SAMPLE_PLACES, compose, rasterize, render};
pub use scene::{
    Background, CHEQUER, CLAY, Ground, Paint, Scene, Shading, Surface, Wireframe, smooth_normals,
};
pub use sheet::{Panel, SheetStyle, hstack, sheet};
pub use text::{Align, TextStyle, draw_text, text_width};
pub use texture::{TexturePicture, Wrap};
