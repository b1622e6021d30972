//! Comparison of learned codes with mixtures within the budget of Corollary 1 of Dauntless, the paper's own
//! theorem. A code is the index of a cluster of records, reported with the label at a local ε. A model learns
//! at least as much from codes as from the mixtures, under a guarantee that assumes nothing about the
//! records.

use super::data::{Data, classes_of};
use super::percent;
use crate::report::Finding;
use crate::reported::Study;
use crate::rules;
use crate::trials::Mean;
use crate::{Result, RunOptions};
use scumble_core::{Brief, Budget, Design, Notion, Table, Target, Volunteers};

use linfa::traits::{Fit, Predict};
use ndarray::Array1;
use scumble_classifier::ValidClassifierParams;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// ε of a person's report of a code and a label together.
pub(super) const EPSILON: f64 = 4.0;

/// Largest ℓ₂ distance at which Corollary 1 of Dauntless counts a mixed record as recovered, with pixels in
/// [0, 1]. The corollary allows no mixtures at ten times this distance.
const ERROR: f64 = 1e-4;

/// Design of a release that mixes one public and one private record with equal weights, and uses every record
/// once. The mixtures are multiplied by the inverse of a matrix of independent entries, uniform in [−β, β]
/// for some β > 0 (Approach 1 of the paper). Corollary 1 of the paper applies to these mixtures. All other
/// parameters are the mechanism's defaults.
pub(super) fn design(options: &RunOptions, data: &Data, public: Table, samples: usize) -> Result<Design> {
    let brief = Brief {
        volunteers: Volunteers::Public(public),
        ..Brief::new(data.domain.clone(), Budget::pure(1.0)?)
    };
    Ok(options
        .registry
        .get("dauntless-mix")?
        .design(&json!({ "mixed": 2, "samples": samples, "bits": 8, "error": ERROR }), &brief)?)
}

/// Number of mixtures that Corollary 1 of the paper allows for `private` private records, at most one for
/// each record.
pub(super) fn allowed(options: &RunOptions, data: &Data, public: Table, private: usize) -> Result<usize> {
    let guarantee = design(options, data, public, 1)?.mechanism().guarantee_of(private);
    let claim = guarantee.claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) => Some(pac.budget as usize),
        _ => None,
    });
    Ok(claim.unwrap_or(0).min(private))
}

/// Accuracies after releases with a guarantee, for one split into a public and a private half.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Within {
    /// Number of mixtures that Corollary 1 of the paper allows.
    samples: usize,
    /// Accuracy of a network trained on these mixtures.
    mixed: f64,
    /// Accuracy of learned codes; every private record reports its code with its label.
    codes: f64,
    /// Accuracy of a network trained on the public half alone, with its labels.
    public: f64,
}

/// Computes the accuracies in [`Within`] for one split of the training records. `mixture_params` trains on
/// the few allowed mixtures, and `public_params` trains on the public half.
pub(super) fn within(
    options: &RunOptions,
    name: &str,
    data: &Data,
    [mixture_params, public_params]: [&ValidClassifierParams; 2],
    trial: usize,
) -> Result<Within> {
    let mut randomness = options.randomness(name, &[u64::MAX, trial as u64]);
    let [public, private] = data.parted(0.5, &mut randomness.streams().stream(0))?;
    let samples = allowed(options, data, public.clone(), private.len())?;
    let release =
        design(options, data, public.clone(), samples)?.mechanism().release(&private, &mut randomness)?;
    let seen: linfa::Dataset<f64, f64, ndarray::Ix2> = release.table.try_into()?;
    let learned = mixture_params.fit(&seen)?;
    let predicted = learned.predict(release.key.view(&data.test)?.records());
    let found = release.key.read(&data.test, Target::Vector(predicted))?;
    let classes: Array1<usize> = classes_of(&public).into();
    let fitted = public_params.fit(&linfa::Dataset::new(public.records().clone(), classes))?;
    let guessed = fitted.predict(data.test.records());
    let study = Study {
        domain: &data.domain,
        volunteers: &public,
        whose: Volunteers::Public,
        sharing: &private,
        test: &data.test,
    };
    Ok(Within {
        samples,
        mixed: super::accuracy(&found, data.test.target()),
        public: super::accuracy(&Target::Class(guessed), data.test.target()),
        codes: study.accuracy(EPSILON, &mut randomness)?,
    })
}

/// Note on the accuracy of a network that learns from the public half alone.
pub(super) fn note(found: &[Within]) -> String {
    let public: Vec<f64> = found.iter().map(|found| found.public).collect();
    format!(
        "Half of the records are public, with their labels. A network that learns from this half alone hides \
         nothing and needs no private record. Its accuracy on test records is {} %. Mixtures are useful only \
         as far as they exceed this accuracy. Learned codes use no label of the public half.",
        percent(&public)
    )
}

/// Finding that compares learned codes (ours) with mixing within the budget of Corollary 1 of the paper.
pub(super) fn finding(found: &[Within]) -> Finding {
    let values = |get: fn(&Within) -> f64| found.iter().map(get).collect::<Vec<f64>>();
    let (mixed, codes) = (values(|found| found.mixed), values(|found| found.codes));
    let gain = Mean::from_differences(&codes, &mixed);
    let samples = found.first().map_or(0, |found| found.samples);
    Finding {
        what: format!(
            "learned-codes (ours) at a local ε of {EPSILON}, label included, instead of mixing within its \
             budget"
        ),
        paper: format!("{} % from {samples} mixtures, the most that Corollary 1 allows", percent(&mixed)),
        ours: format!("{} %", percent(&codes)),
        value: Some(100.0 * gain.value),
        decision: rules::GAINS.on_gains(std::iter::once(gain.in_errors())),
        why: format!(
            "the same public half teaches the codes, and each private record reports its own code; the \
             corollary excludes only recovery within {ERROR} of independent normal records, and no table of \
             the paper is within its budget"
        ),
    }
}
