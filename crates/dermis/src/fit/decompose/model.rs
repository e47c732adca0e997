//! The unknowns of `C ≈ T X`: matrices of bones, and for each point its rest position and weights.

/// The data to fit: `C`, a column of `dimension` numbers per point.
#[derive(Debug, Clone)]
pub(super) struct Targets {
    pub(super) dimension: usize,
    /// Column by column.
    pub(super) coordinates: Vec<f64>,
    /// `|y|²` of every column.
    pub(super) squared_norms: Vec<f64>,
    /// How much each point counts: 1, or the number of points that one of a sample stands for.
    pub(super) multiplicity: Vec<f64>,
}

impl Targets {
    pub(super) fn new(dimension: usize, coordinates: Vec<f64>, multiplicity: Vec<f64>) -> Self {
        let norm = |column: &[f64]| column.iter().map(|y| y * y).sum();
        Self {
            squared_norms: coordinates.chunks_exact(dimension).map(norm).collect(),
            dimension,
            coordinates,
            multiplicity,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.multiplicity.len()
    }

    pub(super) fn column(&self, point: usize) -> &[f64] {
        &self.coordinates[point * self.dimension..][..self.dimension]
    }
}

/// How many bones one vector register may hold; `Bones::padded` is a multiple of it.
const LANES: usize = 8;

/// `T`: for each bone four columns, by which x, y, z and 1 of a rest position are multiplied.
///
/// Columns of one component stand side by side for all bones, `component * padded + bone`, so that
/// loops over bones run over neighbouring numbers. Bones beyond `count` are zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bones {
    pub(super) count: usize,
    pub(super) padded: usize,
    pub(super) dimension: usize,
    /// Column by column.
    pub(super) columns: Vec<f64>,
}

impl Bones {
    pub(super) fn zeros(count: usize, dimension: usize) -> Self {
        let padded = count.next_multiple_of(LANES);
        Self {
            count,
            padded,
            dimension,
            columns: vec![0.0; 4 * padded * dimension],
        }
    }

    pub(super) fn column(&self, component: usize, bone: usize) -> &[f64] {
        let start = (component * self.padded + bone) * self.dimension;
        &self.columns[start..][..self.dimension]
    }

    pub(super) fn column_mut(&mut self, component: usize, bone: usize) -> &mut [f64] {
        let start = (component * self.padded + bone) * self.dimension;
        &mut self.columns[start..][..self.dimension]
    }

    /// The columns of one bone, one after the other.
    pub(super) fn set(&mut self, bone: usize, columns: &[f64]) {
        for (component, column) in columns.chunks_exact(self.dimension).enumerate() {
            self.column_mut(component, bone).copy_from_slice(column);
        }
    }

    /// `φ = T_j ṽ`, into `out`: the plain form of the predictions that
    /// [`Products`](super::products::Products) multiplies.
    #[cfg(test)]
    pub(super) fn predict(&self, bone: usize, rest: &[f64; 3], out: &mut [f64]) {
        let [x, y, z, one] = [0, 1, 2, 3].map(|component| self.column(component, bone));
        for (r, value) in out.iter_mut().enumerate() {
            *value = rest[0] * x[r] + rest[1] * y[r] + rest[2] * z[r] + one[r];
        }
    }
}

/// The weights of every point, at most `stride` each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Supports {
    pub(super) stride: usize,
    counts: Vec<u16>,
    bones: Vec<u16>,
    weights: Vec<f64>,
}

impl Supports {
    /// Every point follows one bone.
    pub(super) fn single(owners: &[usize], stride: usize) -> Self {
        let mut supports = Self {
            stride,
            counts: Vec::with_capacity(owners.len()),
            bones: Vec::with_capacity(owners.len() * stride),
            weights: Vec::with_capacity(owners.len() * stride),
        };
        for &owner in owners {
            supports.push(&[owner as u16], &[1.0]);
        }
        supports
    }

    pub(super) fn with_capacity(points: usize, stride: usize) -> Self {
        Self {
            stride,
            counts: Vec::with_capacity(points),
            bones: Vec::with_capacity(points * stride),
            weights: Vec::with_capacity(points * stride),
        }
    }

    /// Adds a point.
    pub(super) fn push(&mut self, bones: &[u16], weights: &[f64]) {
        let unused = self.stride - bones.len();
        self.counts.push(bones.len() as u16);
        self.bones.extend_from_slice(bones);
        self.bones.extend(std::iter::repeat_n(0, unused));
        self.weights.extend_from_slice(weights);
        self.weights.extend(std::iter::repeat_n(0.0, unused));
    }

    /// Adds the points of another list with the same stride.
    pub(super) fn append(&mut self, other: &Self) {
        self.counts.extend_from_slice(&other.counts);
        self.bones.extend_from_slice(&other.bones);
        self.weights.extend_from_slice(&other.weights);
    }

    pub(super) fn bones(&self, point: usize) -> &[u16] {
        &self.bones[point * self.stride..][..usize::from(self.counts[point])]
    }

    pub(super) fn weights(&self, point: usize) -> &[f64] {
        &self.weights[point * self.stride..][..usize::from(self.counts[point])]
    }

    /// Bones and weights of a point.
    pub(super) fn pairs(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let bones = self.bones(point).iter().map(|&bone| usize::from(bone));
        bones.zip(self.weights(point).iter().copied())
    }

    pub(super) fn count(&self) -> usize {
        self.counts.len()
    }

    /// The same weights with room for `stride` per point; the caller must not have more.
    pub(super) fn with_stride(&self, stride: usize) -> Self {
        let mut wider = Self::with_capacity(self.count(), stride);
        for point in 0..self.count() {
            wider.push(self.bones(point), self.weights(point));
        }
        wider
    }

    /// For each bone the points that it moves, with their weights, by rising point.
    pub(super) fn by_bone(&self, bone_count: usize) -> Vec<Vec<(u32, f64)>> {
        let mut of_bone = vec![Vec::new(); bone_count];
        for point in 0..self.count() {
            for (bone, weight) in self.pairs(point) {
                of_bone[bone].push((point as u32, weight));
            }
        }
        of_bone
    }
}

/// The unknowns of each point, and its error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Points {
    /// `v̂`, in the solver's units.
    pub(super) rest: Vec<[f64; 3]>,
    pub(super) supports: Supports,
    /// Squared error of each point, counted once.
    pub(super) errors: Vec<f64>,
}

impl Points {
    /// The squared error of all points.
    pub(super) fn squared_error(&self, targets: &Targets) -> f64 {
        let pairs = self.errors.iter().zip(&targets.multiplicity);
        pairs.map(|(error, count)| error * count).sum()
    }
}
