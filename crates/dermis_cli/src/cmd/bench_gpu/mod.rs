//! `dermis bench --gpu`: how fast skins are on this machine's graphics card, with the processor beside it.

#[cfg(feature = "gpu")]
mod cases;
#[cfg(feature = "gpu")]
mod measure;
#[cfg(feature = "gpu")]
mod report;

use crate::Outcome;
use crate::args::BenchArgs;
use crate::talk::Talk;

#[cfg(feature = "gpu")]
pub(super) fn run(args: &BenchArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    let gpu = dermis_gpu::Gpu::new()
        .map_err(|error| anyhow::anyhow!("--gpu: {error}; without --gpu the processor is timed"))?;
    let timings = measure::measure(&gpu, args, talk)?;
    talk.clear();
    crate::report::print(&report::report_of(&timings)?, args.print)?;
    Ok(Outcome::Done)
}

#[cfg(not(feature = "gpu"))]
pub(super) fn run(_: &BenchArgs, _: &Talk) -> anyhow::Result<Outcome> {
    anyhow::bail!(
        "--gpu: this dermis was built without graphics cards: build it with `cargo build --release --features gpu`, or \
         leave --gpu out to time the processor"
    );
}
