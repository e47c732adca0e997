//! [`Document`] to the arrays of an `.npz` file.

use std::io::{Cursor, Write};

use dermis::rig::{RigError, Skeleton};
use dermis::skin::VertexProgram;
use glam::{DAffine3, DVec3};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::npy::shape_text;
use crate::{Document, Fault};

/// Writes every array that the document fills.
///
/// Weights are written for linear blend skins only; a skin of animation-space vectors keeps its
/// bones and poses. Real numbers are single precision where that loses nothing, else double.
pub(crate) fn write(document: &Document) -> Result<Vec<u8>, Fault> {
    let mut arrays = Arrays::new();
    let vertex_count = document.mesh.vertex_count();
    arrays.floats("rest", &[vertex_count, 3], flat(document.mesh.positions()))?;
    let frame_count = document.frames.len();
    if frame_count > 0 {
        let all = document.frames.iter().flat_map(|frame| &frame.positions);
        arrays.floats("positions", &[frame_count, vertex_count, 3], flat(all))?;
        let names: Vec<&str> = document.frames.iter().map(|f| f.name.as_str()).collect();
        arrays.strings("frame_names", &names)?;
        if let Some(rate) = document.frames_per_second {
            arrays.floats("fps", &[], vec![rate])?;
        }
    }
    let triangles = document.mesh.triangles();
    arrays.integers(
        "faces",
        &[triangles.len(), 3],
        triangles.iter().flatten().copied(),
    )?;
    if let Some(polygons) = &document.polygons {
        arrays.integers(
            "face_counts",
            &[polygons.counts.len()],
            polygons.counts.iter().copied(),
        )?;
        let corners = polygons.corners.iter().copied();
        arrays.integers("face_indices", &[polygons.corners.len()], corners)?;
    }
    let skeleton = document.skin.as_ref().map(|skin| &skin.skeleton);
    if let Some(skeleton) = skeleton.or(document.skeleton.as_ref()) {
        write_bones(&mut arrays, document, skeleton)?;
    }
    arrays.finish()
}

fn write_bones(arrays: &mut Arrays, document: &Document, skeleton: &Skeleton) -> Result<(), Fault> {
    let bones = skeleton.bones();
    let names: Vec<&str> = bones.iter().map(|bone| bone.name.as_str()).collect();
    arrays.strings("bone_names", &names)?;
    let parents = bones
        .iter()
        .map(|bone| bone.parent.map_or(-1, |p| i32::from(p.0)));
    arrays.integers("bone_parents", &[bones.len()], parents)?;
    let mut rest = Vec::with_capacity(16 * bones.len());
    for (j, bone) in bones.iter().enumerate() {
        let rest_model_from_bone = bone.bone_from_rest.inverse();
        if !rest_model_from_bone.is_finite() {
            return Err(RigError::SingularRest {
                bone: j,
                name: bone.name.clone(),
            }
            .into());
        }
        rest.extend(matrix_rows(&rest_model_from_bone));
    }
    arrays.floats("bone_rest", &[bones.len(), 4, 4], rest)?;

    let frame_count = document.frames.len();
    if frame_count > 0 && document.frame_poses.len() == frame_count {
        let mut poses = Vec::with_capacity(16 * bones.len() * frame_count);
        for pose in &document.frame_poses {
            // Poses may leave out bones that the skin computes from other bones.
            let palette = match &document.skin {
                Some(skin) => skeleton.palette(&skin.complete_pose(pose)?)?,
                None => skeleton.palette(pose)?,
            };
            poses.extend(palette.model_from_bone.iter().flat_map(matrix_rows));
        }
        arrays.floats("bone_pose", &[frame_count, bones.len(), 4, 4], poses)?;
    }
    if let Some(skin) = &document.skin
        && let VertexProgram::Ssd(ssd) = &skin.program
    {
        let mut weights = vec![0.0; ssd.weights.len() * bones.len()];
        for (i, row) in ssd.weights.iter().enumerate() {
            for w in row {
                weights[i * bones.len() + w.bone.index()] += w.weight;
            }
        }
        arrays.floats("weights", &[ssd.weights.len(), bones.len()], weights)?;
    }
    Ok(())
}

fn flat<'a>(points: impl IntoIterator<Item = &'a DVec3>) -> Vec<f64> {
    points.into_iter().flat_map(DVec3::to_array).collect()
}

/// A 4×4 matrix row by row; its columns act on points.
fn matrix_rows(affine: &DAffine3) -> [f64; 16] {
    let m = affine.matrix3;
    let row = |k: usize| [m.x_axis[k], m.y_axis[k], m.z_axis[k], affine.translation[k]];
    let mut rows = [0.0; 16];
    for k in 0..3 {
        rows[4 * k..4 * k + 4].copy_from_slice(&row(k));
    }
    rows[15] = 1.0;
    rows
}

/// An archive under construction.
pub(super) struct Arrays {
    zip: ZipWriter<Cursor<Vec<u8>>>,
}

impl Arrays {
    pub(super) fn new() -> Self {
        Self {
            zip: ZipWriter::new(Cursor::new(Vec::new())),
        }
    }

    pub(super) fn floats(
        &mut self,
        name: &str,
        shape: &[usize],
        values: Vec<f64>,
    ) -> Result<(), Fault> {
        if values.iter().all(|&x| f64::from(x as f32) == x) {
            let bytes = values.iter().flat_map(|&x| (x as f32).to_le_bytes());
            self.array(name, "<f4", shape, &bytes.collect::<Vec<u8>>())
        } else {
            let bytes = values.iter().flat_map(|x| x.to_le_bytes());
            self.array(name, "<f8", shape, &bytes.collect::<Vec<u8>>())
        }
    }

    pub(super) fn integers<T>(
        &mut self,
        name: &str,
        shape: &[usize],
        values: impl Iterator<Item = T>,
    ) -> Result<(), Fault>
    where
        T: TryInto<i32>,
    {
        let mut bytes = Vec::new();
        for value in values {
            let value: i32 = value.try_into().map_err(|_| {
                Fault::unsupported(
                    format!("array {name} with indices past 2^31"),
                    "split the mesh",
                )
            })?;
            bytes.extend(value.to_le_bytes());
        }
        self.array(name, "<i4", shape, &bytes)
    }

    pub(super) fn strings(&mut self, name: &str, values: &[&str]) -> Result<(), Fault> {
        // NumPy pads every text to the longest; it has no text of length 0.
        let length = values
            .iter()
            .map(|v| v.chars().count())
            .max()
            .unwrap_or(0)
            .max(1);
        let mut bytes = Vec::with_capacity(4 * length * values.len());
        for value in values {
            let padding = std::iter::repeat_n(0, length - value.chars().count());
            let codes = value.chars().map(u32::from).chain(padding);
            bytes.extend(codes.flat_map(u32::to_le_bytes));
        }
        self.array(name, &format!("<U{length}"), &[values.len()], &bytes)
    }

    fn array(
        &mut self,
        name: &str,
        descr: &str,
        shape: &[usize],
        data: &[u8],
    ) -> Result<(), Fault> {
        let shape = shape_text(shape);
        let mut header =
            format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        // NumPy aligns the data to 64 bytes.
        const BEFORE: usize = 10;
        let padded = (BEFORE + header.len() + 1).next_multiple_of(64) - BEFORE;
        header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
        header.push('\n');
        // A fixed date: the same document gives the same bytes.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .large_file(data.len() > u32::MAX as usize / 2)
            .last_modified_time(DateTime::default());
        let fault = |error: String| Fault::unsupported(format!("array {name}"), error);
        self.zip
            .start_file(format!("{name}.npy"), options)
            .map_err(|error| fault(error.to_string()))?;
        let length = (header.len() as u16).to_le_bytes();
        for bytes in [
            b"\x93NUMPY\x01\x00".as_slice(),
            &length,
            header.as_bytes(),
            data,
        ] {
            self.zip
                .write_all(bytes)
                .map_err(|error| fault(error.to_string()))?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, Fault> {
        let finished = self.zip.finish();
        let finished =
            finished.map_err(|error| Fault::unsupported("archive", error.to_string()))?;
        Ok(finished.into_inner())
    }
}
