//! All claims of a mechanism, a design or a plugin, attacked.

use crate::finding::{Broken, Finding, Verdict};
use crate::{Effort, Result, central, direct, effort, halves, local, reconstruction, resistance};
use scumble_core::{
    Brief, Budget, Claim, Design, Designed, Notion, Plugin, Randomness, Table, Unit, interrupt,
};

/// Attacks every claim that `mechanism`, called `name`, makes. Some need records: `table` has them, if there are any.
///
/// Local claims are attacked by samples of `perturb`, and of whole releases; central ones, of records or of their features, by releases of
/// neighbouring tables; Cramér–Rao claims by reconstruction; ambiguity and secrecy by releases of two tables that are to have one distribution;
/// resistance to recovery by the count of what leaves, and by the key of another release; mutual information by who knows all records and the sets that they were drawn in. Where a design claims nothing, for its numbers come from the records, what a release of
/// the rows that are attacked claims is attacked. What only the mechanism's own crate can attack, such as a training
/// ([`canary`](crate::canary)), is listed as not attacked; there, [`recovery`](crate::recovery) takes attacks by who knows the public
/// part of mixtures.
///
/// # Errors
/// Where the mechanism cannot be released from.
pub fn audit(
    name: &str,
    mechanism: &Designed,
    table: Option<&Table>,
    effort: Effort,
) -> Result<Vec<Finding>> {
    let design = mechanism.guarantee();
    let claims = match (table, design.each_release.is_empty()) {
        // A release from a seed would claim nothing.
        (Some(table), false) => {
            let attacked = reconstruction::rows(table)?;
            mechanism.release(&attacked, &mut Randomness::from_os()?)?.guarantee.claims
        }
        _ => design.claims,
    };
    if claims.is_empty() {
        let finding = Finding::about(name, "nothing", effort);
        return Ok(vec![match design.each_release.is_empty() {
            true => finding.unattacked(Verdict::NothingClaimed, "it claims nothing"),
            false => finding
                .unattacked(Verdict::NotAttacked, "its claims are its releases', and there are no records"),
        }]);
    }
    let attacked = |claim: &Claim| {
        let finding = attack(name, mechanism, table, claim, effort)?;
        interrupt::check()?; // an attack that was interrupted found nothing
        Ok(finding)
    };
    claims.iter().map(attacked).collect()
}

fn attack(
    name: &str,
    mechanism: &Designed,
    table: Option<&Table>,
    claim: &Claim,
    effort: Effort,
) -> Result<Finding> {
    match (&claim.notion, mechanism, table) {
        (Notion::LocalDp(dp), Designed::Local(of_records), _) => {
            local::attack(name, &**of_records, claim, dp, effort)
        }
        (Notion::CentralDp(dp), _, Some(table))
            if matches!(claim.protects, Unit::Record | Unit::Features) =>
        {
            central::tables(name, mechanism, table, (claim, dp), effort)
        }
        (Notion::CramerRao(bound), _, Some(table)) => {
            reconstruction::attack(name, mechanism, table, (claim, bound), effort)
        }
        (Notion::PacResistance(pac), ..) if pac.budget < 1.0 => {
            let why = claim.warning().unwrap_or_default();
            Ok(Finding::about(name, claim, effort).unattacked(Verdict::NothingClaimed, &why))
        }
        (Notion::PacResistance(pac), Designed::Curator(_), Some(table)) => {
            resistance::attack(name, mechanism, &reconstruction::rows(table)?, (claim, pac), effort)
        }
        (Notion::MutualInformation(bound), _, Some(table)) => {
            halves::attack(name, mechanism, &reconstruction::rows(table)?, (claim, bound), effort)
        }
        (Notion::AmbiguitySet(_) | Notion::PerfectSecrecy(_), _, Some(table)) => {
            direct::members(name, mechanism, table, claim, effort)
        }
        _ => {
            let why = "what would attack it is in the tests of the mechanism's own crate, if anywhere";
            Ok(Finding::about(name, claim, effort).unattacked(Verdict::NotAttacked, why))
        }
    }
}

/// Attacks every claim of a plugin's own example, at each ε of `effort` and a δ of 0.01.
///
/// # Errors
/// Where the example does not design, or cannot be released from.
pub fn audit_plugin(plugin: &Plugin, effort: Effort) -> Result<Vec<Finding>> {
    let example = (plugin.example)()?;
    let mut findings = vec![];
    for epsilon in effort.epsilons {
        let brief = Brief { budget: Budget::new(*epsilon, effort::DELTA)?, ..example.brief.clone() };
        let design = plugin.design(&example.parameters, &brief)?;
        findings.extend(audit(plugin.name, design.mechanism(), Some(&example.table), effort)?);
        if !design.mechanism().guarantee().has_dp() {
            break; // ε does not govern it
        }
    }
    Ok(findings)
}

/// Attacks every claim of a saved design, as it was designed.
///
/// # Errors
/// Where it cannot be released from.
pub fn audit_design(design: &Design, effort: Effort) -> Result<Vec<Finding>> {
    audit(&design.origin().plugin, design.mechanism(), None, effort)
}

/// The quick audit of a plugin, as one line of its author's tests.
///
/// ```no_run
/// # let MY_PLUGIN = scumble_classic::LAPLACE;
/// scumble_adversary::check(&MY_PLUGIN).unwrap();
/// ```
///
/// # Errors
/// The claims that are broken, each with how an adversary breaks it; or that the example cannot be released from.
pub fn check(plugin: &Plugin) -> std::result::Result<(), Box<dyn std::error::Error>> {
    Ok(Broken::among(&audit_plugin(plugin, Effort::quick())?)?)
}

/// The quick audit of a variant that is wrong on purpose, as one line of its author's tests: what it says of the claims that do not hold.
///
/// # Errors
/// Where nothing is found to be wrong, with what was found; or where it cannot be released from.
pub fn caught(variant: impl Into<Designed>) -> std::result::Result<String, Box<dyn std::error::Error>> {
    let findings = audit("the faulty variant", &variant.into(), None, Effort::quick())?;
    let broken = findings.iter().filter(|finding| finding.verdict == Verdict::Broken);
    let sentences: Vec<String> = broken.map(ToString::to_string).collect();
    match sentences.is_empty() {
        true => Err(format!("no claim of the faulty variant was broken: {findings:?}").into()),
        false => Ok(sentences.join("\n")),
    }
}
