//! Lists of different lengths, one per vertex, in one allocation.

/// A list of items for every vertex (compressed rows).
#[derive(Debug, Clone, PartialEq)]
pub struct Rows<T> {
    /// Where each row begins in `items`; one more entry than there are rows.
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            starts: vec![0],
            items: Vec::new(),
        }
    }
}

impl<T> Rows<T> {
    /// No rows yet, with memory reserved for this many rows and items.
    pub fn with_capacity(rows: usize, items: usize) -> Self {
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        Self {
            starts,
            items: Vec::with_capacity(items),
        }
    }

    /// Adds a row at the end.
    ///
    /// # Panics
    /// When all rows together hold more than 2³² items.
    pub fn push_row(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        let end = u32::try_from(self.items.len()).expect("rows hold at most 2^32 items");
        self.starts.push(end);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True when there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One row.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, index: usize) -> &[T] {
        &self.items[self.range(index)]
    }

    /// The positions of a row in [`Rows::items`].
    ///
    /// # Panics
    /// When there is no such row.
    pub fn range(&self, index: usize) -> std::ops::Range<usize> {
        self.starts[index] as usize..self.starts[index + 1] as usize
    }

    /// The rows in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> {
        (0..self.len()).map(|index| self.row(index))
    }

    /// The items of all rows, one row after the other.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Items in the longest row.
    pub fn longest(&self) -> usize {
        self.iter().map(<[T]>::len).max().unwrap_or(0)
    }
}

impl<T, R: IntoIterator<Item = T>> FromIterator<R> for Rows<T> {
    fn from_iter<I: IntoIterator<Item = R>>(rows: I) -> Self {
        let mut all = Self::default();
        for row in rows {
            all.push_row(row);
        }
        all
    }
}
