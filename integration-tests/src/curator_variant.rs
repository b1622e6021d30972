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

/// `fisher-correlated` with θ = 1 and ρ = 0.01, and a fault.
#[derive(Debug, Clone)]
pub struct CuratorVariant {
    honest: FisherCorrelated,
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
    /// The claim counts p columns, but the noise has p − 1 directions.
    AllColumns,
    /// The noise is not projected on the side of the records: the sum Σ bx changes.
    SumOpen,
    /// The noise is not projected on the side of the columns: the scores α·x change.
    ScoresOpen,
    /// The preserved sum is Σ ωx, without the labels.
    SignsForgotten,
}

impl CuratorVariant {
    /// Creates the variant of `honest` with this fault.
    pub fn new(honest: FisherCorrelated, fault: CuratorFault) -> Self {
        Self { honest, fault }
    }

    /// Returns the honest guarantee, with a larger joint bound if the fault is in the claim.
    fn claimed(&self, mut guarantee: Guarantee, share: f64) -> Guarantee {
        let columns = self.honest.domain().columns().len() as f64;
        let factor = match self.fault {
            CuratorFault::ShareForgotten => 1.0 / (1.0 - share),
            CuratorFault::AllColumns => columns / (columns - 1.0),
            _ => 1.0,
        };
        for claim in &mut guarantee.claims {
            if let Notion::CramerRao(bound) = &mut claim.notion {
                bound.joint = bound.joint.map(|joint| factor * joint);
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
        let clean = honest.key.view(table)?;
        let machine = classifier(&clean)?;
        let omega = machine.multipliers;
        let b: Vec<f64> = omega.iter().zip(signs(&clean)?).map(|(omega, sign)| omega * sign).collect();
        let zeros = |like: &[f64]| vec![0.0; like.len()];
        let (a, variance) = (machine.weights, self.honest.variance());
        let noise = CorrelatedNoise::new(b.clone(), a.clone(), variance)?;
        let guarantee = self.claimed(honest.guarantee, noise.largest_share());
        let noise = match self.fault {
            CuratorFault::Variance(variance) => CorrelatedNoise::new(b, a, variance)?,
            CuratorFault::SumOpen => CorrelatedNoise::new(zeros(&b), a, variance)?,
            CuratorFault::ScoresOpen => CorrelatedNoise::new(b, zeros(&a), variance)?,
            CuratorFault::SignsForgotten => CorrelatedNoise::new(omega, a, variance)?,
            CuratorFault::None | CuratorFault::ShareForgotten | CuratorFault::AllColumns => noise,
        };
        let mut records = clean.records().to_owned();
        let values =
            records.as_slice_mut().ok_or_else(|| Error::shape("the records are not stored row by row"))?;
        noise.add(values, &randomness.streams())?;
        let table = Table::new(clean.columns().to_vec(), records, clean.target().clone())?;
        Ok(Release { table, guarantee, ..honest })
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
