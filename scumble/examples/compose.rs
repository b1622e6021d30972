//! Two mechanisms for one record: noise for the numbers, randomised response for the label. Their joint guarantee is
//! derived, and the composition is saved as one design.
//!
//! ```console
//! $ cargo run --release --example compose
//! ```

use scumble::datasets::DataSet;
use scumble::registry::{Brief, Budget, Design, Randomness, Registry, ShippedDesign};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wine = DataSet::wine()?;
    let registry = Registry::installed()?;
    let brief = Brief::new(wine.domain.clone(), Budget::pure(4.0)?);

    // A quarter of ε for the label, the rest for the features.
    let (label, features) = brief.budget.split(0.25)?;
    let features = brief.for_part(wine.domain.without_target())?.with_budget(features);
    let label = brief.for_part(wine.domain.without_features())?.with_budget(label);
    let parts = vec![
        registry.get("piecewise")?.design(&Default::default(), &features)?,
        registry.get("randomized-response")?.design(&Default::default(), &label)?,
    ];
    let design = Design::composed(wine.domain.clone(), parts)?;

    let release = design.mechanism().release(&*wine.table.whole()?, &mut Randomness::from_os()?)?;
    println!("{} wines, released by {}\n\n{}", release.table.len(), design.origin(), release.guarantee);

    // What is saved is all that a client needs.
    let saved = ShippedDesign::from(design.clone()).to_json()?;
    let loaded = ShippedDesign::from_json(&saved, "the saved design", &registry)?;
    assert_eq!(loaded.mechanism().guarantee(), design.mechanism().guarantee());
    println!("saved in {} bytes", saved.len());
    Ok(())
}
