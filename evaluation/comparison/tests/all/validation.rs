//! Tests of private validation: its guarantee, its estimates, and the cost of a search.

use scumble_accounting::binomial::{at_least, at_most};
use scumble_comparison::validation::{Asking, Candidate, GridSearch};
use scumble_core::{Budget, Error, Randomness, Unit};
use scumble_custody::{Ledger, PrivateAnswer, private_accuracy};
use std::cell::Cell;
use tempfile::TempDir;

/// Numbers of yes answers of `flip` in `draws` draws where the truth is yes, and where it is no.
fn counts(answer: PrivateAnswer, draws: usize, seed: u64) -> [usize; 2] {
    let mut stream = Randomness::seeded(seed).streams().stream(0);
    [true, false].map(|truth| (0..draws).filter(|_| answer.flip(truth, &mut stream)).count())
}

/// Lower bound on the ε of answers with these counts, wrong in one of a million runs.
fn lower_bound([yes_of_yes, yes_of_no]: [usize; 2], draws: usize) -> f64 {
    (at_least(yes_of_yes, draws, 5e-7) / at_most(yes_of_no, draws, 5e-7)).ln()
}

/// 400,000 draws give a lower bound within a hundredth of ε or so. The faulty variant flips as for √2·ε: its
/// p is too small.
#[test]
fn answers_keep_to_epsilon_and_a_faulty_variant_that_flips_too_seldom_does_not() {
    const DRAWS: usize = 400_000;
    for (seed, epsilon) in [(1, 0.5), (2, 1.0), (3, 2.0)] {
        let honest = lower_bound(counts(PrivateAnswer::new(epsilon).unwrap(), DRAWS, seed), DRAWS);
        assert!(
            (epsilon - 0.08..=epsilon).contains(&honest),
            "seed {seed}: ε = {epsilon} has the lower bound {honest}"
        );
        let variant = PrivateAnswer::new(epsilon * 2f64.sqrt()).unwrap();
        let faulty = lower_bound(counts(variant, DRAWS, seed), DRAWS);
        assert!(
            faulty > epsilon,
            "seed {seed}: a faulty variant at ε = {epsilon} has the lower bound {faulty}"
        );
    }
}

#[test]
fn the_flip_probability_is_that_of_the_paper_and_no_less() {
    // 1/(e + 1), and ln 3 flips one in four.
    assert!((PrivateAnswer::new(1.0).unwrap().flip_probability() - 0.2689414213699951).abs() < 1e-15);
    assert!((PrivateAnswer::new(3f64.ln()).unwrap().flip_probability() - 0.25).abs() < 1e-15);
    assert_eq!(PrivateAnswer::new(f64::INFINITY).unwrap().flip_probability(), 0.0);
    // The drawn probability is a fraction of 62 bits, rounded down.
    for epsilon in [1e-3, 0.1, 1.0 / 3.0, 7.7] {
        let p = PrivateAnswer::new(epsilon).unwrap().flip_probability();
        assert!(p >= 1.0 / (epsilon.exp() + 1.0) * (1.0 - 1e-15), "{epsilon}");
    }
}

/// 4,000 estimates: their mean is within five standard errors of the truth. A standard error is at most
/// 0.004.
#[test]
fn the_estimate_is_unbiased() {
    for (seed, epsilon, right) in [(10, 0.5, 60), (11, 1.0, 95), (12, 3.0, 20)] {
        let answers: Vec<bool> = (0..100).map(|person| person < right).collect();
        let mut randomness = Randomness::seeded(seed);
        let mut estimates = vec![];
        for _ in 0..4_000 {
            estimates.push(private_accuracy(&answers, epsilon, 0.95, &mut randomness).unwrap().accuracy);
        }
        let mean = estimates.iter().sum::<f64>() / 4_000.0;
        let square = estimates.iter().map(|estimate| (estimate - mean).powi(2)).sum::<f64>() / 4_000.0;
        let error = (square / 4_000.0).sqrt();
        let truth = right as f64 / 100.0;
        assert!((mean - truth).abs() < 5.0 * error, "seed {seed}: {mean} ± {error} is not {truth}");
    }
}

/// 2,000 intervals at 90 %: a coverage below the tested bound has a probability of 10⁻⁶. No interval is so
/// wide that all cover the truth; the test would then detect nothing.
#[test]
fn intervals_cover_the_accuracy_among_these_people_and_among_all() {
    for (seed, epsilon, accuracy) in [(20, 0.5, 0.7), (21, 1.0, 0.5), (22, 1.0, 0.98), (23, 4.0, 0.8)] {
        let mut randomness = Randomness::seeded(seed);
        let streams = Randomness::seeded(1_000 + seed).streams();
        let covered = |drawn: bool, randomness: &mut Randomness| {
            let covers = |trial: &u64| {
                let mut stream = streams.stream(*trial);
                let answers: Vec<bool> = (0..200)
                    .map(|person| {
                        let at = if drawn { uniform(&mut stream) } else { (f64::from(person) + 0.5) / 200.0 };
                        at < accuracy
                    })
                    .collect();
                let found = private_accuracy(&answers, epsilon, 0.9, randomness).unwrap();
                (found.lower..=found.upper).contains(&accuracy)
            };
            (0..2_000).filter(covers).count()
        };
        for drawn in [false, true] {
            let covered = covered(drawn, &mut randomness);
            let least = at_most(covered, 2_000, 1e-6);
            assert!(
                least >= 0.9,
                "seed {seed}: {covered} of 2000 intervals cover {accuracy} at ε = {epsilon}"
            );
        }
    }
}

fn uniform(stream: &mut scumble_core::Stream) -> f64 {
    let draws = std::num::NonZeroU64::new(1 << 53).unwrap();
    scumble_sampling::uniform_below(stream, draws) as f64 / draws.get() as f64
}

#[test]
fn without_noise_the_answers_are_the_answers() {
    let found =
        private_accuracy(&[true, false, true, true], f64::INFINITY, 0.9, &mut Randomness::seeded(1)).unwrap();
    assert_eq!((found.accuracy, found.flip_probability, found.answers), (0.75, 0.0, 4));
    let guarantee = PrivateAnswer::new(f64::INFINITY).unwrap().guarantee();
    assert!(guarantee.claims.is_empty() && guarantee.discloses.len() == 1);
}

#[test]
fn what_is_protected_is_the_whole_validation_record() {
    let guarantee = PrivateAnswer::new(0.7).unwrap().guarantee();
    for unit in [Unit::Record, Unit::Features, Unit::Label] {
        assert_eq!(guarantee.cost(unit), (0.7, 0.0));
    }
    assert!(guarantee.discloses.is_empty());
}

#[test]
fn what_is_no_question_is_refused() {
    let mut randomness = Randomness::seeded(1);
    for epsilon in [0.0, -1.0, f64::NAN, 1e-300] {
        let refused = private_accuracy(&[true], epsilon, 0.9, &mut randomness);
        assert!(matches!(refused, Err(Error::Budget { name: "epsilon", .. })), "{epsilon}: {refused:?}");
    }
    for level in [0.5, 1.0, f64::NAN] {
        assert!(private_accuracy(&[true], 1.0, level, &mut randomness).is_err(), "{level}");
    }
    assert!(private_accuracy(&[], 1.0, 0.9, &mut randomness).is_err());
}

fn ledger(total: f64) -> (TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::at(&folder.path().join("ledger.json"));
    ledger.init("people", Unit::Record, None, Budget::pure(total).unwrap()).unwrap();
    (folder, ledger)
}

/// Candidate that is right about `right` of ten people.
fn candidate(name: &str, right: usize) -> Candidate<'static> {
    Candidate::new(name, move |people| Ok(people.iter().map(|person| person / 7 % 10 < right).collect()))
}

fn search(asking: Asking) -> GridSearch {
    GridSearch { people: 6_000, asking, epsilon: 1.0, level: 0.99 }
}

#[test]
fn a_search_finds_the_best_candidate_and_spends_what_its_way_of_asking_costs() {
    for (asking, cost, asked) in [(Asking::EverybodyAboutAll, 3.0, 6_000), (Asking::EachAboutOne, 1.0, 2_000)]
    {
        let (_folder, ledger) = ledger(5.0);
        let candidates = vec![candidate("low", 3), candidate("high", 9), candidate("middle", 6)];
        let mut randomness = Randomness::from_os().unwrap();
        let found = search(asking).run(candidates, &ledger, "people", &mut randomness).unwrap();
        assert_eq!((found.best().name.as_str(), found.chosen, found.epsilon), ("high", 1, cost));
        assert_eq!(found.guarantee.cost(Unit::Record), (cost, 0.0));
        assert_eq!(ledger.accounts().unwrap()[0].spent().0, cost);
        for (judged, truth) in found.candidates.iter().zip([0.3, 0.9, 0.6]) {
            let estimate = judged.accuracy;
            assert_eq!(estimate.answers, asked);
            // All together wrong in one of a hundred runs, and ± 0.15 at the widest. Two candidates differ by
            // twice this.
            assert!((estimate.accuracy - truth).abs() < 0.15, "{judged:?}");
            assert!(
                (estimate.level - (1.0 - 0.01 / 3.0)).abs() < 1e-12
                    && estimate.lower < estimate.accuracy
                    && estimate.accuracy < estimate.upper
            );
        }
    }
}

/// Three candidates that record whether one of them was trained.
fn that_remember(trained: &Cell<bool>) -> Vec<Candidate<'_>> {
    let train = |people: &[usize]| {
        trained.set(true);
        Ok(vec![true; people.len()])
    };
    (0..3).map(|at| Candidate::new(&at.to_string(), train)).collect()
}

#[test]
fn a_search_that_an_account_cannot_bear_is_refused_before_anything_is_trained() {
    let (_folder, ledger) = ledger(2.0);
    let trained = Cell::new(false);
    let mut from_os = Randomness::from_os().unwrap();
    let refused =
        search(Asking::EverybodyAboutAll).run(that_remember(&trained), &ledger, "people", &mut from_os);
    assert!(
        matches!(&refused, Err(scumble_custody::Error::Overdrawn { asked, .. }) if asked.0 == 3.0),
        "{refused:?}"
    );
    let seeded = search(Asking::EachAboutOne).run(
        that_remember(&trained),
        &ledger,
        "people",
        &mut Randomness::seeded(1),
    );
    assert!(
        matches!(seeded, Err(scumble_custody::Error::Overdrawn { .. })),
        "a known seed has no guarantee: {seeded:?}"
    );
    let unknown = search(Asking::EachAboutOne).run(that_remember(&trained), &ledger, "others", &mut from_os);
    assert!(unknown.unwrap_err().to_string().contains("there is no account for \"others\""));
    assert!(!trained.get());
    assert_eq!(ledger.accounts().unwrap()[0].spent().0, 0.0);
}

#[test]
fn a_training_that_fails_costs_nothing() {
    #[derive(Debug)]
    enum Mine {
        Registry(Error),
        Training,
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Self {
            Self::Registry(error)
        }
    }
    impl From<scumble_custody::Error> for Mine {
        fn from(error: scumble_custody::Error) -> Self {
            unreachable!("an account was checked before all candidates were trained: {error}")
        }
    }
    let (_folder, ledger) = ledger(5.0);
    let mut from_os = Randomness::from_os().unwrap();
    let fails: Vec<Candidate<Mine>> = vec![
        Candidate::new("fine", |people: &[usize]| Ok(vec![true; people.len()])),
        Candidate::new("fails", |_: &[usize]| Err(Mine::Training)),
    ];
    let failed = search(Asking::EverybodyAboutAll).run(fails, &ledger, "people", &mut from_os);
    assert!(matches!(failed, Err(Mine::Training)));
    let short: Vec<Candidate<Mine>> = vec![Candidate::new("short", |_: &[usize]| Ok(vec![true]))];
    let failed = search(Asking::EverybodyAboutAll).run(short, &ledger, "people", &mut from_os);
    let Err(Mine::Registry(error)) = failed else { panic!("too few answers were accepted") };
    assert_eq!(error.to_string(), "\"short\" was asked about 6000 people, and gave 1 answers");
    assert_eq!(ledger.accounts().unwrap()[0].spent().0, 0.0);
}

#[test]
fn each_person_is_asked_about_one_candidate_whoever_they_are() {
    let (_folder, ledger) = ledger(5.0);
    let asked = Cell::new(vec![]);
    let remember = |people: &[usize]| {
        let mut all = asked.take();
        all.extend_from_slice(people);
        asked.set(all);
        Ok(vec![true; people.len()])
    };
    let candidates: Vec<Candidate> = (0..4).map(|at| Candidate::new(&at.to_string(), remember)).collect();
    let search = GridSearch { people: 10, ..search(Asking::EachAboutOne) };
    search.run(candidates, &ledger, "people", &mut Randomness::from_os().unwrap()).unwrap();
    let mut asked = asked.take();
    assert_eq!(asked, [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]);
    asked.sort_unstable();
    assert!(asked.into_iter().eq(0..10));
}

#[test]
fn a_search_without_candidates_or_people_is_refused() {
    let (_folder, ledger) = ledger(5.0);
    let run = |search: GridSearch, candidates: Vec<Candidate>| {
        search
            .run(candidates, &ledger, "people", &mut Randomness::from_os().unwrap())
            .unwrap_err()
            .to_string()
    };
    let all = search(Asking::EverybodyAboutAll);
    assert_eq!(run(all, vec![]), "a search needs a candidate, and there is none");
    let two = || vec![candidate("one", 1), candidate("two", 2)];
    assert!(run(GridSearch { people: 0, ..all }, two()).contains("need 1 validation people or more"));
    let parted = GridSearch { people: 1, ..search(Asking::EachAboutOne) };
    assert!(run(parted, two()).contains("2 candidates need 2 validation people or more, and there are 1"));
    assert!(run(GridSearch { epsilon: -1.0, ..all }, two()).contains("epsilon must be"));
    assert!(run(GridSearch { level: 2.0, ..all }, two()).contains("the level of an interval"));
    assert_eq!(ledger.accounts().unwrap()[0].charges.len(), 0);
}
