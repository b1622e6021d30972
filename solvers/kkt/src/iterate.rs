//! The iterate of an interior point method for soft-margin machines.
//!
//! Notation: there are n records xᵢ of d coordinates with signs yᵢ = ±1, d weights α, and a bias β. yᵢ(α·xᵢ +
//! β) is the margin of record i, and ξᵢ ≥ 0 its slack, with yᵢ(α·xᵢ + β) ≥ 1 − ξᵢ. ωᵢ is the multiplier of
//! this constraint. θᵢ, κ and ρ are the penalties of ξᵢ, ½ξᵢ² and ½β².

/// A point that satisfies all inequalities of a [`SoftMargin`](crate::SoftMargin) strictly, in its notation.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterate {
    /// The weights α and the bias β (d + 1 values).
    pub primal: Vec<f64>,
    /// ω (n values), the multipliers of the margins, each between 0 and θᵢ + κξᵢ.
    pub multipliers: Vec<f64>,
    /// ξ (n values), the slacks: at least the amounts by which the margins are missed.
    pub slacks: Vec<f64>,
    /// z (n values), the surpluses of the margins: yᵢ(α·xᵢ + β) = 1 − ξᵢ + zᵢ at a feasible point.
    pub surpluses: Vec<f64>,
}
