//! A model trained on released records, scored on held-out test records.
//!
//! ```console
//! $ cargo run --release --example train_on_release
//! ```

use linfa::Dataset;
use linfa::traits::{Fit, Predict};
use scumble::core::{Brief, Budget, Randomness, Registry, Table, Target};
use scumble::datasets::DataSet;
use scumble::linear::LogisticParams;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let wine = DataSet::wine()?;
    let is_test = |row: &usize| row.is_multiple_of(5);
    let rows = 0..wine.table.len();
    let train = wine.table.select(&rows.clone().filter(|row| !is_test(row)).collect::<Vec<_>>())?;
    let test = wine.table.select(&rows.filter(is_test).collect::<Vec<_>>())?;
    println!("without a mechanism    {:.1} % right", 100.0 * accuracy(train.clone(), &test)?);

    let randomized_response = *Registry::installed()?.get("randomized-response")?;
    for epsilon in [0.25, 0.5, 1.0, 2.0, 4.0] {
        let brief = Brief::new(wine.domain.clone(), Budget::pure(epsilon)?);
        let design = randomized_response.design(&Default::default(), &brief)?;
        let release = design.mechanism().release(&train, &mut Randomness::from_os()?)?;
        // The model was trained in the space of the release. The key maps the held-out records, which are in
        // the clear, into this space.
        let view = release.key.view(&test)?;
        println!("labels at ε = {epsilon:<8} {:.1} % right", 100.0 * accuracy(release.table, &view)?);
    }
    Ok(())
}

fn accuracy(train: Table, test: &Table) -> Result<f64, Box<dyn Error>> {
    let train: Dataset<f64, usize, ndarray::Ix1> = train.try_into()?;
    let predicted = LogisticParams::default().fit(&train)?.predict(test.records());
    let Target::Class(truth) = test.target() else {
        return Err("the wines are good or bad".into());
    };
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    Ok(right as f64 / truth.len() as f64)
}
