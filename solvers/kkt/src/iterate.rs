//! The iterate of an interior point method.

/// A point strictly inside all inequalities.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterate {
    /// α and β (d + 1 values).
    pub primal: Vec<f64>,
    /// ω (n values), each between 0 and θᵢ + κξᵢ.
    pub multipliers: Vec<f64>,
    /// ξ (n values), the slacks: at least the amounts by which the margins are missed.
    pub slacks: Vec<f64>,
    /// z (n values), the amounts by which the margins, with their slacks, are exceeded.
    pub surpluses: Vec<f64>,
}
