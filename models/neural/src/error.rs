//! What can go wrong with a network.

/// The result of what can go wrong with a network.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong with a network.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A network without layers.
    #[error("a network needs a layer, and this one has none")]
    NoLayers,
    /// A layer, or an input, without any width.
    #[error("{what} needs at least one number, and has none")]
    NoWidth {
        /// What has none.
        what: String,
    },
    /// Parameters that would not fit into memory.
    #[error("a network of these layers has more parameters than can be counted")]
    TooManyParameters,
    /// Saved parameters that are no numbers.
    #[error("the parameters cannot be read: {problem}")]
    Packed {
        /// What is wrong with them.
        problem: String,
    },
    /// A number of rows, columns or values that does not fit.
    #[error("{what} must be {expected} in number, and are {found}")]
    Length {
        /// What they are.
        what: &'static str,
        /// How many there must be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A backward pass without its forward pass, a gradient without its backward pass, or a pass of another network.
    #[error("the pass holds no {what} of this network: its {step} pass comes first")]
    Order {
        /// What it does not hold.
        what: &'static str,
        /// What makes it.
        step: &'static str,
    },
    /// No record at all.
    #[error("there are no records")]
    NoRecords,
    /// A row of records, or of targets, that is not there.
    #[error("row {row}, counted from 0, was asked for, and there are {rows}")]
    Row {
        /// Which was asked for.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A class that no output stands for.
    #[error("the class of row {row} is {class}, counted from 0 both, and there are {classes} classes")]
    Class {
        /// Which row.
        row: usize,
        /// Its class.
        class: usize,
        /// How many there are.
        classes: usize,
    },
    /// A value out of its range: a record or a target that is no finite number, a target of binary cross-entropy that is no share.
    #[error("{what} in row {row} and column {column}, counted from 0, must be {range}, and is {value}")]
    Value {
        /// What it is.
        what: &'static str,
        /// Where.
        row: usize,
        /// Where.
        column: usize,
        /// What it must be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
    /// A hyper-parameter out of its range.
    #[error("{name} must be {range}, and is {value}")]
    HyperParameter {
        /// Its name.
        name: &'static str,
        /// What it must be.
        range: &'static str,
        /// What it is.
        value: f64,
    },
    /// A parameter of a network that is no finite number.
    #[error("parameter {index} of the network, counted from 0, is {value}, and must be a finite number")]
    Parameter {
        /// Which.
        index: usize,
        /// What it is.
        value: f64,
    },
    /// Training that was asked to stop.
    #[error("interrupted")]
    Interrupted(#[from] scumble_interrupt::Interrupted),
    /// A loss, or a parameter, that became no finite number in training.
    #[error(
        "training left the finite numbers in epoch {epoch}, counted from 1: {what} is {value}; a smaller learning rate may help"
    )]
    Diverged {
        /// In which epoch.
        epoch: usize,
        /// What did: the training loss, the validation loss, a parameter.
        what: &'static str,
        /// What it became.
        value: f64,
    },
}

/// # Errors
/// [`Error::Length`] unless `found` is as `expected`.
pub(crate) fn check_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
