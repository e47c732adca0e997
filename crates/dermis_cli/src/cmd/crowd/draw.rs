//! Draws a crowd, and gathers what there is to tell.

use anyhow::{Context, anyhow, bail};
use dermis_gpu::Gpu;
use dermis_gpu::crowd::{
    BallKind, Character, CharacterOptions, Counts, CrowdRenderer, FrameOptions, LevelErrors,
    Spread, StageTimes,
};
use dermis_io::{Document, Transaction};
use dermis_render::Image;

use super::WITHOUT;
use super::camera::camera;
use super::look::look;
use crate::Outcome;
use crate::cmd::{legal, skin_of};
use crate::crowd_args::CrowdArgs;
use crate::matching::read_upright;
use crate::report;
use crate::talk::{Talk, plural};

/// Frames that are drawn before times are taken: drivers finish compiling in the first.
const WARM_UP: usize = 1;
/// Seconds from one frame to the next.
const FRAME: f64 = 1.0 / 30.0;

/// A crowd that was drawn.
pub(crate) struct CrowdJob<'a> {
    pub(crate) args: &'a CrowdArgs,
    pub(crate) document: &'a Document,
    pub(crate) character: &'a Character,
    pub(crate) adapter: String,
    pub(crate) is_software: bool,
    pub(crate) counts: Counts,
    /// Means over all frames.
    pub(crate) times: StageTimes,
    pub(crate) picture: Image,
    pub(crate) notes: Vec<String>,
}

pub(super) fn run(args: &CrowdArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let gpu = Gpu::new().map_err(|error| anyhow!("{error}; {WITHOUT}"))?;
    let mut document = read_upright(&args.input, &args.up, talk)?;
    if document.skin.is_some() {
        legal::frames_to_clip(&mut document, talk)?;
    }
    skin_of(&document)?;
    let in_file = || args.input.display().to_string();
    let options = CharacterOptions {
        clips: clips(args, &document)?,
        errors: match args.guaranteed {
            true => LevelErrors::Guaranteed,
            false => LevelErrors::Measured,
        },
        ball: match args.clips_sphere {
            true => BallKind::Clips,
            false => BallKind::Legal,
        },
    };
    let character = Character::new(&document, &options).with_context(in_file)?;
    talk.check_stopped()?;
    let spread = Spread {
        count: args.count,
        spacing: args.spacing,
        seed: args.seed,
        ..Spread::default()
    };
    let instances = spread.instances(&character).with_context(in_file)?;
    let camera = camera(args, &character, &spread);
    let (look, mut notes) = look(&document);
    notes.extend(character.notes.iter().cloned());
    notes.extend(remarks(&document, &character));
    let mut crowd =
        CrowdRenderer::new(&gpu, character, instances, &look, args.size).with_context(|| {
            format!(
                "--count {} --size {}x{}",
                args.count, args.size[0], args.size[1]
            )
        })?;
    let mut frame = FrameOptions {
        pixels: args.pixels,
        culling: !args.no_culling,
        level: args.level,
        ..FrameOptions::default()
    };
    if args.no_morph {
        frame.morph_share = 0.0;
    }
    let mut times = Vec::new();
    for number in 0..WARM_UP + args.frames {
        frame.time = args.time + FRAME * number.saturating_sub(WARM_UP) as f64;
        times.push(crowd.draw(&camera, &frame).with_context(in_file)?);
        talk.check_stopped()?;
    }
    let job = CrowdJob {
        args,
        adapter: gpu.description(),
        is_software: gpu.is_software(),
        counts: crowd.counts()?,
        times: mean(&times[WARM_UP..]),
        picture: crowd.picture()?,
        character: crowd.character(),
        document: &document,
        notes,
    };
    let told = report::crowd_report(&job)?;
    let mut files = Transaction::new();
    files.add(&args.output, &job.picture.to_png()?)?;
    if let Some(path) = &args.report {
        let page = report::html(&told, &report::crowd_figures(&job))?;
        files.add(path, page.as_bytes())?;
    }
    files.commit()?;
    talk.clear();
    report::print(&told, args.print)?;
    talk.remark_written(&[&args.output]);
    if let Some(path) = &args.report {
        talk.remark_written(&[path]);
    }
    Ok(Outcome::Done)
}

/// Numbers of the clips that were named; none for all.
fn clips(args: &CrowdArgs, document: &Document) -> anyhow::Result<Vec<usize>> {
    let number = |name: &String| {
        let found = document.clips.iter().position(|clip| clip.name == *name);
        found.with_context(|| {
            let names: Vec<&str> = document
                .clips
                .iter()
                .map(|clip| clip.name.as_str())
                .collect();
            let file = args.input.display();
            match names.is_empty() {
                true => format!("{file}: --clip {name}: the file has no clips"),
                false => format!(
                    "{file}: there is no clip '{name}': the clips are '{}'",
                    names.join("', '")
                ),
            }
        })
    };
    let numbers = args
        .clip
        .iter()
        .map(number)
        .collect::<anyhow::Result<Vec<_>>>()?;
    match args.level {
        Some(level) if level > document.levels.len() => bail!(
            "{}: --level {level}: expected {}",
            args.input.display(),
            match document.levels.len() {
                0 => "0, because the file has no levels of detail: `dermis lod` makes them"
                    .to_owned(),
                coarsest => format!("0 to {coarsest}"),
            }
        ),
        _ => Ok(numbers),
    }
}

/// What a user may wonder about.
fn remarks(document: &Document, character: &Character) -> Vec<String> {
    let mut remarks = Vec::new();
    if document.levels.is_empty() {
        remarks.push(
            "the file has no levels of detail, so every instance is drawn in full: `dermis lod` makes some".to_owned(),
        );
    }
    if document.clips.is_empty() {
        remarks.push("the file has no clips: every instance stands in its default pose".to_owned());
    }
    let at_once = (0..document.levels.len())
        .filter(|level| !character.can_morph(*level))
        .count();
    if at_once > 0 {
        remarks.push(format!(
            "{} at once: the file does not say what vertices become, because pieces vanish or another program made it",
            match at_once {
                1 => "one level changes to the next".to_owned(),
                count => format!("{} change to the next", plural(count, "level")),
            }
        ));
    }
    remarks
}

fn mean(times: &[StageTimes]) -> StageTimes {
    let count = times.len().max(1) as f64;
    let of = |get: &dyn Fn(&StageTimes) -> f64| times.iter().map(get).sum::<f64>() / count;
    let of_card = |get: &dyn Fn(&StageTimes) -> Option<f64>| {
        let all: Option<Vec<f64>> = times.iter().map(get).collect();
        all.map(|all| all.iter().sum::<f64>() / count)
    };
    StageTimes {
        submit: of(&|t| t.submit),
        choose: of_card(&|t| t.choose),
        palettes: of_card(&|t| t.palettes),
        draw: of_card(&|t| t.draw),
        total: of(&|t| t.total),
    }
}
