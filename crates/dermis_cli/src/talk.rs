//! What people hear while work goes on: progress bars and remarks, on stderr; what they answered beforehand with
//! --force; and how they stop it.
//!
//! There are three voices. Quiet (`-q`) says nothing but errors. The usual one says what is good to know: notes,
//! warnings, which files were written. The full one (`-v`) also says every file that is read, every stage of the work
//! and every choice, each with the time since the start. Results are not talk: they go to stdout, with any voice.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use anyhow::bail;
use dermis::document::{Document, Note};
use dermis::progress::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::common_args::Common;
use crate::{hints, report};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const PATH: Style = Style::new().bold();
const ASIDE: Style = Style::new().dimmed();

/// How long work may take to notice that it was stopped before the program ends without it.
const PATIENCE: Duration = Duration::from_millis(700);

/// The voice of the program.
#[derive(Clone)]
pub(crate) struct Talk {
    voice: Voice,
    is_forced: bool,
    start: Instant,
    bar: Arc<Mutex<Option<(String, ProgressBar)>>>,
    /// The stage of the work that was said last, with `-v`.
    stage: Arc<Mutex<String>>,
    stop: Arc<Stop>,
}

/// How much is said; see the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Voice {
    Quiet,
    Usual,
    Full,
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
    pub(crate) fn new(common: &Common) -> Self {
        Self {
            voice: match (common.quiet, common.verbose) {
                (true, _) => Voice::Quiet,
                (false, true) => Voice::Full,
                (false, false) => Voice::Usual,
            },
            is_forced: common.force,
            start: Instant::now(),
            bar: Arc::default(),
            stage: Arc::default(),
            stop: Arc::default(),
        }
    }

    /// True when the user said beforehand to go ahead although the input looks wrong, or a file would be lost.
    pub(crate) fn is_forced(&self) -> bool {
        self.is_forced
    }

    /// With `-v`, says every file that is read from now on.
    pub(crate) fn listen_for_reads(&self) {
        if self.voice == Voice::Full {
            let talk = self.clone();
            dermis_io::on_read(move |path, bytes| {
                talk.say_more(|| format!("read {}, {}", shown(path), format_bytes(bytes)));
            });
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
        if self.voice >= Voice::Usual {
            self.say(text.as_ref());
        }
    }

    /// Says, with `-v`, a step or a choice that is made, with the time since the start.
    pub(crate) fn say_more(&self, text: impl FnOnce() -> String) {
        if self.voice == Voice::Full {
            let seconds = self.start.elapsed().as_secs_f64();
            self.say(&format!("{ASIDE}{seconds:7.2} s{ASIDE:#}  {}", text()));
        }
    }

    /// The one place that writes to stderr. Colours are dropped where nobody wants them; lines are broken on terminals
    /// alone, because programs and logs look for whole sentences.
    fn say(&self, text: &str) {
        self.clear();
        let broken = report::terminal_width(&std::io::stderr()).map(|page| {
            let lines = text.lines().map(|line| report::wrap(line, page, 2));
            lines.collect::<Vec<String>>().join("\n")
        });
        let text = broken.as_deref().unwrap_or(text);
        let (style, kind) = match text {
            _ if text.starts_with("error:") => (ERROR, "error:"),
            _ if text.starts_with("warning:") => (WARNING, "warning:"),
            _ => (Style::new(), ""),
        };
        let rest = &text[kind.len()..];
        // Nobody can be told that stderr is gone.
        let _ = writeln!(anstream::stderr(), "{style}{kind}{style:#}{rest}");
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
    pub(crate) fn remark_written(&self, files: &[impl AsRef<Path>]) {
        match files {
            [] => {}
            [file] => self.remark(format!("wrote {}", shown(file))),
            [first, second] => {
                self.remark(format!("wrote {} and {}", shown(first), shown(second)));
            }
            [first, .., last] => self.remark(format!(
                "wrote {} files, {} to {}",
                files.len(),
                shown(first),
                shown(last)
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
        let goes_on = self.stop.finishes.load(Ordering::Relaxed);
        if self.was_stopped() && !goes_on {
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
        self.say(text.as_ref());
    }

    /// Says, with `-v`, which stage of the work begins.
    fn say_stage(&self, stage: &str, total: usize) {
        let is_new = (self.stage.lock()).is_ok_and(|mut last| match *last == stage {
            true => false,
            false => {
                stage.clone_into(&mut last);
                true
            }
        });
        if is_new {
            self.say_more(|| format!("{stage}, {total} steps"));
        }
    }
}

impl Progress for Talk {
    fn report(&self, stage: &str, done: usize, total: usize) -> bool {
        if self.voice == Voice::Full {
            self.say_stage(stage, total);
        }
        let silent = self.voice == Voice::Quiet || !std::io::stderr().is_terminal();
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

/// A path as remarks show it.
pub(crate) fn shown(path: impl AsRef<Path>) -> String {
    format!("{PATH}{}{PATH:#}", path.as_ref().display())
}

/// A size as people read it.
pub(crate) fn format_bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.1} GiB", bytes as f64 / 1_073_741_824.0),
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
