//! The paper's benchmark, independent noise on each column, at local ε beyond the figures.

use super::collection::Subject;
use super::learner::{Released, Rule};
use super::percent;
use super::sharing::{classes_of, flipped};
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Result, RunOptions};
use scumble_core::{Brief, Budget};
use serde_json::{Value, json};

/// Finding on whether the benchmark classifies at chance at each of `budgets`. Records get the paper's share
/// of the local ε, in equal parts for the columns, and labels the rest. The rule is the nearest of the
/// released classes' mean directions.
pub(super) fn at_large_budgets(options: &RunOptions, subject: &Subject, budgets: &[f64]) -> Result<Finding> {
    let found: Vec<(f64, Vec<f64>, f64)> = budgets
        .iter()
        .map(|local| {
            let (accuracies, tests) = accuracies(options, subject, *local)?;
            let mean = Mean::from_values(&accuracies);
            // The trials may agree by coincidence: the error includes that of drawing the test records.
            let records = (tests * accuracies.len().max(1)) as f64;
            let error = mean.error.hypot((subject.chance * (1.0 - subject.chance) / records).sqrt());
            Ok((*local, accuracies, (mean.value - subject.chance) / error))
        })
        .collect::<Result<_>>()?;
    let entries = found.iter().map(|(local, accuracies, errors)| {
        format!("{} % at ε = {local} ({errors:+.1} standard errors)", percent(accuracies))
    });
    let most = found.iter().map(|(.., errors)| *errors).fold(f64::NEG_INFINITY, f64::max);
    let farthest = found.iter().map(|(.., errors)| errors.abs()).fold(0.0, f64::max);
    let largest = budgets.iter().copied().fold(f64::NAN, f64::max);
    Ok(Finding {
        what: format!("noise on each column separately classifies at chance up to local ε = {largest}"),
        paper: format!("random accuracy at every local ε up to {largest}"),
        ours: entries.collect::<Vec<_>>().join(", "),
        value: Some(most),
        decision: rules::AT_CHANCE.on(farthest),
        why: format!(
            "± a standard deviation; chance is {:.0} %; records are classified by the nearest mean direction \
             of a class, and means average the noise over all records",
            100.0 * subject.chance
        ),
    })
}

/// Accuracy of each trial on test records in the clear, and the number of test records.
fn accuracies(options: &RunOptions, subject: &Subject, local: f64) -> Result<(Vec<f64>, usize)> {
    let name = format!("{}-noise-on-columns", subject.name);
    let store = options.finished(&name)?;
    let plan = (subject.plan)(options);
    let (record_epsilon, label_epsilon) = plan.split(local)?;
    let one = |trial: usize| {
        let words = json!({
            "of": name, "trial": trial, "local": local, "share": plan.share(local), "sizes": plan.sizes,
            "seed": options.seed, "scumble": env!("CARGO_PKG_VERSION"),
        });
        options.once(&store, &words, || {
            let mut stream = options.randomness(subject.name, &[trial as u64]).streams().stream(0);
            let people = (subject.data)(options)?.divided(plan.sizes, &mut stream)?;
            let mut randomness = options.randomness(&name, &[trial as u64, local.to_bits()]);
            let unlabelled = people.domain.without_target();
            let brief = Brief::new(unlabelled.clone(), Budget::pure(record_epsilon)?);
            let design = options.registry.get("direct")?.design(&Value::Null, &brief)?;
            let release = design.mechanism().release(&people.sharing.part(&unlabelled)?, &mut randomness)?;
            let (labels, flip) =
                flipped(&classes_of(&people.sharing), plan.classes, label_epsilon, &mut randomness)?;
            let released = Released { records: release.table.records().clone(), labels, flip };
            let right =
                Rule::fit_means(&released).accuracy(people.test.records().view(), &classes_of(&people.test));
            Ok((right, people.test.len()))
        })
    };
    let found: Vec<(f64, usize)> = (0..plan.trials).map(one).collect::<Result<_>>()?;
    let tests = found.first().map_or(0, |(_, tests)| *tests);
    Ok((found.into_iter().map(|(right, _)| right).collect(), tests))
}
