//! Errors of fitting a support vector machine.

/// Result of a fit.
pub type Result<T> = std::result::Result<T, Error>;

/// Error of fitting a support vector machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The data have too many records for a kernel machine.
    #[error(
        "a kernel machine needs a matrix of {records} × {records} values, and it accepts at most {most} \
         records; a linear machine accepts any number"
    )]
    TooManyRecords {
        /// Number of records.
        records: usize,
        /// Largest number of records.
        most: usize,
    },
    /// A kernel machine would exceed its maximum number of iterations before it reaches the requested
    /// tolerance.
    #[error(
        "the kernel machine reached a tolerance of {reached:e} in {iterations} iterations, and {tolerance:e} \
         would exceed the limit; a smaller penalty, a wider kernel or fewer records may help"
    )]
    Guarded {
        /// Tolerance that was reached.
        reached: f64,
        /// Requested tolerance.
        tolerance: f64,
        /// Number of iterations of the last stage of the fit.
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
