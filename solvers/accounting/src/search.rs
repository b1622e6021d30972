//! The least number at which something holds.

/// The least float of [`from`, `to`], both positive or zero, at which `holds`, which holds from somewhere on: to the last bit,
/// and it holds there. `None` where it does not hold at `to`.
pub fn least(from: f64, to: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    // Floats of one sign are in the order of their bits.
    let found = least_integer(from.to_bits(), to.to_bits(), |bits| holds(f64::from_bits(bits)))?;
    Some(f64::from_bits(found))
}

/// The least integer of [`from`, `to`] at which `holds`, which holds from somewhere on.
pub fn least_integer(from: u64, to: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if holds(from) {
        return Some(from);
    }
    if !holds(to) {
        return None;
    }
    let (mut below, mut at) = (from, to);
    while at - below > 1 {
        let middle = below + (at - below) / 2;
        if holds(middle) {
            at = middle;
        } else {
            below = middle;
        }
    }
    Some(at)
}

/// As [`least`], to this relative `accuracy`: for what takes long.
pub fn nearly_least(from: f64, to: f64, accuracy: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let step = |index: u64| (from * (index as f64 * accuracy).exp()).min(to);
    let last = ((to / from).ln() / accuracy).ceil() as u64;
    least_integer(0, last, |index| holds(step(index))).map(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_found_to_the_last_bit() {
        assert_eq!(least(0.0, 10.0, |x| x * x >= 2.0), Some(2f64.sqrt()));
        assert_eq!(least(0.0, 1.0, |x| x >= 2.0), None);
        assert_eq!(least(0.5, 1.0, |_| true), Some(0.5));
        assert_eq!(least_integer(0, u64::MAX, |x| x >= 12_345), Some(12_345));
        let found = nearly_least(1e-3, 1e3, 1e-6, |x| x >= 7.0).unwrap();
        assert!((7.0..7.00001).contains(&found), "{found}");
    }
}
