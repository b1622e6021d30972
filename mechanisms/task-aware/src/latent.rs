//! Mechanism with noise on latents. The *latents* of a record are the outputs of an encoder.

use crate::lens::Lens;
use crate::noise::{LatentNoise, NoiseKind};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use scumble_core::{
    AS_STATED, ASSUMED, Budget, CentralDp, Claim, Domain, Error, Guarantee, Layout, LocalMechanism, Noise,
    NoiseDistribution, Notion, Perturbation, RecordDomain, Releases, Result, ShapedBy, Stream, Unit,
    check_width,
};
use scumble_neural::{Activation, Connection, Network};
use serde::{Deserialize, Serialize};

/// State of a [`LatentMechanism`]: its domain, networks, set of latents, budget, and the facts for its
/// guarantee.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Domain of the records, with d features.
    pub domain: RecordDomain,
    /// Change of scale of each feature before the encoder, and back after the decoder.
    #[serde(default, skip_serializing_if = "is_plain")]
    pub lens: Lens,
    /// Encoder: features (d) to latents (Z).
    pub encoder: Network<f64>,
    /// Set of latents, with Z coordinates. Every output of the encoder is moved into it.
    pub latent: Domain,
    /// Decoder: noisy latents (Z) to estimates of the features (d).
    pub decoder: Network<f64>,
    /// Privacy parameter ε of a release; infinity for no noise.
    #[serde(with = "scumble_core::number")]
    pub epsilon: f64,
    /// Privacy parameter δ of a release: above 0 for Gaussian noise, and else 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub delta: f64,
    /// Noise on latents.
    #[serde(default)]
    pub noise: NoiseKind,
    /// Released data: features or latents.
    pub level: Level,
    /// Purpose of the release.
    pub aim: Aim,
    /// People whose records shaped the encoder, the decoder and the set of latents.
    pub shaped_by: ShapedBy,
    /// Guarantee for the people whose records shaped the design, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volunteers: Option<VolunteersClaim>,
}

fn is_zero(delta: &f64) -> bool {
    *delta == 0.0
}

fn is_plain(lens: &Lens) -> bool {
    lens.scales().is_empty()
}

/// Released form of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The decoder's estimate of the features.
    Features,
    /// The latents.
    Latent,
}

/// Purpose of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// A task, which shaped the design.
    Task,
    /// No specific purpose.
    Anything,
}

/// Guarantee for the people whose records shaped a design. It follows from the training, and cannot be
/// verified from the design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolunteersClaim {
    /// (ε, δ) of the whole design, for neighbouring sets of volunteers.
    pub dp: CentralDp,
    /// Theorem that proves `dp`.
    pub theorem: String,
    /// Assumptions of the theorem, in words.
    pub assumes: Vec<String>,
}

/// A local mechanism that adds noise to an encoded record.
///
/// The encoder's output is moved into a set of latents with ℓ₁ diameter Δ₁, and each latent receives Laplace
/// noise of scale Δ₁/ε. Gaussian noise is calibrated to (ε, δ) and the ℓ₂ diameter of the set. PrivUnit
/// replaces the latents, if their set is an ℓ₂ ball, by an unbiased estimate from a random direction. The
/// mechanism releases the noisy latents, or the decoder's estimate x̂ of the features (Cheng, Tang and
/// Chinchali, Section 3; *Learning to Noise*, Section 3.1). The target is disclosed in the clear.
///
/// The guarantee holds for **every** record of the domain, because the noise is calibrated to the set of
/// latents (errata T2). Encoder and decoder may be arbitrary, and shaped by anybody's records.
///
/// ```
/// use scumble_task_aware::{Aim, LatentMechanism, Lens, Level, NoiseKind, Parts};
/// use scumble_neural::{Activation, Architecture, Network};
/// use scumble_core::{Domain, LocalMechanism, RecordDomain, ShapedBy, TargetDomain, Unit};
///
/// let people =
///     RecordDomain::new(vec!["age".into(), "wage".into()], Domain::unit_box(2), TargetDomain::None)?;
/// let network = |inputs: usize, outputs: usize, weights: [f64; 2]| {
///     let architecture = Architecture::new(inputs).layer(outputs, Activation::Identity);
///     Network::from_parameters(architecture, [&weights[..], &vec![0.0; outputs]].concat())
/// };
/// let mechanism: LatentMechanism = Parts {
///     domain: people,
///     lens: Lens::plain(),
///     encoder: network(2, 1, [0.5, 0.5]).unwrap(), // their mean
///     latent: Domain::unit_box(1),
///     decoder: network(1, 2, [1.0, 1.0]).unwrap(),
///     epsilon: 2.0,
///     delta: 0.0,
///     noise: NoiseKind::Laplace,
///     level: Level::Features,
///     aim: Aim::Anything,
///     shaped_by: ShapedBy::PublicKnowledge,
///     volunteers: None,
/// }
/// .try_into()?;
/// assert_eq!(mechanism.noise_variance(), 2.0 * 0.5_f64.powi(2));
/// assert_eq!(mechanism.guarantee().local_dp(Unit::Record).unwrap().epsilon, 2.0);
/// # Ok::<(), scumble_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LatentMechanism {
    parts: Parts,
    /// Domain of an encoded record: the coordinates of encoded latents, followed by those of the target.
    range: Domain,
    /// Number of coordinates of encoded latents. The first Z are the latents.
    encoded: usize,
    /// Noise; `None` at ε = ∞.
    noise: Option<LatentNoise>,
}

impl TryFrom<Parts> for LatentMechanism {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let (d, latents) = (parts.domain.features().dim(), parts.latent.dim());
        let widths =
            |network: &Network<f64>| (network.architecture().inputs, network.architecture().outputs());
        for (name, network, expected) in
            [("encoder", &parts.encoder, (d, latents)), ("decoder", &parts.decoder, (latents, d))]
        {
            let (inputs, outputs) = widths(network);
            if (inputs, outputs) != expected {
                return Err(Error::shape(format!(
                    "the {name} takes {inputs} numbers and gives {outputs}, and {} and {} are needed",
                    expected.0, expected.1
                )));
            }
        }
        parts.lens.check(parts.domain.features())?;
        if parts.volunteers.is_some() && parts.shaped_by == ShapedBy::PublicKnowledge {
            return Err(Error::shape(
                "the design has a guarantee for volunteers, and no volunteers shaped it",
            ));
        }
        if let Some(VolunteersClaim { dp, .. }) = &parts.volunteers
            && !(dp.epsilon >= 0.0 && dp.epsilon.is_finite() && (0.0..1.0).contains(&dp.delta))
        {
            let (epsilon, delta) = (dp.epsilon, dp.delta);
            return Err(Error::shape(format!("no guarantee has ε = {epsilon} and δ = {delta}")));
        }
        for network in [&parts.encoder, &parts.decoder] {
            network.check_finite().map_err(|problem| Error::shape(problem.to_string()))?;
        }
        let budget = Budget::new(parts.epsilon, parts.delta)?;
        let noise = LatentNoise::calibrated(parts.noise, &parts.latent, budget)?;
        let encoded = match &noise {
            Some(noise) => noise.range(&parts.latent)?,
            None => parts.latent.clone(),
        };
        let width = encoded.dim();
        let range = Domain::product([encoded, parts.domain.target().as_domain()?])?;
        Ok(Self { parts, range, encoded: width, noise })
    }
}

impl LatentMechanism {
    /// Returns the state.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Returns the state, and consumes the mechanism.
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// Returns the number of latents, Z.
    pub fn latent_dim(&self) -> usize {
        self.parts.latent.dim()
    }

    /// Returns Δ₁, the ℓ₁ diameter of the set of latents.
    pub fn l1_sensitivity(&self) -> f64 {
        self.parts.latent.l1_diameter()
    }

    /// Returns the variance of each latent's noise: 2(Δ₁/ε)² for Laplace noise, and 0 at ε = ∞. For PrivUnit
    /// it is the mean over latents and over points of the ball's surface.
    pub fn noise_variance(&self) -> f64 {
        self.noise.as_ref().map_or(0.0, LatentNoise::variance)
    }

    /// Computes the Z latents of each of n `records` with d features (n × d). The result (n × Z) is the
    /// decoder's input without noise.
    ///
    /// # Errors
    /// [`Error::Shape`] if `records` does not have d columns, [`Error::NonFinite`] if a value is not finite.
    pub fn latents(&self, records: ArrayView2<f64>) -> Result<Array2<f64>> {
        // Store the rows contiguously, for any order of the table in memory.
        let mut features = records.as_standard_layout().into_owned();
        each_row(&mut features, |row| self.parts.domain.features().project(row))?;
        self.encoded(features.view())
    }

    /// Adds the noise of a release to the Z `latents` of each of n records (n × Z), which must lie in the set
    /// of latents.
    ///
    /// # Errors
    /// [`Error::Shape`] if `latents` does not have Z columns, [`Error::NonFinite`] if a value is not finite.
    pub fn noisy(&self, mut latents: Array2<f64>, stream: &mut Stream) -> Result<Array2<f64>> {
        check_width(self.latent_dim(), latents.ncols())?;
        let Some(noise) = &self.noise else { return Ok(latents) };
        for mut row in latents.outer_iter_mut() {
            let mut point = noise.point(row.to_vec())?;
            noise.randomise(&mut point, stream)?;
            row.iter_mut().zip(point).for_each(|(value, noisy)| *value = noisy);
        }
        Ok(latents)
    }

    /// Computes the decoder's estimates of d features (n × d) from the Z `latents` of n records (n × Z),
    /// noisy or not.
    ///
    /// # Errors
    /// [`Error::Shape`] if `latents` does not have Z columns.
    pub fn estimates(&self, latents: ArrayView2<f64>) -> Result<Array2<f64>> {
        let output = predict(&self.parts.decoder, latents)?;
        Ok(self.parts.lens.read(output, self.parts.domain.features()))
    }

    /// Computes the loss E‖K(x̂ − x)‖² of the estimate x̂ of each of n `records` x (n × d) in closed form,
    /// for the matrix K = `k` of a task (m outputs × d features). The expectation is over the noise. Returns
    /// `None` if x̂ is not an affine function of the latents.
    ///
    /// # Errors
    /// Same errors as [`latents`](Self::latents), and [`Error::Shape`] if `k` does not have d columns.
    pub fn linear_losses(&self, k: ArrayView2<f64>, records: ArrayView2<f64>) -> Result<Option<Array1<f64>>> {
        let Some(decoder) = self.linear_decoder() else { return Ok(None) };
        if k.ncols() != records.ncols() {
            let (task, found) = (k.ncols(), records.ncols());
            return Err(Error::shape(format!(
                "a task of {task} columns does not fit records of {found} columns"
            )));
        }
        let latents = self.latents(records)?;
        let errors = (&self.estimates(latents.view())? - &records).dot(&k.t());
        let noise_map = k.dot(&decoder);
        let squares = |matrix: &Array2<f64>| matrix.map_axis(Axis(1), |row| row.dot(&row));
        // Given latents v, the noise has the covariance (ρ − 1)·vvᵀ + c·I.
        let (along, variance) = self.noise.as_ref().map_or((1.0, 0.0), LatentNoise::second_moment);
        let of_noise =
            squares(&latents.dot(&noise_map.t())) * (along - 1.0) + variance * squares(&noise_map).sum();
        Ok(Some(squares(&errors) + of_noise))
    }

    /// Mean of the [`linear_losses`](Self::linear_losses) of `records`. It is `None` for no records too.
    ///
    /// # Errors
    /// Same errors as `linear_losses`.
    pub fn linear_loss(&self, k: ArrayView2<f64>, records: ArrayView2<f64>) -> Result<Option<f64>> {
        Ok(self.linear_losses(k, records)?.and_then(|losses| losses.mean()))
    }

    /// Returns the matrix D (d features × Z latents) if the estimate is x̂ = Dv + c for latents v. Returns
    /// `None` for a decoder that is not affine, or if a [`Lens`] changes the scale of features.
    fn linear_decoder(&self) -> Option<ArrayView2<'_, f64>> {
        if !is_plain(&self.parts.lens) {
            return None;
        }
        match self.parts.decoder.architecture().layers.as_slice() {
            [layer] if layer.activation == Activation::Identity && layer.connection == Connection::Dense => {
                self.parts.decoder.weights(0)
            }
            _ => None,
        }
    }

    /// Computes the latents (n × Z) of `features` (n records × d), which must lie in the domain.
    fn encoded(&self, features: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut latents = predict(&self.parts.encoder, self.parts.lens.write(features).view())?;
        // For records far from its training data, an encoder's output may overflow.
        latents.mapv_inplace(|x| if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) });
        each_row(&mut latents, |row| self.parts.latent.project(row))?;
        Ok(latents)
    }

    fn misfit(&self, point: &[f64]) -> Error {
        let (found, width) = (point.len(), self.range.dim());
        Error::shape(format!("a point has {found} values, and the range has {width}"))
    }

    /// Splits an encoded record into its encoded latents and its target.
    fn split<'p>(&self, point: &'p [f64]) -> Option<(&'p [f64], &'p [f64])> {
        (point.len() == self.range.dim()).then(|| point.split_at(self.encoded))
    }
}

/// Assumption that the guarantee of a design for a task states. The task shapes the design, so the people
/// whose data shaped the task also shape the design.
const TASK_IS_PUBLIC: &str = "the task of the design is public, or the people behind its data agreed";

/// Applies `change` to each row of `matrix`.
fn each_row(matrix: &mut Array2<f64>, change: impl Fn(&mut [f64]) -> Result<()>) -> Result<()> {
    let misfit = || Error::shape("the rows of the matrix are not contiguous");
    matrix.outer_iter_mut().try_for_each(|mut row| change(row.as_slice_mut().ok_or_else(misfit)?))
}

/// Returns `values` as a matrix of one row.
fn alone(values: &[f64]) -> Result<ArrayView2<'_, f64>> {
    ArrayView2::from_shape((1, values.len()), values).map_err(|problem| Error::shape(problem.to_string()))
}

/// Computes a network's outputs (n × outputs) for `records` (n × inputs).
///
/// # Errors
/// [`Error::Shape`] if `records` does not have one column per input of the network.
pub fn predict(network: &Network<f64>, records: ArrayView2<f64>) -> Result<Array2<f64>> {
    network.predict(records).map_err(|problem| Error::shape(problem.to_string()))
}

impl LocalMechanism for LatentMechanism {
    fn domain(&self) -> &RecordDomain {
        &self.parts.domain
    }

    fn guarantee(&self) -> Guarantee {
        let Parts { domain, epsilon, delta, level, aim, shaped_by, volunteers, .. } = &self.parts;
        let mut guarantee = match (&self.noise, Budget::new(*epsilon, *delta)) {
            (Some(noise), Ok(budget)) => {
                let (dp, theorem) = noise.claim(budget);
                let mut theorem = theorem.to_owned();
                if *level == Level::Features {
                    theorem.push_str("; decoding is post-processing");
                }
                let mut guarantee = Guarantee::for_features(domain, [(Notion::LocalDp(dp), theorem)]);
                if *aim == Aim::Task {
                    guarantee.assumes.push(TASK_IS_PUBLIC.into());
                }
                guarantee
            }
            _ => Guarantee::nothing(domain),
        };
        if let Some(VolunteersClaim { dp, theorem, assumes }) = volunteers {
            guarantee.claims.push(Claim {
                notion: Notion::CentralDp(dp.clone()),
                protects: Unit::Volunteer,
                theorem: theorem.clone(),
            });
            let stated = assumes.iter().map(|assumed| format!("{AS_STATED}: {assumed}"));
            for assumed in ASSUMED.map(str::to_owned).into_iter().chain(stated) {
                if !guarantee.assumes.contains(&assumed) {
                    guarantee.assumes.push(assumed);
                }
            }
        }
        if *shaped_by == ShapedBy::PublicKnowledge {
            guarantee.assumes.push(format!("{AS_STATED}: nobody's records shaped the design"));
        }
        Guarantee { shaped_by: *shaped_by, ..guarantee }
    }

    fn releases(&self) -> Releases {
        Releases::View { secret: false, aligned: true, target: self.layout().target }
    }

    fn range(&self) -> Domain {
        self.range.clone()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let point = self.parts.domain.projected(record)?;
        let (features, target) = point.split_at(self.parts.domain.features().dim());
        let latents = self.encoded(alone(features)?)?.into_raw_vec_and_offset().0;
        let mut encoded = match &self.noise {
            Some(noise) => noise.point(latents)?,
            None => latents,
        };
        encoded.extend_from_slice(target);
        Ok(encoded)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        if point.len() != self.range.dim() {
            return Err(self.misfit(point));
        }
        match &self.noise {
            Some(noise) => noise.randomise(&mut point[..self.encoded], stream),
            None => Ok(()),
        }
    }

    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        let Some((encoded, target)) = self.split(&point) else {
            return Err(self.misfit(&point));
        };
        let latents = &encoded[..self.latent_dim()];
        let mut record = match self.parts.level {
            Level::Latent => latents.to_vec(),
            Level::Features => self.estimates(alone(latents)?)?.into_raw_vec_and_offset().0,
        };
        record.extend_from_slice(target);
        Ok(record)
    }

    fn layout(&self) -> Layout {
        let layout = self.parts.domain.layout();
        match self.parts.level {
            Level::Features => layout,
            Level::Latent => {
                let columns = (1..=self.latent_dim()).map(|latent| format!("latent {latent}")).collect();
                Layout { columns, ..layout }
            }
        }
    }

    fn noise(&self) -> Noise {
        let width = self.layout().columns.len();
        let distribution = match (self.parts.level, self.linear_decoder(), &self.noise) {
            (_, _, None) => NoiseDistribution::Exact { width },
            (_, _, Some(LatentNoise::PrivUnit(_))) => NoiseDistribution::Unknown { width },
            (Level::Latent, _, Some(noise)) => {
                NoiseDistribution::Additive { variance: vec![noise.variance(); width] }
            }
            (Level::Features, None, Some(_)) => NoiseDistribution::Unknown { width },
            (Level::Features, Some(decoder), Some(noise)) => {
                let covariance = decoder.dot(&decoder.t()) * noise.variance();
                NoiseDistribution::Correlated {
                    covariance: covariance.outer_iter().map(|row| row.to_vec()).collect(),
                }
            }
        };
        Noise::for_features(&self.parts.domain, distribution)
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let ((point, target), (released, released_target)) = (self.split(point)?, self.split(released)?);
        if target != released_target {
            return Some(f64::NEG_INFINITY);
        }
        self.noise.as_ref()?.log_likelihood(point, released)
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let described = self.noise.as_ref().and_then(LatentNoise::described);
        described.into_iter().map(Perturbation::Additive).collect()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let farthest = self.noise.as_ref().map(|noise| noise.farthest(&self.range));
        farthest.map_or_else(Vec::new, |pair| unit.pair_of_features(&self.parts.domain, pair))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::array;
    use scumble_core::{Neighbours, TargetDomain};
    use scumble_neural::Architecture;

    #[test]
    fn what_a_design_says_of_its_volunteers_is_marked_as_the_designers_word() {
        let layer = |inputs, outputs| Architecture::new(inputs).layer(outputs, Activation::Identity);
        let parts = Parts {
            domain: RecordDomain::new(vec!["a".into()], Domain::unit_box(1), TargetDomain::None).unwrap(),
            lens: Lens::plain(),
            encoder: Network::from_parameters(layer(1, 1), vec![1.0, 0.0]).unwrap(),
            latent: Domain::unit_box(1),
            decoder: Network::from_parameters(layer(1, 1), vec![1.0, 0.0]).unwrap(),
            epsilon: 1.0,
            delta: 0.0,
            noise: NoiseKind::Laplace,
            level: Level::Features,
            aim: Aim::Anything,
            shaped_by: ShapedBy::PrivateVolunteers,
            volunteers: Some(VolunteersClaim {
                dp: CentralDp::new(0.0, 0.01, Neighbours::ReplaceOne),
                theorem: "a theorem".into(),
                assumes: vec!["a training".into()],
            }),
        };
        let card = LatentMechanism::try_from(parts.clone()).unwrap().guarantee();
        let theirs = card.claims.iter().find(|claim| claim.protects == Unit::Volunteer).unwrap();
        assert!(!theirs.how_sure().contains("Proven"), "{}", theirs.how_sure());
        let shown = card.to_string();
        for line in [
            "proof      as stated by the designer; not checked: a theorem",
            "assumes    as stated by the designer; not checked: a training",
            "holds      given the design, which private volunteers' data shaped (as stated by the designer; \
             not checked)",
        ] {
            assert!(shown.contains(line), "{line} in\n{shown}");
        }
        let without_volunteers = Parts { shaped_by: ShapedBy::PublicKnowledge, volunteers: None, ..parts };
        let card = LatentMechanism::try_from(without_volunteers).unwrap().guarantee().to_string();
        assert!(card.contains("as stated by the designer; not checked: nobody's records shaped the design"));
    }

    #[test]
    fn records_have_the_same_latents_however_they_lie_in_memory() {
        let layer = |inputs, outputs| Architecture::new(inputs).layer(outputs, Activation::Identity);
        let mechanism: LatentMechanism = Parts {
            domain: RecordDomain::new(vec!["a".into(), "b".into()], Domain::unit_box(2), TargetDomain::None)
                .unwrap(),
            lens: Lens::plain(),
            encoder: Network::from_parameters(layer(2, 1), vec![0.5, 0.25, 0.0]).unwrap(),
            latent: Domain::unit_box(1),
            decoder: Network::from_parameters(layer(1, 2), vec![1.0, 1.0, 0.0, 0.0]).unwrap(),
            epsilon: 1.0,
            delta: 0.0,
            noise: NoiseKind::Laplace,
            level: Level::Latent,
            aim: Aim::Anything,
            shaped_by: ShapedBy::PublicKnowledge,
            volunteers: None,
        }
        .try_into()
        .unwrap();
        let by_rows = array![[0.2, 0.4], [1.0, 0.0], [2.0, 1.0]];
        let by_columns = by_rows.t().as_standard_layout().into_owned().reversed_axes();
        let expected = array![[0.2], [0.5], [0.75]];
        for records in [by_rows.view(), by_columns.view()] {
            assert!((&mechanism.latents(records).unwrap() - &expected).iter().all(|x| x.abs() < 1e-12));
        }
    }
}
