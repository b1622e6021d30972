//! Errors of fitting a support vector machine.

/// Result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of fitting a support vector machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data have too many records for a kernel machine.
    #[error(
        "a kernel machine holds a matrix of {records} × {records}, and {most} records are the most that it takes; a linear one takes any number"
    )]
    TooManyRecords {
        /// Number of records.
        records: usize,
        /// Largest number of records.
        most: usize,
    },
    /// The guard stopped a kernel machine far from its optimum.
    #[error(
        "the kernel machine reached a tolerance of {reached:e} in {iterations} iterations, and {tolerance:e} would take it beyond its guard; a smaller penalty, a wider kernel or fewer records are easier"
    )]
    Guarded {
        /// Tolerance that was reached.
        reached: f64,
        /// Requested tolerance.
        tolerance: f64,
        /// Number of iterations to the tolerance that was reached.
        iterations: usize,
    },
    /// The solver refused the records or the programme.
    #[error(transparent)]
    Solver(#[from] scumble_kkt::Error),
    /// Hyper-parameters, records, labels or label flips are invalid, the data have one class only, or
    /// standardisation failed.
    #[error(transparent)]
    Linear(#[from] scumble_linear::Error),
    /// Error of linfa's support vector machines.
    #[error("kernel machine: {0}")]
    Kernel(#[from] linfa_svm::SvmError),
    /// Error of linfa's traits.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}
