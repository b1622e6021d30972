//! Audits of the claims: each mechanism's faulty variants must fail. (Tests of the command check that each
//! mechanism's example passes.)
//!
//! The audit's false-alarm rate is 10⁻⁶ per claim, and its draws are seeded. At the effort of these tests, it
//! detects errors of a fifth of ε or of σ, in one column at ε = 1.

mod dauntless;
mod declared;
mod people;

use rand_core::RngCore;
use scumble::adversary::{Coupled, Effort, Finding, Measure, Output, Verdict, audit, same_distribution};
use scumble::classic::{DIRECT, Gaussian, Laplace, PIECEWISE, RandomizedResponse, SampledNumbers};
use scumble::core::{
    Brief, Budget, Designed, Domain, LocalMechanism, Plugin, Randomness, RecordDomain, Table, Target,
    TargetDomain, Task, Unit, Volunteers,
};
use scumble::dauntless::{ColumnSpace, MultiplicativeDp, obfuscation_delta};
use scumble::fisher_svm::{
    FISHER_GAUSSIAN, FisherBounded, FisherCorrelated, FisherGaussian, KeptModel, Reach, Weights,
};
use scumble::kkt::{LinearModel, Loss};
use scumble::sampling::{DiscreteGaussian, Rational};
use scumble::task_aware::{
    LatentMechanism, PRIVACY_AGNOSTIC, Parts, TASK_AGNOSTIC, TASK_AWARE_BOUNDED, TASK_AWARE_CLIPPED,
    TASK_AWARE_GAUSSIAN, TASK_AWARE_GRADIENT, TASK_AWARE_LINEAR, TASK_AWARE_PRIV_UNIT,
};
use scumble::vlm::VLM;
use scumble_integration_tests::{
    CuratorFault, CuratorVariant, ObfuscatedNumber, TransformedFault, TransformedVariant, classifier,
};
use scumble_testing::{Fault, Faulty, local, numbers, records};
use std::f64::consts::SQRT_2;
use std::sync::{Arc, LazyLock};

fn effort() -> Effort {
    Effort { samples: 30_000, pairs: 3, ..Effort::quick() }
}

/// Domain whose first column has the range of a sample; the next record may lie outside it.
fn as_in_the_sample(dim: usize) -> RecordDomain {
    let seen = Domain::interval(0.2, 0.7).unwrap();
    let features = std::iter::once(seen).chain(vec![Domain::unit_box(1); dim - 1]);
    records(Domain::product(features).unwrap(), TargetDomain::None)
}

fn groups(levels: &[usize]) -> RecordDomain {
    let groups = levels.iter().map(|levels| Domain::one_hot(*levels).unwrap());
    records(Domain::product(groups).unwrap(), TargetDomain::None)
}

/// Returns the local mechanism behind a pointer, for use in a variant.
#[track_caller]
fn shared(mechanism: &(impl Into<Designed> + Clone)) -> Arc<dyn LocalMechanism> {
    match mechanism.clone().into() {
        Designed::Local(local) => local,
        Designed::Curator(_) => panic!("a variant of a local mechanism is wanted"),
    }
}

fn boxed(mechanism: impl LocalMechanism) -> Arc<dyn LocalMechanism> {
    Arc::new(mechanism)
}

/// Returns the audit's findings on differential privacy. Claims about reconstruction need records, and have a
/// test of their own.
fn findings(mechanism: impl Into<Designed>) -> Vec<Finding> {
    let mut findings = audit("the mechanism", &mechanism.into(), None, effort()).unwrap();
    findings.retain(|finding| !finding.claim.contains("reconstruction"));
    findings
}

/// Checks that an honest mechanism's claims hold, and that the audit's lower bound on ε exceeds `share` of
/// the claimed ε.
#[track_caller]
fn holds(mechanism: impl Into<Designed>, share: f64) {
    for finding in findings(mechanism) {
        assert_eq!(finding.verdict, Verdict::Holds, "{finding}");
        let (claimed, seen) = (finding.claimed.unwrap(), finding.lower_bound.unwrap());
        assert!(seen > share * claimed, "the audit only sees {seen} of {claimed}: {finding}");
    }
}

#[track_caller]
fn passes(honest: &(impl Into<Designed> + Clone)) {
    holds(shared(honest), 0.0);
}

/// Returns the audit's sentences about a faulty variant; panics if the audit does not catch it.
#[track_caller]
fn caught(honest: &(impl Into<Designed> + Clone), fault: Fault) -> String {
    broken(&Faulty::new(&shared(honest), fault))
}

/// Same as [`caught`], for a variant that does not describe its noise.
#[track_caller]
fn caught_by_samples(honest: &(impl Into<Designed> + Clone), fault: Fault) -> String {
    broken(&Faulty::new(&shared(honest), fault).silent())
}

#[track_caller]
fn broken(variant: &Faulty) -> String {
    let findings = findings(variant.clone());
    let broken = findings.iter().filter(|finding| finding.verdict == Verdict::Broken);
    let sentences: Vec<String> = broken.map(Finding::to_string).collect();
    assert!(!sentences.is_empty(), "the faulty variant passed: {:?}\n{findings:?}", variant.fault());
    sentences.join("\n")
}

/// Checks faults of every mechanism with noise on the records themselves.
#[track_caller]
fn common_faults_are_caught(honest: &(impl Into<Designed> + Clone)) {
    let clip = caught(honest, Fault::Unclipped(shared(honest)));
    assert!(clip.contains("encode leaves its declared range"), "{clip}");
    caught(honest, Fault::Bare(0));
}

/// Checks faults of a release that do not depend on the noise. All local mechanisms release by the same code,
/// so one mechanism of each kind is enough.
#[track_caller]
fn faults_of_releases_are_caught(honest: &(impl Into<Designed> + Clone)) {
    passes(&Faulty::new(&shared(honest), Fault::None));
    caught(honest, Fault::OneSeed);
    // By samples: a shared stream of two records is no fault if the noise is keyed by the record.
    passes(&Faulty::new(&shared(honest), Fault::Keyed).silent());
    caught_by_samples(honest, Fault::KeyedByRecord);
    for fault in [Fault::SeedIgnored, Fault::FirstRowBare, Fault::RestBare] {
        caught(honest, fault);
    }
    for fault in [Fault::SharedByRecords, Fault::SharedByBlocks] {
        let shared = caught(honest, fault);
        assert!(shared.contains("rows from a known record") || shared.contains(" in row "), "{shared}");
    }
    let fails = caught_by_samples(honest, Fault::FailsAtTheTop);
    assert!(fails.contains("the presence of an answer"), "{fails}");
}

#[test]
fn faults_of_releases_are_caught_whatever_the_noise() {
    faults_of_releases_are_caught(&Laplace::new(numbers(3), 1.0).unwrap());
    let (_, on_a_polytope) = &latents()[0];
    faults_of_releases_are_caught(on_a_polytope);
    faults_of_releases_are_caught(&RandomizedResponse::new(groups(&[2, 3]), 1.0).unwrap());
    faults_of_releases_are_caught(&SampledNumbers::piecewise(numbers(2), 1.0).unwrap());
    faults_of_releases_are_caught(&Gaussian::new(numbers(2), Budget::new(1.0, 0.02).unwrap()).unwrap());
}

#[test]
fn a_claim_that_no_sample_could_contradict_is_not_said_to_hold() {
    let claims = Laplace::new(numbers(2), 40.0).unwrap();
    let variant =
        Faulty::new(&shared(&claims), Fault::By(boxed(scumble::classic::Identity::new(numbers(2)))));
    let finding = &findings(variant.silent())[0];
    assert_eq!(finding.verdict, Verdict::Inconclusive, "{finding}");
}

#[test]
fn identity_claims_nothing_and_a_variant_that_claims_something_is_caught() {
    let identity = scumble::classic::Identity::new(numbers(2));
    assert_eq!(findings(identity.clone())[0].verdict, Verdict::NothingClaimed);
    let claims = Laplace::new(numbers(2), 1.0).unwrap();
    let sentence = caught(&claims, Fault::By(boxed(identity)));
    assert!(sentence.contains("claims ε = 1 local differential privacy"), "{sentence}");
    assert!(sentence.contains("has 0.0 % of the declared variance"), "{sentence}");
}

#[test]
fn variants_of_laplace_are_caught() {
    let at = |epsilon| Laplace::new(numbers(1), epsilon).unwrap();
    for epsilon in [0.5, 1.0, 2.0] {
        holds(at(epsilon), 0.8);
    }
    // The known case: the published code of task-aware privacy uses a variance of (Δ₁/ε)² in place of
    // 2(Δ₁/ε)². It therefore runs at √2 times the ε that it prints.
    let (claimed, published) = (at(1.0), at(SQRT_2));
    assert!((published.scale().powi(2) * 2.0 - 1.0).abs() < 1e-6, "its variance is (Δ₁/ε)²");
    let sentence = caught(&claimed, Fault::By(boxed(published)));
    assert!(sentence.contains("and such noise spends ε = 1."), "{sentence}");
    caught(&claimed, Fault::By(boxed(at(1.2))));
    // By samples alone, without a description of the noise.
    for epsilon in [SQRT_2, 1.2] {
        let sentence = caught_by_samples(&claimed, Fault::By(boxed(at(epsilon))));
        assert!(sentence.contains("and the claim is broken: at least ε = 1."), "{sentence}");
    }
    let sampled = Laplace::new(as_in_the_sample(1), 1.0).unwrap();
    caught(&claimed, Fault::Unclipped(boxed(sampled)));
    let sentence = caught(&claimed, Fault::Floats(1.0));
    assert!(sentence.contains("do not lie on the declared lattice"), "{sentence}");
    let sentence = caught_by_samples(&claimed, Fault::Floats(1.0));
    assert!(sentence.contains("the lowest bits of its values"), "{sentence}");
    caught(&claimed, Fault::CutOff(3.0));
    caught(&claimed, Fault::ReleasedUnclipped);
    caught(&claimed, Fault::FewValues(1 << 12, 1.0));
    let around_zero = records(Domain::interval(-1.0, 1.0).unwrap(), TargetDomain::None);
    caught(&Laplace::new(around_zero, 1.0).unwrap(), Fault::ZeroBare);
    common_faults_are_caught(&Laplace::new(numbers(3), 1.0).unwrap());
    caught(&Laplace::new(numbers(2), 1.0).unwrap(), Fault::Shared);
    let coarse = Laplace::new(records(Domain::interval(0.124, 1.126).unwrap(), TargetDomain::None), 1.0);
    caught(&coarse.unwrap(), Fault::CoarseLaplace);
}

#[test]
fn laplace_noise_counts_groups_and_balls_by_their_l1_diameter() {
    // Each case takes the noise of a domain that a careless reader could confuse it with.
    let cases = [
        (groups(&[3]), 2.0, 0.6),
        (records(Domain::l1_ball(3, 0.7).unwrap(), TargetDomain::None), 2.0, 0.6),
        (records(Domain::l2_ball(3, 0.7).unwrap(), TargetDomain::None), 2.0, 0.6),
        (numbers(2), 2.0, 0.6),
    ];
    for (domain, factor, share) in cases {
        let honest = Laplace::new(domain.clone(), 1.0).unwrap();
        holds(honest.clone(), share);
        caught(&honest, Fault::By(boxed(Laplace::new(domain, factor).unwrap())));
    }
}

#[test]
fn variants_of_gaussian_are_caught_along_the_whole_profile() {
    let at = |domain: RecordDomain, epsilon, delta| {
        Gaussian::new(domain, Budget::new(epsilon, delta).unwrap()).unwrap()
    };
    let claimed = at(numbers(1), 1.0, 0.02);
    passes(&claimed);
    let points = &findings(claimed.clone())[0].profile;
    for point in &points[..3] {
        assert!(point.lower_bound > 0.6 * point.claimed, "the audit only sees {point:?}");
    }
    for short in [SQRT_2, 1.2] {
        let sigma = claimed.scale() / short;
        let variant = at(numbers(1), 1.0, scumble::accounting::gaussian::delta(1.0 / sigma, 1.0));
        assert!((variant.scale() / sigma - 1.0).abs() < 1e-6);
        caught(&claimed, Fault::By(boxed(variant)));
    }
    caught(&claimed, Fault::Unclipped(boxed(at(as_in_the_sample(1), 1.0, 0.02))));
    caught(&claimed, Fault::CutOff(2.5 * claimed.scale()));
    common_faults_are_caught(&at(numbers(3), 1.0, 0.02));
    caught(&at(numbers(2), 1.0, 0.02), Fault::Shared);
    // Bounds that rounding moves apart, with the noise for the unrounded width.
    let (lower, upper) = (0.124, 1.126);
    let coarse = records(Domain::interval(lower, upper).unwrap(), TargetDomain::None);
    let sigma = (upper - lower) / scumble::accounting::gaussian::mu(1.0, 0.1).unwrap();
    caught(&at(coarse, 1.0, 0.1), Fault::CoarseGaussian(sigma * 4.0));
}

#[test]
fn gaussian_noise_counts_columns_groups_and_balls_by_their_l2_diameter() {
    let budget = Budget::new(1.0, 0.02).unwrap();
    let short = Budget::new(1.6, 0.02).unwrap();
    for features in [
        Domain::unit_box(2),
        Domain::one_hot(3).unwrap(),
        Domain::l2_ball(2, 0.7).unwrap(),
        Domain::l1_ball(2, 0.7).unwrap(),
    ] {
        let domain = records(features, TargetDomain::None);
        let honest = Gaussian::new(domain.clone(), budget).unwrap();
        passes(&honest);
        caught(&honest, Fault::By(boxed(Gaussian::new(domain, short).unwrap())));
    }
}

#[test]
fn variants_of_fisher_noise_are_caught() {
    let fisher = |domain: RecordDomain, weights: Option<&Weights>, epsilon| {
        let budget = Budget::new(epsilon, 0.02).unwrap();
        FisherGaussian::for_budget(domain, weights.cloned(), budget).unwrap()
    };
    let matrix = Weights::Matrix(vec![vec![2.0, 1.0], vec![1.0, 2.0]]);
    let columns = Weights::Columns([("x1".to_owned(), 9.0)].into());
    for weights in [None, Some(&columns), Some(&matrix)] {
        let claimed = fisher(numbers(2), weights, 1.0);
        passes(&claimed);
        // A σ that is too small by a factor of √2, and of 1.2: λ is its inverse fourth power.
        for short in [SQRT_2, 1.2] {
            let lambda = claimed.lambda() * f64::powi(short, 4);
            let variant = FisherGaussian::with_lambda(numbers(2), weights.cloned(), lambda, 0.02).unwrap();
            caught(&claimed, Fault::By(boxed(variant)));
        }
        common_faults_are_caught(&claimed);
    }
    let claimed = fisher(numbers(1), None, 1.0);
    caught(&claimed, Fault::Unclipped(boxed(fisher(as_in_the_sample(1), None, 1.0))));
    caught(&claimed, Fault::CutOff(2.5 * claimed.scales()[0]));
    // The noise of weights other than the claimed ones.
    let unweighted = fisher(numbers(2), None, 1.0);
    caught(&unweighted, Fault::By(boxed(fisher(numbers(2), Some(&columns), 1.6))));
}

#[test]
fn variants_of_noise_with_bounds_are_caught() {
    let wide = || Reach { beyond: 30.0, ..Reach::default() };
    let at = |domain: RecordDomain, reach: Reach, epsilon| {
        let budget = Budget::new(epsilon, 0.02).unwrap();
        FisherBounded::for_budget(domain, None, reach, budget).unwrap()
    };
    let claimed = at(numbers(2), wide(), 1.0);
    passes(&claimed);
    for short in [SQRT_2, 1.2] {
        let lambda = claimed.lambda() * f64::powi(short, 4);
        let variant = FisherBounded::with_lambda(numbers(2), None, wide(), lambda, 0.02).unwrap();
        caught(&claimed, Fault::By(boxed(variant)));
    }
    common_faults_are_caught(&claimed);
    caught(&at(numbers(1), wide(), 1.0), Fault::Unclipped(boxed(at(as_in_the_sample(1), wide(), 1.0))));
    // Tighter bounds than claimed: one record can take values that the other record cannot.
    let tight = Reach { beyond: 0.5, ..Reach::default() };
    let variant = FisherBounded::with_lambda(numbers(1), None, tight, 0.0, 0.02).unwrap();
    caught(&at(numbers(1), wide(), 1.0), Fault::By(boxed(variant)));
    // The noise of Theorem 2.4 at the same λ, cut off at the end of the paper's density.
    let claimed = at(numbers(1), wide(), 1.0);
    // The claim is one point, not a profile. At this effort the audit does not detect a cut at 2.5 standard
    // deviations (δ = 0.03 in place of 0.02).
    caught(&claimed, Fault::CutOff(2.0 * claimed.noise().feature_variance().unwrap()[0].sqrt()));
}

/// Cramér–Rao claims: with noise that is too small by a factor of √2, an unbiased estimator errs less than
/// claimed.
#[test]
fn a_reconstruction_that_comes_too_near_is_caught() {
    let example = (FISHER_GAUSSIAN.example)().unwrap();
    let (table, domain) = (example.table, example.brief.domain);
    let designed = |lambda| FisherGaussian::with_lambda(domain.clone(), None, lambda, 0.02).unwrap();
    let errors = |mechanism: &Designed| {
        let findings = audit("the mechanism", mechanism, Some(&table), effort()).unwrap();
        findings.into_iter().find(|finding| finding.claim.contains("squared error")).unwrap()
    };
    let honest = designed(1.0);
    let held = errors(&Designed::local(honest.clone()));
    assert_eq!(held.verdict, Verdict::Holds, "{held}");
    let broken = errors(&Designed::local(Faulty::new(&shared(&honest), Fault::By(boxed(designed(4.0))))));
    assert_eq!(broken.verdict, Verdict::Broken, "{broken}");
    assert!(broken.to_string().contains("unbiased reconstruction"), "{broken}");
}

#[test]
fn variants_of_randomized_response_are_caught() {
    for levels in [2, 5] {
        let at = |epsilon| RandomizedResponse::new(groups(&[levels]), epsilon).unwrap();
        holds(at(1.0), 0.8);
        // A flip probability of 0.8 times the correct one.
        let others = (levels - 1) as f64;
        let flip = 0.8 * others / (1f64.exp() + others);
        caught(&at(1.0), Fault::By(boxed(at(((1.0 - flip) * others / flip).ln()))));
    }
    // A middle level that is always released unchanged.
    caught(&RandomizedResponse::new(groups(&[20]), 1.0).unwrap(), Fault::LevelBare(11));
    let two = |epsilon| RandomizedResponse::new(groups(&[2, 3]), epsilon).unwrap();
    holds(two(1.0), 0.8);
    // Every group spends the whole ε.
    caught(&two(1.0), Fault::By(boxed(two(2.0))));
    common_faults_are_caught(&two(1.0));
}

#[test]
fn variants_of_sampled_answers_are_caught() {
    for mechanism in [SampledNumbers::piecewise, SampledNumbers::duchi, SampledNumbers::hybrid] {
        let at = |epsilon| mechanism(numbers(1), epsilon).unwrap();
        for epsilon in [0.5, 1.0, 2.0] {
            holds(at(epsilon), 0.8);
        }
        caught(&at(1.0), Fault::By(boxed(at(SQRT_2))));
        caught(&at(1.0), Fault::By(boxed(at(1.2))));
        caught(&at(1.0), Fault::Unclipped(boxed(mechanism(as_in_the_sample(1), 1.0).unwrap())));
        common_faults_are_caught(&mechanism(numbers(2), 1.0).unwrap());
    }
}

#[test]
fn sampled_answers_at_the_whole_epsilon_each_are_caught() {
    let both = |epsilon| {
        let brief = Brief::new(numbers(2), Budget::pure(epsilon).unwrap());
        local(PIECEWISE.design(&serde_json::json!({"k": 2}), &brief).unwrap())
    };
    holds(both(1.0), 0.7);
    caught(&both(1.0), Fault::By(both(2.0)));
}

#[test]
fn variants_of_direct_are_caught() {
    let class = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    let designed = |plugin: Plugin, epsilon| {
        let brief = Brief::new(records(Domain::unit_box(1), class.clone()), Budget::pure(epsilon).unwrap());
        local(plugin.design(&serde_json::Value::Null, &brief).unwrap())
    };
    let honest = designed(DIRECT, 1.0);
    holds(honest.clone(), 0.7);
    // First, each of two columns spends the whole ε. Then all noise is too small by a factor of √2.
    caught(&honest, Fault::By(designed(DIRECT, 2.0)));
    caught(&honest, Fault::By(designed(DIRECT, SQRT_2)));
    common_faults_are_caught(&honest);
}

/// Table of 200 volunteers with three numbers, in the middle of the unit box; other people lie further out.
fn volunteers() -> Table {
    let records = ndarray::Array2::from_shape_fn((200, 3), |(row, column)| {
        let at = |slope: f64| (0.5 + slope * row as f64).fract();
        let own = at([0.754_877_67, 0.569_840_29, 0.618_033_99][column]);
        0.3 + 0.2 * own + 0.2 * at(0.754_877_67)
    });
    Table::new(numbers(3).columns().to_vec(), records, Target::None).unwrap()
}

/// Designs a mechanism for the volunteers, with a task of two outputs on three numbers.
fn latent(plugin: &Plugin, parameters: serde_json::Value, epsilon: f64) -> LatentMechanism {
    latent_at(plugin, parameters, Budget::pure(epsilon).unwrap())
}

/// Same as [`latent`], for a budget with δ.
fn latent_at(plugin: &Plugin, parameters: serde_json::Value, budget: Budget) -> LatentMechanism {
    let mut brief = Brief::new(numbers(3), budget);
    brief.volunteers = Volunteers::Consented(volunteers());
    brief.task = Task::Linear(ndarray::array![[1.0, 0.5, 0.0], [0.0, 0.5, 0.3]]);
    let design = plugin.design(&parameters, &brief).unwrap();
    design.mechanism().downcast_ref::<LatentMechanism>().unwrap().clone()
}

/// Designs of every kind, with two or three latents.
fn latents() -> &'static [(&'static str, LatentMechanism); 7] {
    static DESIGNS: LazyLock<[(&str, LatentMechanism); 7]> = LazyLock::new(designed_latents);
    &DESIGNS
}

fn designed_latents() -> [(&'static str, LatentMechanism); 7] {
    let trained = serde_json::json!({
        "latent_dim": 2, "training": {"epochs": 20, "steps": 5, "learning_rate": 0.01}
    });
    let bounded = serde_json::json!({
        "latent_dim": 2, "weight_decay": 1e-3, "training": {"epochs": 100, "learning_rate": 0.01}
    });
    // A small ball, so that the latents reach its surface.
    let learned = serde_json::json!({
        "latent_dim": 2, "l1_bound": 0.5, "hidden": [16], "epochs": 200, "learning_rate": 0.01
    });
    let empirical = serde_json::json!({"sensitivity": "empirical"});
    let [both, none] = [serde_json::json!({"latent_dim": 2}), serde_json::json!({})];
    // The budget is large enough for two latents to pay off.
    [
        ("linear", latent(&TASK_AWARE_LINEAR, both.clone(), 30.0)),
        ("clipped", latent(&TASK_AWARE_CLIPPED, none, 30.0)),
        ("gradient", latent(&TASK_AWARE_GRADIENT, trained, 1.0)),
        ("bounded", latent(&TASK_AWARE_BOUNDED, bounded, 1.0)),
        ("privacy-agnostic", latent(&PRIVACY_AGNOSTIC, both, 1.0)),
        ("task-agnostic", latent(&TASK_AGNOSTIC, empirical, 1.0)),
        ("vlm", latent(&VLM, learned, 1.0)),
    ]
    .map(|(name, design)| (name, with(&design, |parts| parts.epsilon = 1.0)))
}

/// Returns the design with changed parts. The claim follows from any encoder, decoder and set of latents.
fn with(design: &LatentMechanism, change: impl FnOnce(&mut Parts)) -> LatentMechanism {
    let mut parts = design.parts().clone();
    change(&mut parts);
    parts.try_into().unwrap()
}

/// Returns a box with half the ℓ₁ diameter of `set`, at its centre.
fn half(set: &Domain) -> Domain {
    let [one, other] = set.l1_farthest();
    let sides = one.iter().zip(&other).map(|(x, y)| {
        let (middle, half) = ((x + y) / 2.0, (x - y).abs() / 4.0);
        Domain::interval(middle - half, middle + half).unwrap()
    });
    Domain::product(sides).unwrap()
}

#[test]
fn designs_of_latents_hold_what_they_claim() {
    for (name, honest) in latents() {
        assert!(honest.latent_dim() >= 2, "{name} has {} latents", honest.latent_dim());
        holds(honest.clone(), 0.5);
    }
}

#[test]
fn latents_with_the_published_variance_are_caught() {
    for (name, honest) in latents() {
        // The known case: a variance of (Δ₁/ε)² in place of 2(Δ₁/ε)².
        let published = with(honest, |parts| parts.epsilon = SQRT_2);
        let its_variance = published.noise_variance() / honest.l1_sensitivity().powi(2);
        assert!((its_variance - 1.0).abs() < 1e-6, "{name}: {its_variance} of (Δ₁/ε)²");
        assert!((honest.noise_variance() / published.noise_variance() - 2.0).abs() < 1e-6);
        let sentence = caught(honest, Fault::By(boxed(published)));
        assert!(sentence.contains("and such noise spends ε = 1."), "{name}: {sentence}");
    }
}

#[test]
fn latents_that_are_not_moved_into_the_set_are_caught() {
    for (name, honest) in latents() {
        let dim = honest.latent_dim();
        let wide = with(honest, |parts| {
            parts.latent = Domain::product(vec![Domain::interval(-1e3, 1e3).unwrap(); dim]).unwrap();
        });
        let fault = Fault::Unmoved(boxed(wide), boxed(honest.clone()));
        if *name == "bounded" {
            // Its latents lie within the set by construction, so the variant is honest.
            passes(&Faulty::new(&shared(honest), fault));
            continue;
        }
        let sentence = caught(honest, fault.clone());
        assert!(sentence.contains("encode leaves its declared range"), "{name}: {sentence}");
        let [finding] = &findings(Faulty::new(&shared(honest), fault))[..] else {
            panic!("a claim more or less")
        };
        let Coupled { declared, found, .. } = finding.coupled.unwrap();
        assert!(
            found > 1.5 * declared,
            "{name}: records beyond the volunteers lie {found} apart, of {declared}"
        );
    }
}

#[test]
fn the_noise_of_a_smaller_set_of_latents_is_caught() {
    for (name, honest) in latents() {
        let narrow = with(honest, |parts| parts.latent = half(&parts.latent));
        let share = narrow.l1_sensitivity() / honest.l1_sensitivity();
        assert!((share - 0.5).abs() < 1e-6, "{name}: {share}");
        caught(honest, Fault::Unmoved(boxed(honest.clone()), boxed(narrow)));
    }
}

#[test]
fn one_latent_bare_or_noise_shared_or_cut_off_is_caught() {
    for (_, honest) in latents() {
        caught(honest, Fault::Bare(honest.latent_dim() - 1));
        caught(honest, Fault::Shared);
        caught(honest, Fault::CutOff(2.0 * (honest.noise_variance() / 2.0).sqrt()));
    }
}

/// Designs of latents in an ℓ₂ ball, with the noise `kind`: by the closed form of `plugin`, by gradients and
/// by `vlm`. They have two latents at this budget.
fn latents_in_a_ball(plugin: &Plugin, kind: &str, budget: Budget) -> [(&'static str, LatentMechanism); 3] {
    let trained = serde_json::json!({
        "latent_dim": 2, "noise": kind, "training": {"epochs": 20, "steps": 5, "learning_rate": 0.01}
    });
    let learned = serde_json::json!({
        "latent_dim": 2, "noise": kind, "l2_bound": 0.3, "hidden": [16], "epochs": 200,
        "learning_rate": 0.01
    });
    let closed = serde_json::json!({"latent_dim": 2});
    // The budget of the closed form is large enough for two latents to pay off.
    let large = Budget::new(30.0, budget.delta()).unwrap();
    [
        ("closed form", latent_at(plugin, closed, large)),
        ("gradient", latent_at(&TASK_AWARE_GRADIENT, trained, budget)),
        ("vlm", latent_at(&VLM, learned, budget)),
    ]
    .map(|(name, design)| (name, with(&design, |parts| parts.epsilon = budget.epsilon())))
}

#[test]
fn variants_of_latents_by_a_random_direction_are_caught() {
    for (name, honest) in latents_in_a_ball(&TASK_AWARE_PRIV_UNIT, "priv-unit", Budget::pure(1.0).unwrap()) {
        assert_eq!(honest.latent_dim(), 2, "{name}");
        holds(honest.clone(), 0.85);
        caught(&honest, Fault::By(boxed(with(&honest, |parts| parts.epsilon = 1.2))));
        let wide = with(&honest, |parts| parts.latent = Domain::l2_ball(2, 1e3).unwrap());
        let sentence = caught(&honest, Fault::Unmoved(boxed(wide), boxed(honest.clone())));
        assert!(sentence.contains("encode leaves its declared range"), "{name}: {sentence}");
        // One latent beside its estimate, and the length of the latents beside their direction.
        caught(&honest, Fault::Bare(1));
        caught(&honest, Fault::Bare(2));
        caught(&honest, Fault::OneSeed);
    }
}

#[test]
fn variants_of_gaussian_latents_are_caught() {
    let budget = Budget::new(1.0, 0.02).unwrap();
    for (name, honest) in latents_in_a_ball(&TASK_AWARE_GAUSSIAN, "gaussian", budget) {
        assert_eq!(honest.latent_dim(), 2, "{name}");
        passes(&honest);
        let dp = honest.guarantee();
        let dp = dp.local_dp(Unit::Features).or(dp.local_dp(Unit::Record)).unwrap().clone();
        assert!((dp.epsilon, dp.delta) == (1.0, 0.02) && dp.profile.is_some(), "{name}: {dp:?}");
        // A standard deviation that is too small by a factor of √2, and of 1.2.
        for short in [SQRT_2, 1.2] {
            let sigma = honest.noise_variance().sqrt() / honest.parts().latent.l2_diameter() / short;
            let delta = scumble::accounting::gaussian::delta(1.0 / sigma, 1.0);
            caught(&honest, Fault::By(boxed(with(&honest, |parts| parts.delta = delta))));
        }
        // The noise of a ball of half the radius, and latents that are not moved into the ball.
        let resized = |factor: f64| {
            with(&honest, |parts| {
                let radius = factor * parts.latent.l2_diameter() / 2.0;
                parts.latent = Domain::l2_ball(2, radius).unwrap();
            })
        };
        caught(&honest, Fault::Unmoved(boxed(honest.clone()), boxed(resized(0.5))));
        let sentence = caught(&honest, Fault::Unmoved(boxed(resized(1e3)), boxed(honest.clone())));
        assert!(sentence.contains("encode leaves its declared range"), "{name}: {sentence}");
        caught(&honest, Fault::Bare(1));
        caught(&honest, Fault::Shared);
        caught(&honest, Fault::CutOff(2.0 * honest.noise_variance().sqrt()));
    }
}

/// Table of six people with three numbers and a label, and its domain.
fn few() -> (RecordDomain, Table) {
    let domain =
        records(Domain::unit_box(3), TargetDomain::Class { levels: vec!["no".into(), "yes".into()] });
    let records = ndarray::array![
        [0.1, 0.9, 0.4],
        [0.8, 0.2, 0.3],
        [0.5, 0.6, 0.9],
        [0.9, 0.1, 0.7],
        [0.2, 0.8, 0.1],
        [0.6, 0.4, 0.2],
    ];
    let table =
        Table::new(domain.columns().to_vec(), records, Target::Class(ndarray::array![0, 1, 0, 1, 1, 0]));
    (domain, table.unwrap())
}

/// Checks that a classifier trained on a release equals the classifier of the records. Otherwise, the error
/// states by how much a coefficient differs.
fn keeps_the_classifier(mechanism: &Designed, table: &Table) -> Result<(), String> {
    let released = mechanism.release(table, &mut Randomness::seeded(1)).unwrap().table;
    let (was, is) = (classifier(table).unwrap(), classifier(&released).unwrap());
    let weights = was.weights.iter().zip(&is.weights).map(|(x, y)| (x - y).abs());
    let moved = weights.fold((was.bias - is.bias).abs(), f64::max);
    if moved < 1e-5 {
        return Ok(());
    }
    Err(format!("utility: the classifier that is trained on a release is off by {moved:.3} in a coefficient"))
}

#[test]
fn variants_of_fisher_correlated_are_caught_by_what_they_hide_or_by_what_they_lose() {
    let (domain, table) = few();
    let honest = FisherCorrelated::new(domain, vec![KeptModel::MACHINE], 0.5).unwrap();
    let variant = |fault| CuratorVariant::new(honest.clone(), 1, fault);
    let attack = |mechanism: &Designed| {
        let [finding] = &audit("the mechanism", mechanism, Some(&table), effort()).unwrap()[..] else {
            panic!("a claim more or less")
        };
        finding.clone()
    };
    for mechanism in [&Designed::curator(honest.clone()), &Designed::curator(variant(CuratorFault::None))] {
        let finding = attack(mechanism);
        assert_eq!((finding.verdict, finding.measure), (Verdict::Holds, Measure::Precision), "{finding}");
        let (claimed, seen) = (finding.claimed.unwrap(), finding.lower_bound.unwrap());
        assert!(seen > 0.8 * claimed, "the audit only sees {seen} of {claimed}: {finding}");
        // The audit finds the disclosures, and the knowledge of an adversary who knows all other records.
        assert!(
            finding.because.contains("a combination of the columns of a record is released unchanged"),
            "{finding}"
        );
        assert!(
            finding.because.contains("about 0.0000 for an adversary that knows the other records"),
            "{finding}"
        );
        keeps_the_classifier(mechanism, &table).unwrap();
    }
    for fault in [CuratorFault::Variance(0.25), CuratorFault::ShareForgotten, CuratorFault::AllColumns] {
        let finding = attack(&Designed::curator(variant(fault.clone())));
        assert_eq!(finding.verdict, Verdict::Broken, "{fault:?}: {finding}");
        let sentence = finding.to_string();
        assert!(sentence.contains("claims squared error of at least"), "{sentence}");
        assert!(
            sentence.contains("the claim is broken: The mean squared error of an unbiased reconstruction"),
            "{sentence}"
        );
    }
    for fault in [CuratorFault::SumOpen, CuratorFault::ScoresOpen, CuratorFault::SignsForgotten] {
        let lost = keeps_the_classifier(&Designed::curator(variant(fault.clone())), &table).unwrap_err();
        assert!(lost.starts_with("utility: the classifier"), "{fault:?}: {lost}");
    }
    // Without records the audit cannot attack; the mechanism still makes a claim.
    let finding = &audit("the mechanism", &Designed::curator(honest.clone()), None, effort()).unwrap()[0];
    assert_eq!(finding.verdict, Verdict::NotAttacked, "{finding}");
}

/// Checks that a ridge regression of the signs, with λ = 1, learns from a release what it learns from the
/// records.
fn keeps_the_ridge_regression(mechanism: &Designed, table: &Table) -> Result<(), String> {
    let released = mechanism.release(table, &mut Randomness::seeded(1)).unwrap().table;
    let fitted = |table: &Table| {
        let Target::Class(classes) = table.target() else { panic!("the target is not a class") };
        let signs: Vec<f64> = classes.iter().map(|class| 2.0 * *class as f64 - 1.0).collect();
        let model = LinearModel::new(table.records().view(), Loss::Squared(&signs), 1.0).unwrap();
        model.solve(1e-9, 10).unwrap().weights.concat()
    };
    let moved = fitted(table).iter().zip(fitted(&released)).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    match moved < 1e-8 {
        true => Ok(()),
        false => Err(format!("utility: the ridge regression of a release is off by {moved:.3}")),
    }
}

#[test]
fn variants_that_count_or_keep_one_of_two_models_are_caught() {
    let (domain, table) = few();
    let keeps = vec![KeptModel::MACHINE, KeptModel::Ridge { l2_penalty: 1.0 }];
    let honest = FisherCorrelated::new(domain, keeps, 0.5).unwrap();
    let variant = |fault| Designed::curator(CuratorVariant::new(honest.clone(), 2, fault));
    let verdict = |mechanism: &Designed| {
        audit("the mechanism", mechanism, Some(&table), effort()).unwrap().remove(0).verdict
    };
    for mechanism in [Designed::curator(honest.clone()), variant(CuratorFault::None)] {
        assert_eq!(verdict(&mechanism), Verdict::Holds);
        keeps_the_classifier(&mechanism, &table).unwrap();
        keeps_the_ridge_regression(&mechanism, &table).unwrap();
    }
    for fault in [CuratorFault::ShareForgotten, CuratorFault::AllColumns] {
        assert_eq!(verdict(&variant(fault.clone())), Verdict::Broken, "{fault:?}");
    }
    let one = variant(CuratorFault::OneModel);
    keeps_the_classifier(&one, &table).unwrap();
    let lost = keeps_the_ridge_regression(&one, &table).unwrap_err();
    assert!(lost.starts_with("utility: the ridge"), "{lost}");
}

/// Minimum number of records that the theorem assumes in these tests.
const AT_LEAST: u64 = 200;

fn multiplicative(budget: Budget, dim: usize) -> MultiplicativeDp {
    MultiplicativeDp::new(numbers(2), budget, AT_LEAST, dim).unwrap()
}

/// Table of records near one corner of their domain.
fn near_a_corner() -> Table {
    let at = |row: usize, slope: f64| 0.05 + 0.1 * (slope * row as f64).fract();
    let records = ndarray::Array2::from_shape_fn((AT_LEAST as usize, 2), |(row, column)| {
        at(row, [0.754_877_67, 0.569_840_29][column])
    });
    Table::new(numbers(2).columns().to_vec(), records, Target::None).unwrap()
}

#[test]
fn variants_of_multiplicative_privacy_are_caught() {
    let budget = Budget::new(1.0, 0.01).unwrap();
    let honest = multiplicative(budget, 1);
    let attack = |fault| {
        let variant = TransformedVariant::new(&honest, fault);
        audit("the mechanism", &Designed::curator(variant.clone()), Some(&near_a_corner()), effort())
            .unwrap()
            .remove(0)
    };
    let held = attack(TransformedFault::None);
    assert_ne!(held.verdict, Verdict::Broken, "{held}");
    let bare = multiplicative(Budget::new(f64::INFINITY, 0.01).unwrap(), 1);
    for (what, fault) in [
        ("no v", TransformedFault::By(Designed::curator(bare))),
        ("v from the sample's own diameter", TransformedFault::SampleDiameter),
        ("one seed", TransformedFault::OneSeed),
    ] {
        let finding = attack(fault);
        assert_eq!(finding.verdict, Verdict::Broken, "{what} passed: {finding}");
        let sentence = finding.to_string();
        assert!(sentence.contains("central differential privacy"), "{sentence}");
        assert!(sentence.contains("at one end of the domain"), "{sentence}");
    }
}

/// Metric privacy compares only records at a distance, so noise for a smaller distance must be caught.
#[test]
fn noise_for_nearer_records_than_claimed_is_caught() {
    let at = |within| multiplicative(Budget::new(1.0, 0.01).unwrap(), 1).within(within).unwrap();
    let honest = at(0.2);
    let attack = |fault| {
        let variant = Designed::curator(TransformedVariant::new(&honest, fault));
        audit("the mechanism", &variant, Some(&near_a_corner()), effort()).unwrap().remove(0)
    };
    let held = attack(TransformedFault::None);
    assert_ne!(held.verdict, Verdict::Broken, "{held}");
    let finding = attack(TransformedFault::By(Designed::curator(at(2e-6))));
    assert_eq!(finding.verdict, Verdict::Broken, "{finding}");
    assert!(finding.to_string().contains("metric privacy"), "{finding}");
}

/// Checks the noise against the distribution that Theorem 5 requires: zero records are released as vW₂.
///
/// The theorem is far from tight: an attack on ε does not detect noise that is too small by a factor of √2.
#[test]
fn noise_that_is_not_what_the_theorem_asks_for_is_caught() {
    let budget = Budget::new(1.0, 0.01).unwrap();
    let honest = multiplicative(budget, 2);
    let rows = effort().samples;
    let nothing =
        Table::new(numbers(2).columns().to_vec(), ndarray::Array2::zeros((rows, 2)), Target::None).unwrap();
    let claimed = honest.v();
    // On the lattice of the release.
    let step = 2f64.powi(claimed.log2().floor() as i32 - 40);
    let distribution =
        DiscreteGaussian::new(Rational::new((claimed / step).ceil() as u64, 1).unwrap()).unwrap();
    let held_against = |mechanism: &Designed| {
        let released = mechanism.release(&nothing, &mut Randomness::seeded(3)).unwrap().table;
        let mut rows = released.records().outer_iter();
        let draw = |side: usize, stream: &mut scumble::core::Stream| -> Output {
            if side == 0 {
                return rows.next().map(|row| row.to_vec());
            }
            let mut number = || distribution.sample(stream) as f64 * step;
            Some(vec![number(), number()])
        };
        same_distribution("multiplicative-dp", "noise of the v that Theorem 5 asks for its ε", draw, effort())
    };
    let held = held_against(&Designed::curator(honest.clone()));
    assert_eq!(held.verdict, Verdict::Holds, "{held}");
    let at = |records, epsilon| {
        MultiplicativeDp::new(numbers(2), Budget::new(epsilon, 0.01).unwrap(), records, 2).unwrap()
    };
    // The ε at which v is too small by a factor of √2; then the noise for 20,000 records, which are not
    // present.
    let short = scumble::accounting::multiplicative::Release::new(SQRT_2, AT_LEAST, 2).unwrap();
    let short = at(AT_LEAST, short.gaussian(claimed / SQRT_2, 0.01).unwrap().epsilon);
    assert!((claimed / short.v() / SQRT_2 - 1.0).abs() < 1e-3, "{} for {claimed}", short.v());
    for variant in [short, at(20_000, 1.0)] {
        let broken = held_against(&Designed::curator(TransformedVariant::new(
            &honest,
            TransformedFault::By(Designed::curator(variant)),
        )));
        assert_eq!(broken.verdict, Verdict::Broken, "{broken}");
        assert!(
            broken.to_string().contains("claims noise of the v that Theorem 5 asks for its ε"),
            "{broken}"
        );
    }
}

/// Tests whether two tables of two numbers are released with the same distribution.
fn distinguishability(mechanism: &Designed, tables: &[ndarray::Array2<f64>; 2]) -> Finding {
    let columns = mechanism.domain().columns().to_vec();
    let tables =
        tables.each_ref().map(|records| Table::new(columns.clone(), records.clone(), Target::None).unwrap());
    let draw = |side: usize, stream: &mut scumble::core::Stream| -> Output {
        let released =
            mechanism.release(&tables[side], &mut Randomness::seeded(stream.next_u64())).ok()?.table;
        Some(released.records().iter().copied().collect())
    };
    let claim = "the same output distribution for features that span the same column space";
    same_distribution("column-space", claim, draw, Effort { samples: 20_000, ..effort() })
}

#[test]
fn members_of_an_ambiguity_set_are_released_alike_and_variants_that_tell_them_apart_are_caught() {
    let honest = ColumnSpace::new(numbers(2)).unwrap();
    let records = ndarray::array![[0.9, 0.1], [0.2, 0.4], [0.5, 0.5]];
    // Another basis of the same space, within the domain.
    let member = records.dot(&ndarray::array![[0.3, 0.6], [0.7, -0.05]]);
    assert!(member.iter().all(|x| (0.0..=1.0).contains(x)), "{member}");
    let outsider = ndarray::array![[0.9, 0.1], [0.2, 0.4], [0.5, 0.9]];
    let members = [records.clone(), member];
    let held = distinguishability(&Designed::curator(honest.clone()), &members);
    assert_eq!(held.verdict, Verdict::Holds, "{held}");
    let outsiders = distinguishability(&Designed::curator(honest.clone()), &[records, outsider]);
    assert_eq!(outsiders.verdict, Verdict::Broken, "it is no member, and was not told apart: {outsiders}");
    for fault in [
        TransformedFault::NotTurned,
        TransformedFault::OnlySigns,
        TransformedFault::NotOrthonormal,
        TransformedFault::By(scumble::classic::Identity::new(numbers(2)).into()),
    ] {
        let what = format!("{fault:?}");
        let finding =
            distinguishability(&Designed::curator(TransformedVariant::new(&honest, fault)), &members);
        assert_eq!(finding.verdict, Verdict::Broken, "{what} passed: {finding}");
        let sentence = finding.to_string();
        assert!(
            sentence.contains("claims the same output distribution")
                && sentence.contains("the claim is broken"),
            "{sentence}"
        );
    }
}

/// Audits Lemma 6 as printed for heavy-tailed factors, which is not differential privacy, and the correct δ
/// (errata D13). The audited lower bound exceeds 0.8 of the correct δ.
#[test]
fn the_printed_claim_of_singular_value_obfuscation_is_caught() {
    let tau = 0.1;
    let epsilon = tau * 10f64.ln();
    let number = Table::new(vec!["x".into()], ndarray::array![[1.0]], Target::None).unwrap();
    let attack = |delta: f64| {
        let claims = ObfuscatedNumber::claiming(tau, epsilon, delta).unwrap();
        let effort = Effort { samples: 300_000, ..effort() };
        audit("the mechanism", &Designed::curator(claims.clone()), Some(&number), effort).unwrap().remove(0)
    };
    let printed = attack(tau / (1.0 + tau));
    assert_eq!(printed.verdict, Verdict::Broken, "{printed}");
    let honest = obfuscation_delta(tau, 10.0, epsilon).unwrap();
    let held = attack(honest);
    assert_eq!(held.verdict, Verdict::Holds, "{held}");
    assert!(held.profile[0].lower_bound > 0.8 * honest, "{held}");
}

#[test]
fn a_broken_mechanism_is_reported_and_fails_the_command() {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_with-broken"));
    let output = command.args(["audit", "broken", "--quick"]).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stdout.contains("BROKEN"), "{stdout}");
    assert!(
        stderr.starts_with("error: broken claims ε = 1 local differential privacy for the features"),
        "{stderr}"
    );
    assert!(
        stderr.contains("and the claim is broken: the noise is too small") && stderr.lines().count() == 1,
        "{stderr}"
    );
}
