//! Natural order of names: numbers inside them count as numbers.

use std::cmp::Ordering;

/// Compares names so that `pose2` comes before `pose10`.
///
/// Runs of digits compare by value, everything else by character. Names that differ only in
/// leading zeros compare by length, so that the order is total.
///
/// ```
/// let mut names = ["10.obj", "9.obj", "1.obj"];
/// names.sort_by(|a, b| dermis_io::natural_order(a, b));
/// assert_eq!(names, ["1.obj", "9.obj", "10.obj"]);
/// ```
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut x, mut y) = (a, b);
    loop {
        let (Some(p), Some(q)) = (x.chars().next(), y.chars().next()) else {
            return x
                .len()
                .cmp(&y.len())
                .then_with(|| a.len().cmp(&b.len()))
                .then_with(|| a.cmp(b));
        };
        if p.is_ascii_digit() && q.is_ascii_digit() {
            let (m, n) = (digits(x), digits(y));
            let (value_m, value_n) = (m.trim_start_matches('0'), n.trim_start_matches('0'));
            let by_value = value_m
                .len()
                .cmp(&value_n.len())
                .then_with(|| value_m.cmp(value_n));
            if by_value != Ordering::Equal {
                return by_value;
            }
            (x, y) = (&x[m.len()..], &y[n.len()..]);
        } else if p != q {
            return p.cmp(&q);
        } else {
            (x, y) = (&x[p.len_utf8()..], &y[q.len_utf8()..]);
        }
    }
}

/// The digits that a text starts with.
fn digits(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let sorted = [
            "",
            "1",
            "01",
            "1.obj",
            "2",
            "2a1",
            "2a09",
            "2a9",
            "2a10",
            "10",
            "99999999999999999999998",
            "99999999999999999999999",
            "a",
            "a1b",
            "b",
            "é",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                let equal_value = ["2a09", "2a9", "1", "01"];
                if equal_value.contains(a) && equal_value.contains(b) {
                    continue;
                }
                assert_eq!(natural_order(a, b), i.cmp(&j), "{a} and {b}");
            }
        }
        assert_eq!(
            natural_order("2a9", "2a09"),
            Ordering::Less,
            "leading zeros last"
        );
        assert_eq!(
            natural_order("2a9", "2a9"),
            Ordering::Equal,
            "the same name"
        );
    }
}
