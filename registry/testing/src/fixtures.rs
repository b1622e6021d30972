//! Fixtures that the tests of many mechanisms share.

use scumble_core::{Design, Designed, Domain, LocalMechanism, Plugin, RecordDomain, TargetDomain};
use std::sync::Arc;

/// Domain of records with these features, in columns `x1`, `x2` and so on, and this target.
///
/// # Panics
/// If the target does not make a domain.
#[track_caller]
pub fn records(features: Domain, target: TargetDomain) -> RecordDomain {
    let columns = (1..=features.dim()).map(|at| format!("x{at}")).collect();
    RecordDomain::new(columns, features, target).unwrap()
}

/// Domain of records of `dim` numbers in [0, 1] without a target.
pub fn numbers(dim: usize) -> RecordDomain {
    records(Domain::unit_box(dim), TargetDomain::None)
}

/// Local mechanism of a design, which each person runs.
///
/// # Panics
/// If a curator runs the mechanism.
#[track_caller]
pub fn local(design: Design) -> Arc<dyn LocalMechanism> {
    match design.into_mechanism() {
        Designed::Local(local) => local,
        Designed::Curator(_) => panic!("a curator runs it"),
    }
}

/// Checks that `plugin` refuses the `saved` state of a design after each of these replacements.
///
/// # Panics
/// If a changed state is accepted, or if a replacement changes nothing.
#[track_caller]
pub fn refuses_changes(plugin: &Plugin, saved: &str, replacements: &[(&str, &str)]) {
    for &(from, to) in replacements {
        let changed = saved.replace(from, to);
        assert_ne!(changed, saved);
        assert!((plugin.build)(&changed.parse().unwrap()).is_err(), "{changed} was accepted");
    }
}

/// Peak memory use of this process, in MB; `None` if the system does not report it.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<f64>().ok()? / 1e3)
}
