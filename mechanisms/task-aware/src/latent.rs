//! Laplace noise in a latent space: what all designs of this crate release by.

use ndarray::{Array2, ArrayView2};
use scumble_neural::{Activation, Network};
use scumble_registry::{
    Domain, Error, Guarantee, LaplaceNoise, Law, LocalDp, LocalMechanism, Mechanism, Noise, Notion,
    Randomness, RecordDomain, Release, Result, ShapedBy, Stream, Table, Unit, local,
};
use serde::{Deserialize, Serialize};

/// What a [`LatentLaplace`] is made of, and all that a saved one holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parts {
    /// Where the records lie, of d features.
    pub domain: RecordDomain,
    /// From the features (d) to the latents (Z).
    pub encoder: Network<f64>,
    /// Where the latents lie, Z coordinates: whatever the encoder gives is moved into it.
    pub latent: Domain,
    /// From noisy latents (Z) to estimates of the features (d).
    pub decoder: Network<f64>,
    /// ε; infinity for no noise.
    #[serde(with = "scumble_registry::number")]
    pub epsilon: f64,
    /// Whose records shaped the encoder, the decoder and the set of latents.
    pub shaped_by: ShapedBy,
}

/// A record is encoded, moved into a set of latents whose ℓ₁ diameter is Δ₁, given Laplace noise of scale Δ₁/ε a latent, and decoded
/// (Cheng, Tang and Chinchali, Section 3). What is released is the estimate x̂ of the features; the target leaves as it is.
///
/// The claim holds for **every** record of the domain, for it rests on the set of latents alone (errata T2): encoder and decoder may be
/// anything, and be shaped by anybody's records.
///
/// ```
/// use scumble_registry::{Brief, Budget, Domain, RecordDomain, Table, Target, TargetDomain, Unit, Volunteers};
/// use scumble_task_aware::TASK_AWARE_CLIPPED;
///
/// let columns: Vec<String> = vec!["age".into(), "wage".into()];
/// let people = RecordDomain::new(columns.clone(), Domain::unit_box(2), TargetDomain::None)?;
/// let records = ndarray::array![[0.2, 0.3], [0.5, 0.4], [0.3, 0.6], [0.8, 0.9]];
/// let mut brief = Brief::new(people, Budget::new(1.0, 0.0)?);
/// brief.volunteers = Volunteers::Consented(Table::new(columns, records, Target::None)?);
/// brief.task = scumble_registry::Task::Linear(ndarray::array![[0.0, 1.0]]); // the wage counts
/// let design = TASK_AWARE_CLIPPED.design(&Default::default(), &brief)?;
/// assert_eq!(design.mechanism().guarantee().local_dp(Unit::Record).unwrap().epsilon, 1.0);
/// # Ok::<(), scumble_registry::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Parts", into = "Parts")]
pub struct LatentLaplace {
    parts: Parts,
    /// The latents, then the target.
    range: Domain,
    /// None at ε = ∞.
    noise: Option<LaplaceNoise>,
}

impl TryFrom<Parts> for LatentLaplace {
    type Error = Error;

    fn try_from(parts: Parts) -> Result<Self> {
        let (d, latents) = (parts.domain.features().dim(), parts.latent.dim());
        let widths =
            |network: &Network<f64>| (network.architecture().inputs, network.architecture().outputs());
        for (name, network, wanted) in
            [("encoder", &parts.encoder, (d, latents)), ("decoder", &parts.decoder, (latents, d))]
        {
            let (inputs, outputs) = widths(network);
            if (inputs, outputs) != wanted {
                return Err(Error::shape(format!(
                    "the {name} takes {inputs} numbers and gives {outputs}, where {} and {} are wanted",
                    wanted.0, wanted.1
                )));
            }
        }
        for network in [&parts.encoder, &parts.decoder] {
            network.check_finite().map_err(|problem| Error::shape(problem.to_string()))?;
        }
        let range = Domain::product([parts.latent.clone(), parts.domain.target().as_domain()?])?;
        let noise = match parts.epsilon {
            f64::INFINITY => None,
            epsilon => Some(LaplaceNoise::calibrated(&parts.latent, epsilon)?),
        };
        Ok(Self { parts, range, noise })
    }
}

impl From<LatentLaplace> for Parts {
    fn from(mechanism: LatentLaplace) -> Self {
        mechanism.parts
    }
}

impl LatentLaplace {
    /// What it is made of.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Z.
    pub fn latent_dim(&self) -> usize {
        self.parts.latent.dim()
    }

    /// Δ₁, the ℓ₁ diameter of the set of latents.
    pub fn l1_sensitivity(&self) -> f64 {
        self.parts.latent.l1_diameter()
    }

    /// The variance of each latent's noise, 2(Δ₁/ε)²; 0 at ε = ∞.
    pub fn noise_variance(&self) -> f64 {
        self.noise.as_ref().map_or(0.0, LaplaceNoise::variance)
    }

    /// What goes into the decoder where there is no noise: the latents (n × Z) of `records` (n × d).
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::NonFinite`] for records that are not of the domain's shape.
    pub fn latents(&self, records: ArrayView2<f64>) -> Result<Array2<f64>> {
        let mut latents = Array2::zeros((records.nrows(), self.latent_dim()));
        for (record, mut into) in records.outer_iter().zip(latents.outer_iter_mut()) {
            let mut features = record.to_vec();
            self.parts.domain.features().project(&mut features)?;
            into.assign(&ndarray::ArrayView1::from(&self.latent(&features)?));
        }
        Ok(latents)
    }

    /// The mean over `records` (n × d) of E‖K(x̂ − x)‖² over the noise, for a matrix K (m × d), in closed form; none where the decoder is
    /// not linear.
    ///
    /// # Errors
    /// As [`latents`](Self::latents), and [`Error::Shape`] for a K of another width.
    pub fn linear_loss(&self, k: ArrayView2<f64>, records: ArrayView2<f64>) -> Result<Option<f64>> {
        let Some(decoder) = self.linear_decoder() else { return Ok(None) };
        if k.ncols() != records.ncols() || records.is_empty() {
            return Err(Error::shape(format!(
                "a task of {} columns has no loss on {} records of {}",
                k.ncols(),
                records.nrows(),
                records.ncols()
            )));
        }
        let estimates = predict(&self.parts.decoder, self.latents(records)?.view())?;
        let errors = (&estimates - &records).dot(&k.t());
        let of_noise = k.dot(&decoder);
        let square = |matrix: &Array2<f64>| matrix.iter().map(|x| x * x).sum::<f64>();
        Ok(Some(square(&errors) / records.nrows() as f64 + self.noise_variance() * square(&of_noise)))
    }

    /// D (d × Z), where the decoder is x̂ = Dv + c.
    fn linear_decoder(&self) -> Option<ArrayView2<'_, f64>> {
        match self.parts.decoder.architecture().layers.as_slice() {
            [layer] if layer.activation == Activation::Identity => self.parts.decoder.weights(0),
            _ => None,
        }
    }

    /// The latents (Z values) of features within the domain.
    fn latent(&self, features: &[f64]) -> Result<Vec<f64>> {
        let record = ArrayView2::from_shape((1, features.len()), features);
        let record = record.map_err(|problem| Error::shape(problem.to_string()))?;
        let mut latent = predict(&self.parts.encoder, record)?.into_raw_vec_and_offset().0;
        // What an encoder makes of records far from those that it learned from may leave the floats.
        latent.iter_mut().for_each(|x| *x = if x.is_nan() { 0.0 } else { x.clamp(f64::MIN, f64::MAX) });
        self.parts.latent.project(&mut latent)?;
        Ok(latent)
    }

    fn misfit(&self, point: &[f64]) -> Error {
        let (found, width) = (point.len(), self.range.dim());
        Error::shape(format!("a point has {found} values where the range has {width}"))
    }

    /// A point of the range as its latents and what follows them.
    fn split<'p>(&self, point: &'p [f64]) -> Option<(&'p [f64], &'p [f64])> {
        (point.len() == self.range.dim()).then(|| point.split_at(self.latent_dim()))
    }
}

/// A task shapes the design, and whoever's data shaped the task.
const TASK_IS_PUBLIC: &str =
    "the task that it was designed for is public, or those whose data it comes from agreed";

/// What comes out of a network.
pub(crate) fn predict(network: &Network<f64>, records: ArrayView2<f64>) -> Result<Array2<f64>> {
    network.predict(records).map_err(|problem| Error::shape(problem.to_string()))
}

#[typetag::serde(name = "latent-laplace")]
impl Mechanism for LatentLaplace {
    fn domain(&self) -> &RecordDomain {
        &self.parts.domain
    }

    fn guarantee(&self) -> Guarantee {
        let Parts { domain, epsilon, shaped_by, .. } = &self.parts;
        let guarantee = match &self.noise {
            None => Guarantee::nothing(domain),
            Some(_) => {
                let theorem = "the Laplace mechanism (Dwork, McSherry, Nissim and Smith 2006, Proposition 1) on integers, on latents that are \
                               moved into a set of this ℓ₁ diameter whatever the record; decoding is post-processing";
                let dp = Notion::LocalDp(LocalDp::pure(*epsilon));
                let mut guarantee = Guarantee::of_features(domain, [(dp, theorem.to_owned())]);
                guarantee.assumes.push(TASK_IS_PUBLIC.into());
                guarantee
            }
        };
        Guarantee { shaped_by: *shaped_by, ..guarantee }
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        local::release(self, table, randomness)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        Some(self)
    }
}

impl LocalMechanism for LatentLaplace {
    fn range(&self) -> Domain {
        self.range.clone()
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        let point = self.parts.domain.projected(record)?;
        let (features, target) = point.split_at(self.parts.domain.features().dim());
        let mut encoded = self.latent(features)?;
        encoded.extend_from_slice(target);
        Ok(encoded)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        let latents = self.latent_dim();
        if point.len() != self.range.dim() {
            return Err(self.misfit(point));
        }
        match &self.noise {
            Some(noise) => noise.add(&mut point[..latents], stream),
            None => Ok(()),
        }
    }

    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        let Some((latent, target)) = self.split(&point) else {
            return Err(self.misfit(&point));
        };
        let latent = ArrayView2::from_shape((1, latent.len()), latent);
        let latent = latent.map_err(|problem| Error::shape(problem.to_string()))?;
        let mut record = predict(&self.parts.decoder, latent)?.into_raw_vec_and_offset().0;
        record.extend_from_slice(target);
        Ok(record)
    }

    fn noise(&self) -> Noise {
        let (d, width) = (self.parts.domain.features().dim(), self.parts.domain.layout().target.width());
        let law = match (self.linear_decoder(), &self.noise) {
            (_, None) => Law::Exact { width: d },
            (None, Some(_)) => Law::Unknown { width: d },
            (Some(decoder), Some(noise)) => {
                let covariance = decoder.dot(&decoder.t()) * noise.variance();
                Law::Correlated { covariance: covariance.outer_iter().map(|row| row.to_vec()).collect() }
            }
        };
        Noise { features: vec![law], target: Law::Exact { width } }
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        let ((point, target), (released, released_target)) = (self.split(point)?, self.split(released)?);
        if target != released_target {
            return Some(f64::NEG_INFINITY);
        }
        self.noise.as_ref()?.log_likelihood(point, released).ok()
    }

    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        if !Unit::of_features(&self.parts.domain).covers(unit) {
            return vec![];
        }
        let [one, mut other] = self.range.l1_farthest();
        let latents = self.latent_dim();
        other[latents..].copy_from_slice(&one[latents..]);
        vec![[one, other]]
    }
}
