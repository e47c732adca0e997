//! What changes from frame to frame: palettes and coefficients as shaders read them.

use dermis::run::{Mat3x4, PackedProgram, PaletteEntry};
use glam::{DAffine3, DMat3, Vec4};

use super::GpuSkin;

impl GpuSkin {
    /// Three rows of four floats for each bone: see [`GpuSkin::write_palette`].
    pub fn palette(&self, entries: &[PaletteEntry]) -> Vec<Mat3x4> {
        let mut rows = vec![[0.0; 12]; entries.len()];
        self.write_palette(entries, &mut rows);
        rows
    }

    /// Writes the entries that [`PackedSkin::load_palette`](dermis::run::PackedSkin::load_palette) makes as rows, for as
    /// many bones as both lists have.
    ///
    /// A matrix becomes its three rows; of a dual quaternion the real part is the first row, the dual part the second, and
    /// the third is zero. A *linear* skin needs no entries at all: its rows are the matrices
    /// [`PackedPoseProgram::run`](dermis::run::PackedPoseProgram::run) makes, as they are; in the space of the rest pose its
    /// rows are these times those that [`Bone::bone_from_rest`](dermis::rig::Bone) has.
    pub fn write_palette(&self, entries: &[PaletteEntry], rows: &mut [Mat3x4]) {
        if self.kind.rest_space {
            for ((row, entry), rest) in rows.iter_mut().zip(entries).zip(&self.bone_from_rest) {
                *row = times_rest(entry, rest);
            }
            return;
        }
        let dual = self.kind.program == PackedProgram::DualQuaternion;
        for (row, entry) in rows.iter_mut().zip(entries) {
            let c = &entry.columns;
            if dual {
                row[..4].copy_from_slice(&c[0]);
                row[4..8].copy_from_slice(&c[1]);
                row[8..].fill(0.0);
            } else {
                for r in 0..3 {
                    for (column, to) in c.iter().zip(&mut row[4 * r..4 * r + 4]) {
                        *to = column[r];
                    }
                }
            }
        }
    }

    /// The coefficients of an instance: see [`GpuSkin::write_coefficients`].
    pub fn coefficients(&self, values: &[f32]) -> Vec<u32> {
        let mut words = vec![0; self.info.coefficient_words as usize];
        self.write_coefficients(values, &mut words);
        words
    }

    /// Writes coefficients: first a bit for each that is not zero, 32 to a word, if anything is corrected at all; then the
    /// numbers. Values that are missing are taken as 0.
    ///
    /// # Panics
    /// When `words` are not [`SkinInfo::coefficient_words`](super::SkinInfo::coefficient_words).
    pub fn write_coefficients(&self, values: &[f32], words: &mut [u32]) {
        let expected = self.info.coefficient_words as usize;
        assert_eq!(words.len(), expected, "one word per bit word and number");
        let (bits, numbers) = words.split_at_mut(self.info.bit_words as usize);
        bits.fill(0);
        numbers.fill(0);
        for (m, (value, number)) in values.iter().zip(numbers).enumerate() {
            *number = value.to_bits();
            if let Some(bits) = bits.get_mut(m / 32) {
                *bits |= u32::from(*value != 0.0) << (m % 32);
            }
        }
    }
}

/// `G_j Ĝ_j⁻¹` by rows.
fn times_rest(entry: &PaletteEntry, rest: &DAffine3) -> Mat3x4 {
    let [x, y, z, t] = entry
        .columns
        .map(|c| Vec4::from_array(c).truncate().as_dvec3());
    let posed = DAffine3 {
        matrix3: DMat3::from_cols(x, y, z),
        translation: t,
    } * *rest;
    let rows = posed.matrix3.transpose();
    let rows = [rows.x_axis, rows.y_axis, rows.z_axis];
    let mut out = [0.0; 12];
    for (r, row) in rows.iter().enumerate() {
        let row = row.extend(posed.translation[r]).as_vec4();
        out[4 * r..4 * r + 4].copy_from_slice(&row.to_array());
    }
    out
}
