//! How far levels are from the full character in the poses that a crowd plays.

use dermis::measure::SurfaceDistance;
use dermis::run::PaletteEntry;
use glam::DVec3;

use super::CrowdError;
use super::level::CrowdLevel;
use super::moves::{Moment, Moves, evaluate};

/// Most poses that are looked at, evenly over all steps of all clips.
const MOST_POSES: usize = 32;

/// For each level but the first, the largest distance between its surface and that of the full character: of points of the
/// full one from the level, and of points of the level from the full one, so that spikes count.
pub(super) fn measured_errors(
    levels: &[CrowdLevel],
    moves: &Moves,
) -> Result<Vec<f64>, CrowdError> {
    let mut errors = vec![0.0f64; levels.len().saturating_sub(1)];
    if errors.is_empty() {
        return Ok(errors);
    }
    let mut palette = vec![PaletteEntry::default(); moves.bone_count()];
    let starts: Vec<u32> = (moves.clips.iter())
        .flat_map(|clip| clip.first..clip.first + clip.steps - 1)
        .collect();
    let count = starts.len().min(MOST_POSES);
    for k in 0..count {
        let step = starts[k * (starts.len() - 1) / (count - 1).max(1)];
        moves.palette(Moment { step, share: 0.0 }, &mut palette);
        let posed = |level: &CrowdLevel| {
            let mut positions = vec![[0.0; 3]; level.vertex_count()];
            evaluate(&level.packed, &palette, &mut positions)?;
            let points: Vec<DVec3> = positions
                .iter()
                .map(|p| DVec3::from(p.map(f64::from)))
                .collect();
            let surface = SurfaceDistance::new(&points, &level.triangles);
            Ok::<_, CrowdError>((points, surface))
        };
        let (points, surface) = posed(&levels[0])?;
        for (level, error) in levels[1..].iter().zip(&mut errors) {
            let (own, coarse) = posed(level)?;
            let distances = coarse
                .distances(&points)
                .into_iter()
                .chain(surface.distances(&own));
            *error = distances.fold(*error, f64::max);
        }
    }
    // Errors must not fall. Of levels with the same error the coarsest is drawn.
    for at in 1..errors.len() {
        errors[at] = errors[at].max(errors[at - 1]);
    }
    Ok(errors)
}
