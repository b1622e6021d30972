//! Reports of earlier runs.

use super::{Claims, Error, Result, all};
use std::path::Path;

/// Reads the claims of each result from the files NAME.json in a folder, in the order of [`all`].
///
/// # Errors
/// [`Error::Kept`] if the report of a result is missing, invalid, or about another result.
pub fn kept(folder: &Path) -> Result<Vec<Claims>> {
    let read = |name: &'static str| {
        let file = folder.join(name).with_added_extension("json");
        let failed =
            |problem: String| Error::Kept { file: file.clone(), folder: folder.into(), name, problem };
        let text = std::fs::read(&file).map_err(|error| failed(error.to_string()))?;
        let claims: Claims = serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))?;
        if claims.name == name {
            Ok(claims)
        } else {
            Err(failed(format!("the file holds the report of {}", claims.name)))
        }
    };
    all().iter().map(|result| read(result.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Finding, markdown, rules};

    const COMMAND: &str = "scumble reproduce --from papers/results --markdown papers/REPRODUCTION.md --force";

    #[test]
    fn the_document_says_what_the_reports_say() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let claims = kept(&root.join("results")).unwrap();
        let document = std::fs::read_to_string(root.join("REPRODUCTION.md")).unwrap();
        assert!(
            markdown(&claims, COMMAND, Some("results")) == document,
            "REPRODUCTION.md differs from papers/results; run: {COMMAND}"
        );
    }

    /// A rule that changes, changes the verdicts. The results that it decides then have to run again.
    #[test]
    fn each_verdict_was_decided_by_a_rule_of_today() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("results");
        let claims = kept(&results).unwrap();
        let known = rules::ALL.map(|rule| rule.to_string());
        for Claims { name, findings, .. } in &claims {
            for Finding { what, decision, .. } in findings {
                let rule = &decision.rule;
                assert!(known.contains(rule), "{name}, {what}: run it again; no rule is now {rule:?}");
            }
        }
        for rule in known {
            let mut findings = claims.iter().flat_map(|claims| &claims.findings);
            assert!(findings.any(|finding| finding.decision.rule == rule), "no verdict is by {rule:?}");
        }
    }

    #[test]
    fn what_is_missing_or_of_another_result_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = kept(folder.path()).unwrap_err().to_string();
        let first = all()[0].name;
        assert!(error.contains(&format!("scumble reproduce {first} --output")), "{error}");
        std::fs::create_dir_all(folder.path().join(first).parent().unwrap()).unwrap();
        let file = folder.path().join(first).with_added_extension("json");
        let other = kept_of_another(all()[1].name);
        std::fs::write(&file, other).unwrap();
        let error = kept(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("the file holds the report of {}", all()[1].name)), "{error}");
        std::fs::write(&file, "{").unwrap();
        assert!(kept(folder.path()).unwrap_err().to_string().contains("EOF"));
    }

    fn kept_of_another(name: &str) -> String {
        let claims = Claims {
            name: name.into(),
            about: String::new(),
            paper: String::new(),
            version: String::new(),
            quick: false,
            seed: 1,
            trials: 2,
            seconds: 0.0,
            findings: vec![],
            notes: vec![],
        };
        serde_json::to_string(&claims).unwrap()
    }
}
