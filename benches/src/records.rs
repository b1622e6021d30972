//! Synthetic records of numbers, and designs for them.

use crate::Result;
use ndarray::Array2;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::core::{
    Brief, Budget, Design, Domain, RecordDomain, Registry, Table, Target, TargetDomain, Task, Volunteers,
};

/// Number of volunteers (people whose records shape a design).
pub(crate) const VOLUNTEERS: usize = 1_000;

/// Creates random records in the unit box, with independent uniform columns.
pub(crate) fn table(records: usize, columns: usize) -> Result<Table> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let numbers = Array2::from_shape_simple_fn((records, columns), || rng.r#gen());
    Ok(Table::new(names(columns), numbers, Target::None)?)
}

/// Designs the plugin called `name` for records in the unit box of `columns` dimensions, without volunteers.
pub(crate) fn design(name: &str, columns: usize) -> Result<Design> {
    design_in(name, domain(columns)?)
}

/// Designs the plugin called `name` for records in `domain`.
pub(crate) fn design_in(name: &str, domain: RecordDomain) -> Result<Design> {
    Ok(Registry::installed()?.get(name)?.design(&Default::default(), &Brief::new(domain, budget()?))?)
}

/// Designs `task-aware-linear` from `volunteers` for a task that needs the first `latents` columns. Latents
/// are the linear combinations of columns that the mechanism releases with noise. The budget is ε = 1,000, at
/// which the noise is small. A design with another number of latents than `latents` is an error.
pub(crate) fn task_aware(volunteers: Table, latents: usize) -> Result<Design> {
    let columns = volunteers.columns().len();
    let mut brief = Brief::new(domain(columns)?, Budget::pure(1e3)?);
    brief.volunteers = Volunteers::Public(volunteers);
    brief.task = Task::Linear(Array2::from_shape_fn((latents, columns), |(i, j)| f64::from(i == j)));
    let design = Registry::installed()?.get("task-aware-linear")?.design(&Default::default(), &brief)?;
    let found = design.local().ok().map(|local| local.range().dim());
    if found != Some(latents) {
        return Err(format!("the design must have {latents} latents, but has {found:?}").into());
    }
    Ok(design)
}

fn domain(columns: usize) -> Result<RecordDomain> {
    Ok(RecordDomain::new(names(columns), Domain::unit_box(columns), TargetDomain::None)?)
}

fn budget() -> Result<Budget> {
    Ok(Budget::new(1.0, 1e-6)?)
}

fn names(columns: usize) -> Vec<String> {
    (1..=columns).map(|at| format!("x{at}")).collect()
}
