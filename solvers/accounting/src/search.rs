//! The least number at which something holds, and the one at which something is highest.

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

/// The least float of [`from`, `to`], both positive, at which `excess` is zero or less, where it falls from above zero: to this relative `accuracy`, and it
/// was found to be so there. By secants over the logarithm of the place, so that of a smooth `excess` some six values are asked for. `None` where it is
/// above zero at `to`.
pub fn crossing(from: f64, to: f64, accuracy: f64, excess: impl Fn(f64) -> f64) -> Option<f64> {
    let of = |log: f64| {
        let place = log.exp().clamp(from, to);
        Place { place, log, excess: excess(place) }
    };
    let mut met = of(to.ln());
    if met.excess.is_nan() || met.excess > 0.0 {
        return None;
    }
    let (mut before, mut short): (Option<Place>, Option<Place>) = (None, None);
    // So many secants at most before intervals are halved.
    for count in 0..200 {
        if short.as_ref().is_some_and(|short| met.log - short.log <= accuracy) || met.place <= from {
            break;
        }
        let last = short.as_ref().filter(|short| short.excess < -met.excess).unwrap_or(&met);
        let other = before.as_ref().or(short.as_ref()).unwrap_or(&met);
        let slope = match (last.excess - other.excess) / (last.log - other.log) {
            slope if slope < 0.0 && slope.is_finite() => slope,
            _ => -2.0, // as of an ε by its noise
        };
        let root = last.log - last.excess / slope;
        let next = match &short {
            // Until one falls short: half as far again.
            None => (met.log - (1.5 * (met.log - root)).max(accuracy)).max(from.ln()),
            Some(short) => {
                let middle = 0.5 * (short.log + met.log);
                // Beyond the root by a third, so that both ends come near to it.
                let root = if root < middle { root + accuracy / 3.0 } else { root - accuracy / 3.0 };
                let is_within = root > short.log && root < met.log && count < 40;
                if is_within { root } else { middle }
            }
        };
        let found = of(next);
        if found.excess <= 0.0 {
            before = Some(std::mem::replace(&mut met, found));
        } else {
            before = short.replace(found).or(before);
        }
    }
    Some(met.place)
}

/// A place, and what was found there.
struct Place {
    place: f64,
    log: f64,
    excess: f64,
}

/// Where `value` is highest in [`from`, `to`], to some 10⁻⁸ of the interval: by a scan, and the golden section between the neighbours of the
/// best, so that of several peaks the highest is found unless it is narrower than a 64th of the interval.
pub fn highest(from: f64, to: f64, value: impl Fn(f64) -> f64) -> f64 {
    const PLACES: u32 = 64;
    let place = |index: u32| from + (to - from) * f64::from(index) / f64::from(PLACES);
    let best =
        (0..=PLACES).max_by(|one, other| value(place(*one)).total_cmp(&value(place(*other)))).unwrap_or(0);
    let found = peak(place(best.saturating_sub(1)), place((best + 1).min(PLACES)), 40, &value);
    // At an end of the interval the scan has it already.
    if value(found) < value(place(best)) { place(best) } else { found }
}

/// Where `value`, which rises to one peak and falls from there, is highest in [`low`, `high`], to 0.618^`steps` of the interval
/// (golden-section search, Kiefer 1953).
pub(crate) fn peak(mut low: f64, mut high: f64, steps: u32, value: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let at = |place: f64| (place, value(place));
    let (mut left, mut right) = (at(high - GOLDEN * (high - low)), at(low + GOLDEN * (high - low)));
    for _ in 0..steps {
        if left.1 < right.1 {
            (low, left) = (left.0, right);
            right = at(low + GOLDEN * (high - low));
        } else {
            (high, right) = (right.0, left);
            left = at(high - GOLDEN * (high - low));
        }
    }
    (low + high) / 2.0
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

    #[test]
    fn a_crossing_is_found_from_the_safe_side_by_a_few_values() {
        let count = std::cell::Cell::new(0);
        for power in [0.5, 1.0, 2.0, 3.0] {
            for wanted in [1.003, 2.0, 70.0, 9e3] {
                count.set(0);
                let excess = |x: f64| {
                    count.set(count.get() + 1);
                    -power * (x / wanted).ln() + 0.2 * (1.0 / x - 1.0 / wanted)
                };
                let found = crossing(1.0, 1e4, 1e-6, excess).unwrap();
                assert!((wanted..wanted * 1.000_001).contains(&found), "{found} for {wanted}");
                assert!(count.get() <= 12, "{} values for {wanted}", count.get());
            }
        }
        // One that jumps is found too, and one that is nowhere above or nowhere below.
        let found = crossing(1.0, 1e4, 1e-6, |x| if x < 7.0 { 1.0 } else { -1.0 }).unwrap();
        assert!((7.0..7.00001).contains(&found), "{found}");
        assert_eq!(crossing(1.0, 2.0, 1e-6, |_| -1.0), Some(1.0));
        assert_eq!(crossing(1.0, 2.0, 1e-6, |_| 1.0), None);
    }

    #[test]
    fn the_highest_of_several_peaks_is_found_and_an_end_too() {
        let found = highest(-10.0, 10.0, |x| x.cos() - (x - 6.0).powi(2) / 1e3);
        let slope = -found.sin() - (found - 6.0) / 500.0;
        assert!(slope.abs() < 1e-6 && (6.0..7.0).contains(&found), "{found}");
        assert_eq!(highest(2.0, 3.0, |x| -x), 2.0);
        assert_eq!(highest(2.0, 3.0, |x| x), 3.0);
    }
}
