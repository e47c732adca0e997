//! The reduced form: few proxy bones for many vertices, few predicted patches for many triangles.

use std::collections::BTreeSet;

use glam::{DAffine3, DMat3, DVec3};

use super::blend::{Blend, Keys, Weights};
use super::cluster::{Joins, Shapes, bounded_inverse};
use super::compile::Assembly;
use super::prune::{self, Pruning};
use super::readings::Readings;
use super::regress::{PatchMotion, fit_patch};
use super::{Base, GIVE_BACK_ROUNDS, ProxyCount, RotationalOptions, rms, vertex_errors};
use crate::fit::{FitError, Fitted, bad_option};
use crate::measure::positive_or_one;
use crate::mesh::triangle_frame;
use crate::par;
use crate::progress::{Progress, Stage};
use crate::rig::{BoneId, PatchPredictor, ProxyBones};
use crate::skin::{Rows, Skin, SkinError, SsdProgram, VertexProgram, Weight};

/// Rounds of weights and motions of patches in turn.
const ROUNDS: usize = 3;

pub(super) fn fit(
    base: &Base<'_>,
    options: &RotationalOptions,
    progress: &dyn Progress,
) -> Result<Fitted, FitError> {
    let free = base.free_triangles();
    let plain = |round_errors: Vec<f64>| -> Result<Fitted, FitError> {
        let program = VertexProgram::Ssd(base.ssd.clone());
        Ok(Fitted {
            skin: Skin::new(base.set.skeleton().clone(), program, Vec::new())?,
            round_errors,
            smoothing: None,
            base: None,
        })
    };
    if free.is_empty() {
        return plain(vec![base.rms()]);
    }
    let shapes = Shapes {
        triangles: base.set.rest().triangles(),
        shapes: base.shapes(),
    };
    if !progress.report("joining triangles", 0, 1) {
        return Err(FitError::Stopped);
    }
    let least = options.proxies.least(base.set.rest().vertex_count());
    let joins = Joins::new(&shapes, free, least);
    let proxies = match options.proxies {
        ProxyCount::TargetError(error) => {
            let squared = 3.0 * (error / 1000.0 * base.set.unit_ball_radius()).powi(2);
            fewest(base, &joins, squared.sqrt(), options, progress)?
        }
        _ => Proxies::solve(base, &joins, least, options, progress)?,
    };
    let readings = Readings::new(base.set, base.training);
    let stage = Stage::new(progress, "fitting turns", proxies.count);
    let shapes = base.shapes();
    let patches = par::map(proxies.count, |l| match proxies.alone[l] {
        Some(triangle) => base.triangle_patch(&readings, &shapes, triangle as usize),
        None => proxies.patch(base, l),
    });
    let predictors = par::map(proxies.count, |l| {
        stage.step();
        fit_patch(&readings, &patches[l])
    });
    let middle = |patch: &PatchMotion| patch.motions[0].translation;
    let middles = patches.iter().map(middle).collect();
    let radii = patches.iter().map(|patch| patch.radius).collect();
    if stage.is_stopped() {
        return Err(FitError::Stopped);
    }
    let parts = Parts {
        base,
        triangles: proxies.own_gradients(base, &joins),
        proxies: &proxies,
        middles,
        radii,
        readings,
        predictors,
        place_weight: options.place_weight,
        smallest_share: options.smallest_share,
    };
    let mut weights: Weights = (proxies.weights.iter().zip(&base.is_held))
        .map(|(row, held)| row.iter().copied().filter(|_| !held).collect::<Vec<_>>())
        .collect();
    let mut skin = parts.assemble(&weights)?;
    let errors_of =
        |skin: &Skin| vertex_errors(|pose| Ok(skin.evaluate(pose)?), base.set, base.training);
    let mut errors = errors_of(&skin)?;
    for _ in 0..GIVE_BACK_ROUNDS {
        let mut given_back = 0;
        let mut kept = Rows::default();
        for (i, row) in weights.iter().enumerate() {
            let give_back = !row.is_empty() && base.errors[i] <= errors[i];
            given_back += usize::from(give_back);
            kept.push_row(row.iter().copied().filter(|_| !give_back));
        }
        if given_back == 0 {
            break;
        }
        weights = kept;
        if weights.items().is_empty() {
            return plain(vec![base.rms()]);
        }
        skin = parts.assemble(&weights)?;
        errors = errors_of(&skin)?;
    }
    Ok(Fitted {
        skin,
        round_errors: vec![base.rms(), proxies.rms, rms(&errors)],
        smoothing: None,
        base: None,
    })
}

/// Proxies with their best motions in the training examples.
struct Proxies {
    count: usize,
    /// By vertex; empty for those of no triangle with a free corner.
    weights: Weights,
    motions: Keys,
    /// The triangle of each proxy that has only one.
    alone: Vec<Option<u32>>,
    /// Root-mean-square error over all vertices, held ones as linear blend skinning has them.
    rms: f64,
}

/// A search for an error ends where twice as many proxies leave more than this share of it: the error of held
/// vertices, and of vertices that a few influences cannot blend, does not fall.
const STALLED: f64 = 0.95;
/// But not below this count, where two of the first patches may be no better than one.
const STALLED_COUNT: usize = 16;
/// How much the direction of the skin counts beside the place of a vertex.
const DIRECTION: f64 = 0.1;

impl Proxies {
    fn solve(
        base: &Base<'_>,
        joins: &Joins,
        count: usize,
        options: &RotationalOptions,
        progress: &dyn Progress,
    ) -> Result<Self, FitError> {
        let groups = joins.groups(count);
        let count = 1 + groups.iter().map(|(_, g)| *g).max().unwrap_or(0) as usize;
        if count > super::options::MOST_PROXIES {
            // Keys are numbered in 16 bits.
            let most = super::options::MOST_PROXIES;
            let problem =
                format!("the triangles make {count} patches, but at most {most} are possible");
            return bad_option("proxy-bones", problem);
        }
        let (own, allowed) = groups_of_vertices(base, &groups, joins.links(), count);
        let example_count = base.training.len();
        let points: Vec<Vec<[DVec3; 2]>> = par::map(example_count + 1, |k| {
            let shape = base.shapes()[k];
            let directions = directions(shape, base.set.rest().triangles());
            shape.iter().zip(directions).map(|(p, d)| [*p, d]).collect()
        });
        let blend = Blend {
            inputs: (points[0].iter())
                .map(|[p, d]| [p.extend(1.0).to_array(), d.extend(0.0).to_array()])
                .collect(),
            targets: (0..own.len())
                .map(|i| match own.row(i).is_empty() {
                    true => Vec::new(),
                    false => points[1..].iter().flat_map(|shape| shape[i]).collect(),
                })
                .collect(),
            allowed,
            example_count,
            max_influences: options.max_influences,
        };
        let start = group_motions(base, &groups, count);
        let (weights, motions) = blend.solve(start, ROUNDS, progress, "proxy bones")?;
        let mut proxies = Self {
            count,
            weights,
            motions,
            alone: alone(&groups, count),
            rms: 0.0,
        };
        let squared: f64 = (0..own.len())
            .map(|i| match base.is_held[i] || own.row(i).is_empty() {
                true => base.errors[i].powi(2) * example_count as f64,
                false => (0..example_count)
                    .map(|k| {
                        proxies
                            .blended(base, k, i)
                            .distance_squared(points[k + 1][i][0])
                    })
                    .sum(),
            })
            .sum();
        proxies.rms = (squared / (own.len() * example_count).max(1) as f64).sqrt();
        Ok(proxies)
    }

    fn affine(&self, example: usize, proxy: usize) -> DAffine3 {
        let rows = self.motions.get(example, proxy);
        let column = |c: usize| DVec3::new(rows[0][c], rows[1][c], rows[2][c]);
        DAffine3 {
            matrix3: DMat3::from_cols(column(0), column(1), column(2)),
            translation: column(3),
        }
    }

    /// Where a vertex is when the proxies have their best motions.
    fn blended(&self, base: &Base<'_>, example: usize, vertex: usize) -> DVec3 {
        let rest = base.set.rest().positions()[vertex];
        let terms = self.weights.row(vertex).iter();
        let moved = |&(proxy, weight): &(u16, f64)| {
            weight
                * self
                    .affine(example, usize::from(proxy))
                    .transform_point3(rest)
        };
        terms.map(moved).sum()
    }

    /// How the patch of a proxy moves.
    fn patch(&self, base: &Base<'_>, proxy: usize) -> PatchMotion {
        let points = base.set.rest().positions();
        let weight_of = |row: &[(u16, f64)]| {
            let own = row.iter().find(|(p, _)| usize::from(*p) == proxy);
            own.map(|(_, weight)| *weight)
        };
        let vertices: Vec<(usize, f64)> = (self.weights.iter().enumerate())
            .filter_map(|(i, row)| Some((i, weight_of(row)?)))
            .collect();
        let total = positive_or_one(vertices.iter().map(|(_, w)| w).sum());
        let middle = vertices.iter().map(|&(i, w)| points[i] * w).sum::<DVec3>() / total;
        let squared = vertices
            .iter()
            .map(|&(i, w)| w * points[i].distance_squared(middle));
        let radius = (squared.sum::<f64>() / total).sqrt();
        let centered = |k: usize| {
            let affine = self.affine(k, proxy);
            DAffine3 {
                matrix3: affine.matrix3,
                translation: affine.transform_point3(middle),
            }
        };
        let posed = (0..base.training.len()).map(centered);
        PatchMotion {
            motions: std::iter::once(DAffine3::from_translation(middle))
                .chain(posed)
                .collect(),
            radius,
            bones: base.mean_bones(vertices.into_iter()),
        }
    }

    /// Every triangle with a free corner; and its own patch, where the patch's gradient fits the training
    /// examples' edges better than the blend of motions.
    fn own_gradients(&self, base: &Base<'_>, joins: &Joins) -> Vec<([u32; 3], Option<u16>)> {
        let shapes = base.shapes();
        let groups = joins.groups(self.count);
        par::map(groups.len(), |n| {
            let (triangle, group) = groups[n];
            let corners = base.set.rest().triangles()[triangle as usize];
            let [a, b, c] = corners.map(|i| i as usize);
            let (mut blend, mut own) = (0.0, 0.0);
            for (k, shape) in shapes[1..].iter().enumerate() {
                let gradient = self.affine(k, group as usize).matrix3;
                let [pa, pb, pc] = [a, b, c].map(|i| self.blended(base, k, i));
                for (p, q, along) in [(a, b, pb - pa), (b, c, pc - pb), (c, a, pa - pc)] {
                    let truth = shape[q] - shape[p];
                    let rest = shapes[0][q] - shapes[0][p];
                    blend += along.distance_squared(truth);
                    own += (gradient * rest).distance_squared(truth);
                }
            }
            // A patch of one triangle is that triangle, and exact.
            let is_alone = self.alone[group as usize].is_some();
            (corners, (is_alone || own <= blend).then_some(group as u16))
        })
    }
}

/// The triangle of each group that has only one.
fn alone(groups: &[(u32, u32)], count: usize) -> Vec<Option<u32>> {
    let mut members = vec![(0, 0); count];
    for &(triangle, group) in groups {
        let (size, last) = &mut members[group as usize];
        (*size, *last) = (*size + 1, triangle);
    }
    let only = |(size, last): (u32, u32)| (size == 1).then_some(last);
    members.into_iter().map(only).collect()
}

/// The affine motions that best fit each group's corners and the tips of its normals, in every training
/// example.
fn group_motions(base: &Base<'_>, groups: &[(u32, u32)], count: usize) -> Keys {
    let mut members = vec![Vec::new(); count];
    for &(triangle, group) in groups {
        members[group as usize].push(triangle);
    }
    let shapes = base.shapes();
    let points = |shape: &[DVec3], triangle: u32| {
        let corners = base.set.rest().triangles()[triangle as usize];
        let [a, b, c] = corners.map(|i| shape[i as usize]);
        [a, b, c, a + triangle_frame([a, b, c]).z_axis]
    };
    let of_groups: Vec<Vec<[[f64; 4]; 3]>> = par::map(count, |group| {
        let mean = |shape: &[DVec3]| {
            let all = members[group].iter().flat_map(|&t| points(shape, t));
            all.sum::<DVec3>() / (4 * members[group].len()) as f64
        };
        let rest_mean = mean(shapes[0]);
        let outer = |y: DVec3, x: DVec3| DMat3::from_cols(y * x.x, y * x.y, y * x.z);
        let moments = |shape: &[DVec3], mean: DVec3| {
            let mut sum = DMat3::ZERO;
            for &t in &members[group] {
                for (y, x) in points(shape, t).into_iter().zip(points(shapes[0], t)) {
                    sum += outer(y - mean, x - rest_mean);
                }
            }
            sum
        };
        let inverse = bounded_inverse(moments(shapes[0], rest_mean));
        let motion = |shape: &&[DVec3]| {
            let mean = mean(shape);
            let linear = moments(shape, mean) * inverse;
            let translation = mean - linear * rest_mean;
            let rows = linear.transpose().to_cols_array_2d();
            std::array::from_fn(|r| {
                let [x, y, z] = rows[r];
                [x, y, z, translation[r]]
            })
        };
        shapes[1..].iter().map(motion).collect()
    });
    Keys {
        count,
        rows: (0..base.training.len())
            .flat_map(|k| of_groups.iter().map(move |motions| motions[k]))
            .collect(),
    }
}

/// The direction of the skin at every vertex, as long as its triangles are wide: the mean of their normals.
fn directions(shape: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut sums = vec![(DVec3::ZERO, 0.0); shape.len()];
    for corners in triangles {
        let normal = triangle_frame(corners.map(|i| shape[i as usize])).z_axis;
        for &i in corners {
            let (sum, count) = &mut sums[i as usize];
            *sum += normal;
            *count += 1.0;
        }
    }
    let mean = |(sum, count): (DVec3, f64)| sum * (DIRECTION / positive_or_one(count));
    sums.into_iter().map(mean).collect()
}

/// The fewest proxies that reach an error on the examples, in model units: the error falls with the count, so
/// the interval is halved. Where the error hardly falls any more, the count before that is returned.
fn fewest(
    base: &Base<'_>,
    joins: &Joins,
    error: f64,
    options: &RotationalOptions,
    progress: &dyn Progress,
) -> Result<Proxies, FitError> {
    let (mut low, mut high) = (1, 1);
    let mut best = Proxies::solve(base, joins, high, options, progress)?;
    while best.rms > error && high < super::options::MOST_PROXIES {
        low = high;
        high = (2 * high).min(super::options::MOST_PROXIES);
        let next = Proxies::solve(base, joins, high, options, progress)?;
        let has_stalled = low >= STALLED_COUNT && next.rms > STALLED * best.rms;
        if has_stalled && next.rms > error {
            break;
        }
        let is_all = next.count < high;
        best = next;
        if is_all {
            break;
        }
    }
    while high - low > 1 + low / 32 && best.rms <= error {
        let middle = low.midpoint(high);
        let trial = Proxies::solve(base, joins, middle, options, progress)?;
        match trial.rms <= error {
            true => (best, high) = (trial, middle),
            false => low = middle,
        }
    }
    Ok(best)
}

/// For every free vertex the groups of its triangles, and those together with their neighbours: groups that share a
/// vertex, or have triangles that are linked.
fn groups_of_vertices(
    base: &Base<'_>,
    groups: &[(u32, u32)],
    links: &[(u32, u32)],
    count: usize,
) -> (Rows<u16>, Rows<u16>) {
    let vertex_count = base.is_held.len();
    let mut own = vec![BTreeSet::new(); vertex_count];
    for &(triangle, group) in groups {
        for vertex in base.set.rest().triangles()[triangle as usize] {
            own[vertex as usize].insert(group as u16);
        }
    }
    let mut near = vec![BTreeSet::new(); count];
    for groups in &own {
        for &a in groups {
            near[usize::from(a)].extend(groups.iter().copied().filter(|&b| b != a));
        }
    }
    for &(p, q) in links {
        let [a, b] = [p, q].map(|place| groups[place as usize].1 as u16);
        if a != b {
            near[usize::from(a)].insert(b);
            near[usize::from(b)].insert(a);
        }
    }
    let mut rows = (Rows::default(), Rows::default());
    for groups in &own {
        rows.0.push_row(groups.iter().copied());
        let all: BTreeSet<u16> = groups
            .iter()
            .flat_map(|&g| near[usize::from(g)].iter().copied().chain([g]))
            .collect();
        rows.1.push_row(all);
    }
    rows
}

/// Everything that a skin is made of, except the vertices that follow proxies.
struct Parts<'a> {
    base: &'a Base<'a>,
    proxies: &'a Proxies,
    triangles: Vec<([u32; 3], Option<u16>)>,
    middles: Vec<DVec3>,
    /// How far the points of each patch are from its middle.
    radii: Vec<f64>,
    readings: Readings,
    predictors: Vec<PatchPredictor>,
    place_weight: f64,
    smallest_share: f64,
}

impl Parts<'_> {
    /// The skin, given the weights over proxies of the vertices that follow them.
    fn assemble(&self, weights: &Weights) -> Result<Skin, FitError> {
        let base = self.base;
        let rest = base.set.rest().positions();
        let (patch_of_proxy, weights) = proxies_in_use(weights, &self.middles);
        let mut compiled = Assembly {
            skeleton: base.set.skeleton(),
            rest,
            triangles: &self.triangles,
            middles: &self.middles,
            patch_weights: &self.proxies.weights,
            proxy_weights: &weights,
            patch_of_proxy: &patch_of_proxy,
            held_weights: &base.ssd.weights,
            place_weight: self.place_weight,
        }
        .compile()?;
        let diagonal = base.set.size();
        let rest_of_source = |bone: &BoneId| {
            let bone = &base.set.skeleton().bones()[bone.index()];
            bone.bone_from_rest.inverse()
        };
        Pruning {
            middles: &self.middles,
            radii: &self.radii,
            patch_of_proxy: &patch_of_proxy,
            rest_of_source: &compiled
                .sources
                .iter()
                .map(rest_of_source)
                .collect::<Vec<_>>(),
            reach: diagonal,
            tolerance: self.smallest_share * diagonal,
        }
        .apply(&mut compiled);
        let middle = |&patch: &u16| self.middles[usize::from(patch)];
        let centers: Vec<DVec3> = patch_of_proxy.iter().map(middle).collect();
        let extended = ProxyBones::extend_skeleton(base.set.skeleton(), &centers);
        let (skeleton, bones) = extended.map_err(SkinError::from)?;
        let skin_weights = (0..rest.len())
            .map(|i| match weights.row(i) {
                [] => base.ssd.weights.row(i).to_vec(),
                row => {
                    let weight = |&(proxy, weight): &(u16, f64)| Weight {
                        bone: bones[usize::from(proxy)],
                        weight,
                    };
                    row.iter().map(weight).collect()
                }
            })
            .collect();
        let program = VertexProgram::Ssd(SsdProgram {
            rest_positions: rest.to_vec(),
            weights: skin_weights,
            corrections: Vec::new(),
        });
        let proxies = ProxyBones {
            bones,
            joints: self.readings.joints.clone(),
            patches: self.predictors.clone(),
            sources: compiled.sources,
            from_patches: compiled.from_patches,
            from_sources: compiled.from_sources,
        };
        Ok(Skin::new(skeleton, program, Vec::new())?.with_proxies(proxies)?)
    }
}

/// The patches of the proxies that move a vertex, neighbours after each other; and the weights over those.
fn proxies_in_use(weights: &Weights, middles: &[DVec3]) -> (Vec<u16>, Weights) {
    let mut is_used = vec![false; middles.len()];
    for &(proxy, _) in weights.items() {
        is_used[usize::from(proxy)] = true;
    }
    let used: Vec<usize> = (0..middles.len()).filter(|&p| is_used[p]).collect();
    let points: Vec<DVec3> = used.iter().map(|&p| middles[p]).collect();
    let path = prune::path(&points).into_iter();
    let used: Vec<u16> = path.map(|n| used[n] as u16).collect();
    let mut renumbered = vec![0; middles.len()];
    for (number, &proxy) in (0u16..).zip(&used) {
        renumbered[usize::from(proxy)] = number;
    }
    let rows = weights.iter().map(|row| {
        let renumber = |&(proxy, weight): &(u16, f64)| (renumbered[usize::from(proxy)], weight);
        row.iter().map(renumber).collect::<Vec<_>>()
    });
    (used, rows.collect())
}
