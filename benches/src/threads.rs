//! Work on a given number of threads.

use crate::Result;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Numbers of threads for contestants that can use more than one.
pub(crate) const THREADS: [usize; 2] = [1, 2];

pub(crate) fn pool(threads: usize) -> Result<ThreadPool> {
    Ok(ThreadPoolBuilder::new().num_threads(threads).build()?)
}

/// Runs `work` on the threads of `pool`.
pub(crate) fn run<T: Send>(pool: &ThreadPool, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    // Errors are passed between threads as text.
    pool.install(|| work().map_err(|error| error.to_string())).map_err(Into::into)
}

pub(crate) fn named(threads: usize) -> String {
    if threads == 1 { "one thread".into() } else { format!("{threads} threads") }
}
