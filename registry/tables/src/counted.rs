//! Estimates about the people who are counted by a few columns.

use crate::interval::{Noisy, Ratio, less, product};
use crate::{Error, Level, NoisyTable, NoisyTables, Result, TableColumn};
use scumble_core::Estimate;
use statrs::distribution::{ContinuousCDF, Normal};

/// Settings of an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Probability that an interval covers the true value.
    pub confidence: f64,
    /// True for the population from which the people were sampled at random, and false for these people
    /// alone.
    pub population: bool,
    /// True if numbers are assumed to be spread evenly within each level. Otherwise the interval of a mean
    /// covers all their positions within the levels.
    pub evenly: bool,
}

impl Default for Settings {
    /// Intervals of 95 %, for the counted people alone, and whatever the numbers within a level.
    fn default() -> Self {
        Self { confidence: 0.95, population: false, evenly: false }
    }
}

/// Position of a number within its level.
#[derive(Clone, Copy)]
enum Position {
    Least,
    Middle,
    Most,
}

impl Settings {
    /// Number of standard errors to each side of an estimate, and whether people were sampled.
    fn interval(self) -> Result<(f64, bool)> {
        let confidence = probability("the confidence", self.confidence)?;
        Ok((Normal::standard().inverse_cdf(0.5 + confidence / 2.0), self.population))
    }
}

fn probability(name: &'static str, value: f64) -> Result<f64> {
    match value > 0.0 && value < 1.0 {
        true => Ok(value),
        false => Err(Error::Probability { name, value }),
    }
}

/// People with one level of a column: the place of the column, and of the level.
pub type Group = (usize, usize);

/// People, counted by the levels of a few columns together. All tables that contain the columns, with the
/// same levels, are pooled.
#[derive(Debug, Clone)]
pub struct Counted {
    columns: Vec<TableColumn>,
    noisy: Noisy,
}

impl NoisyTables {
    /// People, counted by `columns` together.
    ///
    /// Every table with these columns is summed over its other columns. Sums of tables with the same levels
    /// are averaged, weighted by the reciprocals of their variances. If tables have different levels, those
    /// with the most levels are used. Tables with the [ends](Level::End) of one of the columns are used only
    /// if there are no others.
    ///
    /// # Errors
    /// [`Error::Column`] if no table has one of the columns, [`Error::Together`] if no table has all.
    pub fn counted(&self, columns: &[&str]) -> Result<Counted> {
        let quoted =
            |names: &[&str]| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        if let Some(column) = columns.iter().find(|column| !self.columns().contains(column)) {
            let counted = quoted(&self.columns());
            return Err(Error::Column { column: (*column).to_owned(), counted });
        }
        let pooled = self.pooled(columns);
        // Ends are not groups of people.
        let pooled = pooled.iter().filter(|pool| !pool.columns.iter().skip(1).any(has_ends));
        let finest = pooled.max_by_key(|pool| (!pool.columns.iter().any(has_ends), pool.sum.len()));
        let Some(finest) = finest else {
            return Err(Error::Together { columns: quoted(columns) });
        };
        Ok(finest.counted(self.people()))
    }

    /// People, counted by `columns` together, at the [ends](Level::End) of the first of them. From these
    /// counts, a mean has a narrower interval than from ranges. `None` if the tables do not have them.
    pub fn counted_at_ends(&self, columns: &[&str]) -> Option<Counted> {
        let pooled = self.pooled(columns);
        let at_ends = pooled.iter().filter(|pool| pool.columns.first().is_some_and(has_ends));
        Some(at_ends.max_by_key(|pool| pool.sum.len())?.counted(self.people()))
    }

    /// Weighted sums of all tables with these columns, one for each set of levels.
    fn pooled(&self, columns: &[&str]) -> Vec<Pool> {
        let mut pooled: Vec<Pool> = vec![];
        for table in self.tables() {
            let Some(places) = columns.iter().map(|name| table.place(name)).collect::<Option<Vec<_>>>()
            else {
                continue;
            };
            if table.repeats_groups && !places.contains(&0) {
                continue; // another table has these counts, with the same noise
            }
            let (kept, counts, variance) = summed(table, &places);
            // Counts without noise have a weight beyond that of any other.
            let weight = variance.max(1e-200).recip();
            match pooled.iter_mut().find(|pool| pool.columns == kept) {
                Some(pool) => {
                    pool.weight += weight;
                    pool.sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += weight * count);
                }
                None => {
                    let sum = counts.iter().map(|count| weight * count).collect();
                    pooled.push(Pool { columns: kept, weight, sum });
                }
            }
        }
        pooled
    }
}

/// Weighted sum of tables with the same columns and levels.
struct Pool {
    columns: Vec<TableColumn>,
    weight: f64,
    sum: Vec<f64>,
}

impl Pool {
    fn counted(&self, people: Option<u64>) -> Counted {
        let counts = self.sum.iter().map(|count| count / self.weight).collect();
        let variance = if self.weight < 1e199 { self.weight.recip() } else { 0.0 };
        let noisy = Noisy::new(counts, variance, people.map(|people| people as f64));
        let has_squares =
            self.columns.first().is_some_and(|column| has_ends(column) && column.levels.len() == 3);
        Counted { columns: self.columns.clone(), noisy: Noisy { has_squares, ..noisy } }
    }
}

fn has_ends(column: &TableColumn) -> bool {
    column.levels.iter().any(Level::is_end)
}

/// Sums a table over all columns but those at `places`, and puts these in the order of `places`. Returns the
/// columns, the counts, and the variance of a count.
fn summed(table: &NoisyTable, places: &[usize]) -> (Vec<TableColumn>, Vec<f64>, f64) {
    let shape = table.shape();
    let columns: Vec<TableColumn> = places.iter().map(|at| table.columns[*at].clone()).collect();
    let cells: usize = columns.iter().map(|column| column.levels.len()).product();
    let mut counts = vec![0.0; cells];
    for (cell, count) in table.counts.iter().enumerate() {
        let levels = levels_of(cell, &shape);
        let at = places.iter().fold(0, |at, place| at * shape[*place] + levels[*place]);
        counts[at] += count;
    }
    let variance = table.deviation * table.deviation * (table.counts.len() / cells.max(1)) as f64;
    (columns, counts, variance)
}

/// Level of each column in a cell of a table of this `shape`.
fn levels_of(mut cell: usize, shape: &[usize]) -> Vec<usize> {
    let mut levels = vec![0; shape.len()];
    for (level, size) in levels.iter_mut().zip(shape).rev() {
        (*level, cell) = (cell % size, cell / size);
    }
    levels
}

impl Counted {
    /// The columns, with their levels.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// Place of the level of a column with this name: a label, or a range as [`Level::name`] writes it.
    ///
    /// # Errors
    /// [`Error::Level`] if the column has no such level.
    pub fn level(&self, column: usize, name: &str) -> Result<usize> {
        let TableColumn { name: of, levels, .. } = &self.columns[column];
        levels.iter().position(|level| level.name() == name).ok_or_else(|| Error::Level {
            column: of.clone(),
            level: name.into(),
            levels: levels.iter().map(|level| format!("{:?}", level.name())).collect::<Vec<_>>().join(", "),
        })
    }

    /// Weight of each cell, from the levels of the columns in it.
    fn weights(&self, weight: impl Fn(&[usize]) -> f64) -> Vec<f64> {
        let shape: Vec<usize> = self.columns.iter().map(|column| column.levels.len()).collect();
        (0..self.noisy.counts.len()).map(|cell| weight(&levels_of(cell, &shape))).collect()
    }

    /// Weights that count the people of a group, or all people.
    fn people(&self, group: Option<Group>) -> Vec<f64> {
        self.weights(|levels| match group {
            Some((column, level)) => f64::from(u8::from(levels[column] == level)),
            None => 1.0,
        })
    }

    /// The people of a group, in words.
    fn name_of(&self, group: Option<Group>) -> String {
        group.map_or("of the tables".into(), |(column, level)| {
            let TableColumn { name, levels, .. } = &self.columns[column];
            format!("whose {name:?} is {}", levels[level].name())
        })
    }

    /// Estimates the number of people who belong to all of these groups; `None` is all people.
    ///
    /// # Errors
    /// [`Error::Probability`] if the confidence is out of range.
    pub fn count(&self, groups: &[Option<Group>], settings: Settings) -> Result<Estimate> {
        let (quantile, samples) = settings.interval()?;
        let mut weights = self.people(None);
        for group in groups {
            weights = product(&weights, &self.people(*group));
        }
        let value = self.noisy.sum(&weights);
        // Of n sampled people, n·p·(1 − p) is the variance of those in a group of share p.
        let all = self.noisy.sum(&self.people(None)).max(f64::MIN_POSITIVE);
        let centred = less(&weights, value / all, &self.people(None));
        let error = match samples {
            true => {
                self.noisy.standard_error(&weights, false).hypot(self.noisy.standard_error(&centred, true))
            }
            false => self.noisy.standard_error(&weights, false),
        };
        Ok(Estimate::about(value, error, quantile))
    }

    fn share_of(&self, (column, level): Group, group: Option<Group>) -> Ratio {
        let below = self.people(group);
        Ratio { above: product(&below, &self.people(Some((column, level)))), below }
    }

    /// Estimates the share of people with a level of a column, among the people of a group or among all.
    ///
    /// # Errors
    /// [`Error::Hidden`] if the group may be empty, [`Error::Probability`] if the confidence is out of range.
    pub fn share(
        &self,
        column: usize,
        level: usize,
        group: Option<Group>,
        settings: Settings,
    ) -> Result<Estimate> {
        let ratio = self.share_of((column, level), group);
        self.noisy.ratio(&ratio, settings.interval()?, || self.name_of(group))
    }

    /// Mean of the numbers of a group, all at this position in their levels.
    fn mean_of(&self, column: usize, group: Option<Group>, position: Position) -> Result<Ratio> {
        let levels = &self.columns[column].levels;
        if levels.iter().all(|level| level.numbers().is_none()) {
            return Err(self.no_numbers(column, "mean"));
        }
        // Missing values have no number, and do not count.
        let is_number = self.weights(|at| f64::from(u8::from(levels[at[column]].numbers().is_some())));
        let below = product(&self.people(group), &is_number);
        let number = |level: &Level| level.numbers().map_or(0.0, |numbers| numbers[position as usize]);
        let numbers = self.weights(|at| number(&levels[at[column]]));
        Ok(Ratio { above: product(&below, &numbers), below })
    }

    fn no_numbers(&self, column: usize, statistic: &'static str) -> Error {
        Error::NoNumbers { column: self.columns[column].name.clone(), statistic }
    }

    /// Estimates the mean of a column of numbers, of the people of a group or of all. For the value, each
    /// number counts as the middle of its level. Unless numbers are assumed to be spread
    /// [evenly](Settings::evenly), the interval reaches from the lower end for the least numbers of all
    /// levels to the upper end for the largest.
    ///
    /// # Errors
    /// [`Error::NoNumbers`] for a column of categories; same errors as [`share`](Self::share).
    pub fn mean(&self, column: usize, group: Option<Group>, settings: Settings) -> Result<Estimate> {
        let interval = settings.interval()?;
        let at = |position| {
            let ratio = self.mean_of(column, group, position)?;
            self.noisy.ratio(&ratio, interval, || self.name_of(group))
        };
        let middle = at(Position::Middle)?;
        if settings.evenly {
            return Ok(middle);
        }
        Ok(Estimate { lower: at(Position::Least)?.lower, upper: at(Position::Most)?.upper, ..middle })
    }

    /// Estimates the quantile of `order` of a column of numbers, for example the median for the order ½. The
    /// interval ends at ends of levels. The value assumes that numbers are spread evenly within a level.
    ///
    /// # Errors
    /// Same errors as [`mean`](Self::mean); [`Error::Probability`] if `order` is out of range.
    pub fn quantile(
        &self,
        column: usize,
        order: f64,
        group: Option<Group>,
        settings: Settings,
    ) -> Result<Estimate> {
        let (width, samples) = settings.interval()?;
        let order = probability("the order of a quantile", order)?;
        let mean =
            self.mean_of(column, group, Position::Middle).map_err(|_| self.no_numbers(column, "quantile"))?;
        // A mean of any numbers has a bounded interval only if the people can be counted.
        self.noisy.ratio(&mean, (width, samples), || self.name_of(group))?;
        let all = self.noisy.sum(&mean.below);
        // Levels in the order of their numbers, each with its ends.
        let mut ranges: Vec<(f64, f64, usize)> = vec![];
        for (at, level) in self.columns[column].levels.iter().enumerate() {
            match level {
                Level::Range { from, to } => ranges.push((*from, *to, at)),
                Level::Ranges(_) | Level::End { .. } => return Err(self.no_numbers(column, "quantile")),
                Level::Labels(_) => {}
            }
        }
        ranges.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
        let (mut below, mut most) = (vec![0.0; mean.below.len()], 0.0_f64);
        let (mut value, mut lower, mut upper) = (None, None, ranges.first().map_or(0.0, |range| range.1));
        for (rank, (from, to, level)) in ranges.iter().enumerate() {
            let own = product(&self.people(Some((column, *level))), &mean.below);
            below.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            let before = most;
            most = most.max(self.noisy.sum(&below) / all);
            if value.is_none() && most >= order {
                let within = if most > before { (order - before) / (most - before) } else { 0.0 };
                value = Some(from + (to - from) * within.clamp(0.0, 1.0));
            }
            // People up to the end of this level, less the expected number for the quantile.
            let beyond = less(&below, order, &mean.below);
            let (distance, error) =
                (self.noisy.sum(&beyond), width * self.noisy.standard_error(&beyond, samples));
            if lower.is_none() && distance + error >= 0.0 {
                lower = Some(*from);
            }
            if distance - error <= 0.0 {
                upper = ranges.get(rank + 1).map_or(*to, |next| next.1);
            }
        }
        let last = ranges.last().map_or(0.0, |range| range.1);
        let (value, lower) = (value.unwrap_or(last), lower.unwrap_or(last));
        let (lower, upper) = (lower.min(value), upper.max(value));
        Ok(Estimate { value, standard_error: (upper - lower) / (2.0 * width), lower, upper })
    }

    fn difference(
        &self,
        one: Ratio,
        other: Ratio,
        groups: [Group; 2],
        settings: Settings,
    ) -> Result<Estimate> {
        let interval = settings.interval()?;
        let of = |ratio: &Ratio, group| {
            let estimate = self.noisy.ratio(ratio, interval, || self.name_of(Some(group)))?;
            let below = self.noisy.sum(&ratio.below);
            let slopes: Vec<f64> =
                less(&ratio.above, estimate.value, &ratio.below).iter().map(|x| x / below).collect();
            Ok((estimate.value, slopes))
        };
        let ((first, one), (second, other)) = (of(&one, groups[0])?, of(&other, groups[1])?);
        let error = self.noisy.standard_error(&less(&one, 1.0, &other), interval.1);
        Ok(Estimate::about(first - second, error, interval.0))
    }

    /// Estimates the share of people with a level of a column in the first group, less that in the second.
    ///
    /// # Errors
    /// Same errors as [`share`](Self::share).
    pub fn difference_of_shares(
        &self,
        column: usize,
        level: usize,
        groups: [Group; 2],
        settings: Settings,
    ) -> Result<Estimate> {
        let [one, other] = groups.map(|group| self.share_of((column, level), Some(group)));
        self.difference(one, other, groups, settings)
    }

    /// Estimates the mean of a column of numbers in the first group, less that in the second.
    ///
    /// # Errors
    /// Same errors as [`mean`](Self::mean).
    pub fn difference_of_means(
        &self,
        column: usize,
        groups: [Group; 2],
        settings: Settings,
    ) -> Result<Estimate> {
        let at = |one, other| {
            let [one, other] = [(groups[0], one), (groups[1], other)]
                .map(|(group, position)| self.mean_of(column, Some(group), position));
            self.difference(one?, other?, groups, settings)
        };
        let middle = at(Position::Middle, Position::Middle)?;
        if settings.evenly {
            return Ok(middle);
        }
        let lower = at(Position::Least, Position::Most)?.lower;
        Ok(Estimate { lower, upper: at(Position::Most, Position::Least)?.upper, ..middle })
    }

    /// Estimates the odds of a level of a column in the first group, divided by the odds in the second. The
    /// interval is symmetric on the logarithmic scale.
    ///
    /// # Errors
    /// [`Error::Hidden`] if one of the four numbers of people may be zero; [`Error::Probability`] if the
    /// confidence is out of range.
    pub fn odds_ratio(
        &self,
        column: usize,
        level: usize,
        groups: [Group; 2],
        settings: Settings,
    ) -> Result<Estimate> {
        let (quantile, samples) = settings.interval()?;
        let (mut logarithm, mut gradient) = (0.0, vec![0.0; self.noisy.counts.len()]);
        for (sign, group) in [(1.0, groups[0]), (-1.0, groups[1])] {
            let Ratio { above, below } = self.share_of((column, level), Some(group));
            for (sign, cells) in [(sign, above.clone()), (-sign, less(&below, 1.0, &above))] {
                let count = self.noisy.sum(&cells);
                if count <= quantile * self.noisy.standard_error(&cells, samples) {
                    let not = if cells == above { "" } else { "not " };
                    let with = self.columns[column].levels[level].name();
                    let of = format!("{} and {not}{with}", self.name_of(Some(group)));
                    return Err(Error::Hidden { of });
                }
                logarithm += sign * count.ln();
                gradient.iter_mut().zip(&cells).for_each(|(sum, cell)| *sum += sign * cell / count);
            }
        }
        let of_logarithm =
            Estimate::about(logarithm, self.noisy.standard_error(&gradient, samples), quantile);
        let value = logarithm.exp();
        Ok(Estimate {
            value,
            standard_error: value * of_logarithm.standard_error,
            lower: of_logarithm.lower.exp(),
            upper: of_logarithm.upper.exp(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    /// Numbers 2, 3 and 7 of a column between 0 and 10, in two groups, without noise.
    fn at_ends(groups: [&[f64]; 2]) -> NoisyTables {
        let mut counts = vec![0.0; 6];
        for (group, numbers) in groups.iter().enumerate() {
            for x in numbers.iter().map(|number| number / 10.0) {
                let weights = [(1.0 - x) * (1.0 - x), 2.0 * x * (1.0 - x), x * x];
                weights.iter().enumerate().for_each(|(end, weight)| counts[2 * end + group] += weight);
            }
        }
        let column = |name: &str, levels| TableColumn { name: name.into(), unit: String::new(), levels };
        let ends = [0.0, 5.0, 10.0].map(|end| Level::End { end }).to_vec();
        let labels = ["a", "b"].map(|label| Level::Labels(vec![label.into()])).to_vec();
        let columns = vec![column("pain", ends), column("ward", labels)];
        let people = groups.iter().map(|numbers| numbers.len() as u64).sum();
        NoisyTables::new(
            Some(people),
            vec![NoisyTable { columns, counts, deviation: 0.0, share: 1.0, repeats_groups: false }],
        )
        .unwrap()
    }

    /// The interval of a population has the variance of the numbers, as from the numbers themselves.
    #[test]
    fn a_measured_mean_has_the_standard_error_of_its_numbers() {
        let (one, other) = ([2.0, 3.0, 7.0, 7.0], [1.0, 9.0, 4.0]);
        let tables = at_ends([&one, &other]);
        let counted = tables.counted_at_ends(&["pain", "ward"]).unwrap();
        let settings = Settings { population: true, ..Settings::default() };
        let mean = |numbers: &[f64]| numbers.iter().sum::<f64>() / numbers.len() as f64;
        let squared_error = |numbers: &[f64]| {
            let of_mean = numbers.iter().map(|x| (x - mean(numbers)).powi(2)).sum::<f64>();
            of_mean / (numbers.len() * numbers.len()) as f64
        };
        for (group, numbers) in [&one[..], &other].into_iter().enumerate() {
            let found = counted.mean(0, Some((1, group)), settings).unwrap();
            assert_relative_eq!(found.value, mean(numbers), epsilon = 1e-12);
            assert_relative_eq!(found.standard_error.powi(2), squared_error(numbers), epsilon = 1e-12);
        }
        let difference = counted.difference_of_means(0, [(1, 0), (1, 1)], settings).unwrap();
        let expected = squared_error(&one) + squared_error(&other);
        assert_relative_eq!(difference.standard_error.powi(2), expected, epsilon = 1e-12);
        assert!(counted.quantile(0, 0.5, None, settings).is_err(), "a mean tells no quantile");
        assert!(tables.counted(&["ward", "pain"]).is_err(), "ends are no groups");
    }

    /// At two ends, the standard error of a population is at least that of the numbers. Groups that another
    /// table counts with the same noise are not counted twice.
    #[test]
    fn two_ends_have_the_mean_and_counts_that_repeat_are_not_pooled() {
        let column = |name: &str, levels| TableColumn { name: name.into(), unit: String::new(), levels };
        let ward = column("ward", ["a", "b"].map(|label| Level::Labels(vec![label.into()])).to_vec());
        let pain = column("pain", [0.0, 10.0].map(|end| Level::End { end }).to_vec());
        // Two people with the numbers 2 and 6 in the first group, and one with 5 in the second.
        let ends = NoisyTable {
            columns: vec![pain, ward.clone()],
            counts: vec![1.2, 0.5, 0.8, 0.5],
            deviation: 0.01,
            share: 0.5,
            repeats_groups: true,
        };
        let wards = NoisyTable {
            columns: vec![ward],
            counts: vec![2.0, 1.0],
            deviation: 0.01,
            share: 0.5,
            repeats_groups: false,
        };
        let error = |repeats_groups: bool| {
            let ends = NoisyTable { repeats_groups, ..ends.clone() };
            let tables = NoisyTables::new(None, vec![wards.clone(), ends]).unwrap();
            let settings = Settings::default();
            tables.counted(&["ward"]).unwrap().count(&[Some((0, 0))], settings).unwrap().standard_error
        };
        assert_relative_eq!(error(true), 0.01, epsilon = 1e-12);
        assert!(error(false) < 0.009, "independent counts are averaged");
        let tables = NoisyTables::new(None, vec![wards.clone(), ends.clone()]).unwrap();
        let counted = tables.counted_at_ends(&["pain", "ward"]).unwrap();
        let settings = Settings { population: true, ..Settings::default() };
        let mean = counted.mean(0, Some((1, 0)), settings).unwrap();
        assert_relative_eq!(mean.value, 4.0, epsilon = 1e-12);
        assert!(mean.standard_error > 2f64.sqrt(), "{}", mean.standard_error); // that of 2 and 6
    }

    #[test]
    fn ends_come_as_two_or_with_the_middle() {
        let text = |ends: &str| {
            let counts = vec!["1"; ends.split(',').count()].join(",");
            format!(
                "{{\"format\": \"scumble-tables-1\", \"tables\": [{{\"columns\": [{{\"name\": \"x\", \
                 \"levels\": [{ends}]}}], \"counts\": [{counts}], \"deviation\": 1, \"share\": 1}}]}}"
            )
        };
        let end = |end: f64| format!("{{\"end\": {end}}}");
        let joined = |ends: &[f64]| ends.iter().map(|at| end(*at)).collect::<Vec<_>>().join(",");
        for ends in [&[0.0, 5.0, 10.0][..], &[0.0, 10.0]] {
            assert!(NoisyTables::from_json(&text(&joined(ends))).is_ok(), "{ends:?}");
        }
        for ends in [&[10.0, 0.0][..], &[0.0], &[0.0, 4.0, 10.0], &[10.0, 5.0, 0.0], &[1.0, 1.0, 1.0]] {
            assert!(NoisyTables::from_json(&text(&joined(ends))).is_err(), "{ends:?}");
        }
    }
}
