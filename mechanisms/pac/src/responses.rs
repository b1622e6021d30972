//! Outputs of a model for public records.

use crate::computed::{Computed, RowValues};
use crate::linear::Linear;
use ndarray::{Array1, Array2, Axis, s};
use scumble_core::{Error, Key, RecordDomain, Result, Streams, Table, Target, TargetDomain, largest};
use scumble_private_models::Encoding;

/// Statistic of a model's outputs. A ridge regression is fitted to half of the records, and its outputs for
/// some public records are clamped to [−1, 1]. Each class has one output (two classes have a single one), in
/// which 1 stands for membership and −1 for the opposite. The model itself is not released.
#[derive(Debug)]
pub(crate) struct Responses {
    domain: RecordDomain,
    model: Linear,
    /// The q public records for which outputs are released, with d feature coordinates each (q × d).
    queries: Array2<f64>,
    /// The q public records as encoded vectors z of an intercept and d features, without the target (q × (1 +
    /// d)).
    vectors: Array2<f64>,
}

impl Responses {
    pub(crate) fn new(domain: &RecordDomain, ridge: f64, queries: &Array2<f64>) -> Result<Self> {
        if queries.nrows() == 0 {
            return Err(Error::not_applicable(
                crate::NAME,
                "it answers about public records, and there are none",
            ));
        }
        // The target of the public records is not used, so any value serves.
        let target = match domain.target() {
            TargetDomain::Class { .. } => Target::Class(Array1::zeros(queries.nrows())),
            TargetDomain::Real { lower, .. } => Target::Real(Array1::from_elem(queries.nrows(), *lower)),
            _ => Target::None,
        };
        let model = Linear::ridge(domain, ridge)?;
        let query_table = Table::new(domain.columns().to_vec(), queries.clone(), target)?;
        let vectors = Encoding::for_domain(crate::NAME, domain)?.vectors(&query_table)?;
        let vectors = vectors.slice(s![.., ..=domain.columns().len()]).to_owned();
        Ok(Self { domain: domain.clone(), model, queries: queries.clone(), vectors })
    }
}

impl Computed for Responses {
    fn on_rows<'t>(&'t self, table: &Table) -> Result<RowValues<'t>> {
        let weights = self.model.weights_of(table)?;
        Ok(Box::new(move |rows| {
            let outputs = self.vectors.dot(&weights(rows)?.t());
            Ok(outputs.into_iter().map(|output| output.clamp(-1.0, 1.0)).collect())
        }))
    }

    fn released(
        &self,
        noisy: &[f64],
        _scales: &[f64],
        _records: usize,
        _streams: &Streams,
    ) -> Result<(Table, Key)> {
        let (q, outputs) = (self.queries.nrows(), noisy.len() / self.queries.nrows());
        let noisy_outputs = Array2::from_shape_vec((q, outputs), noisy.to_vec())
            .map_err(|problem| Error::shape(problem.to_string()))?;
        let target = match self.domain.target() {
            TargetDomain::Real { lower, upper } => {
                let half = (upper - lower) / 2.0;
                Target::Real(
                    noisy_outputs.column(0).mapv(|output| lower + half + half * output.clamp(-1.0, 1.0)),
                )
            }
            _ if outputs == 1 => {
                Target::Class(noisy_outputs.column(0).mapv(|output| usize::from(output > 0.0)))
            }
            _ => Target::Class(noisy_outputs.map_axis(Axis(1), |scores| largest(&scores.to_vec()))),
        };
        Ok((Table::new(self.domain.columns().to_vec(), self.queries.clone(), target)?, Key::None))
    }
}
