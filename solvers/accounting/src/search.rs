//! Searches for the least number at which a condition holds, and for the maximum of a function.

/// The least float in [`from`, `to`] (both non-negative) at which `holds` is true, to the last bit.
///
/// `holds` must be false below some number, and true from this number on. Returns `None` if `holds` is false
/// at `to`.
pub fn least(from: f64, to: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    // Non-negative floats have the same order as their bits, read as integers.
    let found = least_integer(from.to_bits(), to.to_bits(), |bits| holds(f64::from_bits(bits)))?;
    Some(f64::from_bits(found))
}

/// The least integer in [`from`, `to`] at which `holds` is true. `holds` must be false below some integer,
/// and true from this integer on.
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

/// A number in [`from`, `to`] (both positive) at which `holds` is true, at most a factor of e^`accuracy`
/// above the least such number.
///
/// `holds` must be false below some number, and true from this number on. The search evaluates `holds` far
/// fewer times than [`least`]. Returns `None` if `holds` is false at `to`.
pub fn nearly_least(from: f64, to: f64, accuracy: f64, holds: impl Fn(f64) -> bool) -> Option<f64> {
    let step = |index: u64| (from * (index as f64 * accuracy).exp()).min(to);
    let last = ((to / from).ln() / accuracy).ceil() as u64;
    least_integer(0, last, |index| holds(step(index))).map(step)
}

/// The least float in [`from`, `to`] (both positive) at which `excess` is at most zero, to the relative
/// `accuracy`.
///
/// `excess` must decrease. At the result, `excess` is at most zero. The search uses the secant method over
/// the logarithm of the argument, and needs about six evaluations of a smooth `excess`. Returns `None` if
/// `excess` is positive at `to`.
pub fn crossing(from: f64, to: f64, accuracy: f64, excess: impl Fn(f64) -> f64) -> Option<f64> {
    let evaluate = |log: f64| {
        let place = log.exp().clamp(from, to);
        Place { place, log, excess: excess(place) }
    };
    let mut met = evaluate(to.ln());
    if met.excess.is_nan() || met.excess > 0.0 {
        return None;
    }
    let (mut before, mut short): (Option<Place>, Option<Place>) = (None, None);
    // After 40 secants, the search only halves intervals.
    for count in 0..200 {
        if short.as_ref().is_some_and(|short| met.log - short.log <= accuracy) || met.place <= from {
            break;
        }
        let last = short.as_ref().filter(|short| short.excess < -met.excess).unwrap_or(&met);
        let other = before.as_ref().or(short.as_ref()).unwrap_or(&met);
        let slope = match (last.excess - other.excess) / (last.log - other.log) {
            slope if slope < 0.0 && slope.is_finite() => slope,
            _ => -2.0, // about the slope of ln ε against the logarithm of the noise
        };
        let root = last.log - last.excess / slope;
        let next = match &short {
            // Until one value is positive, each step goes 1.5 times as far as the secant.
            None => (met.log - (1.5 * (met.log - root)).max(accuracy)).max(from.ln()),
            Some(short) => {
                let middle = 0.5 * (short.log + met.log);
                // The next argument is a third of the accuracy beyond the root, so that both ends approach
                // the root.
                let root = if root < middle { root + accuracy / 3.0 } else { root - accuracy / 3.0 };
                let is_within = root > short.log && root < met.log && count < 40;
                if is_within { root } else { middle }
            }
        };
        let found = evaluate(next);
        if found.excess <= 0.0 {
            before = Some(std::mem::replace(&mut met, found));
        } else {
            before = short.replace(found).or(before);
        }
    }
    Some(met.place)
}

/// An argument, its logarithm, and the value of `excess` at it.
struct Place {
    place: f64,
    log: f64,
    excess: f64,
}

/// The argument in [`from`, `to`] at which `value` is highest, to about 10⁻⁸ of the interval.
///
/// The search scans 65 points, and then refines between the neighbours of the best point by golden sections.
/// So it finds the highest of several peaks, unless this peak is narrower than a 64th of the interval.
pub fn highest(from: f64, to: f64, value: impl Fn(f64) -> f64) -> f64 {
    const PLACES: u32 = 64;
    let place = |index: u32| from + (to - from) * f64::from(index) / f64::from(PLACES);
    let best =
        (0..=PLACES).max_by(|one, other| value(place(*one)).total_cmp(&value(place(*other)))).unwrap_or(0);
    let found = peak(place(best.saturating_sub(1)), place((best + 1).min(PLACES)), 40, &value);
    // If the maximum is at an end of the interval, the scan has already found it.
    if value(found) < value(place(best)) { place(best) } else { found }
}

/// The argument in [`low`, `high`] at which `value` is highest, to 0.618^`steps` of the interval.
/// The function must have one peak. The method is golden-section search (Kiefer 1953).
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
            for expected in [1.003, 2.0, 70.0, 9e3] {
                count.set(0);
                let excess = |x: f64| {
                    count.set(count.get() + 1);
                    -power * (x / expected).ln() + 0.2 * (1.0 / x - 1.0 / expected)
                };
                let found = crossing(1.0, 1e4, 1e-6, excess).unwrap();
                assert!((expected..expected * 1.000_001).contains(&found), "{found} for {expected}");
                assert!(count.get() <= 12, "{} values for {expected}", count.get());
            }
        }
        // Functions that jump are solved too, as are functions that are never positive or always positive.
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
