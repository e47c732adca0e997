//! Point caches: positions of every frame without faces, as PC2 (3ds Max, Blender) and MDD
//! (LightWave, Blender).
//!
//! Both are a short header and raw single-precision numbers. PC2 is little endian: the magic
//! `POINTCACHE2\0`, version 1, points, first frame, frames per sample, samples, positions. MDD is
//! big endian: frames, points, a time in seconds for each frame, positions.

use glam::DVec3;

use crate::geometry::{counted, frame_name};
use crate::{Fault, Frame};

/// The frames of a point cache.
#[derive(Debug, Default)]
pub(crate) struct PointCache {
    pub(crate) point_count: usize,
    pub(crate) frames: Vec<Frame>,
    pub(crate) frames_per_second: Option<f64>,
    pub(crate) notes: Vec<String>,
}

/// Frames per second of an MDD whose document has no rate.
const DEFAULT_FRAMES_PER_SECOND: f64 = 24.0;

const PC2_MAGIC: &[u8; 12] = b"POINTCACHE2\0";

/// Reads a PC2 file.
pub(crate) fn read_pc2(bytes: &[u8]) -> Result<PointCache, Fault> {
    let mut input = Input { bytes, at: 0 };
    let magic: [u8; 12] = input.array("the PC2 header")?;
    if magic != *PC2_MAGIC {
        let found = format!("`{}`", magic.escape_ascii());
        return Err(Fault::malformed("header", "`POINTCACHE2`", found));
    }
    let version = i32::from_le_bytes(input.array("the PC2 header")?);
    if version != 1 {
        return Err(Fault::malformed("header", "version 1", version.to_string()));
    }
    let points = count("points", i32::from_le_bytes(input.array("the PC2 header")?))?;
    // First frame and frames per sample: numbers of another program's time line, at an unknown
    // number of frames per second.
    let _: [u8; 8] = input.array("the PC2 header")?;
    let samples = count(
        "samples",
        i32::from_le_bytes(input.array("the PC2 header")?),
    )?;
    input.check_rest(samples, points, 0)?;
    let frames = input.frames(samples, points, f32::from_le_bytes)?;
    Ok(PointCache {
        point_count: points,
        frames,
        frames_per_second: None,
        notes: input.trailing_note(),
    })
}

/// Reads an MDD file.
pub(crate) fn read_mdd(bytes: &[u8]) -> Result<PointCache, Fault> {
    let mut input = Input { bytes, at: 0 };
    let frame_count = count("frames", i32::from_be_bytes(input.array("the MDD header")?))?;
    let points = count("points", i32::from_be_bytes(input.array("the MDD header")?))?;
    input.check_rest(frame_count, points, 4)?;
    let mut times = Vec::with_capacity(frame_count);
    for _ in 0..frame_count {
        times.push(f64::from(f32::from_be_bytes(input.array("the MDD times")?)));
    }
    let frames = input.frames(frame_count, points, f32::from_be_bytes)?;
    Ok(PointCache {
        point_count: points,
        frames,
        frames_per_second: frames_per_second(&times),
        notes: input.trailing_note(),
    })
}

/// The steady speed of frames at the given times, or `None` when there is none.
pub(crate) fn frames_per_second(times: &[f64]) -> Option<f64> {
    let (first, last) = (times.first()?, times.last()?);
    let steps = times.len() - 1;
    let step = (last - first) / steps as f64;
    let steady = times
        .windows(2)
        .all(|t| (t[1] - t[0] - step).abs() <= 0.01 * step);
    // Times are single precision; whole speeds are far likelier than 23.999998.
    let speed = 1.0 / step;
    let whole = speed.round();
    let speed = if (speed - whole).abs() < 1e-3 {
        whole
    } else {
        speed
    };
    (steady && step > 0.0 && speed.is_finite()).then_some(speed)
}

/// Writes a PC2 file.
pub(crate) fn write_pc2(frames: &[&[DVec3]]) -> Result<Vec<u8>, Fault> {
    let (frame_count, points) = counts(frames)?;
    let mut bytes = PC2_MAGIC.to_vec();
    bytes.extend(1i32.to_le_bytes());
    bytes.extend(points.to_le_bytes());
    bytes.extend(0f32.to_le_bytes());
    bytes.extend(1f32.to_le_bytes());
    bytes.extend(frame_count.to_le_bytes());
    for p in frames.iter().copied().flatten() {
        bytes.extend(p.to_array().iter().flat_map(|&x| (x as f32).to_le_bytes()));
    }
    Ok(bytes)
}

/// Writes an MDD file.
pub(crate) fn write_mdd(
    frames: &[&[DVec3]],
    frames_per_second: Option<f64>,
) -> Result<Vec<u8>, Fault> {
    let (frame_count, points) = counts(frames)?;
    let speed = frames_per_second.unwrap_or(DEFAULT_FRAMES_PER_SECOND);
    let mut bytes = Vec::new();
    bytes.extend(frame_count.to_be_bytes());
    bytes.extend(points.to_be_bytes());
    for k in 0..frame_count {
        bytes.extend(((f64::from(k) / speed) as f32).to_be_bytes());
    }
    for p in frames.iter().copied().flatten() {
        bytes.extend(p.to_array().iter().flat_map(|&x| (x as f32).to_be_bytes()));
    }
    Ok(bytes)
}

fn counts(frames: &[&[DVec3]]) -> Result<(i32, i32), Fault> {
    let points = frames.first().map_or(0, |f| f.len());
    let fit = |what: &str, n: usize| {
        i32::try_from(n)
            .map_err(|_| Fault::unsupported(format!("a point cache of {n} {what}"), "split it"))
    };
    Ok((fit("frames", frames.len())?, fit("points", points)?))
}

fn count(what: &str, value: i32) -> Result<usize, Fault> {
    usize::try_from(value)
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| {
            Fault::malformed(
                "header",
                format!("at least one of {what}"),
                value.to_string(),
            )
        })
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Input<'_> {
    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Fault> {
        let chunk = self.bytes[self.at..].first_chunk();
        let chunk = *chunk.ok_or_else(|| {
            let expected = format!("{what} of at least {} bytes", self.at + N);
            Fault::malformed("file", expected, format!("{} bytes", self.bytes.len()))
        })?;
        self.at += N;
        Ok(chunk)
    }

    /// Compares the size that the header declares with the file's, before memory is set aside.
    fn check_rest(&self, frames: usize, points: usize, extra: u128) -> Result<(), Fault> {
        // Two counts of 31 bits and a size overflow 64 bits.
        let expected = self.at as u128 + frames as u128 * (points as u128 * 12 + extra);
        if expected > self.bytes.len() as u128 {
            return Err(Fault::malformed(
                "file",
                format!("{expected} bytes for {frames} frames of {points} points"),
                format!("{}", self.bytes.len()),
            ));
        }
        Ok(())
    }

    fn frames(
        &mut self,
        frame_count: usize,
        points: usize,
        number: impl Fn([u8; 4]) -> f32,
    ) -> Result<Vec<Frame>, Fault> {
        let mut frames = Vec::with_capacity(frame_count);
        for k in 0..frame_count {
            let mut positions = Vec::with_capacity(points);
            for i in 0..points {
                let xyz: [u8; 12] = self.array("a point cache")?;
                let (xyz, _) = xyz.as_chunks();
                let p = DVec3::new(
                    f64::from(number(xyz[0])),
                    f64::from(number(xyz[1])),
                    f64::from(number(xyz[2])),
                );
                if !p.is_finite() {
                    let what = format!("frame {k}, point {i}");
                    return Err(Fault::malformed(what, "finite numbers", p.to_string()));
                }
                positions.push(p);
            }
            frames.push(Frame {
                name: frame_name(k),
                positions,
            });
        }
        Ok(frames)
    }

    fn trailing_note(&self) -> Vec<String> {
        match self.bytes.len() - self.at {
            0 => Vec::new(),
            left => {
                let what = counted(left, "byte", "bytes");
                vec![format!("{what} left out after the last frame.")]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_frames() -> [Vec<DVec3>; 2] {
        let frame = |k: f64| {
            vec![
                DVec3::new(k, 0.5, -1.0),
                DVec3::new(0.0, f64::from(1e-3f32), k),
            ]
        };
        [frame(1.0), frame(2.0)]
    }

    fn slices(frames: &[Vec<DVec3>]) -> Vec<&[DVec3]> {
        frames.iter().map(Vec::as_slice).collect()
    }

    #[test]
    fn both_formats_give_their_frames_back() {
        let frames = two_frames();
        let pc2 = write_pc2(&slices(&frames)).expect("small");
        assert_eq!(pc2.len(), 32 + 2 * 2 * 12, "header and numbers");
        let mdd = write_mdd(&slices(&frames), Some(30.0)).expect("small");
        assert_eq!(mdd[..8], [0, 0, 0, 2, 0, 0, 0, 2], "big endian counts");
        let (pc2, mdd) = (
            read_pc2(&pc2).expect("valid"),
            read_mdd(&mdd).expect("valid"),
        );
        for (k, frame) in frames.iter().enumerate() {
            assert_eq!(&pc2.frames[k].positions, frame, "PC2 frame {k}");
            assert_eq!(&mdd.frames[k].positions, frame, "MDD frame {k}");
        }
        assert_eq!(mdd.frames_per_second, Some(30.0), "from the times");
        assert_eq!(pc2.frames_per_second, None, "PC2 stores no rate");
        assert_eq!(pc2.frames[1].name, "frame_0002", "counted from 1");
    }

    #[test]
    fn a_cut_file_says_how_many_bytes_are_missing() {
        let bytes = write_pc2(&slices(&two_frames())).expect("small");
        let error = read_pc2(&bytes[..70]).expect_err("cut short");
        assert_eq!(
            error.to_string(),
            "file: expected 80 bytes for 2 frames of 2 points, found 70",
            "both sizes"
        );
    }

    #[test]
    fn bytes_after_the_last_frame_are_a_note() {
        let mut bytes = write_mdd(&slices(&two_frames()), None).expect("small");
        bytes.extend([1, 2, 3]);
        let cache = read_mdd(&bytes).expect("valid");
        assert_eq!(
            cache.notes,
            ["3 bytes are left out after the last frame."],
            "counted"
        );
    }

    #[test]
    fn headers_that_lie_are_refused_before_memory_is_set_aside() {
        let mut pc2 = PC2_MAGIC.to_vec();
        for word in [1, i32::MAX, 0, 0, i32::MAX] {
            pc2.extend(word.to_le_bytes());
        }
        read_pc2(&pc2).expect_err("2^31 times 2^31 points are not there");
        let mdd = [i32::MAX.to_be_bytes(), i32::MAX.to_be_bytes()].concat();
        read_mdd(&mdd).expect_err("nor here");
        for bad in [0, -1, i32::MIN] {
            let mdd = [i32::to_be_bytes(bad), i32::to_be_bytes(1)].concat();
            let message = read_mdd(&mdd).expect_err("no frames").to_string();
            assert!(message.contains(&bad.to_string()), "{message}");
        }
    }

    #[test]
    fn uneven_times_have_no_speed() {
        assert_eq!(frames_per_second(&[0.0, 1.0, 3.0]), None, "uneven");
        assert_eq!(frames_per_second(&[0.0]), None, "one frame");
        assert_eq!(frames_per_second(&[1.0, 1.0]), None, "no time passes");
        assert_eq!(frames_per_second(&[0.0, 0.5, 1.0]), Some(2.0), "steady");
        assert_eq!(frames_per_second(&[f64::NAN, 0.5]), None, "no number");
    }
}
