//! The plugin: parameters, and how a design is made of them.

use crate::likelihood::Likelihood;
use crate::model::Shape;
use crate::private::{VolunteerGuarantee, VolunteerGuaranteeParameters};
use crate::requirements::check_shareable;
use crate::training::{Lesson, Plain, PosteriorScale, Trained, single};
use crate::validation::{positive, refuse, some};
use crate::{NAME, PAPER};
use ndarray::{ArrayView1, ArrayView2};
use schemars::JsonSchema;
use scumble_core::{
    Brief, Descriptor, Domain, Error, Example, Factor, Output, Result, Table, register, size,
};
use scumble_neural::Network;
use scumble_noise::LaplaceNoise;
use scumble_task_aware::{Aim, LatentLaplace, Lens, Level, Parts, Scale};
use serde::Deserialize;

/// Parameters of `vlm`.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Parameters {
    /// Whether latents are released, or features that are decoded from them.
    pub level: Released,
    /// d, how many latents there are: 8 by default, or as many as features where they are fewer.
    pub latent_dim: Option<usize>,
    /// l: means of latents have an ℓ₁ norm of at most this. 5 by default.
    pub l1_bound: Option<f64>,
    /// The ε at which latents are drawn while the model is trained, b = 2l/ε: 15 by default. It need not be the budget's.
    pub pretraining_epsilon: Option<f64>,
    /// Whether that b is one more parameter, and ε only where it starts.
    pub learn_scale: bool,
    /// How numbers are likely: categories are categorical.
    pub likelihood: Numbers,
    /// The variance of numbers that are normal, on their scale: 0.1 by default, and 1 for logits. The less it is, the more is asked of the latents;
    /// with much of it they say nothing of columns that hardly go together.
    pub variance: Option<f64>,
    /// How many units the encoder's hidden layers have; the decoder has them the other way round. By default 400, 150, 50 for 256 features
    /// or more, else 500, 500 (E.4).
    pub hidden: Option<Vec<usize>>,
    /// How often each volunteer is seen; by default so often that 10,000 steps are made, and at least 20 times. With a guarantee for the volunteers, its
    /// noise multiplier and its ε decide.
    pub epochs: Option<usize>,
    /// How many volunteers make a step: 64 by default.
    pub batch_size: Option<usize>,
    /// Adam's, 0.0005 by default.
    pub learning_rate: Option<f64>,
    /// From what parameters, noise and order are drawn.
    pub seed: u64,
    /// What is guaranteed to the volunteers, if anything: then the whole model is trained by DP-Adam.
    pub volunteers: Option<VolunteerGuaranteeParameters>,
}

/// What leaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Released {
    /// The latents.
    #[default]
    Latent,
    /// Features, decoded from the latents.
    Features,
}

/// How numbers are likely, given what the decoder says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Numbers {
    /// Normal, once they are centred and scaled: by the volunteers' mean and deviation, or, where those are guaranteed privacy, by the public bounds.
    #[default]
    Gaussian,
    /// Normal, on the logit scale of their share of the public bounds (E.1, for pixels).
    Logit,
    /// Shares of the public bounds, as of pixels that are black with some probability.
    Bernoulli,
}

/// Wider layers than this would take minutes a step.
const MOST_UNITS: usize = 1 << 14;
/// The bytes of a weight of either network while it is trained: it, its slope and Adam's two moments in single precision, and itself in double.
const TRAINED: usize = 2 * (4 * 4 + 8);
/// What pixels are drawn in by before their logit is taken.
const MARGIN: f64 = 0.01;
/// Less of the noise's variance than this in the means of all latents, and these say nothing.
const COLLAPSED: f64 = 1e-3;

impl Parameters {
    fn shape(&self, d: usize) -> Result<Shape> {
        let latent_dim = some("latent_dim", self.latent_dim.unwrap_or(8.min(d)))?;
        let of_the_paper = if d >= 256 { vec![400, 150, 50] } else { vec![500, 500] };
        let hidden = self.hidden.clone().unwrap_or(of_the_paper);
        for (name, units) in hidden.iter().map(|units| ("hidden", units)).chain([("latent_dim", &latent_dim)])
        {
            let units = some(name, *units)?;
            Error::check(NAME, name, units, &format!("at most {MOST_UNITS}"), units <= MOST_UNITS)?;
        }
        let widths = [&[d][..], &hidden, &[latent_dim]].concat();
        size::check_layers(NAME, "hidden", &widths, TRAINED)?;
        Ok(Shape { features: d, hidden, latent_dim })
    }

    fn scale(&self, l1_bound: f64) -> Result<PosteriorScale> {
        let scale =
            2.0 * l1_bound / positive("pretraining_epsilon", self.pretraining_epsilon.unwrap_or(15.0))?;
        Ok(if self.learn_scale { PosteriorScale::Learned(scale) } else { PosteriorScale::Fixed(scale) })
    }

    /// # Errors
    /// [`Error::Parameter`] for parameters of plain training beside a guarantee for volunteers, which would be ignored.
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
                "{name} cannot be had with a guarantee for volunteers: b would be learned from them beside the clipped gradients"
            )),
            Some((name, _, other)) => refuse(format!(
                "{name} is of training without a guarantee for volunteers; with one it is volunteers.{other}"
            )),
        }
    }

    fn variance(&self) -> Result<f64> {
        let usual = if self.likelihood == Numbers::Logit { 1.0 } else { 0.1 };
        positive("variance", self.variance.unwrap_or(usual))
    }

    fn plain(&self, n: usize) -> Result<Plain> {
        let batch_size = some("batch_size", self.batch_size.unwrap_or(64))?;
        let epochs =
            some("epochs", self.epochs.unwrap_or(20.max((10_000 * batch_size.min(n)).div_ceil(n.max(1)))))?;
        size::check_steps(NAME, "epochs", &[epochs, n.div_ceil(batch_size)])?;
        let learning_rate = positive("learning_rate", self.learning_rate.unwrap_or(5e-4))?;
        Ok(Plain { epochs, batch_size, learning_rate })
    }

    /// How each feature is written: by public bounds alone, unless `seen` has volunteers' records to learn centres and widths from.
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
        Lens::of(scales, features)
    }
}

/// By mean and deviation of a volunteers' column, where it varies.
fn standardised(column: ArrayView1<f64>, public: Scale) -> Scale {
    let (center, width) = (column.mean().unwrap_or(0.0), column.std(0.0));
    if width.is_normal() { Scale::Standard { center, width } } else { public }
}

/// Learns a variational Laplace mechanism from the brief's volunteers, and gives it the brief's ε: b = 2l/ε, however it was trained.
///
/// # Errors
/// [`Error::NotApplicable`] without volunteers or features, and where the latents of all volunteers are the same (a collapsed posterior);
/// [`Error::Parameter`] for parameters out of their ranges and for a guarantee that cannot be given, [`Error::TooLarge`] for networks and trainings
/// beyond the limits of [`size`], [`Error::DeltaOfVolunteers`] for too large a δ, [`Error::PrivateVolunteers`]
/// where they are guaranteed privacy and `volunteers` is not given, [`Error::Diverged`] where training leaves the finite numbers,
/// [`Error::Budget`] for an ε that is too small for any noise.
pub fn design(parameters: &Parameters, brief: &Brief) -> Result<LatentLaplace> {
    let table = brief.volunteers_within(NAME)?;
    let (n, d) = table.records().dim();
    if n == 0 || d == 0 {
        return Err(Error::not_applicable(NAME, "there is no feature, or no volunteer, to learn from"));
    }
    let shape = parameters.shape(d)?;
    let l1_bound = positive("l1_bound", parameters.l1_bound.unwrap_or(5.0))?;
    let latent = Domain::l1_ball(shape.latent_dim, l1_bound)?;
    if brief.budget.epsilon().is_finite() {
        // Where there is no such noise, nothing need be trained to find that out.
        LaplaceNoise::calibrated(&latent, brief.budget.epsilon())?;
    }
    parameters.check_volunteer_guarantee()?;
    let wanted = parameters.volunteers.as_ref();
    let guarantee = wanted.map(|wanted| VolunteerGuarantee::new(wanted, n)).transpose()?;
    let shaped_by = brief.volunteers.shaped_by();
    check_shareable(shaped_by, guarantee.as_ref().is_some_and(VolunteerGuarantee::is_kept))?;

    let features = brief.domain.features();
    let lens = parameters.lens(features, if guarantee.is_some() { None } else { Some(table) })?;
    let records = single(&lens.write(table.records().view()));
    let lesson = Lesson {
        records: records.view(),
        likelihood: &Likelihood::of(&lens, features, parameters.variance()?),
        shape,
        l1_bound,
        scale: parameters.scale(l1_bound)?,
        seed: parameters.seed,
    };
    let (Trained { networks: [encoder, decoder], scale }, claim) = match &guarantee {
        None => (lesson.plainly(parameters.plain(n)?)?, None),
        Some(guarantee) => guarantee.train(&lesson)?,
    };
    let mechanism: LatentLaplace = Parts {
        domain: brief.domain.clone(),
        lens,
        encoder: double(&encoder)?,
        latent,
        decoder: double(&decoder)?,
        epsilon: brief.budget.epsilon(),
        level: match parameters.level {
            Released::Latent => Level::Latent,
            Released::Features => Level::Features,
        },
        aim: Aim::Anything,
        shaped_by,
        volunteers: claim,
    }
    .try_into()?;
    // What this says of private volunteers is not part of their guarantee.
    if guarantee.is_none() {
        check_not_collapsed(&mechanism, table.records().view(), scale)?;
    }
    Ok(mechanism)
}

/// # Errors
/// [`Error::NotApplicable`] where the means of the latents of `records` hardly differ, next to noise of scale b.
fn check_not_collapsed(mechanism: &LatentLaplace, records: ArrayView2<f64>, scale: f64) -> Result<()> {
    let means = mechanism.latents(records)?;
    let varies = means.var_axis(ndarray::Axis(0), 0.0).fold(0.0, |most: f64, variance| most.max(*variance));
    if records.nrows() < 2 || varies > COLLAPSED * 2.0 * scale * scale {
        return Ok(());
    }
    Err(Error::not_applicable(
        NAME,
        format!(
            "the latents collapsed: no latent's mean varies by more than {:.1e} over the volunteers, where it was trained with noise of scale {scale:.3}; \
             a larger pretraining_epsilon, more epochs or fewer latents may help",
            varies.sqrt()
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
        summary: "a few latents that a variational autoencoder learned to be noised, or records decoded from them",
        paper: PAPER,
        descriptor: Descriptor::new(Output::View).needing_volunteers().slow(),
        parameters: Parameters,
        learn: |parameters: Parameters, brief: &Brief| Ok(design(&parameters, brief)?.into_parts()),
        local: LatentLaplace::try_from,
        example: || Ok(Example {
            parameters: serde_json::json!({"latent_dim": 2, "hidden": [16], "epochs": 200, "learning_rate": 0.01}),
            ..Example::mixed()?.with_public_volunteers()
        }),
    };
}
