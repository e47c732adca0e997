//! The flags that help: library errors and notes name none.

use std::fmt::Write;

use dermis::document::{DocumentError, FRAMES_PER_SECOND, MatchError, Note};
use dermis::limits::TooLarge;
use dermis::mesh::Upright;
use dermis_io::{Fault, Format, InputError, IoError};

use crate::input_args::MatchArgs;

/// What is wrong with input, as this program says it.
pub(crate) trait Explained<T> {
    /// The same with the flags that help; the arguments say what was typed already.
    fn explained(self, args: &MatchArgs) -> anyhow::Result<T>;
}

impl<T, E: Into<InputError>> Explained<T> for Result<T, E> {
    fn explained(self, args: &MatchArgs) -> anyhow::Result<T> {
        self.map_err(|error| {
            let error = with_flags_inside(error.into());
            match flags_that_help(&error, args) {
                Some(hint) => anyhow::anyhow!("{error}{hint}"),
                None => error.into(),
            }
        })
    }
}

/// The error with the flag where its sentence goes on behind it.
fn with_flags_inside(error: InputError) -> InputError {
    match error {
        InputError::Document(DocumentError::TooManyFrames { path, source }) => {
            let instead = format!("{} with --fps", source.instead);
            let source = TooLarge { instead, ..source };
            DocumentError::TooManyFrames { path, source }.into()
        }
        other => other,
    }
}

/// What to write behind an error.
fn flags_that_help(error: &InputError, args: &MatchArgs) -> Option<String> {
    let text = match error {
        InputError::Io(IoError::Content { fault, .. }) => match fault {
            Fault::OtherFaces {
                can_reorder: true, ..
            } => in_order(true),
            Fault::NoMeshOfCache { .. } => "; --mesh names it".to_owned(),
            _ => return None,
        },
        InputError::Document(error) => match error {
            DocumentError::NoPoses { .. } => {
                "; give a rigged file with --skeleton, or let bones be found with --bones N"
                    .to_owned()
            }
            DocumentError::NoMovingBones { .. } => {
                "; --bones N finds some first, and `dermis decompose` makes a skin of any motion"
                    .to_owned()
            }
            DocumentError::SeveralMotions { .. } => {
                ": choose one for --skeleton with `dermis convert --clip NAME` first".to_owned()
            }
            DocumentError::NoCores { .. } => " (--bones N)".to_owned(),
            DocumentError::AmbiguousClip { .. } => "; choose one with --clip".to_owned(),
            DocumentError::Match(error) => for_mismatch(error, args)?,
            _ => return None,
        },
        _ => return None,
    };
    Some(text)
}

/// What to write behind meshes that do not belong together.
fn for_mismatch(error: &MatchError, args: &MatchArgs) -> Option<String> {
    let forced = |mend: String| format!("; {mend}, and --force takes them as they are");
    Some(match error {
        MatchError::Order { can_reorder, .. } => in_order(*can_reorder),
        MatchError::Faces {
            can_reorder: true, ..
        } => in_order(true),
        MatchError::Space {
            rest,
            scale,
            upright,
            is_own_rest,
            ..
        } => forced(mend(*scale, *upright, *is_own_rest, rest, args)),
        MatchError::SkeletonSpace { rig, found, .. } => {
            forced(mend(found.scale, found.upright, false, rig, args))
        }
        MatchError::SkeletonSize { scale, .. } => {
            let factor = short(args.placements()[0].scale / scale);
            forced(format!("give --scale {factor} if its unit is another"))
        }
        _ => return None,
    })
}

/// What to do about another order of vertices.
fn in_order(can_reorder: bool) -> String {
    let mend = match can_reorder {
        true => "--reorder puts each where it lies on the rest mesh",
        false => "write both files again with the vertices in one order",
    };
    format!("; {mend}, and --force takes them as they are")
}

/// What to type for meshes in another unit or with other axes.
fn mend(
    scale: f64,
    upright: Option<Upright>,
    is_own_rest: bool,
    rest: &std::path::Path,
    args: &MatchArgs,
) -> String {
    let of = if is_own_rest { "frames=" } else { "" };
    let mut flags = Vec::new();
    if scale != 1.0 {
        let given = args.placements()[1].scale;
        flags.push(format!("--scale {of}{}", short(given / scale)));
    }
    let is_turned = args.placements()[1].z_up;
    let is_y_up = Format::of(rest).is_ok_and(Format::is_y_up);
    let mut by_hand = None;
    match upright {
        None => {}
        // What is y up by its standard stays, so that the short form turns the frames alone.
        Some(Upright::ZInY) if is_y_up => flags.push("--input-up z".to_owned()),
        Some(Upright::ZInY) => flags.push(format!("--input-up {of}z")),
        Some(Upright::YInZ) if is_turned => by_hand = Some("leave --input-up out".to_owned()),
        Some(Upright::YInZ) => {
            by_hand = Some(format!(
                "turn {} first with dermis transform --rotate x=-90",
                rest.display()
            ));
        }
    }
    let typed = (!flags.is_empty()).then(|| format!("give {}", flags.join(" ")));
    let all: Vec<String> = typed.into_iter().chain(by_hand).collect();
    all.join(" and ")
}

/// A factor with as few digits as name it.
fn short(factor: f64) -> String {
    let rounded = format!("{factor:.4e}").parse::<f64>().unwrap_or(factor);
    format!("{rounded}")
}

/// A note as this program says it.
pub(crate) fn said(note: &Note) -> String {
    let kind = if note.is_warning() { "warning" } else { "note" };
    let mut text = format!("{kind}: {note}");
    let hint = match note {
        Note::NotTurned { .. } => "; dermis transform --rotate x=-90 turns one that is not",
        Note::FarEdges { .. } => "; write both files again with the vertices in one order",
        Note::SpreadOverClip { .. } => "; --fps says otherwise",
        Note::OtherDuration { .. } => "; --fps says how fast the meshes play",
        Note::FarOff { .. } => " (--input-up z)",
        Note::TakenForPoses { .. } => {
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "; --fps {FRAMES_PER_SECOND} would make a motion of them"
            );
            ""
        }
        _ => "",
    };
    text + hint
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(error: impl Into<InputError>, args: &MatchArgs) -> String {
        let failed: Result<(), InputError> = Err(error.into());
        failed.explained(args).expect_err("an error").to_string()
    }

    #[test]
    fn a_unit_is_mended_by_what_was_typed_and_what_was_found() {
        let space = |is_own_rest| {
            DocumentError::from(MatchError::Space {
                meshes: "a.pc2".into(),
                rest: "a.obj".into(),
                scale: 100.0,
                upright: Some(Upright::ZInY),
                is_own_rest,
            })
        };
        let plain = sentence(space(true), &MatchArgs::default());
        assert!(
            plain.ends_with(
                "give --scale frames=0.01 --input-up frames=z, and --force takes them as they are"
            ),
            "{plain}"
        );
        let args = MatchArgs {
            scale: Some(crate::input_args::Scale {
                of: crate::input_args::Of::All,
                factor: 10.0,
            }),
            ..MatchArgs::default()
        };
        let typed = sentence(space(false), &args);
        assert!(typed.contains("give --scale 0.1 --input-up z,"), "{typed}");
    }

    #[test]
    fn flags_come_behind_the_sentence_or_inside_it() {
        let clips = DocumentError::AmbiguousClip {
            path: "a.glb".into(),
            clips: vec!["run".to_owned(), "walk".to_owned()],
        };
        assert_eq!(
            sentence(clips, &MatchArgs::default()),
            "a.glb: has several clips ('run', 'walk'); choose one with --clip",
            "behind"
        );
        let source = TooLarge {
            what: "9 frames".to_owned(),
            bytes: 9,
            most: 1,
            instead: "ask for fewer frames per second".to_owned(),
        };
        let path = "a.glb".into();
        let frames = DocumentError::TooManyFrames { path, source };
        let said = sentence(frames, &MatchArgs::default());
        assert!(
            said.ends_with("per second with --fps, or raise the memory limit"),
            "{said}"
        );
    }
}
