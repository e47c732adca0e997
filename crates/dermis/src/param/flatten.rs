//! One chart laid out flat: no triangle flipped, little stretch.
//!
//! A least squares conformal map, or where that flips a convex combination map, which cannot, is the start of a
//! descent, first in the symmetric Dirichlet energy, which judges poor layouts well, then in the L2 stretch itself.
//! All work is at unit scale and on one thread; the result has the area of the surface, so that one unit in UV is one
//! model unit. Overlaps of the border are found and reported, not prevented: a chart that has them should be cut.

use glam::DVec2;

use super::descend::{DescendOptions, Energy, approach, descend};
use super::elements::{ElementSolver, Elements, Nodes, Tie};
use super::lscm::{far_pins, least_squares_conformal};
use super::overlap::{border_crossing, first_flip, winds_once};
use super::piece::{EdgeProducts, Piece, UnitMetrics};
use super::stretch::{StretchSums, worst_stretch};
use super::tutte::{TutteWeights, tutte_map};

/// How long to look for a better layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Effort {
    /// Enough to tell a nearly flat chart from others: a few rounds.
    Quick,
    /// Until nothing improves.
    #[default]
    Full,
}

/// How to flatten a chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct FlattenOptions {
    /// How long to look; default [`Effort::Full`].
    pub(crate) effort: Effort,
    /// Border vertices that stay on straight lines between two others of the border; default none, a free border. More
    /// ties, more stretch.
    pub(crate) ties: Vec<Tie>,
}

/// A chart laid out flat.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Flat {
    /// The position of every vertex, in model units: all triangles anticlockwise, total area that of the surface.
    pub(crate) uvs: Vec<DVec2>,
    /// The L2 stretch, at least 1.
    pub(crate) l2: f64,
    /// The largest stretch of a triangle after the best overall scale; triangles too thin to tell do not count.
    pub(crate) worst: f64,
    /// Two border edges that cross, each as its vertices; none if the layout does not overlap itself.
    pub(crate) overlaps: Option<[[u32; 2]; 2]>,
    /// Newton rounds taken.
    pub(crate) rounds: usize,
}

/// Why a chart has no layout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum FlattenError {
    /// There are no triangles.
    #[error("a chart without triangles")]
    Empty,
    /// The triangles do not form one disc.
    #[error(
        "the chart is not a disc: it needs one border and no handles, pinched vertices or unused vertices"
    )]
    NotADisc,
    /// Lists of the chart differ in length.
    #[error("the chart has {expected} entries of one kind and {found} of another")]
    Lengths {
        /// What the triangles or vertices call for.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// A metric is not finite or has a negative length.
    #[error("triangle {0} has no valid metric")]
    BadMetric(usize),
    /// A tie is out of range, double, off the border, or leads to a tied vertex.
    #[error("vertex {0} cannot be tied as asked")]
    BadTie(u32),
    /// A given layout has a triangle that is not anticlockwise.
    #[error("triangle {0} is flipped or flat in UV")]
    Flipped(usize),
    /// No start without flips was found: ties collapse a triangle, or areas differ beyond double precision.
    #[error("no layout without flipped triangles was found; cut the chart or tie fewer vertices")]
    NoStart,
}

/// Lays a chart out flat.
///
/// Cost: one sparse factorisation of twice as many unknowns as vertices for each Newton round, on one thread.
///
/// # Errors
/// See [`FlattenError`].
pub(crate) fn flatten(piece: &Piece, options: &FlattenOptions) -> Result<Flat, FlattenError> {
    let mut chart = Chart::new(piece, options)?;
    let conformal = chart.conformal_start();
    let start = (conformal.clone())
        .or_else(|| chart.convex_start())
        .ok_or(FlattenError::NoStart)?;
    let flat = chart.improved(start, Border::Free)?;
    if flat.overlaps.is_none() {
        return Ok(flat);
    }
    // Once more in steps that stop where the border would cross itself, from a start that does not: the conformal map
    // after a few free steps, or as it is, or a convex map.
    let few_steps = conformal.clone().map(|mut x| {
        chart.descend(&mut x, &QUICK, Border::Free);
        x
    });
    let starts = [few_steps, conformal, chart.convex_start()];
    match starts
        .into_iter()
        .flatten()
        .find(|start| !chart.crosses(start))
    {
        Some(start) => chart.improved(start, Border::Apart),
        None => Ok(flat),
    }
}

/// Lowers the stretch of a layout that somebody has made; its scale is not kept.
///
/// # Errors
/// [`FlattenError::Flipped`] if a triangle is not anticlockwise, and the errors of [`flatten`] but for
/// [`FlattenError::NoStart`].
pub(crate) fn improve(
    piece: &Piece,
    uvs: &[DVec2],
    options: &FlattenOptions,
) -> Result<Flat, FlattenError> {
    let mut chart = Chart::new(piece, options)?;
    if uvs.len() != piece.vertex_count {
        return Err(FlattenError::Lengths {
            expected: piece.vertex_count,
            found: uvs.len(),
        });
    }
    let start = chart.nodes.gather(uvs);
    if let Some(flip) = first_flip(&piece.triangles, &chart.nodes.spread(&start)) {
        return Err(FlattenError::Flipped(flip));
    }
    let border = match chart.crosses(&start) {
        true => Border::Free,
        false => Border::Apart,
    };
    chart.improved(start, border)
}

/// What the border may do on the way down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Border {
    /// Cross itself, which is found at the end.
    Free,
    /// Never cross itself.
    Apart,
}

/// What all attempts at one chart share.
struct Chart<'a> {
    piece: &'a Piece,
    options: &'a FlattenOptions,
    border: Vec<u32>,
    unit: UnitMetrics,
    nodes: Nodes,
    elements: Elements,
    solver: ElementSolver,
}

impl<'a> Chart<'a> {
    fn new(piece: &'a Piece, options: &'a FlattenOptions) -> Result<Self, FlattenError> {
        if piece.triangles.is_empty() {
            return Err(FlattenError::Empty);
        }
        if piece.metrics.len() != piece.triangles.len() {
            return Err(FlattenError::Lengths {
                expected: piece.triangles.len(),
                found: piece.metrics.len(),
            });
        }
        let valid = |metric: &EdgeProducts| {
            metric.ee >= 0.0
                && metric.ff >= 0.0
                && (metric.ee + metric.ff).is_finite()
                && metric.ef.is_finite()
        };
        if let Some(bad) = piece.metrics.iter().position(|metric| !valid(metric)) {
            return Err(FlattenError::BadMetric(bad));
        }
        let border = piece.border_loop().ok_or(FlattenError::NotADisc)?;
        let nodes = Nodes::new(piece.vertex_count, &options.ties).map_err(FlattenError::BadTie)?;
        let mut on_border = vec![false; piece.vertex_count];
        for &vertex in &border {
            on_border[vertex as usize] = true;
        }
        for tie in &options.ties {
            if [tie.vertex, tie.from, tie.to]
                .iter()
                .any(|&v| !on_border[v as usize])
            {
                return Err(FlattenError::BadTie(tie.vertex));
            }
        }
        let unit = piece.unit_metrics();
        let elements = Elements::new(&piece.triangles, &unit.metrics, &nodes);
        Ok(Self {
            piece,
            options,
            border,
            unit,
            nodes,
            elements,
            solver: ElementSolver::default(),
        })
    }

    /// The least squares conformal map, unless it flips or winds twice about a vertex, which no descent undoes.
    fn conformal_start(&mut self) -> Option<Vec<DVec2>> {
        let triangles = &self.piece.triangles;
        let pins = far_pins(triangles, &self.unit.metrics, &self.border, &self.nodes)?;
        let x = least_squares_conformal(&self.elements, pins, &mut self.solver).ok()?;
        let uvs = self.nodes.spread(&x);
        let good =
            first_flip(triangles, &uvs).is_none() && winds_once(triangles, &self.border, &uvs);
        good.then_some(x)
    }

    /// A map to a convex polygon, unless rounding flips it.
    fn convex_start(&self) -> Option<Vec<DVec2>> {
        let triangles = &self.piece.triangles;
        [TutteWeights::Cotangents, TutteWeights::Equal]
            .into_iter()
            .find_map(|weights| {
                let uvs = tutte_map(
                    triangles,
                    &self.unit.metrics,
                    &self.border,
                    &self.options.ties,
                    self.piece.vertex_count,
                    weights,
                )
                .ok()?;
                let x = self.nodes.gather(&uvs);
                let uvs = self.nodes.spread(&x);
                first_flip(triangles, &uvs).is_none().then_some(x)
            })
    }

    /// Whether the border crosses itself.
    fn crosses(&self, x: &[DVec2]) -> bool {
        border_crossing(&self.border, &self.nodes.spread(x)).is_some()
    }

    /// Descends from a start without flips; returns how many rounds it took.
    fn descend(&mut self, x: &mut Vec<DVec2>, schedule: &Schedule, border: Border) -> usize {
        let (elements, nodes, ring) = (&self.elements, &self.nodes, &self.border);
        let allowed = |x: &[DVec2]| {
            border == Border::Free || border_crossing(ring, &nodes.spread(x)).is_none()
        };
        let solver = &mut self.solver;
        let mut rounds = approach(elements, x, schedule.approach, &allowed, solver);
        for (energy, options) in &schedule.stages {
            rounds += descend(elements, x, *energy, options, &allowed, solver).rounds;
        }
        rounds
    }

    /// Descends from a start without flips and measures the result.
    fn improved(&mut self, mut x: Vec<DVec2>, border: Border) -> Result<Flat, FlattenError> {
        let schedule = match self.options.effort {
            Effort::Quick => &QUICK,
            Effort::Full => &FULL,
        };
        let rounds = self.descend(&mut x, schedule, border);
        self.measured(&x, rounds)
    }

    fn measured(&self, x: &[DVec2], rounds: usize) -> Result<Flat, FlattenError> {
        let Piece {
            triangles, metrics, ..
        } = self.piece;
        let unit_sums = StretchSums::new(triangles, &self.unit.metrics, &self.nodes.spread(x));
        let area = self.piece.area();
        let wanted = if area > 0.0 {
            area
        } else {
            unit_sums.area * self.unit.length * self.unit.length
        };
        let scale = (wanted / unit_sums.uv_area).sqrt();
        let middle = x.iter().sum::<DVec2>() / x.len() as f64;
        let scaled: Vec<DVec2> = x.iter().map(|&p| scale * (p - middle)).collect();
        let uvs = self.nodes.spread(&scaled);
        if let Some(flip) = first_flip(triangles, &uvs) {
            return Err(FlattenError::Flipped(flip));
        }
        let (worst, _) = worst_stretch(triangles, metrics, &uvs, |k| self.unit.thin[k]);
        let border = &self.border;
        let edge = |at: usize| [border[at], border[(at + 1) % border.len()]];
        Ok(Flat {
            l2: StretchSums::new(triangles, metrics, &uvs).l2(),
            worst,
            overlaps: border_crossing(border, &uvs).map(|(a, b)| [edge(a), edge(b)]),
            rounds,
            uvs,
        })
    }
}

/// How many rounds of what.
struct Schedule {
    approach: usize,
    stages: [(Energy, DescendOptions); 2],
}

/// A few rounds tell whether a chart is nearly flat.
const QUICK: Schedule = Schedule {
    approach: 3,
    stages: [
        (
            Energy::SymmetricDirichlet,
            DescendOptions {
                rounds: 2,
                tolerance: 5e-3,
            },
        ),
        (
            Energy::L2Stretch,
            DescendOptions {
                rounds: 1,
                tolerance: 5e-3,
            },
        ),
    ],
};

/// The first stage need not converge: the second has another minimum.
const FULL: Schedule = Schedule {
    approach: 80,
    stages: [
        (
            Energy::SymmetricDirichlet,
            DescendOptions {
                rounds: 60,
                tolerance: 1e-2,
            },
        ),
        (
            Energy::L2Stretch,
            DescendOptions {
                rounds: 60,
                tolerance: 1e-6,
            },
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::shapes;

    fn full(piece: &Piece) -> Flat {
        let flat = flatten(piece, &FlattenOptions::default()).expect("a disc");
        assert_eq!(first_flip(&piece.triangles, &flat.uvs), None, "no flips");
        flat
    }

    /// From a convex map, whatever the conformal one is like.
    fn from_convex(piece: &Piece) -> Flat {
        let options = FlattenOptions::default();
        let mut chart = Chart::new(piece, &options).expect("a disc");
        let start = chart.convex_start().expect("a start");
        chart.improved(start, Border::Free).expect("no flips")
    }

    #[test]
    fn developable_charts_become_flat_without_stretch() {
        let shapes = [
            ("strip", shapes::strip(60, 2, 30.0, 1.0)),
            ("cylinder", shapes::cut_cylinder(32, 12)),
            ("ell", shapes::ell(6)),
        ];
        for (name, piece) in shapes {
            for flat in [full(&piece), from_convex(&piece)] {
                assert!(
                    (flat.l2 - 1.0).abs() < 1e-6,
                    "{name}: {} after {}",
                    flat.l2,
                    flat.rounds
                );
                assert!((flat.worst - 1.0).abs() < 1e-4, "{name}: {}", flat.worst);
                assert_eq!(flat.overlaps, None, "{name}");
            }
        }
    }

    #[test]
    fn a_hemisphere_comes_near_its_best_and_quick_near_full() {
        let piece = shapes::hemisphere(16);
        let flat = full(&piece);
        assert!(flat.l2 < 1.022, "{}", flat.l2);
        assert_eq!(flat.overlaps, None, "a disc");
        let quick = flatten(
            &piece,
            &FlattenOptions {
                effort: Effort::Quick,
                ..Default::default()
            },
        )
        .expect("a disc");
        assert!(quick.l2 >= flat.l2 - 1e-9, "full is no worse");
        assert!(quick.l2 - flat.l2 < 2e-3, "{} {}", quick.l2, flat.l2);
        let uv_area = StretchSums::new(&piece.triangles, &piece.metrics, &flat.uvs).uv_area;
        assert!((uv_area / piece.area() - 1.0).abs() < 1e-12, "same area");
    }

    #[test]
    fn a_convex_start_ends_where_a_conformal_one_does() {
        for piece in [shapes::hemisphere(10), shapes::sock(12, 1.0)] {
            let (a, b) = (full(&piece).l2, from_convex(&piece).l2);
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }

    #[test]
    fn a_deep_sock_is_laid_out_however_bad_its_start() {
        let flat = full(&shapes::sock(20, 6.0));
        assert!(flat.l2 < 1.6, "{}", flat.l2);
    }

    #[test]
    fn triangles_without_area_end_with_some() {
        let flat = full(&shapes::with_waste());
        assert!(flat.l2 < 1.01, "{}", flat.l2);
        assert!(flat.worst < 1.1, "{}", flat.worst);
        let none = shapes::piece_of(&[glam::DVec3::ONE; 9], shapes::grid(2, 2));
        full(&none);
        let line: Vec<glam::DVec3> = (0..9).map(|k| f64::from(k) * glam::DVec3::X).collect();
        full(&shapes::piece_of(&line, shapes::grid(2, 2)));
    }

    #[test]
    fn slivers_of_one_to_ten_thousand_are_laid_out() {
        // A fan of needles, and a strip of them bent round a cylinder.
        let needles = shapes::strip(40, 1, 40.0, 1e4);
        let flat = full(&needles);
        assert!((flat.l2 - 1.0).abs() < 1e-6, "flat: {}", flat.l2);
        let points = shapes::grid_points(200, 3, |s, t| {
            DVec2::from_angle(3.0 * s).extend(if t < 0.5 { 1e-4 * t } else { t })
        });
        let bent = full(&shapes::piece_of(&points, shapes::grid(200, 3)));
        assert!((bent.l2 - 1.0).abs() < 1e-6, "developable: {}", bent.l2);
    }

    #[test]
    fn random_discs_never_flip() {
        for seed in 0..60 {
            let size = 3 + (seed % 9) as u32;
            let piece = shapes::bumpy(seed, size, 0.2 * seed as f64);
            let flat = full(&piece);
            assert!(flat.l2 >= 1.0 - 1e-12, "seed {seed}: {}", flat.l2);
            let convex = from_convex(&piece);
            assert_eq!(
                first_flip(&piece.triangles, &convex.uvs),
                None,
                "seed {seed}"
            );
        }
    }

    #[test]
    fn scale_does_not_matter_and_runs_repeat() {
        let mut piece = shapes::bumpy(7, 8, 1.0);
        let flat = full(&piece);
        assert_eq!(full(&piece), flat, "same bits");
        let factor = 1e-6_f64;
        for metric in &mut piece.metrics {
            *metric = metric.scaled(factor * factor);
        }
        let small = full(&piece);
        for (a, b) in flat.uvs.iter().zip(&small.uvs) {
            assert!((*a * factor).distance(*b) < 1e-6 * factor, "{a} {b}");
        }
    }

    #[test]
    fn p6_tied_borders_stay_straight() {
        let (piece, ties) = shapes::tied_square(12);
        let options = FlattenOptions {
            ties: ties.clone(),
            ..Default::default()
        };
        let flat = flatten(&piece, &options).expect("a disc");
        assert_eq!(first_flip(&piece.triangles, &flat.uvs), None, "no flips");
        for tie in &ties {
            let [vertex, from, to] =
                [tie.vertex, tie.from, tie.to].map(|vertex| flat.uvs[vertex as usize]);
            assert!(vertex.distance(from.lerp(to, tie.share)) < 1e-12, "{tie:?}");
        }
        let free = full(&piece);
        assert!(
            free.l2 < flat.l2 && flat.l2 < 1.2,
            "{} {}",
            free.l2,
            flat.l2
        );
        let mut chart = Chart::new(&piece, &options).expect("a disc");
        let start = chart.convex_start().expect("a start");
        let convex = chart.improved(start, Border::Free).expect("no flips");
        assert!(
            (convex.l2 - flat.l2).abs() < 1e-4,
            "{} {}",
            convex.l2,
            flat.l2
        );
    }

    #[test]
    fn given_uvs_are_improved_or_refused() {
        let piece = shapes::bumpy(11, 10, 0.8);
        let uvs = shapes::grid_uvs(10);
        let before = StretchSums::new(&piece.triangles, &piece.metrics, &uvs).l2();
        let flat = improve(&piece, &uvs, &FlattenOptions::default()).expect("no flips");
        assert!(flat.l2 < before, "{} {before}", flat.l2);
        let mut flipped = uvs;
        flipped[60] = flipped[0];
        let error = improve(&piece, &flipped, &FlattenOptions::default()).err();
        assert!(matches!(error, Some(FlattenError::Flipped(_))), "{error:?}");
        let error = improve(&piece, &[], &FlattenOptions::default()).err();
        assert!(
            matches!(error, Some(FlattenError::Lengths { .. })),
            "{error:?}"
        );
    }

    /// A flat ring of one and a half turns: no flips and no stretch, yet it lies on itself.
    #[test]
    fn an_overlap_is_found_and_stretched_apart() {
        let spiral = shapes::cut_cylinder(48, 2);
        let points = shapes::grid_points(48, 2, |s, t| {
            (DVec2::from_angle(9.4 * s) * (2.0 - t)).extend(0.0)
        });
        let ring = shapes::piece_of(&points, spiral.triangles);
        let options = FlattenOptions::default();
        let mut chart = Chart::new(&ring, &options).expect("a disc");
        let start = chart.convex_start().expect("a start");
        let free = chart.improved(start, Border::Free).expect("no flips");
        assert!((free.l2 - 1.0).abs() < 1e-6, "{}", free.l2);
        let [[a, b], [c, d]] = free.overlaps.expect("it overlaps");
        let at = |vertex: u32| free.uvs[vertex as usize];
        let bounds = at(a).distance(at(c)) < 4.0 * (at(a).distance(at(b)) + at(c).distance(at(d)));
        assert!(bounds, "the two edges are at one place");
        let flat = full(&ring);
        assert_eq!(flat.overlaps, None, "no overlap in the end");
        assert!(flat.l2 > 1.001, "at the price of stretch: {}", flat.l2);
    }

    #[test]
    fn bad_input_is_refused() {
        let options = FlattenOptions::default();
        let error = |piece: &Piece| flatten(piece, &options).err();
        assert_eq!(error(&Piece::default()), Some(FlattenError::Empty), "empty");
        let mut piece = shapes::strip(2, 2, 1.0, 1.0);
        piece.metrics[3].ef = f64::NAN;
        assert_eq!(error(&piece), Some(FlattenError::BadMetric(3)), "NaN");
        piece.metrics.pop();
        assert!(
            matches!(error(&piece), Some(FlattenError::Lengths { .. })),
            "lengths"
        );
        let mut two = shapes::strip(2, 2, 1.0, 1.0);
        two.vertex_count += 1;
        assert_eq!(error(&two), Some(FlattenError::NotADisc), "a loose vertex");
        let tie = Tie {
            vertex: 4,
            from: 0,
            to: 2,
            share: 0.5,
        };
        let tied = FlattenOptions {
            ties: vec![tie],
            ..Default::default()
        };
        let piece = shapes::strip(2, 2, 1.0, 1.0);
        let error = flatten(&piece, &tied).err();
        assert_eq!(error, Some(FlattenError::BadTie(4)), "not on the border");
        // Corner 1 of the triangle 0 1 2 tied to the line 0 2: no area is left for it.
        let collapsing = FlattenOptions {
            ties: vec![Tie { vertex: 1, ..tie }; 1],
            ..Default::default()
        };
        let corners = [
            glam::DVec3::ZERO,
            glam::DVec3::X,
            glam::DVec3::ONE,
            glam::DVec3::Y,
        ];
        let square = shapes::piece_of(&corners, vec![[0, 1, 2], [0, 2, 3]]);
        let error = flatten(&square, &collapsing).err();
        assert_eq!(error, Some(FlattenError::NoStart), "a collapsed triangle");
    }
}
