//! Claims for the output of a shuffler, which mixes the reports of a local mechanism and hides who sent each
//! report.

use crate::{Claim, Error, Guarantee, Neighbours, Notion, Result, ShuffledDp, Unit};
use scumble_accounting::shuffle::Shuffle;

impl ShuffledDp {
    /// Creates the claim (ε, `delta`) for the shuffled reports of `people` people, each with the local ε
    /// `epsilon_local`. [`scumble_accounting::shuffle`] computes ε, for any mechanism or for one with
    /// [these levels](crate::LocalMechanism::shuffled_levels).
    ///
    /// # Errors
    /// [`Error::Shape`] for fewer than two people. [`Error::Budget`] unless 0 < δ < 1/`people`, the local ε
    /// is finite, and there are at most 10¹⁰ people.
    pub fn new(epsilon_local: f64, people: u64, delta: f64, levels: Option<f64>) -> Result<Self> {
        let bounds = shuffle(epsilon_local, people, delta, levels)?.epsilon(delta);
        let epsilon = bounds.map_err(out_of_range)?.upper;
        Ok(Self { epsilon, delta, people, epsilon_local, neighbours: Neighbours::ReplaceOne })
    }

    /// Returns whether the shuffled reports have this central `epsilon` at δ = `delta`. It is much faster
    /// than [`new`](Self::new), and its result may differ in the last digits.
    ///
    /// # Errors
    /// Same errors as [`new`](Self::new).
    pub fn holds(
        epsilon: f64,
        (epsilon_local, people, delta): (f64, u64, f64),
        levels: Option<f64>,
    ) -> Result<bool> {
        shuffle(epsilon_local, people, delta, levels)?.satisfies(epsilon, delta).map_err(out_of_range)
    }
}

fn shuffle(epsilon_local: f64, people: u64, delta: f64, levels: Option<f64>) -> Result<Shuffle> {
    if people < 2 {
        let few = format!("a shuffler needs the reports of at least two people, and {people} is too few");
        return Err(Error::shape(few));
    }
    if delta >= 1.0 / people as f64 {
        let range = "below one over the number of people";
        return Err(Error::Budget { name: "the delta of the shuffler's output", range, value: delta });
    }
    let shuffle = Shuffle::new(epsilon_local, people).map_err(out_of_range)?;
    levels.map_or(Ok(shuffle), |levels| shuffle.with_support(levels)).map_err(out_of_range)
}

fn out_of_range(error: scumble_accounting::Error) -> Error {
    match error {
        scumble_accounting::Error::OutOfRange { name, range, value } => Error::Budget { name, range, value },
        other => Error::shape(other.to_string()),
    }
}

impl Guarantee {
    /// This guarantee of a local mechanism with an additional claim at δ = `delta`, and the assumptions of
    /// the claim. The claim is for the output of a shuffler that mixes the reports of `people` people.
    /// `levels` are those of [`LocalMechanism::shuffled_levels`](crate::LocalMechanism::shuffled_levels).
    ///
    /// ```
    /// use scumble_core::{Guarantee, LocalDp, Notion};
    ///
    /// let local = Guarantee::for_records([(Notion::LocalDp(LocalDp::pure(1.0)), "a theorem".into())]);
    /// let card = local.shuffled(32_561, 1e-6, None)?.to_string();
    /// assert!(card.contains("(ε, δ) = (0.02286, 1e-6)") && card.contains("trusted shuffler"));
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Shape`] if no finite local ε at δ = 0 is claimed for whole records. Also the errors of
    /// [`ShuffledDp::new`].
    pub fn shuffled(mut self, people: u64, delta: f64, levels: Option<f64>) -> Result<Self> {
        let pure = self.local_dp(Unit::Record).filter(|dp| dp.delta == 0.0 && dp.epsilon.is_finite());
        let Some(epsilon_local) = pure.map(|dp| dp.epsilon) else {
            let lacks = "a shuffler's claim needs a local ε at δ = 0 for the whole record, and this \
                         guarantee claims none";
            return Err(Error::shape(lacks));
        };
        let notion = Notion::ShuffledDp(ShuffledDp::new(epsilon_local, people, delta, levels)?);
        let which = match levels {
            Some(levels) => {
                let levels = (levels * 100.0).round() / 100.0;
                format!("an answer supports one of {levels} values, as randomised response of as many does")
            }
            None => "the stronger clones of Feldman, McMillan and Talwar 2023 for one randomiser".to_owned(),
        };
        let theorem = format!(
            "shuffling, by the privacy blanket (Balle and others 2019, Lemma 5.3) and convex order: {which}"
        );
        self.claims.push(Claim { notion, protects: Unit::Record, theorem });
        self.assumes.extend(ASSUMED_OF_A_SHUFFLER.map(str::to_owned));
        Ok(self)
    }
}

/// Assumptions of a claim for a shuffler's output, in addition to those of its local claim.
const ASSUMED_OF_A_SHUFFLER: [&str; 2] = [
    "for the claim through a shuffler: the shuffler puts the rows into a random order before anyone else \
     sees them, and forwards no time, sender or order",
    "for the claim through a shuffler: each person reports once, by this design, and no row is left out \
     because of its values",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LocalDp, compose};

    fn local(dp: LocalDp) -> Guarantee {
        Guarantee::for_records([(Notion::LocalDp(dp), "a theorem".into())])
    }

    #[test]
    fn the_claim_is_never_shown_without_its_trust_model() {
        let guarantee = local(LocalDp::pure(1.0)).shuffled(1_279, 1e-6, None).unwrap();
        let claim = guarantee.claims.last().unwrap();
        let trust = "a trusted shuffler";
        for words in [claim.to_string(), claim.may_learn(), guarantee.to_string(), guarantee.summary()] {
            assert!(words.contains("shuffler"), "{words}");
        }
        assert!(claim.to_string().contains(trust) && guarantee.to_string().contains(trust));
        assert!(guarantee.summary().contains(trust), "{}", guarantee.summary());
        let json = guarantee.to_json();
        assert_eq!(
            (&json["claims"][1]["notion"], &json["claims"][1]["people"]),
            (&"shuffled-dp".into(), &1_279.into())
        );
        assert_eq!(json["claims"][1]["epsilon_local"], 1.0);
        // The guarantee's ε and the cost of a release are the values that hold without a shuffler.
        assert_eq!((guarantee.epsilon(), guarantee.cost(Unit::Record)), (Some(1.0), (1.0, 0.0)));
        let read: Guarantee = serde_json::from_value(serde_json::to_value(&guarantee).unwrap()).unwrap();
        assert_eq!(read, guarantee);
    }

    #[test]
    fn several_releases_together_leave_no_claim_through_a_shuffler() {
        let one = local(LocalDp::pure(1.0)).shuffled(1_000, 1e-6, None).unwrap();
        let is_shuffled = |claim: &Claim| matches!(claim.notion, Notion::ShuffledDp(_));
        let both = [one.clone(), one.clone()];
        let in_parallel = compose::in_parallel(&both, compose::Partition::FixedInAdvance);
        for whole in [compose::in_sequence(&both), in_parallel] {
            assert!(!whole.claims.iter().any(is_shuffled), "{whole}");
            assert!(whole.local_dp(Unit::Record).is_some(), "{whole}");
        }
        assert!(compose::in_sequence(&[one]).claims.iter().any(is_shuffled));
    }

    #[test]
    fn where_nothing_is_known_to_be_added_a_sentence_says_why() {
        let refused = |guarantee: Guarantee, people, delta| {
            guarantee.shuffled(people, delta, None).unwrap_err().to_string()
        };
        let pure = || local(LocalDp::pure(1.0));
        assert!(refused(pure(), 1, 1e-6).contains("at least two people"));
        assert!(refused(pure(), 1_000, 0.001).contains("below one over the number of people"));
        assert!(refused(pure(), 1_000, 0.0).starts_with("delta must be"));
        assert!(refused(pure(), 1_000, f64::NAN).starts_with("delta must be"));
        assert!(refused(pure(), u64::MAX, 1e-30).contains("the number of people must be"));
        for none in [LocalDp::new(1.0, 1e-9), LocalDp::pure(f64::INFINITY)] {
            assert!(refused(local(none), 1_000, 1e-6).contains("claims none"));
        }
        assert!(refused(Guarantee::default(), 1_000, 1e-6).contains("claims none"));
    }
}
