//! Choosing among models by private validation: people say, by randomised response, whether a model is right about them.

use scumble_core::compose::{Partition, in_parallel, in_sequence};
use scumble_core::{Error, Guarantee, Randomness, Unit};
use scumble_custody::{Accuracy, Ledger, PrivateAnswer};

/// One of the models to choose from.
pub struct Candidate<'a, E = scumble_custody::Error> {
    name: String,
    judge: Box<Judge<'a, E>>,
}

/// Trains the candidate, and says of each of these validation people, by their places, whether it is right.
type Judge<'a, E> = dyn FnOnce(&[usize]) -> Result<Vec<bool>, E> + 'a;

impl<'a, E> Candidate<'a, E> {
    /// A candidate of this name. `judge` trains it, and says of each of these validation people, by their places counted from 0, whether it
    /// is right: that is computed where they are, and leaves them flipped alone.
    pub fn new(name: &str, judge: impl FnOnce(&[usize]) -> Result<Vec<bool>, E> + 'a) -> Self {
        Self { name: name.into(), judge: Box::new(judge) }
    }
}

/// Which people are asked about which of m candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Each about all: m answers, and m·ε, of every one of them.
    EverybodyAboutAll,
    /// Each about one, by their places alone, which is fixed before anybody sees a record: one answer, and ε, but fewer answers a candidate.
    EachAboutOne,
}

impl Asking {
    /// The places of those who are asked about candidate `at` of `candidates`.
    fn people(self, count: usize, at: usize, candidates: usize) -> Vec<usize> {
        match self {
            Self::EverybodyAboutAll => (0..count).collect(),
            // By turns, so that no part is a stretch of the file.
            Self::EachAboutOne => (at..count).step_by(candidates).collect(),
        }
    }

    /// The guarantee of all answers together.
    fn guarantee(self, answer: PrivateAnswer, candidates: usize) -> Guarantee {
        let parts = vec![answer.guarantee(); candidates];
        match self {
            Self::EverybodyAboutAll => in_sequence(&parts),
            Self::EachAboutOne => in_parallel(&parts, Partition::FixedInAdvance),
        }
    }
}

/// A search over candidates by private validation (Section 3.3 of *Learning to noise*).
///
/// ```
/// use scumble_comparison::validation::{Asking, Candidate, GridSearch};
/// use scumble_core::{Budget, Randomness, Unit};
/// use scumble_custody::Ledger;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let ledger = Ledger::at(&folder.path().join("ledger.json"));
/// ledger.init("validation people", Unit::Record, None, Budget::pure(3.0)?)?;
///
/// let right = |share: usize| move |people: &[usize]| Ok(people.iter().map(|person| person % 10 < share).collect());
/// let candidates: Vec<Candidate> = vec![Candidate::new("narrow", right(6)), Candidate::new("wide", right(9))];
/// let search = GridSearch { people: 4000, asking: Asking::EverybodyAboutAll, epsilon: 1.0, level: 0.95 };
/// let found = search.run(candidates, &ledger, "validation people", &mut Randomness::from_os()?)?;
/// assert_eq!(found.best().name, "wide");
/// assert_eq!((found.epsilon, ledger.accounts()?[0].left().0.to_f64_down()), (2.0, 1.0));
/// # Ok::<(), scumble_custody::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridSearch {
    /// How many validation people there are.
    pub people: usize,
    /// Which of them are asked about which candidate.
    pub asking: Asking,
    /// ε, in nats, of one answer.
    pub epsilon: f64,
    /// With what probability all intervals together cover the truth, at least (Bonferroni): so that of the chosen one does, too.
    pub level: f64,
}

/// A candidate and what was found of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The candidate's name.
    pub name: String,
    /// How often it is right.
    pub accuracy: Accuracy,
}

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The candidates, in their order.
    pub candidates: Vec<Judged>,
    /// The place of the one with the largest estimate, the first of those that have it.
    pub chosen: usize,
    /// What was spent of every validation record: ε, in nats.
    pub epsilon: f64,
    /// What is guaranteed to every validation record; nothing where the randomness has a seed.
    pub guarantee: Guarantee,
}

impl Selection {
    /// The chosen candidate.
    pub fn best(&self) -> &Judged {
        &self.candidates[self.chosen]
    }
}

impl GridSearch {
    /// Trains the candidates, one after the other, and asks about each of them.
    ///
    /// What it costs is charged to the accounts of `dataset`, the validation people's, when all candidates are trained and before the first
    /// answer is flipped: one whose training fails costs nothing. Where too little is left nothing is trained either. A search by
    /// randomness from a known seed has no guarantee, and so costs more than any account bears but an unlimited one.
    ///
    /// # Errors
    /// [`Error::Shape`] where there is no candidate, one without anybody to be asked about, or one that says more or less than was asked;
    /// [`Error::Budget`] for an ε or a level that is none; what stops a training; [`Overdrawn`](scumble_custody::Error::Overdrawn), and else as
    /// [`Ledger::charge_release`].
    pub fn run<E: From<Error> + From<scumble_custody::Error>>(
        &self,
        candidates: Vec<Candidate<'_, E>>,
        ledger: &Ledger,
        dataset: &str,
        randomness: &mut Randomness,
    ) -> Result<Selection, E> {
        let count = candidates.len();
        let guaranteed = self.asking.guarantee(self.check(count)?, count);
        let guarantee = guaranteed.under(randomness.provenance());
        ledger.check_release(dataset, &guarantee, None)?;
        let truths = self.truths(candidates)?;
        let what = format!("private validation of {count} candidates");
        ledger.charge_release(dataset, &guarantee, None, &what)?;
        Ok(self.found(truths, randomness)?)
    }

    /// The same on records of one's own, to see what would be found: no account is charged, and nothing of it may leave.
    ///
    /// # Errors
    /// As [`run`](Self::run), but for those of a ledger.
    pub fn rehearse<E: From<Error>>(
        &self,
        candidates: Vec<Candidate<'_, E>>,
        randomness: &mut Randomness,
    ) -> Result<Selection, E> {
        self.check(candidates.len())?;
        Ok(self.found(self.truths(candidates)?, randomness)?)
    }

    /// Each candidate's name, and whether it is right about each of those who are asked about it.
    fn truths<E: From<Error>>(
        &self,
        candidates: Vec<Candidate<'_, E>>,
    ) -> Result<Vec<(String, Vec<bool>)>, E> {
        let count = candidates.len();
        let mut truths = vec![];
        for (at, Candidate { name, judge }) in candidates.into_iter().enumerate() {
            let asked = self.asking.people(self.people, at, count);
            let truth = judge(&asked)?;
            if truth.len() != asked.len() {
                let (said, asked) = (truth.len(), asked.len());
                return Err(Error::shape(format!(
                    "{name:?} was asked about {asked} people, and said {said} answers"
                ))
                .into());
            }
            truths.push((name, truth));
        }
        Ok(truths)
    }

    /// What the flipped answers say.
    fn found(
        &self,
        truths: Vec<(String, Vec<bool>)>,
        randomness: &mut Randomness,
    ) -> Result<Selection, Error> {
        let count = truths.len();
        let answer = self.check(count)?;
        let guaranteed = self.asking.guarantee(answer, count);
        let (epsilon, _) = guaranteed.cost(Unit::Record);
        let guarantee = guaranteed.under(randomness.provenance());
        let streams = randomness.streams();
        let level = 1.0 - (1.0 - self.level) / count as f64;
        let judged = (0..).zip(truths).map(|(block, (name, truth))| {
            let mut stream = streams.stream(block);
            let flipped: Vec<bool> =
                truth.into_iter().map(|correct| answer.flip(correct, &mut stream)).collect();
            Ok(Judged { name, accuracy: answer.estimate(&flipped, level)? })
        });
        let candidates: Vec<Judged> = judged.collect::<Result<_, Error>>()?;
        let better = |best: usize, at: usize| {
            let is_better = candidates[at].accuracy.accuracy > candidates[best].accuracy.accuracy;
            if is_better { at } else { best }
        };
        let chosen = (1..count).fold(0, better);
        Ok(Selection { candidates, chosen, epsilon, guarantee })
    }

    /// The answer by which people are asked about so many candidates.
    fn check(&self, candidates: usize) -> Result<PrivateAnswer, Error> {
        if candidates == 0 {
            return Err(Error::shape("a search needs a candidate, and there is none"));
        }
        let needed = if self.asking == Asking::EachAboutOne { candidates } else { 1 };
        if self.people < needed {
            let people = self.people;
            return Err(Error::shape(format!(
                "{candidates} candidates need {needed} validation people or more, and there are {people}"
            )));
        }
        let answer = PrivateAnswer::new(self.epsilon)?;
        answer.estimate(&[true], self.level)?;
        Ok(answer)
    }
}
