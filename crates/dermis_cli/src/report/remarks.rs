//! What a fit says about examples and bones, in words.

use dermis::fit::{FitReport, RepeatedPose};
use dermis::measure::Measured;
use serde_json::{Value, json};

use crate::talk::plural;

/// Meshes of one pose that are further apart than this, in shares of the diagonal, are different.
const SAME_MESH: f64 = 1e-5;

/// What a user should know about the examples and the bones.
pub(super) fn rig_remarks(fitted: &FitReport) -> Vec<String> {
    let mut remarks = Vec::new();
    // Beyond any fit that was only poor: a twentieth of the model, on average over all vertices.
    if fitted.overall.total.mean_distance > 0.05 {
        remarks.push(
            "the meshes hardly follow the bones: check that both have the same axis up (y or z; see \
             --input-up) and that the poses belong to the meshes in this order"
                .to_owned(),
        );
    }
    let list = |names: &[String]| match names.len() {
        0..=6 => names.join(", "),
        more => format!("{} and {} more", names[..6].join(", "), more - 6),
    };
    if !fitted.rig.indistinct.is_empty() {
        let pairs: Vec<String> = fitted
            .rig
            .indistinct
            .iter()
            .map(|[bone, parent]| format!("{bone}/{parent}"))
            .collect();
        remarks.push(format!(
            "{} never moved against the parent in the examples, so how the two share weight is a \
             guess: {}",
            plural(pairs.len(), "bone"),
            list(&pairs)
        ));
    }
    if !fitted.rig.unused.is_empty() {
        remarks.push(format!(
            "no vertex follows {}: {}",
            plural(fitted.rig.unused.len(), "bone"),
            list(&fitted.rig.unused)
        ));
    }
    if !fitted.rig.under_determined.is_empty() {
        let weak = &fitted.rig.under_determined;
        let names: Vec<String> = weak.iter().map(|w| w.bone.clone()).collect();
        remarks.push(format!(
            "the examples say too little about {} (under-determined: too few poses, or turns about one axis only): {}",
            plural(names.len(), "bone"),
            list(&names)
        ));
    }
    remarks.extend(repeated(&fitted.rig.repeated));
    if fitted.cost.max_influences > 4 {
        remarks.push(format!(
            "up to {} bones move a vertex: players that read only four per vertex show an approximation",
            fitted.cost.max_influences
        ));
    }
    remarks
}

/// Tears and folds in words: those in held-out poses, else those in poses that were fitted to. `who` made them.
pub(super) fn damage_remarks(who: &str, fitted: &FitReport) -> Vec<String> {
    let held_out = fitted.held_out.as_ref().map(|h| (&h.measured, "held-out"));
    let all = [held_out, Some((&fitted.overall, "fitted"))];
    let mut remarks = Vec::new();
    let torn = |(measured, kind): (&Measured, &str)| {
        let damage = &measured.damage;
        let tear = damage.worst_tear?;
        Some(format!(
            "{who} tears the mesh in {} near vertex {} (an edge is {:.0} times as long as in the example); {} in {} {kind} \
             {}",
            name(measured, tear.example),
            tear.vertices[0],
            tear.times,
            plural(damage.torn_edges, "torn edge"),
            damage.torn_examples,
            if damage.torn_examples == 1 {
                "pose"
            } else {
                "poses"
            },
        ))
    };
    let folded = |(measured, kind): (&Measured, &str)| {
        let damage = &measured.damage;
        let fold = damage.worst_fold?;
        Some(format!(
            "{who} folds the mesh in {} near vertex {} ({} turned inside out there); it does so in {} {kind} {}",
            name(measured, fold.example),
            fold.vertex,
            plural(fold.triangles, "triangle"),
            damage.folded_examples,
            if damage.folded_examples == 1 {
                "pose"
            } else {
                "poses"
            },
        ))
    };
    remarks.extend(all.into_iter().flatten().find_map(torn));
    remarks.extend(all.into_iter().flatten().find_map(folded));
    remarks
}

/// Tears and folds as programs read them.
pub(super) fn damage_data(fitted: &FitReport) -> Value {
    json!({
        "overall": fitted.overall.damage,
        "training": fitted.held_out.as_ref().map(|h| &h.training.damage),
        "heldOut": fitted.held_out.as_ref().map(|h| &h.measured.damage),
    })
}

fn name(measured: &Measured, example: usize) -> String {
    let known = measured.examples.iter().find(|m| m.index == example);
    known.map_or(format!("example {example}"), |m| format!("pose {}", m.name))
}

/// Poses given more than once: those that contradict each other, and those that add nothing.
fn repeated(pairs: &[RepeatedPose]) -> Vec<String> {
    let (same, different): (Vec<_>, Vec<_>) = pairs
        .iter()
        .partition(|pair| pair.max_distance <= SAME_MESH);
    let name = |pair: &&RepeatedPose| {
        let ([a, b], [first, later]) = (&pair.examples, pair.indices);
        match a == b {
            true => format!("number {first} and number {later} ({a})"),
            false => format!("{a} and {b}"),
        }
    };
    let names = |pairs: &[&RepeatedPose]| {
        let named: Vec<String> = pairs.iter().take(3).map(name).collect();
        match pairs.len().saturating_sub(3) {
            0 => named.join(", "),
            more => format!("{}, and {}", named.join(", "), plural(more, "more pair")),
        }
    };
    let mut remarks = Vec::new();
    if !different.is_empty() {
        let apart = different.iter().map(|pair| pair.max_distance);
        remarks.push(format!(
            "examples {} have the same pose but different meshes, up to {:.2}% of the size apart: no skin \
             can match both, because it sees only the pose",
            names(&different),
            100.0 * apart.fold(0.0, f64::max)
        ));
    }
    if !same.is_empty() {
        remarks.push(format!(
            "examples {} have the same pose and the same mesh: the fit counts them twice, and a test on \
             one is worth nothing when the other was fitted to",
            names(&same)
        ));
    }
    remarks
}
