//! Interruption of work by Ctrl-C.

use crate::errors::Failed;
use crate::pool::pool;
use pyo3::prelude::*;
use scumble::core::interrupt::Asked;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Time between two checks for a signal.
const PAUSE: Duration = Duration::from_millis(100);

/// Runs `work` on the [threads](pool) of this process while this thread checks for signals. If a signal's
/// handler raises, as for Ctrl-C, the work is asked to stop. The exception is raised after the work has
/// stopped.
///
/// # Errors
/// The error of `work`, the exception of a signal's handler, or an error if the threads cannot be started.
pub(crate) fn interruptible<T: Send>(
    py: Python,
    work: impl FnOnce() -> Result<T, Failed> + Send,
) -> Result<T, Failed> {
    let (pool, (ends, mut ended)) = (pool()?, channel::<()>());
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let _ends = ends; // dropped when the work finishes or panics
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
