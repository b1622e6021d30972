//! A process-wide flag that asks long-running work to stop.
//!
//! The process has one flag: an interrupt stops all work in progress. Long loops call [`check`] regularly,
//! such as once per iteration, and return its error.
//!
//! ```
//! fn sum(numbers: &[f64]) -> Result<f64, scumble_interrupt::Interrupted> {
//!     let mut sum = 0.0;
//!     for block in numbers.chunks(1 << 16) {
//!         scumble_interrupt::check()?;
//!         sum += block.iter().sum::<f64>();
//!     }
//!     Ok(sum)
//! }
//!
//! assert_eq!(sum(&[1.0, 2.0]), Ok(3.0));
//! let asked = scumble_interrupt::Asked::now();
//! assert!(sum(&[1.0, 2.0]).is_err());
//! drop(asked);
//! assert_eq!(sum(&[1.0, 2.0]), Ok(3.0));
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of values of [`Asked`] (requests to stop) that exist.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Error of work that stopped because of a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("interrupted")]
pub struct Interrupted;

/// Returns an error if work must stop.
///
/// # Errors
/// [`Interrupted`] while a value of [`Asked`] (a request to stop) exists.
pub fn check() -> Result<(), Interrupted> {
    match ASKED.load(Ordering::Relaxed) {
        0 => Ok(()),
        _ => Err(Interrupted),
    }
}

/// A request to stop, in force until it is dropped.
#[derive(Debug)]
#[must_use = "the request ends when it is dropped"]
pub struct Asked(());

impl Asked {
    /// Asks all work of the process to stop.
    pub fn now() -> Self {
        ASKED.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        ASKED.fetch_sub(1, Ordering::Relaxed);
    }
}
