//! Figure 1 of Cheng, Tang and Chinchali: two people report age and wage, for an estimate of the mean wage.

use crate::report::{Evidence, four};
use crate::{
    CurvePoint, Error, Finding, Grid, Layer, Marks, Panel, Picture, Result, RunOptions, Scale, rules,
};
use ndarray::array;
use scumble_core::{Brief, Budget, Domain, RecordDomain, Table, Target, TargetDomain, Task, Volunteers};
use serde_json::json;

/// The paper's ε for each person.
const EPSILON: f64 = 1.0;

/// Range of each attribute. The paper prints no range; its scales of the noise need this one.
const RANGE: f64 = 10.0;

/// Plugins of the two approaches, with the scales b of Laplace noise that the paper prints.
const PRINTED: [(&str, f64); 2] = [("task-agnostic", 20.0), ("task-aware-linear", 10.0)];

/// Number of people, Alice and Bob.
const PEOPLE: f64 = 2.0;

pub(super) fn figure_1(options: &RunOptions, _: &'static str) -> Result<Evidence> {
    (options.on_start)(PRINTED.len() as u64);
    let mut scales = vec![];
    for (plugin, _) in PRINTED {
        scales.push(wage_scale(options, plugin)?);
        (options.on_step)();
    }
    let close = |distance: f64| scales.iter().map(|scale| within(distance, *scale)).collect::<Vec<f64>>();
    let distances: Vec<f64> = (0..=40).map(f64::from).collect();
    let all: Vec<Vec<f64>> = distances.iter().map(|distance| close(*distance)).collect();
    let shown = close(RANGE);
    let mut findings: Vec<Finding> = PRINTED.iter().zip(&scales).map(scale_finding).collect();
    findings.push(closeness_finding(&all, &shown));
    let rows = PRINTED.iter().zip(&scales).zip(&shown).map(|(((plugin, printed), scale), close)| {
        let variance = 2.0 * scale * scale / PEOPLE;
        vec![(*plugin).into(), four(*printed), four(*scale), four(variance), format!("{:.1}", 100.0 * close)]
    });
    let near = format!("within {RANGE}, %");
    let header = ["plugin", "b, printed", "b", "variance of the mean", &near];
    Ok(Evidence {
        trials: 1,
        findings,
        grids: vec![Grid::new("Noise in the wage, at ε = 1", header, rows)],
        notes: vec![
            "Nothing is drawn. Both designs come from their plugins, for the corners of the square of ages \
             and wages as volunteers. The scale b is that of the noise in a latent, in units of the wage. \
             The text of the paper has no ages or wages; its figure is an image."
                .into(),
        ],
        picture: picture(&distances, &all),
    })
}

/// Finding on the scale of the noise of one approach.
fn scale_finding(((plugin, printed), scale): (&(&str, f64), &f64)) -> Finding {
    Finding {
        what: format!("scale b of the Laplace noise in the wage, {plugin}"),
        paper: four(*printed),
        ours: four(*scale),
        value: Some(*scale),
        decision: rules::SAME_NUMBER.on((scale / printed - 1.0).abs()),
        why: format!("age and wage have a range of {RANGE} each, which the paper does not print"),
    }
}

/// Finding on the probabilities of both approaches that the mean wage is close: in `all` at each distance
/// from zero on, and in `shown` at [`RANGE`].
fn closeness_finding(all: &[Vec<f64>], shown: &[f64]) -> Finding {
    let higher = all.iter().skip(1).filter(|row| row[1] > row[0]).count();
    let distances = all.len().saturating_sub(1);
    Finding {
        what: "probability that the mean of two reported wages is close to the mean wage".into(),
        paper: "higher for the task-aware approach".into(),
        ours: format!(
            "{:.1} % against {:.1} % within {RANGE}, and higher at {higher} of {distances} distances",
            100.0 * shown[1],
            100.0 * shown[0]
        ),
        value: Some(shown[1] - shown[0]),
        decision: rules::ALWAYS_CLOSER.on((distances - higher) as f64),
        why: "a closed form for the unbiased mean, without a decoder".into(),
    }
}

/// Scale b of the Laplace noise of `plugin`, in units of the wage. The design's decoder shrinks the wage and
/// its noise by one factor, which cancels.
fn wage_scale(options: &RunOptions, plugin: &str) -> Result<f64> {
    let columns = vec!["age".to_owned(), "wage".to_owned()];
    let side = || Domain::interval(0.0, RANGE);
    let domain =
        RecordDomain::new(columns.clone(), Domain::product(vec![side()?, side()?])?, TargetDomain::None)?;
    let corners = array![[0.0, 0.0], [0.0, RANGE], [RANGE, 0.0], [RANGE, RANGE]];
    let mut brief = Brief::new(domain, Budget::pure(EPSILON)?);
    brief.volunteers = Volunteers::Public(Table::new(columns, corners, Target::None)?);
    brief.task = Task::Linear(array![[0.0, 1.0]]);
    let design = options.registry.get(plugin)?.design(&json!({}), &brief)?;
    let mechanism = design.local()?;
    let wage = |wage: f64| -> Result<f64> {
        let estimate = mechanism.decode(mechanism.encode(&[RANGE / 2.0, wage])?)?;
        estimate.get(1).copied().ok_or_else(|| unknown(plugin))
    };
    let shrinkage = (wage(RANGE)? - wage(0.0)?) / RANGE;
    let variances = mechanism.noise().feature_variance().ok_or_else(|| unknown(plugin))?;
    let variance = variances.get(1).ok_or_else(|| unknown(plugin))?;
    Ok((variance / 2.0).sqrt() / shrinkage)
}

fn unknown(plugin: &str) -> Error {
    let problem = "states no variance of the noise in the wage, which this result needs".into();
    Error::Mechanism { mechanism: plugin.into(), problem }
}

/// Probability that the mean of two independent Laplace variables of scale `scale` is at most `distance` from
/// zero. Their sum, divided by the scale, has the density (1 + |s|)e^−|s|/4.
fn within(distance: f64, scale: f64) -> f64 {
    let sum = PEOPLE * distance / scale;
    1.0 - (1.0 + sum / 2.0) * (-sum).exp()
}

fn picture(distances: &[f64], all: &[Vec<f64>]) -> Picture {
    let layer = |(look, (name, _)): (usize, &(&str, f64))| {
        let points = distances.iter().zip(all).map(|(x, row)| CurvePoint {
            x: *x,
            y: 100.0 * row.get(look).copied().unwrap_or(0.0),
            error: 0.0,
        });
        Layer { name: (*name).to_owned(), look, marks: Marks::Curve(points.collect()) }
    };
    Picture {
        title: "The mean wage of two people (Figure 1)".into(),
        panels: vec![Panel {
            title: format!("Estimated mean wage at ε = {EPSILON}"),
            across: Scale::linear("distance from the mean wage"),
            up: Scale::linear("probability of at most this distance, %"),
            layers: PRINTED.iter().enumerate().map(layer).collect(),
        }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scumble_core::Registry;
    use std::path::Path;

    /// The probability is 1 − 2/e² at a distance of one scale.
    #[test]
    fn the_mean_of_two_laplace_variables_has_a_closed_form() {
        assert!((within(10.0, 10.0) - (1.0 - 2.0 * (-2f64).exp())).abs() < 1e-12);
        assert_eq!(within(0.0, 10.0), 0.0);
    }

    #[test]
    fn scales_are_the_printed_ones() {
        let registry = Registry::installed().unwrap();
        let options = RunOptions::new(&registry, Path::new(""));
        for (plugin, printed) in PRINTED {
            let scale = wage_scale(&options, plugin).unwrap();
            assert!((scale / printed - 1.0).abs() < 1e-6, "{plugin}: {scale}");
        }
    }
}
