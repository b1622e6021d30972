//! Our mechanisms compared with the paper's method, by the accuracy of models learned from reports of the
//! same people.

use super::collection::{Collection, Level, Plan, Subject, TestRecords};
use super::people::People;
use super::sharing::classes_of;
use super::{curve, percent, shown};
use crate::report::Evidence;
use crate::reported::{self, Study};
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Result, RunOptions};
use ndarray::{Array1, Axis, concatenate};
use scumble_core::{Table, Target, Volunteers};
use scumble_reports::{DIRECTION_REPORT, LEARNED_CODES};
use serde_json::json;

/// Note on learning from the reports.
pub(super) const LEARNED: &str = "Codes are clusters of the records of at most 15,000 volunteers, without \
    their labels. A public rule sets the number of codes from ε and the number of people. Each person \
    reports code and label together, at all of ε. A record gets the most frequent reported label of its \
    code. Nobody has to validate.";

/// Note on learning from the reports where labels are known.
const LEARNED_BY_LABELS: &str = "Each person reports the record's coordinates along the volunteers' \
    principal directions. A public rule sets the number of directions from ε and the number of people. The \
    report has all of ε, because the label is known. A record gets the class with the nearest estimated \
    mean, in the volunteers' standard deviations. Nobody has to validate.";

/// Accuracy on test records, as shares: for each finite local ε, its index in the plan, its value, and the
/// accuracy of each trial.
pub(super) type Accuracies = Vec<(usize, f64, Vec<f64>)>;

/// Accuracy of learned codes, or of directions where labels are known, for the people of `subject`.
/// Volunteers and others are divided as for the paper's method. `name` determines the random draws.
pub(super) fn accuracies(options: &RunOptions, subject: &Subject, name: &str) -> Result<Accuracies> {
    let plan = (subject.plan)(options);
    let data = (subject.data)(options)?;
    let store = options.finished(name)?;
    let finite = plan.local.iter().copied().enumerate().filter(|(_, local)| local.is_finite());
    let mut found: Accuracies = finite.map(|(at, local)| (at, local, vec![])).collect();
    for trial in 0..plan.trials {
        let mut randomness = options.randomness(name, &[trial as u64]);
        let people = data.divided(plan.sizes, &mut randomness.streams().stream(0))?;
        let all = people.volunteers.len();
        let asked = if plan.private_labels() { all.min(reported::VOLUNTEERS) } else { all };
        for (_, local, accuracies) in &mut found {
            let mut words = json!({
                "of": name, "trial": trial, "local": local, "sizes": plan.sizes, "seed": options.seed,
                "scumble": env!("CARGO_PKG_VERSION"),
            });
            if asked < all {
                words["volunteers"] = json!(asked);
            }
            if !plan.private_labels() {
                words["by"] = json!(DIRECTION_REPORT.name);
            }
            let mut randomness = options.randomness(name, &[trial as u64, local.to_bits()]);
            let run = || {
                let study = Study {
                    domain: &people.domain,
                    volunteers: &people.volunteers,
                    whose: Volunteers::Consented,
                    sharing: &together(&people)?,
                    test: &people.test,
                };
                match plan.private_labels() {
                    true => study.accuracy(*local, &mut randomness),
                    false => study.accuracy_by_known_labels(*local, &mut randomness),
                }
            };
            accuracies.push(options.once(&store, &words, run)?);
        }
    }
    Ok(found)
}

/// Joins the people who share and the people who would validate: all of them report.
fn together(people: &People) -> Result<Table> {
    let tables = [&people.sharing, &people.validation];
    let records = tables.map(|table| table.records().view());
    let classes: Array1<usize> = tables.iter().flat_map(|table| classes_of(table)).collect();
    let records =
        concatenate(Axis(0), &records).map_err(|problem| scumble_core::Error::shape(problem.to_string()))?;
    Ok(Table::new(people.sharing.columns().to_vec(), records, Target::Class(classes))?)
}

/// Accuracy of the class that a person answers for a record that is not in the clear.
///
/// The answer is the class by the learned codes, through randomised response at the ε that the paper's method
/// gives records. The codes and their classes are public by then, so the person's own device classifies.
pub(super) fn answered(accuracies: Accuracies, plan: &Plan) -> Result<Accuracies> {
    let answer = |(at, local, found): (usize, f64, Vec<f64>)| {
        let answered = |right| reported::answered(right, plan.classes, plan.share(local) * local);
        Ok((at, local, found.into_iter().map(answered).collect::<Result<_>>()?))
    };
    accuracies.into_iter().map(answer).collect()
}

/// Note on answering the class of a record that is not in the clear.
pub(super) const ANSWERED: &str = "For a record that is not in the clear, the person's own device answers \
    with the class that the learned codes give. The answer is by randomized response at the ε that records \
    get in the paper's method. The accuracy follows in closed form from that of codes in the clear. The \
    answer keeps the class with probability e^ε/(e^ε + K − 1), and each other class gets an equal share of \
    the rest.";

/// Adds our results to a figure of the paper's accuracies at these `levels`: a finding, a table, and a curve
/// in each panel of accuracies.
pub(super) fn with_comparison(
    mut found: Evidence,
    collection: &Collection,
    accuracies: &Accuracies,
    levels: &[Level],
    tested: TestRecords,
) -> Evidence {
    let plugin = if collection.plan.private_labels() { LEARNED_CODES } else { DIRECTION_REPORT };
    let name = format!("{} (ours)", plugin.name);
    let papers = |at: usize| -> Vec<Vec<f64>> {
        levels.iter().map(|level| collection.accuracies(0, at, *level, tested)).collect()
    };
    found.findings.push(finding(&name, collection, accuracies, &papers, tested));
    let row = |(at, local, ours): &(usize, f64, Vec<f64>)| {
        [shown(*local), percent(ours)]
            .into_iter()
            .chain(papers(*at).iter().map(|papers| percent(papers)))
            .collect()
    };
    let header = ["local ε", &name].map(str::to_owned).into_iter();
    found.grids.push(Grid {
        title: format!("accuracy on records {}, %, ± a standard deviation, at central ε = ∞", tested.name()),
        header: header.chain(levels.iter().map(|level| level.name().to_owned())).collect(),
        rows: accuracies.iter().map(row).collect(),
    });
    let local: Vec<f64> = accuracies.iter().map(|(_, local, _)| *local).collect();
    for panel in found.picture.panels.iter_mut().take(levels.len()) {
        panel.layers.push(curve(name.clone(), collection.by.len(), &local, |at| accuracies[at].2.clone()));
    }
    found.notes.push(if collection.plan.private_labels() { LEARNED } else { LEARNED_BY_LABELS }.into());
    if tested == TestRecords::Private {
        found.notes.push(ANSWERED.into());
    }
    found
}

/// Finding on our gain in points over the best of the paper's releases without a guarantee for volunteers, at
/// each local ε. A difference counts if it is above two standard errors. The standard error is at least that
/// of drawing the test records twice.
fn finding(
    name: &str,
    collection: &Collection,
    accuracies: &Accuracies,
    papers: &dyn Fn(usize) -> Vec<Vec<f64>>,
    tested: TestRecords,
) -> Finding {
    let gains: Vec<(f64, f64, f64, f64)> = accuracies
        .iter()
        .map(|(at, local, ours)| {
            let best = papers(*at)
                .into_iter()
                .max_by(|a, b| Mean::from_values(a).value.total_cmp(&Mean::from_values(b).value));
            let [ours, papers] =
                [ours, &best.unwrap_or_default()].map(|accuracies| Mean::from_values(accuracies));
            let records = (collection.tests * collection.plan.trials).max(1) as f64;
            let test_variance: f64 =
                [ours, papers].iter().map(|mean| mean.value * (1.0 - mean.value) / records).sum();
            let error = (ours.error.powi(2) + papers.error.powi(2)).max(test_variance).sqrt();
            (*local, ours.value, papers.value, (ours.value - papers.value) / error)
        })
        .collect();
    let count = |is: fn(f64) -> bool| gains.iter().filter(|(.., errors)| is(*errors)).count();
    let (better, worse) = (count(|errors| errors > 2.0), count(|errors| errors < -2.0));
    let entries = gains.iter().map(|(local, ours, papers, _)| {
        format!("{:.1} against {:.1} % at ε = {local}", 100.0 * ours, 100.0 * papers)
    });
    Finding {
        what: format!("{name} instead of the paper's method, records {}", tested.name()),
        paper: "the best of the paper's releases, central ε = ∞".into(),
        ours: entries.collect::<Vec<_>>().join("; "),
        value: Some(better as f64),
        decision: rules::GAINS.on_gains(gains.iter().map(|(.., errors)| *errors)),
        why: format!(
            "better by over two standard errors at {better} of {} local ε, worse by over two at {worse}",
            gains.len()
        ),
    }
}
