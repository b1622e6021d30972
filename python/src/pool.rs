//! Computing threads of this process. A forked child does not inherit the threads of its parent.

use crate::errors::Failed;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::{Arc, Mutex};

/// The threads, with the id of their process.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Returns the threads of this process.
///
/// # Errors
/// Returns an error if the operating system provides no threads.
pub(crate) fn pool() -> Result<Arc<ThreadPool>, Failed> {
    let build = || {
        let built = ThreadPoolBuilder::new().build();
        built.map(Arc::new).map_err(|error| Failed::input(format!("no threads can be started: {error}")))
    };
    // A lock that a thread of the parent held at the fork is never released in the child process. This child
    // then starts new threads each time.
    let Ok(mut kept) = POOL.try_lock() else { return build() };
    if let Some((process, pool)) = &*kept
        && *process == process::id()
    {
        return Ok(Arc::clone(pool));
    }
    let pool = build()?;
    // Dropping a parent's pool would wait for threads that do not exist in this process.
    std::mem::forget(kept.replace((process::id(), Arc::clone(&pool))));
    Ok(pool)
}
