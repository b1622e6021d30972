//! Learned codes beside the paper's method: what reports of the same people classify.

use super::collection::{BOTH, Collection, Of, Subject};
use super::people::People;
use super::sharing::classes_of;
use super::{curve, percent, shown};
use crate::report::Evidence;
use crate::trials::Mean;
use crate::{Agreement, Error, Finding, Grid, Result, RunOptions};
use ndarray::{Array1, Axis, concatenate};
use scumble_core::{Brief, Budget, Randomness, Table, Target, Volunteers, largest};
use scumble_reports::{LEARNED_CODES, LearnedCodes};
use serde_json::{Value, json};

/// What is learned from the reports.
pub(super) const LEARNED: &str = "Codes are clusters of the records of 15,000 volunteers at most, of which no label is used, as many as a public rule of ε and the number of people says; each person \
                                  reports code and label together, at all of ε. A record is classified as most reports of its code are. Nobody has to validate.";

/// Of more volunteers the first so many are asked: clusters of more take longer.
const VOLUNTEERS: usize = 15_000;

/// How often test records are classified rightly, as shares: of each finite local ε of the plan with its place there, of each trial.
pub(super) type Accuracies = Vec<(usize, f64, Vec<f64>)>;

/// By codes, for the people of a subject, divided among volunteers and the others as the paper's method has them; `name` is that of the draws.
pub(super) fn accuracies(options: &RunOptions, subject: &Subject, name: &str) -> Result<Accuracies> {
    let plan = (subject.plan)(options);
    let data = (subject.data)(options)?;
    let store = options.finished(name)?;
    let finite = plan.local.iter().copied().enumerate().filter(|(_, local)| local.is_finite());
    let mut found: Accuracies = finite.map(|(at, local)| (at, local, vec![])).collect();
    for trial in 0..plan.trials {
        let mut randomness = options.randomness(name, &[trial as u64]);
        let people = data.divided(plan.sizes, &mut randomness.streams().stream(0))?;
        let asked = people.volunteers.len().min(VOLUNTEERS);
        for (_, local, accuracies) in &mut found {
            let mut words = json!({
                "of": name, "trial": trial, "local": local, "sizes": plan.sizes, "seed": options.seed,
                "scumble": env!("CARGO_PKG_VERSION"),
            });
            if asked < people.volunteers.len() {
                words["volunteers"] = json!(asked);
            }
            let mut randomness = options.randomness(name, &[trial as u64, local.to_bits()]);
            let run = || accuracy(&people, asked, *local, &mut randomness);
            accuracies.push(options.once(&store, &words, run)?);
        }
    }
    Ok(found)
}

/// A record is classified as most reports of its code are, where so many volunteers are asked.
fn accuracy(people: &People, asked: usize, local: f64, randomness: &mut Randomness) -> Result<f64> {
    let sharing = together(people)?;
    let first: Vec<usize> = (0..asked).collect();
    let brief = Brief {
        volunteers: Volunteers::Consented(people.volunteers.select(&first)?),
        people: Some(sharing.len()),
        ..Brief::new(people.domain.clone(), Budget::pure(local)?)
    };
    let design = LEARNED_CODES.design(&Value::Null, &brief)?;
    let codes = design.mechanism().downcast_ref::<LearnedCodes>().ok_or_else(|| Error::Mechanism {
        mechanism: LEARNED_CODES.name.into(),
        problem: "is no LearnedCodes".into(),
    })?;
    let reports = design.mechanism().release(&sharing, randomness)?.table;
    let label_of = codes.labels_of_codes(&reports)?.map_axis(Axis(1), |labels| largest(&labels.to_vec()));
    let truth = classes_of(&people.test);
    let records = people.test.records().outer_iter().zip(&truth);
    let right = records.filter(|(record, class)| label_of[codes.code(&record.to_vec())] == **class).count();
    Ok(right as f64 / truth.len() as f64)
}

/// Those who share and those who would validate: all of them report.
fn together(people: &People) -> Result<Table> {
    let tables = [&people.sharing, &people.validation];
    let records = tables.map(|table| table.records().view());
    let classes: Array1<usize> = tables.iter().flat_map(|table| classes_of(table)).collect();
    let records =
        concatenate(Axis(0), &records).map_err(|problem| scumble_core::Error::shape(problem.to_string()))?;
    Ok(Table::new(people.sharing.columns().to_vec(), records, Target::Class(classes))?)
}

/// Sets ours beside the paper's method in a figure of accuracies on records in the clear: a finding, a table, and a curve in each panel of accuracies.
pub(super) fn beside(mut found: Evidence, collection: &Collection, accuracies: &Accuracies) -> Evidence {
    let name = format!("{} (ours)", LEARNED_CODES.name);
    found.findings.push(finding(&name, collection, accuracies));
    let row = |(at, local, ours): &(usize, f64, Vec<f64>)| {
        let papers = BOTH.map(|level| percent(&collection.accuracies(0, *at, level, Of::Clean)));
        [shown(*local), percent(ours)].into_iter().chain(papers).collect()
    };
    found.grids.push(Grid {
        title: "accuracy on records in the clear, %, ± a standard deviation, at central ε = ∞".into(),
        header: ["local ε", &name, "latents", "features"].map(str::to_owned).to_vec(),
        rows: accuracies.iter().map(row).collect(),
    });
    let local: Vec<f64> = accuracies.iter().map(|(_, local, _)| *local).collect();
    for panel in found.picture.panels.iter_mut().take(BOTH.len()) {
        panel.layers.push(curve(name.clone(), collection.by.len(), &local, |at| accuracies[at].2.clone()));
    }
    found.notes.push(LEARNED.into());
    found
}

/// How many points ours has more than the better of the paper's latents and features, without a guarantee for its volunteers, at each local ε: one is better or worse
/// by over two standard errors, of which the least is that of drawing so many test records twice.
fn finding(name: &str, collection: &Collection, accuracies: &Accuracies) -> Finding {
    let gains: Vec<(f64, f64, f64, f64)> = accuracies
        .iter()
        .map(|(at, local, ours)| {
            let papers = BOTH.map(|level| collection.accuracies(0, *at, level, Of::Clean));
            let better = papers.iter().max_by(|a, b| Mean::of(a).value.total_cmp(&Mean::of(b).value));
            let [ours, papers] = [ours, better.unwrap_or(ours)].map(|accuracies| Mean::of(accuracies));
            let records = (collection.tests * collection.plan.trials).max(1) as f64;
            let of_tests: f64 =
                [ours, papers].iter().map(|mean| mean.value * (1.0 - mean.value) / records).sum();
            let error = (ours.error.powi(2) + papers.error.powi(2)).max(of_tests).sqrt();
            (*local, ours.value, papers.value, (ours.value - papers.value) / error)
        })
        .collect();
    let count = |is: fn(f64) -> bool| gains.iter().filter(|(.., errors)| is(*errors)).count();
    let (better, worse) = (count(|errors| errors > 2.0), count(|errors| errors < -2.0));
    let said = gains.iter().map(|(local, ours, papers, _)| {
        format!("{:.1} against {:.1} % at ε = {local}", 100.0 * ours, 100.0 * papers)
    });
    Finding {
        what: format!("{name} in the place of the paper's method, records in the clear"),
        paper: "latents or features, whichever is better, central ε = ∞".into(),
        ours: said.collect::<Vec<_>>().join("; "),
        value: Some(better as f64),
        verdict: match (better, worse) {
            (0, 0) => Agreement::Reproduced,
            _ if better > worse => Agreement::Better,
            _ => Agreement::Differs,
        },
        why: format!(
            "better by over two standard errors at {better} of {} local ε, worse by as much at {worse}",
            gains.len()
        ),
    }
}
