//! Work that Ctrl-C stops.

use crate::errors::Failed;
use crate::pool::pool;
use pyo3::prelude::*;
use scumble::core::interrupt::Asked;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The time between two looks for a signal.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs `work` on the [threads](pool) of this process while this thread looks for signals. A signal whose handler raises, as
/// Ctrl-C does, asks the work to stop; the exception is raised when it has stopped.
///
/// # Errors
/// As `work`, and what a signal's handler raises.
pub(crate) fn interruptible<T: Send>(
    py: Python,
    work: impl FnOnce() -> Result<T, Failed> + Send,
) -> Result<T, Failed> {
    let (pool, (ends, mut ended)) = (pool()?, channel::<()>());
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let _ends = ends; // dropped when the work is done, or panics
            pool.install(work)
        });
        let mut raised = None;
        loop {
            let ended = &mut ended;
            if py.detach(move || ended.recv_timeout(PAUSE)) != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if raised.is_none()
                && let Err(error) = py.check_signals()
            {
                raised = Some((error, Asked::now()));
            }
        }
        let done = py.detach(|| worker.join());
        match (raised, done) {
            (Some((error, _)), _) => Err(error.into()),
            (None, Ok(done)) => done,
            (None, Err(panic)) => std::panic::resume_unwind(panic),
        }
    })
}
