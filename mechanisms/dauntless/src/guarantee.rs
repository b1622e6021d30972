//! The guarantee of a mixed and transformed release: claims, disclosures and assumptions.

use crate::mixing::MixingWeights;
use crate::state::{Resistance, State};
use crate::transformation::Weights;
use scumble_accounting::pac::{self, Setting};
use scumble_core::{
    ASSUMED, AmbiguitySet, Claim, Domain, Factor, Guarantee, Notion, PacResistance, ShapedBy, TargetDomain,
    Unit,
};
use scumble_neural::Activation;

/// Returns the guarantee of a release of `private` private records.
pub(crate) fn for_release(state: &State, private: usize) -> Guarantee {
    let mut guarantee = common(state);
    match outside(state, state.is_fresh(private)) {
        None => {
            guarantee.claims.insert(0, resistance(state, state.spent(private) as f64));
            guarantee.assumes.extend(assumed(state));
        }
        Some(reason) => guarantee.discloses.push(no_budget(reason)),
    }
    guarantee
}

/// Returns the guarantee of a design, for which the number of private records is still unknown.
pub(crate) fn for_design(state: &State) -> Guarantee {
    let mut guarantee = common(state);
    match outside(state, true) {
        // With a budget below one sample, no release is within the budget. So the claim is stated at once.
        None if budget(state) < 1.0 => guarantee.claims.insert(0, resistance(state, 0.0)),
        None => {
            guarantee.each_release = vec![format!(
                "no recovery of a mixed record within {} (ℓ₂, all coordinates) with probability {} or more, \
                 if records were independent and normal, which bounded records are not, at most {:.0} \
                 samples are released, queries included, and no record is used twice; the card of each \
                 release gives its number of samples",
                state.resistance.error,
                1.0 - state.resistance.confidence_gap,
                budget(state).floor()
            )];
            guarantee.assumes.extend(assumed(state));
        }
        Some(reason) => guarantee.discloses.push(no_budget(reason)),
    }
    guarantee
}

fn no_budget(reason: &str) -> String {
    format!("everything that can be recovered: no budget is claimed, because {reason}")
}

/// Reason why Corollary 1 of Dauntless does not cover a release; `None` if it does. `is_fresh` is true if the
/// release uses every record at most once.
fn outside(state: &State, is_fresh: bool) -> Option<&'static str> {
    let mixing = &state.mixing;
    let features = state.domain.features();
    let dim = features.dim();
    [
        (
            features
                .factors()
                .all(|(_, factor)| matches!(factor, Factor::Interval { lower, upper } if lower < upper)),
            "some features are not numbers between two bounds of their own, and may be guessed exactly",
        ),
        (
            state.resistance.error < baseline_error(features),
            "the baseline is at least as accurate: it takes the middle of the domain for the private half of \
             a mixture (errata D16)",
        ),
        (
            state.shape.weights == Weights::InverseUniform,
            "the weights are not the inverse of a uniform matrix",
        ),
        (state.shape.layers == [dim], "the network does not have exactly one layer, as wide as the records"),
        (
            (mixing.public_parts, mixing.private_parts) == (1, 1),
            "a sample does not mix one private record with one public one",
        ),
        (mixing.weights == MixingWeights::Equal, "the weights of a mixture are not equal"),
        (is_fresh, "records are used more than once"),
    ]
    .into_iter()
    .find_map(|(holds, reason)| (!holds).then_some(reason))
}

/// Upper bound on the ℓ₂ error of a baseline estimate of a mixture, if the mixture is the mean of a known and
/// an unknown record. The estimate is the mean of the known record and the middle of the domain.
fn baseline_error(features: &Domain) -> f64 {
    features.squared_radius().sqrt() / 2.0
}

/// Number of samples (mixed records and queries) that Corollary 1 of Dauntless allows; zero if the corollary
/// does not apply.
fn budget(state: &State) -> f64 {
    let Resistance { error, confidence_gap, public_variance, private_variance } = state.resistance;
    let dim = state.domain.columns().len();
    let setting = Setting {
        error,
        // Corollary 1 is about matrices of weights that are never redrawn. Here a matrix with a large
        // condition number is redrawn, so the probability of a redraw is added to δ.
        delta: confidence_gap + state.shape.redrawn(dim),
        dim: dim as u64,
        // Neither the budget nor the distribution of the release depends on β, the bound of the uniform
        // entries.
        beta: 1.0,
        // A mixture adds half of a public record and half of a private record. Half of a record has a quarter
        // of the record's variance.
        public_variance: public_variance / 4.0,
        private_variance: private_variance / 4.0,
    };
    let output_bits = f64::from(state.shape.bits) * dim as f64;
    pac::corollary_1(&setting, output_bits).map_or(0.0, |samples| samples.budget)
}

fn resistance(state: &State, spent: f64) -> Claim {
    let pac = PacResistance {
        error: state.resistance.error,
        confidence_gap: state.resistance.confidence_gap,
        budget: budget(state).floor(),
        spent,
    };
    Claim {
        notion: Notion::PacResistance(pac),
        protects: Unit::for_features(&state.domain),
        theorem:
            "Corollary 1 (Xiao and Devadas, Dauntless) with the adversary's error probability in Fano's \
                  inequality, which the paper sets to zero (errata D11), for mixed records; the \
                  probability of redrawing a matrix is added to δ"
                .into(),
    }
}

fn assumed(state: &State) -> Vec<String> {
    let Resistance { public_variance, private_variance, .. } = state.resistance;
    vec![
        format!(
            "the coordinates of records are independent and normal, with variance {private_variance:.4} in \
             private records and {public_variance:.4} in public records, and no record depends on another; \
             records with bounds are never normal, so for them the budget is a calculation, not a proof"
        ),
        "two candidates for the transformation are compared under one distribution of its input, as in the \
         theorem's proof"
            .into(),
        format!("a released value has at most {} bits, because it lies on a grid", state.shape.bits),
        "each private and each public record is mixed into one sample only, over this release and all others"
            .into(),
        format!(
            "a matrix is redrawn with probability {:.4}, by the limit distribution for large random matrices",
            state.shape.redrawn(state.domain.columns().len())
        ),
    ]
}

/// Returns claims, disclosures and assumptions that do not depend on the number of records.
fn common(state: &State) -> Guarantee {
    let mut claims = vec![];
    // With public records, neither rotated records nor permuted classes are ambiguous. A rotation U would
    // visibly rotate the public records too, and the classes of public records have known names.
    let is_normal = state.shape.weights == Weights::Gaussian && !state.shape.layers.is_empty();
    if is_normal && state.public.is_none() {
        claims.push(Claim {
            notion: Notion::AmbiguitySet(AmbiguitySet {
                members: "all tables X·U with a unitary U (columns measured from the middle of the domain) \
                          that lie in the domain"
                    .into(),
            }),
            protects: Unit::for_features(&state.domain),
            theorem: "Lemma 1 (Xiao and Devadas, Dauntless): a matrix of independent normal entries has the \
                      distribution of U times it"
                .into(),
        });
    }
    if has_label(state) && state.public.is_none() {
        claims.push(Claim {
            notion: Notion::AmbiguitySet(AmbiguitySet {
                members: "all labels that differ by a permutation of the classes' names".into(),
            }),
            protects: Unit::Label,
            theorem: "Theorem 4 (Xiao and Devadas, Dauntless), in the form M = M′·U that its proof has \
                      (errata D14): the classes' vectors are independent and normal"
                .into(),
        });
    }
    let assumes = ASSUMED.into_iter().chain([
        "normal weights and vectors are treated as continuous, although they are drawn on a lattice of 2^-40 \
         and multiplied in double precision",
        "the adversary does not have the owner's key",
    ]);
    Guarantee {
        claims,
        discloses: disclosed(state),
        assumes: assumes.map(str::to_owned).collect(),
        shaped_by: state.public.as_ref().map_or(ShapedBy::PublicKnowledge, |_| ShapedBy::PublicVolunteers),
        ..Guarantee::default()
    }
}

fn has_label(state: &State) -> bool {
    *state.domain.target() != TargetDomain::None
}

/// Recovery from mixtures of MNIST, measured for an adversary that knows their public parts (errata D15).
const MEASURED: &str = "private records, if there are many mixtures: from the public parts of mixtures in \
    equal shares, least squares recovered less than 1 % of private digits (784 columns) from 1000 mixtures, \
    49 % from 2000 and 93 % from 5000, where Corollary 1 allows 110 (errata D15); mixtures in random shares \
    disclose more";

/// Extraction of a model of digits through answers (errata D18).
const EXTRACTED: &str = "the model that answers queries, to whoever asks enough: for digits, networks that \
    learned from 2500 and 5000 answers agreed with it on 89 and 93 % of other records (errata D18)";

fn disclosed(state: &State) -> Vec<String> {
    let mut lines = vec![
        "the number of mixed records, and the number of public and private records in each".to_owned(),
        "possibly whether a given record was mixed: the release is not differentially private".into(),
    ];
    if state.shape.layers.is_empty() {
        lines.push("every mixed record in the clear: nothing is transformed".into());
    }
    if state.public.is_some() {
        lines.push(
            "the public records: the design contains them in the clear, with their classes, and \
                    claims nothing for them"
                .into(),
        );
    }
    if state.shape.activation == Activation::Identity {
        lines.push(match state.public.is_some() {
            true => "every linear relation among mixed records, up to the grid; an adversary that knows as \
                     many mixed records as there are columns knows all of them",
            false => {
                "every linear relation among the private records, up to the grid; an adversary that knows as \
                 many private records as there are columns knows all of them, exactly"
            }
        }
        .into());
        lines.extend(state.public.as_ref().map(|_| MEASURED.into()));
    }
    if state.shape.weights == Weights::Gaussian {
        lines.push(
            "X·Xᵀ, more precisely with more columns: all norms, angles and distances of mixed records".into(),
        );
    }
    lines.extend((state.queries > 0).then(|| EXTRACTED.into()));
    if has_label(state) {
        lines.push(match (state.public.is_some(), state.mixing.parts()) {
            (true, _) => {
                "the share of each class in each mixed record, and the classes' names: public records show \
                 the name of each class (errata D17)"
            }
            (false, 1) => "which records have the same class; only the classes' names are hidden",
            (false, _) => {
                "the share of each class in each mixed record, to an adversary that finds the classes' \
                 vectors among the released vectors; only the classes' names are hidden"
            }
        }
        .into());
    }
    lines
}
