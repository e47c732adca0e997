//! Tears and folds of skins: as data, and in words. However many methods are compared, there is one sentence about tears and
//! one about folds; the counts of each method are columns of the table.

use dermis::ExampleSet;
use dermis::fit::FitReport;
use dermis::measure::Damage;
use serde::{Deserialize, Serialize};

use crate::talk::plural;

/// Most names in a sentence; more are counted.
const MOST_NAMES: usize = 3;

/// Tears and folds of a fit, as programs read them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DamageOfFit {
    /// Of the skin as it is written, on all examples.
    overall: Damage,
    /// On the examples that fits saw.
    training: Option<Damage>,
    /// On those that they did not see.
    held_out: Option<Damage>,
}

impl DamageOfFit {
    pub(super) fn of(fitted: &FitReport) -> Self {
        let held_out = fitted.held_out.as_ref();
        Self {
            overall: fitted.overall.damage.clone(),
            training: held_out.map(|h| h.training.damage.clone()),
            held_out: held_out.map(|h| h.measured.damage.clone()),
        }
    }
}

/// The worst of one kind of damage.
struct Worst<'a> {
    /// Everyone who did it.
    by: Vec<&'a str>,
    /// Who did the worst, of several.
    most: Option<&'a str>,
    /// Number of the example in its set.
    example: usize,
    /// What is to be seen there.
    sight: String,
    /// What kind of poses.
    kind: &'static str,
}

/// One sentence about tears and one about folds, of as many fits as there are, where they have any: in held-out poses,
/// else in poses that were fitted to.
pub(super) fn damage_remarks(set: &ExampleSet, fits: &[(&str, DamageOfFit)]) -> Vec<String> {
    let torn = worst(fits, |damage| {
        let tear = damage.worst_tear?;
        let sight = format!(
            "an edge near vertex {} is {:.0} times as long as it should be",
            tear.vertices[0], tear.times
        );
        Some((tear.times, tear.example, sight))
    });
    let folded = worst(fits, |damage| {
        let fold = damage.worst_fold?;
        let sight = format!(
            "{} near vertex {} turned inside out",
            plural(fold.triangles, "triangle"),
            fold.vertex
        );
        Some((fold.triangles as f64, fold.example, sight))
    });
    let said = |verbs: [&str; 2], worst: Option<Worst<'_>>| {
        let Worst {
            by,
            most,
            example,
            sight,
            kind,
        } = worst?;
        let verb = verbs[usize::from(by.len() > 1)];
        let most = most.map_or(String::new(), |most| format!("; {most} most"));
        let pose = &set.examples()[example].name;
        Some(format!(
            "{} {verb} the mesh in {kind} poses{most}: {sight} in pose {pose}",
            names(&by, fits.len())
        ))
    };
    let remarks = [
        said(["tears", "tear"], torn),
        said(["folds", "fold"], folded),
    ];
    remarks.into_iter().flatten().collect()
}

/// The worst that any fit does; `look` says how bad the worst of one fit is, in which example, and what is seen there.
fn worst<'a>(
    fits: &'a [(&str, DamageOfFit)],
    look: impl Fn(&Damage) -> Option<(f64, usize, String)>,
) -> Option<Worst<'a>> {
    let of_kind = |kind, of: fn(&DamageOfFit) -> Option<&Damage>| {
        let seen = fits
            .iter()
            .filter_map(|(who, fit)| Some((*who, look(of(fit)?)?)));
        let seen: Vec<(&str, (f64, usize, String))> = seen.collect();
        let (most, (_, example, sight)) = seen
            .iter()
            .max_by(|(_, (a, ..)), (_, (b, ..))| a.total_cmp(b))?;
        Some(Worst {
            by: seen.iter().map(|(who, _)| *who).collect(),
            most: (seen.len() > 1).then_some(*most),
            example: *example,
            sight: sight.clone(),
            kind,
        })
    };
    of_kind("held-out", |fit| fit.held_out.as_ref())
        .or_else(|| of_kind("fitted", |fit| Some(&fit.overall)))
}

/// "psd", "psd and mwe", "5 of 8 methods".
fn names(by: &[&str], count: usize) -> String {
    match by {
        [one] => (*one).to_owned(),
        _ if by.len() == count => format!("all {count} methods"),
        [before @ .., last] if by.len() <= MOST_NAMES => {
            format!("{} and {last}", before.join(", "))
        }
        _ => format!("{} of {count} methods", by.len()),
    }
}

#[cfg(test)]
mod tests {
    use dermis::measure::{Fold, Tear};

    use super::*;

    fn torn(times: f64) -> Damage {
        Damage {
            torn_edges: 2,
            torn_examples: 1,
            worst_tear: Some(Tear {
                example: 1,
                vertices: [7, 9],
                times,
            }),
            ..Damage::default()
        }
    }

    fn fit(overall: Damage, held_out: Option<Damage>) -> DamageOfFit {
        DamageOfFit {
            overall,
            training: held_out.clone().map(|_| Damage::default()),
            held_out,
        }
    }

    fn set() -> ExampleSet {
        dermis::synth::tube(&dermis::synth::TubeOptions {
            example_count: 3,
            ..Default::default()
        })
        .examples
    }

    #[test]
    fn a_whole_skin_gets_no_sentence_and_a_torn_one_says_where() {
        let set = set();
        let whole = fit(Damage::default(), Some(Damage::default()));
        assert!(damage_remarks(&set, &[("it", whole)]).is_empty(), "whole");
        let pose = &set.examples()[1].name;
        let said = damage_remarks(&set, &[("the skin", fit(torn(5.0), None))]);
        let expected = format!(
            "the skin tears the mesh in fitted poses: an edge near vertex 7 is 5 times as long as it should be in pose {pose}"
        );
        assert_eq!(said, [expected], "one sentence");
    }

    #[test]
    fn many_methods_share_one_sentence_and_held_out_poses_come_first() {
        let set = set();
        let fits: Vec<(&str, DamageOfFit)> = ["ssd", "psd", "mwe", "dual", "whole"]
            .into_iter()
            .zip([4.5, 9.0, 6.0, 5.0, 0.0])
            .map(|(name, times)| {
                let damage = match times > 0.0 {
                    true => torn(times),
                    false => Damage::default(),
                };
                (name, fit(torn(99.0), Some(damage)))
            })
            .collect();
        let said = damage_remarks(&set, &fits);
        assert_eq!(said.len(), 1, "{said:?}");
        let expected = "4 of 5 methods tear the mesh in held-out poses; psd most: an edge near vertex 7 is 9 times ";
        assert!(said[0].starts_with(expected), "{said:?}");
        let two = damage_remarks(&set, &[fits[0].clone(), fits[1].clone(), fits[4].clone()]);
        assert!(two[0].starts_with("ssd and psd tear"), "{two:?}");
        let all = damage_remarks(&set, &fits[..4]);
        assert!(all[0].starts_with("all 4 methods tear"), "{all:?}");
    }

    #[test]
    fn folds_have_a_sentence_of_their_own() {
        let set = set();
        let fold = Fold {
            example: 0,
            vertex: 3,
            angle_deg: 170.0,
            triangles: 12,
        };
        let folded = Damage {
            worst_fold: Some(fold),
            ..torn(5.0)
        };
        let said = damage_remarks(&set, &[("psd", fit(folded, None))]);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[1].contains("12 triangles near vertex 3 turned inside out"),
            "{said:?}"
        );
    }
}
