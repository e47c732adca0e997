//! How much memory a job may plan to take.
//!
//! A few bytes of a file or of a command line can ask for more memory than a machine has: a clip of two keys at a
//! billion frames per second, a mesh on thousands of nodes. The operating system kills a program that takes too much,
//! without a message. So products of counts are estimated first, and [`TooLarge`] is returned before anything is
//! allocated.
//!
//! The limit belongs to the whole process rather than to each reader and fit, because all of them share its memory. It
//! never changes a result; it only decides whether a job starts.

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

/// A job would take more memory than the limit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{what} would take about {} of memory, and the limit is {}: {instead}, {RAISE}",
    size_text(*bytes),
    size_text(*most)
)]
pub struct TooLarge {
    /// The thing that was asked for, with the counts that make it large.
    pub what: String,
    /// How many bytes it would take; `u64::MAX` also stands for more than that.
    pub bytes: u64,
    /// The limit that it exceeds.
    pub most: u64,
    /// The advice: what to do instead.
    pub instead: String,
}

/// The last words of every [`TooLarge`], so that a program can append how to raise its limit.
pub const RAISE: &str = "or raise the memory limit";

/// Fails when the product of `factors` is above [`memory_bytes`].
///
/// `factors` are counts and the bytes of one item. `what` and `instead` become part of the error's sentence.
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
        assert_eq!(check(&[]), Ok(()), "no factors mean one byte");
        assert_eq!(check(&[u64::MAX, 0]), Ok(()), "zero bytes fit");
        let error = check(&[u64::MAX, 2, 3]).expect_err("six times u64::MAX is too large");
        assert_eq!(
            error.bytes,
            u64::MAX,
            "the product stops at the largest number"
        );
        assert_eq!(
            error.to_string(),
            "it would take about 18.4 EB of memory, and the limit is 8.6 GB: ask for less, or raise the memory limit",
            "the whole sentence"
        );
    }

    #[test]
    fn sizes_are_written_in_the_largest_unit_that_fits() {
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
