//! Search for the signs ±1 of the rows of a matrix at which the signed sum of the rows has the largest
//! spread.

/// Maximum number of rows of a search. With more rows, only trivial searches would end.
const MOST_ROWS: usize = 100;

/// Computes the maximum of the seminorm `spread` over the sums Σ ±rowᵢ with all combinations of signs.
/// Returns `known` if it is larger than the maximum. Returns `None` for more than [`MOST_ROWS`] rows, or if
/// the search needs more than `most_nodes` evaluations.
///
/// Signs are chosen one after the other, and each partial sum is its predecessor plus one row. Each
/// coordinate of a sum of Z rows therefore has at most Z roundings. In Gray-code order, a sum would be
/// computed from the sum for the previous sign vector, and the roundings of all earlier sums would add up.
/// The remaining rows add at most the sum of their spreads, so partial sums that cannot exceed the best
/// spread are pruned. The first sign is fixed, because a sum a and its negative −a have the same spread.
pub(crate) fn widest(
    rows: &[&[f64]],
    spread: impl Fn(&[f64]) -> f64,
    known: f64,
    most_nodes: usize,
) -> Option<f64> {
    if rows.len() > MOST_ROWS {
        return None;
    }
    let mut rows: Vec<(f64, &[f64])> = rows.iter().map(|row| (spread(row), *row)).collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let Some((first, start)) = rows.first().copied() else { return Some(known) };
    // Upper bounds on the contribution of the rows from each position on.
    let mut to_come = vec![0.0; rows.len() + 1];
    for at in (0..rows.len()).rev() {
        to_come[at] = to_come[at + 1] + rows[at].0;
    }
    let mut search = Search { rows: &rows, to_come, spread, best: known, nodes_left: most_nodes };
    search.from(1, first, start)?;
    Some(search.best)
}

struct Search<'a, F> {
    rows: &'a [(f64, &'a [f64])],
    to_come: Vec<f64>,
    spread: F,
    best: f64,
    nodes_left: usize,
}

impl<F: Fn(&[f64]) -> f64> Search<'_, F> {
    /// Searches all signs of the rows from index `at` on. These rows are added to `sum`, the signed sum of
    /// the earlier rows, whose spread is `reached`. Returns `None` if `nodes_left` is exhausted.
    fn from(&mut self, at: usize, reached: f64, sum: &[f64]) -> Option<()> {
        let Some((_, row)) = self.rows.get(at) else {
            self.best = self.best.max(reached);
            return Some(());
        };
        self.nodes_left = self.nodes_left.checked_sub(2)?;
        let plus: Vec<f64> = sum.iter().zip(*row).map(|(sum, x)| sum + x).collect();
        let minus: Vec<f64> = sum.iter().zip(*row).map(|(sum, x)| sum - x).collect();
        let mut ways = [((self.spread)(&plus), plus), ((self.spread)(&minus), minus)];
        if ways[0].0 < ways[1].0 {
            ways.swap(0, 1);
        }
        for (reached, sum) in ways {
            if reached + self.to_come[at + 1] > self.best {
                self.from(at + 1, reached, &sum)?;
            }
        }
        Some(())
    }
}
