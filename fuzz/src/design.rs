//! Saved designs, and the mechanisms in them.

use crate::{accepted, forge};
use ndarray::Array2;
use scumble_classic as _;
use scumble_core::{Designed, LocalMechanism, Noise, Randomness, Registry, Table, local};
use scumble_custody::ShippedDesign;
use std::sync::LazyLock;

const FORMAT: &str = "scumble-design-3";

/// Largest width of a record that is released. A few bytes may claim a target of sixteen million coordinates.
/// Such a design loads quickly and states its guarantee quickly, but each of its records takes much memory.
const WIDEST: usize = 1 << 12;

static REGISTRY: LazyLock<Registry> =
    LazyLock::new(|| Registry::installed().expect("the built-in mechanisms have names of their own"));

/// Reads a saved design twice: unchanged, and with its correct digest. An accepted design must state its
/// guarantee, must be the same after it is saved and read again, and must release.
pub fn design(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let read = |text: &str| accepted(ShippedDesign::from_json(text, "a design", &REGISTRY));
    let designs = [read(text), forge::resealed(text, FORMAT).and_then(|text| read(&text))];
    let designs: Vec<ShippedDesign> = designs.into_iter().flatten().collect();
    designs.iter().for_each(check_design);
    !designs.is_empty()
}

fn check_design(design: &ShippedDesign) {
    assert!(!design.origin().to_string().is_empty());
    check_mechanism(design.mechanism());
    // A saved design does not record whose data shaped it. No design in this test names volunteers.
    let saved = design.to_json().expect("what was read can be saved");
    let again =
        ShippedDesign::from_json(&saved, "the same design", &REGISTRY).expect("what was saved can be read");
    assert_eq!(again.digest().ok(), design.digest().ok());
    let (Ok(local), Ok(decoder)) = (design.local(), design.decoder()) else {
        return;
    };
    let (width, cells) = (local.layout().width(), decoder.header().len());
    if width > WIDEST {
        return;
    }
    let row = decoder.decode(&vec![0.25; width]).expect("a record of the right width");
    assert_eq!(row.len(), cells);
    assert_eq!(width_of(&decoder.noise(&local.noise())), width);
}

fn check_mechanism(mechanism: &Designed) {
    let guarantee = mechanism.guarantee();
    assert!(!guarantee.to_string().is_empty() && guarantee.to_json().is_object());
    if let Some(epsilon) = guarantee.epsilon() {
        assert!(epsilon > 0.0, "it claims ε = {epsilon}");
    }
    let width = mechanism.domain().flat().dim();
    if width > WIDEST {
        return;
    }
    for value in [0.0, 0.5, 1.0, -1e300] {
        let record = vec![value; width];
        if let Designed::Local(local) = mechanism {
            check_local(&**local, &record);
        }
        check_release(mechanism, &table_of(mechanism, &record));
    }
}

/// Checks that the mechanism encodes a record to a point of its range, and that the decoded record has the
/// published layout and distribution.
fn check_local(local: &dyn LocalMechanism, record: &[f64]) {
    let range = local.range();
    let point = local.encode(record).expect("a finite record of the right width");
    assert_eq!(point.len(), range.dim());
    assert!(range.contains(&point), "{record:?} left the range");
    let decoded = local.decode(point).expect("a point of the range");
    assert_eq!(decoded.len(), local.layout().width());
    assert_eq!(width_of(&local.noise()), local.layout().width());
    // A column outside all parts of a composition may hold any value.
    let encoded = local.encode(&vec![f64::NAN; record.len()]).unwrap_or_default();
    assert!(encoded.iter().all(|x| x.is_finite()), "a NaN became a point");
}

fn check_release(mechanism: &Designed, table: &Table) {
    let Some(release) = accepted(mechanism.release(table, &mut Randomness::seeded(1))) else {
        return;
    };
    assert!(release.guarantee.claims.is_empty(), "a seed guarantees nothing");
    assert!(release.table.records().iter().all(|x| x.is_finite()), "a value that is not finite was released");
    if let Designed::Local(local) = mechanism {
        let view = local::view(&**local, table).expect("what was released has a view");
        assert_eq!(view.columns(), release.table.columns());
        accepted(release.key.view(table)).expect("the key of a local mechanism");
    }
}

fn table_of(mechanism: &Designed, record: &[f64]) -> Table {
    let record = Array2::from_shape_fn((1, record.len()), |(_, at)| record[at]);
    mechanism.domain().layout().table(record.view()).expect("a record of the right width")
}

fn width_of(noise: &Noise) -> usize {
    noise.features.iter().map(|distribution| distribution.width()).sum::<usize>() + noise.target.width()
}
