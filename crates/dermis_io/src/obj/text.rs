//! Lines, words and numbers of OBJ text, straight from the bytes.

use crate::Fault;

/// Cuts text at `\n`, `\r\n` and `\r`; a line that ends in a backslash goes on in the next.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    /// Number of the next line, from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            number: 1,
        }
    }

    /// The number of the next line and its text, without the end of the line.
    pub(super) fn next_line(&mut self) -> Option<(usize, &'a [u8])> {
        if self.rest.is_empty() {
            return None;
        }
        let first = self.number;
        let mut from = 0;
        loop {
            let is_end = |&b: &u8| b == b'\n' || b == b'\r';
            let Some(length) = self.rest[from..].iter().position(is_end) else {
                let line = self.rest;
                self.rest = &[];
                return Some((first, line));
            };
            let end = from + length;
            let next = end
                + if self.rest[end..].starts_with(b"\r\n") {
                    2
                } else {
                    1
                };
            self.number += 1;
            if end > from && self.rest[end - 1] == b'\\' {
                from = next;
                continue;
            }
            let line = &self.rest[..end];
            self.rest = &self.rest[next..];
            return Some((first, line));
        }
    }
}

/// Words of a line up to a comment; the backslash of a continued line is a space.
pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|b| b.is_ascii_whitespace() || *b == b'\\')
        .filter(|word| !word.is_empty())
        .take_while(|word| word[0] != b'#')
}

/// Everything after the keyword, for names that may hold spaces.
pub(super) fn text_after_keyword(line: &[u8]) -> Option<String> {
    let line = line.trim_ascii();
    let space = line.iter().position(u8::is_ascii_whitespace)?;
    let text = String::from_utf8_lossy(line[space..].trim_ascii()).into_owned();
    (!text.is_empty()).then_some(text)
}

pub(super) fn bad_line(number: usize, expected: &str, line: &[u8]) -> Fault {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(line.trim_ascii());
    let shown: String = text.chars().take(SHOWN).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    Fault::malformed(
        format!("line {number}"),
        expected,
        format!("`{shown}{dots}`"),
    )
}

/// Up to `N` finite numbers and how many there were; more words than that are ignored.
pub(super) fn numbers<'a, const N: usize>(
    number: usize,
    line: &[u8],
    words: impl Iterator<Item = &'a [u8]>,
) -> Result<(usize, [f64; N]), Fault> {
    let mut values = [0.0; N];
    let mut count = 0;
    for (slot, word) in values.iter_mut().zip(words) {
        *slot = std::str::from_utf8(word)
            .ok()
            .and_then(|text| text.parse().ok())
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| bad_line(number, "finite numbers", line))?;
        count += 1;
    }
    Ok((count, values))
}

pub(super) fn at_least(
    expected: usize,
    found: usize,
    number: usize,
    line: &[u8],
) -> Result<(), Fault> {
    if found < expected {
        let expected = format!("at least {expected} numbers");
        return Err(bad_line(number, &expected, line));
    }
    Ok(())
}

pub(super) fn integer(word: &[u8]) -> Option<i64> {
    let (negative, digits) = match word {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    // 18 digits cannot overflow, and no index is longer.
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |n, d| n * 10 + i64::from(d - b'0'));
    Some(if negative { -value } else { value })
}
