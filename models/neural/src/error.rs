//! Errors of networks.

/// Result of a network operation.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of a network or its training.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A network without layers.
    #[error("a network needs a layer, and this one has none")]
    NoLayers,
    /// A layer, or an input, of width zero.
    #[error("{what} needs at least one number, and has none")]
    NoWidth {
        /// Name of the layer or input.
        what: String,
    },
    /// More parameters than fit into memory.
    #[error("a network of these layers has more parameters than can be counted")]
    TooManyParameters,
    /// A convolution whose windows do not fit its input or output.
    #[error("the windows of layer {layer}, counted from 0, do not fit: {problem}")]
    Windows {
        /// Number of the layer, counted from 0.
        layer: usize,
        /// Description of the problem.
        problem: String,
    },
    /// Saved parameters that cannot be decoded.
    #[error("the parameters cannot be read: {problem}")]
    Packed {
        /// Description of the problem.
        problem: String,
    },
    /// A wrong number of rows, columns or values.
    #[error("{what} must be {expected} in number, and are {found}")]
    Length {
        /// Name of the counted items.
        what: &'static str,
        /// Expected number.
        expected: usize,
        /// Number found.
        found: usize,
    },
    /// A backward pass requested before its forward pass, a gradient requested before its backward pass, or a
    /// [`Pass`](crate::Pass) of a network with another architecture.
    #[error("the pass holds no {what} of this network: run its {step} pass first")]
    Order {
        /// Name of the missing values.
        what: &'static str,
        /// Pass that produces them.
        step: &'static str,
    },
    /// An empty set of records.
    #[error("there are no records")]
    NoRecords,
    /// A row of records or targets that does not exist.
    #[error("row {row}, counted from 0, was requested, and there are {rows}")]
    Row {
        /// Requested row.
        row: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A class number that is not below the number of outputs.
    #[error("the class of row {row} is {class}, both counted from 0, and there are {classes} classes")]
    Class {
        /// Row of the example with this class.
        row: usize,
        /// Class found.
        class: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A value outside its range: a record or a target that is not finite, or a target of binary
    /// cross-entropy outside [0, 1].
    #[error("{what} in row {row} and column {column}, counted from 0, must be {range}, and is {value}")]
    Value {
        /// Name of the value.
        what: &'static str,
        /// Row of the value.
        row: usize,
        /// Column of the value.
        column: usize,
        /// Permitted range.
        range: &'static str,
        /// Value found.
        value: f64,
    },
    /// A hyper-parameter outside its range.
    #[error("{name} must be {range}, and is {value}")]
    HyperParameter {
        /// Name of the hyper-parameter.
        name: &'static str,
        /// Permitted range.
        range: &'static str,
        /// Value found.
        value: f64,
    },
    /// A parameter of a network that is not finite.
    #[error("parameter {index} of the network, counted from 0, is {value}, and must be a finite number")]
    Parameter {
        /// Index of the parameter.
        index: usize,
        /// Value of the parameter.
        value: f64,
    },
    /// A training that was interrupted.
    #[error("interrupted")]
    Interrupted(#[from] scumble_interrupt::Interrupted),
    /// A loss or a parameter that became infinite or not a number in training.
    #[error(
        "training left the finite numbers in epoch {epoch}, counted from 1: {what} is {value}; a smaller \
         learning rate may help"
    )]
    Diverged {
        /// Epoch, counted from 1.
        epoch: usize,
        /// Name of the value: the training loss, the validation loss or a parameter.
        what: &'static str,
        /// Value that the loss or parameter reached.
        value: f64,
    },
}

/// Checks that `found` equals `expected`.
///
/// # Errors
/// [`Error::Length`] unless `found` equals `expected`.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
