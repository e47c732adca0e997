//! The values of a property, sample by sample.

use super::archive::{Archive, Kind, Property};
use crate::Fault;

/// Makes a number of its bytes.
type Decode = fn(&[u8]) -> f64;

/// The types of values that are numbers, in the order of their numbers in files: bytes, and how they are decoded.
const TYPES: [(usize, Decode); 12] = [
    (1, |b| f64::from(u8::from(b[0] != 0))),
    (1, |b| f64::from(b[0])),
    (1, |b| f64::from(b[0] as i8)),
    (2, |b| f64::from(u16::from_le_bytes(exact(b)))),
    (2, |b| f64::from(i16::from_le_bytes(exact(b)))),
    (4, |b| f64::from(u32::from_le_bytes(exact(b)))),
    (4, |b| f64::from(i32::from_le_bytes(exact(b)))),
    (8, |b| u64::from_le_bytes(exact(b)) as f64),
    (8, |b| i64::from_le_bytes(exact(b)) as f64),
    (2, |b| from_half(u16::from_le_bytes(exact(b)))),
    (4, |b| f64::from(f32::from_le_bytes(exact(b)))),
    (8, |b| f64::from_le_bytes(exact(b))),
];

/// Every sample begins with a digest of its values.
const DIGEST: usize = 16;

fn exact<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("chunks of the type's size")
}

/// The number that 16 bits of half precision stand for.
fn from_half(bits: u16) -> f64 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f64::from(bits & 0x3ff) / 1024.0;
    match bits >> 10 & 0x1f {
        0 => sign * fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        exponent => sign * (1.0 + fraction) * 2f64.powi(i32::from(exponent) - 15),
    }
}

/// A property of numbers, and how messages call it.
#[derive(Debug, Clone)]
pub(super) struct Values<'a> {
    property: Property<'a>,
    what: String,
    size: usize,
    decode: Decode,
}

impl<'a> Values<'a> {
    /// The values of a property that must be rows of `extent` numbers; of any length, for 0.
    pub(super) fn new(
        property: &Property<'a>,
        extent: usize,
        object: &impl std::fmt::Display,
    ) -> Result<Self, Fault> {
        let what = format!("{object}, property {}", property.name);
        let Some(&(size, decode)) = TYPES.get(usize::from(property.pod)) else {
            return Err(Fault::malformed(what, "numbers", "texts"));
        };
        if property.kind == Kind::Compound {
            return Err(Fault::malformed(what, "numbers", "other properties"));
        }
        if extent != 0 && property.extent != extent {
            let expected = format!("rows of {extent} numbers");
            let found = format!("rows of {}", property.extent);
            return Err(Fault::malformed(what, expected, found));
        }
        Ok(Self {
            property: property.clone(),
            what,
            size,
            decode,
        })
    }

    pub(super) fn what(&self) -> &str {
        &self.what
    }

    pub(super) fn property(&self) -> &Property<'a> {
        &self.property
    }

    pub(super) fn sample_count(&self) -> usize {
        self.property.sample_count
    }

    /// True when all samples are alike.
    pub(super) fn is_constant(&self) -> bool {
        self.property.sample_count < 2 || self.property.first_changed == 0
    }

    /// How many samples are stored: samples like the first and like the last are not repeated.
    pub(super) fn stored_count(&self) -> usize {
        match (self.is_constant(), &self.property) {
            (true, property) => property.sample_count.min(1),
            (false, property) => self.stored(property.sample_count - 1) + 1,
        }
    }

    /// Which of the stored samples stands for sample `index`.
    fn stored(&self, index: usize) -> usize {
        let Property {
            first_changed,
            last_changed,
            ..
        } = self.property;
        match index {
            _ if self.is_constant() || index < first_changed => 0,
            _ => index.min(last_changed).saturating_sub(first_changed) + 1,
        }
    }

    /// The bytes of a stored sample, without the digest.
    pub(super) fn stored_bytes(
        &self,
        archive: &Archive<'a>,
        stored: usize,
    ) -> Result<&'a [u8], Fault> {
        // The dimensions of an array stand beside its values.
        let child = match self.property.kind {
            Kind::Array => 2 * stored,
            Kind::Scalar | Kind::Compound => stored,
        };
        let block = archive
            .container
            .block(self.property.group, child, &self.what)?;
        let bytes = match block {
            [] => block,
            _ => block.get(DIGEST..).ok_or_else(|| {
                let expected = format!("at least {DIGEST} bytes of digest");
                Fault::malformed(&self.what, expected, block.len().to_string())
            })?,
        };
        let row = self.size * self.property.extent.max(1);
        if bytes.len() % row != 0 {
            let expected = format!("rows of {row} bytes");
            let found = format!("{} bytes", bytes.len());
            return Err(Fault::malformed(&self.what, expected, found));
        }
        Ok(bytes)
    }

    /// The numbers of a sample.
    pub(super) fn numbers(
        &self,
        archive: &Archive<'a>,
        index: usize,
    ) -> Result<impl ExactSizeIterator<Item = f64> + Clone + use<'a>, Fault> {
        let bytes = self.stored_bytes(archive, self.stored(index))?;
        let decode = self.decode;
        Ok(bytes.chunks_exact(self.size).map(decode))
    }

    /// The numbers of the first sample as indices.
    pub(super) fn indices(&self, archive: &Archive<'a>) -> Result<Vec<u32>, Fault> {
        let numbers = self.numbers(archive, 0)?;
        archive
            .container
            .plan(&[numbers.len() as u64, 4], &self.what)?;
        let index = |(at, number): (usize, f64)| {
            let is_index = number.fract() == 0.0 && (0.0..4_294_967_295.0).contains(&number);
            is_index.then_some(number as u32).ok_or_else(|| {
                let what = format!("{}, number {at}", self.what);
                Fault::malformed(what, "a whole number of at least 0", number.to_string())
            })
        };
        numbers.enumerate().map(index).collect()
    }

    /// The numbers of the first sample in rows of `N`.
    pub(super) fn rows<const N: usize>(
        &self,
        archive: &Archive<'a>,
    ) -> Result<Vec<[f64; N]>, Fault> {
        let numbers = self.numbers(archive, 0)?;
        archive
            .container
            .plan(&[numbers.len() as u64, 8], &self.what)?;
        let numbers: Vec<f64> = numbers.collect();
        Ok(numbers.as_chunks().0.to_vec())
    }

    /// When its samples were taken; one time for a property that never changes.
    pub(super) fn times(&self, archive: &Archive<'a>) -> Result<Vec<f64>, Fault> {
        let sampling = archive.samplings.get(self.property.sampling);
        let sampling = sampling.ok_or_else(|| {
            let expected = format!("one of {} time samplings", archive.samplings.len());
            let found = format!("number {}", self.property.sampling);
            Fault::malformed(&self.what, expected, found)
        })?;
        let count = match self.is_constant() {
            true => self.property.sample_count.min(1),
            false => self.property.sample_count,
        };
        archive.container.plan(&[count as u64, 8], &self.what)?;
        sampling.times(count, &self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_is_read_exactly() {
        for (bits, value) in [
            (0x0000, 0.0),
            (0x0001, 5.960_464_477_539_063e-8),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x3555, 0.333_251_953_125),
            (0x7bff, 65504.0),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(from_half(bits), value, "bits {bits:#x}");
        }
        assert!(from_half(0x7e00).is_nan(), "no number");
    }

    fn values(sample_count: usize, first_changed: usize, last_changed: usize) -> Values<'static> {
        let mut property = Property::for_tests("P", sample_count);
        (property.first_changed, property.last_changed) = (first_changed, last_changed);
        Values::new(&property, 3, &"object /a").expect("numbers")
    }

    #[test]
    fn samples_like_the_first_and_the_last_are_stored_once() {
        let stored = |v: &Values| {
            (0..v.sample_count())
                .map(|i| v.stored(i))
                .collect::<Vec<_>>()
        };
        let some = values(6, 2, 4);
        assert_eq!(stored(&some), [0, 0, 1, 2, 3, 3], "changes from 2 to 4");
        assert_eq!(some.stored_count(), 4, "of 6");
        let all = values(3, 1, 2);
        assert_eq!(
            (stored(&all), all.stored_count()),
            (vec![0, 1, 2], 3),
            "all differ"
        );
        let none = values(3, 0, 0);
        assert_eq!(
            (stored(&none), none.stored_count()),
            (vec![0, 0, 0], 1),
            "none differ"
        );
        assert!(none.is_constant() && !all.is_constant(), "by that");
        assert_eq!(values(0, 0, 0).stored_count(), 0, "nothing");
    }

    #[test]
    fn rows_of_another_length_are_refused() {
        let property = Property::for_tests("P", 1);
        let message = Values::new(&property, 2, &"object /a")
            .expect_err("threes")
            .to_string();
        assert_eq!(
            message,
            "object /a, property P: expected rows of 2 numbers, found rows of 3"
        );
    }
}
