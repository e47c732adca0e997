//! What the arguments of `dermis lod` ask for.

use anyhow::{anyhow, bail};
use dermis::BoneId;
use dermis::Skeleton;
use dermis::lod::{LevelTarget, LodOptions, Picture};
use dermis_io::Document;

use crate::lod_args::LodArgs;
use crate::method_args::TargetArg;

/// What levels keep unless something else is asked for.
const RATIOS: [f64; 3] = [0.5, 0.25, 0.1];
/// Influences that every engine plays.
const MOST_INFLUENCES: i64 = 4;
/// The picture that pixels are counted in.
pub(crate) const PICTURE: Picture = Picture {
    width: 1920.0,
    height: 1080.0,
    field_of_view_x_rad: 1.57,
};

/// How to simplify, with all arguments checked that need no file for it.
pub(super) fn options(args: &LodArgs) -> anyhow::Result<LodOptions> {
    for &ratio in &args.ratios {
        if !(ratio > 0.0 && ratio < 1.0) {
            bail!("--ratios: expected shares between 0 and 1, found {ratio}");
        }
    }
    if !(args.pixels.is_finite() && args.pixels > 0.0) {
        bail!("--pixels: expected a number above 0, found {}", args.pixels);
    }
    if !(args.uv_weight.is_finite() && args.uv_weight >= 0.0) {
        bail!("--uv-weight: expected 0 or more, found {}", args.uv_weight);
    }
    let most = args.max_influences.unwrap_or(MOST_INFLUENCES);
    let Some(max_influences) = usize::try_from(most).ok().filter(|n| *n > 0) else {
        bail!("--max-influences: expected 1 or more, found {most}");
    };
    let falls = |name: &str, counts: &[f64]| {
        if counts.windows(2).any(|pair| pair[1] >= pair[0]) {
            bail!("{name}: expected falling numbers, from fine to coarse, found {counts:?}");
        }
        Ok(())
    };
    let counts = |list: &[usize]| -> Vec<f64> { list.iter().map(|&n| n as f64).collect() };
    falls("--ratios", &args.ratios)?;
    falls("--triangles", &counts(&args.triangles))?;
    falls("--influences", &counts(&args.influences))?;
    if args.max_bones.contains(&0) {
        bail!("--max-bones: expected 1 or more, found 0");
    }
    let asks = !args.influences.is_empty() || !args.errors.is_empty() || !args.distances.is_empty();
    if args.no_mesh && !asks && args.max_influences.is_none() && args.max_bones.is_empty() {
        bail!(
            "--no-mesh: say how many influences may stay, with --errors, --influences, --max-influences or --max-bones"
        );
    }
    Ok(LodOptions {
        collapse: !args.no_mesh,
        drop_influences: !args.influences.is_empty(),
        max_influences,
        max_bones: args.max_bones.clone(),
        free: args.target == TargetArg::Dermis,
        drop_pieces: args.drop_pieces,
        uv_weight: args.uv_weight,
        ..LodOptions::default()
    })
}

/// How many levels are asked for.
pub(super) fn level_count(args: &LodArgs) -> usize {
    let counts = [
        args.ratios.len(),
        args.triangles.len(),
        args.influences.len(),
        args.distances.len(),
        args.errors.len(),
    ];
    // They exclude each other.
    let asked = counts.into_iter().find(|&n| n > 0);
    asked.unwrap_or(match args.no_mesh {
        true => args.max_bones.len().max(1),
        false => RATIOS.len(),
    })
}

/// The bones of a skeleton that match names in which a `*` stands for anything.
pub(super) fn locked_bones(args: &LodArgs, skeleton: &Skeleton) -> anyhow::Result<Vec<BoneId>> {
    let mut locked = Vec::new();
    for name in &args.lock_bones {
        let pattern = glob::Pattern::new(name).map_err(|e| anyhow!("--lock-bones {name}: {e}"))?;
        let before = locked.len();
        let bones = skeleton.bones().iter().enumerate();
        let found = bones.filter(|(_, bone)| pattern.matches(&bone.name));
        locked.extend(found.map(|(j, _)| BoneId(j as u16)));
        if locked.len() == before {
            bail!("--lock-bones {name}: no bone has this name; `dermis info --bones` lists them");
        }
    }
    Ok(locked)
}

/// What each level of a character of this size should have.
pub(super) fn targets(
    args: &LodArgs,
    document: &Document,
    size: f64,
) -> anyhow::Result<Vec<LevelTarget>> {
    if !args.triangles.is_empty() {
        return Ok((args.triangles.iter())
            .map(|&n| LevelTarget::Triangles(n))
            .collect());
    }
    if !args.influences.is_empty() {
        return Ok((args.influences.iter())
            .map(|&n| LevelTarget::Influences(n))
            .collect());
    }
    if !args.distances.is_empty() {
        let distances = args.distances.iter().map(|d| d.model_units(size));
        let distances: Vec<f64> = distances.collect();
        if distances.windows(2).any(|pair| pair[1] <= pair[0]) {
            let typed: Vec<String> = args.distances.iter().map(ToString::to_string).collect();
            bail!(
                "--distances: expected rising lengths, from near to far, found {}",
                typed.join(",")
            );
        }
        return Ok((distances.into_iter())
            .map(|distance| LevelTarget::Error(PICTURE.displacement(args.pixels, distance)))
            .collect());
    }
    if !args.errors.is_empty() {
        let errors: Vec<f64> = args.errors.iter().map(|e| e.model_units(size)).collect();
        if errors.windows(2).any(|pair| pair[1] <= pair[0]) {
            let typed: Vec<String> = args.errors.iter().map(ToString::to_string).collect();
            bail!(
                "--errors: expected rising lengths, from fine to coarse, found {}",
                typed.join(",")
            );
        }
        return Ok(errors.into_iter().map(LevelTarget::Error).collect());
    }
    if args.no_mesh {
        // Only what must go, goes.
        return Ok(vec![LevelTarget::Error(0.0); level_count(args)]);
    }
    let ratios = match args.ratios.is_empty() {
        true => &RATIOS[..],
        false => &args.ratios[..],
    };
    let full = document.mesh.triangles().len() as f64;
    Ok((ratios.iter())
        .map(|ratio| LevelTarget::Triangles((ratio * full).round() as usize))
        .collect())
}
