//! Square windows of an image, for convolutions.

use crate::product::{matrix, matrix_mut, multiply};
use crate::{Error, Real, Result};
use serde::{Deserialize, Serialize};

/// Square windows of an image, at regular distances. An image is a row of height × width × channels values:
/// row by row, pixel by pixel, and the channels of a pixel together. There is no padding, so each window lies
/// within the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Windows {
    /// Height of the image, in pixels.
    pub height: usize,
    /// Width of the image, in pixels.
    pub width: usize,
    /// Number of channels of a pixel.
    pub channels: usize,
    /// Side of a window, in pixels.
    pub side: usize,
    /// Distance between neighbouring windows, in pixels.
    pub stride: usize,
}

impl Windows {
    /// Returns the number of values of an image, or `None` if it exceeds the addressable memory.
    pub fn image(&self) -> Option<usize> {
        self.height.checked_mul(self.width)?.checked_mul(self.channels)
    }

    /// Returns the number of windows from top to bottom, and from left to right. Both are 0 if no window
    /// fits.
    pub fn grid(&self) -> [usize; 2] {
        [self.height, self.width].map(|length| match length.checked_sub(self.side) {
            Some(left) if self.side > 0 && self.stride > 0 => left / self.stride + 1,
            _ => 0,
        })
    }

    /// Returns the number of windows.
    pub fn count(&self) -> usize {
        let [down, across] = self.grid();
        down.saturating_mul(across)
    }

    /// Returns the number of values of a window.
    pub(crate) fn patch(&self) -> usize {
        self.side * self.side * self.channels
    }

    /// Returns the number of values per window of a layer that maps an image of `image` values to or from
    /// `coded` values.
    ///
    /// # Errors
    /// [`Error::Windows`] if no window fits, or if the numbers do not fit the windows.
    pub(crate) fn filters(&self, image: usize, coded: usize, layer: usize) -> Result<usize> {
        let windows = self.count();
        if image == 0 || self.image() != Some(image) {
            let problem = format!(
                "{image} values are no image of {} × {} pixels with {} channels",
                self.height, self.width, self.channels
            );
            return Err(Error::Windows { layer, problem });
        }
        if windows == 0 {
            return Err(Error::Windows { layer, problem: "no window fits into the image".into() });
        }
        if !coded.is_multiple_of(windows) {
            let problem = format!("{coded} values are not the same number for each of {windows} windows");
            return Err(Error::Windows { layer, problem });
        }
        Ok(coded / windows)
    }

    /// Calls `each` with the start of each row of pixels of each window: in the windows one after another,
    /// and in the image.
    fn rows(&self, mut each: impl FnMut(usize, usize)) {
        let [down, across] = self.grid();
        let mut at = 0;
        for window in 0..down * across {
            let (top, left) = (window / across * self.stride, window % across * self.stride);
            for row in top..top + self.side {
                each(at, (row * self.width + left) * self.channels);
                at += self.side * self.channels;
            }
        }
    }

    /// Writes the windows of b `images` (b × image) one after another into `patches` (b · windows × patch).
    pub(crate) fn unfold<T: Real>(&self, images: &[T], patches: &mut Vec<T>) {
        let (image, length) = (self.height * self.width * self.channels, self.side * self.channels);
        let unfolded = self.count() * self.patch();
        patches.resize(images.len() / image * unfolded, T::zero());
        for (image, patches) in images.chunks_exact(image).zip(patches.chunks_exact_mut(unfolded)) {
            self.rows(|at, from| patches[at..at + length].copy_from_slice(&image[from..from + length]));
        }
    }

    /// Sets each value of b `images` (b × image) to the sum of the values at its place in `patches` (b ·
    /// windows × patch), the transpose of [`unfold`](Self::unfold).
    fn fold<T: Real>(&self, patches: &[T], images: &mut [T]) {
        let (image, length) = (self.height * self.width * self.channels, self.side * self.channels);
        images.fill(T::zero());
        let unfolded = self.count() * self.patch();
        for (image, patches) in images.chunks_exact_mut(image).zip(patches.chunks_exact(unfolded)) {
            self.rows(|at, to| {
                for (sum, &value) in image[to..to + length].iter_mut().zip(&patches[at..at + length]) {
                    *sum += value;
                }
            });
        }
    }

    /// Sets `coded` (b · windows × filters) to the products of the windows of b `images` with `weights`
    /// (filters × patch).
    pub(crate) fn convolve<T: Real>(
        &self,
        images: &[T],
        weights: &[T],
        coded: &mut [T],
        patches: &mut Vec<T>,
    ) {
        self.unfold(images, patches);
        let filters = weights.len() / self.patch();
        let weights = matrix(weights, self.patch());
        multiply(matrix(patches, self.patch()), weights.transpose(), matrix_mut(coded, filters));
    }

    /// Sets b `images` to the transpose of [`convolve`](Self::convolve), applied to `coded`.
    pub(crate) fn spread<T: Real>(&self, coded: &[T], weights: &[T], images: &mut [T], patches: &mut Vec<T>) {
        let filters = weights.len() / self.patch();
        patches.resize(coded.len() / filters * self.patch(), T::zero());
        multiply(matrix(coded, filters), matrix(weights, self.patch()), matrix_mut(patches, self.patch()));
        self.fold(patches, images);
    }
}
