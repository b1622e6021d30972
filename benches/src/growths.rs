//! Growth of times with the numbers of records, columns, latents (released combinations of columns) and
//! threads.

use crate::growth::{Growth, GrowthLaw, Row};
use crate::records::{self, VOLUNTEERS};
use crate::threads::THREADS;
use crate::{Contestant, Host, Result, network, private, release, stream};
use linfa::Dataset;
use linfa::traits::Fit;
use ndarray::{Array1, ArrayView1};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::core::Table;
use scumble::private::NoiseKind;
use scumble::svm::SvmParams;
use scumble::task_aware::sensitivity::{linear_over_box, over_points};
use std::rc::Rc;

const COLUMNS: usize = 30;
const LATENTS: usize = 6;

/// Numbers of records in a table. A large comparison of mechanisms has a million, and the last size is ten
/// million.
const RECORDS: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const WIDTHS: [usize; 5] = [10, 30, 100, 300, 1_000];
const MOST_LATENTS: [usize; 8] = [4, 6, 8, 10, 12, 16, 20, 30];

/// Number of values from which a table is timed in only three rounds, because each round takes seconds.
const MANY: usize = 20_000_000;

/// Returns the first three sizes if growth is timed at small sizes only ([`Host::is_small`]), and otherwise
/// all sizes.
fn sizes(all: &[usize], host: &Host) -> Vec<usize> {
    if host.is_small { all[..3].into() } else { all.into() }
}

pub(crate) fn with_records(host: &Host) -> Result<Growth> {
    let what = format!(
        "All records have {COLUMNS} columns. Task-aware designs are for a task of {LATENTS} columns; the \
         released design learns from {VOLUNTEERS} volunteers. The linear machine is fitted with its defaults \
         to two overlapping classes."
    );
    let rows = table_rows(|records| (records, COLUMNS));
    Ok(Growth { what, size_unit: "records", sizes: sizes(&RECORDS, host), law: GrowthLaw::Power, rows })
}

pub(crate) fn with_columns(host: &Host) -> Result<Growth> {
    let what = "All tables have 2000 records; the other settings are as above.".to_owned();
    let rows = table_rows(|columns| (2_000, columns));
    Ok(Growth { what, size_unit: "columns", sizes: sizes(&WIDTHS, host), law: GrowthLaw::Power, rows })
}

/// Rows that time tasks on tables of numbers. `dim` converts a size to the numbers of records and columns of
/// a table.
fn table_rows(dim: fn(usize) -> (usize, usize)) -> Vec<Row> {
    let table = move |size| {
        let (records, columns) = dim(size);
        records::table(records, columns).map(Rc::new)
    };
    let timed = move |size: usize, contestant: Contestant| {
        let (records, columns) = dim(size);
        if records * columns < MANY { contestant } else { contestant.for_rounds(3) }
    };
    let releases = ["laplace", "gaussian", "direct"].map(|name| {
        Row::new(format!("release by `{name}`"), move |size| {
            Ok(timed(size, release::released(records::design(name, dim(size).1)?, table(size)?, "", 1)?))
        })
    });
    let mut rows = Vec::from(releases);
    rows.push(Row::new("release by `task-aware-linear`", move |size| {
        let design = records::task_aware(records::table(VOLUNTEERS, dim(size).1)?, LATENTS)?;
        Ok(timed(size, release::released(design, table(size)?, "", 1)?))
    }));
    rows.push(Row::new("design of `task-aware-linear`, from all records as volunteers", move |size| {
        let volunteers = records::table(dim(size).0, dim(size).1)?;
        let design = move || records::task_aware(volunteers.clone(), LATENTS);
        Ok(timed(size, Contestant::timed("", 1, design)))
    }));
    rows.push(Row::new("linear machine", move |size| Ok(timed(size, machine(&*table(size)?)))));
    rows
}

/// Creates a contestant that fits a linear support vector machine. The class of a record tells whether its
/// first column exceeds its second by more than a uniform random number from −1 to 1.
fn machine(table: &Table) -> Contestant {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let points = table.records().to_owned();
    let larger = |point: ArrayView1<f64>| usize::from(point[0] - point[1] > rng.gen_range(-1.0..1.0));
    let classes: Array1<usize> = points.outer_iter().map(larger).collect();
    let dataset = Dataset::new(points, classes);
    Contestant::timed("", 1, move || Ok(SvmParams::default().fit(&dataset)?))
}

pub(crate) fn with_latents(host: &Host) -> Result<Growth> {
    const POINTS: usize = 2_000;
    const RECORDS: usize = 2_000;
    let rows = vec![
        Row::new("ℓ₁ sensitivity of a map on a box", |latents| {
            let map = records::table(latents, COLUMNS)?.records() * 2.0 - 1.0;
            let widths = Array1::ones(COLUMNS);
            Ok(Contestant::timed("", 1, move || Ok(linear_over_box(map.view(), widths.view())?)))
        }),
        Row::new("ℓ₁ sensitivity over points", |latents| {
            let points = records::table(POINTS, latents)?;
            Ok(Contestant::timed("", 1, move || Ok(over_points(points.records().view())?)))
        }),
        Row::new("design of `task-aware-linear`", |latents| {
            let volunteers = records::table(VOLUNTEERS, COLUMNS)?;
            Ok(Contestant::timed("", 1, move || records::task_aware(volunteers.clone(), latents)))
        }),
        Row::new("release by `task-aware-linear`", |latents| {
            let design = records::task_aware(records::table(VOLUNTEERS, COLUMNS)?, latents)?;
            release::released(design, Rc::new(records::table(RECORDS, COLUMNS)?), "", 1)
        }),
    ];
    let what = format!(
        "The sensitivities are of a map of {COLUMNS} columns and of {POINTS} points in a box. The designs \
         learn from {VOLUNTEERS} volunteers and release {RECORDS} records. The bound for a set of up to 12 \
         latents covers all 2^(Z−1) signed sums; for more latents, it covers each latent alone. A time that \
         grows as 2^Z doubles with each latent."
    );
    let law = GrowthLaw::Exponential;
    Ok(Growth { what, size_unit: "latents", sizes: sizes(&MOST_LATENTS, host), law, rows })
}

pub(crate) fn with_threads(_: &Host) -> Result<Growth> {
    let rows = vec![
        Row::new("a CSV file released by `laplace`", stream::csv_on),
        Row::new("a step of training a network", |threads| network::on(threads, String::new())),
        Row::new("a step of training it privately", |threads| {
            private::on(threads, NoiseKind::Exact, String::new())
        }),
    ];
    let what = "The file and the steps are those of the sections above. The best exponent is −1: twice the \
                threads, half the time.";
    Ok(Growth { what: what.into(), size_unit: "threads", sizes: THREADS.into(), law: GrowthLaw::Power, rows })
}
