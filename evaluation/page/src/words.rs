//! Texts and numbers in the forms that all parts of the page use.

use maud::{Markup, html};
use scumble_core::{Guarantee, Unit};

/// A shell command. A narrow screen breaks it between options only, never within an option.
pub(super) fn command(line: &str) -> Markup {
    html! {
        pre.command {
            @for (at, part) in line.split(" --").enumerate() {
                @if at == 0 { (part) } @else { " " span.option { "--" (part) } }
            }
        }
    }
}

/// A table cell with a number: its sort key, and the displayed text `shown`. A NaN sorts last.
pub(super) fn number(value: f64, shown: Markup) -> Markup {
    let key = match value {
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        value if value.is_nan() => String::new(),
        value => value.to_string(),
    };
    html! { td.number data-value=(key) { (shown) } }
}

/// A warning mark if a claim of `guarantee` is void. The mark's tooltip gives the reasons, and the
/// mechanism's card (its guarantee in words) explains them in full.
pub(super) fn warned(guarantee: &Guarantee) -> Markup {
    let warnings = guarantee.warnings();
    html! { @if !warnings.is_empty() { " " strong.warning title=(warnings.join("; ")) { "WARNING" } } }
}

/// The units of privacy that valid claims protect, in words. If a claim protects whole records, only whole
/// records are listed.
pub(super) fn protected(guarantee: &Guarantee) -> String {
    let valid = guarantee.claims.iter().filter(|claim| claim.warning().is_none());
    let mut units: Vec<Unit> = valid.map(|claim| claim.protects).collect();
    if units.contains(&Unit::Record) {
        units.retain(|unit| *unit == Unit::Record);
    }
    units.dedup();
    if units.is_empty() {
        return "nothing".into();
    }
    units.iter().map(Unit::to_string).collect::<Vec<_>>().join("; ")
}

/// A count with its noun, such as `1 trial` or `50 trials`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{} {what}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A count with a comma before every three digits.
pub(super) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| str::from_utf8(group).ok()).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_in_groups_of_three() {
        for (count, words) in
            [(0, "0 trials"), (1, "1 trial"), (1599, "1,599 trials"), (1_000_000, "1,000,000 trials")]
        {
            assert_eq!(counted(count, "trial"), words);
        }
    }
}
