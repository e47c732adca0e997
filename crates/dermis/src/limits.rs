//! How much memory a job may plan to take.
//!
//! A few bytes of a file or of a command line can ask for more memory than a machine has: a clip of two keys at a
//! billion frames per second, a mesh that hangs on thousands of nodes. The system ends a program that asks for too
//! much without a word, so whatever multiplies is counted first, and refused with [`TooLarge`] before it is asked for.
//!
//! The limit is one for the whole process and no parameter of every reader and fit: memory belongs to the process,
//! and whatever runs in it shares what there is. It changes no result, only whether there is one.

use std::sync::atomic::{AtomicU64, Ordering};

/// The limit until [`set_memory_bytes`] is called: 8 GiB.
pub const DEFAULT_MEMORY_BYTES: u64 = 8 << 30;

static MEMORY_BYTES: AtomicU64 = AtomicU64::new(DEFAULT_MEMORY_BYTES);

/// The most memory that one step of a job may plan to take, in bytes.
pub fn memory_bytes() -> u64 {
    MEMORY_BYTES.load(Ordering::Relaxed)
}

/// Sets the most memory that one step of a job may plan to take, for all threads of the process.
pub fn set_memory_bytes(bytes: u64) {
    MEMORY_BYTES.store(bytes, Ordering::Relaxed);
}

/// Something that would take more memory than it may.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} would take about {} of memory, and the limit is {}: {instead}, {RAISE}",
    size_text(*bytes),
    size_text(*most)
)]
pub struct TooLarge {
    /// What was asked for, with the counts that make it large.
    pub what: String,
    /// How much memory it would take, `u64::MAX` when it is more than that.
    pub bytes: u64,
    /// The limit that it is above.
    pub most: u64,
    /// What to do instead.
    pub instead: String,
}

/// How every [`TooLarge`] ends, for programs that can add how the limit is raised there.
pub const RAISE: &str = "or raise the memory limit";

/// Fails when something would take more memory than [`memory_bytes`].
///
/// `factors` multiply to the bytes: counts, and the bytes of one item. `what` and `instead` are for the sentence.
///
/// ```
/// use dermis::limits::check_memory;
///
/// assert!(check_memory(&[1000, 24], || "a mesh of 1000 vertices".into(), "use fewer vertices").is_ok());
/// let error = check_memory(&[u64::MAX, 24], || "the mesh".into(), "use fewer vertices").unwrap_err();
/// assert!(error.to_string().starts_with("the mesh would take about"));
/// ```
///
/// # Errors
/// [`TooLarge`].
pub fn check_memory(
    factors: &[u64],
    what: impl FnOnce() -> String,
    instead: &str,
) -> Result<(), TooLarge> {
    let bytes = (factors.iter()).fold(1u64, |bytes, &factor| bytes.saturating_mul(factor));
    let most = memory_bytes();
    match bytes <= most {
        true => Ok(()),
        false => Err(TooLarge {
            what: what(),
            bytes,
            most,
            instead: instead.to_owned(),
        }),
    }
}

/// A number of bytes in words: `512 MB`, `17.6 GB`.
pub fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["bytes", "kB", "MB", "GB", "TB", "PB", "EB"];
    let (mut size, mut unit) = (bytes as f64, 0);
    while size >= 999.5 && unit + 1 < UNITS.len() {
        size /= 1000.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && size < 99.95);
    format!("{size:.digits$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_that_overflow_are_too_large_and_small_ones_are_not() {
        let check = |factors: &[u64]| check_memory(factors, || "it".to_owned(), "ask for less");
        assert_eq!(check(&[]), Ok(()), "a byte");
        assert_eq!(check(&[u64::MAX, 0]), Ok(()), "nothing at all");
        let error = check(&[u64::MAX, 2, 3]).expect_err("no memory holds it");
        assert_eq!(error.bytes, u64::MAX, "as much as can be said");
        assert_eq!(
            error.to_string(),
            "it would take about 18.4 EB of memory, and the limit is 8.6 GB: ask for less, or raise the memory limit",
            "one sentence"
        );
    }

    #[test]
    fn sizes_are_said_in_the_unit_that_fits() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (999, "999 bytes"),
            (1_000, "1.0 kB"),
            (999_400, "999 kB"),
            (999_999, "1.0 MB"),
            (512_000_000, "512 MB"),
            (17_600_000_000, "17.6 GB"),
        ] {
            assert_eq!(size_text(bytes), text, "{bytes} bytes");
        }
    }
}
