//! Sentinels: repeated numbers far outside the others, such as 999, which may mark missing cells.

/// Number of distinct extreme numbers kept on each side.
const KEPT: usize = 4;

/// Distance of an arbitrary sentinel from the other numbers, as a multiple of their range.
const FAR: f64 = 10.0;

/// Least range of the other numbers, none negative, for which −1 is a sentinel.
const WIDE: f64 = 10.0;

/// The extreme numbers of a column, with their counts.
#[derive(Default)]
pub(crate) struct Extremes {
    /// From the smallest number up, and from the largest down.
    sides: [Vec<Extreme>; 2],
}

#[derive(Debug)]
struct Extreme {
    number: f64,
    count: usize,
    /// Text of the first cell with this number.
    text: String,
}

/// Sentinels of a column, and the bounds of its other numbers.
#[derive(Debug, PartialEq)]
pub(crate) struct Sentinels {
    pub(crate) texts: Vec<String>,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Extremes {
    pub(crate) fn add(&mut self, number: f64, text: &str) {
        for (side, sign) in self.sides.iter_mut().zip([1.0, -1.0]) {
            let place = side.partition_point(|extreme| sign * extreme.number < sign * number);
            match side.get_mut(place) {
                Some(extreme) if extreme.number == number => extreme.count += 1,
                // A number that left the list never comes back, so all counts are complete.
                _ if place < KEPT => {
                    side.insert(place, Extreme { number, count: 1, text: text.into() });
                    side.truncate(KEPT);
                }
                _ => {}
            }
        }
    }

    /// Returns the largest set of sentinels, or `None` if there are none.
    pub(crate) fn sentinels(&self) -> Option<Sentinels> {
        let [low, high] = &self.sides;
        let pairs = (0..low.len()).flat_map(|below| (0..high.len()).map(move |above| (below, above)));
        let fits = |&(below, above): &(usize, usize)| {
            let (least, most) = (&low[below], &high[above]);
            least.number < most.number
                && below + above > 0
                && is_isolated(&low[..below], least, most)
                && is_isolated(&high[..above], most, least)
        };
        let (below, above) = pairs.filter(fits).max_by_key(|(below, above)| below + above)?;
        let texts = low[..below].iter().chain(&high[..above]).map(|extreme| extreme.text.clone());
        Some(Sentinels { texts: texts.collect(), least: low[below].number, most: high[above].number })
    }
}

/// Returns whether all `sentinels` occur repeatedly and far outside the numbers between `near` and `far`.
fn is_isolated(sentinels: &[Extreme], near: &Extreme, far: &Extreme) -> bool {
    let range = (near.number - far.number).abs();
    sentinels.iter().all(|Extreme { number, count, .. }| {
        let distance = (number - near.number).abs();
        let is_usual = is_code(*number) && distance >= range;
        let is_minus_one = *number == -1.0 && near.number >= 0.0 && range >= WIDE;
        let is_far = distance >= FAR * range && *count > near.count;
        *count >= 2 && (is_usual || is_minus_one || is_far)
    })
}

/// Returns whether a number is a usual code of missing values: 9, 99, 999 and so on, 88, 888, 77, 777 and so
/// on, or a power of ten from 10,000, with either sign.
fn is_code(number: f64) -> bool {
    let digits = number.abs().to_string();
    let is_only = |digit: char| digits.chars().all(|other| other == digit);
    let is_power =
        digits.len() >= 5 && digits.starts_with('1') && digits[1..].chars().all(|digit| digit == '0');
    is_only('9') || (digits.len() >= 2 && (is_only('8') || is_only('7'))) || is_power
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(numbers: impl IntoIterator<Item = f64>) -> Option<Sentinels> {
        let mut extremes = Extremes::default();
        numbers.into_iter().for_each(|number| extremes.add(number, &number.to_string()));
        extremes.sentinels()
    }

    fn ages() -> impl Iterator<Item = f64> {
        (0..400).map(|at| f64::from(18 + at * 37 % 73))
    }

    #[test]
    fn sentinels_are_repeated_and_far_outside() {
        for (marks, texts) in [
            (vec![999.0, 999.0], vec!["999"]),
            (vec![-9.0, -9.0], vec![]),
            (vec![-99.0, -99.0], vec!["-99"]),
            (vec![-1.0, -1.0, -1.0], vec!["-1"]),
            (vec![998.0, 999.0, 999.0, 998.0, 998.0, 998.0, 998.0, 998.0, 998.0], vec!["999", "998"]),
            (vec![-999.0, 999.0, 999.0, -999.0], vec!["-999", "999"]),
            (vec![1_000_000.0; 2], vec!["1000000"]),
            (vec![999_999.375; 9], vec!["999999.375"]),
            (vec![999.0], vec![]),
            (vec![99.0, 99.0], vec![]),
            (vec![500.0; 9], vec![]),
            (vec![], vec![]),
        ] {
            let found = found(ages().chain(marks.clone()));
            assert_eq!(found.as_ref().map(|found| &found.texts[..]).unwrap_or_default(), texts, "{marks:?}");
            if let Some(Sentinels { least, most, .. }) = found {
                assert_eq!((least, most), (18.0, 90.0), "{marks:?}");
            }
        }
        // Answers from 1 to 5, with 9 for no answer.
        let answers = (0..90).map(|at| if at % 20 == 0 { 9.0 } else { f64::from(1 + at % 5) });
        assert_eq!(found(answers).unwrap().texts, ["9"]);
    }

    proptest! {
        /// Counts are complete: the result does not depend on the order of the rows.
        #[test]
        fn the_order_of_the_rows_is_irrelevant(
            numbers in prop::collection::vec((-3i32..12).prop_map(|at| f64::from(at * at * at)), 0..60),
        ) {
            let sorted = |descending: bool| {
                let mut sorted = numbers.clone();
                sorted.sort_by(f64::total_cmp);
                if descending { sorted.reverse() }
                sorted
            };
            prop_assert_eq!(found(numbers.clone()), found(sorted(false)));
            prop_assert_eq!(found(numbers.clone()), found(sorted(true)));
        }
    }
}
