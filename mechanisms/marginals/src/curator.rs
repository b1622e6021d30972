//! A curator who releases records that a program makes of noisy tables.

use crate::answers::{Drawn, Purse, Replayed};
use crate::bins;
use crate::columns::Columns;
use crate::counts::Counts;
use crate::program::Program;
use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, CentralDp, Drawing, Error, Example, Gathering, Guarantee, Neighbours, Noise,
    NoiseDistribution, Notion, Outcome, Randomness, RecordDomain, Release, Result, Stream, Table, in_blocks,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A designed mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved<P>", into = "Saved<P>", bound = "P: Program")]
pub(crate) struct Curator<P: Program> {
    saved: Saved<P>,
    columns: Columns,
    purse: Purse,
}

/// All that a saved one holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "P: Program")]
pub(crate) struct Saved<P: Program> {
    pub(crate) domain: RecordDomain,
    pub(crate) budget: Budget,
    pub(crate) neighbours: Neighbours,
    /// The levels of each feature, and of the target: of a number, its bins.
    pub(crate) bins: Vec<usize>,
    pub(crate) program: P,
}

impl<P: Program> TryFrom<Saved<P>> for Curator<P> {
    type Error = Error;

    fn try_from(saved: Saved<P>) -> Result<Self> {
        let columns = bins::check(P::NAME, &saved.domain, &saved.bins)?;
        if columns.len() == 0 {
            return Err(Error::not_applicable(P::NAME, "the records have no column"));
        }
        saved.program.check(&columns)?;
        saved.program.tables(&columns).check(P::NAME, &columns.levels())?;
        let purse = Purse::new(saved.budget, saved.neighbours)?;
        Ok(Self { saved, columns, purse })
    }
}

impl<P: Program> From<Curator<P>> for Saved<P> {
    fn from(curator: Curator<P>) -> Self {
        curator.saved
    }
}

/// The parameters that all plugins of this crate have.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    /// How many bins of equal width the public bounds of every number are divided into, 2 to 1024. By default those of the schema, and where it has none a public rule of how many people there are, and of the noise.
    bins: Option<usize>,
    /// The bins of single columns, by their names ("target" for a target that is a number).
    column_bins: Option<BTreeMap<String, usize>>,
    /// The neighbouring relation: "replace-one" record (the default), where the number of records is public, or "add-or-remove-one".
    #[schemars(with = "Option<String>")]
    neighbours: Option<Neighbours>,
}

/// Forty records, of which few bins say what there is to say.
///
/// # Errors
/// None.
pub(crate) fn example() -> Result<Example> {
    Ok(Example { parameters: serde_json::json!({ "bins": 3 }), ..Example::mixed()? })
}

impl<P: Program> Curator<P> {
    /// Designs it; `share` is what of μ² one table takes, for the rule of bins.
    ///
    /// # Errors
    /// [`Error::Parameter`] and [`Error::TooLarge`] for bins, [`Error::NotApplicable`] for a δ of zero, and for columns that are neither
    /// numbers within bounds of their own nor categories.
    pub(crate) fn design(common: Common, brief: &Brief, share: f64, program: P) -> Result<Self> {
        let (domain, budget) = (brief.domain.clone(), brief.budget);
        budget.check_for_gaussian(P::NAME)?;
        let neighbours = common.neighbours.unwrap_or(Neighbours::ReplaceOne);
        let scale = Purse::new(budget, neighbours)?.scale(share);
        let rule = bins::Rule::of(brief, scale);
        let each = &common.column_bins.unwrap_or_default();
        let wanted = bins::Wanted { each, all: common.bins, schema: &brief.bins };
        let bins = bins::of_each(P::NAME, &domain, &wanted, &rule)?;
        Saved { domain, budget, neighbours, bins, program }.try_into()
    }

    pub(crate) fn domain(&self) -> &RecordDomain {
        &self.saved.domain
    }

    /// The levels of each feature, and of the target.
    pub(crate) fn levels(&self) -> Vec<usize> {
        self.columns.levels()
    }

    pub(crate) fn guarantee(&self) -> Guarantee {
        let public = self.saved.neighbours == Neighbours::ReplaceOne;
        let discloses = if public { vec!["the number of records".to_owned()] } else { vec![] };
        let epsilon = self.saved.budget.epsilon();
        if epsilon == f64::INFINITY {
            let tables = "tables of counts of the records, exactly, as far as the released rows show them";
            let discloses = discloses.into_iter().chain([tables.to_owned()]).collect();
            return Guarantee { discloses, ..Guarantee::default() };
        }
        let delta = self.saved.budget.delta();
        let claim = |epsilon, neighbours, theorem: String| {
            (Notion::CentralDp(CentralDp::new(epsilon, delta, neighbours)), theorem)
        };
        let choices = match P::CHOOSES {
            true => {
                "; each choice by the exponential mechanism, of bounded range (Dong, Durfee and Rogers 2020), is Gaussian differential privacy at μ = 2Φ⁻¹(e^(ε/2)/(1 + \
                 e^(ε/2)))"
            }
            false => "",
        };
        let theorem = format!(
            "μ-Gaussian differential privacy of all noisy tables, whose μ² add up, also where a question and its share of μ² follow from answers (Dong, Roth and Su 2022, \
             Corollary 3.3; Smith and Thakurta 2022){choices}; δ(ε) by Balle and Wang 2018, Theorem 8"
        );
        let mut claims = vec![claim(epsilon, self.saved.neighbours, theorem)];
        if !public {
            let replaced = self.purse.epsilon_of_replacement(P::CHOOSES);
            let theorem = "the same with one record removed and another one added";
            claims.push(claim(replaced, Neighbours::ReplaceOne, theorem.to_owned()));
        }
        Guarantee::of_curator(self.saved.neighbours, claims)
    }

    /// Counts of no record yet.
    pub(crate) fn gathering(&self) -> Gathered<'_, P> {
        let counts = Counts::new(self.columns.levels(), self.saved.program.tables(&self.columns));
        Gathered { curator: self, counts }
    }

    /// Counts of a table's records.
    fn gathered(&self, table: &Table) -> Result<Gathered<'_, P>> {
        let mut gathered = self.gathering();
        in_blocks(&self.saved.domain.layout(), table, |records| gathered.add(records))?;
        Ok(gathered)
    }

    /// The number of records, where that is public.
    fn total(&self, counts: &Counts) -> Option<f64> {
        (self.saved.neighbours == Neighbours::ReplaceOne).then_some(counts.records() as f64)
    }

    pub(crate) fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        Box::new(self.gathered(table)?).release(randomness)?.release(P::NAME)
    }

    pub(crate) fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let counts = self.gathered(table)?.counts;
        let total = self.total(&counts);
        let mut answers = Drawn::new(self.purse.clone(), counts, randomness.streams().stream(0));
        self.saved.program.ask(&self.columns, total, &mut answers)?;
        Ok(answers.transcript)
    }

    pub(crate) fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let counts = self.gathered(table)?.counts;
        let total = self.total(&counts);
        let mut answers = Replayed::new(self.purse.clone(), counts, drawn);
        self.saved.program.ask(&self.columns, total, &mut answers)?;
        Ok(answers.log_likelihood)
    }
}

/// What is counted of records, of which no more is kept.
pub(crate) struct Gathered<'c, P: Program> {
    curator: &'c Curator<P>,
    counts: Counts,
}

impl<P: Program> Gathering for Gathered<'_, P> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        let Curator { saved, columns, .. } = self.curator;
        self.counts.add(&columns.coded(&saved.domain, records)?)
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let Curator { saved, columns, purse } = self.curator;
        let total = self.curator.total(&self.counts);
        let streams = randomness.streams();
        let mut answers = Drawn::new(purse.clone(), self.counts, streams.stream(0));
        let model = saved.program.ask(columns, total, &mut answers)?.model(total)?;
        let records = total.unwrap_or_else(|| model.network.total()).round().max(1.0) as usize;
        let (layout, columns) = (saved.domain.layout(), columns.clone());
        let noise = Noise {
            features: vec![NoiseDistribution::Unknown { width: layout.columns.len() }],
            target: NoiseDistribution::Unknown { width: layout.target.width() },
        };
        let (guarantee, width) = (self.curator.guarantee().under(randomness.provenance()), layout.width());
        let draw = move |records, stream: &mut Stream| {
            Ok(columns.written(&model.draw(records, stream)?, width, stream))
        };
        Ok(Outcome::Synthetic(Drawing::new((guarantee, noise), layout, records, streams, draw)))
    }
}

/// A public mechanism with this name, documentation and program.
macro_rules! curator {
    ($(#[$docs:meta])* $mechanism:ident, $program:ty, $name:literal) => {
        $(#[$docs])*
        #[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
        #[serde(transparent)]
        pub struct $mechanism(pub(crate) $crate::curator::Curator<$program>);

        impl $mechanism {
            /// The levels of each feature, and of the target behind them: of a number, its bins.
            pub fn levels(&self) -> Vec<usize> {
                self.0.levels()
            }
        }

        #[typetag::serde(name = $name)]
        impl scumble_core::CuratorMechanism for $mechanism {
            fn domain(&self) -> &scumble_core::RecordDomain {
                self.0.domain()
            }

            fn guarantee(&self) -> scumble_core::Guarantee {
                self.0.guarantee()
            }

            fn releases(&self) -> scumble_core::Releases {
                scumble_core::Releases::Synthetic { values: scumble_core::ValuesIn::Bins }
            }

            fn release(
                &self,
                table: &scumble_core::Table,
                randomness: &mut scumble_core::Randomness,
            ) -> scumble_core::Result<scumble_core::Release> {
                self.0.release(table, randomness)
            }

            fn gathering(&self) -> Option<Box<dyn scumble_core::Gathering + '_>> {
                Some(Box::new(self.0.gathering()))
            }

            fn statistics(&self) -> Option<&dyn scumble_core::Statistics> {
                Some(self)
            }
        }

        impl scumble_core::Statistics for $mechanism {
            fn draw(
                &self,
                table: &scumble_core::Table,
                randomness: &mut scumble_core::Randomness,
            ) -> scumble_core::Result<Vec<f64>> {
                self.0.draw(table, randomness)
            }

            fn log_likelihood(&self, table: &scumble_core::Table, drawn: &[f64]) -> scumble_core::Result<f64> {
                self.0.log_likelihood(table, drawn)
            }
        }
    };
}
pub(crate) use curator;
