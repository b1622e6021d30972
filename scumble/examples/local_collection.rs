//! Local collection from end to end, in three processes that share only files. An analyst designs, clients
//! release with the design alone, and a learner estimates from the released rows.
//!
//! ```console
//! $ cargo run --release --example local_collection
//! ```

use scumble::classic::{Estimator, Variable};
use scumble::core::{Brief, Budget, Randomness, Registry, local};
use scumble::custody::{Existing, NewFile, Part, Readable, ShippedDesign};
use scumble::records::{Clips, OutOfBounds, Schema, Values, csv};
use std::path::Path;
use std::process::Command;

/// Public knowledge about a wine. The bounds do not come from the records.
const SCHEMA: &str = r#"
column = [
    { name = "alcohol", kind = "real", lower = 8.0, upper = 15.0, unit = "% vol" },
    { name = "quality", kind = "category", levels = ["bad", "good"] },
]
"#;

/// Error with a message in one sentence.
type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    match &arguments[1..] {
        [role, folder] if role == "design" => Ok(design(Path::new(folder))?),
        [role, folder] if role == "clients" => Ok(clients(Path::new(folder))?),
        [role, folder] if role == "learn" => Ok(learn(Path::new(folder))?),
        _ => {
            // Each role runs in its own process.
            let folder = tempfile::tempdir()?;
            for role in ["design", "clients", "learn"] {
                let status = Command::new(&arguments[0]).arg(role).arg(folder.path()).status()?;
                if !status.success() {
                    return Err(format!("the process {role:?} failed").into());
                }
            }
            Ok(())
        }
    }
}

/// Writes the analyst's design: half of ε = 2 for the alcohol content, half for the quality.
fn design(folder: &Path) -> Result<(), Failure> {
    let schema = Schema::from_toml(SCHEMA, "the schema")?;
    let registry = Registry::installed()?;
    let brief = Brief::new(schema.domain(Some("quality"))?, Budget::pure(2.0)?);
    let part = |name, column| -> Result<Part, Failure> {
        Ok(Part { plugin: registry.get(name)?, parameters: Default::default(), columns: vec![column] })
    };
    let parts = [part("piecewise", "alcohol")?, part("randomized-response", "quality")?];
    let design = ShippedDesign::side_by_side(&schema, Some("quality"), &brief, &parts, 0.5)?;
    let file = NewFile::create(&folder.join("design.json"), Existing::Keep, Readable::AsUsual)?;
    file.finish(design.to_json()?.as_bytes())?;
    println!("the analyst ships a design\n\n{}", design.mechanism().guarantee());
    Ok(())
}

/// Runs all clients. Each client knows the design and its own wine, and sends one row.
fn clients(folder: &Path) -> Result<(), Failure> {
    let wines = linfa_datasets::winequality();
    let mut collected = "alcohol,quality\n".to_owned();
    for (record, &points) in wines.records.outer_iter().zip(&wines.targets) {
        let own = [record[10].to_string(), if points >= 6 { "good" } else { "bad" }.to_owned()];
        let row = client(&folder.join("design.json"), &own)?;
        collected += &(row.join(",") + "\n");
    }
    let file = NewFile::create(&folder.join("collected.csv"), Existing::Keep, Readable::AsUsual)?;
    file.finish(collected.as_bytes())?;
    println!(
        "{} clients sent a row each, the first of them: {}",
        wines.targets.len(),
        collected.lines().nth(1).unwrap_or("")
    );
    Ok(())
}

/// Releases one client's record, and returns the cells of the released row.
fn client(design: &Path, own: &[String; 2]) -> Result<Vec<String>, Failure> {
    let design = ShippedDesign::read(design, &Registry::installed()?)?;
    let records = design.records()?;
    let header = ["alcohol", "quality"];
    let encoder = records.schema.encoder(&header, records.target.as_deref(), OutOfBounds::Clip, "my wine")?;
    let record = encoder.encode(1, own.iter().map(String::as_str), &mut Clips::default())?;
    let released = local::release_block(design.local()?, &record, &Randomness::from_os()?.streams(), 0)?;
    let decoder = design.decoder()?;
    Ok(decoder.decode(&released)?.into_iter().map(|cell| cell.text().into_owned()).collect())
}

/// Estimates the mean alcohol content and the share of good wines from the design and the collected rows.
fn learn(folder: &Path) -> Result<(), Failure> {
    let design = ShippedDesign::read(&folder.join("design.json"), &Registry::installed()?)?;
    let (table, noise) =
        design.read_released(csv::Rows::open(&folder.join("collected.csv"))?, Values::Settled)?;
    let estimator = Estimator::new(design.local()?, &table, &noise, 0.95)?;
    let alcohol = estimator.mean("alcohol")?.in_unit(8.0, 15.0 - 8.0);
    let good = estimator.histogram(Variable::Target)?[1].in_unit(0.0, 100.0);

    let wines = linfa_datasets::winequality();
    let n = wines.targets.len() as f64;
    let true_alcohol = wines.records.column(10).sum() / n;
    let true_good = 100.0 * wines.targets.iter().filter(|&&points| points >= 6).count() as f64 / n;
    println!("\nthe learner, with 95 % confidence (and what nobody but this example knows):");
    let line = |what, unit, estimate: scumble::core::Estimate, truth: f64| {
        println!(
            "{what:<14} {:.2} {unit}, between {:.2} and {:.2} (of these wines: {truth:.2})",
            estimate.value, estimate.lower, estimate.upper
        );
    };
    line("mean alcohol", "% vol", alcohol, true_alcohol);
    line("good wines", "%", good, true_good);
    Ok(())
}
