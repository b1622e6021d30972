//! What can go wrong when a machine is fitted.

/// The result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong when a machine is fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Too many records for a kernel.
    #[error(
        "a kernel machine holds a matrix of {records} × {records}, and {most} records are the most that it takes; a linear one takes any number"
    )]
    TooManyRecords {
        /// How many there are.
        records: usize,
        /// How many it takes.
        most: usize,
    },
    /// A kernel machine that was still far from its optimum when the guard stopped it.
    #[error(
        "the kernel machine reached a tolerance of {reached:e} in {iterations} iterations, and {tolerance:e} would take it beyond its guard; a smaller penalty, a wider kernel or fewer records are easier"
    )]
    Guarded {
        /// The tolerance that was reached.
        reached: f64,
        /// The one that was asked for.
        tolerance: f64,
        /// How many iterations that took.
        iterations: usize,
    },
    /// Records, or what is solved, that are no programme.
    #[error(transparent)]
    Solver(#[from] scumble_kkt::Error),
    /// Hyper-parameters out of their range, records or labels that are none, one class only; standardisation, flipped labels.
    #[error(transparent)]
    Linear(#[from] scumble_linear::Error),
    /// What linfa's machines may say.
    #[error("kernel machine: {0}")]
    Kernel(#[from] linfa_svm::SvmError),
    /// What linfa's traits may say.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}
