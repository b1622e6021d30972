//! Convolutions of an encoder of images, and the transposed convolutions of its decoder.

use crate::NAME;
use crate::validation::{refuse, some};
use schemars::JsonSchema;
use scumble_core::{Result, size};
use scumble_neural::Windows;
use serde::Deserialize;

/// Convolutions of the encoder, before its dense layers. The decoder ends with the transposed convolutions in
/// reverse order. The features are the pixels of an image, row by row.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Convolution {
    /// Height of the image, in pixels.
    pub height: usize,
    /// Width of the image, in pixels.
    pub width: usize,
    /// Convolutions, in order from the image to the dense layers.
    #[serde(default = "usual")]
    pub layers: Vec<Filters>,
}

/// Filters of a convolution.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Filters {
    /// Number of filters: of outputs for each window.
    pub filters: usize,
    /// Side of a window, in pixels.
    pub side: usize,
    /// Distance between neighbouring windows, in pixels.
    pub stride: usize,
}

/// Default layers. Their windows leave out no pixel of an image with sides of 28 pixels.
fn usual() -> Vec<Filters> {
    vec![Filters { filters: 16, side: 4, stride: 2 }, Filters { filters: 32, side: 5, stride: 2 }]
}

impl Convolution {
    /// Returns the windows and the number of filters of each convolution of `features` pixels. `batch_size`
    /// is the number of records of a step.
    ///
    /// # Errors
    /// [`Error::Parameter`](scumble_core::Error::Parameter) if the features are no such image, or if no
    /// window fits; [`Error::TooLarge`](scumble_core::Error::TooLarge) if the windows of a batch exceed
    /// the memory.
    pub(crate) fn windows(&self, features: usize, batch_size: usize) -> Result<Vec<(Windows, usize)>> {
        let Self { height, width, layers } = self;
        if height.checked_mul(*width) != Some(features) {
            return refuse(format!(
                "convolution is for an image of {height} × {width} pixels, and the records have {features} \
                 features"
            ));
        }
        let mut image = [*height, *width, 1];
        let mut found = vec![];
        for Filters { filters, side, stride } in layers {
            let [height, width, channels] = image;
            let windows = Windows { height, width, channels, side: *side, stride: *stride };
            some("convolution.layers.filters", *filters)?;
            if windows.count() == 0 {
                return refuse(format!(
                    "convolution.layers: no window with side {side} and stride {stride} fits into {height} × \
                     {width} pixels"
                ));
            }
            // A pass has the values of all windows of a batch in memory, and the filters' outputs.
            for values in [&[*side, *side, channels][..], &[*filters]] {
                let held = [&[batch_size, windows.count()], values].concat();
                size::check_held(NAME, "convolution.layers", &held, size_of::<f32>())?;
            }
            let [down, across] = windows.grid();
            image = [down, across, *filters];
            found.push((windows, *filters));
        }
        Ok(found)
    }
}
