//! Figure 2 of Learning to Noise: nines, released by a mechanism that is learned from the records of people
//! (volunteers) who have no nines.

use super::benchmark;
use super::collection::{BOTH, Collection, Level, Plan, Shares, Subject, TestRecords};
use super::figures::{
    HIGH, JOINTLY, LOW, RULES, above_chance, budgets, costs_rise, digits, figure, latents_against_features,
    rises,
};
use super::people::{Data, Sizes};
use super::reports::{self, with_comparison};
use super::{SEEDED, percent};
use crate::report::Evidence;
use crate::rules;
use crate::trials::Mean;
use crate::{Agreement, Finding, Result, RunOptions};

pub(super) const NINES: Subject =
    Subject { name: "vlm/novel-mnist", data: Data::nines, plan, chance: 0.5, notes };

/// Local ε at which the paper states an accuracy; `PRINTED` is this accuracy.
const PRINTED_AT: f64 = 2.0;
const PRINTED: f64 = 0.75;

fn plan(options: &RunOptions) -> Plan {
    let [central, mut local] = budgets(options);
    if options.quick {
        local.insert(1, PRINTED_AT);
    }
    let digits = digits(options);
    let sizes = match options.quick {
        true => digits.sizes,
        false => Sizes { volunteers: usize::MAX, others: usize::MAX, test: usize::MAX },
    };
    Plan { sizes, central, local, classes: 2, shares: Shares::KnownLabels, shows_images: false, ..digits }
}

fn notes(_: &Plan) -> Vec<String> {
    vec![
        "Volunteers have eight ninths of the images of 0 to 8. People who share have the nines, and as many \
         images of the rest. Labels are known, because people are asked by label, so records get all of ε."
            .into(),
        RULES.into(),
        JOINTLY.into(),
        SEEDED.into(),
    ]
}

pub(super) fn figure_2(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let collection = NINES.collected(options)?;
    let mut findings = near_the_printed(&collection);
    findings.push(above_chance(&collection, TestRecords::Clean, &BOTH, NINES.chance));
    findings.extend(rise(options, &collection)?);
    for (range, claim) in [
        (&HIGH, (&rules::LATENTS_AHEAD, "latents are better at high local ε")),
        (&LOW, (&rules::LATENTS_NOT_AHEAD, "latents are not better at lower local ε")),
    ] {
        findings.extend(latents_against_features(&collection, TestRecords::Clean, range, claim));
    }
    findings.extend(costs_rise(&collection, &NINES.collected_alike(options)?));
    findings.push(benchmark::at_large_budgets(options, &NINES, &[20.0, 50.0, 100.0])?);
    let title = "Nines that the mechanism has not seen (Figure 2)";
    let found = figure(&collection, &NINES, findings, TestRecords::Clean, &BOTH, title);
    let directions = reports::accuracies(options, &NINES, "vlm/novel-mnist/directions")?;
    Ok(with_comparison(found, &collection, &directions, &BOTH, TestRecords::Clean))
}

/// Finding on the rise with ε of the accuracy of the rule that validation chooses. If this accuracy hardly
/// rises, the finding is on the paper's network alone.
fn rise(options: &RunOptions, collection: &Collection) -> Result<Option<Finding>> {
    let found = rises(collection, TestRecords::Clean, &BOTH);
    let Some(chosen) = found.as_ref().filter(|found| found.decision.verdict == Agreement::Differs) else {
        return Ok(found);
    };
    let plan = plan(options);
    let mut finite = plan.local.iter().copied().filter(|local| local.is_finite());
    let ends = [finite.next(), finite.next_back()].into_iter().flatten().collect();
    let plan = Plan { network_alone: true, local: ends, ..plan };
    let alone = Collection::run(options, "vlm/novel-mnist-network", &(NINES.data)(options)?, plan)?;
    Ok(rises(&alone, TestRecords::Clean, &BOTH).map(|network| Finding {
        why: format!(
            "for the paper's network alone, with five releases a trial at ε = 1; {}; with the two \
             classifiers below, where mean directions reach nearly all of the accuracy at small ε, {}: {}",
            network.why, chosen.ours, chosen.why
        ),
        ..network
    }))
}

/// Findings on the accuracy that the paper prints, without a guarantee for volunteers, on latents and on
/// features.
fn near_the_printed(collection: &Collection) -> Vec<Finding> {
    let Some(at) = collection.plan.local.iter().position(|local| *local == PRINTED_AT) else { return vec![] };
    let finding = |(level, name): (&Level, &str)| {
        let accuracies = collection.accuracies(0, at, *level, TestRecords::Clean);
        let mean = Mean::from_values(&accuracies);
        Finding {
            what: format!("nines recognised on {name}, at local ε = {PRINTED_AT} and central ε = ∞"),
            paper: "about 75 %".into(),
            ours: format!("{} %", percent(&accuracies)),
            value: Some(100.0 * mean.value),
            decision: rules::READ_OFF.on(mean.value - PRINTED),
            why: "± a standard deviation".into(),
        }
    };
    BOTH.iter().zip(["latents", "features"]).map(finding).collect()
}
