//! `scumble audit`: attacks on the privacy claims of mechanisms and designs.

use super::trade_off::{Curve, Named};
use super::{Failure, print, print_json, progress_bar};
use crate::accounting::trade_off::of_points;
use crate::adversary::{
    Broken, Coupled, Effort, Finding, Measure, ProfilePoint, Verdict, audit_design, audit_plugin,
};
use crate::core::{self, Plugin, Registry};
use crate::custody::ShippedDesign;
use clap::{ArgGroup, Args};
use comfy_table::{CellAlignment, Table, presets};
use rayon::prelude::*;
use serde_json::json;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  scumble audit laplace --quick
  scumble audit --design design.json";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("what").required(true).args(["name", "design", "all"])))]
pub(super) struct AuditArguments {
    /// A mechanism, as `list` shows it: the audit attacks the mechanism's example design.
    name: Option<String>,
    /// A saved design.
    #[arg(long, value_name = "DESIGN.json")]
    design: Option<PathBuf>,
    /// All mechanisms.
    #[arg(long)]
    all: bool,
    /// Draw fewer samples, and attack a mechanism at ε = 1 only.
    #[arg(long)]
    quick: bool,
    /// The random seed: the same seed gives the same audit.
    #[arg(long, default_value_t = Effort::quick().seed)]
    seed: u64,
    #[command(flatten)]
    curve: Curve,
}

pub(super) fn audit(registry: &Registry, arguments: &AuditArguments, as_json: bool) -> Result<(), Failure> {
    let effort = if arguments.quick { Effort::quick() } else { Effort::full() };
    let effort = Effort { seed: arguments.seed, ..effort };
    let findings = match (&arguments.design, &arguments.name) {
        (Some(file), _) => audit_design(ShippedDesign::read(file, registry)?.design(), effort)?,
        (None, Some(name)) => audit_plugins(&[registry.get(name)?], effort)?,
        (None, None) => audit_plugins(&registry.iter().collect::<Vec<_>>(), effort)?,
    };
    let trade_off = arguments.curve.draw(|| Ok(findings.iter().flat_map(curves).collect()))?;
    if as_json {
        let mut output = json!({
            "seed": effort.seed,
            "verdicts": "for the inputs that were tried",
            "findings": findings,
        });
        if let Some(trade_off) = trade_off {
            output["trade_off"] = trade_off;
        }
        print_json(&output)?;
    } else {
        print(&report(&findings, effort))?;
    }
    Ok(Broken::among(&findings)?)
}

/// Trade-off functions of a finding about ε: the claimed one, and the highest that the audit does not refute.
///
/// At each ε of the privacy profile, the audit has a lower bound on δ. Without a profile, it has one on ε, at
/// δ = 0. A trade-off function that is nowhere below the lines of such a point is refuted.
fn curves(finding: &Finding) -> Vec<Named<'_>> {
    let points = |pure: Option<f64>, delta: fn(&ProfilePoint) -> f64| -> Vec<(f64, f64)> {
        let pure = pure.filter(|_| finding.profile.is_empty() && finding.measure == Measure::Epsilon);
        let points = finding.profile.iter().map(|point| (point.epsilon, delta(point)));
        points.chain(pure.map(|epsilon| (epsilon, 0.0))).collect()
    };
    let named = |what: &str, points: Vec<(f64, f64)>| -> Named {
        let of = move |alpha: f64| of_points(&points, alpha);
        (format!("{}, {}: {what}", finding.mechanism, finding.claim), Box::new(of))
    };
    let claimed = points(finding.claimed, |point| point.claimed);
    let audited = points(finding.lower_bound, |point| point.lower_bound);
    match claimed.is_empty() || audited.is_empty() {
        true => vec![],
        false => vec![named("claimed", claimed), named("audited: no better than", audited)],
    }
}

fn audit_plugins(plugins: &[&Plugin], effort: Effort) -> Result<Vec<Finding>, Failure> {
    let bar = progress_bar(plugins.len() as u64, "attacking {msg} {bar:40} {pos}/{len}, {elapsed}");
    let attacked = plugins.par_iter().map(|plugin| {
        bar.set_message(plugin.name);
        bar.tick();
        let findings = audit_plugin(plugin, effort);
        bar.inc(1);
        findings
    });
    let findings = attacked.collect::<core::Result<Vec<_>>>()?.concat();
    bar.finish_and_clear();
    Ok(findings)
}

/// Formats the findings as a table, and below it the audited privacy profiles, the distances between
/// worst-case points that the same random numbers perturbed, and the claims without a verdict.
fn report(findings: &[Finding], effort: Effort) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["mechanism", "claims", "lower bound", "pairs", "verdict"]);
    for finding in findings {
        let shown = finding.lower_bound.map_or(String::new(), |bound| match finding.measure {
            Measure::Epsilon => format!("ε ≥ {}", rounded(bound)),
            Measure::Precision => format!("error ≤ {}", rounded(1.0 / bound + 1e-3)),
            Measure::Success => format!("success ≥ {}", rounded(bound)),
            Measure::Nats => format!("{} nats or more", rounded(bound)),
            _ => rounded(bound),
        });
        let shown = match finding.mu_shown.zip(finding.mu_claimed) {
            Some((mu, claimed)) => format!("{shown}, μ ≥ {} of {}", rounded(mu), rounded(claimed + 1e-3)),
            None => shown,
        };
        let pairs = if finding.pairs > 0 { finding.pairs.to_string() } else { String::new() };
        let (claim, verdict) = (finding.claim.clone(), finding.verdict.to_string());
        table.add_row([finding.mechanism.clone(), claim, shown, pairs, verdict]);
    }
    if let Some(pairs) = table.column_mut(3) {
        pairs.set_cell_alignment(CellAlignment::Right);
    }
    let mut text = table.trim_fmt();
    for finding in findings.iter().filter(|finding| finding.profile.len() > 2) {
        text += &format!(
            "\n\n{}, {}: the privacy profile δ(ε), claimed, and its lower bound\n",
            finding.mechanism, finding.claim
        );
        let points = finding.profile.iter().map(|point| {
            let shown = match point.lower_bound {
                bound if bound > 0.0 => format!("{bound:.3e}"),
                _ => "0".into(),
            };
            format!("  ε = {:<6} δ ≤ {:.3e}  ≥ {shown}", rounded(point.epsilon), point.claimed)
        });
        text += &points.collect::<Vec<_>>().join("\n");
    }
    let coupled = findings.iter().filter_map(|finding| Some((finding, finding.coupled?)));
    let coupled: Vec<String> = coupled
        .map(|(finding, Coupled { unit, declared, found })| {
            format!(
                "\n  {}, {}: {unit} = {} declared, {} found",
                finding.mechanism,
                finding.claim,
                rounded(declared + 1e-3),
                rounded(found)
            )
        })
        .collect();
    if !coupled.is_empty() {
        text += "\n\nDistance between worst-case points perturbed by the same random numbers, relative to \
                 the noise:";
        text += &coupled.concat();
    }
    let attacked: Vec<&Finding> = findings.iter().filter(|finding| finding.samples > 0).collect();
    if !attacked.is_empty() {
        text += &format!(
            "\n\nLower bounds are audited: a claim below its bound is refuted. Each bound is wrong with \
             probability {:.0e} at most; seed {}.",
            effort.false_alarm, effort.seed
        );
        let is_far = |finding: &&Finding| {
            let reached = finding.lower_bound.unwrap_or(0.0);
            finding.claimed.is_some_and(|claimed| reached < claimed / 2.0)
        };
        if attacked.iter().any(is_far) {
            text += "\nIf a lower bound is less than half of its claim, more samples may raise it: rare \
                     outputs distinguish most.";
        }
    }
    let is_open = |verdict| matches!(verdict, Verdict::NotAttacked | Verdict::Inconclusive);
    let unattacked = findings.iter().filter(|finding| is_open(finding.verdict));
    unattacked.for_each(|finding| text += &format!("\n{finding}"));
    text
}

/// Formats `value` with three decimals, rounded down, so that no lower bound is printed above its value.
fn rounded(value: f64) -> String {
    match value {
        value if value.abs() < 1e6 => format!("{:.3}", (value * 1e3).floor() / 1e3),
        value => format!("{value:.3e}"),
    }
}
