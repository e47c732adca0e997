//! From one level to the next without a jump: both are posed, and the finer one's vertices move over.

use super::RunError;

/// Which vertex of a coarser level each vertex of a finer one becomes.
///
/// While a change of level lasts, pose both and blend; nothing is allocated. Draw the finer one's triangles. At 1 they lie on
/// those of the coarser level, which can be drawn instead. For skins whose positions are linear in the bones' matrices (linear
/// blend, animation space, multi-weight) the result is exactly that of a skin in between
/// ([`lod::geomorph`](crate::lod::geomorph)), in every pose; for dual quaternions there is no such skin, and positions are
/// blended all the same.
///
/// ```
/// use dermis::run::Geomorph;
///
/// // Two vertices that become one.
/// let morph = Geomorph::new(vec![0, 0], 1)?;
/// let mut fine = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
/// morph.blend(0.5, &[[1.0, 1.0, 0.0]], &mut fine)?;
/// assert_eq!(fine, [[0.5, 0.5, 0.0], [1.5, 0.5, 0.0]]);
/// # Ok::<(), dermis::run::RunError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Geomorph {
    becomes: Vec<u32>,
    coarse_count: usize,
}

impl Geomorph {
    /// `becomes` has a vertex of the coarser level, below `coarse_count`, for each vertex of the finer one: points as in
    /// [`Level::becomes`](crate::document::Level::becomes) and [`Progressive::becomes`](crate::lod::Progressive::becomes), or
    /// drawn vertices.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`] when a vertex becomes one that the coarser level does not have.
    pub fn new(becomes: Vec<u32>, coarse_count: usize) -> Result<Self, RunError> {
        let most = becomes.iter().max().map_or(0, |&v| v as usize + 1);
        if most > coarse_count {
            RunError::check_count("vertices of the coarser level at least", most, coarse_count)?;
        }
        Ok(Self {
            becomes,
            coarse_count,
        })
    }

    /// How many vertices the finer level has.
    pub fn vertex_count(&self) -> usize {
        self.becomes.len()
    }

    /// Moves positions of the finer level to `t` of the way, 0 to 1, towards those of the coarser one; other numbers of
    /// vertices, such as UVs, as well.
    ///
    /// # Errors
    /// [`RunError::CountMismatch`].
    pub fn blend<const N: usize>(
        &self,
        t: f32,
        coarse: &[[f32; N]],
        fine: &mut [[f32; N]],
    ) -> Result<(), RunError> {
        RunError::check_count(
            "vertices of the finer level",
            self.becomes.len(),
            fine.len(),
        )?;
        let expected = self.coarse_count;
        RunError::check_count("vertices of the coarser level", expected, coarse.len())?;
        for (own, &goal) in fine.iter_mut().zip(&self.becomes) {
            let goal = &coarse[goal as usize];
            for (x, y) in own.iter_mut().zip(goal) {
                *x = (1.0 - t) * *x + t * y;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_other_levels_are_refused() {
        assert!(
            Geomorph::new(vec![0, 2], 2).is_err(),
            "there is no vertex 2"
        );
        let morph = Geomorph::new(vec![0, 1, 1], 2).expect("two vertices");
        let coarse = [[0.0; 3]; 2];
        assert!(
            morph.blend(0.5, &coarse, &mut [[0.0; 3]; 2]).is_err(),
            "two of three"
        );
        assert!(
            morph.blend(0.5, &coarse[..1], &mut [[0.0; 3]; 3]).is_err(),
            "one of two"
        );
    }
}
