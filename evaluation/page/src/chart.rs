//! Charts of scores against ε, and of scores against an adversary's success, as inline SVG. A *series* has
//! the scores of one mechanism with fixed parameters, one per budget ε.
//!
//! This crate writes the SVG itself, because the SVG of the crate `plotters` has fixed fonts and colours, and
//! no classes or groups. An SVG of `plotters` cannot adapt to dark mode, paper or a phone, and neither
//! readers nor tests can identify a series in it.

use super::cast::Cast;
use crate::draw::{self, Axis, BOTTOM, HEIGHT, LEFT, Look, TOP, at, ends};
use maud::{Markup, html};
use scumble_comparison::{Metric, Row, Scores, Series, in_words};

/// The width of a chart, including the names of its series to the right of the plot.
const WIDE: f64 = 800.0;
/// The right edge of the plot.
const END: f64 = WIDE - 190.0;
/// The distance of the smallest budget from the left side of the plot, and of the largest from the right
/// side.
const PAD: f64 = 30.0;
/// Upper bound on the width of a character in a label.
const CHARACTER: f64 = 12.0;
/// The vertical distance between the names of two series.
const LINE: f64 = 14.0;
/// Maximum number of characters of a name to the right of the plot.
const LONGEST: usize = 27;

/// A row (the score of one mechanism at one ε) with its horizontal position on the chart.
struct Marker<'a> {
    x: f64,
    row: &'a Row,
    epsilon: f64,
}

/// The score `score` without a release, such as the baseline's, and its name `what` on the chart.
pub(super) struct Known {
    pub(super) what: String,
    pub(super) score: f64,
}

/// The name of a series whose line ends at the point `from`. The name is to the right of the plot, or beside
/// this point.
struct Label {
    y: f64,
    from: (f64, f64),
    is_beside: bool,
    text: String,
    ink: String,
}

/// The chart of `scores` at the budgets `epsilons`. Mechanisms in `cast` are in colours, and other mechanisms
/// with differential privacy are grey. `known` has scores that need no release. `all` has additional SVG
/// elements for a chart in its own file, such as styles.
pub(super) fn chart(scores: &Scores, epsilons: &[f64], known: &[Known], cast: &Cast, all: Markup) -> Markup {
    let metric = scores.metric;
    let across = Across::new(epsilons);
    let up = Gauge::new(scores, known);
    let what = format!("{} by {}, against ε", metric.title(), scores.scorer);
    let drawn = || scores.series.iter().filter(|series| series.has_budget());
    let others = drawn().filter(|series| cast.place(series).is_none());
    let lead: Vec<(&Series, usize)> =
        drawn().filter_map(|series| Some((series, cast.place(series)?))).collect();
    let mut labels: Vec<Label> = known
        .iter()
        .filter(|known| known.score.is_finite())
        .map(|known| {
            let y = up.y(known.score);
            Label { y, from: (END, y), is_beside: false, text: known.what.clone(), ink: "known".into() }
        })
        .collect();
    for (series, place) in &lead {
        let last = markers(series, across.shift(*place, lead.len()), &across).pop();
        labels.extend(last.map(|last| (last.x, up.y(last.row.mean))).map(|from| Label {
            y: from.1,
            from,
            is_beside: false,
            text: series.title.clone(),
            ink: cast.ink(series),
        }));
    }
    html! {
        svg.chart xmlns="http://www.w3.org/2000/svg" role="img" viewBox={ "0 0 \
            " (WIDE) " " (HEIGHT) } aria-label=(what) {
            title { (what) }
            (all)
            (frame(&up, known, &across.ticks(), "privacy budget ε (less is more private)"))
            @for series in others { (faint(series, &across, &up)) }
            @for (series, place) in &lead { (drawn_in_ink(series, *place, lead.len(), cast, &across, &up)) }
            (named(labels))
        }
    }
}

/// A line of text in the lower right corner.
pub(super) fn caption(text: &str) -> Markup {
    html! { text x=(at(WIDE - 6.0)) y=(at(HEIGHT - 10.0)) text-anchor="end" { (text) } }
}

/// The axes. `across` has the horizontal coordinates and labels of the horizontal axis, and `what` is its
/// heading. Each score in `known` has a horizontal line.
fn frame(up: &Gauge, known: &[Known], across: &[(f64, String)], what: &str) -> Markup {
    let heading = html! { text x=(at(LEFT + 4.0)) y=(at(TOP + 12.0)) { (up.metric.title()) } };
    html! {
        (draw::frame(END, &up.axis.heights(), heading, across))
        text x=(at((LEFT + END) / 2.0)) y=(at(HEIGHT - 10.0)) text-anchor="middle" { (what) }
        @for known in known.iter().filter(|known| known.score.is_finite()) {
            @let y = at(up.y(known.score));
            line.baseline x1=(at(LEFT)) x2=(at(END)) y1=(y) y2=(y) { title { (known.what) ": \
                " (up.metric.shown(known.score)) } }
        }
    }
}

/// The names of series. A name is beside the last point of its series, or to the right of the plot with a
/// thin line from this point. Names do not overlap.
fn named(mut labels: Vec<Label>) -> Markup {
    labels.sort_by(|a, b| a.y.total_cmp(&b.y));
    let mut below = TOP - LINE;
    for label in &mut labels {
        label.y = label.y.max(below + LINE);
        below = label.y;
    }
    let mut above = BOTTOM + 2.0 * LINE;
    for label in labels.iter_mut().rev() {
        label.y = label.y.min(above - LINE);
        above = label.y;
    }
    html! {
        g.names {
            @for Label { y, from, is_beside, text, ink } in &labels {
                g class=(ink) {
                    @if *is_beside {
                        text x=(at(from.0 + 9.0)) y=(at(*y)) dy="0.32em" { (shortened(text)) }
                    } @else {
                        path.bound
                            d={ "M" (at(from.0 + 6.0)) " " (at(from.1)) "L" (at(END + 6.0)) " " (at(*y)) } {}
                        text x=(at(END + 10.0)) y=(at(*y)) dy="0.32em" { (shortened(text)) }
                    }
                }
            }
        }
    }
}

/// A name, shortened so that it fits to the right of the plot.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// The chart of scores against an adversary's success on the same releases. It shows only mechanisms in the
/// cast, with ε at each point. A thin line leads from a point to the bound that the mechanism's guarantee
/// implies.
pub(super) fn tradeoff(scores: [&Scores; 2], known: [&[Known]; 2], cast: &Cast) -> Markup {
    let [utility, attack] = scores;
    let [up, across] = [0, 1].map(|at| Gauge::new(scores[at], known[at]));
    let what = format!("{} by {}, against {}", utility.metric.title(), utility.scorer, attack.metric.title());
    let pairs = || {
        let pairs = utility.series.iter().zip(&attack.series);
        pairs.filter_map(|(series, attacked)| Some((series, attacked, cast.place(series)?)))
    };
    let name = |(series, attacked, _): (&Series, &Series, usize)| {
        let mut both = series.rows.iter().zip(attacked.rows);
        let (row, attack) = both.rfind(|(row, attack)| row.mean.is_finite() && attack.mean.is_finite())?;
        let from = (across.x(attack.mean), up.y(row.mean));
        let (text, ink) = (series.title.clone(), cast.ink(series));
        Some(Label { y: from.1 + LINE, from, is_beside: from.0 < END - CHARACTER, text, ink })
    };
    html! {
        svg.chart xmlns="http://www.w3.org/2000/svg" role="img" viewBox={ "0 0 \
            " (WIDE) " " (HEIGHT) } aria-label=(what) {
            title { (what) }
            (frame(&up, known[0], &across.axis.places(END), attack.metric.title()))
            @for (series, attacked, place) in pairs() {
                (attacked_at(series, attacked, [&up, &across], place, cast))
            }
            (named(pairs().filter_map(name).collect()))
        }
    }
}

/// A series in the chart of scores against an adversary's success. The mechanism's scores are on the axis
/// `up`, and the adversary's success is on the axis `across`.
fn attacked_at(
    series: &Series,
    attacked: &Series,
    [up, across]: [&Gauge; 2],
    place: usize,
    cast: &Cast,
) -> Markup {
    let Look { marker, dashes } = Look::nth(place);
    let pairs = series.rows.iter().zip(attacked.rows);
    let pairs: Vec<(&Row, &Row)> =
        pairs.filter(|(row, attack)| row.mean.is_finite() && attack.mean.is_finite()).collect();
    let places = pairs.iter().map(|(row, attack)| [across.x(attack.mean), up.y(row.mean)].map(at).join(" "));
    let places: Vec<String> = places.collect();
    let finite = pairs.iter().take_while(|(row, _)| row.epsilon.is_some_and(f64::is_finite)).count();
    html! {
        g class={ "series " (cast.ink(series)) } data-series=(series.title) {
            (joined(&places, finite, dashes))
            @for ((row, attack), place) in pairs.iter().zip(&places) {
                @if let Some(bound) = attack.bound {
                    path.bound d={ "M" (place) "H" (at(across.x(bound))) "m0 -4v8" } {}
                }
                @if let Some(epsilon) = row.epsilon {
                    text.at transform={ "translate(" (place) ")" } x="7" y="-6" {
                        (in_words(epsilon))
                        @if !up.holds(row.mean) { ": " (row.metric.shown(row.mean)) }
                    }
                }
                path.marker.point d=(marker) transform={ "translate(" (place) ")" } {
                    title {
                        (series.title)
                        @if let Some(epsilon) = row.epsilon { ", ε = " (in_words(epsilon)) }
                        ": " (row.shown()) "; " (attack.metric.title()) " " (attack.shown())
                        @if let Some(bound) = attack.bound {
                            ", and its guarantee implies " (if attack.metric.less_is_better() { "at most \
                                " } else { "at \
                                least " })
                            (attack.metric.shown(bound))
                        }
                    }
                }
            }
        }
    }
}

/// The markers of a series at each budget, moved sideways by `shift`.
fn markers<'a>(series: &Series<'a>, shift: f64, across: &Across) -> Vec<Marker<'a>> {
    let points = across.budgets.iter().filter_map(|&(epsilon, x)| {
        let row = series.rows.iter().find(|row| row.epsilon == Some(epsilon) && row.mean.is_finite())?;
        Some(Marker { x: x + shift, row, epsilon })
    });
    points.collect()
}

/// A series drawn as a line only.
fn faint(series: &Series, across: &Across, up: &Gauge) -> Markup {
    let points = markers(series, 0.0, across);
    let places: Vec<String> =
        points.iter().map(|point| [point.x, up.y(point.row.mean)].map(at).join(" ")).collect();
    html! {
        @if !places.is_empty() {
            path.other d={ "M" (places.join("L")) @if places.len() == 1 { "h.1" } } {
                title { (series.title) }
            }
        }
    }
}

/// A series with its line, error bars and points.
fn drawn_in_ink(
    series: &Series,
    place: usize,
    count: usize,
    cast: &Cast,
    across: &Across,
    up: &Gauge,
) -> Markup {
    let points = markers(series, across.shift(place, count), across);
    let places = points.iter().map(|point| [point.x, up.y(point.row.mean)].map(at).join(" "));
    let places: Vec<String> = places.collect();
    let finite = points.iter().take_while(|point| point.epsilon.is_finite()).count();
    let Look { marker, dashes } = Look::nth(place);
    html! {
        g class={ "series " (cast.ink(series)) } data-series=(series.title) {
            (joined(&places, finite, dashes))
            @for Marker { x, row, .. } in points.iter().filter(|point| has_bar(point.row, up)) {
                path.spread-bar d=(bar(*x, [row.mean - row.sd, row.mean + row.sd], up)) {}
            }
            @for (Marker { row, epsilon, .. }, place) in points.iter().zip(&places) {
                path.marker.point d=(marker) transform={ "translate(" (place) ")" } {
                    title { (series.title) ", ε = " (in_words(*epsilon)) ": " (row.shown()) }
                }
                @if !up.holds(row.mean) {
                    text.at transform={ "translate(" (place) ")" } x="7" y="-6" {
                        (row.metric.shown(row.mean))
                    }
                }
            }
        }
    }
}

/// A line through the points `places`. The first `finite` of these have finite budgets. A line of the CSS
/// class `leap` leads from the last point with a finite budget to the point at ε = ∞.
fn joined(places: &[String], finite: usize, dashes: &str) -> Markup {
    html! {
        @if finite > 1 { path.line d={ "M" (places[..finite].join("L")) } stroke-dasharray=(dashes) {} }
        @if finite > 0 && finite < places.len() { path.leap d={ "M" (places[finite - 1..].join("L")) } {} }
    }
}

/// Returns true if the row has a positive standard deviation, and its mean is on the chart.
fn has_bar(row: &Row, up: &Gauge) -> bool {
    row.sd > 0.0 && row.sd.is_finite() && up.holds(row.mean)
}

/// A bar between two scores, with a cap at each end that is on the chart.
fn bar(x: f64, ends: [f64; 2], up: &Gauge) -> String {
    let [low, high] = ends.map(|end| at(up.y(end)));
    let caps = ends.into_iter().filter(|end| up.holds(*end));
    let caps = caps.map(|end| format!("M{} {}h6", at(x - 3.0), at(up.y(end)))).collect::<String>();
    format!("M{} {low}V{high}{caps}", at(x))
}

/// A sample of a series' line and marker, for the legend. `ink` is the CSS class of its colour, and `place`
/// is its index in the cast, the mechanisms in colours.
pub(super) fn sample(ink: &str, place: usize) -> Markup {
    let Look { marker, dashes } = Look::nth(place);
    html! {
        svg class=(ink) viewBox="0 0 44 14" aria-hidden="true" {
            path.line d="M0 7H44" stroke-dasharray=(dashes) {}
            path.marker d=(marker) transform="translate(22 7)" {}
        }
    }
}

/// Returns true if the chart of `scores` and `known` has a logarithmic scale.
pub(super) fn is_logarithmic(scores: &Scores, known: &[Known]) -> bool {
    Gauge::new(scores, known).axis.is_logarithmic()
}

/// Returns true if at least one mean in `scores` is beyond the scale, so that the chart shows it at the edge.
pub(super) fn is_cut(scores: &Scores, known: &[Known]) -> bool {
    let gauge = Gauge::new(scores, known);
    let rows = scores.series.iter().filter(|series| series.has_budget()).flat_map(|series| series.rows);
    rows.into_iter().any(|row| row.mean.is_finite() && !gauge.holds(row.mean))
}

/// Budgets from left to right, on a logarithmic scale. ∞ has its own position after them.
struct Across {
    budgets: Vec<(f64, f64)>,
}

impl Across {
    fn new(epsilons: &[f64]) -> Self {
        let mut sorted = epsilons.to_vec();
        sorted.sort_by(f64::total_cmp);
        let finite: Vec<f64> = sorted.iter().copied().filter(|epsilon| epsilon.is_finite()).collect();
        let (from, to) = (LEFT + PAD, END - PAD);
        let has_infinite = finite.len() < sorted.len();
        let slot =
            if has_infinite && !finite.is_empty() { (to - from) / sorted.len().max(3) as f64 } else { 0.0 };
        let logs: Vec<f64> = finite.iter().map(|epsilon| epsilon.ln()).collect();
        let x = |log: f64| match (logs.first(), logs.last()) {
            (Some(first), Some(last)) if last > first => {
                from + (to - slot - from) * (log - first) / (last - first)
            }
            _ => (from + to - slot) / 2.0,
        };
        let mut budgets: Vec<(f64, f64)> =
            finite.iter().zip(&logs).map(|(&epsilon, &log)| (epsilon, x(log))).collect();
        if has_infinite {
            budgets.push((f64::INFINITY, if finite.is_empty() { (from + to) / 2.0 } else { to }));
        }
        Self { budgets }
    }

    /// The sideways shift of the series with index `place` among `count` series, so that their error bars do
    /// not hide each other.
    fn shift(&self, place: usize, count: usize) -> f64 {
        let gaps = self.budgets.windows(2).map(|pair| pair[1].1 - pair[0].1);
        let room = gaps.fold(2.0 * PAD, f64::min);
        let step = (0.55 * room / count as f64).min(6.0);
        (place as f64 - (count - 1) as f64 / 2.0) * step
    }

    /// Horizontal coordinates and labels of budgets. A budget has no label if the label would overlap
    /// another.
    fn ticks(&self) -> Vec<(f64, String)> {
        let mut ticks: Vec<(f64, String)> = vec![];
        // From right to left, so that ∞ always has a label.
        for &(epsilon, x) in self.budgets.iter().rev() {
            let label = in_words(epsilon);
            let width = |label: &str| label.chars().count() as f64 * CHARACTER;
            if ticks.last().is_none_or(|(right, other)| {
                right - x > (width(other) + width(&label)) / 2.0 + CHARACTER / 2.0
            }) {
                ticks.push((x, label));
            }
        }
        ticks
    }
}

/// An axis for the scores of a metric. It is linear, or logarithmic for errors of many magnitudes.
struct Gauge {
    axis: Axis,
    metric: Metric,
}

/// The scale of errors is logarithmic if the largest mean is more than this number times the smallest. On a
/// linear scale, all small errors would have nearly the same position.
const MANY_MAGNITUDES: f64 = 8.0;

impl Gauge {
    fn new(scores: &Scores, known: &[Known]) -> Self {
        let metric = scores.metric;
        let rows = || scores.series.iter().flat_map(|series| series.rows).filter(|row| row.mean.is_finite());
        let known: Vec<f64> =
            known.iter().map(|known| known.score).filter(|score| score.is_finite()).collect();
        let shown = shown_range(metric, &rows().map(|row| row.mean).collect::<Vec<_>>(), &known);
        let means: Vec<f64> = rows().map(|row| row.mean.clamp(shown[0], shown[1])).chain(known).collect();
        // Without noise the error is zero, and a logarithmic scale has no position for it.
        let means: Vec<f64> = match metric {
            Metric::UnbiasedError => means.into_iter().filter(|mean| *mean > 0.0).collect(),
            _ => means,
        };
        let (low, high) = ends(&means);
        if (metric.less_is_better() || metric == Metric::UnbiasedError)
            && low > 0.0
            && high > MANY_MAGNITUDES * low
        {
            return Self { axis: Axis::logarithmic(low, high), metric };
        }
        let spread = |row: &Row| if row.sd.is_finite() { row.sd } else { 0.0 };
        let bars = rows().flat_map(|row| [row.mean - spread(row), row.mean + spread(row)]);
        let bars = bars.map(|end| end.clamp(shown[0], shown[1]));
        let (low, high) = ends(&bars.chain(means).collect::<Vec<_>>());
        // A share is in [0, 1], an error is at least 0, and R² is at most 1.
        let (least, most) = match metric {
            _ if metric.is_share() => (0.0, 1.0),
            Metric::R2 => (f64::NEG_INFINITY, 1.0),
            _ => (0.0, f64::INFINITY),
        };
        let scale = scale(metric);
        Self { axis: Axis::linear(low.max(least) * scale, high.clamp(least, most) * scale), metric }
    }

    /// The horizontal coordinate of a score. A score beyond the axis is placed at its edge.
    fn x(&self, score: f64) -> f64 {
        self.axis.x(score * scale(self.metric), END)
    }

    /// The vertical coordinate of a score. A score beyond the axis is placed at its edge.
    fn y(&self, score: f64) -> f64 {
        self.axis.y(score * scale(self.metric))
    }

    /// Returns true if a score is on the chart.
    fn holds(&self, score: f64) -> bool {
        (0.0..=1.0).contains(&self.axis.share(score * scale(self.metric)))
    }
}

/// The range of scores on a chart, so that a few bad scores do not flatten the others. `means` are the scores
/// of mechanisms, and `known` the scores that need no release.
///
/// The range of a model's scores ends as far beyond the worst known score as the best score or the median is
/// from this known score. At least half of the scores are therefore within the range. Scores of adversaries
/// and tables have no limits.
fn shown_range(metric: Metric, means: &[f64], known: &[f64]) -> [f64; 2] {
    let mut sorted = means.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (lowest, highest) = ends(known);
    let (Some(least), Some(most), true) =
        (sorted.first(), sorted.last(), metric.is_of_model() && !known.is_empty())
    else {
        return [f64::NEG_INFINITY, f64::INFINITY];
    };
    let (worst, best) = match metric.less_is_better() {
        true => (highest, lowest.min(*least)),
        false => (lowest, highest.max(*most)),
    };
    let median = sorted[sorted.len() / 2];
    let reach = (best - worst).abs().max((median - worst).abs());
    match metric.less_is_better() {
        true => [f64::NEG_INFINITY, worst + reach],
        false => [worst - reach, f64::INFINITY],
    }
}

/// Factor from a score to its number on the axis: 100 for shares, which are in per cent, and otherwise 1.
fn scale(metric: Metric) -> f64 {
    if metric.is_share() { 100.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_is_the_last_place_of_an_axis_that_is_logarithmic_before_it() {
        let across = Across::new(&[f64::INFINITY, 4.0, 1.0, 2.0]);
        let (epsilons, x): (Vec<f64>, Vec<f64>) = across.budgets.into_iter().unzip();
        assert_eq!(epsilons, [1.0, 2.0, 4.0, f64::INFINITY]);
        assert_eq!((x[0], x[3]), (LEFT + PAD, END - PAD));
        assert!((x[1] - x[0] - (x[2] - x[1])).abs() < 1e-9, "{x:?}");
        for one in [1.0, f64::INFINITY] {
            assert_eq!(Across::new(&[one]).budgets, [(one, (LEFT + END) / 2.0)]);
        }
    }

    /// Checks the range on R², and on an error of the same models with unit variance, 1 − R².
    #[test]
    fn bad_scores_leave_the_scale_to_the_others() {
        let known = [0.0, 0.4];
        let means = [-3.0, -0.1, 0.1, 0.2, 0.3];
        assert_eq!(shown_range(Metric::R2, &means, &known)[0], -0.4);
        let errors = |scores: &[f64]| scores.iter().map(|score| 1.0 - score).collect::<Vec<_>>();
        assert!((shown_range(Metric::Rmse, &errors(&means), &errors(&known))[1] - 1.4).abs() < 1e-9);
        // Half of the scores are shown, even if no model is better than the baseline.
        assert_eq!(shown_range(Metric::R2, &[-9.0, -2.0, -1.0, -0.5], &[0.0, 0.0])[0], -1.0);
        // An adversary's success has no bad end.
        assert_eq!(shown_range(Metric::Recovered, &means, &known), [f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!(shown_range(Metric::R2, &[], &known), [f64::NEG_INFINITY, f64::INFINITY]);
    }

    #[test]
    fn labels_of_budgets_do_not_overlap() {
        let crowded: Vec<f64> = (1..60).map(|at| 0.1 * f64::from(at)).chain([f64::INFINITY]).collect();
        let ticks = Across::new(&crowded).ticks();
        assert_eq!(ticks[0].1, "∞");
        for pair in ticks.windows(2) {
            let width = |tick: &(f64, String)| tick.1.chars().count() as f64 * CHARACTER;
            assert!(pair[0].0 - pair[1].0 > (width(&pair[0]) + width(&pair[1])) / 2.0, "{pair:?}");
        }
    }
}
