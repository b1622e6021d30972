//! Pool of records that agree with all measured tables, also with tables whose columns form a cycle.
//!
//! A junction tree cannot hold such tables. The pool starts with records drawn from a tree, and is then moved
//! towards each table in turn. Records leave the cells that have too many of them, and enter the cells that
//! have too few (gradual update of PrivSyn: Zhang and others 2021). All of this is post-processing of the
//! noisy tables.

use crate::counts::Clique;
use crate::network::{Network, fitted, most_used_first};
use crate::residuals::Residuals;
use rand::Rng;
use rand::seq::{SliceRandom, index};
use scumble_core::levels::draw;
use scumble_core::{Result, Stream, interrupt};

/// Number of records in the pool.
const RECORDS: usize = 1 << 15;
/// Number of passes over all tables. In each pass, a cell loses [`STEP`]ᵏ of its excess, where k counts the
/// passes before.
const PASSES: i32 = 15;
const STEP: f64 = 0.93;

/// Records from which released records are sampled, as columns of levels.
#[derive(Debug, Clone)]
pub(crate) struct Pool(Vec<Vec<u32>>);

impl Pool {
    /// Draws records from `network`, and moves them towards the tables of `cliques` that `residuals`
    /// estimates. `levels` has the number of levels of each column.
    ///
    /// # Errors
    /// [`Error::Interrupted`](scumble_core::Error::Interrupted) if the user interrupts the computation.
    pub(crate) fn fit(
        levels: &[usize],
        network: &Network,
        cliques: &[Clique],
        residuals: &Residuals<'_>,
        stream: &mut Stream,
    ) -> Result<Self> {
        let tables_with = |column| cliques.iter().filter(|clique| clique.contains(&column)).count();
        let table = |clique: &Clique| {
            let mut columns = clique.clone();
            most_used_first(&mut columns, tables_with);
            let counts = fitted(residuals, &vec![], vec![network.total()], &columns);
            draw::shares(counts).into_iter().map(|share| share * RECORDS as f64).collect()
        };
        let mut tables: Vec<(&Clique, Vec<f64>)> =
            cliques.iter().map(|clique| (clique, table(clique))).collect();
        let mut pool = Self(network.draw(RECORDS, stream)?);
        for pass in 0..PASSES {
            tables.shuffle(stream);
            for (clique, expected) in &tables {
                interrupt::check()?;
                pool.approach(levels, clique, expected, STEP.powi(pass), stream);
            }
        }
        Ok(pool)
    }

    /// Moves the fraction `step` of the records that the table of `clique` has in excess of its `expected`
    /// counts.
    fn approach(
        &mut self,
        levels: &[usize],
        clique: &Clique,
        expected: &[f64],
        step: f64,
        stream: &mut Stream,
    ) {
        let cell =
            |row: usize| clique.iter().fold(0, |cell, &at| cell * levels[at] + self.0[at][row] as usize);
        let mut order: Vec<usize> = (0..RECORDS).collect();
        order.shuffle(stream);
        let mut rows: Vec<Vec<usize>> = vec![vec![]; expected.len()];
        order.into_iter().for_each(|row| rows[cell(row)].push(row));
        let mut leaving = vec![];
        for (rows, expected) in rows.iter_mut().zip(expected) {
            let excess = step * (rows.len() as f64 - expected).max(0.0) + draw::uniform(stream);
            leaving.extend(rows.split_off(rows.len() - (excess as usize).min(rows.len())));
        }
        let missing: Vec<f64> =
            rows.iter().zip(expected).map(|(rows, expected)| expected - rows.len() as f64).collect();
        leaving.shuffle(stream);
        let entered = draw::levels(&missing, leaving.len(), stream);
        for (row, cell) in leaving.into_iter().zip(entered) {
            // Every second record becomes a copy of a record in its new cell, which keeps the other
            // relations.
            if let Some(&model) = rows[cell].choose(stream).filter(|_| stream.r#gen()) {
                self.0.iter_mut().for_each(|column| column[row] = column[model]);
            }
            let mut rest = cell;
            for &at in clique.iter().rev() {
                self.0[at][row] = (rest % levels[at]) as u32;
                rest /= levels[at];
            }
        }
    }

    /// Samples the levels of `records` records, as columns of `records` values each. No record of the pool is
    /// sampled again before every record of the pool was sampled once.
    pub(crate) fn draw(&self, records: usize, stream: &mut Stream) -> Vec<Vec<u32>> {
        let mut rows = Vec::with_capacity(records);
        while rows.len() < records {
            rows.extend(index::sample(stream, RECORDS, RECORDS.min(records - rows.len())));
        }
        self.0.iter().map(|column| rows.iter().map(|&row| column[row]).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Order;
    use crate::network::tests::nearly_normal;
    use crate::residuals::Measured;
    use scumble_core::Randomness;

    /// Three columns whose pairs all agree in 80 % of the records form a cycle.
    #[test]
    fn records_of_the_pool_keep_every_table_of_a_cycle() {
        let (levels, agree) = ([2; 3], [40.0, 10.0, 10.0, 40.0]);
        let cliques = [vec![0, 1], vec![0, 2], vec![1, 2]];
        let table =
            |clique: &Clique| Measured { clique: clique.clone(), counts: agree.to_vec(), variance: 1.0 };
        let measured: Vec<Measured> = cliques.iter().map(table).collect();
        let residuals = Residuals::from_measured(&levels, &measured, None).unwrap();
        let tree = Order::from_cliques(&cliques[..2]).unwrap();
        let network = Network::fit(&levels, tree, &residuals).unwrap();
        let mut stream = Randomness::seeded(1).streams().stream(0);
        let shares = |columns: &[Vec<u32>]| {
            cliques.clone().map(|clique| {
                let [one, other] = [&columns[clique[0]], &columns[clique[1]]];
                one.iter().zip(other).filter(|(one, other)| one == other).count() as f64 / one.len() as f64
            })
        };
        let [.., last] = shares(&network.draw(20_000, &mut stream).unwrap());
        assert!((last - 0.68).abs() < 0.02, "along the tree, 0.8² + 0.2² of the records agree: {last}");
        let pool = Pool::fit(&levels, &network, &cliques, &residuals, &mut stream).unwrap();
        for records in [20_000, 50_000] {
            let drawn = pool.draw(records, &mut stream);
            assert!(drawn.iter().all(|column| column.len() == records));
            let shares = shares(&drawn);
            assert!(shares.iter().all(|share| (share - 0.8).abs() < 0.01), "{shares:?}");
        }
    }

    /// A target whose last eight levels are rare, in a cycle of three tables. The noise above zero in their
    /// many cells must not add up to records: if all cells are made non-negative at once, it makes 40 % more.
    #[test]
    fn rare_levels_of_the_pool_gain_no_records_from_noise() {
        let levels = [8, 6, 9];
        let target = [9400.0, 300.0, 150.0, 100.0, 50.0, 0.0, 0.0, 0.0, 0.0];
        let mut stream = Randomness::seeded(5).streams().stream(0);
        let mut noise = || 60.0 * nearly_normal(&mut stream);
        let cliques = [vec![0, 1], vec![0, 2], vec![1, 2]];
        let measured = cliques.clone().map(|clique| {
            let cells: usize = clique.iter().map(|&at| levels[at]).product();
            let count = |cell: usize| match clique[1] {
                2 => target[cell % 9] / levels[clique[0]] as f64,
                _ => 10_000.0 / cells as f64,
            };
            let counts = (0..cells).map(|cell| count(cell) + noise()).collect();
            Measured { clique, counts, variance: 3600.0 }
        });
        let residuals = Residuals::from_measured(&levels, &measured, Some(10_000.0)).unwrap();
        let network = Network::fit(&levels, Order::from_cliques(&cliques[..2]).unwrap(), &residuals).unwrap();
        let pool = Pool::fit(&levels, &network, &cliques, &residuals, &mut stream).unwrap();
        let drawn = pool.draw(RECORDS, &mut stream);
        let rare = drawn[2].iter().filter(|&&level| level > 0).count() as f64 / RECORDS as f64;
        assert!((rare - 0.06).abs() < 0.015, "{rare} of the records have a rare level, not 0.06");
    }
}
