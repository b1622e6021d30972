//! The plugin `vlm`: its parameters, and the training of a design, which is a mechanism learned from
//! volunteers.

use crate::convolution::Convolution;
use crate::likelihood::Likelihood;
use crate::model::Shape;
use crate::posterior::Posterior;
use crate::private::{VolunteerGuarantee, VolunteerGuaranteeParameters};
use crate::requirements::check_shareable;
use crate::training::{Lesson, Plain, PosteriorScale, Trained, single};
use crate::validation::{positive, refuse, some};
use crate::{NAME, PAPER};
use ndarray::{ArrayView1, ArrayView2};
use schemars::JsonSchema;
use scumble_core::{
    Brief, Budget, Descriptor, Domain, Error, Example, Factor, Output, Result, Table, register, size,
};
use scumble_neural::Network;
use scumble_task_aware::{Aim, LatentMechanism, Lens, Level, NoiseKind, Parts, Scale};
use serde::Deserialize;

/// Parameters of `vlm`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Data to release: the latents, or features decoded from them.
    pub level: Released,
    /// Number of latents, d: 8 by default, or the number of features if it is smaller.
    pub latent_dim: Option<usize>,
    /// Noise on latents: "laplace" (the default), "gaussian", which needs δ > 0, or "priv-unit".
    pub noise: NoiseKind,
    /// Upper bound l on the ℓ₁ norm of a record's latent means, for Laplace noise. 5 by default.
    pub l1_bound: Option<f64>,
    /// Upper bound l on the ℓ₂ norm of a record's latent means, for Gaussian noise and PrivUnit. 3 by
    /// default.
    pub l2_bound: Option<f64>,
    /// Privacy parameter ε of the latents' noise during training: 15 by default. It may differ from the ε of
    /// a release. Laplace noise has the scale 2l/ε for l = `l1_bound`, and Gaussian noise has the δ of the
    /// budget (10⁻⁶ at ε = ∞).
    pub pretraining_epsilon: Option<f64>,
    /// Learns the scale b of the latents' noise as one more parameter, starting from the scale of
    /// `pretraining_epsilon`.
    pub learn_scale: bool,
    /// Likelihood of numbers. Categories always have a categorical likelihood.
    pub likelihood: Numbers,
    /// Variance of numbers with a normal likelihood, after scaling: 0.1 by default, and 1 for logits. A
    /// smaller variance demands more accurate latents. With a large variance, the latents ignore columns that
    /// are weakly related to others.
    pub variance: Option<f64>,
    /// Widths of the encoder's dense hidden layers; the decoder has them in reverse order. By default 128
    /// after a convolution, 400, 150, 50 for 256 features or more, otherwise 500, 500 (*Learning to Noise*,
    /// E.4).
    pub hidden: Option<Vec<usize>>,
    /// Convolutions, if the features are the pixels of an image.
    pub convolution: Option<Convolution>,
    /// Number of epochs. By default training makes 10,000 steps, and at least 20 epochs. With a guarantee for
    /// the volunteers, use `volunteers.epochs` instead.
    pub epochs: Option<usize>,
    /// Number of volunteers per step: 64 by default.
    pub batch_size: Option<usize>,
    /// Learning rate of Adam, 0.0005 by default.
    pub learning_rate: Option<f64>,
    /// Random seed of the initial parameters, the noise and the order of records.
    pub seed: u64,
    /// Differential privacy of the volunteers' records, if any. DP-Adam or DP-SGD then trains the whole
    /// model.
    pub volunteers: Option<VolunteerGuaranteeParameters>,
}

/// Data to release.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Released {
    /// The latents.
    #[default]
    Latent,
    /// Features, decoded from the latents with noise.
    Features,
}

/// Likelihood of the numbers of a record, given the decoder's output.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// Normal, after centring and scaling: by the volunteers' mean and standard deviation, or by the public
    /// bounds if the volunteers have a privacy guarantee.
    #[default]
    Gaussian,
    /// Normal, on the logit scale of the number's relative position between its public bounds (*Learning to
    /// Noise*, E.1, for pixels).
    Logit,
    /// Bernoulli, for the number's relative position between its public bounds. It suits pixels that are
    /// black with some probability.
    Bernoulli,
}

/// Default number of volunteers per step.
const USUAL_BATCH: usize = 64;
/// Maximum width of a layer. A wider layer would take minutes per step.
const MOST_UNITS: usize = 1 << 14;
/// Bytes of memory during training per weight of the encoder, doubled to include the decoder. Training stores
/// the weight, its gradient and Adam's two moments in single precision, and the weight also in double
/// precision.
const TRAINED: usize = 2 * (4 * 4 + 8);
/// Margin that keeps the relative position of a number between its bounds away from 0 and 1, where the logit
/// is infinite.
const MARGIN: f64 = 0.01;
/// δ of the Gaussian noise in training for a release without δ.
const USUAL_DELTA: f64 = 1e-6;
/// Threshold for the variance of a latent's mean over the volunteers, divided by the variance of the noise in
/// training. If this ratio is smaller for every latent, the latents hardly depend on the record (the
/// posterior has collapsed).
const COLLAPSED: f64 = 1e-3;

impl Parameters {
    fn shape(&self, d: usize) -> Result<Shape> {
        let latent_dim = some("latent_dim", self.latent_dim.unwrap_or(8.min(d)))?;
        let convolutions = match &self.convolution {
            None => vec![],
            Some(convolution) => convolution.windows(d, self.batch_size.unwrap_or(USUAL_BATCH))?,
        };
        let usual = match (&self.convolution, d) {
            (Some(_), _) => &[128][..],
            (None, 256..) => &[400, 150, 50],
            (None, _) => &[500, 500],
        };
        let hidden = self.hidden.clone().unwrap_or(usual.into());
        for (name, units) in hidden.iter().map(|units| ("hidden", units)).chain([("latent_dim", &latent_dim)])
        {
            let units = some(name, *units)?;
            Error::check(NAME, name, units, &format!("at most {MOST_UNITS}"), units <= MOST_UNITS)?;
        }
        let coded = convolutions.last().map_or(d, |(windows, filters)| windows.count() * filters);
        let widths = [&[coded][..], &hidden, &[latent_dim]].concat();
        size::check_layers(NAME, "hidden", &widths, TRAINED)?;
        Ok(Shape { features: d, convolutions, hidden, latent_dim })
    }

    /// Returns the radius l of the ball of latent means.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is not positive, or if the bound of the other noise is given.
    fn bound(&self) -> Result<f64> {
        match (self.noise, self.l1_bound, self.l2_bound) {
            (NoiseKind::Laplace, _, Some(_)) => refuse("l2_bound is not for Laplace noise; use l1_bound"),
            (NoiseKind::Gaussian | NoiseKind::PrivUnit, Some(_), _) => {
                refuse("l1_bound is for Laplace noise; use l2_bound")
            }
            (NoiseKind::Laplace, bound, None) => positive("l1_bound", bound.unwrap_or(5.0)),
            (NoiseKind::Gaussian | NoiseKind::PrivUnit, None, bound) => {
                positive("l2_bound", bound.unwrap_or(3.0))
            }
        }
    }

    /// Returns the scale of the noise in training, for means in a ball of radius `bound`. `delta` is the δ of
    /// a release.
    fn scale(&self, bound: f64, delta: f64, latents: usize) -> Result<PosteriorScale> {
        let epsilon = positive("pretraining_epsilon", self.pretraining_epsilon.unwrap_or(15.0))?;
        // A release at ε = ∞ needs no δ, and its training does.
        let delta = if self.noise == NoiseKind::Gaussian && delta == 0.0 { USUAL_DELTA } else { delta };
        let scale = 2.0 * bound * self.noise.unit_scale(Budget::new(epsilon, delta)?, latents)?;
        Ok(if self.learn_scale { PosteriorScale::Learned(scale) } else { PosteriorScale::Fixed(scale) })
    }

    /// Rejects parameters that apply only to training without privacy, if there is a guarantee for the
    /// volunteers.
    ///
    /// # Errors
    /// [`Error::Parameter`] if `volunteers` and a parameter of training without privacy are given.
    fn check_volunteer_guarantee(&self) -> Result<()> {
        let plain = [
            ("epochs", self.epochs.is_some(), "epochs"),
            ("batch_size", self.batch_size.is_some(), "expected_batch"),
            ("learning_rate", self.learning_rate.is_some(), "learning_rate"),
            ("learn_scale", self.learn_scale, ""),
        ];
        match plain.into_iter().find(|(_, is_given, _)| self.volunteers.is_some() && *is_given) {
            None => Ok(()),
            Some((name, _, "")) => refuse(format!(
                "{name} conflicts with a guarantee for volunteers: b would be learned from them outside the \
                 clipped gradients"
            )),
            Some((name, _, other)) => refuse(format!(
                "{name} is for training without a guarantee for volunteers; with a guarantee, use \
                 volunteers.{other}"
            )),
        }
    }

    fn variance(&self) -> Result<f64> {
        let usual = if self.likelihood == Numbers::Logit { 1.0 } else { 0.1 };
        positive("variance", self.variance.unwrap_or(usual))
    }

    fn plain(&self, n: usize) -> Result<Plain> {
        let batch_size = some("batch_size", self.batch_size.unwrap_or(USUAL_BATCH))?;
        let epochs =
            some("epochs", self.epochs.unwrap_or(20.max((10_000 * batch_size.min(n)).div_ceil(n.max(1)))))?;
        size::check_steps(NAME, "epochs", &[epochs, n.div_ceil(batch_size)])?;
        let learning_rate = positive("learning_rate", self.learning_rate.unwrap_or(5e-4))?;
        Ok(Plain { epochs, batch_size, learning_rate })
    }

    /// Returns the scaling of each feature for the encoder. If `seen` has volunteers' records, numbers with
    /// [`Numbers::Gaussian`] are scaled by their mean and standard deviation. Else only the public bounds are
    /// used.
    fn lens(&self, features: &Domain, seen: Option<&Table>) -> Result<Lens> {
        let mut scales = vec![];
        for (at, factor) in features.factors() {
            match (factor, self.likelihood) {
                (Factor::OneHot { levels }, _) => scales.extend(vec![Scale::Level; *levels]),
                (&Factor::Interval { lower, upper }, Numbers::Logit) if lower < upper => {
                    scales.push(Scale::Logit { lower, upper, margin: MARGIN });
                }
                (&Factor::Interval { lower, upper }, Numbers::Bernoulli) if lower < upper => {
                    scales.push(Scale::Share { lower, upper });
                }
                (factor, _) => {
                    let domain: Domain = vec![factor.clone()].try_into()?;
                    let (center, reach) = (domain.center(), domain.l2_diameter() / 12.0_f64.sqrt());
                    scales.extend(at.zip(center).map(|(column, center)| {
                        let public = Scale::Standard { center, width: if reach > 0.0 { reach } else { 1.0 } };
                        seen.map_or(public, |table| standardised(table.records().column(column), public))
                    }));
                }
            }
        }
        Lens::new(scales, features)
    }
}

/// Returns the scaling by the mean and the standard deviation of a column of the volunteers' records, or
/// `public` if the column is constant.
fn standardised(column: ArrayView1<f64>, public: Scale) -> Scale {
    let (center, width) = (column.mean().unwrap_or(0.0), column.std(0.0));
    if width.is_normal() { Scale::Standard { center, width } } else { public }
}

/// Learns a variational mechanism from the volunteers of the [`Brief`], and calibrates its noise to the
/// budget of the `Brief`. The Laplace noise of a release has the scale 2l/ε for the bound l = `l1_bound`,
/// whatever scale the noise had in training.
///
/// # Errors
/// [`Error::NotApplicable`] if there are no volunteers or no features, or if, without a guarantee for the
/// volunteers, the latents of all volunteers are almost the same (a collapsed posterior);
/// [`Error::Parameter`] if a parameter is outside its range, or if the guarantee for the volunteers cannot be
/// met; [`Error::TooLarge`] if the networks or the number of training steps exceed the limits of [`size`];
/// [`Error::DeltaOfVolunteers`] if the δ of the volunteers' guarantee is too large;
/// [`Error::PrivateVolunteers`] if the volunteers' records are private and no guarantee for the volunteers
/// holds; [`Error::Diverged`] if training overflows; [`Error::Budget`] if ε is too small for any noise.
pub fn design(parameters: &Parameters, brief: &Brief) -> Result<LatentMechanism> {
    let table = brief.volunteers_within(NAME)?;
    let (n, d) = table.records().dim();
    if n == 0 || d == 0 {
        return Err(Error::not_applicable(NAME, "there is no feature, or no volunteer, to learn from"));
    }
    let shape = parameters.shape(d)?;
    let (noise, bound) = (parameters.noise, parameters.bound()?);
    let latent = match noise {
        NoiseKind::Laplace => Domain::l1_ball(shape.latent_dim, bound)?,
        NoiseKind::Gaussian | NoiseKind::PrivUnit => Domain::l2_ball(shape.latent_dim, bound)?,
    };
    let budget = noise.spent(NAME, brief.budget)?;
    // Fail before training if no noise meets ε.
    noise.unit_scale(budget, shape.latent_dim)?;
    parameters.check_volunteer_guarantee()?;
    let requested = parameters.volunteers.as_ref();
    let guarantee = requested.map(|requested| VolunteerGuarantee::new(requested, n)).transpose()?;
    let shaped_by = brief.volunteers.shaped_by();
    check_shareable(shaped_by, guarantee.as_ref().is_some_and(VolunteerGuarantee::is_kept))?;

    let features = brief.domain.features();
    let lens = parameters.lens(features, if guarantee.is_some() { None } else { Some(table) })?;
    let records = single(&lens.write(table.records().view()));
    let latents = shape.latent_dim;
    let lesson = Lesson {
        records: records.view(),
        likelihood: &Likelihood::new(&lens, features, parameters.variance()?),
        shape,
        posterior: Posterior { noise, bound: bound as f32 },
        scale: parameters.scale(bound, budget.delta(), latents)?,
        seed: parameters.seed,
    };
    let (Trained { networks: [encoder, decoder], scale }, claim) = match &guarantee {
        None => (lesson.plainly(parameters.plain(n)?)?, None),
        Some(guarantee) => guarantee.train(&lesson)?,
    };
    let mechanism: LatentMechanism = Parts {
        domain: brief.domain.clone(),
        lens,
        encoder: double(&encoder)?,
        latent,
        decoder: double(&decoder)?,
        epsilon: budget.epsilon(),
        delta: budget.delta(),
        noise,
        level: match parameters.level {
            Released::Latent => Level::Latent,
            Released::Features => Level::Features,
        },
        aim: Aim::Anything,
        shaped_by,
        volunteers: claim,
    }
    .try_into()?;
    // With a guarantee for the volunteers this check is omitted. The check reads their records in the clear,
    // so the guarantee would not cover its result.
    if guarantee.is_none() {
        let variance = Posterior { noise, bound }.variance(scale);
        check_not_collapsed(&mechanism, table.records().view(), variance)?;
    }
    Ok(mechanism)
}

/// Checks that the means of the latents differ between `records` by enough, compared with the `variance` of
/// the noise in training.
///
/// # Errors
/// [`Error::NotApplicable`] if the variances of all means are at most [`COLLAPSED`] times the variance of the
/// noise.
fn check_not_collapsed(mechanism: &LatentMechanism, records: ArrayView2<f64>, variance: f64) -> Result<()> {
    let means = mechanism.latents(records)?;
    let varies = means.var_axis(ndarray::Axis(0), 0.0).fold(0.0, |most: f64, variance| most.max(*variance));
    if records.nrows() < 2 || varies > COLLAPSED * variance {
        return Ok(());
    }
    Err(Error::not_applicable(
        NAME,
        format!(
            "the latents collapsed: no latent's mean varies by more than {:.1e} over the volunteers, and the \
             training noise has a deviation of {:.3}; a larger pretraining_epsilon, more epochs or fewer \
             latents may help",
            varies.sqrt(),
            variance.sqrt()
        ),
    ))
}

fn double(network: &Network<f32>) -> Result<Network<f64>> {
    let parameters = network.parameters().iter().map(|x| f64::from(*x)).collect();
    Network::from_parameters(network.architecture().clone(), parameters).map_err(crate::training::wrong)
}

register! {
    /// The plugin `vlm`.
    pub const VLM = {
        name: NAME,
        summary: "a few noisy latents of a variational autoencoder that was trained for this noise, or \
                  records decoded from them",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers().slow(),
        parameters: Parameters,
        learn: |parameters: Parameters, brief: &Brief| Ok(design(&parameters, brief)?.into_parts()),
        local: LatentMechanism::try_from,
        example: || Ok(Example {
            parameters: serde_json::json!({
                "latent_dim": 2,
                "hidden": [16],
                "epochs": 200,
                "learning_rate": 0.01
            }),
            ..Example::mixed()?.with_public_volunteers()
        }),
    };
}
