//! Composes mechanisms that share a budget: for different columns, for features and label, in sequence for
//! the same columns, and with a curator's mechanism for the features. The guarantee of the composition and
//! the columns of its release follow from the guarantees and columns of its mechanisms. An invalid
//! composition is refused with the reason.
//!
//! ```console
//! $ cargo run --release --example compose
//! ```

use scumble::core::{Brief, Budget, Design, Key, Randomness, RecordDomain, Registry, Result};
use scumble::custody::ShippedDesign;
use scumble::datasets::DataSet;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let (wine, registry) = (DataSet::wine()?, Registry::installed()?);
    let table = wine.table.whole()?;
    let part = |mechanism: &str, domain: &RecordDomain, budget: Budget| -> Result<Design> {
        registry.get(mechanism)?.design(&Default::default(), &Brief::new(domain.clone(), budget))
    };
    let (all, label) = (&wine.domain, &wine.domain.without_features());
    let features = &all.without_target();
    let (acids, rest) = (&features.restrict(&[0, 1, 2])?, &features.restrict(&[3, 4, 5, 6, 7, 8, 9, 10])?);
    let (label_budget, feature_budget) = Budget::new(4.0, 1e-6)?.split(0.25)?;
    let (one, other) = feature_budget.split(0.5)?;
    let flips = || part("randomized-response", label, label_budget);

    let compositions = [
        (
            "by columns, which share a budget",
            vec![part("laplace", acids, one)?, part("gaussian", rest, other)?, flips()?],
        ),
        ("features and label", vec![part("piecewise", features, feature_budget)?, flips()?]),
        (
            "in sequence, the same columns twice",
            vec![part("laplace", features, one)?, part("laplace", features, other)?],
        ),
        ("with a curator", vec![part("column-space", features, feature_budget)?, flips()?]),
        ("refused", vec![part("noisy-marginals", features, feature_budget)?, flips()?]),
    ];
    for (how, parts) in compositions {
        let design = match Design::composed(all.clone(), parts) {
            Ok(design) => design,
            Err(refused) => {
                println!("{how}: {refused}");
                continue;
            }
        };
        let release = design.mechanism().release(&table, &mut Randomness::from_os()?)?;
        println!("{how}: {} columns, {}", release.table.columns().len(), release.guarantee.summary());
        println!(
            "    {}, its key is {}",
            design.origin(),
            if matches!(release.key, Key::Secret(_)) { "secret" } else { "its design" }
        );
        // A composition is saved and read like any other design.
        let saved = ShippedDesign::from(design).to_json()?;
        ShippedDesign::from_json(&saved, "the saved design", &registry)?;
    }
    Ok(())
}
