//! Faulty variants of mixing and transformation, of their queries, and of perfect secrecy.

use ndarray::{Array2, Axis};
use scumble::core::{
    Accumulator, AmbiguitySet, Claim, CuratorMechanism, Designed, Error, Evidence, Guarantee, Key, Notion,
    Randomness, RecordDomain, Release, Releases, Result, Secret, SecretKey, Table, Target, Unit, collected,
};
use serde_json::Value;
use std::sync::Arc;

/// A mechanism with the guarantee of an honest Dauntless mechanism, and a fault.
#[derive(Debug, Clone)]
pub struct DauntlessVariant {
    honest: Designed,
    fault: DauntlessFault,
}

/// The fault of a variant of a Dauntless mechanism.
#[derive(Debug, Clone)]
pub enum DauntlessFault {
    /// No fault: the honest mechanism must pass.
    None,
    /// It releases by this mechanism instead.
    By(Designed),
    /// Every release draws from one seed.
    OneSeed,
    /// Every release applies the same transformation to its records; all other randomness is drawn afresh.
    OneTransformation,
    /// Labels are released one-hot, in the order of the classes.
    OneHot,
    /// The vector of every class but the first is twice as long; nothing is mixed.
    LongVectors,
    /// Mixtures with these public records (p × d), where the private record has this share, and not one half.
    Weighted(Array2<f64>, f64),
    /// Mixtures in equal shares with these public records (p × d), all with the first private record.
    UsedTwice(Array2<f64>),
    /// The claim has this budget.
    Budget(f64),
    /// Queries that the key may still answer do not count as spent.
    QueriesUncounted,
    /// The key does not count its answers.
    KeyUncounted,
    /// The key loses its count of answers when it is saved.
    KeyForgets,
    /// All queries are mixed with the same record.
    OnePartner,
    /// The release is the key's view of the records, not the constant that the view approximates.
    View,
    /// The release is the Gram matrix of the records, scaled to a diagonal with mean 1.
    Gram,
    /// The release is the records times a random matrix: their singular values are not made equal.
    Raw,
    /// The claim is for whole records, but labels are released in the clear.
    LabelsToo,
    /// It claims only that the classes' names are interchangeable, but public records are mixed in and
    /// disclose the names.
    NamesHidden,
}

use DauntlessFault as Fault;

impl DauntlessVariant {
    /// Creates the variant of `honest` with this fault.
    pub fn new(honest: &Designed, fault: DauntlessFault) -> Self {
        Self { honest: honest.clone(), fault }
    }

    fn claimed(&self, mut guarantee: Guarantee, released: usize) -> Guarantee {
        if matches!(self.fault, Fault::NamesHidden) {
            guarantee.each_release.clear();
            guarantee.claims = vec![Claim {
                notion: Notion::AmbiguitySet(AmbiguitySet {
                    members: "all labels that differ by a permutation of the classes' names".into(),
                }),
                protects: Unit::Label,
                theorem: "Theorem 4 (Xiao and Devadas, Dauntless), without its condition that nothing is \
                    known of the labels"
                    .into(),
            }];
        }
        for claim in &mut guarantee.claims {
            match (&self.fault, &mut claim.notion) {
                (Fault::Budget(budget), Notion::PacResistance(pac)) => pac.budget = *budget,
                (Fault::QueriesUncounted, Notion::PacResistance(pac)) => pac.spent = released as f64,
                (Fault::LabelsToo, Notion::PerfectSecrecy(_)) => claim.protects = Unit::Record,
                _ => {}
            }
        }
        guarantee
    }

    /// Applies the fault to the `honest` release of `clean`.
    fn broken(&self, clean: &Table, honest: Release, randomness: &mut Randomness) -> Result<Release> {
        let released = &honest.table;
        let with_records = |records: Array2<f64>| {
            Table::new(released.columns().to_vec(), records, released.target().clone())
        };
        let table = match &self.fault {
            Fault::OneTransformation => {
                let fixed = self.honest.release(clean, &mut Randomness::seeded(1))?;
                return Ok(Release {
                    table: with_records(fixed.table.records().clone())?,
                    key: fixed.key,
                    ..honest
                });
            }
            Fault::OneHot => {
                let classes = classes_of(clean);
                let dim = match released.target() {
                    Target::Vector(vectors) => vectors.ncols(),
                    _ => 0,
                };
                let one_hot = Array2::from_shape_fn((released.len(), dim), |(row, class)| {
                    f64::from(u8::from(classes[row % classes.len()] == class))
                });
                released.clone().with_target(Target::Vector(one_hot))?
            }
            Fault::LongVectors => {
                let view = honest.key.view(clean)?;
                let Target::Vector(mut vectors) = view.target().clone() else { return Ok(honest) };
                for (class, mut vector) in classes_of(clean).iter().zip(vectors.outer_iter_mut()) {
                    vector.mapv_inplace(|x| if *class > 0 { 2.0 * x } else { x });
                }
                view.with_target(Target::Vector(vectors))?
            }
            Fault::Weighted(public, share) => {
                let own = |row: usize| row % clean.len();
                let mixed = mixed(clean, public, released.len(), own, *share);
                with_records(honest.key.view(&as_table(clean, mixed)?)?.records().clone())?
            }
            Fault::UsedTwice(public) => {
                let mixed = mixed(clean, public, released.len(), |_| 0, 0.5);
                with_records(honest.key.view(&as_table(clean, mixed)?)?.records().clone())?
            }
            Fault::View => with_records(honest.key.view(clean)?.records().clone())?,
            Fault::Gram => {
                let gram = clean.records().dot(&clean.records().t());
                let scale = gram.diag().mean().unwrap_or(1.0);
                with_records(gram / scale)?
            }
            Fault::Raw => {
                use rand_core::RngCore;
                let mut stream = randomness.streams().stream(9);
                let width = released.columns().len();
                let secret = Array2::from_shape_simple_fn((clean.columns().len(), width), || {
                    f64::from(stream.next_u32()) / f64::from(u32::MAX) - 0.5
                });
                with_records(clean.records().dot(&secret))?
            }
            _ => released.clone(),
        };
        Ok(Release { table, ..honest })
    }
}

/// Mixes the private record `own(row)` with the public record `row`, for each of the `samples` rows.
fn mixed(
    clean: &Table,
    public: &Array2<f64>,
    samples: usize,
    own: impl Fn(usize) -> usize,
    share: f64,
) -> Array2<f64> {
    Array2::from_shape_fn((samples, public.ncols()), |(row, column)| {
        share * clean.records()[[own(row), column]] + (1.0 - share) * public[[row, column]]
    })
}

/// Builds a table of `records`, all with the label of the first record of `like`. The labels do not matter.
fn as_table(like: &Table, records: Array2<f64>) -> Result<Table> {
    let first = like.select(&vec![0; records.nrows()])?;
    Table::new(like.columns().to_vec(), records, first.target().clone())
}

fn classes_of(table: &Table) -> Vec<usize> {
    match table.target() {
        Target::Class(classes) => classes.to_vec(),
        _ => vec![0; table.len()],
    }
}

impl CuratorMechanism for DauntlessVariant {
    fn domain(&self) -> &RecordDomain {
        self.honest.domain()
    }

    fn guarantee(&self) -> Guarantee {
        let mut guarantee = self.claimed(self.honest.guarantee(), 0);
        // With a budget, only releases make the claim.
        if matches!(self.fault, Fault::Budget(_)) && guarantee.each_release.is_empty() {
            guarantee.each_release = guarantee.claims.drain(..).map(|claim| claim.to_string()).collect();
        }
        guarantee
    }

    fn guarantee_of(&self, records: usize) -> Guarantee {
        self.claimed(self.honest.guarantee_of(records), records)
    }

    fn evidence(&self) -> Evidence<'_> {
        self.honest.evidence()
    }

    fn releases(&self) -> Releases {
        self.honest.releases()
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(self.domain(), |table, randomness| self.release_all(table, randomness))
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        let (honest, fresh) = (self.honest.clone(), state.clone());
        Ok(match self.fault {
            Fault::KeyUncounted => Arc::new(Uncounted { honest, fresh }),
            Fault::KeyForgets => Arc::new(Forgetful { secret: Secret::from_state(state, &honest)?, fresh }),
            Fault::OnePartner => Arc::new(OnePartner(Uncounted { honest, fresh })),
            _ => return honest.key_of(state),
        })
    }
}

impl DauntlessVariant {
    fn release_all(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let honest = match &self.fault {
            // A seed voids the claims; the variant makes them nevertheless.
            Fault::OneSeed => Release {
                guarantee: self.honest.guarantee_of(table.len()).under(randomness.provenance()),
                ..self.honest.release(table, &mut Randomness::seeded(1))?
            },
            Fault::By(other) => Release {
                guarantee: self.honest.guarantee_of(table.len()).under(randomness.provenance()),
                ..other.release(table, randomness)?
            },
            _ => self.honest.release(table, randomness)?,
        };
        let mut release = self.broken(table, honest, randomness)?;
        release.guarantee = self.claimed(release.guarantee, release.table.len());
        if let (Fault::KeyUncounted | Fault::KeyForgets | Fault::OnePartner, Key::Secret(secret)) =
            (&self.fault, &release.key)
        {
            let key = self.key_of(&secret.state().map_err(Error::state)?)?;
            release.key = Key::Secret(secret.with(key));
        }
        Ok(release)
    }
}

/// A key that starts afresh at every call.
struct Uncounted {
    honest: Designed,
    fresh: Value,
}

impl Uncounted {
    fn key(&self) -> Result<Key> {
        Secret::from_state(&self.fresh, &self.honest).map(Key::Secret)
    }
}

impl SecretKey for Uncounted {
    fn view(&self, clean: &Table) -> Result<Table> {
        self.key()?.view(clean)
    }

    fn state(&self) -> serde_json::Result<Value> {
        Ok(self.fresh.clone())
    }
}

/// A key that counts its answers, but saves the state that it had at first.
struct Forgetful {
    secret: Secret,
    fresh: Value,
}

impl SecretKey for Forgetful {
    fn view(&self, clean: &Table) -> Result<Table> {
        Key::Secret(self.secret.clone()).view(clean)
    }

    fn state(&self) -> serde_json::Result<Value> {
        Ok(self.fresh.clone())
    }
}

/// A key that answers every query separately, and so mixes each with the first record of the pool.
struct OnePartner(Uncounted);

impl SecretKey for OnePartner {
    fn view(&self, clean: &Table) -> Result<Table> {
        let rows: Vec<Table> =
            (0..clean.len()).map(|row| self.0.key()?.view(&clean.select(&[row])?)).collect::<Result<_>>()?;
        let views: Vec<_> = rows.iter().map(|row| row.records().view()).collect();
        let records =
            ndarray::concatenate(Axis(0), &views).map_err(|problem| Error::shape(problem.to_string()))?;
        Table::new(rows[0].columns().to_vec(), records, Target::None)
    }

    fn state(&self) -> serde_json::Result<Value> {
        self.0.state()
    }
}
