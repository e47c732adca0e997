//! Error against influences for several ways to simplify, as a chart for each character: figure 8.13 of \[Merry07\].

use std::path::Path;

use dermis::lod::{LevelTarget, LodOptions};
use dermis::rig::Pose;
use dermis_render::{Axis, Chart, Draw, Point, Series};

use crate::character::Character;

/// Shares of the influences that are left.
const SHARES: [f64; 6] = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015_625];

pub fn draw(folder: &Path, files: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    std::fs::create_dir_all(folder)?;
    let shares = SHARES.map(|share| format!("1/{}", 1.0 / share));
    println!("| character | way | {} |", shares.join(" | "));
    println!("| --- | --- | {} |", SHARES.map(|_| "---:").join(" | "));
    for path in files {
        let character = Character::read(path)?;
        let mut series = Vec::new();
        for (name, at_rest, options) in ways() {
            let rest = [character.skin.skeleton.rest_pose()];
            let poses = if at_rest { &rest[..] } else { &character.seen };
            let points = curve(&character, poses, &options);
            let percent = |(_, error): &(usize, f64)| format!("{:.3}%", 100.0 * error);
            let cells: Vec<String> = points.iter().map(percent).collect();
            println!("| {} | {name} | {} |", character.name, cells.join(" | "));
            let points = points
                .iter()
                .map(|&(n, error)| Point::new(n as f64, 100.0 * error));
            series.push(Series::new(name, Draw::LineAndPoints, points));
        }
        let chart = Chart {
            title: format!("{}: error in unseen poses", character.name),
            x: Axis::log10("influences"),
            y: Axis::log10("RMS error, % of the size"),
            series,
            ..Chart::default()
        };
        // On its own, a picture has no text around it to take a colour from.
        let svg = chart.to_svg().replacen("<svg ", "<svg color=\"#444\" ", 1);
        std::fs::write(folder.join(format!("lod_{}.svg", character.name)), svg)?;
    }
    Ok(())
}

/// Ways to simplify: a name, whether only the rest pose is known, and options.
fn ways() -> [(&'static str, bool, LodOptions); 5] {
    let usual = LodOptions::default;
    let memoryless = || LodOptions {
        memoryless: true,
        ..usual()
    };
    let with_influences = LodOptions {
        drop_influences: true,
        ..usual()
    };
    [
        ("rest, memoryless", true, memoryless()),
        ("rest", true, usual()),
        ("poses, memoryless", false, memoryless()),
        ("poses", false, usual()),
        ("poses + influences", false, with_influences),
    ]
}

/// Influences and error at each share.
fn curve(character: &Character, poses: &[Pose], options: &LodOptions) -> Vec<(usize, f64)> {
    let full: usize = character.program.weights.iter().map(|row| row.len()).sum();
    let at = |share: &f64| {
        let most = (share * full as f64) as usize;
        let targets = [LevelTarget::Influences(most)];
        let level = character.levels(poses, &targets, options).remove(0);
        (most, character.error_of_level(&level))
    };
    SHARES.iter().map(at).collect()
}
