//! Fixtures that the tests of many mechanisms share.

use ndarray::Array2;
use scumble_core::{
    Design, Designed, Domain, Guarantee, Key, LocalMechanism, Noise, NoiseDistribution, Plugin, RecordDomain,
    Release, Result, Table, Target, TargetDomain,
};
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

/// Domain of a colour with three levels and a size in [0, 1], and a table of forty people.
pub fn colours_and_sizes() -> (RecordDomain, Table) {
    let columns = ["colour=red", "colour=green", "colour=blue", "size"].map(str::to_owned).to_vec();
    let features = Domain::product([Domain::one_hot(3).unwrap(), Domain::unit_box(1)]).unwrap();
    let cells = Array2::from_shape_fn((40, 4), |(row, column)| match column {
        3 => (row as f64 * 0.618).fract(),
        level => f64::from(u8::from([0, 0, 0, 1, 1, 2][row % 6] == level)),
    });
    let people = Table::new(columns.clone(), cells, Target::None).unwrap();
    (RecordDomain::new(columns, features, TargetDomain::None).unwrap(), people)
}

/// Release of noisy statistics as one row, for a curator's mechanism that a test writes by hand.
///
/// # Errors
/// [`Error::NonFinite`](scumble_core::Error::NonFinite) for a NaN or an infinity.
pub fn release_of_statistics(drawn: &[f64], guarantee: Guarantee) -> Result<Release> {
    let width = drawn.len();
    let columns = (1..=width).map(|at| format!("count {at}")).collect();
    let row = Array2::from_shape_fn((1, width), |(_, at)| drawn[at]);
    let noise = Noise {
        features: vec![NoiseDistribution::Unknown { width }],
        target: NoiseDistribution::Exact { width: 0 },
    };
    Ok(Release::new(Key::None, guarantee, noise, Table::new(columns, row, Target::None)?))
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
