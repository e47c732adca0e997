//! What a fit says about examples and bones, in words.

use dermis::fit::{FitReport, RepeatedPose};

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
