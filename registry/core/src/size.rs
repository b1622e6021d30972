//! Limits on the size of a design: one rule for every mechanism, checked before anything is allocated.
//!
//! A parameter, or a number in a saved design, may have any value that fits its type. This module limits the
//! sizes of the arrays and the lengths of the trainings that such a number determines. The checks run when a
//! design is made and when it is loaded. If the size also depends on the number of records, they run at the
//! release.

use crate::{Error, Result};

/// Maximum size in bytes of one array whose size a parameter decides: 8 GiB.
pub const MOST_BYTES: u64 = 1 << 33;

/// Maximum number of steps of a training.
pub const MOST_STEPS: u64 = 1_000_000_000;

/// Checks that an array takes no more than [`MOST_BYTES`]. Its number of values is the product of `counts`,
/// with `bytes` bytes each. `parameter` is the parameter that determines the size.
///
/// ```
/// use scumble_core::size;
///
/// size::check_held("my-plugin", "latent_dim", &[1000, 64], 8)?;
/// let refused = size::check_held("my-plugin", "latent_dim", &[1000, 1 << 62], 8).unwrap_err().to_string();
/// assert_eq!(
///     refused,
///     "the parameters of \"my-plugin\": latent_dim asks for 36893488147419103232000 bytes at once, \
///      and at most 8589934592 are allowed"
/// );
/// # Ok::<(), scumble_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooLarge`] if the array takes more.
pub fn check_held(plugin: &str, parameter: &str, counts: &[usize], bytes: usize) -> Result<()> {
    check(plugin, parameter, product(counts).saturating_mul(bytes as u128), MOST_BYTES, "bytes at once")
}

/// Checks that all weights and biases of a network take no more than [`MOST_BYTES`]. `widths` are the widths
/// of its layers, beginning with the input. `bytes` is the number of bytes that a training stores for each
/// weight or bias.
///
/// # Errors
/// Same errors as [`check_held`].
pub fn check_layers(plugin: &str, parameter: &str, widths: &[usize], bytes: usize) -> Result<()> {
    let layer_parameters = |pair: &[usize]| product(&[pair[0].saturating_add(1), pair[1]]);
    let all = widths.windows(2).fold(0u128, |sum, pair| sum.saturating_add(layer_parameters(pair)));
    check(plugin, parameter, all.saturating_mul(bytes as u128), MOST_BYTES, "bytes at once")
}

/// Checks that the steps of a training, the product of `counts`, are no more than [`MOST_STEPS`].
///
/// # Errors
/// [`Error::TooLarge`] if there are more steps.
pub fn check_steps(plugin: &str, parameter: &str, counts: &[usize]) -> Result<()> {
    check(plugin, parameter, product(counts), MOST_STEPS, "steps")
}

fn check(plugin: &str, parameter: &str, asked: u128, most: u64, what: &'static str) -> Result<()> {
    if asked <= u128::from(most) {
        return Ok(());
    }
    Err(Error::TooLarge {
        plugin: plugin.into(),
        parameter: parameter.into(),
        asked: asked.into(),
        most,
        what,
    })
}

/// Product of `counts`, or the largest `u128` on overflow.
fn product(counts: &[usize]) -> u128 {
    counts.iter().fold(1, |product: u128, count| product.saturating_mul(*count as u128))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_allowed_is_exact_and_nothing_overflows() {
        let most = MOST_BYTES as usize;
        check_held("p", "x", &[most], 1).unwrap();
        check_held("p", "x", &[most / 8, 0, usize::MAX], 8).unwrap();
        for counts in [&[most + 1][..], &[most / 4, 5], &[usize::MAX; 3], &[1 << 62, 1 << 62]] {
            assert!(matches!(check_held("p", "x", counts, 1), Err(Error::TooLarge { .. })), "{counts:?}");
        }
        check_layers("p", "hidden", &[3, 4, 2], most / 26).unwrap();
        check_layers("p", "hidden", &[3, 4, 2], most / 26 + 1).unwrap_err();
        check_layers("p", "hidden", &[usize::MAX; 9], 8).unwrap_err();
        check_steps("p", "epochs", &[MOST_STEPS as usize]).unwrap();
        let refused = check_steps("p", "epochs", &[MOST_STEPS as usize, 2]).unwrap_err().to_string();
        assert_eq!(
            refused,
            "the parameters of \"p\": epochs asks for 2000000000 steps, and at most 1000000000 are allowed"
        );
    }
}
