//! What grows with records, columns, latents and threads.

use crate::growth::{Growth, GrowthLaw, Row};
use crate::records::{self, VOLUNTEERS};
use crate::threads::THREADS;
use crate::{Contestant, Result, network, private, release, stream};
use linfa::Dataset;
use linfa::traits::Fit;
use ndarray::{Array1, ArrayView1};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::private::NoiseKind;
use scumble::registry::Table;
use scumble::sensitivity::{linear_over_box, over_points};
use scumble::svm::SvmParams;
use std::rc::Rc;

const COLUMNS: usize = 30;
const LATENTS: usize = 6;

/// All tables of the page.
pub(crate) fn all() -> Result<Vec<Growth>> {
    Ok(vec![with_records()?, with_columns()?, with_latents()?, with_threads()?])
}

fn with_records() -> Result<Growth> {
    let sizes = [1_000, 4_000, 16_000, 64_000];
    let rows = of_tables(&sizes, |records| (records, COLUMNS))?;
    let what = format!(
        "{COLUMNS} columns. A task-aware design is for a task of {LATENTS} columns, from {VOLUNTEERS} volunteers where it is released by. The \
         linear machine is fitted at its defaults to two classes that overlap."
    );
    Ok(Growth {
        title: "With the number of records",
        what,
        of: "records",
        sizes: sizes.into(),
        law: GrowthLaw::Power,
        rows,
    })
}

fn with_columns() -> Result<Growth> {
    let sizes = [10, 30, 100, 300];
    let rows = of_tables(&sizes, |columns| (2_000, columns))?;
    let what = "2000 records, and otherwise as above.".to_owned();
    Ok(Growth {
        title: "With the number of columns",
        what,
        of: "columns",
        sizes: sizes.into(),
        law: GrowthLaw::Power,
        rows,
    })
}

/// What is done with tables of n × d numbers.
fn of_tables(sizes: &[usize], dim: fn(usize) -> (usize, usize)) -> Result<Vec<Row>> {
    let table = |size| {
        let (records, columns) = dim(size);
        records::table(records, columns).map(Rc::new)
    };
    let mut rows = vec![];
    for name in ["laplace", "gaussian", "direct"] {
        rows.push(Row::new(&format!("release by `{name}`"), sizes, |size| {
            release::of(records::design(name, dim(size).1)?, table(size)?, "", 1)
        })?);
    }
    rows.push(Row::new("release by `task-aware-linear`", sizes, |size| {
        let design = records::task_aware(records::table(VOLUNTEERS, dim(size).1)?, LATENTS)?;
        release::of(design, table(size)?, "", 1)
    })?);
    rows.push(Row::new("design of `task-aware-linear`, from so many volunteers", sizes, |size| {
        let volunteers = records::table(dim(size).0, dim(size).1)?;
        Ok(Contestant::timed("", 1, move || records::task_aware(volunteers.clone(), LATENTS)))
    })?);
    rows.push(Row::new("linear machine", sizes, |size| Ok(machine(&*table(size)?)))?);
    Ok(rows)
}

/// A linear machine that learns which of the first two columns is larger, with as much said by chance.
fn machine(table: &Table) -> Contestant {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let points = table.records().to_owned();
    let larger = |point: ArrayView1<f64>| usize::from(point[0] - point[1] > rng.gen_range(-1.0..1.0));
    let classes: Array1<usize> = points.outer_iter().map(larger).collect();
    let dataset = Dataset::new(points, classes);
    Contestant::timed("", 1, move || Ok(SvmParams::default().fit(&dataset)?))
}

fn with_latents() -> Result<Growth> {
    const POINTS: usize = 2_000;
    const RECORDS: usize = 2_000;
    let sizes = [4, 6, 8, 10, 12];
    let rows = vec![
        Row::new("ℓ₁ sensitivity of a map on a box", &sizes, |latents| {
            let map = records::table(latents, COLUMNS)?.records() * 2.0 - 1.0;
            let widths = Array1::ones(COLUMNS);
            Ok(Contestant::timed("", 1, move || Ok(linear_over_box(map.view(), widths.view())?)))
        })?,
        Row::new("ℓ₁ sensitivity over points", &sizes, |latents| {
            let points = records::table(POINTS, latents)?;
            Ok(Contestant::timed("", 1, move || Ok(over_points(points.records().view())?)))
        })?,
        Row::new("design of `task-aware-linear`", &sizes, |latents| {
            let volunteers = records::table(VOLUNTEERS, COLUMNS)?;
            Ok(Contestant::timed("", 1, move || records::task_aware(volunteers.clone(), latents)))
        })?,
        Row::new("release by `task-aware-linear`", &sizes, |latents| {
            let design = records::task_aware(records::table(VOLUNTEERS, COLUMNS)?, latents)?;
            release::of(design, Rc::new(records::table(RECORDS, COLUMNS)?), "", 1)
        })?,
    ];
    let what = format!(
        "A map of {COLUMNS} columns; {POINTS} points in a box; {VOLUNTEERS} volunteers; {RECORDS} records. A set of latents has 2^(Z−1) faces, and \
         what grows as 2^Z takes twice as long for one latent more."
    );
    Ok(Growth {
        title: "With the number of latents",
        what,
        of: "latents",
        sizes: sizes.into(),
        law: GrowthLaw::Exponential,
        rows,
    })
}

fn with_threads() -> Result<Growth> {
    let rows = vec![
        Row::new("a CSV file released by `laplace`", &THREADS, stream::csv_on)?,
        Row::new("a step of training a network", &THREADS, |threads| network::on(threads, String::new()))?,
        Row::new("a step of training it privately", &THREADS, |threads| {
            private::on(threads, NoiseKind::Exact, String::new())
        })?,
    ];
    let what = "The file and the steps of the sections above. An exponent of −1 is the best there is: twice the threads, half the time.";
    Ok(Growth {
        title: "With the number of threads",
        what: what.into(),
        of: "threads",
        sizes: THREADS.into(),
        law: GrowthLaw::Power,
        rows,
    })
}
