//! The plane in which a patch of surface lies on the whole, over all poses.
//!
//! In one pose the sum of the area-scaled normals of some triangles is the normal of the plane on which they have the largest
//! projection, and its length is that area. Normals do not carry over to all poses at once; the bivector
//! `Â = ½ Σ (e fᵀ − f eᵀ)` of the edges does (\[Merry07\] A.1). Its largest singular value `σ` in the metric is the largest
//! projected area, and the singular vectors span the plane. Edges inside the patch cancel out, so that its border alone says
//! the same.

use super::normalized::NormalizedCoordinates;
use super::{AnimationVector, PoseMetric};
use crate::skin::Influence;
use crate::solve::SymmetricEigen;

/// `½ Σ (e fᵀ − f eᵀ)`: oriented areas of triangles, which add up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bivector {
    /// `e` and `f`.
    pairs: Vec<[AnimationVector; 2]>,
}

impl Bivector {
    /// That of a triangle.
    pub fn of_triangle([a, b, c]: [&[Influence]; 3]) -> Self {
        let edge = |to| AnimationVector::difference(to, a);
        Self {
            pairs: vec![[edge(b), edge(c)]],
        }
    }

    /// That of any patch with this border: its points in order, the first one not repeated.
    pub fn of_border(points: &[&[Influence]]) -> Self {
        let Some((first, rest)) = points.split_first() else {
            return Self::default();
        };
        let from_first = |point: &[Influence]| AnimationVector::difference(point, first);
        let pairs = rest.windows(2);
        Self {
            pairs: pairs
                .map(|ends| [from_first(ends[0]), from_first(ends[1])])
                .collect(),
        }
    }

    /// Adds the bivector of another patch: the result is that of both together.
    pub fn add(&mut self, other: &Self) {
        self.pairs.extend_from_slice(&other.pairs);
    }
}

/// The plane of a patch, and how large the patch is in it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlaneAverage {
    /// The largest area that the patch can have when it is projected on a plane.
    pub area: f64,
    /// Two directions that span that plane, of length 1 and at a right angle in the mean over poses; without any terms where
    /// there is no area. They use the bones of the patch, and their weight is 0.
    pub axes: [AnimationVector; 2],
}

impl PoseMetric {
    /// The plane on which a patch has the largest projection over all poses.
    ///
    /// In a single pose the area is the length of the sum of all area-scaled normals. Cost: O(n³) for n bones.
    ///
    /// # Panics
    /// When a bone does not exist.
    pub fn plane_average(&self, patch: &Bivector) -> PlaneAverage {
        let vectors = patch.pairs.iter().flatten();
        let bones = vectors.flat_map(|vector| vector.terms().iter().map(|term| term.bone));
        let coordinates = NormalizedCoordinates::new(self, bones);
        let of = |vector: &AnimationVector| coordinates.of(vector.terms()).unwrap_or_default();
        let pairs: Vec<[Vec<f64>; 2]> = (patch.pairs.iter()).map(|[e, f]| [of(e), of(f)]).collect();
        let size = coordinates.dimension();
        // `B = F Â Fᵀ`, of which `BᵀB` has the eigenvalues `σ²`.
        let mut matrix = vec![0.0; size * size];
        for [e, f] in &pairs {
            for r in 0..size {
                for c in 0..size {
                    matrix[r * size + c] += 0.5 * (e[r] * f[c] - f[r] * e[c]);
                }
            }
        }
        let mut squared = vec![0.0; size * size];
        for row in matrix.chunks_exact(size.max(1)) {
            for r in 0..size {
                for c in 0..size {
                    squared[r * size + c] += row[r] * row[c];
                }
            }
        }
        let eigen = SymmetricEigen::new(&squared, size);
        let second = &eigen.vectors[size * size.saturating_sub(1)..];
        let apply = |x: &[f64]| -> Vec<f64> {
            let rows = matrix.chunks_exact(size.max(1));
            rows.map(|row| dot(row, x)).collect()
        };
        let mut first = apply(second);
        let area = dot(&first, &first).sqrt();
        if area == 0.0 {
            return PlaneAverage {
                area,
                axes: Default::default(),
            };
        }
        first.iter_mut().for_each(|x| *x /= area);
        // `Â Fᵀ x / σ`: a sum of the edges, so it uses no other bones and has weight 0.
        let along = |x: &[f64], sign: f64| {
            let terms = patch
                .pairs
                .iter()
                .zip(&pairs)
                .flat_map(|([e, f], [of_e, of_f])| {
                    let share = 0.5 * sign / area;
                    [
                        (share * dot(of_f, x), e.terms()),
                        (-share * dot(of_e, x), f.terms()),
                    ]
                });
            AnimationVector::combination(terms)
        };
        PlaneAverage {
            area,
            axes: [along(second, 1.0), along(&first, -1.0)],
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Pose;
    use crate::skin::{LinearProgram, Skin, VertexProgram};
    use crate::synth::{TubeOptions, tube};
    use glam::DVec3;

    struct Setting {
        skin: Skin,
        program: LinearProgram,
        poses: Vec<Pose>,
        triangles: Vec<[u32; 3]>,
    }

    fn bending_tube() -> Setting {
        let made = tube(&TubeOptions {
            ring_count: 12,
            segment_count: 10,
            bone_count: 3,
            example_count: 8,
        });
        let skin = made.truth.to_linear().expect("a tube is linear");
        let VertexProgram::Linear(program) = &skin.program else {
            unreachable!("it was made linear");
        };
        let examples = made.examples.examples().iter();
        Setting {
            program: program.clone(),
            poses: examples.map(|example| example.pose.clone()).collect(),
            triangles: made.examples.rest().triangles().to_vec(),
            skin,
        }
    }

    impl Setting {
        fn rows(&self, corners: [u32; 3]) -> [&[Influence]; 3] {
            corners.map(|v| self.program.influences.row(v as usize))
        }

        fn of_faces(&self, faces: &[[u32; 3]]) -> Bivector {
            let mut sum = Bivector::default();
            for &face in faces {
                sum.add(&Bivector::of_triangle(self.rows(face)));
            }
            sum
        }

        /// The triangles around a vertex, and the ring around them.
        fn fan(&self, vertex: u32) -> (Vec<[u32; 3]>, Vec<u32>) {
            let around = self.triangles.iter().filter(|t| t.contains(&vertex));
            let faces: Vec<[u32; 3]> = around.copied().collect();
            let next = |from: u32| {
                let edges = faces.iter().map(|t| {
                    let at = t.iter().position(|&v| v == vertex).expect("a corner");
                    [t[(at + 1) % 3], t[(at + 2) % 3]]
                });
                let mut after = edges.filter(|edge| edge[0] == from);
                after.next().expect("a closed ring")[1]
            };
            let mut ring = vec![*faces[0].iter().find(|&&v| v != vertex).expect("a corner")];
            while ring.len() < faces.len() {
                ring.push(next(ring[ring.len() - 1]));
            }
            (faces, ring)
        }
    }

    fn shape(setting: &Setting, pose: &Pose) -> Vec<DVec3> {
        setting.skin.evaluate(pose).expect("its own pose")
    }

    fn double_normal(x: &[DVec3], t: [u32; 3]) -> DVec3 {
        let [a, b, c] = t.map(|v| x[v as usize]);
        (b - a).cross(c - a)
    }

    #[test]
    fn fact_p5_in_one_pose_the_projected_area_is_the_length_of_the_summed_normals() {
        let setting = bending_tube();
        let pose = &setting.poses[5];
        let metric =
            PoseMetric::average(&setting.skin, std::slice::from_ref(pose)).expect("a pose");
        let x = shape(&setting, pose);
        for faces in setting.triangles.chunks(37) {
            let sum: DVec3 = faces.iter().map(|&t| 0.5 * double_normal(&x, t)).sum();
            let found = metric.plane_average(&setting.of_faces(faces));
            let scale = x.iter().map(|p| p.length_squared()).fold(0.0, f64::max);
            assert!(
                (found.area - sum.length()).abs() < 1e-7 * scale,
                "{} and {}",
                found.area,
                sum.length()
            );
        }
    }

    #[test]
    fn fact_p5_the_border_of_a_patch_says_what_its_faces_say_and_bivectors_add_up() {
        let setting = bending_tube();
        let metric = PoseMetric::average(&setting.skin, &setting.poses).expect("poses");
        for vertex in [33, 47, 58, 64] {
            let (faces, ring) = setting.fan(vertex);
            let row = |v: &u32| setting.program.influences.row(*v as usize);
            let border: Vec<&[Influence]> = ring.iter().map(row).collect();
            let by_border = metric.plane_average(&Bivector::of_border(&border));
            let by_faces = metric.plane_average(&setting.of_faces(&faces));
            let tolerance = 1e-9 * by_faces.area;
            assert!(
                (by_border.area - by_faces.area).abs() < tolerance,
                "{vertex}"
            );
            // The sum of all areas is no less than their projection on one plane.
            let areas = faces
                .iter()
                .map(|&t| metric.triangle(setting.rows(t)).area());
            assert!(areas.sum::<f64>() >= by_faces.area - tolerance, "{vertex}");
            // As the spectral radius of `S K`: the Gram matrix of the ring times half of its cyclic differences.
            let radius = spectral_radius(&metric, &border);
            assert!(
                (radius - by_border.area).abs() < 1e-6 * radius,
                "{radius} and {}",
                by_border.area
            );
        }
    }

    fn spectral_radius(metric: &PoseMetric, border: &[&[Influence]]) -> f64 {
        let n = border.len();
        let share = 1.0 / n as f64;
        let middle = AnimationVector::combination(border.iter().map(|row| (share, *row)));
        let about: Vec<AnimationVector> = (border.iter())
            .map(|row| AnimationVector::difference(row, middle.terms()))
            .collect();
        let product = |x: &[f64]| -> Vec<f64> {
            let weighed =
                AnimationVector::combination(about.iter().zip(x).map(|(row, x)| (*x, row.terms())));
            let k: Vec<f64> = (about.iter())
                .map(|row| metric.dot(row.terms(), weighed.terms()))
                .collect();
            (0..n)
                .map(|r| 0.5 * (k[(r + 1) % n] - k[(r + n - 1) % n]))
                .collect()
        };
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut x: Vec<f64> = (0..n).map(|i| 1.0 + (i as f64).sin()).collect();
        let mut square = 0.0;
        for _ in 0..400 {
            let next = product(&product(&x));
            square = length(&next) / length(&x);
            let scale = length(&next);
            x = next.into_iter().map(|x| x / scale).collect();
        }
        square.sqrt()
    }

    #[test]
    fn fact_p5_the_area_of_a_triangle_is_at_least_its_mean_over_the_poses() {
        let setting = bending_tube();
        let metric = PoseMetric::average(&setting.skin, &setting.poses).expect("poses");
        let shapes: Vec<Vec<DVec3>> = (setting.poses.iter())
            .map(|pose| shape(&setting, pose))
            .collect();
        let mut changing = 0;
        for &t in &setting.triangles {
            let areas = shapes.iter().map(|x| 0.5 * double_normal(x, t).length());
            let mean = areas.sum::<f64>() / shapes.len() as f64;
            let area = metric.triangle(setting.rows(t)).area();
            assert!(area >= mean * (1.0 - 1e-9), "{area} and {mean}");
            changing += usize::from(area > mean * (1.0 + 1e-3));
        }
        assert!(changing > 20, "some triangles change: {changing}");
    }

    #[test]
    fn the_axes_have_length_one_and_a_right_angle_and_no_weight() {
        let setting = bending_tube();
        let metric = PoseMetric::average(&setting.skin, &setting.poses).expect("poses");
        let (faces, _) = setting.fan(47);
        let found = metric.plane_average(&setting.of_faces(&faces));
        let [a, b] = &found.axes;
        for axis in [a, b] {
            assert!((metric.norm(axis.terms()) - 1.0).abs() < 1e-6, "length one");
            assert!(axis.weight().abs() < 1e-9, "a direction, no place");
        }
        assert!(
            metric.dot(a.terms(), b.terms()).abs() < 1e-6,
            "a right angle"
        );
        let nothing = metric.plane_average(&Bivector::default());
        assert_eq!(nothing.area, 0.0, "no patch, no area");
    }
}
