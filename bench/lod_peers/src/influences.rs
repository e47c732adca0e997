//! Influences alone: dermis and what exporters do, which is to drop the least weights and scale up the others.

use dermis::lod::{LevelTarget, LodOptions};
use dermis::skin::{SsdProgram, VertexProgram, Weight};

use crate::character::Character;

pub fn print(files: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| character | poses | at most | least weights dropped | dermis, plain | ratio | dermis, free | ratio |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for path in files {
        let character = Character::read(path)?;
        rows(&character, "of the clips");
        rows(
            &character.with_every_joint_turning(30.0)?,
            "every joint by up to 30°",
        );
    }
    Ok(())
}

fn rows(character: &Character, poses: &str) {
    for most in [4, 3, 2, 1] {
        let dropped = VertexProgram::Ssd(least_dropped(&character.program, most));
        let theirs = character.vertex_error(&character.with_program(dropped));
        let [plain, free] = [false, true].map(|free| {
            let options = LodOptions {
                collapse: false,
                max_influences: most,
                free,
                ..LodOptions::default()
            };
            // No further step is small enough, so only what must go goes.
            let targets = [LevelTarget::Error(0.0)];
            let level = character
                .levels(&character.seen, &targets, &options)
                .remove(0);
            character.vertex_error(&character.with_program(level.program))
        });
        println!(
            "| {} | {poses} | {most} | {:.4}% | {:.4}% | {:.2} | {:.4}% | {:.2} |",
            character.name,
            100.0 * theirs,
            100.0 * plain,
            plain / theirs,
            100.0 * free,
            free / theirs
        );
    }
}

fn least_dropped(program: &SsdProgram, most: usize) -> SsdProgram {
    let row = |row: &[Weight]| {
        let mut own = row.to_vec();
        own.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        own.truncate(most);
        let sum: f64 = own.iter().map(|w| w.weight).sum();
        own.iter_mut().for_each(|w| w.weight /= sum);
        own
    };
    SsdProgram {
        weights: program.weights.iter().map(row).collect(),
        ..program.clone()
    }
}
