//! The Ogawa container: a tree of groups and blocks of bytes, nothing more.
//!
//! A file is a header of 16 bytes and then groups and blocks anywhere after it, all little endian. A group is a count and
//! as many 64-bit words; a word is the place of a group, or, with its top bit set, that of a block. A block is a length and
//! its bytes. Place 0 is an empty group or block. Writers store equal blocks once, so several words may name the same block.

use std::cell::Cell;

use dermis::limits;

use crate::Fault;

/// Set in the words of blocks.
const IS_BLOCK: u64 = 1 << 63;

/// A whole file in memory.
#[derive(Debug)]
pub(super) struct Container<'a> {
    bytes: &'a [u8],
    /// How many more bytes may be looked at as structure. Each word and header of a sound file is read once or twice; in
    /// a file whose groups contain each other, there is no end.
    allowance: Cell<u64>,
    /// Bytes of memory that were planned for values so far.
    planned: Cell<u64>,
}

/// A group: where its words are, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Group {
    first_word: usize,
    pub(super) count: usize,
}

impl<'a> Container<'a> {
    /// Checks the header and finds the group that has all others in it.
    pub(super) fn open(bytes: &'a [u8]) -> Result<(Self, Group), Fault> {
        const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
        if bytes.starts_with(HDF5) {
            return Err(Fault::unsupported(
                "Alembic in the old container, HDF5,",
                "export it again as Ogawa, or convert it with `abcconvert -toOgawa OLD.abc NEW.abc`",
            ));
        }
        let header = bytes.first_chunk::<16>().copied();
        let Some(header) = header.filter(|header| header.starts_with(b"Ogawa")) else {
            let start = &bytes[..bytes.len().min(5)];
            let found = match start {
                [] => "an empty file".to_owned(),
                _ => format!("`{}`", start.escape_ascii()),
            };
            return Err(Fault::malformed(
                "header",
                "16 bytes that begin with `Ogawa`",
                found,
            ));
        };
        if header[5] != 0xff {
            return Err(Fault::malformed(
                "header",
                "the mark of a finished file",
                "none: the program that wrote it stopped before the end, so export it again",
            ));
        }
        if header[6..8] != [0, 1] {
            let found = format!("{}.{}", header[6], header[7]);
            return Err(Fault::malformed("header", "version 0.1 of Ogawa", found));
        }
        let container = Self {
            bytes,
            allowance: Cell::new(8 * bytes.len() as u64),
            planned: Cell::new(0),
        };
        let root = container.word(8)?;
        let root = container.group_at(root, "the first group")?;
        Ok((container, root))
    }

    /// A group in a group; an empty one where the place is 0.
    pub(super) fn group(&self, of: Group, index: usize, what: &str) -> Result<Group, Fault> {
        let word = self.child(of, index, what)?;
        match word & IS_BLOCK {
            0 => self.group_at(word, what),
            _ => Err(Fault::malformed(what, "a group", "a block of bytes")),
        }
    }

    /// A block in a group; an empty one where the place is 0.
    pub(super) fn block(&self, of: Group, index: usize, what: &str) -> Result<&'a [u8], Fault> {
        let word = self.child(of, index, what)?;
        if word & IS_BLOCK == 0 {
            return Err(Fault::malformed(what, "a block of bytes", "a group"));
        }
        let at = word & !IS_BLOCK;
        if at == 0 {
            return Ok(&[]);
        }
        let at = self.place(at, what)?;
        let length = self.word(at)?;
        let rest = &self.bytes[at + 8..];
        let within = usize::try_from(length).ok();
        let block = within.and_then(|length| rest.get(..length));
        block.ok_or_else(|| cut(what, length, rest.len()))
    }

    /// True when the child is there and is a group.
    pub(super) fn is_group(&self, of: Group, index: usize) -> bool {
        (self.child(of, index, "")).is_ok_and(|word| word & IS_BLOCK == 0)
    }

    /// Counts bytes of structure that are about to be read, and fails where the file would be read over and over.
    pub(super) fn spend(&self, bytes: usize, what: &str) -> Result<(), Fault> {
        match self.allowance.get().checked_sub(bytes as u64) {
            Some(left) => {
                self.allowance.set(left);
                Ok(())
            }
            None => Err(Fault::malformed(
                what,
                "parts that stand in one place each",
                "parts that contain each other",
            )),
        }
    }

    /// Counts memory that is about to be taken for values, and fails where all of it would be too much.
    pub(super) fn plan(&self, counts: &[u64], what: &str) -> Result<(), Fault> {
        let bytes = (counts.iter()).fold(1u64, |bytes, &count| bytes.saturating_mul(count));
        let total = self.planned.get().saturating_add(bytes);
        limits::check_memory(
            &[total],
            || format!("{what}, with what was read before it,"),
            "export fewer frames or objects",
        )?;
        self.planned.set(total);
        Ok(())
    }

    /// Where a child is, and whether it is a block.
    fn child(&self, of: Group, index: usize, what: &str) -> Result<u64, Fault> {
        if index >= of.count {
            let expected = format!("at least {} parts", index + 1);
            return Err(Fault::malformed(what, expected, of.count.to_string()));
        }
        self.word(of.first_word + 8 * index)
    }

    fn group_at(&self, at: u64, what: &str) -> Result<Group, Fault> {
        if at == 0 {
            return Ok(Group::default());
        }
        let at = self.place(at, what)?;
        let count = self.word(at)?;
        let room = (self.bytes.len() - at - 8) / 8;
        match usize::try_from(count).ok().filter(|&count| count <= room) {
            Some(count) => {
                self.spend(8 + 8 * count, what)?;
                Ok(Group {
                    first_word: at + 8,
                    count,
                })
            }
            None => Err(cut(what, count.saturating_mul(8), 8 * room)),
        }
    }

    /// A place from which at least one word can be read.
    fn place(&self, at: u64, what: &str) -> Result<usize, Fault> {
        let last = self.bytes.len().saturating_sub(8);
        let place = usize::try_from(at).ok().filter(|&at| at <= last);
        place.ok_or_else(|| {
            let expected = format!("a place in the {} bytes of the file", self.bytes.len());
            let found = format!("place {at}: the file was cut short or is damaged");
            Fault::malformed(what, expected, found)
        })
    }

    fn word(&self, at: usize) -> Result<u64, Fault> {
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk());
        let word = bytes.map(|&word| u64::from_le_bytes(word));
        word.ok_or_else(|| cut("file", 8, self.bytes.len().saturating_sub(at)))
    }
}

/// The fault of a claim that the file cannot fill.
fn cut(what: &str, claimed: u64, there: usize) -> Fault {
    Fault::malformed(
        what,
        format!("{claimed} bytes"),
        format!("{there}: the file was cut short or is damaged"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of these words after the header.
    fn file(words: &[u64]) -> Vec<u8> {
        let mut bytes = b"Ogawa\xff\x00\x01".to_vec();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes
    }

    #[test]
    fn groups_and_blocks_are_found_and_place_zero_is_empty() {
        // The first group, at 16, has a block at 56, an empty block, and an empty group.
        let bytes = file(&[16, 3, IS_BLOCK | 48, IS_BLOCK, 0, 2, 0x0201]);
        let (container, root) = Container::open(&bytes).expect("a header");
        assert_eq!(root.count, 3, "as the group says");
        assert_eq!(
            container.block(root, 0, "block"),
            Ok(&[1, 2][..]),
            "two bytes"
        );
        assert_eq!(container.block(root, 1, "block"), Ok(&[][..]), "empty");
        assert_eq!(
            container.group(root, 2, "group"),
            Ok(Group::default()),
            "empty"
        );
        for (index, what) in [(2, "block"), (3, "block")] {
            container
                .block(root, index, what)
                .expect_err("no such block");
        }
        assert!(
            container.group(root, 0, "group").is_err(),
            "a block is no group"
        );
    }

    #[test]
    fn other_files_are_refused_with_what_to_do() {
        for (bytes, part) in [
            (
                b"\x89HDF\r\n\x1a\n\0\0\0\0\0\0\0\0".to_vec(),
                "abcconvert -toOgawa",
            ),
            (
                b"Ogawa\x00\x00\x01\x10\0\0\0\0\0\0\0".to_vec(),
                "export it again",
            ),
            (
                b"Ogawa\xff\x00\x02\x10\0\0\0\0\0\0\0".to_vec(),
                "version 0.1",
            ),
            (b"glTF and more than 16 bytes".to_vec(), "`glTF `"),
            (Vec::new(), "an empty file"),
        ] {
            let message = Container::open(&bytes).expect_err(part).to_string();
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn claims_beyond_the_file_are_refused() {
        for words in [
            &[16, u64::MAX][..],
            &[16, 2, 0],
            &[u64::MAX >> 1],
            &[17, 1],
            &[24],
        ] {
            let bytes = file(words);
            let message = Container::open(&bytes).expect_err("a lie").to_string();
            assert!(message.contains("cut short"), "{message}");
        }
        let bytes = file(&[16, 1, IS_BLOCK | 32, u64::MAX]);
        let (container, root) = Container::open(&bytes).expect("one block");
        container.block(root, 0, "block").expect_err("a long block");
    }

    #[test]
    fn a_group_in_itself_is_noticed() {
        let bytes = file(&[16, 1, 16]);
        let (container, mut group) = Container::open(&bytes).expect("one group");
        let error = loop {
            match container.group(group, 0, "object") {
                Ok(inner) => group = inner,
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.contains("contain each other"), "{error}");
    }
}
