//! Audits of all claims of a mechanism, a design or a plugin.

use crate::finding::{Broken, Finding, Verdict};
use crate::{Effort, Result, central, direct, effort, halves, local, reconstruction, resistance};
use scumble_core::{
    Brief, Budget, Claim, Design, Designed, Notion, Plugin, Randomness, Table, Unit, interrupt,
};

/// Attacks every claim of `mechanism`, called `name`. `table` supplies records for the attacks that need
/// some.
///
/// The attack depends on the claim:
///
/// - Local differential privacy: samples of `perturb`, which randomises one encoded record, and whole
///   releases.
/// - Central differential privacy, of records or of their features: releases of neighbouring tables.
/// - Cramér–Rao: reconstruction.
/// - Ambiguity and secrecy: releases of two tables that must have the same distribution.
/// - Resistance to recovery: a comparison of the number of released samples with the number in the claim.
///   Then two inversions: one learned from the public parts of the release's own mixtures, and one learned
///   with the key (the secret transformation) of another release.
/// - Mutual information: an adversary that knows all records, and all subsets of them that a release may be
///   made from.
///
/// If the numbers of a claim are computed from the records, only a release states the claim; the design does
/// not. The audit then releases rows of `table`, and attacks the claims of this release.
///
/// Claims that only the mechanism's own crate can attack, such as claims of a training, are listed as not
/// attacked. The tests of these crates can use two functions. [`canary`](crate::canary) attacks trainings.
/// [`recovery`](crate::recovery) tests a recovery attack that the caller writes. An example is an attack on
/// mixtures, weighted sums of public and private records, by an adversary that knows the public records.
///
/// # Errors
/// An error if a release from the mechanism fails.
pub fn audit(
    name: &str,
    mechanism: &Designed,
    table: Option<&Table>,
    effort: Effort,
) -> Result<Vec<Finding>> {
    let design = mechanism.guarantee();
    let claims = match (table, design.each_release.is_empty()) {
        // The seed is random, because a release from a fixed seed would claim nothing.
        (Some(table), false) => {
            let attacked = attacked_rows(mechanism, table)?;
            mechanism.release(&attacked, &mut Randomness::from_os()?)?.guarantee.claims
        }
        _ => design.claims,
    };
    if claims.is_empty() {
        let finding = Finding::about(name, "nothing", effort);
        return Ok(vec![match design.each_release.is_empty() {
            true => finding.unattacked(Verdict::NothingClaimed, "it claims nothing"),
            false => finding
                .unattacked(Verdict::NotAttacked, "only its releases make claims, and no records were given"),
        }]);
    }
    let attacked = |claim: &Claim| {
        let finding = attack(name, mechanism, table, claim, effort)?;
        interrupt::check()?; // The result of an interrupted attack is discarded.
        Ok(finding)
    };
    claims.iter().map(attacked).collect()
}

/// Rows of `table` that are released to attack claims of single releases. If the claim counts samples against
/// a budget, the rows are as many as the budget, and no more than `table` has.
fn attacked_rows(mechanism: &Designed, table: &Table) -> Result<Table> {
    let budget = mechanism.guarantee_of(table.len()).claims.iter().find_map(|claim| match claim.notion {
        Notion::PacResistance(pac) if pac.budget >= 1.0 => Some(pac.budget as usize),
        _ => None,
    });
    match budget {
        Some(budget) => table.select(&(0..table.len().min(budget)).collect::<Vec<_>>()),
        None => reconstruction::rows(table),
    }
}

fn attack(
    name: &str,
    mechanism: &Designed,
    table: Option<&Table>,
    claim: &Claim,
    effort: Effort,
) -> Result<Finding> {
    match (&claim.notion, mechanism, table) {
        (Notion::LocalDp(dp), Designed::Local(local_mechanism), _) => {
            local::attack(name, &**local_mechanism, claim, dp, effort)
        }
        (Notion::CentralDp(dp), _, Some(table))
            if matches!(claim.protects, Unit::Record | Unit::Features) =>
        {
            central::tables(name, mechanism, table, (claim, dp), None, effort)
        }
        (Notion::MetricDp(metric), _, Some(table))
            if matches!(claim.protects, Unit::Record | Unit::Features) =>
        {
            central::tables(name, mechanism, table, (claim, &metric.dp), Some(metric.distance), effort)
        }
        (Notion::CramerRao(bound), _, Some(table)) => {
            reconstruction::attack(name, mechanism, table, (claim, bound), effort)
        }
        (Notion::PacResistance(pac), ..) if pac.budget < 1.0 => {
            let why = claim.warning().unwrap_or_default();
            Ok(Finding::about(name, claim, effort).unattacked(Verdict::NothingClaimed, &why))
        }
        (Notion::PacResistance(pac), Designed::Curator(_), Some(table)) => {
            resistance::attack(name, mechanism, &attacked_rows(mechanism, table)?, (claim, pac), effort)
        }
        (Notion::MutualInformation(bound), _, Some(table)) => {
            halves::attack(name, mechanism, &reconstruction::rows(table)?, (claim, bound), effort)
        }
        (Notion::AmbiguitySet(_) | Notion::PerfectSecrecy(_), _, Some(table)) => {
            direct::members(name, mechanism, table, claim, effort)
        }
        _ => {
            let why = "no general attack on this claim exists; the tests of the mechanism's crate may attack \
                       it";
            Ok(Finding::about(name, claim, effort).unattacked(Verdict::NotAttacked, why))
        }
    }
}

/// Attacks every claim of the example that a plugin supplies, at each ε of `effort` and δ = 0.01.
///
/// # Errors
/// An error if the example cannot be designed, or if a release from it fails.
pub fn audit_plugin(plugin: &Plugin, effort: Effort) -> Result<Vec<Finding>> {
    let example = (plugin.example)()?;
    let mut findings = vec![];
    for epsilon in effort.epsilons {
        let brief = Brief { budget: Budget::new(*epsilon, effort::DELTA)?, ..example.brief.clone() };
        let design = plugin.design(&example.parameters, &brief)?;
        findings.extend(audit(plugin.name, design.mechanism(), Some(&example.table), effort)?);
        if !design.mechanism().guarantee().has_dp() {
            break; // Without differential privacy, the mechanism does not depend on ε.
        }
    }
    Ok(findings)
}

/// Attacks every claim of a saved design, at the budget that it was designed for.
///
/// Saved designs hold no private records. If a design holds public records, these are released in their
/// place. For other designs, claims whose attack needs records are listed as not attacked.
///
/// # Errors
/// An error if a release from the design fails.
pub fn audit_design(design: &Design, effort: Effort) -> Result<Vec<Finding>> {
    let public = design.mechanism().evidence().mixtures.map(|mixtures| mixtures.public()).transpose()?;
    audit(&design.origin().plugin, design.mechanism(), public.as_ref(), effort)
}

/// Quick audit of a plugin, as one line of its author's tests.
///
/// ```no_run
/// # let MY_PLUGIN = scumble_classic::LAPLACE;
/// scumble_adversary::check(&MY_PLUGIN).unwrap();
/// ```
///
/// # Errors
/// The broken claims, each with the attack that breaks it; or an error if a release from the example fails.
pub fn check(plugin: &Plugin) -> std::result::Result<(), Box<dyn std::error::Error>> {
    Ok(Broken::among(&audit_plugin(plugin, Effort::quick())?)?)
}

/// Quick audit of a faulty variant of a mechanism, as one line of the tests of the mechanism's author. It
/// returns the findings on the broken claims as text.
///
/// # Errors
/// An error with the findings if no claim is broken; or an error if a release from the variant fails.
pub fn caught(variant: impl Into<Designed>) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let findings = audit("the faulty variant", &variant.into(), None, Effort::quick())?;
    let broken = findings.iter().filter(|finding| finding.verdict == Verdict::Broken);
    let sentences: Vec<String> = broken.map(ToString::to_string).collect();
    match sentences.is_empty() {
        true => Err(format!("no claim of the faulty variant was broken: {findings:?}").into()),
        false => Ok(sentences.join("\n")),
    }
}
