//! Runs the independent players in `clients/` and reads their output.
//!
//! Included by path beside `support`, whose functions say where the players are.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The meshes or primitives that a player shows at one time, in order.
pub(crate) type Shown = Vec<ShownMesh>;

/// One mesh or primitive as a player shows it.
#[derive(Debug, Clone)]
pub(crate) struct ShownMesh {
    /// The player's name for it.
    pub(crate) name: String,
    /// Positions in world space, in glTF's axes.
    pub(crate) positions: Vec<[f64; 3]>,
    /// The point of each vertex, where the player passes `_ORIG` on.
    pub(crate) points: Option<Vec<usize>>,
    /// Centre and radius of the spheres that the player found on the mesh and on the primitive.
    pub(crate) spheres: Vec<([f64; 3], f64)>,
}

/// Fails, with every message, unless the Khronos validator finds neither errors nor warnings.
pub(crate) fn assert_valid(clients: &Path, files: &[impl AsRef<Path>]) {
    let mut command = Command::new("node");
    command.arg(clients.join("validate.mjs"));
    command.args(files.iter().map(AsRef::as_ref));
    let reports = json_output(&mut command);
    let reports = reports.as_array().expect("one report per file");
    assert_eq!(reports.len(), files.len(), "one report per file");
    for report in reports {
        assert!(
            report["numErrors"] == 0 && report["numWarnings"] == 0,
            "the validator found problems:\n{report:#}"
        );
    }
}

/// The meshes that three.js shows in a clip, or in the default pose, at some times in seconds.
pub(crate) fn three_positions(
    clients: &Path,
    file: &Path,
    clip: Option<&str>,
    times: &[f64],
) -> Vec<Shown> {
    let mut command = Command::new("node");
    command.arg(clients.join("three_positions.mjs"));
    played(command, file, clip, times)
}

/// The same, with vertices posed by the exact attributes that three.js loaded, or by all sets of
/// plain weights in a file without exact attributes.
pub(crate) fn three_exact(
    clients: &Path,
    file: &Path,
    clip: Option<&str>,
    times: &[f64],
) -> Vec<Shown> {
    let mut command = Command::new("node");
    command.arg(clients.join("three_exact.mjs"));
    played(command, file, clip, times)
}

/// The meshes that Blender shows in a clip, or in the default pose, at some times in seconds.
pub(crate) fn blender_positions(
    python: &Path,
    clients: &Path,
    file: &Path,
    clip: Option<&str>,
    times: &[f64],
) -> Vec<Shown> {
    let mut command = Command::new(python);
    command.arg(clients.join("blender_positions.py"));
    played(command, file, clip, times)
}

/// Largest distance between two lists of positions, which must have the same length.
pub(crate) fn largest_distance(found: &[[f64; 3]], expected: &[[f64; 3]]) -> f64 {
    assert_eq!(found.len(), expected.len(), "as many vertices as expected");
    let distance = |(a, b): (&[f64; 3], &[f64; 3])| {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b).powi(2));
        squares.sum::<f64>().sqrt()
    };
    // A NaN must not hide behind `max`, which ignores it.
    (found.iter().zip(expected))
        .map(distance)
        .fold(
            0.0,
            |a, b| if b.is_nan() { f64::INFINITY } else { b.max(a) },
        )
}

fn played(mut command: Command, file: &Path, clip: Option<&str>, times: &[f64]) -> Vec<Shown> {
    command.arg(file).arg(clip.unwrap_or("-"));
    command.args(times.iter().map(f64::to_string));
    let value = json_output(&mut command);
    let shown: Vec<Shown> = list(&value)
        .iter()
        .map(|meshes| list(meshes).iter().map(shown_mesh).collect())
        .collect();
    assert_eq!(shown.len(), times.len(), "one answer per time");
    shown
}

fn shown_mesh(mesh: &Value) -> ShownMesh {
    let numbers: Vec<f64> = list(&mesh["positions"])
        .iter()
        .map(|number| number.as_f64().unwrap_or(f64::NAN))
        .collect();
    let point = |value: &Value| value.as_f64().expect("a number") as usize;
    let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
    let sphere = |value: &Value| {
        let center = std::array::from_fn(|axis| number(&value["center"][axis]));
        (center, number(&value["radius"]))
    };
    let spheres = mesh["spheres"].as_array().map_or(&[][..], Vec::as_slice);
    ShownMesh {
        spheres: (spheres.iter().filter(|sphere| sphere.is_object()))
            .map(sphere)
            .collect(),
        name: mesh["name"].as_str().unwrap_or_default().to_owned(),
        positions: numbers.as_chunks().0.to_vec(),
        points: mesh["orig"]
            .as_array()
            .map(|points| points.iter().map(point).collect()),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("the player prints lists")
}

fn json_output(command: &mut Command) -> Value {
    let output = command.output().expect("the player starts");
    assert!(
        output.status.success(),
        "{command:?} failed:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("the player prints JSON")
}
