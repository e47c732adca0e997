//! Lengths as people type them: `2mm`, `0.5cm`, `1in`, `0.01` model units, `0.5%` of the character's size.

use std::fmt;

/// Units that are known, and how many metres they have.
const UNITS: [(&str, f64); 6] = [
    ("mm", 0.001),
    ("cm", 0.01),
    ("km", 1000.0),
    ("m", 1.0),
    ("in", 0.0254),
    ("ft", 0.3048),
];

/// A length above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Length {
    number: f64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    /// Whatever the file counts in.
    Model,
    /// A unit of [`UNITS`].
    Named(&'static str, f64),
    /// Per cent of the character's size.
    Percent,
}

impl Length {
    /// In model units, of a character of this size. A model unit is a metre, as glTF has it.
    pub(crate) fn model_units(self, size: f64) -> f64 {
        match self.unit {
            Unit::Model => self.number,
            Unit::Named(_, metres) => self.number * metres,
            Unit::Percent => self.number / 100.0 * size,
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Model => "",
            Unit::Named(name, _) => name,
            Unit::Percent => "%",
        };
        write!(out, "{}{unit}", self.number)
    }
}

/// Reads a number and, directly or after a blank, a unit.
pub(crate) fn parse_length(text: &str) -> Result<Length, String> {
    const EXPECTED: &str = "expected a length above 0: 0.01 (model units), 2mm, 0.5cm, 1m, 1km, 1in, 1ft, or 0.5% (of the size)";
    let text = text.trim();
    // The `e` of 1e-3 is a letter, too: the unit is what stands behind the last digit.
    let end = text
        .rfind(|c: char| c.is_ascii_digit() || c == '.')
        .map_or(0, |last| last + 1);
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let unit = match unit {
        "" => Some(Unit::Model),
        "%" => Some(Unit::Percent),
        name => (UNITS.iter())
            .find(|(known, _)| *known == name)
            .map(|&(name, metres)| Unit::Named(name, metres)),
    };
    match (number.parse::<f64>(), unit) {
        (Ok(number), Some(unit)) if number.is_finite() && number > 0.0 => {
            Ok(Length { number, unit })
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_in_any_unit() {
        for (text, expected) in [
            ("2mm", 0.002),
            ("0.5cm", 0.005),
            (" 0.5 cm ", 0.005),
            ("1in", 0.0254),
            ("2ft", 0.6096),
            ("1.5km", 1500.0),
            ("0.01m", 0.01),
            ("0.01", 0.01),
            ("1e-3", 0.001),
            ("1e1mm", 0.01),
            (".5", 0.5),
            ("5.m", 5.0),
            ("0.5%", 0.01),
        ] {
            let length = parse_length(text).map(|length| length.model_units(2.0));
            let found = length.unwrap_or_else(|error| panic!("{text}: {error}"));
            assert!(
                (found - expected).abs() < 1e-12,
                "{text}: {found} for {expected}"
            );
        }
    }

    #[test]
    fn what_is_no_length_gets_a_sentence_with_examples() {
        for text in [
            "", "mm", "0", "-1", "-2mm", "nan", "inf", "1e999", "2 miles", "2mm3", "1,5", "%",
            "2µm",
        ] {
            let found = parse_length(text);
            assert!(
                found.is_err_and(|error| error.contains("2mm")),
                "{text} is no length"
            );
        }
    }

    #[test]
    fn a_length_reads_as_it_was_typed() {
        for text in ["2mm", "0.5%", "0.01", "1in"] {
            let length = parse_length(text).map(|length| length.to_string());
            assert_eq!(length, Ok(text.to_owned()), "as typed");
        }
    }
}
