//! Text files of vertex numbers.

use std::path::Path;

use crate::{Fault, IoError, read_file};

/// Reads which vertices a text file lists, by number from 0, with spaces, commas or new lines between them.
///
/// # Errors
/// [`IoError::Read`], and [`IoError::Content`] for what is no number of a vertex.
pub fn read_vertex_list(path: &Path, vertex_count: usize) -> Result<Vec<bool>, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read {
        path: path.to_owned(),
        source,
    })?;
    listed(&String::from_utf8_lossy(&bytes), vertex_count).map_err(|fault| fault.in_file(path))
}

fn listed(text: &str, vertex_count: usize) -> Result<Vec<bool>, Fault> {
    let mut which = vec![false; vertex_count];
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    for word in words.filter(|word| !word.is_empty()) {
        let vertex = word.parse::<usize>().ok().filter(|&v| v < vertex_count);
        let vertex = vertex.ok_or_else(|| {
            let last = vertex_count.saturating_sub(1);
            let expected = format!("vertex numbers from 0 to {last}");
            Fault::malformed("list", expected, format!("'{word}'"))
        })?;
        which[vertex] = true;
    }
    Ok(which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_in_any_layout() {
        let found = listed("0, 2\n\n4,\t1", 6).expect("numbers");
        assert_eq!(found, [true, true, true, false, true, false], "as listed");
        assert_eq!(listed("", 2), Ok(vec![false; 2]), "none");
    }

    #[test]
    fn what_is_no_vertex_is_named() {
        for (text, found) in [("0 6", "'6'"), ("f 1", "'f'"), ("-1", "'-1'")] {
            let error = listed(text, 6).expect_err(text).to_string();
            assert!(error.contains("from 0 to 5"), "{error}");
            assert!(error.ends_with(found), "{error}");
        }
    }
}
