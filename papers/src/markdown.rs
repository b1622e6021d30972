//! Reports as one document: the assessment of each paper, its claims, our outcomes and the verdicts.

use super::{Agreement, Claims, Decision, Finding, Reproduction, assessment, get};
use std::fmt::Write;

/// Formats the reports as Markdown, by paper, after a table that counts the verdicts. `command` is the
/// command that made the reports. `charts` is the folder of charts as the document names it; the chart of a
/// result is `NAME.svg`.
///
/// The document states no times, so the same seed gives the same document.
pub fn markdown(reports: &[Claims], command: &str, charts: Option<&str>) -> String {
    let mut text = format!(
        "# Reproduced results\n\nThis command generates the document:\n\n```console\n$ \
         {command}\n```\n\nEach claim of a paper has a verdict, by a rule that the code fixes before a \
         run. *Reproduced*: our outcome agrees with the claim. *Better*: our outcome is better than the \
         claim. *Differs*: our outcome differs from the claim; the reason follows the verdict or the \
         table. *Refuted*: the claim concerns privacy, and an attack or a counterexample that ran here \
         shows that it is false.\n\n"
    );
    let papers = || reports.chunk_by(|a, b| a.paper == b.paper);
    text += "| paper | reproduced | better | differs | refuted |\n|---|---:|---:|---:|---:|\n";
    for reports in papers() {
        let count = |verdict| {
            let findings = reports.iter().flat_map(|report| &report.findings);
            findings.filter(|finding| finding.decision.verdict == verdict).count()
        };
        let counts =
            [Agreement::Reproduced, Agreement::Better, Agreement::Differs, Agreement::Refuted].map(count);
        line(
            &mut text,
            [reports[0].paper.to_owned()].into_iter().chain(counts.map(|count| count.to_string())),
        );
    }
    for reports in papers() {
        // Writing to a string never fails.
        let _ = write!(text, "\n## {}\n\n{}\n", reports[0].paper, assessment(&reports[0].paper));
        for Claims { name, about, quick, seed, trials, findings, notes, .. } in reports {
            let variant = if *quick { "quick variant, " } else { "" };
            let repeated = if *trials == 1 { "one draw".to_owned() } else { format!("{trials} trials") };
            let _ = write!(text, "\n### {name}\n\n{}: {variant}{repeated}, seed {seed}.\n\n", capital(about));
            if let Ok(Reproduction { settings, .. }) = get(name) {
                let [paper, ours, data] = [settings.paper, settings.ours, settings.data].map(in_cell);
                let _ = write!(text, "- *Paper:* {paper}\n- *Here:* {ours}\n- *Data:* {data}\n\n");
            }
            text += "| what | paper | ours | rule | verdict |\n|---|---|---|---|---|\n";
            for Finding { what, paper, ours, decision, why, .. } in findings {
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                let Decision { verdict, rule } = decision;
                let cells = [what, paper, ours, rule].map(String::clone);
                line(&mut text, cells.into_iter().chain([format!("{verdict}{why}")]));
            }
            if let Some(folder) = charts {
                let _ = write!(text, "\n![{}]({folder}/{name}.svg)\n", in_cell(about));
            }
            for note in notes {
                let _ = write!(text, "\n{}\n", in_cell(note));
            }
        }
    }
    text
}

fn line(text: &mut String, cells: impl IntoIterator<Item = String>) {
    let cells: Vec<String> = cells.into_iter().map(|cell| in_cell(&cell)).collect();
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Escapes text so that it neither ends its table cell nor becomes markup.
fn in_cell(words: &str) -> String {
    let marks = ['|', '*', '_', '<', '`'];
    words.split_whitespace().collect::<Vec<_>>().join(" ").chars().fold(String::new(), |mut text, letter| {
        if marks.contains(&letter) {
            text.push('\\');
        }
        text.push(letter);
        text
    })
}

fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RunOptions;
    use scumble_core::Registry;

    use std::path::Path;

    #[test]
    fn every_finding_is_a_row_of_five_cells_and_is_counted() {
        let registry = Registry::installed().unwrap();
        let options =
            RunOptions { quick: true, ..RunOptions::new(&registry, Path::new("no data are needed")) };
        let names = ["fisher-svm/figure-3", "task-aware/figure-3"];
        let reports = names.map(|name| get(name).unwrap().run(&options).unwrap().claims);
        let text = markdown(&reports, "scumble reproduce", None);
        let rows = |heading: &str| {
            let part = text.split(heading).nth(1).unwrap().split("\n#").next().unwrap().to_owned();
            part.lines().filter(|line| line.starts_with("| ")).skip(1).map(str::to_owned).collect::<Vec<_>>()
        };
        for report in &reports {
            let rows = rows(&format!("### {}", report.name));
            assert_eq!(rows.len(), report.findings.len());
            assert!(rows.iter().all(|row| row.replace("\\|", "").matches('|').count() == 6), "{rows:?}");
        }
        let counted: usize = rows("# Reproduced results")
            .iter()
            .flat_map(|row| {
                row.split('|').filter_map(|cell| cell.trim().parse::<usize>().ok()).collect::<Vec<_>>()
            })
            .sum();
        assert_eq!(counted, reports.iter().map(|report| report.findings.len()).sum::<usize>());
    }

    #[test]
    fn words_stay_words() {
        assert_eq!(in_cell("E|x| of  a_b,\n*c* `d` <e"), "E\\|x\\| of a\\_b, \\*c\\* \\`d\\` \\<e");
    }
}
