//! Headers byte by byte: numbers and names from the front of a block.

use crate::Fault;

/// What is left of a block, and what the block is, for messages.
#[derive(Debug)]
pub(super) struct Bytes<'a, 'w> {
    left: &'a [u8],
    what: &'w str,
}

impl<'a, 'w> Bytes<'a, 'w> {
    /// All of a block.
    pub(super) fn new(left: &'a [u8], what: &'w str) -> Self {
        Self { left, what }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// The next bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let Some((taken, left)) = self.left.split_at_checked(count) else {
            let expected = format!("a header of at least {count} more bytes");
            return Err(Fault::malformed(
                self.what,
                expected,
                self.left.len().to_string(),
            ));
        };
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let taken = self.take(N)?;
        Ok(*taken.first_chunk().expect("as many as were taken"))
    }

    pub(super) fn u8(&mut self) -> Result<u8, Fault> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn f64(&mut self) -> Result<f64, Fault> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// A count in one, two or four bytes, as the header says by `width`.
    pub(super) fn sized(&mut self, width: u32) -> Result<usize, Fault> {
        match width {
            0 => Ok(usize::from(self.u8()?)),
            1 => Ok(usize::from(u16::from_le_bytes(self.array()?))),
            2 => Ok(self.u32()? as usize),
            _ => {
                let found = format!("width {width}");
                Err(Fault::malformed(
                    self.what,
                    "counts of 1, 2 or 4 bytes",
                    found,
                ))
            }
        }
    }

    /// Text of this many bytes.
    pub(super) fn text(&mut self, length: usize) -> Result<&'a str, Fault> {
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map_err(|_| {
            let found = format!("`{}`", bytes[..length.min(40)].escape_ascii());
            Fault::malformed(self.what, "text in UTF-8", found)
        })
    }

    /// A name of this many bytes, which messages can show.
    pub(super) fn name(&mut self, length: usize) -> Result<&'a str, Fault> {
        let name = self.text(length)?;
        match name.chars().any(char::is_control) {
            false => Ok(name),
            true => {
                let found = format!("`{}`", name.escape_debug());
                Err(Fault::malformed(
                    self.what,
                    "a name without control characters",
                    found,
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_the_width_that_the_header_says() {
        let bytes = [1, 2, 0, 3, 0, 0, 0];
        let mut input = Bytes::new(&bytes, "header");
        for width in 0..3 {
            let expected = width as usize + 1;
            assert_eq!(input.sized(width), Ok(expected), "width {width}");
        }
        assert!(input.is_empty(), "all is read");
        assert!(input.sized(0).is_err(), "nothing is left");
        assert!(
            Bytes::new(&bytes, "header").sized(3).is_err(),
            "no such width"
        );
    }

    #[test]
    fn names_are_text() {
        let mut input = Bytes::new(b"cloth\xff", "header");
        assert_eq!(input.text(5), Ok("cloth"), "a name");
        let message = input.text(1).expect_err("no text").to_string();
        assert!(message.contains("UTF-8"), "{message}");
        assert!(input.text(1).is_err(), "the end");
        let message = Bytes::new(b"a\nb", "header").name(3).expect_err("a line");
        assert!(message.to_string().ends_with("found `a\\nb`"), "{message}");
    }
}
