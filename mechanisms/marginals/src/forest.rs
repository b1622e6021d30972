//! Forest of columns: pairs of columns that form no cycle.

/// Connected components of the columns, as disjoint sets. A smaller set is merged into a larger one.
#[derive(Debug, Clone)]
pub(crate) struct Forest {
    /// Parent of each column in the tree of its component. The root is its own parent.
    parents: Vec<usize>,
    /// Number of columns in the component of each root.
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

    /// Returns true if the pair would close a cycle.
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

/// Returns all pairs of `columns`.
pub(crate) fn pairs(columns: std::ops::Range<usize>) -> impl Iterator<Item = (usize, usize)> {
    let end = columns.end;
    columns.flat_map(move |one| (one + 1..end).map(move |other| (one, other)))
}
