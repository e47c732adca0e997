//! `dermis crowd`: thousands of instances of a character, culled and with levels of detail, on a graphics card.

#[cfg(feature = "gpu")]
mod camera;
#[cfg(feature = "gpu")]
mod draw;
#[cfg(feature = "gpu")]
mod look;

use anyhow::bail;

use crate::Outcome;
use crate::crowd_args::CrowdArgs;
use crate::overwrite;
use crate::talk::Talk;

#[cfg(feature = "gpu")]
pub(crate) use draw::CrowdJob;

/// What works without a graphics card.
const WITHOUT: &str = "`dermis render` draws one instance without, and `dermis bounds --crowd` counts the instances that a camera may see";

pub(crate) fn run(args: &CrowdArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    check(args)?;
    let outputs = [&args.output].into_iter().chain(&args.report);
    overwrite::check(outputs, [&args.input], talk)?;
    #[cfg(feature = "gpu")]
    return draw::run(args, talk);
    #[cfg(not(feature = "gpu"))]
    bail!(
        "this dermis was built without graphics cards, which a crowd needs: build it with `cargo build --release \
         --features gpu`; {WITHOUT}"
    );
}

/// Checks all that needs no file.
fn check(args: &CrowdArgs) -> anyhow::Result<()> {
    let is_png = args
        .output
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("png"));
    if !is_png {
        bail!(
            "{}: a crowd is drawn as a picture: give a name that ends in .png",
            args.output.display()
        );
    }
    if args.report.as_ref() == Some(&args.output) {
        bail!(
            "--report: expected another file than the picture, found {}",
            args.output.display()
        );
    }
    let finite = [
        ("--pixels", args.pixels, 1e-3, 1e4),
        ("--time", args.time, -1e6, 1e6),
        ("--spacing", args.spacing, 0.05, 1e3),
        ("--field-of-view", args.field_of_view, 1.0, 150.0),
        ("--distance", args.distance.unwrap_or(0.0), -1e6, 1e6),
        ("--height", args.height.unwrap_or(1.0), 0.01, 1e6),
    ];
    for (flag, value, least, most) in finite {
        if !(least..=most).contains(&value) {
            bail!("{flag}: expected {least} to {most}, found {value}");
        }
    }
    Ok(())
}
