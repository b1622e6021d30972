//! `--curve`: the trade-off functions that claims imply, as a chart and as numbers.

use super::Failure;
use clap::Args;
use serde_json::Value;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Curve {
    /// File for a chart of the trade-off function, as an SVG: the false negatives of the best membership
    /// test, against its false positives. With --json, its points are printed too.
    #[arg(long, value_name = "FILE.svg")]
    curve: Option<PathBuf>,
    /// Replace an existing chart.
    #[arg(long, requires = "curve")]
    force: bool,
}

/// Name of a trade-off function, and its rate of false negatives at each rate of false positives.
pub(super) type Named<'f> = (String, Box<dyn Fn(f64) -> f64 + 'f>);

impl Curve {
    /// Draws the functions, if a chart is requested, and returns their points for JSON.
    #[cfg(feature = "evaluation")]
    pub(super) fn draw<'f>(
        &self,
        functions: impl FnOnce() -> Result<Vec<Named<'f>>, Failure>,
    ) -> Result<Option<Value>, Failure> {
        use crate::page::trade_off::{TradeOff, to_svg};
        let Some(path) = &self.curve else { return Ok(None) };
        let file = super::new_file(path, self.force)?;
        let curves: Vec<TradeOff> =
            functions()?.into_iter().map(|(name, of)| TradeOff::sampled(name, of)).collect();
        file.finish(to_svg(&curves).as_bytes())?;
        let points = |curve: &TradeOff| serde_json::json!({ "name": curve.name, "points": curve.points });
        Ok(Some(curves.iter().map(points).collect()))
    }

    /// Refuses a requested chart.
    #[cfg(not(feature = "evaluation"))]
    pub(super) fn draw<'f>(
        &self,
        _: impl FnOnce() -> Result<Vec<Named<'f>>, Failure>,
    ) -> Result<Option<Value>, Failure> {
        match (&self.curve, self.force) {
            (None, _) => Ok(None),
            (Some(_), _) => super::absent::refuse("evaluation"),
        }
    }
}
