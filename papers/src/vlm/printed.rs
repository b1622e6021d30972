//! Tables 2 and 4 of Learning to Noise: digits that people share, with the printed settings of each local ε.

use super::collection::{BOTH, Collection, Level, Plan, Shares, TestRecords};
use super::figures::{
    DIGITS, HIGH, JOINTLY, LOW, above_chance, central_costs, digits, figure, latents_against_features, rises,
};
use super::sharing::Model;
use super::{SEEDED, shown};
use crate::report::Evidence;
use crate::{Finding, Result, RunOptions, rules};
use serde_json::{Value, json};

/// Row of Table 4: local ε, the bound l on latents, and ε_pretraining.
type Setting = (f64, f64, Pretraining);

/// ε of the noise in training, or a scale of the noise that is learned.
#[derive(Debug, Clone, Copy)]
enum Pretraining {
    Epsilon(f64),
    Learned,
}

use Pretraining::{Epsilon, Learned};

/// Rows of Table 4 for MNIST, records in the clear, on latents.
const LATENTS: [Setting; 7] = [
    (1.0, 5.0, Epsilon(15.0)),
    (2.0, 7.5, Epsilon(21.0)),
    (4.0, 7.5, Epsilon(5.0)),
    (6.0, 5.0, Epsilon(15.0)),
    (8.0, 5.0, Epsilon(29.0)),
    (10.0, 10.0, Epsilon(27.0)),
    (f64::INFINITY, 10.0, Learned),
];
/// Rows of Table 4 for MNIST, records in the clear, on features.
const FEATURES: [Setting; 7] = [
    (1.0, 5.0, Epsilon(15.0)),
    (2.0, 7.5, Epsilon(5.0)),
    (4.0, 5.0, Epsilon(5.0)),
    (6.0, 7.5, Epsilon(21.0)),
    (8.0, 5.0, Epsilon(15.0)),
    (10.0, 5.0, Epsilon(29.0)),
    (f64::INFINITY, 10.0, Learned),
];
/// Share λ of ε for records, at every local ε of these rows.
const SHARE: f64 = 0.7;
/// Central ε of Table 2 for MNIST, with its noise multiplier.
const NOISE: [(f64, f64); 2] = [(5.0, 0.7), (1.0, 1.1)];

/// Model of a row, with a learning rate of 5e-4 and batches of 64. The paper learns the scale b without a
/// guarantee only, so a row with a central ε has none.
fn model(options: &RunOptions, (_, l1_bound, pretraining): Setting, noise: Option<f64>) -> Model {
    let mut parameters = json!({
        "likelihood": "logit", "hidden": [400, 150, 50], "latent_dim": 8, "l1_bound": l1_bound,
    });
    match pretraining {
        Epsilon(epsilon) => parameters["pretraining_epsilon"] = json!(epsilon),
        Learned => parameters["learn_scale"] = json!(true),
    }
    match noise {
        Some(noise) => {
            parameters["volunteers"] =
                json!({ "noise_multiplier": noise, "expected_batch": 64, "learning_rate": 5e-4 });
            Model { parameters: Value::Null, private: parameters }
        }
        None => {
            parameters["epochs"] = json!(if options.quick { 20 } else { 15 });
            parameters["batch_size"] = json!(64);
            parameters["learning_rate"] = json!(5e-4);
            Model { parameters, private: Value::Null }
        }
    }
}

/// Collections at the printed settings, one for each local ε, without a central ε or with a central ε and its
/// noise multiplier.
fn collected(
    options: &RunOptions,
    name: &str,
    settings: &[Setting],
    central: Option<(f64, f64)>,
) -> Result<Vec<Collection>> {
    let data = (DIGITS.data)(options)?;
    let one = |setting: &Setting| {
        let plan = Plan {
            model: model(options, *setting, central.map(|(_, noise)| noise)),
            central: vec![central.map_or(f64::INFINITY, |(epsilon, _)| epsilon)],
            local: vec![setting.0],
            shares: Shares::Fixed(SHARE),
            network_alone: true,
            shows_images: false,
            ..digits(options)
        };
        Collection::run(options, name, &data, plan)
    };
    let shown = |setting: &&Setting| !options.quick || matches!(setting.0, 1.0 | 10.0);
    settings.iter().filter(shown).map(one).collect()
}

pub(super) fn table_4(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    // The quick variant has too few volunteers to learn anything from them privately. A private training
    // takes up to 86,000 steps, so only the largest finite local ε has one.
    let (noise, largest) = if options.quick { (&[][..], &[][..]) } else { (&NOISE[..], &LATENTS[5..6]) };
    let plan = Plan { shares: Shares::Fixed(SHARE), ..digits(options) };
    let joined = |parts| Collection::joined(plan.clone(), parts);
    let open = collected(options, name, &LATENTS, None)?;
    let private = noise.iter().map(|central| collected(options, name, largest, Some(*central)));
    let private = private.collect::<Result<Vec<_>>>()?;
    let features = joined(vec![collected(options, name, &FEATURES, None)?]);
    let both = joined(vec![open.clone()]).with_features_of(&features);
    let latents = joined(std::iter::once(open).chain(private).collect());
    let [of_latents, of_features] = [(&latents, Level::Latent, TITLE), (&features, Level::Features, "")]
        .map(|(found, level, title)| figure(found, &DIGITS, vec![], TestRecords::Clean, &[level], title));
    let mut found = of_latents;
    found.findings = findings(&both, &latents);
    found.grids.extend(of_features.grids);
    found.picture.panels.extend(of_features.picture.panels);
    found.notes = vec![
        SETTINGS.into(),
        rows("latents", &LATENTS),
        rows("features", &FEATURES),
        JOINTLY.into(),
        SEEDED.into(),
    ];
    Ok(found)
}

/// Findings on releases without a central ε, and on the cost of a central ε.
fn findings(both: &Collection, latents: &Collection) -> Vec<Finding> {
    let mut findings = vec![above_chance(both, TestRecords::Clean, &BOTH, DIGITS.chance)];
    findings.extend(rises(both, TestRecords::Clean, &BOTH));
    findings.extend(central_costs(latents, latents));
    for (range, claim) in [
        (&HIGH, (&rules::LATENTS_AHEAD, "latents are better at higher local ε")),
        (&LOW, (&rules::FEATURES_AHEAD, "features are better at lower local ε")),
    ] {
        findings.extend(latents_against_features(both, TestRecords::Clean, range, claim));
    }
    findings
}

const TITLE: &str = "Digits that people share, with the printed settings (Tables 2 and 4)";

const SETTINGS: &str = "Each local ε has a mechanism of its own, with the paper's l, ε_pretraining and share \
    λ = 0.7. The likelihood is of logits, with layers of 400, 150 and 50, 8 latents, batches of 64 and a \
    learning rate of 5e-4. With a central ε of 5 or 1, the noise multiplier is 0.7 or 1.1, and training ends \
    when the next step would exceed this ε, after 85,745 or 26,716 steps (122 or 38 epochs). Such trainings \
    take up to 20 minutes each, so only ε = 10 has them. Only the paper's network classifies, at every ε. Up \
    to ε = 2, a trial is the mean of five releases.";

/// Note of the settings of each local ε.
fn rows(level: &str, settings: &[Setting]) -> String {
    let row = |(local, l1_bound, pretraining): &Setting| {
        let pretraining = match pretraining {
            Epsilon(epsilon) => format!("ε_pretraining = {epsilon}"),
            Learned => "learned b".into(),
        };
        format!("l = {l1_bound} and {pretraining} at ε = {}", shown(*local))
    };
    format!("Table 4 has for {level}: {}.", settings.iter().map(row).collect::<Vec<_>>().join("; "))
}
