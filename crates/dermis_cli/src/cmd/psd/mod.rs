//! `dermis psd`: shapes sculpted in poses, on any skin.

mod add;
mod check;
mod fit;
mod import;
mod new;
mod pose;
mod show;

use crate::Outcome;
use crate::psd_args::{PsdArgs, PsdStep};
use crate::talk::Talk;

pub(crate) fn run(args: &PsdArgs, talk: &Talk) -> anyhow::Result<Outcome> {
    match &args.step {
        PsdStep::New(args) => new::run(args, talk),
        PsdStep::Pose(args) => pose::run(args, talk),
        PsdStep::Add(args) => add::run(args, talk),
        PsdStep::Import(args) => import::run(args, talk),
        PsdStep::Fit(args) => fit::run(args, talk),
        PsdStep::Show(args) => show::run(args, talk),
        PsdStep::Check(args) => check::run(args, talk),
    }
}
