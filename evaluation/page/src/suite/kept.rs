//! The trade-off between privacy and utility over all tasks. For each goal, which is a unit of privacy and a
//! trust model, it is the share of the gain of clean records that the named mechanisms keep.

use super::results::{Finished, Results};
use super::standing::median;
use super::tabular::{Table, header, heading};
use crate::chart::sample;
use crate::draw::{self, Axis, HEIGHT, LEFT, Look, RIGHT, TOP, WIDTH, at};
use maud::{Markup, html};
use scumble_comparison::{Goal, Knows, Scores, in_words};

/// The share that is kept for one goal.
pub(super) struct Kept {
    goal: Goal,
    /// At each budget ε: the median share over tasks, and the number of tasks.
    at: Vec<(f64, f64, usize)>,
}

impl Finished {
    /// The mean score of a model that knows no release; `None` if it was not computed.
    pub(super) fn known(&self, scores: &Scores, knows: Knows) -> Option<f64> {
        self.outcome.references(scores).find(|reference| reference.knows == knows).map(|found| found.mean)
    }

    /// The gain of the score `mean` over the baseline, as a share of the gain of the clean records. `None`
    /// if models also learn from volunteers' labels, because the baseline then has another meaning.
    pub(super) fn share(&self, scores: &Scores, mean: f64) -> Option<f64> {
        let [guess, clean] = [Knows::Guess, Knows::Clean].map(|knows| self.known(scores, knows));
        (!self.adds()).then_some((mean - guess?) / (clean? - guess?)).filter(|share| share.is_finite())
    }
}

impl Results {
    /// The share that is kept for each goal. A task in which no mechanism is named counts as 0.
    pub(super) fn kept(&self) -> Vec<Kept> {
        let (goals, epsilons) = (self.goals(), self.epsilons());
        let mut shares = vec![vec![vec![]; epsilons.len()]; goals.len()];
        for finished in &self.finished {
            let Some(scores) = finished.scores() else { continue };
            for choice in finished.outcome.choices(&scores) {
                // Without a named mechanism, the share is that of the baseline.
                let guess = || finished.known(&scores, Knows::Guess);
                let mean = choice.best.map(|(_, row)| row.mean).or_else(guess);
                let share = mean.and_then(|mean| finished.share(&scores, mean));
                let goal = goals.iter().position(|goal| *goal == choice.goal);
                let budget = epsilons.iter().position(|epsilon| *epsilon == choice.epsilon);
                if let (Some(share), Some(goal), Some(budget)) = (share, goal, budget) {
                    shares[goal][budget].push(share);
                }
            }
        }
        let kept = |(goal, shares): (Goal, Vec<Vec<f64>>)| {
            let at = epsilons.iter().zip(shares);
            let at = at.map(|(&epsilon, shares)| (epsilon, median(shares.clone()), shares.len()));
            Kept { goal, at: at.collect() }
        };
        goals.into_iter().zip(shares).map(kept).collect()
    }
}

pub(super) const KEPT: &str = "What privacy and trust cost";
pub(super) const KEPT_LEAD: &str = "The share that remains of what the clean records gain over the \
    baseline, if each task uses the mechanism that the tables below name: the median over tasks, and the \
    number of tasks. A task in which no mechanism is named counts as 0.";

/// The distance of the smallest and of the largest budget from the sides of the chart.
const PAD: f64 = 30.0;

/// The shares as a table, a row per goal.
pub(super) fn table(all: &[Kept]) -> Table {
    let epsilons: Vec<f64> =
        all.first().map_or(vec![], |kept| kept.at.iter().map(|(epsilon, ..)| *epsilon).collect());
    let row = |kept: &Kept| {
        let cells = kept.at.iter().map(|&(_, share, tasks)| match tasks {
            0 => "–".to_owned(),
            _ => format!("{:.0} % of {tasks}", 100.0 * share),
        });
        std::iter::once(heading(kept.goal)).chain(cells).collect()
    };
    Table { header: header("protects", &epsilons), rows: all.iter().map(row).collect() }
}

/// The shares as a chart, a line per goal, with its table, whose rows have the marks of the lines.
pub(super) fn figure(all: &[Kept]) -> Markup {
    let table = table(all);
    let shown = |kept: &Kept| kept.at.iter().any(|(_, share, _)| share.is_finite());
    html! {
        figure { (chart(all)) }
        div.box {
            table.choices {
                thead { tr { @for cell in &table.header { th scope="col" { (cell) } } } }
                tbody {
                    @for (place, (kept, row)) in all.iter().zip(&table.rows).enumerate() {
                        tr {
                            th scope="row" {
                                @if shown(kept) { (sample(&ink(place), place)) " " }
                                (row[0])
                            }
                            @for (cell, name) in row.iter().zip(&table.header).skip(1) {
                                td data-of=(name) { (cell) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Class of the colour of the line with index `place`.
fn ink(place: usize) -> String {
    format!("s{}", place % 8)
}

fn chart(all: &[Kept]) -> Markup {
    let shares = || all.iter().flat_map(|kept| &kept.at).map(|(_, share, _)| *share);
    let axis = Axis::linear(0.0, 100.0 * shares().filter(|share| share.is_finite()).fold(1.0, f64::max));
    let last = all.first().map_or(0, |kept| kept.at.len()).saturating_sub(1).max(1) as f64;
    let x = |index: usize| LEFT + PAD + (RIGHT - LEFT - 2.0 * PAD) * index as f64 / last;
    let ticks: Vec<(f64, String)> = all.first().map_or(vec![], |kept| {
        kept.at.iter().enumerate().map(|(index, (epsilon, ..))| (x(index), in_words(*epsilon))).collect()
    });
    let heading =
        html! { text x=(at(LEFT + 4.0)) y=(at(TOP + 12.0)) { "share of the gain that remains, %" } };
    html! {
        svg.chart xmlns="http://www.w3.org/2000/svg" role="img" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } {
            title { (KEPT) }
            (draw::frame(RIGHT, &axis.heights(), heading, &ticks))
            text x=(at((LEFT + RIGHT) / 2.0)) y=(at(HEIGHT - 10.0)) text-anchor="middle" {
                "privacy budget ε (less is more private)"
            }
            @for (place, kept) in all.iter().enumerate() {
                @let look = Look::nth(place);
                @let points: Vec<[f64; 2]> = kept
                    .at
                    .iter()
                    .enumerate()
                    .filter(|(_, (_, share, _))| share.is_finite())
                    .map(|(index, (_, share, _))| [x(index), axis.y(100.0 * share)])
                    .collect();
                @let line: Vec<String> = points.iter().map(|[x, y]| at(*x) + " " + &at(*y)).collect();
                g class=(ink(place)) {
                    title { (kept.goal) }
                    polyline.line stroke-dasharray=(look.dashes) points=(line.join(" ")) {}
                    @for point in points { (look.mark(point, 1.0)) }
                }
            }
        }
    }
}
