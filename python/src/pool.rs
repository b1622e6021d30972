//! Threads for what computes, of this process: those of a parent are gone in a child that was forked.

use crate::errors::Failed;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::process;
use std::sync::{Arc, Mutex};

/// The threads, with the id of the process that they belong to.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The threads of this process.
///
/// # Errors
/// Where the operating system gives no threads.
pub(crate) fn pool() -> Result<Arc<ThreadPool>, Failed> {
    let build = || {
        let built = ThreadPoolBuilder::new().build();
        built.map(Arc::new).map_err(|error| Failed::input(format!("no threads can be started: {error}")))
    };
    // A lock that a thread of the parent held at the fork is never given back: such a child takes new threads
    // each time.
    let Ok(mut kept) = POOL.try_lock() else { return build() };
    if let Some((process, pool)) = &*kept
        && *process == process::id()
    {
        return Ok(Arc::clone(pool));
    }
    let pool = build()?;
    // To drop the pool of a parent would wait for threads that are not there.
    std::mem::forget(kept.replace((process::id(), Arc::clone(&pool))));
    Ok(pool)
}
