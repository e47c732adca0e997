//! What may be asked of an atlas, and what can be wrong.

use super::pack::PackError;

/// How to unwrap a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct UnwrapOptions {
    /// How many charts there should be; as few as the stretch allows unless given. Fewer charts, more stretch.
    pub charts: Option<usize>,
    /// L2 stretch of a chart, from 1, up to which charts are joined. Default 1.05. Larger gives fewer charts.
    pub max_stretch: f64,
    /// Charts that would be narrower, in texels, are joined to a neighbour even at a stretch of 1.3. Default 8.
    pub min_width: f64,
    /// Whether each part between seams is one chart, however much it must be stretched; parts that are not discs are cut.
    pub keep_seams: bool,
    /// Whether borders between charts are straight lines in UV, so that levels of detail can keep a texture.
    pub straight_borders: bool,
    /// How large charts are beside each other.
    pub density: TexelDensity,
    /// Width and height of the atlas in texels. Default 2048.
    pub size: u32,
    /// Texels between charts. Default 4.
    pub padding: u32,
    /// Texels per model unit; as many as fit unless given.
    pub texels_per_unit: Option<f64>,
}

impl Default for UnwrapOptions {
    fn default() -> Self {
        Self {
            charts: None,
            max_stretch: 1.05,
            min_width: 8.0,
            keep_seams: false,
            straight_borders: false,
            density: TexelDensity::default(),
            size: 2048,
            padding: 4,
            texels_per_unit: None,
        }
    }
}

impl UnwrapOptions {
    /// Whether all values are in range.
    ///
    /// # Errors
    /// [`UnwrapError::BadOption`].
    pub fn check(&self) -> Result<(), UnwrapError> {
        let bad = |option, problem: String| Err(UnwrapError::BadOption { option, problem });
        if self.charts == Some(0) {
            return bad("charts", "expected 1 or more, found 0".to_owned());
        }
        if !(self.max_stretch >= 1.0 && self.max_stretch.is_finite()) {
            let found = self.max_stretch;
            return bad("max_stretch", format!("expected 1 or more, found {found}"));
        }
        if !(self.min_width >= 0.0 && self.min_width.is_finite()) {
            let found = self.min_width;
            return bad(
                "min_width",
                format!("expected 0 texels or more, found {found}"),
            );
        }
        if !(16..=16384).contains(&self.size) {
            let found = self.size;
            return bad(
                "size",
                format!("expected 16 to 16384 texels, found {found}"),
            );
        }
        if self.padding > self.size / 8 {
            let (most, found) = (self.size / 8, self.padding);
            return bad(
                "padding",
                format!("expected at most {most} texels, found {found}"),
            );
        }
        Ok(())
    }
}

/// How large charts are beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TexelDensity {
    /// Charts that are stretched are larger, so that texels are spread as evenly as can be over the whole surface: this
    /// has the least stretch.
    #[default]
    Even,
    /// The area of a chart in the atlas is in proportion to its area on the surface.
    ByArea,
}

impl TexelDensity {
    /// The factor for a chart that has the area of its surface, with its L2 stretch.
    ///
    /// The least stretch of all charts together is at `(E/U)^¼`, with `E = Σ A N/2D²` and the area `U` in UV, and
    /// `L2² = E U / A²`: so it is `√L2` where `U = A`.
    pub(crate) fn scale(self, l2: f64) -> f64 {
        match self {
            Self::Even if l2.is_finite() => l2.sqrt(),
            _ => 1.0,
        }
    }
}

/// A surface cannot be unwrapped as asked.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum UnwrapError {
    /// There is nothing to unwrap.
    #[error("expected triangles to unwrap, found none with three different corners")]
    NoTriangles,
    /// Lists do not belong together.
    #[error("expected {expected} {what}, found {found}")]
    CountMismatch {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An option is out of range.
    #[error("option {option}: {problem}")]
    BadOption {
        /// Name of the option.
        option: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A point, or the mean product of two edges, is not a number.
    #[error("triangle {triangle} has corners that are NaN or infinite")]
    NotFinite {
        /// The first such triangle.
        triangle: usize,
    },
    /// The charts do not fit into the atlas.
    #[error(transparent)]
    Pack(#[from] PackError),
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped,
}
