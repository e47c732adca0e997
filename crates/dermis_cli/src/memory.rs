//! `--limit-memory`: how much memory a command may plan to take.

use dermis::limits::{DEFAULT_MEMORY_BYTES, RAISE};

/// Sets the limit for all that follows: as asked, or three quarters of what the machine has.
pub(crate) fn set_limit(asked: Option<u64>) {
    let own = || machine_bytes().map_or(DEFAULT_MEMORY_BYTES, |bytes| bytes / 4 * 3);
    dermis::limits::set_memory_bytes(asked.unwrap_or_else(own));
}

/// What the machine has, or the container that the command runs in; `None` where nobody says.
fn machine_bytes() -> Option<u64> {
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let machine = read("/proc/meminfo").and_then(|text| total_of_meminfo(&text));
    // `max` where a container has no limit of its own.
    let container = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    machine.into_iter().chain(container).min()
}

/// The line `MemTotal:  24046604 kB`, in bytes.
fn total_of_meminfo(text: &str) -> Option<u64> {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A size as one types it: bytes, or with K, M, G or T, each 1024 times the one before.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let expected = || "expected a size above 0 such as 500M, 4G or 1.5T".to_owned();
    let upper = text.trim().to_uppercase();
    let plain = upper
        .strip_suffix("IB")
        .or(upper.strip_suffix('B'))
        .unwrap_or(&upper);
    let units = ["K", "M", "G", "T"];
    let unit = units.iter().position(|unit| plain.ends_with(unit));
    let (number, factor) = match unit {
        Some(power) => (&plain[..plain.len() - 1], 1024f64.powi(power as i32 + 1)),
        None => (plain, 1.0),
    };
    let bytes = number.trim().parse::<f64>().map_err(|_| expected())? * factor;
    match bytes >= 1.0 && bytes.is_finite() {
        // The conversion stops at the largest number there is.
        true => Ok(bytes as u64),
        false => Err(expected()),
    }
}

/// A sentence that ends with raising the limit, with the flag that does.
pub(crate) fn with_flag(sentence: String) -> String {
    match sentence.ends_with(RAISE) {
        true => sentence + " with --limit-memory",
        false => sentence,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_typed_with_and_without_units() {
        for (text, bytes) in [
            ("1", 1),
            ("4096", 4096),
            ("500M", 500 << 20),
            ("4G", 4 << 30),
            ("4g", 4 << 30),
            ("4GB", 4 << 30),
            ("4 GiB", 4 << 30),
            ("1.5K", 1536),
            ("9e99T", u64::MAX),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "G", "0", "-1G", "0.5", "nan", "inf", "four", "4X", "é"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_memory_of_the_machine_is_read_from_its_line() {
        let text = "MemFree: 5 kB\nMemTotal:       24046604 kB\nBuffers: 7 kB\n";
        assert_eq!(total_of_meminfo(text), Some(24_046_604 << 10), "in bytes");
        assert_eq!(total_of_meminfo("MemFree: 5 kB\n"), None, "no such line");
        assert_eq!(total_of_meminfo("MemTotal: much\n"), None, "no number");
    }
}
