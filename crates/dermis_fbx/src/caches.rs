//! Geometry caches beside the file: the points of every sample as frames.

use dermis::clip::MOST_FRAMES;
use dermis::document::Frame;
use dermis::limits::check_memory;
use glam::DVec3;
use ufbx::{CacheChannel, CacheInterpretation, EvaluateOpts, OpenFileCb, Scene};

use crate::FbxError;
use crate::instances::Instance;
use crate::load::{Beside, allocator, failure};
use crate::nodes::{affine, number, vec3};

/// The frames of a file with geometry caches.
pub(crate) struct Cached {
    pub(crate) frames: Vec<Frame>,
    pub(crate) frames_per_second: f64,
}

/// The channel of positions that moves a mesh.
fn channel<'a>(instance: &Instance<'a>) -> Option<&'a CacheChannel> {
    let deformers = instance.mesh.cache_deformers.into_iter();
    let mut channels = deformers.filter_map(|deformer| deformer.external_channel.as_deref());
    channels.find(|channel| {
        use CacheInterpretation::{Points, VertexPosition};
        matches!(channel.interpretation, VertexPosition | Points) && !channel.frames.is_empty()
    })
}

/// The points of all meshes at the times of their caches; `None` when no cache was found.
pub(crate) fn read(
    scene: &Scene,
    instances: &[Instance<'_>],
    beside: &Beside<'_>,
    rate: f64,
    notes: &mut Vec<String>,
) -> Result<Option<Cached>, FbxError> {
    let channels: Vec<&CacheChannel> = instances.iter().filter_map(channel).collect();
    if channels.is_empty() {
        return Ok(None);
    }
    let (times, frames_per_second) = times(&channels, rate)?;
    let points: usize = instances.iter().map(|i| i.mesh.num_vertices).sum();
    check_memory(
        &[times.len() as u64, points as u64, 24],
        || {
            format!(
                "a geometry cache of {} frames of {points} points",
                times.len()
            )
        },
        "export a shorter cache",
    )?;
    let mut frames = Vec::with_capacity(times.len());
    for &time in &times {
        frames.push(Frame {
            name: format!("{:.0}", time * frames_per_second),
            positions: positions(scene, instances, beside, time)?,
        });
    }
    notes.push(format!(
        "a geometry cache moves the points: read as {} frames at {frames_per_second:.4} frames per second, with what skins \
         and blend shapes do inside them",
        frames.len()
    ));
    Ok(Some(Cached {
        frames,
        frames_per_second,
    }))
}

/// The times of the samples, when they are evenly spread; else the file's frames from the first to the last.
fn times(channels: &[&CacheChannel], rate: f64) -> Result<(Vec<f64>, f64), FbxError> {
    let all = || {
        channels
            .iter()
            .flat_map(|channel| &channel.frames)
            .map(|frame| frame.time)
    };
    let (first, last) = (
        all().fold(f64::MAX, f64::min),
        all().fold(f64::MIN, f64::max),
    );
    let mut times: Vec<f64> = all().collect();
    times.sort_by(f64::total_cmp);
    times.dedup_by(|later, earlier| *later - *earlier < 1e-6);
    let steps = (times.len() - 1) as f64;
    let step = (last - first) / steps.max(1.0);
    let is_even = (times.windows(2)).all(|pair| (pair[1] - pair[0] - step).abs() < 0.01 * step);
    if is_even && times.len() > 1 {
        return Ok((times, 1.0 / step));
    }
    let count = ((last - first) * rate).round() + 1.0;
    if count.is_nan() || count > MOST_FRAMES as f64 {
        return Err(FbxError::malformed(
            "geometry cache",
            format!("at most {MOST_FRAMES} frames"),
            format!("{count}"),
        ));
    }
    Ok((
        (0..count as usize)
            .map(|k| first + k as f64 / rate)
            .collect(),
        rate,
    ))
}

/// All points in model space at a time.
fn positions(
    scene: &Scene,
    instances: &[Instance<'_>],
    beside: &Beside<'_>,
    time: f64,
) -> Result<Vec<DVec3>, FbxError> {
    let open = |name: &str, _: &ufbx::OpenFileInfo| beside.stream(name);
    let options = EvaluateOpts {
        temp_allocator: allocator(),
        result_allocator: allocator(),
        evaluate_skinning: true,
        evaluate_caches: true,
        load_external_files: true,
        open_file_cb: OpenFileCb::Ref(&open),
        ..EvaluateOpts::default()
    };
    let at = ufbx::evaluate_scene(scene, &scene.anim, time, options);
    let at = at.map_err(|error| failure(&error))?;
    let mut all = Vec::new();
    for instance in instances {
        let mesh = &at.meshes[instance.mesh.element.typed_id as usize];
        let node = &at.nodes[number(instance.node)];
        let model_from_geometry = affine(&node.geometry_to_world);
        let points = mesh.skinned_position.values.iter().map(|&v| vec3(v));
        let points = points.take(instance.mesh.num_vertices);
        match mesh.skinned_is_local {
            true => all.extend(points.map(|v| model_from_geometry.transform_point3(v))),
            false => all.extend(points),
        }
    }
    Ok(all)
}
