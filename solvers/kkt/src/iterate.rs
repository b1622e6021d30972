//! The iterate of an interior point method.

/// A point strictly inside all inequalities.
#[derive(Debug, Clone, PartialEq)]
pub struct Iterate {
    /// α and β (d + 1 values).
    pub primal: Vec<f64>,
    /// ω (n values), each between 0 and θᵢ + κξᵢ.
    pub multipliers: Vec<f64>,
    /// ξ (n values), by how much each margin is missed, and more.
    pub slacks: Vec<f64>,
    /// z (n values), by how much each margin, slack included, is surpassed.
    pub surpluses: Vec<f64>,
}
