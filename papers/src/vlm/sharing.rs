//! The mechanism of a trial: learned once from the records of volunteers, and used at every budget.

use crate::Result;
pub(super) use crate::task::classes_of;
use ndarray::{Array1, Array2, ArrayView2};
use scumble_classic::RandomizedResponse;
use scumble_core::{
    Brief, Budget, Domain, LocalMechanism, Randomness, RecordDomain, Table, Target, TargetDomain, Volunteers,
};
use scumble_task_aware::{LatentMechanism, Parts};
use scumble_vlm as vlm;
use serde_json::{Value, json};

/// δ of every central (ε, δ) claim, which protects the volunteers' records (Section 4 of Learning to Noise).
const DELTA: f64 = 1e-5;

/// δ of releases with Gaussian latents. Releases with Laplace latents spend none.
pub(super) const LOCAL_DELTA: f64 = 1e-6;

/// Settings for learning a mechanism.
#[derive(Clone)]
pub(super) struct Model {
    /// Parameters of the plugin `vlm` for volunteers without a guarantee.
    pub parameters: Value,
    /// Parameters of the plugin `vlm` for volunteers with a central ε. The function `parameters` adds this ε,
    /// δ, the adjacency, the number of volunteers and the seed to its `volunteers`.
    pub private: Value,
}

impl Model {
    /// Parameters of the plugin `vlm` for this `central` ε and a number of `volunteers`; infinity means no
    /// guarantee. Neighbours differ by one volunteer more or less; the paper's differ in one record (errata
    /// V6). The number of volunteers is public, because their records are published.
    fn parameters(&self, central: f64, volunteers: usize, seed: u64) -> Value {
        let mut parameters = if central.is_finite() { &self.private } else { &self.parameters }.clone();
        parameters["seed"] = json!(seed);
        if central.is_finite() {
            parameters["volunteers"]["epsilon"] = json!(central);
            parameters["volunteers"]["delta"] = json!(DELTA);
            parameters["volunteers"]["neighbours"] = json!("add-or-remove-one");
            parameters["volunteers"]["records"] = json!(volunteers);
            parameters["volunteers"]["seed"] = json!(seed);
        }
        parameters
    }

    /// The model for volunteers with a central ε, trained for as many epochs, with as many volunteers per
    /// step and the same learning rate, but without the guarantee.
    pub fn without_guarantee(&self) -> Self {
        let mut parameters = self.private.clone();
        if let Some(schedule) = parameters.as_object_mut().and_then(|all| all.remove("volunteers")) {
            parameters["epochs"] = json!(schedule["epochs"].as_f64().map(|epochs| epochs as usize));
            parameters["batch_size"] = schedule["expected_batch"].clone();
            parameters["learning_rate"] = schedule["learning_rate"].clone();
        }
        Self { parameters, private: Value::Null }
    }

    /// Learns a mechanism from these `volunteers`.
    pub fn learned(
        &self,
        domain: &RecordDomain,
        volunteers: Table,
        central: f64,
        seed: u64,
    ) -> Result<Shared> {
        let parameters = self.parameters(central, volunteers.len(), seed);
        let delta = if parameters["noise"] == "gaussian" { LOCAL_DELTA } else { 0.0 };
        let mut brief = Brief::new(domain.clone(), Budget::new(f64::INFINITY, delta)?);
        brief.volunteers = Volunteers::Consented(volunteers);
        let parameters = scumble_core::parse_parameters("vlm", parameters)?;
        Ok(Shared { mechanism: vlm::design(&parameters, &brief)? })
    }
}

/// A learned mechanism.
pub(super) struct Shared {
    mechanism: LatentMechanism,
}

impl Shared {
    /// Latents of `records` without noise. Each record, and its latents, are one row.
    pub fn latents(&self, records: ArrayView2<f64>) -> Result<Array2<f64>> {
        Ok(self.mechanism.latents(records)?)
    }

    /// Features decoded from `latents`. The latents of a record, and its features, are one row.
    pub fn decoded(&self, latents: ArrayView2<f64>) -> Result<Array2<f64>> {
        Ok(self.mechanism.estimates(latents)?)
    }

    /// Scale of the Laplace noise on latents that are released at `epsilon`.
    pub fn noise_scale(&self, epsilon: f64) -> f64 {
        self.mechanism.l1_sensitivity() / epsilon
    }

    /// Releases `latents`, one row for each record, at `epsilon`.
    pub fn released(
        &self,
        latents: &Array2<f64>,
        epsilon: f64,
        randomness: &mut Randomness,
    ) -> Result<Array2<f64>> {
        let parts = self.mechanism.parts().clone();
        let mechanism: LatentMechanism = Parts { epsilon, ..parts }.try_into()?;
        Ok(mechanism.noisy(latents.clone(), &mut randomness.streams().stream(0))?)
    }
}

/// Releases `labels` of `classes` classes at `epsilon`. Returns the released labels, and the probabilities
/// with which each class, in rows, is released as each label, in columns.
pub(super) fn flipped(
    labels: &Array1<usize>,
    classes: usize,
    epsilon: f64,
    randomness: &mut Randomness,
) -> Result<(Array1<usize>, Array2<f64>)> {
    let levels = (0..classes).map(|class| class.to_string()).collect();
    let domain = RecordDomain::new(vec![], Domain::empty(), TargetDomain::Class { levels })?;
    let table = Table::new(vec![], Array2::zeros((labels.len(), 0)), Target::Class(labels.clone()))?;
    let release = RandomizedResponse::new(domain, epsilon)?.release(&table, randomness)?;
    let flip = release.noise.label_flip().unwrap_or_else(|| Array2::eye(classes));
    Ok((classes_of(&release.table), flip))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_its_guarantee_keeps_network_and_schedule() {
        let schedule =
            json!({"epochs": 12.0, "expected_batch": 600, "learning_rate": 0.001, "noise_multiplier": 2.0});
        let private = json!({"hidden": [64], "l1_bound": 5.0, "volunteers": schedule});
        let model = Model { parameters: json!({"hidden": [400]}), private }.without_guarantee();
        assert_eq!(
            model.parameters(f64::INFINITY, 45_000, 7),
            json!({
                "hidden": [64], "l1_bound": 5.0, "epochs": 12, "batch_size": 600, "learning_rate": 0.001,
                "seed": 7
            })
        );
    }
}
