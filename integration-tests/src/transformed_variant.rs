//! Faulty variants of releases of records times a secret matrix.

use ndarray::Array2;
use scumble::core::{
    Accumulator, CentralDp, Claim, CuratorMechanism, Designed, Domain, Guarantee, Neighbours, Notion,
    Randomness, RecordDomain, Release, Releases, Result, Table, TargetDomain, Unit, collected,
};
use scumble::dauntless::SingularValueObfuscation;

/// A mechanism with the guarantee of an honest mechanism, and a fault.
#[derive(Debug, Clone)]
pub struct TransformedVariant {
    honest: Designed,
    fault: TransformedFault,
}

/// The fault of a variant of a transformation.
#[derive(Debug, Clone)]
pub enum TransformedFault {
    /// No fault: the honest mechanism must pass.
    None,
    /// It releases by this mechanism instead.
    By(Designed),
    /// It always releases from one seed.
    OneSeed,
    /// Its noise is scaled by the diameter of the sample's bounding box, divided by the diameter of the
    /// domain.
    SampleDiameter,
    /// It releases an orthonormal basis of the column space (Gram–Schmidt, column by column) without a random
    /// rotation.
    NotTurned,
    /// It releases the same basis as `NotTurned`, with random signs of the columns.
    OnlySigns,
    /// It releases the columns at their own lengths and angles, randomly rotated.
    NotOrthonormal,
}

impl TransformedVariant {
    /// Creates the variant of `honest` with this fault.
    pub fn new(honest: &(impl CuratorMechanism + Clone), fault: TransformedFault) -> Self {
        Self { honest: Designed::curator(honest.clone()), fault }
    }

    fn records(&self, table: &Table, randomness: &mut Randomness) -> Result<Array2<f64>> {
        use rand_core::RngCore;
        let released = |mechanism: &Designed, randomness: &mut Randomness| {
            Ok(mechanism.release(table, randomness)?.table.records().clone())
        };
        match &self.fault {
            TransformedFault::None => released(&self.honest, randomness),
            TransformedFault::By(other) => released(other, randomness),
            TransformedFault::OneSeed => released(&self.honest, &mut Randomness::seeded(1)),
            TransformedFault::SampleDiameter => {
                let honest = self.honest.release(table, randomness)?;
                let clean = honest.key.view(table)?.records().clone();
                let share = diameter(table) / self.honest.domain().features().l2_diameter();
                Ok(&clean + &(share * (honest.table.records() - &clean)))
            }
            TransformedFault::NotTurned => Ok(basis(table)),
            TransformedFault::OnlySigns => {
                let mut stream = randomness.streams().stream(0);
                let mut basis = basis(table);
                for mut column in basis.columns_mut() {
                    column *= if stream.next_u32().is_multiple_of(2) { 1.0 } else { -1.0 };
                }
                Ok(basis)
            }
            TransformedFault::NotOrthonormal => {
                // X·X⁺X̂ is orthonormal: the matrix that rotates the basis rotates the columns themselves.
                let turned = released(&self.honest, randomness)?;
                Ok(table.records().dot(&basis(table).t().dot(&turned)))
            }
        }
    }
}

/// Returns the ℓ₂ diameter of the records' bounding box.
fn diameter(table: &Table) -> f64 {
    let side = |column: ndarray::ArrayView1<f64>| {
        let ends = column
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
        (ends.1 - ends.0).powi(2)
    };
    table.records().columns().into_iter().map(side).sum::<f64>().sqrt()
}

/// Returns the columns, each orthogonal to the earlier columns and of length 1 (Gram–Schmidt).
fn basis(table: &Table) -> Array2<f64> {
    let mut basis = table.records().clone();
    for at in 0..basis.ncols() {
        for before in 0..at {
            let along = basis.column(before).dot(&basis.column(at));
            let column = &basis.column(at) - &(along * &basis.column(before));
            basis.column_mut(at).assign(&column);
        }
        let length = basis.column(at).dot(&basis.column(at)).sqrt();
        basis.column_mut(at).mapv_inplace(|x| x / length);
    }
    basis
}

impl CuratorMechanism for TransformedVariant {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        self.honest.guarantee()
    }

    fn releases(&self) -> Releases {
        Releases::with_key(self.domain())
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl TransformedVariant {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let honest = self.honest.release(table, &mut Randomness::from_os()?)?;
        let records = self.records(table, randomness)?;
        Ok(Release {
            table: Table::new(honest.table.columns().to_vec(), records, table.target().clone())?,
            ..honest
        })
    }
}

/// `singular-value-obfuscation` of one number, with a claim of central differential privacy.
///
/// For a single record from 1 to 10 the singular value is the record, and all tables have the same left
/// singular vector.
#[derive(Debug, Clone)]
pub struct ObfuscatedNumber {
    honest: SingularValueObfuscation,
    epsilon: f64,
    delta: f64,
}

impl ObfuscatedNumber {
    /// Creates the mechanism with this τ and this claim.
    ///
    /// # Errors
    /// Same errors as [`SingularValueObfuscation::new`].
    pub fn claiming(tau: f64, epsilon: f64, delta: f64) -> Result<Self> {
        let domain = RecordDomain::new(vec!["x".into()], Domain::interval(1.0, 10.0)?, TargetDomain::None)?;
        Ok(Self { honest: SingularValueObfuscation::new(domain, tau)?, epsilon, delta })
    }
}

impl CuratorMechanism for ObfuscatedNumber {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        let notion = Notion::CentralDp(CentralDp::new(self.epsilon, self.delta, Neighbours::ReplaceOne));
        let claim = Claim { notion, protects: Unit::Record, theorem: "Lemma 6 of Dauntless".into() };
        Guarantee { claims: vec![claim], ..self.honest.guarantee() }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(self.domain())
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl ObfuscatedNumber {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        self.honest.release(table, randomness)
    }
}
