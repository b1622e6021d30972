//! Pairs of columns that form no circle.

/// The columns that pairs connect so far (disjoint sets, the smaller one below the larger).
#[derive(Debug, Clone)]
pub(crate) struct Forest {
    /// Another column that each is connected with; its own place at the root.
    parents: Vec<usize>,
    /// The columns below each root.
    sizes: Vec<usize>,
}

impl Forest {
    pub(crate) fn new(columns: usize) -> Self {
        Self { parents: (0..columns).collect(), sizes: vec![1; columns] }
    }

    fn root(&self, mut column: usize) -> usize {
        while self.parents[column] != column {
            column = self.parents[column];
        }
        column
    }

    /// Whether the pair would close a circle.
    pub(crate) fn connects(&self, (one, other): (usize, usize)) -> bool {
        self.root(one) == self.root(other)
    }

    pub(crate) fn add(&mut self, (one, other): (usize, usize)) {
        let (one, other) = (self.root(one), self.root(other));
        let (below, above) = if self.sizes[one] <= self.sizes[other] { (one, other) } else { (other, one) };
        self.parents[below] = above;
        self.sizes[above] += self.sizes[below];
    }
}

/// All pairs of these columns.
pub(crate) fn pairs(columns: std::ops::Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let end = columns.end;
    columns.flat_map(move |one| (one + 1..end).map(move |other| (one, other)))
}
