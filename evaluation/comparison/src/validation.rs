//! Choice among models by private validation: people say by randomised response whether a model is right
//! about them.

use scumble_core::compose::{Partition, in_parallel, in_sequence};
use scumble_core::{Error, Guarantee, Randomness, Unit};
use scumble_custody::{Accuracy, Ledger, PrivateAnswer};

/// Model to choose from.
pub struct Candidate<'a, E = scumble_custody::Error> {
    name: String,
    judge: Box<Judge<'a, E>>,
}

/// Function that trains the candidate. For each validation person whose index is given, it returns whether
/// the candidate is right about the person.
type Judge<'a, E> = dyn FnOnce(&[usize]) -> Result<Vec<bool>, E> + 'a;

impl<'a, E> Candidate<'a, E> {
    /// Creates a candidate.
    ///
    /// `judge` trains it. It then returns for each of the given validation people, by their indices counted
    /// from 0, whether the candidate is right. Each value is computed on the person's device, and leaves the
    /// device only after randomised response.
    pub fn new(name: &str, judge: impl FnOnce(&[usize]) -> Result<Vec<bool>, E> + 'a) -> Self {
        Self { name: name.into(), judge: Box::new(judge) }
    }
}

/// Assignment of people to m candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// Everybody answers about all m candidates, and spends m·ε.
    EverybodyAboutAll,
    /// Each person answers about one candidate, and spends ε. Each candidate then gets fewer answers. The
    /// assignment depends only on the person's index, and is fixed before any record is seen.
    EachAboutOne,
}

impl Asking {
    /// Indices of those of the `count` people who answer about the candidate with index `at`. The number of
    /// candidates is `candidates`.
    fn people(self, count: usize, at: usize, candidates: usize) -> Vec<usize> {
        match self {
            Self::EverybodyAboutAll => (0..count).collect(),
            // People are assigned in turn, so that the people of a candidate are not contiguous in the file.
            Self::EachAboutOne => (at..count).step_by(candidates).collect(),
        }
    }

    /// Guarantee of all answers together.
    fn guarantee(self, answer: PrivateAnswer, candidates: usize) -> Guarantee {
        let parts = vec![answer.guarantee(); candidates];
        match self {
            Self::EverybodyAboutAll => in_sequence(&parts),
            Self::EachAboutOne => in_parallel(&parts, Partition::FixedInAdvance),
        }
    }
}

/// Search over candidates by private validation (Section 3.3 of *Learning to noise*).
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
/// let right =
///     |share: usize| move |people: &[usize]| Ok(people.iter().map(|person| person % 10 < share).collect());
/// let candidates: Vec<Candidate> =
///     vec![Candidate::new("narrow", right(6)), Candidate::new("wide", right(9))];
/// let search = GridSearch { people: 4000, asking: Asking::EverybodyAboutAll, epsilon: 1.0, level: 0.95 };
/// let found = search.run(candidates, &ledger, "validation people", &mut Randomness::from_os()?)?;
/// assert_eq!(found.best().name, "wide");
/// assert_eq!((found.epsilon, ledger.accounts()?[0].left().0.to_f64_down()), (2.0, 1.0));
/// # Ok::<(), scumble_custody::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridSearch {
    /// Number of validation people.
    pub people: usize,
    /// Assignment of people to candidates.
    pub asking: Asking,
    /// ε of one answer, in nats.
    pub epsilon: f64,
    /// Lower bound on the probability that the intervals of all candidates cover their true accuracies
    /// (Bonferroni). It therefore also applies to the interval of the chosen candidate.
    pub level: f64,
}

/// Candidate, and its estimated accuracy.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// Name of the candidate.
    pub name: String,
    /// Estimated accuracy.
    pub accuracy: Accuracy,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// Candidates in the given order.
    pub candidates: Vec<Judged>,
    /// Index of the candidate with the largest estimate; the first one among equals.
    pub chosen: usize,
    /// ε that was spent for each validation record, in nats.
    pub epsilon: f64,
    /// Guarantee for every validation record; no claims if the randomness has a known seed.
    pub guarantee: Guarantee,
}

impl Selection {
    /// Chosen candidate.
    pub fn best(&self) -> &Judged {
        &self.candidates[self.chosen]
    }
}

impl GridSearch {
    /// Trains the candidates in order, and asks the validation people about each of them.
    ///
    /// The cost is charged to the accounts of `dataset` in `ledger`, which lists spent budgets. These
    /// accounts belong to the validation people. The charge comes after all trainings and before randomised
    /// response is applied to the first answer. A failed training therefore costs nothing. If the remaining
    /// budget is too small, nothing is trained.
    ///
    /// A search with randomness from a known seed has no guarantee. Its cost is infinite, so that only an
    /// account without a limit can pay it.
    ///
    /// # Errors
    /// - [`Error::Shape`] without a candidate, if nobody is asked about a candidate, or if `judge` returns a
    ///   wrong number of answers.
    /// - [`Error::Budget`] for an invalid ε or level.
    /// - Any error of a training.
    /// - [`Overdrawn`](scumble_custody::Error::Overdrawn) if the remaining budget is too small, and the other
    ///   errors of [`Ledger::charge_release`].
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

    /// Runs the search as a preview on records in the clear. No account is charged, so no result may be
    /// disclosed.
    ///
    /// # Errors
    /// Same errors as [`run`](Self::run), except for those of a ledger.
    pub fn rehearse<E: From<Error>>(
        &self,
        candidates: Vec<Candidate<'_, E>>,
        randomness: &mut Randomness,
    ) -> Result<Selection, E> {
        self.check(candidates.len())?;
        Ok(self.found(self.truths(candidates)?, randomness)?)
    }

    /// Name of each candidate, and its correctness for each person who is asked about it.
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
                let (answers, asked) = (truth.len(), asked.len());
                return Err(Error::shape(format!(
                    "{name:?} was asked about {asked} people, and gave {answers} answers"
                ))
                .into());
            }
            truths.push((name, truth));
        }
        Ok(truths)
    }

    /// Applies randomised response to the answers, and selects the candidate with the best estimate.
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

    /// Checks the settings for `candidates` candidates, and returns the mechanism of one answer.
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
