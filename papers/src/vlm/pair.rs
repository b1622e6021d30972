//! Two data collections that differ in one thing.

use super::collection::{Collection, Level, TestRecords};
use super::{curve, panel, percent, shown};
use crate::gains::{self, Axis};
use crate::{Finding, Grid, Panel, rules};

const BY_EPSILON: Axis = Axis { symbol: "ε = ", before: true };

/// Two collections of latents at the same values of the local ε. Both have one mechanism.
pub(super) struct Pair {
    /// Name of the data.
    pub of: &'static str,
    /// Names of the two collections.
    pub names: [&'static str; 2],
    pub collections: [Collection; 2],
}

impl Pair {
    /// Values of the local ε, with their indices.
    fn local(&self) -> impl Iterator<Item = (usize, f64)> {
        self.collections[0].plan.local.iter().copied().enumerate()
    }

    /// Accuracy of each trial with the latents of one collection, by its index.
    fn accuracies(&self, collection: usize, local: usize, tested: TestRecords) -> Vec<f64> {
        self.collections[collection].accuracies(0, local, Level::Latent, tested)
    }

    /// Findings on the gain in accuracy of the second collection over the first, in points at each finite ε,
    /// on records in the clear and as released. `what` describes the gain.
    pub fn findings(&self, what: &str, paper: &str) -> [Finding; 2] {
        [TestRecords::Clean, TestRecords::Private].map(|tested| {
            let gains = self.local().filter(|(_, local)| local.is_finite()).map(|(at, local)| {
                let [first, second] = [0, 1].map(|of| self.accuracies(of, at, tested));
                let gains = first.iter().zip(&second).map(|(first, second)| 100.0 * (second - first));
                (local, gains.collect::<Vec<_>>())
            });
            gain(self.of, &format!("records {}", tested.name()), what, paper, &gains.collect::<Vec<_>>())
        })
    }

    pub fn grid(&self) -> Grid {
        let columns = [TestRecords::Clean, TestRecords::Private];
        let columns = columns.into_iter().flat_map(|tested| [0, 1].map(|of| (of, tested)));
        let header = columns.clone().map(|(of, tested)| format!("{}, {}", self.names[of], tested.name()));
        let rows = self.local().map(|(at, local)| {
            let cells = columns.clone().map(|(of, tested)| percent(&self.accuracies(of, at, tested)));
            std::iter::once(shown(local)).chain(cells).collect()
        });
        let header = std::iter::once("local ε".to_owned()).chain(header);
        Grid::new(format!("{}: accuracy, %, ± a standard deviation", self.of), header, rows)
    }

    pub fn panel(&self) -> Panel {
        let local = &self.collections[0].plan.local;
        let clean = |of: usize| move |at: usize| self.accuracies(of, at, TestRecords::Clean);
        let curves = [0, 1].map(|of| curve(self.names[of].into(), of, local, clean(of)));
        panel(self.of, "accuracy, %, ± a standard deviation", curves.into())
    }
}

/// Finding on gains in points at each local ε. `of` is the name of the data, and `tested` of the records that
/// a classifier is tested on.
pub(super) fn gain(of: &str, tested: &str, what: &str, paper: &str, gains: &[(f64, Vec<f64>)]) -> Finding {
    let what = format!("{of}, {tested}: {what}");
    gains::gain_finding(&rules::GAINS, what, paper, ("points of accuracy", BY_EPSILON), gains)
}
