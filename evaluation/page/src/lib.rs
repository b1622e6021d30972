//! A comparison as one self-contained HTML page: recommendations, charts, scores, the card of every mechanism
//! (its guarantee in words), and the settings. The card of a release is a page of its own, for signature.
//!
//! A page loads no other file, and is readable without scripts.

mod cards;
mod cast;
mod chart;
pub mod draw;
mod figures;
mod functions;
mod how;
mod lead;
mod page;
mod pivot;
mod release;
pub mod suite;
pub mod trade_off;
mod verdict;
mod words;

pub use page::Page;
pub use release::ReleasePage;

use crate::draw::STYLE;
use cast::Cast;
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// The Content-Security-Policy. It refuses scripts and images from other origins. It permits images in
/// `data:` URLs, because the page's script converts a chart to an image.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src \
    data:; base-uri 'none'; form-action 'none'";

/// An HTML page with the title `title`, in the style of all pages of this crate. It loads no other file.
pub fn document(title: &str, content: Markup) -> String {
    let body = html! {
        main { (content) }
        script { (PreEscaped(include_str!("script.js"))) }
    };
    written(POLICY, title, include_str!("style.css"), body)
}

/// An HTML page with its Content-Security-Policy and its style.
fn written(policy: &str, title: &str, style: &str, body: Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="generator" content={ "scumble " (env!("CARGO_PKG_VERSION")) };
                title { (title) }
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

impl Page<'_> {
    /// The page as HTML.
    pub fn to_html(&self) -> String {
        let scores = self.outcome.scores();
        let title = self.title();
        let content = html! {
            h1 { (title) }
            (self.lead(&scores))
            @if let Some(first) = scores.first() {
                @let cast = Cast::new(self.outcome, first);
                (self.verdicts(first))
                (self.by_budget(first, &cast))
                (self.tradeoffs(&scores, &cast))
                (self.pivots(&scores))
                (self.other_charts(&scores[1..], &cast))
                (self.tunings())
                (self.cards(&first.series))
            }
            @else { p { "No mechanism applies to this data set." } }
            (self.left_out())
            (self.how())
        };
        document(&title, content)
    }

    /// The chart of scores against ε for the first model and metric, as a separate SVG file; `None` if there
    /// are no scores.
    pub fn to_svg(&self) -> Option<String> {
        let scores = self.outcome.scores();
        let first = scores.first()?;
        let looks = html! {
            style { (PreEscaped(STYLE)) "text{font-family:system-ui,sans-serif}" }
            rect width="100%" height="100%" fill="var(--paper)" {}
            @if let Some(warning) = self.comparison.warning() {
                desc { (warning) }
                (chart::caption("NOT private: for the owner of the data"))
            }
        };
        let cast = Cast::new(self.outcome, first);
        let chart = chart::chart(first, &self.comparison.epsilons, &self.known(first), &cast, looks);
        Some(chart.into_string() + "\n")
    }
}
