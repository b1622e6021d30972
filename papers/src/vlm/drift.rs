//! Loans whose volunteers are older than the people who share: D₁ and D₂ of Learning to Noise with different
//! distributions.

use super::SEEDED;
use super::collection::{Collection, Plan};
use super::figures::LOANS;
use super::pair::Pair;
use super::people::Data;
use crate::report::Evidence;
use crate::{Picture, Result, RunOptions};

/// Number of divisions of the loans.
const TRIALS: usize = 10;

pub(super) fn run(options: &RunOptions, name: &'static str) -> Result<Evidence> {
    let plan = (LOANS.plan)(options);
    let trials = if options.quick { plan.trials } else { TRIALS };
    let plan = Plan { central: vec![f64::INFINITY], trials, ..plan };
    let collected =
        |data: &Data, part: &str| Collection::run(options, &format!("{name}-{part}"), data, plan.clone());
    let pair = Pair {
        of: name,
        names: ["same months", "older volunteers"],
        collections: [
            collected(&Data::loans(options)?, "same")?,
            collected(&Data::loans_by_month(options)?, "older")?,
        ],
    };
    Ok(Evidence {
        trials,
        findings: pair
            .findings(
                "gain if the volunteers' loans are older than the shared ones",
                "no experiment; a change of the distribution is expected",
            )
            .into(),
        grids: vec![pair.grid()],
        notes: vec![
            "Models and classifiers are those of Figure 1 at central ε = ∞. The test loans are the newest \
             15 % in both cases, with equally many paid and unpaid. Of all other loans, three quarters are \
             volunteers': a random part, or the oldest."
                .into(),
            SEEDED.into(),
        ],
        picture: Picture {
            title: "Loans of volunteers who are older than the people who share".into(),
            panels: vec![pair.panel()],
        },
    })
}
