//! Parameters as compact text, because a trained network has hundreds of thousands of them.

use crate::{Error, Real, Result};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};

/// Parameters as base64 of their little-endian bytes, in single precision if it represents every parameter
/// exactly.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Packed {
    Float32(String),
    Float64(String),
}

impl Packed {
    pub(crate) fn new<T: Real>(parameters: &[T]) -> Self {
        let values = || parameters.iter().map(|&parameter| parameter.into());
        let is_single = |value: f64| f64::from(value as f32) == value;
        match values().all(is_single) {
            true => Self::Float32(encoded(values().map(|value: f64| (value as f32).to_le_bytes()))),
            false => Self::Float64(encoded(values().map(f64::to_le_bytes))),
        }
    }

    /// Decodes the parameters.
    ///
    /// # Errors
    /// [`Error::Packed`] if the text is not base64, or does not encode a whole number of values.
    pub(crate) fn unpack<T: Real>(&self) -> Result<Vec<T>> {
        let values: Vec<f64> = match self {
            Self::Float32(text) => {
                decoded(text)?.into_iter().map(f32::from_le_bytes).map(f64::from).collect()
            }
            Self::Float64(text) => decoded(text)?.into_iter().map(f64::from_le_bytes).collect(),
        };
        Ok(values.into_iter().map(T::nearest).collect())
    }
}

fn encoded<const N: usize>(numbers: impl Iterator<Item = [u8; N]>) -> String {
    BASE64_STANDARD.encode(numbers.flatten().collect::<Vec<u8>>())
}

fn decoded<const N: usize>(text: &str) -> Result<Vec<[u8; N]>> {
    let bytes =
        BASE64_STANDARD.decode(text).map_err(|problem| Error::Packed { problem: problem.to_string() })?;
    let (numbers, rest) = bytes.as_chunks();
    match rest {
        [] => Ok(numbers.to_vec()),
        _ => Err(Error::Packed {
            problem: format!("{} bytes are not a whole number of values of {N} bytes each", bytes.len()),
        }),
    }
}
