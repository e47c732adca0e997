//! How long jobs report their progress, and how a caller stops them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Receives reports of how far a job has come, and may stop it.
///
/// Called from any thread, a few hundred times per stage at most.
pub trait Progress: Sync {
    /// `done` of `total` steps of a stage are finished; returns false to stop the job.
    fn report(&self, stage: &str, done: usize, total: usize) -> bool;

    /// How the current stage is doing, in a few words; for example its falling error.
    fn detail(&self, _text: &str) {}
}

/// Ignores progress reports and never stops the job.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _stage: &str, _done: usize, _total: usize) -> bool {
        true
    }
}

/// Counts the steps of one stage over many threads.
pub(crate) struct Stage<'a> {
    progress: &'a dyn Progress,
    name: &'a str,
    total: usize,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl<'a> Stage<'a> {
    pub(crate) fn new(progress: &'a dyn Progress, name: &'a str, total: usize) -> Self {
        Self {
            progress,
            name,
            total,
            done: AtomicUsize::new(0),
            stopped: AtomicBool::new(!progress.report(name, 0, total)),
        }
    }

    /// Counts a step; false when the job should stop.
    pub(crate) fn step(&self) -> bool {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let every = (self.total / 200).max(1);
        if (done.is_multiple_of(every) || done == self.total)
            && !self.progress.report(self.name, done, self.total)
        {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.is_stopped()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
