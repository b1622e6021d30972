//! Beyond the paper: the same digits, label included, by learned codes in place of noise on latents.

use super::collection::{Level, Of, Plan};
use super::figures::{JOINTLY, RULES, Subject, digits};
use super::people::{Data, People, Sizes};
use super::sharing::classes_of;
use super::{SEEDED, curve, panel, percent, shown};
use crate::report::Evidence;
use crate::trials::Mean;
use crate::{Agreement, Error, Finding, Grid, Picture, Result, RunOptions};
use ndarray::{Array1, Axis, concatenate};
use scumble_core::{Brief, Budget, Table, Target, Volunteers, largest};
use scumble_reports::{LEARNED_CODES, LearnedCodes};
use serde_json::Value;

const MANY: Subject =
    Subject { name: "vlm/beyond-mnist", data: Data::digits_of_many, plan, chance: 0.1, notes };

/// What codes are held to in the full variant: accuracy by local ε.
const ASKED: [(f64, f64); 3] = [(1.0, 0.65), (2.0, 0.74), (4.0, 0.85)];

fn plan(options: &RunOptions) -> Plan {
    let sizes = match options.quick {
        true => Sizes { volunteers: 4000, others: 10_000, test: 1000 },
        false => Sizes { volunteers: usize::MAX, others: usize::MAX, test: usize::MAX },
    };
    let local = ASKED.map(|(local, _)| local).to_vec();
    Plan { sizes, central: vec![f64::INFINITY], local, shows_images: false, ..digits(options) }
}

fn notes(_: &Plan) -> Vec<String> {
    vec![
        "A quarter of the images for training are the volunteers', whose labels codes do not use; all others are shared. Of the paper's method a tenth of those \
         who share validate; of codes nobody has to."
            .into(),
        "Codes are clusters of the volunteers' images, as many as a public rule of ε and the number of people says; each person reports code and label together, \
         at all of ε. An image is classified as most reports of its code are."
            .into(),
        RULES.into(),
        JOINTLY.into(),
        SEEDED.into(),
    ]
}

/// How often codes classify test images rightly: of each local ε, of each trial.
fn by_codes(options: &RunOptions, plan: &Plan) -> Result<Vec<Vec<f64>>> {
    let data = (MANY.data)(options)?;
    let mut found = vec![vec![]; plan.local.len()];
    for trial in 0..plan.trials {
        let mut randomness = options.randomness("vlm/beyond-mnist/codes", &[trial as u64]);
        let people = data.divided(plan.sizes, &mut randomness.streams().stream(0))?;
        let sharing = together(&people)?;
        for (accuracies, local) in found.iter_mut().zip(&plan.local) {
            let brief = Brief {
                volunteers: Volunteers::Consented(people.volunteers.clone()),
                people: Some(sharing.len()),
                ..Brief::new(people.domain.clone(), Budget::pure(*local)?)
            };
            let design = LEARNED_CODES.design(&Value::Null, &brief)?;
            let codes = design.mechanism().downcast_ref::<LearnedCodes>();
            let codes = codes.ok_or_else(|| Error::Mechanism {
                mechanism: LEARNED_CODES.name.into(),
                problem: "is no LearnedCodes".into(),
            })?;
            let reports = design.mechanism().release(&sharing, &mut randomness)?.table;
            let label_of =
                codes.labels_of_codes(&reports)?.map_axis(Axis(1), |labels| largest(&labels.to_vec()));
            let truth = classes_of(&people.test);
            let right = people.test.records().outer_iter().zip(&truth);
            let right =
                right.filter(|(image, class)| label_of[codes.code(&image.to_vec())] == **class).count();
            accuracies.push(right as f64 / truth.len() as f64);
        }
    }
    Ok(found)
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

pub(super) fn beyond(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let collection = MANY.collected(options)?;
    let codes = by_codes(options, &collection.plan)?;
    let plan = &collection.plan;
    let of_paper = |at: usize| collection.accuracies(0, at, Level::Latent, Of::Clean);
    let findings = ASKED.iter().enumerate().map(|(at, (local, asked))| {
        let mean = Mean::of(&codes[at]).value;
        Finding {
            what: format!(
                "digits classified by learned codes, image and label at local ε = {local} together"
            ),
            paper: format!("its own method, with as many people: {} % (latents)", percent(&of_paper(at))),
            ours: format!("{} %", percent(&codes[at])),
            value: Some(100.0 * mean),
            verdict: if mean >= *asked { Agreement::Better } else { Agreement::Differs },
            why: format!(
                "better is {} % or more, what a sketch of codes reached with as many people",
                100.0 * asked
            ),
        }
    });
    let rows = plan
        .local
        .iter()
        .enumerate()
        .map(|(at, local)| vec![shown(*local), percent(&codes[at]), percent(&of_paper(at))]);
    let curves = vec![
        curve("learned codes".into(), 0, &plan.local, |at| codes[at].clone()),
        curve("the paper's latents, central ε = ∞".into(), 1, &plan.local, of_paper),
    ];
    Ok(Evidence {
        trials: plan.trials,
        findings: findings.collect(),
        grids: vec![Grid {
            title: "accuracy on images in the clear, %, ± a standard deviation".into(),
            header: ["local ε", "learned codes", "the paper's latents"].map(str::to_owned).to_vec(),
            rows: rows.collect(),
        }],
        notes: (MANY.notes)(plan),
        picture: Picture {
            title: "Digits that many people share, with few volunteers".into(),
            panels: vec![panel("images in the clear", "accuracy, %, ± a standard deviation", curves)],
        },
    })
}
