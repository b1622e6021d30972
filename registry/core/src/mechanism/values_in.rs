//! Encoding of whole values in released numbers.

/// Encoding of the whole values of a column (integers, days, ranks) in a coordinate of a released record.
///
/// A column of k whole values 0, …, k − 1 is one coordinate x, scaled to [0, 1]. A decoder must know how x
/// was drawn. Let x be drawn uniformly in the bin [v/k, (v + 1)/k) of its value v. For a large k, rounding
/// x·(k − 1) then moves almost half of the records with v = 0 to the value 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValuesIn {
    /// Same units as in the input records: value v is encoded as a number x near v/(k − 1). The decoded value
    /// is x·(k − 1), rounded.
    #[default]
    Units,
    /// Uniform in bins: value v is encoded as a random x in [v/k, (v + 1)/k). The decoded value is ⌊x·k⌋.
    Bins,
    /// Target like [`Bins`](Self::Bins), features like [`Units`](Self::Units).
    TargetInBins,
}

impl ValuesIn {
    /// Returns whether the whole values of a column are encoded in bins. `is_target` is true for the target.
    #[must_use]
    pub fn is_in_bins(self, is_target: bool) -> bool {
        match self {
            Self::Units => false,
            Self::Bins => true,
            Self::TargetInBins => is_target,
        }
    }
}
