//! Curator that releases synthetic records. A [`Program`], in which the mechanisms of this crate differ, asks
//! for noisy tables. The records are drawn from these tables.

use crate::answers::{Asked, Drawn, Purse, Replayed};
use crate::bins;
use crate::columns::Columns;
use crate::counts::{Clique, Counts};
use crate::program::{Answered, Program};
use crate::residuals::Measured;
use schemars::JsonSchema;
use scumble_core::levels::Grid;
use scumble_core::{
    Accumulator, Brief, Budget, CentralDp, CuratorMechanism, Drawing, Error, Evidence, Example, Guarantee,
    NUMBER_OF_RECORDS, Neighbours, Noise, Outcome, Randomness, RecordDomain, Releases, Result, SharedCounts,
    Statistics, Stream, Streams, Table, TargetDomain, ValuesIn, accumulate,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Curator that releases synthetic records, drawn from the noisy tables of the program `P`.
#[derive(Debug, Clone)]
pub(crate) struct Curator<P: Program> {
    pub(crate) state: State<P>,
    pub(crate) columns: Columns,
    pub(crate) purse: Purse,
}

/// Saved state of the mechanism.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "P: Program")]
pub(crate) struct State<P: Program> {
    pub(crate) domain: RecordDomain,
    pub(crate) budget: Budget,
    pub(crate) neighbours: Neighbours,
    /// Grid of each feature, and of the target. The equal bins of a category are its levels.
    pub(crate) bins: Vec<Grid>,
    pub(crate) program: P,
}

impl<P: Program> TryFrom<State<P>> for Curator<P> {
    type Error = Error;

    fn try_from(state: State<P>) -> Result<Self> {
        let columns = bins::check(P::NAME, &state.domain, &state.bins)?;
        if columns.len() == 0 {
            return Err(Error::not_applicable(P::NAME, "the records have no column"));
        }
        if P::SERVERS > 1 && state.neighbours != Neighbours::ReplaceOne {
            let problem =
                "neighbours: two servers know who reports, so the claim is about \"replace-one\" record";
            return Err(Error::parameter(P::NAME, problem));
        }
        state.program.check(&columns)?;
        state.program.tables(&columns).check(P::NAME, &columns.levels())?;
        let purse = state.purse()?;
        Ok(Self { state, columns, purse })
    }
}

/// Largest number of records of a person that count.
pub(crate) fn most_records(domain: &RecordDomain) -> u16 {
    domain.records_per_person().unwrap_or(1)
}

/// Parameters of all plugins of this crate.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Common {
    /// Number of equal-width bins between the public bounds of every number, 2 to 1024. The default is the
    /// schema's bins, or else a public rule from the number of people and the noise. Without a
    /// target, mechanisms that first count single columns use narrower bins towards the bounds, and merge
    /// them.
    bins: Option<usize>,
    /// Number of bins of single columns, by column name ("target" for a numeric target).
    column_bins: Option<BTreeMap<String, usize>>,
    /// Neighbouring relation: "replace-one" record (the default; the number of records is public), or
    /// "add-or-remove-one".
    #[schemars(with = "Option<String>")]
    pub(crate) neighbours: Option<Neighbours>,
}

impl Common {
    /// Grids of equal bins for the columns of `brief`, and the neighbouring relation. `share` is the fraction
    /// of the budget that one table spends.
    ///
    /// # Errors
    /// Same errors as [`State::learn`].
    pub(crate) fn equal_bins(
        &self,
        plugin: &str,
        brief: &Brief,
        share: f64,
    ) -> Result<(Vec<Grid>, Neighbours)> {
        let neighbours = self.neighbours.unwrap_or(Neighbours::ReplaceOne);
        let scale = Purse::new(brief.budget, neighbours, most_records(&brief.domain))?.deviation(share);
        let none = BTreeMap::new();
        let each = self.column_bins.as_ref().unwrap_or(&none);
        let explicit = bins::ExplicitBins { each, all: self.bins, schema: &brief.bins };
        let rule = bins::Rule::from_brief(brief, scale);
        Ok((bins::for_attributes(plugin, &brief.domain, &explicit, &rule, false)?, neighbours))
    }
}

/// Example of forty records, for which few bins suffice.
///
/// # Errors
/// Same errors as [`Example::mixed`].
pub(crate) fn example() -> Result<Example> {
    Ok(Example { parameters: serde_json::json!({ "bins": 3 }), ..Example::mixed()? })
}

impl<P: Program> State<P> {
    /// Creates the state of a design. `share` is the fraction of the budget that one table spends; the rule
    /// for the number of bins computes the noise of a table from it. The budget is μ², for the parameter μ of
    /// Gaussian differential privacy.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a number of bins is out of range, or given for a column that is not numeric.
    /// [`Error::NotApplicable`] if δ = 0, [`Error::Budget`] if ε is too small for any noise.
    pub(crate) fn learn(common: Common, brief: &Brief, share: f64, program: P) -> Result<Self> {
        let (domain, budget) = (brief.domain.clone(), brief.budget);
        budget.check_for_gaussian(P::NAME)?;
        let neighbours = common.neighbours.unwrap_or(Neighbours::ReplaceOne);
        let purse = Purse::new(budget, neighbours, most_records(&domain))?.of_servers(P::SERVERS);
        let rule = bins::Rule::from_brief(brief, purse.deviation(share));
        let each = &common.column_bins.unwrap_or_default();
        let explicit = bins::ExplicitBins { each, all: common.bins, schema: &brief.bins };
        let grids = |refined| bins::for_attributes(P::NAME, &domain, &explicit, &rule, refined);
        let fits = |grids: &[Grid]| {
            let columns = bins::check(P::NAME, &domain, grids)?;
            program.tables(&columns).check(P::NAME, &columns.levels())
        };
        // Refined grids take more memory than equal bins. With a target, the accuracy of models was measured
        // with equal bins, and a schema's scale or edges refine them.
        let is_refined = program.merges() && matches!(domain.target(), TargetDomain::None);
        let bins = match is_refined.then(|| grids(true)).transpose()? {
            Some(refined) if fits(&refined).is_ok() => refined,
            _ => grids(false)?,
        };
        Ok(Self { domain, budget, neighbours, bins, program })
    }
}

impl<P: Program> State<P> {
    fn purse(&self) -> Result<Purse> {
        let purse = Purse::new(self.budget, self.neighbours, most_records(&self.domain))?;
        Ok(purse.of_servers(P::SERVERS))
    }
}

impl<P: Program> CuratorMechanism for Curator<P> {
    fn domain(&self) -> &RecordDomain {
        &self.state.domain
    }

    fn guarantee(&self) -> Guarantee {
        let public = self.state.neighbours == Neighbours::ReplaceOne;
        let discloses = if public { vec![NUMBER_OF_RECORDS.to_owned()] } else { vec![] };
        let epsilon = self.state.budget.epsilon();
        if epsilon == f64::INFINITY {
            let tables = "the exact counts of the records, as far as the released rows show them";
            let discloses = discloses.into_iter().chain([tables.to_owned()]).collect();
            return Guarantee { discloses, ..Guarantee::default() };
        }
        let delta = self.state.budget.delta();
        let claim =
            |epsilon, neighbours, theorem: String| (CentralDp::new(epsilon, delta, neighbours), theorem);
        let choices = match P::CHOOSES {
            true => {
                "; each choice by the exponential mechanism, of bounded range (Dong, Durfee and Rogers \
                 2020), is Gaussian differential privacy at μ = 2Φ⁻¹(e^(ε/2)/(1 + e^(ε/2)))"
            }
            false => "",
        };
        let theorem = format!(
            "μ-Gaussian differential privacy of all noisy tables, whose μ² add up, also if a question and \
             its share of μ² depend on earlier answers (Dong, Roth and Su 2022, Corollary 3.3; Smith and \
             Thakurta 2022){choices}; δ(ε) by Balle and Wang 2018, Theorem 8"
        );
        let mut claims = vec![claim(epsilon, self.state.neighbours, theorem)];
        if !public {
            let replaced = self.purse.epsilon_of_replacement(P::CHOOSES);
            let theorem = "the same with one record removed and another one added";
            claims.push(claim(replaced, Neighbours::ReplaceOne, theorem.to_owned()));
        }
        let guarantee = Guarantee::for_curator(self.state.neighbours, claims);
        if P::SERVERS == 1 { guarantee } else { guarantee.by_two_servers() }
    }

    fn releases(&self) -> Releases {
        Releases::Synthetic { values: ValuesIn::Bins }
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        Box::new(Gathered::new(self))
    }

    fn evidence(&self) -> Evidence<'_> {
        Evidence { statistics: Some(self), ..Evidence::default() }
    }

    fn shared_counts(&self) -> Option<&dyn SharedCounts> {
        (P::SERVERS > 1).then_some(self)
    }
}

impl<P: Program> Curator<P> {
    /// Counts a table's records.
    fn gathered(&self, table: &Table) -> Result<Gathered<'_, P>> {
        let mut gathered = Gathered::new(self);
        accumulate(&self.state.domain.layout(), table, &mut gathered)?;
        Ok(gathered)
    }

    /// Returns the number of records if it is public.
    fn total(&self, counts: &Counts) -> Option<f64> {
        (self.state.neighbours == Neighbours::ReplaceOne).then_some(counts.people() as f64)
    }
}

impl<P: Program> Statistics for Curator<P> {
    fn draw(&self, table: &Table, randomness: &mut Randomness) -> Result<Vec<f64>> {
        let counts = self.gathered(table)?.counts;
        let total = self.total(&counts);
        // A server knows its own noise, and sees the noise of the other server alone.
        let purse = self.purse.clone().of_servers(1);
        let mut answers = Drawn::new(purse, counts, randomness.streams().stream(0));
        self.state.program.ask(&self.columns, total, &mut answers)?;
        Ok(answers.transcript)
    }

    fn log_likelihood(&self, table: &Table, drawn: &[f64]) -> Result<f64> {
        let counts = self.gathered(table)?.counts;
        let total = self.total(&counts);
        let mut answers = Replayed::new(self.purse.clone().of_servers(1), counts, drawn);
        self.state.program.ask(&self.columns, total, &mut answers)?;
        Ok(answers.log_likelihood)
    }
}

/// Accumulator that keeps counts of the records, and nothing else about them.
pub(crate) struct Gathered<'c, P: Program> {
    curator: &'c Curator<P>,
    counts: Counts,
}

impl<'c, P: Program> Gathered<'c, P> {
    /// Creates counts of zero records.
    fn new(curator: &'c Curator<P>) -> Self {
        let counts = Counts::new(curator.columns.levels(), curator.state.program.tables(&curator.columns));
        Self { curator, counts }
    }
}

impl<P: Program> Accumulator for Gathered<'_, P> {
    fn add(&mut self, records: &[f64]) -> Result<()> {
        let Curator { state, columns, .. } = self.curator;
        self.counts.add(&columns.coded(&state.domain, records)?, None)
    }

    fn add_shares(&mut self, records: &[f64], shares: &[u16]) -> Result<()> {
        if P::SERVERS > 1 {
            return Err(Error::not_applicable(P::NAME, "a report to two servers has one record"));
        }
        let Curator { state, columns, .. } = self.curator;
        let coded = columns.coded(&state.domain, records)?;
        scumble_core::check_width(coded.first().map_or(0, Vec::len), shares.len())?;
        self.counts.add(&coded, Some(shares))
    }

    fn release(self: Box<Self>, randomness: &mut Randomness) -> Result<Outcome> {
        let Curator { state, columns, purse } = self.curator;
        let total = self.curator.total(&self.counts);
        let streams = randomness.streams();
        let mut answers = Drawn::new(purse.clone(), self.counts, streams.stream(0));
        let answered = state.program.ask(columns, total, &mut answers)?;
        let guarantee = self.curator.guarantee().under(randomness.provenance());
        self.curator.outcome(guarantee, (answered, answers.tables), total, (streams, answers.stream))
    }
}

impl<P: Program> Curator<P> {
    /// Release of records that are drawn from noisy tables. The `stream` may have drawn the noise of the
    /// tables; it is stream 0 of `streams`.
    pub(crate) fn outcome(
        &self,
        guarantee: Guarantee,
        (answered, asked): (Answered, Vec<Asked>),
        total: Option<f64>,
        (streams, mut stream): (Streams, Stream),
    ) -> Result<Outcome> {
        let counted = largest(&answered.measured);
        let model = answered.model(total, &mut stream)?;
        let tables = asked.into_iter().map(|asked| asked.counted(&self.columns)).collect();
        let records = total.unwrap_or_else(|| model.network.total()).round().max(1.0) as usize;
        let (layout, columns) = (self.state.domain.layout(), self.columns.clone());
        let (noise, width) = (Noise::unknown(&layout), layout.width());
        let draw = move |records, stream: &mut Stream| {
            Ok(columns.written(&model.draw(records, stream)?, width, stream))
        };
        let drawing = Drawing::new((guarantee, noise), layout, records, streams, draw);
        Ok(Outcome::Synthetic(drawing.with_tables(counted, tables)))
    }
}

/// Returns the columns of each measured table, without tables whose columns all occur in a larger table.
fn largest(measured: &[Measured]) -> Vec<Clique> {
    let cliques: BTreeSet<&Clique> = measured.iter().map(|table| &table.clique).collect();
    let is_within = |clique: &Clique, other: &Clique| {
        other.len() > clique.len() && clique.iter().all(|column| other.contains(column))
    };
    let is_largest = |clique: &&Clique| !cliques.iter().any(|other| is_within(clique, other));
    cliques.iter().copied().filter(is_largest).cloned().collect()
}
