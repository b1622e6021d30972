//! Statistics that the mechanism can release.

use crate::NAME;
use crate::centers::Centers;
use crate::components::Components;
use crate::computed::Computed;
use crate::linear::Linear;
use crate::moments::Moments;
use crate::responses::Responses;
use ndarray::Array2;
use scumble_core::{RecordDomain, Result, ShapedBy};
use scumble_marginals::Tables;
use serde::{Deserialize, Serialize};

/// Statistic of half of the records that a mechanism releases with noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Statistic {
    /// Tables of counts of each feature with the target.
    Marginals {
        /// Number of levels of each attribute, the target last. The levels of a number are its bins.
        bins: Vec<usize>,
    },
    /// The means of all products of two coordinates of an encoded record.
    Moments,
    /// The mean and some principal directions.
    Components {
        /// Number of principal directions.
        components: usize,
    },
    /// Centres of clusters.
    Centers {
        /// Number of centres.
        centers: usize,
    },
    /// A ridge regression.
    Ridge {
        /// Ridge λ in the loss, the mean squared error plus λ‖w‖². The weights w exclude the intercept, and
        /// all features lie in [−1, 1].
        ridge: f64,
    },
    /// Outputs of a ridge regression for public records. The public records are released with the outputs.
    Responses {
        /// Ridge λ in the loss, the mean squared error plus λ‖w‖². The weights w exclude the intercept, and
        /// all features lie in [−1, 1].
        ridge: f64,
        /// The public records (q records × d feature coordinates).
        queries: Array2<f64>,
    },
    /// Linear support vector machines: one machine for two classes, else one per class.
    LinearMachine {
        /// Weight of the mean hinge loss relative to ½‖w‖², for the weights w of the machine.
        penalty: f64,
    },
}

impl Statistic {
    /// Returns the people whose data shaped the design. For [`Statistic::Responses`], the design contains the
    /// public records in the clear.
    pub(crate) fn shaped_by(&self) -> ShapedBy {
        match self {
            Self::Responses { .. } => ShapedBy::PublicVolunteers,
            _ => ShapedBy::PublicKnowledge,
        }
    }

    /// Builds the computation of this statistic for records of `domain`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`](scumble_core::Error::NotApplicable) if records of `domain` have no such
    /// statistic, [`Error::Parameter`](scumble_core::Error::Parameter) if a number in the statistic, such as
    /// its number of centres, is out of range.
    pub(crate) fn computed(&self, domain: &RecordDomain) -> Result<Box<dyn Computed>> {
        Ok(match self {
            Self::Marginals { bins } => Box::new(Tables::new(NAME, domain, bins)?),
            Self::Moments => Box::new(Moments::new(domain)?),
            Self::Components { components } => Box::new(Components::new(domain, *components)?),
            Self::Centers { centers } => Box::new(Centers::new(domain, *centers)?),
            Self::Ridge { ridge } => Box::new(Linear::ridge(domain, *ridge)?),
            Self::Responses { ridge, queries } => Box::new(Responses::new(domain, *ridge, queries)?),
            Self::LinearMachine { penalty } => Box::new(Linear::machine(domain, *penalty)?),
        })
    }
}
