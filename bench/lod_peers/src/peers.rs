//! Dermis and meshoptimizer at the same numbers of triangles.

use dermis::lod::{LevelTarget, LodOptions};

use crate::character::{Character, timed};
use crate::meshoptimizer as peers;

pub fn print(files: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| character | kept | rest only | poses as attributes | weights solved | dermis | of rest only | of the best | time of the best | dermis's time | ratio | stands out |"
    );
    println!(
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    let mut ratios = Vec::new();
    for path in files {
        let character = Character::read(path)?;
        for kept in [4, 10, 25] {
            ratios.push(row(&character, kept));
        }
    }
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    println!("\nmean over rest only: {mean:.3}");
    Ok(())
}

/// Prints a row; returns our error over that of the rest pose alone.
fn row(character: &Character, kept: usize) -> f64 {
    let target = character.triangle_count() / kept;
    let of_faces = |(faces, time): (Vec<[u32; 3]>, f64)| (character.error_of_faces(&faces), time);
    let rest = of_faces(timed(|| peers::at_rest(&character.document, target)));
    let weights = [1.0, 0.3, 0.1];
    let posed = least(
        weights.map(|weight| of_faces(timed(|| peers::with_poses(character, weight, target)))),
    );
    // It takes 32 attributes at most.
    let solved = (character.skin.skeleton.bone_count() <= 32).then(|| {
        least(weights.map(|weight| {
            let ((faces, skin), time) =
                timed(|| peers::with_solved_weights(character, weight, target));
            (character.error(&skin, &faces), time)
        }))
    });
    let (ours, our_time) = timed(|| {
        let targets = [LevelTarget::Triangles(target)];
        // Meshoptimizer may take small pieces away, so we may.
        let options = LodOptions {
            drop_pieces: true,
            ..LodOptions::default()
        };
        character
            .levels(&character.seen, &targets, &options)
            .remove(0)
    });
    let error = character.error_of_level(&ours);
    let best = [Some(rest), Some(posed), solved].into_iter().flatten();
    let best = best.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or(rest);
    let percent = |error: f64| format!("{:.3}%", 100.0 * error);
    println!(
        "| {} | 1/{kept} | {} | {} | {} | {} | {:.2} | {:.2} | {:.1} ms | {:.1} ms | {:.1} | {} |",
        character.name,
        percent(rest.0),
        percent(posed.0),
        solved.map_or("-".to_owned(), |solved| percent(solved.0)),
        match ours.is_met {
            true => percent(error),
            false => format!(
                "{} ({} triangles)",
                percent(error),
                ours.mesh.triangles().len()
            ),
        },
        error / rest.0,
        error / best.0,
        best.1,
        our_time,
        our_time / best.1,
        percent(character.stands_out(&ours)),
    );
    error / rest.0
}

fn least(tries: [(f64, f64); 3]) -> (f64, f64) {
    let [first, rest @ ..] = tries;
    rest.into_iter()
        .fold(first, |a, b| if b.0 < a.0 { b } else { a })
}
