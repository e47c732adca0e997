//! Columns of names in tables: as wide as the names are, so that no two columns run together.

/// Longer names lose their middle.
const MOST: usize = 48;

/// A column whose cells hold names that people chose.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NameColumn {
    width: usize,
}

impl NameColumn {
    /// As wide as the longest of its names, the one at its head included.
    pub(crate) fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::within(names, MOST)
    }

    /// As wide as the longest of its names, and at most so many letters.
    pub(crate) fn within<'a>(names: impl IntoIterator<Item = &'a str>, most: usize) -> Self {
        let lengths = names.into_iter().map(|name| name.chars().count());
        Self {
            width: lengths.max().unwrap_or(0).min(most),
        }
    }

    /// The name, cut where it is too long, and blanks up to the next column.
    pub(crate) fn cell(self, name: &str) -> String {
        format!("{:<1$}", shortened(name, self.width), self.width + 2)
    }
}

/// The beginning and the end of a name that is longer than a column may be: both tell names apart.
fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let before = most / 2;
    let after = most.saturating_sub(before + 1);
    let text = |letters: &[char]| letters.iter().collect::<String>();
    let end = text(&letters[letters.len() - after..]);
    format!("{}…{end}", text(&letters[..before]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_as_wide_as_its_longest_name() {
        let column = NameColumn::of(["joint", "mixamorig:LeftHandIndex1_end", "größe"]);
        let cells = ["joint", "mixamorig:LeftHandIndex1_end", "größe"].map(|n| column.cell(n));
        for cell in &cells {
            assert_eq!(cell.chars().count(), 30, "28 letters and a gap: {cell:?}");
            assert!(cell.ends_with("  "), "a gap: {cell:?}");
        }
    }

    #[test]
    fn names_beyond_the_widest_column_lose_their_middle() {
        let long = format!("begin{}end", "x".repeat(200));
        let column = NameColumn::of([long.as_str(), "hip"]);
        let cell = column.cell(&long);
        assert_eq!(cell.chars().count(), MOST + 2, "{cell:?}");
        assert!(
            cell.starts_with("begin") && cell.ends_with("end  "),
            "{cell:?}"
        );
        assert_eq!(cell.matches('…').count(), 1, "one cut: {cell:?}");
        assert_eq!(column.cell("hip").chars().count(), MOST + 2, "aligned");
    }
}
