//! Attributes: columns with a few discrete levels. The level of a number is the bin that contains it.

use super::{Grid, draw};
use crate::{Domain, Error, Factor, RecordDomain, Result, Stream, largest};
use std::ops::Range;

/// Number or category of a record, with a fixed number of levels.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Coordinates of the attribute in a flat record: features, then target.
    coordinates: Range<usize>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Number within public bounds, in the levels of a grid.
    Number { lower: f64, upper: f64, grid: Grid },
    /// Category.
    Category { levels: usize },
}

impl Attribute {
    /// Returns the attributes of the features, and of the label if the domain has one. For a number at a
    /// given coordinate of a flat record (features, then target), `grid` returns its number of equal bins, or
    /// its [`Grid`].
    ///
    /// ```
    /// use scumble_core::{Domain, RecordDomain, TargetDomain};
    /// use scumble_core::levels::Attribute;
    ///
    /// let label = TargetDomain::Class { levels: vec!["no".into(), "yes".into()] };
    /// let domain = RecordDomain::new(vec!["size".into()], Domain::interval(0.0, 10.0)?, label)?;
    /// let (features, label) = Attribute::all("an example", &domain, |_| 4)?;
    /// assert_eq!((features[0].levels(), label.unwrap().levels()), (4, 2));
    /// assert_eq!(features[0].level(&[7.5, 1.0, 0.0]), 3);
    /// # Ok::<(), scumble_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NotApplicable`] for a column whose domain is neither an interval nor a one-hot group; the
    /// error names the column. Also for a target that is a vector.
    pub fn all<G: Into<Grid>>(
        plugin: &str,
        domain: &RecordDomain,
        grid: impl Fn(usize) -> G,
    ) -> Result<(Vec<Self>, Option<Self>)> {
        let mut all = Self::from_domain(domain.flat(), grid).map_err(|at| {
            let column = domain.columns().get(at).map_or("the target", String::as_str);
            let problem = format!("{column} is neither a number within bounds of its own nor a category");
            Error::not_applicable(plugin, problem)
        })?;
        let is_of_target = |attribute: &mut Self| attribute.coordinates.start >= domain.features().dim();
        let label = all.pop_if(is_of_target);
        if all.last_mut().is_some_and(is_of_target) {
            return Err(Error::not_applicable(
                plugin,
                "the target is a vector, and the mechanism takes a number or a class",
            ));
        }
        Ok((all, label))
    }

    /// Attributes of a domain, one per factor. The error is the first coordinate of a factor that is neither
    /// an interval nor a one-hot group.
    fn from_domain<G: Into<Grid>>(
        domain: &Domain,
        grid: impl Fn(usize) -> G,
    ) -> std::result::Result<Vec<Self>, usize> {
        let attribute = |(coordinates, factor): (Range<usize>, &Factor)| match *factor {
            Factor::Interval { lower, upper } => {
                Ok(Self::number(coordinates.start, lower, upper, grid(coordinates.start)))
            }
            Factor::OneHot { .. } => Ok(Self::category(coordinates)),
            _ => Err(coordinates.start),
        };
        domain.factors().map(attribute).collect()
    }

    /// Number at `coordinate` of a flat record, in equal bins or another [`Grid`] between its bounds.
    #[must_use]
    pub fn number(coordinate: usize, lower: f64, upper: f64, grid: impl Into<Grid>) -> Self {
        let grid = grid.into();
        Self { coordinates: coordinate..coordinate + 1, kind: Kind::Number { lower, upper, grid } }
    }

    /// Category whose levels are these coordinates of a flat record.
    #[must_use]
    pub fn category(coordinates: Range<usize>) -> Self {
        Self { kind: Kind::Category { levels: coordinates.len() }, coordinates }
    }

    /// Coordinates of the attribute in a flat record: features, then target.
    pub fn coordinates(&self) -> Range<usize> {
        self.coordinates.clone()
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        match self.kind {
            Kind::Number { grid, .. } => grid.levels(),
            Kind::Category { levels } => levels,
        }
    }

    /// Grid of a number; `None` for a category.
    pub fn grid(&self) -> Option<Grid> {
        match self.kind {
            Kind::Number { grid, .. } => Some(grid),
            Kind::Category { .. } => None,
        }
    }

    /// Bounds of a number; `None` for a category.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        match self.kind {
            Kind::Number { lower, upper, .. } => Some((lower, upper)),
            Kind::Category { .. } => None,
        }
    }

    /// Returns whether the attribute is a number.
    pub fn is_number(&self) -> bool {
        self.bounds().is_some()
    }

    /// Level of the attribute in a flat record of the domain.
    pub fn level(&self, record: &[f64]) -> usize {
        let own = &record[self.coordinates.clone()];
        match self.kind {
            Kind::Number { lower, upper, grid } if upper > lower => {
                grid.level((own[0] - lower) / (upper - lower))
            }
            Kind::Number { .. } => 0,
            Kind::Category { .. } => largest(own),
        }
    }

    /// Moves this attribute of `record` into the domain. `record` was drawn around `center`, the mean of some
    /// records in the same flat form (features, then target). A number is clamped to its bounds. A category
    /// gets a random level, with probabilities proportional to its coordinates in `center`.
    pub fn settle(&self, center: &[f64], record: &mut [f64], stream: &mut Stream) {
        match self.kind {
            Kind::Number { lower, upper, .. } => {
                let value = &mut record[self.coordinates.start];
                *value = value.clamp(lower, upper);
            }
            Kind::Category { .. } => {
                let level = draw::levels(&center[self.coordinates.clone()], 1, stream)[0];
                self.write(level, 0.0, record);
            }
        }
    }

    /// Writes a value of this level into a flat record. For a number, `through` in [0, 1) is the relative
    /// position in the bin.
    pub fn write(&self, level: usize, through: f64, record: &mut [f64]) {
        let own = &mut record[self.coordinates.clone()];
        match self.kind {
            Kind::Number { lower, upper, grid } => {
                own[0] = (lower + (upper - lower) * grid.at(level, through)).clamp(lower, upper);
            }
            Kind::Category { .. } => {
                own.fill(0.0);
                own[level] = 1.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_written_where_it_is_read() {
        let domain = Domain::product([
            Domain::interval(-2.0, 6.0).unwrap(),
            Domain::one_hot(3).unwrap(),
            Domain::interval(1.0, 1.0).unwrap(),
        ]);
        let attributes = Attribute::from_domain(&domain.unwrap(), |_| 4).unwrap();
        assert_eq!(attributes.iter().map(Attribute::levels).collect::<Vec<_>>(), [4, 3, 4]);
        for attribute in &attributes[..2] {
            for level in 0..attribute.levels() {
                for through in [0.0, 0.5, 0.999] {
                    let mut record = [0.0; 5];
                    attribute.write(level, through, &mut record);
                    assert_eq!(attribute.level(&record), level, "{attribute:?}");
                }
            }
        }
        assert_eq!(attributes[0].level(&[6.0, 0.0, 0.0, 0.0, 1.0]), 3, "the upper bound is in the last bin");
        assert_eq!(attributes[2].level(&[6.0, 0.0, 0.0, 0.0, 1.0]), 0);
    }

    #[test]
    fn a_ball_is_no_attribute() {
        let domain = Domain::product([Domain::unit_box(2), Domain::l1_ball(3, 1.0).unwrap()]).unwrap();
        assert_eq!(Attribute::from_domain(&domain, |_| 4).unwrap_err(), 2);
    }
}
