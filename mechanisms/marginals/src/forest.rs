//! Pairs of columns that form no circle.

/// Which columns pairs connect so far (disjoint sets).
#[derive(Debug, Clone)]
pub(crate) struct Forest {
    /// Of each column, another one that it is connected with; its own place at the root.
    parents: Vec<usize>,
}

impl Forest {
    pub(crate) fn new(columns: usize) -> Self {
        Self { parents: (0..columns).collect() }
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
        self.parents[one] = other;
    }
}

/// All pairs of these columns.
pub(crate) fn pairs(columns: impl Iterator<Item = usize>) -> Vec<(usize, usize)> {
    let columns: Vec<usize> = columns.collect();
    columns
        .iter()
        .enumerate()
        .flat_map(|(at, &one)| columns[at + 1..].iter().map(move |&other| (one, other)))
        .collect()
}
