//! A comparison of decompositions as text and as JSON.

use std::fmt::Write;

use anyhow::Context;
use dermis::MeshAnimation;
use dermis::compare::{
    Decomposed, DecomposedNumbers, DecompositionComparison, DecompositionRow, ModelNumbers,
};
use serde_json::{Value, json};

use super::table::short;

/// One line per way, then what the numbers say.
pub(crate) fn decompositions_table(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
) -> String {
    let mut text = String::new();
    let mut line = |cells: [&str; 8], last: &str| {
        // Writing to a string cannot fail.
        let [key, cells @ ..] = cells;
        let _ = write!(text, "{key:<16}");
        for cell in cells {
            let _ = write!(text, "{cell:>10}");
        }
        let _ = writeln!(text, "  {last}");
    };
    let rank = found
        .decomposed()
        .find_map(|(_, numbers)| corrections(numbers));
    let with = rank.map_or(String::new(), |rank| format!("+ rank {rank}"));
    let corrected = |text: &'static str| if rank.is_some() { text } else { "" };
    line(
        [
            "", "E_RMS", &with, "bytes/", &with, "bytes/", "seconds", &with,
        ],
        "plays in",
    );
    line(
        [
            "method",
            "",
            corrected("E_RMS"),
            "vertex",
            corrected("vertex"),
            "frame",
            "",
            corrected("seconds"),
        ],
        "stock engines",
    );
    for row in &found.rows {
        match &row.outcome {
            Ok(numbers) => {
                let cells = cells(numbers);
                let [a, b, c, d, e, f, g] = cells.each_ref().map(String::as_str);
                line([row.key, a, b, c, d, e, f, g], plays(numbers));
            }
            Err(reason) => line([row.key, "", "", "", "", "", "", ""], &reason.to_string()),
        }
    }
    let _ = writeln!(
        text,
        "{} vertices, {} frames, {} bones",
        animation.vertex_count(),
        animation.frame_count(),
        found.bone_count
    );
    for sentence in found.advice() {
        let _ = writeln!(text, "{sentence}");
    }
    text.truncate(text.trim_end().len());
    text
}

/// How many corrections a skin got; none for shapes.
fn corrections(numbers: &DecomposedNumbers) -> Option<usize> {
    let corrected = numbers.with_eigen_skin.as_ref()?;
    Some((corrected.bytes_per_frame - numbers.numbers.bytes_per_frame) / size_of::<f32>())
}

/// Errors, bytes and seconds of a row, with and without corrections.
pub(super) fn cells(found: &DecomposedNumbers) -> [String; 7] {
    let numbers = &found.numbers;
    let with = |text: fn(&ModelNumbers) -> String| {
        found.with_eigen_skin.as_ref().map_or("-".to_owned(), text)
    };
    [
        short(numbers.e_rms),
        with(|n| short(n.e_rms)),
        format!("{:.1}", numbers.bytes_per_vertex),
        with(|n| format!("{:.1}", n.bytes_per_vertex)),
        numbers.bytes_per_frame.to_string(),
        format!("{:.2}", numbers.seconds),
        with(|n| format!("{:.2}", n.seconds)),
    ]
}

/// The answer to "does it play in stock engines?"
pub(super) fn plays(found: &DecomposedNumbers) -> &'static str {
    found.playback.map_or("no", |playback| playback.text())
}

/// The same as JSON, frame by frame.
pub(crate) fn decompositions_json(
    animation: &MeshAnimation,
    found: &DecompositionComparison,
) -> anyhow::Result<String> {
    let numbers = |numbers: &ModelNumbers| {
        json!({
            "eRms": numbers.e_rms,
            "bytesPerVertex": numbers.bytes_per_vertex,
            "bytesPerFrame": numbers.bytes_per_frame,
            "seconds": numbers.seconds,
        })
    };
    let row = |row: &DecompositionRow| -> Value {
        let decomposed = row.outcome.as_ref().ok();
        json!({
            "method": row.key,
            "title": row.title,
            "error": row.outcome.as_ref().err().map(ToString::to_string),
            "kind": decomposed.map(|d| match d.model {
                Decomposed::Skin(_) => "skin",
                Decomposed::Shapes(_) => "shapes",
            }),
            "numbers": decomposed.map(|d| numbers(&d.numbers)),
            "withEigenSkin": decomposed.and_then(|d| d.with_eigen_skin.as_ref()).map(numbers),
            "playback": decomposed.and_then(|d| d.playback),
            "keepsTheBound": decomposed.map(|_| found.keeps_the_bound(row)),
            "frameErrors": decomposed.map(|d| &d.frame_errors),
        })
    };
    let value = json!({
        "vertices": animation.vertex_count(),
        "frames": animation.frame_count(),
        "bones": found.bone_count,
        "bound": found.bound,
        "methods": found.rows.iter().map(row).collect::<Vec<_>>(),
        "advice": found.advice(),
    });
    serde_json::to_string_pretty(&value).context("measures are plain JSON")
}
