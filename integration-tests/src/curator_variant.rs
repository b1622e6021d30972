//! Faulty variants of the correlated noise that all records of a release share.

use scumble::core::{
    Accumulator, CuratorMechanism, Error, Guarantee, Notion, Randomness, RecordDomain, Release, Releases,
    Result, Table, Target, collected,
};
use scumble::fisher_svm::{CorrelatedNoise, FisherCorrelated};
use scumble::kkt::{Machine, Records, SoftMargin};

/// θ and ρ of the classifiers in this module.
const THETA: f64 = 1.0;
const RHO: f64 = 0.01;

/// `fisher-correlated` with a fault. The first kept model has θ = 1 and ρ = 0.01.
#[derive(Debug, Clone)]
pub struct CuratorVariant {
    honest: FisherCorrelated,
    /// Number of combinations of columns that the kept models disclose.
    kept: usize,
    fault: CuratorFault,
}

/// The fault of a variant of a curator's mechanism.
#[derive(Debug, Clone)]
pub enum CuratorFault {
    /// No fault: the honest mechanism must pass.
    None,
    /// The noise has this variance, not the claimed one.
    Variance(f64),
    /// The claim omits the share of a record's noise that the constraint on the sum removes.
    ShareForgotten,
    /// The claim counts p columns, but the noise has fewer directions.
    AllColumns,
    /// The noise leaves only the first model unchanged.
    OneModel,
    /// The noise is not projected on the side of the records: the sum Σ bx changes.
    SumOpen,
    /// The noise is not projected on the side of the columns: the scores α·x change.
    ScoresOpen,
    /// The preserved sum is Σ ωx, without the labels.
    SignsForgotten,
}

impl CuratorVariant {
    /// Creates the variant of `honest`, whose models disclose `kept` combinations of columns, with this
    /// fault.
    pub fn new(honest: FisherCorrelated, kept: usize, fault: CuratorFault) -> Self {
        Self { honest, kept, fault }
    }

    /// Returns the honest guarantee, with a larger joint bound if the fault is in the claim.
    fn claimed(&self, mut guarantee: Guarantee) -> Guarantee {
        let columns = self.honest.domain().columns().len() as f64;
        let open = columns - self.kept as f64;
        for claim in &mut guarantee.claims {
            if let Notion::CramerRao(bound) = &mut claim.notion {
                bound.joint = bound.joint.map(|joint| match self.fault {
                    CuratorFault::ShareForgotten => self.honest.variance() * open,
                    CuratorFault::AllColumns => joint * columns / open,
                    _ => joint,
                });
            }
        }
        guarantee
    }
}

impl CuratorMechanism for CuratorVariant {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.honest.guarantee()
    }

    fn releases(&self) -> Releases {
        self.honest.releases()
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl CuratorVariant {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let honest = self.honest.release(table, randomness)?;
        let guarantee = self.claimed(honest.guarantee);
        let honest = Release { guarantee, ..honest };
        let clean = self.domain().projected_features(table)?;
        let clean = Table::new(table.columns().to_vec(), clean, table.target().clone())?;
        let machine = classifier(&clean)?;
        let omega = machine.multipliers;
        let b: Vec<f64> = omega.iter().zip(signs(&clean)?).map(|(omega, sign)| omega * sign).collect();
        let zeros = |like: &[f64]| vec![0.0; like.len()];
        let (a, variance) = (machine.weights, self.honest.variance());
        let (b, a, variance) = match self.fault {
            CuratorFault::None | CuratorFault::ShareForgotten | CuratorFault::AllColumns => {
                return Ok(honest);
            }
            CuratorFault::Variance(variance) => (b, a, variance),
            CuratorFault::OneModel => (b, a, variance),
            CuratorFault::SumOpen => (zeros(&b), a, variance),
            CuratorFault::ScoresOpen => {
                let open = zeros(&a);
                (b, open, variance)
            }
            CuratorFault::SignsForgotten => (omega, a, variance),
        };
        let mut records = clean.records().to_owned();
        let values =
            records.as_slice_mut().ok_or_else(|| Error::shape("the records are not stored row by row"))?;
        CorrelatedNoise::new(vec![b], vec![a], variance)?.add(values, &randomness.streams())?;
        let table = Table::new(clean.columns().to_vec(), records, clean.target().clone())?;
        Ok(Release { table, ..honest })
    }
}

/// Trains the classifier of equation (2) on these records, with θ = 1 and ρ = 0.01; the second class is +1.
///
/// # Errors
/// Returns an error if the target is not a class, or if the programme cannot be built or solved.
pub fn classifier(table: &Table) -> Result<Machine> {
    let unsolved = |error: scumble::kkt::Error| Error::shape(error.to_string());
    let (records, signs) = (Records::new(table.records().view()), signs(table)?);
    let penalties = vec![THETA; signs.len()];
    let programme = SoftMargin::new(&records, &signs, &penalties).map_err(unsolved)?;
    let programme = programme.bias_penalty(RHO).map_err(unsolved)?;
    let programme = programme.squared_slack_penalty(RHO).map_err(unsolved)?;
    programme.solve(1e-10, 200).map_err(unsolved)
}

fn signs(table: &Table) -> Result<Vec<f64>> {
    match table.target() {
        Target::Class(classes) => Ok(classes.iter().map(|class| 2.0 * *class as f64 - 1.0).collect()),
        other => Err(Error::shape(format!("the target is {}, and a class is needed", other.kind()))),
    }
}
