//! Theorem 2.10 of Farokhi for machines with a Gaussian kernel, through a finite feature map.

use super::linear_models::{Case, Found, Model, gain_of_kept, grid, mean};
use crate::report::{Evidence, Finding};
use crate::rules;
use crate::trials::Mean;
use crate::{Grid, Result, RunOptions};

/// Number of features.
const FEATURES: usize = 300;

const CASES: [Case; 3] = [
    Case { source: "wdbc", models: &[Model::Machine], records: None, features: Some(FEATURES) },
    Case { source: "wine", models: &[Model::Machine], records: None, features: Some(FEATURES) },
    Case { source: "mnist", models: &[Model::Machine], records: Some(1500), features: Some(FEATURES) },
];

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let trials = if options.quick { 2 } else { 5 };
    let cases = if options.quick { &CASES[..2] } else { &CASES };
    (options.on_start)((cases.len() * trials) as u64);
    let found = cases.iter().map(|case| Found::measure(options, name, case, trials));
    let found = found.collect::<Result<Vec<_>>>()?;
    let mut findings: Vec<Finding> = found.iter().map(Found::same).collect();
    findings.extend(found.iter().map(as_the_kernel));
    findings.extend(found.iter().map(Found::gain));
    Ok(Evidence {
        trials,
        findings,
        grids: vec![grid(&found), kernels(&found)],
        notes: vec![
            format!(
                "A machine with a Gaussian kernel is a linear machine on features of the records. The \
                 release has {FEATURES} random Fourier features of each record in place of its columns. \
                 Their map is public: a tenth of the records scales the columns, and is not used again. A \
                 quarter of the others is held out."
            ),
            "The machine with the kernel itself is linfa-svm's, with the same penalty. An adversary may \
             invert the map, so the error of a reconstruction that the card states is that of the features."
                .into(),
        ],
        picture: gain_of_kept(&found, "One noisy table that keeps machines with a Gaussian kernel"),
    })
}

/// Finding on the accuracy of the kept machine, against a machine with the kernel itself.
fn as_the_kernel(found: &Found) -> Finding {
    let kept = found.kept_scores();
    let gap = Mean::from_differences(&kept, &found.by_kernel);
    Finding {
        what: format!("{}: the kept machine, against a machine with the kernel itself", found.source()),
        paper: "linear machines only".into(),
        ours: format!(
            "{:+.1} ± {:.1} points ({} against {} %)",
            gap.value,
            gap.error,
            mean(&kept),
            mean(&found.by_kernel)
        ),
        value: Some(gap.value),
        decision: rules::AS_ITS_KERNEL.on(gap.value),
        why: format!("{FEATURES} features stand for the kernel"),
    }
}

fn kernels(found: &[Found]) -> Grid {
    let header = ["data", "linear machine", "machine on features, kept", "machine with the kernel"];
    let rows = found.iter().map(|found| {
        let columns = [&found.by_line, &found.kept_scores(), &found.by_kernel].map(|scores| mean(scores));
        std::iter::once(found.source().to_owned()).chain(columns).collect()
    });
    Grid::new("Accuracy on held-out records, in percent, ± a standard error", header, rows)
}
