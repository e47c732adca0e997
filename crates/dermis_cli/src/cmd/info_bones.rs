//! The bones of a file, for `dermis info --bones`.

use std::io::Write;

use dermis::document::BoneSummary;
use dermis::joint::{JointMotion, TurnLimits, nearest_axis};
use serde::Serialize;

use crate::report::NameColumn;

/// Columns of a terminal that the table fits into.
const WIDTH: usize = 100;
/// Names are not cut shorter than this.
const LEAST_NAME: usize = 16;

/// What is said about a bone; the JSON form is this, field by field.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BoneInfo {
    name: String,
    /// Name of the parent.
    parent: Option<String>,
    depth: usize,
    /// How many points it moves.
    points: usize,
    /// How its joint turns in the clips.
    motion: Option<JointMotion>,
    /// The axis of its own that a hinge is nearest to.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest_axis: Option<&'static str>,
    /// How its joint may turn.
    limits: Option<TurnLimits>,
    /// Number of the parent, for the tree.
    #[serde(skip)]
    parent_number: Option<usize>,
}

impl BoneInfo {
    pub(super) fn of(bones: &[BoneSummary]) -> Vec<Self> {
        let info = |bone: &BoneSummary| Self {
            name: bone.name.clone(),
            parent: bone.parent.map(|parent| bones[parent.index()].name.clone()),
            depth: bone.depth,
            points: bone.vertex_count,
            motion: bone.motion,
            nearest_axis: match bone.motion {
                Some(JointMotion::Hinge { axis, .. }) => Some(nearest_axis(axis).0),
                _ => None,
            },
            limits: bone.limits,
            parent_number: bone.parent.map(|parent| parent.index()),
        };
        bones.iter().map(info).collect()
    }
}

/// The tree of bones, a line each.
pub(super) fn print_bones(out: &mut impl Write, bones: &[BoneInfo]) -> std::io::Result<()> {
    if bones.is_empty() {
        return writeln!(out, "  no bones");
    }
    let order = in_tree_order(bones);
    let motions: Vec<String> = (bones.iter())
        .map(|bone| bone.motion.map_or("unknown".to_owned(), |m| m.to_string()))
        .collect();
    let limits: Vec<String> = (bones.iter())
        .map(|bone| bone.limits.map_or("none".to_owned(), |l| l.to_string()))
        .collect();
    let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max();
    let has_limits = bones.iter().any(|bone| bone.limits.is_some());
    let motion_width = width(&motions).unwrap_or(0).max("turns in clips".len());
    let limits_width = match has_limits {
        true => 2 + width(&limits).unwrap_or(0).max("may turn".len()),
        false => 0,
    };
    // The margin, the gap behind names, the points and the gap behind them.
    let taken = 2 + 2 + 8 + 2 + motion_width + limits_width;
    let most = WIDTH.saturating_sub(taken).max(LEAST_NAME);
    let deepest = bones.iter().map(|bone| bone.depth).max().unwrap_or(0);
    // Half of the column is for names.
    let step = [2, 1, 0]
        .into_iter()
        .find(|step| step * deepest <= most / 2);
    let step = step.unwrap_or(0);
    let indented: Vec<String> = (bones.iter())
        .map(|bone| format!("{:1$}{2}", "", step * bone.depth, bone.name))
        .collect();
    let names = NameColumn::within(indented.iter().map(String::as_str).chain(["bone"]), most);
    let mut row = |name: &str, points: &str, motion: &str, limits: &str| {
        let limits = match has_limits {
            true => format!("  {limits}"),
            false => String::new(),
        };
        let line = format!(
            "  {}{points:>8}  {motion:<motion_width$}{limits}",
            names.cell(name)
        );
        writeln!(out, "{}", line.trim_end())
    };
    row("bone", "points", "turns in clips", "may turn")?;
    for number in order {
        let points = bones[number].points.to_string();
        row(
            &indented[number],
            &points,
            &motions[number],
            &limits[number],
        )?;
    }
    Ok(())
}

/// Every bone after its parent and before its parent's next child.
fn in_tree_order(bones: &[BoneInfo]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); bones.len()];
    let mut roots = Vec::new();
    for (number, bone) in bones.iter().enumerate() {
        match bone.parent_number {
            Some(parent) => children[parent].push(number),
            None => roots.push(number),
        }
    }
    let mut order = Vec::with_capacity(bones.len());
    let mut next: Vec<usize> = roots.into_iter().rev().collect();
    while let Some(number) = next.pop() {
        order.push(number);
        next.extend(children[number].iter().rev());
    }
    order
}

#[cfg(test)]
mod tests {
    use dermis::BoneId;

    use super::*;

    fn printed(bones: &[BoneSummary]) -> String {
        let mut out = Vec::new();
        print_bones(&mut out, &BoneInfo::of(bones)).expect("memory");
        String::from_utf8(out).expect("text")
    }

    fn bone(name: &str, parent: Option<u16>, depth: usize) -> BoneSummary {
        BoneSummary {
            name: name.to_owned(),
            parent: parent.map(BoneId),
            depth,
            vertex_count: 12,
            motion: None,
            limits: None,
        }
    }

    #[test]
    fn children_stand_below_their_parents_even_when_files_order_them_otherwise() {
        let text = printed(&[
            bone("hips", None, 0),
            bone("left", Some(0), 1),
            bone("right", Some(0), 1),
            bone("left foot", Some(1), 2),
        ]);
        let lines: Vec<&str> = text.lines().skip(1).map(str::trim_end).collect();
        let starts = ["  hips", "    left", "      left foot", "    right"];
        for (line, start) in lines.iter().zip(starts) {
            assert!(line.starts_with(start), "{start:?} in\n{text}");
        }
    }

    #[test]
    fn the_widest_table_has_a_hundred_columns() {
        let turn = TurnLimits::SwingTwist {
            center: glam::DQuat::IDENTITY,
            axis: glam::DVec3::X,
            max_swing_rad: 2.0,
            min_twist_rad: -2.0,
            max_twist_rad: 2.0,
        };
        let motion = JointMotion::Hinge {
            axis: glam::DVec3::new(0.0, 0.3, -0.9).normalize(),
            min_rad: -3.0,
            max_rad: 3.1,
        };
        let bones: Vec<BoneSummary> = (0..40u16)
            .map(|k| BoneSummary {
                motion: Some(motion),
                limits: Some(turn),
                ..bone(
                    &format!("mixamorig:LeftHandIndex{k}_end"),
                    k.checked_sub(1),
                    usize::from(k),
                )
            })
            .collect();
        let text = printed(&bones);
        for line in text.lines() {
            assert!(
                line.chars().count() <= 100,
                "{} in {line}",
                line.chars().count()
            );
        }
    }
}
