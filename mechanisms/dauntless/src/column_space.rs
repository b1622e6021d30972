//! Release of a random orthonormal basis of the column space of the features, in place of the features.

use crate::secret_matrix::{SecretMatrix, haar};
use crate::singular_values::SingularValues;
use scumble_core::{
    ASSUMED, Accumulator, AmbiguitySet, Brief, Claim, CuratorMechanism, Descriptor, Error, Evidence, Example,
    Factor, Guarantee, NoParameters, NoiseDistribution, Notion, Output, Randomness, RecordDomain, Release,
    Releases, Result, SecretKey, Table, Unit, collected, in_clear, register,
};
use serde_json::Value;
use std::sync::Arc;

const NAME: &str = "column-space";

/// Releases a random orthonormal basis of the space that the columns of the features span (Dauntless,
/// Algorithm 5).
///
/// For features X (n × d) of rank r, the release is X̂ = QH. Q is any orthonormal basis (n × r) of the column
/// space of X. H (r × r) is a random orthogonal matrix with the Haar distribution. Every other orthonormal
/// basis of this space is QO for an orthogonal matrix O (Dauntless, Lemma 5), and OH has the distribution of
/// H. So all features with this column space give the same distribution of X̂. These features form an
/// *ambiguity set*, whose members the release does not distinguish. The secret key is A = X⁺X̂ = (XᵀX)⁻¹XᵀX̂
/// (this step of Algorithm 5, as printed, lacks a transpose: errata D6). It maps a record x in the clear to
/// x·A, its *view*. The view of a record of X is the row of X̂ for this record.
///
/// The release has r columns, fewer than d if the columns of X are linearly dependent. Singular values below
/// 10⁻¹⁰ times the largest count as zero. If the n records are linearly independent, the column space is all
/// of ℝⁿ. X̂ then discloses nothing about the features but this independence.
///
/// The release is not differentially private: X̂X̂ᵀ is the projection onto the column space and discloses
/// every linear relation among the records. It shows which records are equal or multiples of each other, and
/// the leverage of each record. An adversary that knows r linearly independent records computes all records
/// exactly.
///
/// ```
/// use scumble_dauntless::{COLUMN_SPACE, ColumnSpace};
/// use scumble_core::{CuratorMechanism, Randomness};
///
/// let example = (COLUMN_SPACE.example)()?;
/// let mechanism = ColumnSpace::new(example.brief.domain)?;
/// let release = mechanism.release(&example.table, &mut Randomness::from_os()?)?;
/// let gram = release.table.records().t().dot(release.table.records());
/// // The released columns are orthonormal for any records.
/// assert!((gram[[0, 0]] - 1.0).abs() < 1e-12 && gram[[0, 1]].abs() < 1e-12);
///
/// let view = release.key.view(&example.table)?;
/// let off = view.records() - release.table.records();
/// assert!(off.iter().all(|x| x.abs() < 1e-12)); // a model of the release is one of x·A
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ColumnSpace {
    domain: RecordDomain,
}

impl ColumnSpace {
    /// Creates the mechanism for the features of `domain`.
    ///
    /// # Errors
    /// [`Error::NotApplicable`] if `domain` has no features.
    pub fn new(domain: RecordDomain) -> Result<Self> {
        if domain.columns().is_empty() {
            return Err(Error::not_applicable(
                NAME,
                "the records have no features, so the column space is empty",
            ));
        }
        Ok(Self { domain })
    }
}

impl CuratorMechanism for ColumnSpace {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let set = AmbiguitySet {
            members:
                "all data sets with the same number of records whose feature columns span the same space"
                    .into(),
        };
        let mut discloses = in_clear(&self.domain, Unit::Label);
        discloses.extend(
            [
                "the column space of the features, and so every linear relation among the records: equal \
                 records, multiples, linear dependences, and the leverage of each record",
                "all records, exactly, to an adversary that knows as many linearly independent records as \
                 the release has columns",
                "the number of records, and the number of linearly independent feature columns",
            ]
            .map(str::to_owned),
        );
        Guarantee {
            claims: vec![Claim {
                notion: Notion::AmbiguitySet(set),
                protects: Unit::for_features(&self.domain),
                theorem: "Lemma 5, Algorithm 5 (Xiao and Devadas, Dauntless), with the basis in the rank of \
                          the features"
                    .into(),
            }],
            discloses,
            assumes: ASSUMED
                .into_iter()
                .chain([
                    "the adversary knows no record, and the key stays secret",
                    "the basis is treated as exact, although it is computed in double precision and its last \
                     digits may disclose something",
                ])
                .map(str::to_owned)
                .collect(),
            ..Guarantee::default()
        }
    }

    fn evidence(&self) -> Evidence<'_> {
        let alike = |_claim: &Claim, table: &Table| self.alike(table);
        Evidence { alike: Some(Box::new(alike)), ..Evidence::default() }
    }

    fn releases(&self) -> Releases {
        Releases::with_key(&self.domain)
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        Ok(Arc::new(Error::read_state::<SecretMatrix>(state)?))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }
}

impl ColumnSpace {
    /// Returns `table`, and a copy of it. In the copy, two numeric columns with equal bounds are replaced by
    /// two different weighted means of both columns. The two tables have the same column space.
    fn alike(&self, table: &Table) -> Option<[Table; 2]> {
        let features = self.domain.features();
        let numbers: Vec<(usize, (f64, f64))> = features
            .factors()
            .filter_map(|(at, factor)| match factor {
                Factor::Interval { lower, upper } => Some((at.start, (*lower, *upper))),
                _ => None,
            })
            .collect();
        let pairs = numbers
            .iter()
            .enumerate()
            .flat_map(|(at, one)| numbers[at + 1..].iter().map(move |other| (one, other)));
        let (one, other) =
            pairs.into_iter().find(|(one, other)| one.1 == other.1).map(|(one, other)| (one.0, other.0))?;
        let mut records = table.records().clone();
        for mut row in records.outer_iter_mut() {
            let (x, y) = (row[one], row[other]);
            (row[one], row[other]) = (0.5 * x + 0.5 * y, 0.1 * x + 0.9 * y);
        }
        let member = Table::new(table.columns().to_vec(), records, table.target().clone()).ok()?;
        Some([table.clone(), member])
    }

    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let SingularValues { left, values, right } =
            SingularValues::new(&self.domain.projected_features(table)?, NAME)?;
        let turned = haar(values.len(), &mut randomness.streams().stream(0))?;
        // For features X = UΣVᵀ, the key is X⁺X̂ = VΣ⁻¹Uᵀ·UH.
        let key = SecretMatrix::new(&self.domain, (&right / &values).dot(&turned));
        let noise = NoiseDistribution::Exact { width: values.len() };
        key.released(table, left.dot(&turned), noise, self.guarantee().under(randomness.provenance()))
    }
}

register! {
    /// The plugin `column-space`.
    pub const COLUMN_SPACE = {
        name: NAME,
        summary: "a random orthonormal basis of the features' column space, released in place of the \
            features",
        paper: "Xiao and Devadas, Dauntless: data augmentation and uniform transformation for learning with \
                scalability and security, Algorithm 5",
        descriptor: Descriptor::new(Output::SecretView),
        parameters: NoParameters,
        learn: |NoParameters {}, brief: &Brief| Ok(brief.domain.clone()),
        curator: ColumnSpace::new,
        example: Example::mixed,
    };
}
