//! Records from noisy tables of each column with the target, or of columns that are named.

use crate::answers::Answers;
use crate::columns::Columns;
use crate::counts::{Clique, Wanted};
use crate::curator::{Common, Curator, State, example};
use crate::network::Order;
use crate::program::{Answered, Program};
use schemars::JsonSchema;
use scumble_core::{Brief, Descriptor, Error, Factor, Output, RecordDomain, Result, register};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const NAME: &str = "noisy-marginals";

/// Tables that are measured with equal noise.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named {
    /// Which, by their columns' places; each with the target where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cliques: Option<Vec<Clique>>,
}

impl Named {
    fn cliques(&self, columns: &Columns) -> Vec<Clique> {
        self.cliques.clone().unwrap_or_else(|| columns.each_with_label())
    }
}

impl Program for Named {
    const NAME: &'static str = NAME;
    const CHOOSES: bool = false;

    fn check(&self, columns: &Columns) -> Result<()> {
        let refuse = |problem: &str| Err(Error::parameter(NAME, problem));
        let cliques = self.cliques(columns);
        let is_whole = |clique: &Clique| {
            !clique.is_empty()
                && clique.is_sorted_by(|a, b| a < b)
                && clique.iter().all(|at| *at < columns.len())
        };
        if cliques.is_empty() || !cliques.iter().all(is_whole) {
            return refuse("marginals: each needs a column or more, none of them twice");
        }
        match Order::of(&cliques) {
            Some(_) => Ok(()),
            None => refuse(
                "marginals: these go round in a circle, as three pairs of three columns do; name the three together, or leave one pair out",
            ),
        }
    }

    fn tables(&self, columns: &Columns) -> Wanted {
        Wanted { cliques: self.cliques(columns), pairs: None }
    }

    fn ask(&self, columns: &Columns, _total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered> {
        let cliques = self.cliques(columns);
        let share = 1.0 / cliques.len() as f64;
        let measured = cliques.iter().map(|clique| answers.measure(clique, share)).collect::<Result<_>>()?;
        Ok(Answered { levels: columns.levels(), measured, cliques, merged: vec![] })
    }
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Parameters {
    #[serde(flatten)]
    common: Common,
    /// Which columns are counted together: lists of names ("target" for the target), of which no three or more form a circle. By default each feature with the target.
    marginals: Option<Vec<Vec<String>>>,
}

fn learn(parameters: Parameters, brief: &Brief) -> Result<State<Named>> {
    let Parameters { common, marginals } = parameters;
    let named = |names: &Vec<String>| {
        let mut clique = names.iter().map(|name| place(&brief.domain, name)).collect::<Result<Clique>>()?;
        clique.sort_unstable();
        Ok(clique)
    };
    let cliques = marginals.map(|lists| lists.iter().map(named).collect::<Result<Vec<_>>>()).transpose()?;
    let tables = cliques.as_ref().map_or(brief.domain.features().factors().count(), Vec::len);
    State::learn(common, brief, 1.0 / tables.max(1) as f64, Named { cliques })
}

/// The place of a column among the attributes: of a category, by the name before its level.
///
/// # Errors
/// [`Error::Parameter`] for a name that none has.
fn place(domain: &RecordDomain, name: &str) -> Result<usize> {
    let is_it = |(at, factor): (Range<usize>, &Factor)| {
        let column = &domain.columns()[at.start];
        match factor {
            Factor::OneHot { .. } => column.strip_prefix(name).is_some_and(|level| level.starts_with('=')),
            _ => column == name,
        }
    };
    let refuse = |problem: String| Err(Error::parameter(NAME, problem));
    let found = domain.features().factors().position(is_it);
    let has_target = domain.layout().target.width() > 0;
    let target = (name == Brief::TARGET && has_target).then(|| domain.features().factors().count());
    match (found, target) {
        (Some(_), Some(_)) => {
            refuse(format!("marginals: {name:?} is the name of a column, and what the target is called"))
        }
        (Some(place), None) | (None, Some(place)) => Ok(place),
        (None, None) => {
            let hint = if has_target { "; the target is called \"target\"" } else { "" };
            refuse(format!("marginals: there is no column {name:?}{hint}"))
        }
    }
}

register! {
    /// Records drawn from noisy tables: of each feature with the target, by default, so that features are taken for independent of each other given the target, as naive Bayes
    /// takes them.
    ///
    /// Counts get exact discrete Gaussian noise, which is calibrated on the privacy profile of all tables together. They are made consistent by least squares in closed
    /// form (residuals by inverse variance), moved to the nearest counts that are none below zero, and records are drawn in their shares: as many as there
    /// are, where one record is replaced and their number is public; else as many as the noisy counts say.
    ///
    /// ```
    /// use scumble_core::{CuratorMechanism, Designed, Randomness};
    /// use scumble_marginals::NOISY_MARGINALS;
    /// use serde_json::json;
    ///
    /// let example = (NOISY_MARGINALS.example)()?;
    /// let design = NOISY_MARGINALS.design(&json!({ "bins": 4 }), &example.brief)?;
    /// let release = design.mechanism().release(&example.table, &mut Randomness::from_os()?)?;
    /// assert_eq!(release.table.columns(), example.table.columns());
    /// assert_eq!(release.guarantee.epsilon(), Some(1.0));
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    pub const NOISY_MARGINALS = {
        name: NAME,
        summary: "records drawn from noisy tables of each column with the target, or of columns that are named",
        paper: "McKenna, Miklau and Sheldon, Winning the NIST contest (2021), of tables that are chosen in public; Canonne, Kamath and Steinke, The discrete Gaussian (2020)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Parameters,
        learn: learn,
        curator: Curator::try_from,
        example: example,
    };
}
