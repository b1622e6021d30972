//! Which statistic is released.

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

/// The statistic of half of the records that is released with noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Statistic {
    /// Tables of counts of each feature with the target.
    Marginals {
        /// The levels of each attribute, the target last: of a number, its bins.
        bins: Vec<usize>,
    },
    /// The means of all products of two coordinates.
    Moments,
    /// The mean, and so many principal directions.
    Components {
        /// How many.
        components: usize,
    },
    /// So many centres of clusters.
    Centers {
        /// How many.
        centers: usize,
    },
    /// A ridge regression.
    Ridge {
        /// What is added to the mean square of each coordinate in [−1, 1].
        ridge: f64,
    },
    /// What a ridge regression says of public records, which are released with it.
    Responses {
        /// What is added to the mean square of each coordinate in [−1, 1].
        ridge: f64,
        /// The public records (q × d).
        queries: Array2<f64>,
    },
    /// A linear support vector machine, or one a class.
    LinearMachine {
        /// The weight of the mean hinge loss beside ½‖w‖².
        penalty: f64,
    },
}

impl Statistic {
    /// Whose data shaped it: those that are asked about are in it in the clear.
    pub(crate) fn shaped_by(&self) -> ShapedBy {
        match self {
            Self::Responses { .. } => ShapedBy::PublicVolunteers,
            _ => ShapedBy::PublicKnowledge,
        }
    }

    /// Of records of this domain.
    ///
    /// # Errors
    /// [`Error::NotApplicable`](scumble_core::Error::NotApplicable) for records that have no such statistic, [`Error::Parameter`](scumble_core::Error::Parameter) for a number out of range.
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
