//! What people hear while work goes on: progress bars and remarks, on stderr; and how they stop it.

use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::bail;
use dermis::progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The voice of the program.
pub(crate) struct Talk {
    quiet: bool,
    bar: Mutex<Option<(String, ProgressBar)>>,
    stopped: Arc<AtomicBool>,
}

impl Talk {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            bar: Mutex::new(None),
            stopped: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Lets Ctrl-C end the work at the next safe place; a second one ends it at once.
    pub(crate) fn listen_for_ctrl_c(&self) {
        let stopped = Arc::clone(&self.stopped);
        let handled = ctrlc::set_handler(move || {
            if stopped.swap(true, Ordering::Relaxed) {
                std::process::exit(2);
            }
        });
        if handled.is_err() {
            self.remark("note: Ctrl-C cannot be caught here and will end the work at once");
        }
    }

    /// Says something that is good to know but not the result.
    pub(crate) fn remark(&self, text: impl AsRef<str>) {
        if !self.quiet {
            self.clear();
            let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
        }
    }

    /// Passes on what reading a file had to repair or leave out.
    pub(crate) fn remark_notes(&self, document: &dermis_io::Document) {
        let path = document.path.display().to_string();
        for note in &document.notes {
            // Notes of a sequence name the file that they are about.
            match note.starts_with(&path) {
                true => self.remark(format!("note: {note}")),
                false => self.remark(format!("note: {path}: {note}")),
            }
        }
    }

    /// Takes the progress bar off the screen.
    pub(crate) fn clear(&self) {
        if let Ok(mut bar) = self.bar.lock()
            && let Some((_, bar)) = bar.take()
        {
            bar.finish_and_clear();
        }
    }

    /// True when the user has asked to stop.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Fails when the user has asked to stop: called before anything is written.
    pub(crate) fn check_stopped(&self) -> anyhow::Result<()> {
        if self.was_stopped() {
            bail!("stopped; nothing was written");
        }
        Ok(())
    }
}

impl Progress for Talk {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        let silent = self.quiet || !std::io::stderr().is_terminal();
        if !silent && let Ok(mut bar) = self.bar.lock() {
            // A stage may come again, once per fold: each time it begins with 0.
            if done == 0 || bar.as_ref().is_none_or(|(name, _)| name != stage) {
                if let Some((_, old)) = bar.take() {
                    old.finish_and_clear();
                }
                *bar = Some((stage.to_owned(), new_bar(stage, total)));
            }
            if let Some((_, bar)) = bar.as_ref() {
                bar.set_position(done as u64);
                if done >= total {
                    bar.finish_and_clear();
                }
            }
        }
        !self.was_stopped()
    }

    fn detail(&self, text: &str) {
        if let Ok(bar) = self.bar.lock()
            && let Some((_, bar)) = bar.as_ref()
        {
            bar.set_prefix(text.to_owned());
        }
    }
}

/// A number and what it counts: "1 bone", "3 bones".
pub(crate) fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ if noun.ends_with("ch") => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

fn new_bar(stage: &str, total: usize) -> ProgressBar {
    let bar =
        ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template("{msg:>16} [{bar:32}] {percent:>3}% {eta} {prefix}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("=> "));
    bar.set_message(stage.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
