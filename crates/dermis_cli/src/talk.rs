//! What people hear while work goes on: progress bars and remarks, on stderr; and how they stop it.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use anyhow::bail;
use dermis::document::{Document, Note};
use dermis::progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::hints;

/// How long work may take to notice that it was stopped before the program ends without it.
const PATIENCE: Duration = Duration::from_millis(700);

/// The voice of the program.
#[derive(Clone)]
pub(crate) struct Talk {
    quiet: bool,
    bar: Arc<Mutex<Option<(String, ProgressBar)>>>,
    stop: Arc<Stop>,
}

/// What the user and the work have to say about stopping.
#[derive(Default)]
struct Stop {
    asked: AtomicBool,
    /// Whether the work comes to an end by itself, with a result.
    finishes: AtomicBool,
    /// What would have kept a result.
    advice: OnceLock<&'static str>,
    /// Held by whoever says the last sentence, for ever.
    last_word: Mutex<()>,
}

impl Talk {
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            bar: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// Lets Ctrl-C end the work at the next safe place, or anywhere when that is too far; a second one ends it at
    /// once.
    pub(crate) fn listen_for_ctrl_c(&self) {
        let talk = self.clone();
        let handled = ctrlc::set_handler(move || {
            if talk.stop.asked.swap(true, Ordering::Relaxed) {
                talk.end_now();
            }
            // Not here: while this waits, a second Ctrl-C is not heard.
            let talk = talk.clone();
            std::thread::spawn(move || {
                std::thread::sleep(PATIENCE);
                if !talk.stop.finishes.load(Ordering::Relaxed) {
                    talk.end_now();
                }
            });
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
    pub(crate) fn remark_notes(&self, document: &Document) {
        self.remark_all(&Note::of_reading(&document.path, &document.notes));
    }

    /// Passes on what was assumed or left out, with the flags that say otherwise.
    pub(crate) fn remark_all<'a>(&self, notes: impl IntoIterator<Item = &'a Note>) {
        for note in notes {
            self.remark(hints::said(note));
        }
    }

    /// Says which files there are now.
    pub(crate) fn remark_written(&self, files: &[PathBuf]) {
        match files {
            [] => {}
            [file] => self.remark(format!("wrote {}", file.display())),
            [first, second] => {
                self.remark(format!(
                    "wrote {} and {}",
                    first.display(),
                    second.display()
                ));
            }
            [first, .., last] => self.remark(format!(
                "wrote {} files, {} to {}",
                files.len(),
                first.display(),
                last.display()
            )),
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
        self.stop.asked.load(Ordering::Relaxed)
    }

    /// Fails when the user has asked to stop: called before anything is written.
    pub(crate) fn check_stopped(&self) -> anyhow::Result<()> {
        if self.was_stopped() {
            bail!(self.nothing_written());
        }
        Ok(())
    }

    /// From now on, work that is stopped is waited for: it ends soon, with a result to keep.
    pub(crate) fn finish_when_stopped(&self) {
        self.stop.finishes.store(true, Ordering::Relaxed);
    }

    /// What to tell someone who stops the work and may have wanted to keep something.
    pub(crate) fn advise_when_stopped(&self, advice: &'static str) {
        // The first advice stays.
        let _ = self.stop.advice.set(advice);
    }

    fn nothing_written(&self) -> String {
        let advice = self.stop.advice.get();
        let advice = advice.map_or(String::new(), |advice| format!(" ({advice})"));
        format!("stopped; nothing was written{advice}")
    }

    /// Ends the program wherever its work is; nothing stays half-written.
    fn end_now(&self) -> ! {
        let sentence = match dermis_io::abandon_writes() {
            true => self.nothing_written(),
            false => "stopped; what it wrote before is whole".to_owned(),
        };
        self.last_word(format!("error: {sentence}"));
        std::process::exit(2);
    }

    /// Says the last sentence of the program, which only one thread may do: others wait here for the end.
    pub(crate) fn last_word(&self, text: impl AsRef<str>) {
        std::mem::forget(self.stop.last_word.lock());
        self.clear();
        let _ = writeln!(std::io::stderr(), "{}", text.as_ref());
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
        _ if noun == "vertex" => format!("{count} vertices"),
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
