//! Native half of the Python package `scumble`: designs, releases, tickets, ledgers, comparisons and audits.
//! Tables pass through the Arrow C interface; other arguments and results are text, numbers and JSON. The
//! modules `scumble/*.py` wrap them for Python users.

mod comparison;
mod design;
mod errors;
mod interrupt;
mod ledger;
mod mechanism;
mod models;
mod pool;
mod predict;
mod random;
mod registry;
mod schema;
mod suite;
mod tables;
mod ticket;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::comparison::{Comparison, compare};
    #[pymodule_export]
    use super::design::{Design, Released, card_lines, design};
    #[pymodule_export]
    use super::ledger::Ledger;
    #[pymodule_export]
    use super::mechanism::{conformance, register};
    #[pymodule_export]
    use super::models::{fit_logistic, fit_ridge};
    #[pymodule_export]
    use super::predict::Model;
    #[pymodule_export]
    use super::random::Random;
    #[pymodule_export]
    use super::registry::{account, audit, audit_design, describe, names, run_command};
    #[pymodule_export]
    use super::schema::draft;
    #[pymodule_export]
    use super::suite::{suite, suite_tasks};
    #[pymodule_export]
    use super::tables::{check_tables, estimate_tables};
    #[pymodule_export]
    use super::ticket::Ticket;
    #[pymodule_export]
    use pyo3_arrow::PyTable;
}
