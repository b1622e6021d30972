//! `scumble audit`.

use crate::account::curve;
use crate::{Files, command, json, refusal};

const KEYS: [&str; 9] = [
    "claimed",
    "lower_bound",
    "mu_claimed",
    "mu_shown",
    "coupled",
    "confidence",
    "pairs",
    "samples",
    "verdict",
];

#[test]
fn every_mechanism_keeps_its_claims_and_each_finding_says_how_it_was_attacked() {
    let outcome = json("audit --all --quick --json");
    let findings = outcome["findings"].as_array().unwrap();
    // A mechanism of all records has no two points to couple.
    let list = json("list --json");
    let curator_plugins = list.as_array().unwrap().iter().filter(|plugin| plugin["side"] != "local");
    let curators: Vec<&str> = curator_plugins.map(|plugin| plugin["name"].as_str().unwrap()).collect();
    let mut mechanisms: Vec<&str> =
        findings.iter().map(|finding| finding["mechanism"].as_str().unwrap()).collect();
    mechanisms.dedup();
    assert_eq!(mechanisms, scumble::built_in::NAMES);
    for finding in findings {
        assert!(KEYS.iter().all(|key| finding.get(key).is_some()), "{finding}");
        let mechanism = finding["mechanism"].as_str().unwrap();
        let is_of_records = !curators.contains(&mechanism) && finding["measure"] == "epsilon";
        let is_coupled = is_of_records && finding["verdict"] != "nothing-claimed";
        assert_eq!(finding["coupled"].is_null(), !is_coupled, "{finding}");
        if let (Some(declared), Some(found)) =
            (finding["coupled"]["declared"].as_f64(), finding["coupled"]["found"].as_f64())
        {
            assert!(found <= declared * (1.0 + 1e-9) && found > 0.9 * declared, "{finding}");
        }
        let has_profile = ["gaussian", "fisher-gaussian", "task-aware-gaussian"].contains(&mechanism)
            && finding["measure"] == "epsilon";
        assert_eq!(finding["mu_shown"].is_null(), !has_profile, "{finding}");
        assert_eq!(finding["mu_claimed"].is_null(), !has_profile, "{finding}");
        let expected = match finding["mechanism"].as_str().unwrap() {
            "identity" | "singular-value-obfuscation" => Some(["nothing-claimed"; 2]),
            // The claim is that two distributions are equal, so no number measures how much of it an attack
            // reaches.
            "column-space" | "perfect-secrecy" | "dauntless-inference" => Some(["holds"; 2]),
            // Two mixtures disclose too little of the transformation for any success.
            "dauntless-mix" => Some(["holds"; 2]),
            // The claim of Theorem 5 is so loose that attacks reach almost none of it.
            "multiplicative-dp" => Some(["holds", "inconclusive"]),
            // The attack uses one pair of tables, which need not be the easiest pair to distinguish.
            "adaptive-marginals"
            | "mst"
            | "noisy-marginals"
            | "noisy-moments"
            | "private-additive"
            | "private-logistic"
            | "private-ridge"
            | "tables"
            | "two-server-marginals" => Some(["holds", "inconclusive"]),
            _ => None,
        };
        if let Some(expected) = expected {
            assert!(expected.contains(&finding["verdict"].as_str().unwrap()), "{finding}");
            continue;
        }
        assert_eq!(finding["verdict"], "holds", "{finding}");
        let number = |key: &str| finding[key].as_f64().unwrap();
        // The audited lower bound reaches at least half of every claim.
        assert!((0.5..=1.0).contains(&(number("lower_bound") / number("claimed"))), "{finding}");
        assert!(number("confidence") >= 1.0 - 1e-6 && number("pairs") >= 3.0, "{finding}");
    }
}

#[test]
fn a_seed_repeats_an_audit() {
    let audited = |seed: u64| json(&format!("audit duchi --quick --seed {seed} --json"));
    assert_eq!(audited(7), audited(7));
    assert_ne!(audited(7)["findings"], audited(8)["findings"]);
}

#[test]
fn a_saved_design_is_attacked_as_it_was_designed() {
    let files = Files::new();
    files.run("design laplace --schema schema.toml --epsilon 0.75 --output design.json");
    let outcome = files.json("audit --design design.json --quick --json");
    assert_eq!(outcome["findings"][0]["claimed"], 0.75, "{outcome}");
    files.run("design laplace --schema schema.toml --epsilon 50 --output design.json --force");
    let text = files.run("audit --design design.json --quick");
    assert!(text.contains("inconclusive"), "{text}");
}

#[test]
fn what_is_not_there_cannot_be_attacked() {
    assert!(refusal("audit laplas").contains("did you mean \"laplace\"?"));
    assert!(refusal("audit --design nowhere.json").contains("nowhere.json"));
    for line in ["audit", "audit laplace --all", "audit --all --seed x"] {
        assert_eq!(command(line).output().unwrap().status.code(), Some(2), "{line}");
    }
}

/// No test that the audit found is better than the claim allows.
#[test]
fn the_audited_curve_is_above_the_claimed_one() {
    let files = Files::new();
    for name in ["gaussian", "randomized-response"] {
        let line = format!("audit {name} --quick --curve curve.svg --force --json");
        let found = files.json(&line);
        let (claimed, audited) = (curve(&found, 0), curve(&found, 1));
        let pairs = || claimed.iter().zip(&audited);
        assert!(pairs().all(|(claimed, audited)| audited.1 >= claimed.1 - 1e-12), "{name}");
        // The attack comes near to the claim.
        let apart = pairs().map(|(claimed, audited)| audited.1 - claimed.1).fold(0.0, f64::max);
        assert!(apart > 0.0 && apart < 0.15, "{name}: {apart}");
        assert!(files.read("curve.svg").contains("audited: no better than"));
    }
}
