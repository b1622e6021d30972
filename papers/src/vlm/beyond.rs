//! Beyond the paper: learned codes in place of noisy latents (outputs of an encoder), for the digits of the
//! paper. A code is the index of a cluster of records, which people report together with their label.

use super::collection::{Level, Plan, Subject, TestRecords};
use super::figures::{RULES, digits};
use super::people::{Data, Sizes};
use super::{SEEDED, curve, panel, percent, reports, shown};
use crate::report::Evidence;
use crate::rules;
use crate::trials::Mean;
use crate::{Finding, Grid, Picture, Result, RunOptions};

const MANY: Subject =
    Subject { name: "vlm/beyond-mnist", data: Data::digits_of_many, plan, chance: 0.1, notes };

/// Local ε, each with the accuracy that learned codes must reach in the full variant.
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
        "A quarter of the training images are the volunteers'; all others are shared. In the paper's method, \
         a tenth of the people who share validate."
            .into(),
        reports::LEARNED.into(),
        RULES.into(),
        SEEDED.into(),
    ]
}

pub(super) fn beyond(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    let collection = MANY.collected(options)?;
    let codes = reports::accuracies(options, &MANY, "vlm/beyond-mnist/codes")?;
    let codes: Vec<Vec<f64>> = codes.into_iter().map(|(.., accuracies)| accuracies).collect();
    let plan = &collection.plan;
    let paper_accuracies = |at: usize| collection.accuracies(0, at, Level::Latent, TestRecords::Clean);
    let findings = ASKED.iter().enumerate().map(|(at, (local, asked))| {
        let mean = Mean::from_values(&codes[at]).value;
        Finding {
            what: format!(
                "digits classified by learned codes, with image and label together at local ε = {local}"
            ),
            paper: format!(
                "the paper's method, with as many people: {} % (latents)",
                percent(&paper_accuracies(at))
            ),
            ours: format!("{} %", percent(&codes[at])),
            value: Some(100.0 * mean),
            decision: rules::ASKED_ACCURACY.on(mean - asked),
            why: format!(
                "{} % are asked for; an early version of the codes reached it with as many people",
                100.0 * asked
            ),
        }
    });
    let rows = plan
        .local
        .iter()
        .enumerate()
        .map(|(at, local)| vec![shown(*local), percent(&codes[at]), percent(&paper_accuracies(at))]);
    let curves = vec![
        curve("learned codes".into(), 0, &plan.local, |at| codes[at].clone()),
        curve("the paper's latents, central ε = ∞".into(), 1, &plan.local, paper_accuracies),
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
