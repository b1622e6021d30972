//! Attack on a claim at two inputs of a mechanism, by bets on their outputs. It continues until the claim is
//! refuted, or until it has drawn all its samples.

use crate::betting::{Aim, Bets};
use crate::claimed::{Claimed, Reached, Shown};
use crate::event::{Event, Samples};
use crate::score::{Output, Score};
use scumble_core::interrupt;
use std::collections::{BTreeMap, BTreeSet};

/// Number of outputs of each input drawn before the first bet. The attack then runs in phases. Each phase
/// multiplies the number of drawn outputs by `GROWTH`, and bets on events learned from the outputs of earlier
/// phases.
const FIRST: usize = 128;
const GROWTH: usize = 4;
/// Number of outputs of each input after which the attacks with the smallest ratios of observed to claimed
/// value are dropped.
pub(crate) const HEAT: usize = 2_048;
/// Number of outputs between two tests of the bets' capital, or an eighth of the earlier outputs if this is
/// more.
const LOOK: usize = 64;

/// Function that draws the given number of outputs of each input, or fewer if the inputs give no more
/// outputs.
type Draw<'a> = dyn FnMut(usize) -> Samples + Send + 'a;

/// Two inputs, the outputs drawn from them, and the bets on their next outputs.
pub(crate) struct Attack<'a> {
    /// Description of the two inputs.
    what: String,
    draw: Box<Draw<'a>>,
    given: Vec<Score<'a>>,
    /// Outputs used to learn scores and choose events.
    kept: Samples,
    width: Option<usize>,
    drawn: usize,
    /// Number of outputs drawn before the first bet.
    first: usize,
    /// Largest number of outputs of each input.
    most: usize,
    is_exhausted: bool,
    is_mute: bool,
    bets: Vec<Bets>,
    /// Name of the score that defines the latest event of each quantity to be bounded ([`Aim`]). The flag is
    /// true if this event is more likely for the second input.
    by: Vec<(&'static str, bool)>,
    is_broken: bool,
}

impl<'a> Attack<'a> {
    pub(crate) fn new(
        what: String,
        claimed: &Claimed,
        draw: impl FnMut(usize) -> Samples + Send + 'a,
        given: Vec<Score<'a>>,
    ) -> Self {
        let bets: Vec<Bets> = claimed.aims().into_iter().map(Bets::on).collect();
        Self {
            what,
            draw: Box::new(draw),
            given,
            kept: Samples::default(),
            width: None,
            drawn: 0,
            first: FIRST,
            most: usize::MAX,
            is_exhausted: false,
            is_mute: true,
            by: vec![("nothing", false); bets.len()],
            bets,
            is_broken: false,
        }
    }

    /// The same attack with fewer outputs before the first bet, for inputs that give at most `outputs`
    /// outputs.
    pub(crate) fn with_at_most(self, outputs: usize) -> Self {
        Self { first: FIRST.min(outputs / 10).max(1), ..self }
    }

    /// The same attack, ending after `most` outputs of each input.
    pub(crate) fn up_to(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Returns true if the claim is refuted.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken
    }

    /// Continues until `to` outputs of each input are drawn, or until the claim is refuted. A claimed bound
    /// that holds is refuted with probability at most `alarm`.
    ///
    /// The attack also stops after a quarter of the outputs if even an optimistic estimate of its final
    /// result is below half of the claim. An interrupt stops it too.
    pub(crate) fn advance(&mut self, claimed: &Claimed, to: usize, alarm: f64) {
        let to = to.min(self.most);
        let goes_on = |attack: &Self| !attack.is_broken && !attack.is_exhausted && interrupt::check().is_ok();
        while self.drawn < to && goes_on(self) {
            if self.drawn >= HEAT.max(to / 4) && claimed.expected(&self.bets) < 0.5 {
                break;
            }
            let until = (GROWTH * self.drawn).clamp(self.first.min(to), to);
            if self.kept.len() == 0 {
                self.take(until - self.drawn);
                continue;
            }
            let aims: Vec<Aim> = self.bets.iter().map(Bets::aim).collect();
            let (learned, events) = self.kept.choose(&self.given, &aims, until - self.drawn);
            for (bets, event) in self.bets.iter_mut().zip(&events) {
                event.iter().for_each(|event| bets.choose(event.shares));
            }
            while self.drawn < until && goes_on(self) {
                let look = LOOK.max(self.drawn / 8).min(until - self.drawn);
                let fresh = self.take(look);
                let scores: Vec<&Score> = self.given.iter().chain(&learned).collect();
                let scored = Scored::from_samples(&fresh, &scores, &events);
                for ((bets, event), by) in self.bets.iter_mut().zip(&events).zip(&mut self.by) {
                    if let Some(event) = event {
                        *by = (scores[event.score].name, event.is_of_other);
                        scored.bet(bets, *event);
                    }
                }
                self.is_broken = claimed.is_refuted(&self.bets, alarm);
            }
        }
    }

    /// Draws up to `count` further outputs of each input.
    fn take(&mut self, count: usize) -> Samples {
        let drawn = (self.draw)(count);
        self.width = self.width.or(drawn.width());
        let drawn = drawn.with_width(self.width.unwrap_or(0));
        self.is_exhausted = drawn.len() < count;
        self.drawn += drawn.len();
        self.is_mute &= drawn.one.iter().chain(&drawn.other).all(Option::is_none);
        if self.kept.len() < Samples::KEPT {
            self.kept.extend(drawn.clone());
        }
        drawn
    }

    /// Ratio of the observed to the claimed value, computed by [`Claimed::share`] from the frequencies of the
    /// latest events. The ratio only ranks attacks.
    pub(crate) fn share(&self, claimed: &Claimed) -> f64 {
        claimed.share(&self.bets)
    }

    /// Audited lower bounds, one for each quantity to be bounded ([`Aim`]). Each is above the true value with
    /// probability at most `alarm`.
    fn reached(&self, alarm: f64) -> Reached {
        let shown = self.bets.iter().zip(&self.by).map(|(bets, &(score, is_of_other))| Shown {
            bound: bets.bound(alarm),
            score,
            shares: bets.shares().map_or([0.0, 0.0], |(shares, _)| shares),
            is_of_other,
        });
        Reached::new(shown.collect(), self.is_mute, self.is_broken)
    }
}

/// Keeps the `most` attacks with the largest ratios of observed to claimed value ([`Attack::share`]).
pub(crate) fn keep_best(attacks: &mut Vec<Attack>, claimed: &Claimed, most: usize) {
    attacks.sort_by(|one, other| other.share(claimed).total_cmp(&one.share(claimed)));
    attacks.truncate(most);
}

/// Result of each attack with the description of its inputs, and the number of outputs per input of the
/// longest attack.
pub(crate) fn all_reached<'a, 'b: 'a>(
    attacks: impl Iterator<Item = &'a Attack<'b>>,
    alarm: f64,
) -> (Vec<(String, Reached)>, usize) {
    let mut longest = 0;
    let reached = attacks.map(|attack| {
        longest = longest.max(attack.drawn);
        (attack.what.clone(), attack.reached(alarm))
    });
    (reached.collect(), longest)
}

/// Values, for the outputs of both inputs, of the scores that events use. Several events may use one score.
struct Scored {
    by_score: BTreeMap<usize, [Vec<f64>; 2]>,
}

impl Scored {
    fn from_samples(fresh: &Samples, scores: &[&Score], events: &[Option<Event>]) -> Self {
        let looked_at: BTreeSet<usize> = events.iter().flatten().map(|event| event.score).collect();
        let side =
            |by: &Score, outputs: &[Output]| outputs.iter().map(|output| by.evaluate(output)).collect();
        let both = |at: usize| (at, [side(scores[at], &fresh.one), side(scores[at], &fresh.other)]);
        Self { by_score: looked_at.into_iter().map(both).collect() }
    }

    /// Bets on an event with each pair of outputs.
    fn bet(&self, bets: &mut Bets, event: Event) {
        let Some([one, other]) = self.by_score.get(&event.score) else { return };
        let (likelier, other) = if event.is_of_other { (other, one) } else { (one, other) };
        for (one, other) in likelier.iter().zip(other) {
            bets.count(event.happens(*one), event.happens(*other));
        }
    }
}

/// Function that draws a given number of outputs of both inputs, from the function `draw`, which draws one
/// output of input 0 or 1.
pub(crate) fn by_side(mut draw: impl FnMut(usize) -> Output + Send) -> impl FnMut(usize) -> Samples + Send {
    move |count| {
        let mut side = |side: usize| (0..count).map(|_| draw(side)).collect();
        Samples { one: side(0), other: side(1) }
    }
}
