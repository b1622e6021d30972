//! Records from noisy tables of each column with the target, or of named columns.

use crate::answers::Answers;
use crate::columns::Columns;
use crate::counts::{Clique, TablePlan};
use crate::curator::{Common, Curator, State, example};
use crate::network::Order;
use crate::program::{Answered, Program};
use schemars::JsonSchema;
use scumble_core::{Brief, Descriptor, Error, Output, RecordDomain, Result, register};
use serde::{Deserialize, Serialize};

const NAME: &str = "noisy-marginals";
/// Name of the mechanism by two servers.
pub(crate) const TWO_SERVERS: &str = "two-server-marginals";

/// The [`Program`] of the mechanism: fixed tables, each measured with the same standard deviation of noise,
/// which each of `SERVERS` parties adds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Named<const SERVERS: u16 = 1> {
    /// Tables, by the indices of their columns; `None` means each feature with the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cliques: Option<Vec<Clique>>,
}

impl<const SERVERS: u16> Named<SERVERS> {
    pub(crate) fn cliques(&self, columns: &Columns) -> Vec<Clique> {
        self.cliques.clone().unwrap_or_else(|| columns.each_with_label())
    }
}

impl<const SERVERS: u16> Program for Named<SERVERS> {
    const NAME: &'static str = if SERVERS == 1 { NAME } else { TWO_SERVERS };
    const CHOOSES: bool = false;
    const SERVERS: u16 = SERVERS;

    fn merges(&self) -> bool {
        false
    }

    fn check(&self, columns: &Columns) -> Result<()> {
        let refuse = |problem: &str| Err(Error::parameter(Self::NAME, problem));
        let cliques = self.cliques(columns);
        let is_whole = |clique: &Clique| {
            !clique.is_empty()
                && clique.is_sorted_by(|a, b| a < b)
                && clique.iter().all(|at| *at < columns.len())
        };
        if cliques.is_empty() || !cliques.iter().all(is_whole) {
            return refuse("marginals: each table needs one column or more, without duplicates");
        }
        match Order::from_cliques(&cliques) {
            Some(_) => Ok(()),
            None => refuse(
                "marginals: the tables form a cycle, like the three pairs of three columns; name the three \
                 columns as one table, or leave one pair out",
            ),
        }
    }

    fn tables(&self, columns: &Columns) -> TablePlan {
        TablePlan { cliques: self.cliques(columns), pairs: None }
    }

    fn ask(&self, columns: &Columns, _total: Option<f64>, answers: &mut dyn Answers) -> Result<Answered> {
        let cliques = self.cliques(columns);
        let share = share(&cliques);
        let measured = cliques.iter().map(|clique| answers.measure(clique, share)).collect::<Result<_>>()?;
        Ok(Answered { levels: columns.levels(), measured, cliques, merged: vec![] })
    }
}

/// Fraction of the budget that each of these tables spends.
pub(crate) fn share(cliques: &[Clique]) -> f64 {
    1.0 / cliques.len().max(1) as f64
}

/// Parameters of the mechanism.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameters {
    #[serde(flatten)]
    common: Common,
    /// Columns counted together: one list of column names per table ("target" for the target). The tables
    /// must form no cycle (the three pairs of three columns form one). The default is each feature with the
    /// target.
    marginals: Option<Vec<Vec<String>>>,
}

pub(crate) fn learn<const SERVERS: u16>(
    parameters: Parameters,
    brief: &Brief,
) -> Result<State<Named<SERVERS>>> {
    let Parameters { common, marginals } = parameters;
    let plugin = Named::<SERVERS>::NAME;
    let named = |names: &Vec<String>| {
        let mut clique =
            names.iter().map(|name| place(plugin, &brief.domain, name)).collect::<Result<Clique>>()?;
        clique.sort_unstable();
        Ok(clique)
    };
    let cliques = marginals.map(|lists| lists.iter().map(named).collect::<Result<Vec<_>>>()).transpose()?;
    let tables = cliques.as_ref().map_or(brief.domain.features().factors().count(), Vec::len);
    State::learn(common, brief, 1.0 / tables.max(1) as f64, Named { cliques })
}

/// Returns the index of the column `name` among the attributes.
///
/// # Errors
/// [`Error::Parameter`] if `name` is unknown, or names both a column and the target.
pub(crate) fn place(plugin: &str, domain: &RecordDomain, name: &str) -> Result<usize> {
    let refuse = |problem: String| Err(Error::parameter(plugin, problem));
    let found = domain.feature(name);
    let has_target = domain.layout().target.width() > 0;
    let target = (name == Brief::TARGET && has_target).then(|| domain.features().factors().count());
    match (found, target) {
        (Some(_), Some(_)) => refuse(format!("{name:?} is the name of both a column and the target")),
        (Some(place), None) | (None, Some(place)) => Ok(place),
        (None, None) => {
            let hint = if has_target { "; the target is called \"target\"" } else { "" };
            refuse(format!("there is no column {name:?}{hint}"))
        }
    }
}

register! {
    /// Records drawn from noisy tables, by default of each feature with the target.
    ///
    /// With the default tables, released features are independent given the target, as in naive Bayes. Counts
    /// get exact discrete Gaussian noise, calibrated on the privacy profile of all tables together. The
    /// tables are made consistent by least squares in closed form, with weights inverse to the variances of
    /// the noise. They are then moved to the nearest non-negative counts. Records are drawn in proportion to
    /// these counts. Under the relation "replace one record", the number of released records is the public
    /// number of records. Under "add or remove one record", the noisy counts determine the number of released
    /// records.
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
        summary: "records drawn from noisy tables of each column with the target, or of named columns",
        paper: "McKenna, Miklau and Sheldon, Winning the NIST contest (2021), of tables that are chosen in \
                public; Canonne, Kamath and Steinke, The discrete Gaussian (2020)",
        descriptor: Descriptor::new(Output::Synthetic).reading_people(),
        parameters: Parameters,
        learn: learn::<1>,
        curator: Curator::try_from,
        example: example,
    };
}
