//! The mechanism made of mechanisms.

use crate::domain::{Factors, check_width, join};
use crate::table::Places;
use crate::{
    Domain, Error, Guarantee, Key, Law, Layout, LocalMechanism, Mechanism, Noise, Perturbation, Randomness,
    RecordDomain, Release, Result, SecretKey, Stream, Table, Target, TargetDomain, TargetLayout, Unit,
    compose, local,
};
use ndarray::{Axis, concatenate};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Mechanisms that each release some columns of a table, the target, or all of it, side by side.
///
/// A part takes the columns that its own domain names, and the target if its domain has one. Parts that take the same
/// columns release them in sequence; all of them together spend what [`compose::by_parts`] says. A column that no part
/// takes is not released. It is local if all its parts are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Composed {
    domain: RecordDomain,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    mechanism: Box<dyn Mechanism>,
    /// Where its columns stand among all columns.
    columns: Vec<usize>,
    /// Of a local mechanism: the coordinates of its range, and the columns that it releases.
    range_dim: usize,
    released: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    domain: RecordDomain,
    parts: Vec<Box<dyn Mechanism>>,
}

impl TryFrom<Saved> for Composed {
    type Error = Error;

    fn try_from(saved: Saved) -> Result<Self> {
        Self::over(saved.domain, saved.parts)
    }
}

impl From<Composed> for Saved {
    fn from(composed: Composed) -> Self {
        Self {
            domain: composed.domain,
            parts: composed.parts.into_iter().map(|part| part.mechanism).collect(),
        }
    }
}

impl Part {
    /// Finds the columns of `mechanism` in `domain`, whose columns stand at `places` and whose features have these `factors`.
    fn within(
        domain: &RecordDomain,
        places: &Places,
        factors: &Factors,
        mechanism: Box<dyn Mechanism>,
    ) -> Result<Self> {
        let own = mechanism.domain();
        let columns = places.find(own.columns())?;
        if factors.covering(&columns)? != *own.features() {
            return Err(Error::shape(format!(
                "a part was designed for another domain of the columns {:?}",
                own.columns()
            )));
        }
        if *own.target() != TargetDomain::None && own.target() != domain.target() {
            return Err(Error::shape("a part was designed for another target"));
        }
        let local = mechanism.as_local();
        let (range_dim, released) =
            local.map_or((0, 0), |local| (local.range().dim(), local.layout().columns.len()));
        Ok(Self { mechanism, columns, range_dim, released })
    }

    fn scope(&self) -> compose::Scope {
        compose::Scope {
            features: !self.columns.is_empty(),
            label: *self.mechanism.domain().target() != TargetDomain::None,
        }
    }
}

impl Composed {
    /// The parts over records of `domain`.
    ///
    /// # Errors
    /// [`Error::Shape`] where a part was designed for columns or a target that `domain` does not have, where two parts
    /// take the target, or where there is no part.
    pub fn over(domain: RecordDomain, parts: Vec<Box<dyn Mechanism>>) -> Result<Self> {
        let (places, factors) = (Places::of(domain.columns()), Factors::of(domain.features()));
        let parts = parts.into_iter().map(|part| Part::within(&domain, &places, &factors, part));
        let parts: Vec<Part> = parts.collect::<Result<_>>()?;
        if parts.is_empty() {
            return Err(Error::shape("a composition needs a part"));
        }
        if parts.iter().filter(|part| part.scope().label).count() > 1 {
            return Err(Error::shape("two parts take the target, and a table has but one"));
        }
        let composed = Self { domain, parts };
        composed.whole_range()?;
        Ok(composed)
    }

    /// One part for the features, one for the target: ε_x + ε_y for the record.
    ///
    /// # Errors
    /// [`Error::Shape`] where the first takes a target or the second a feature.
    pub fn features_with_labels(features: Box<dyn Mechanism>, labels: Box<dyn Mechanism>) -> Result<Self> {
        if *features.domain().target() != TargetDomain::None || !labels.domain().columns().is_empty() {
            return Err(Error::shape(
                "the part for the features must be designed without the target, and the part for the labels without \
                 the features",
            ));
        }
        let domain = RecordDomain::new(
            features.domain().columns().to_vec(),
            features.domain().features().clone(),
            labels.domain().target().clone(),
        )?;
        Self::over(domain, vec![features, labels])
    }

    /// The parts, in order.
    pub fn parts(&self) -> impl Iterator<Item = &dyn Mechanism> {
        self.parts.iter().map(|part| &*part.mechanism)
    }

    /// The parts' tables side by side.
    fn join(&self, tables: Vec<Table>) -> Result<Table> {
        let records: Vec<_> = tables.iter().map(|table| table.records().view()).collect();
        let records = concatenate(Axis(1), &records).map_err(|e| Error::shape(e.to_string()))?;
        let names = released_names(tables.iter().map(Table::columns));
        let target = tables.iter().map(Table::target).find(|target| **target != Target::None);
        Table::new(names, records, target.cloned().unwrap_or(Target::None))
    }

    fn locals(&self) -> impl Iterator<Item = (&Part, &dyn LocalMechanism)> {
        self.parts.iter().filter_map(|part| Some((part, part.mechanism.as_local()?)))
    }

    fn whole_range(&self) -> Result<Domain> {
        Domain::product(self.locals().map(|(_, local)| local.range()))
    }

    /// # Errors
    /// [`Error::Shape`] unless `point` has the coordinates of all parts' ranges.
    fn check_point(&self, point: &[f64]) -> Result<()> {
        check_width(self.parts.iter().map(|part| part.range_dim).sum(), point.len())
    }
}

/// The names of the parts' columns side by side; a name that a part before has too gets the part's number.
fn released_names<'a>(parts: impl Iterator<Item = &'a [String]>) -> Vec<String> {
    let mut names: Vec<String> = vec![];
    let mut taken = HashSet::new();
    for (part, columns) in parts.enumerate() {
        for column in columns {
            let mut name = column.clone();
            while !taken.insert(name.clone()) {
                name = format!("{name} (part {})", part + 1);
            }
            names.push(name);
        }
    }
    names
}

/// The parts' laws side by side, each part's with whether it releases the target. Each draws its own lots.
fn join_noise(parts: Vec<(Noise, bool)>) -> Noise {
    let mut whole = Noise { features: vec![], target: Law::Exact { width: 0 } };
    let count = parts.len();
    for (part, (noise, has_target)) in parts.into_iter().enumerate() {
        whole.features.extend(noise.features.into_iter().map(|law| law.of_part(part, count)));
        if has_target {
            whole.target = noise.target.of_part(part, count);
        }
    }
    whole
}

#[typetag::serde(name = "composed")]
impl Mechanism for Composed {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let parts = self.parts.iter();
        let parts: Vec<_> = parts.map(|part| (part.scope(), part.mechanism.guarantee())).collect();
        compose::by_parts(&parts)
    }

    fn guarantee_of(&self, records: usize) -> Guarantee {
        let parts = self.parts.iter();
        let parts: Vec<_> = parts.map(|part| (part.scope(), part.mechanism.guarantee_of(records))).collect();
        compose::by_parts(&parts)
    }

    fn release(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        if self.as_local().is_some() {
            return local::release(self, table, randomness);
        }
        self.domain.layout().check(table)?;
        let mut tables = vec![];
        let mut secrets = vec![];
        let mut guarantees = vec![];
        let mut noises = vec![];
        for part in &self.parts {
            let release = part.mechanism.release(&table.part(part.mechanism.domain())?, randomness)?;
            noises.push((release.noise, *release.table.target() != Target::None));
            guarantees.push((part.scope(), release.guarantee));
            tables.push(release.table);
            secrets.push(match release.key {
                Key::Design(_) => None,
                Key::Secret(secret) => Some(secret.into_key()),
            });
        }
        let table = self.join(tables)?;
        Ok(Release {
            key: Key::secret(ComposedKey { composed: self.clone(), secrets }, &table),
            table,
            guarantee: compose::by_parts(&guarantees),
            noise: join_noise(noises),
        })
    }

    fn keeps_rows(&self) -> bool {
        self.parts.iter().all(|part| part.mechanism.keeps_rows())
    }

    fn released_target(&self) -> TargetLayout {
        let kinds = self.parts.iter().map(|part| part.mechanism.released_target());
        kinds.into_iter().find(|kind| *kind != TargetLayout::None).unwrap_or(TargetLayout::None)
    }

    fn as_local(&self) -> Option<&dyn LocalMechanism> {
        (self.locals().count() == self.parts.len()).then_some(self)
    }
}

impl LocalMechanism for Composed {
    fn range(&self) -> Domain {
        self.whole_range().unwrap_or_else(|_| Domain::empty()) // `over` saw that there is one
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        check_width(self.domain.flat().dim(), record.len())?;
        let (features, target) = record.split_at(self.domain.columns().len());
        let mut point = vec![];
        for (part, local) in self.locals() {
            let mut own: Vec<f64> = part.columns.iter().map(|&at| features[at]).collect();
            if part.scope().label {
                own.extend(target);
            }
            point.extend(local.encode(&own)?);
        }
        Ok(point)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.check_point(point)?;
        let mut rest = point;
        for (part, local) in self.locals() {
            let (own, others) = rest.split_at_mut(part.range_dim);
            local.perturb(own, stream)?;
            rest = others;
        }
        Ok(())
    }

    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        self.check_point(&point)?;
        // Features of all parts first, then the target of the one that has it.
        let (mut features, mut target) = (vec![], vec![]);
        let mut rest = &point[..];
        for (part, local) in self.locals() {
            let (own, others) = rest.split_at(part.range_dim);
            let mut own = local.decode(own.to_vec())?;
            target.extend(own.drain(part.released.min(own.len())..));
            features.extend(own);
            rest = others;
        }
        features.extend(target);
        Ok(features)
    }

    fn layout(&self) -> Layout {
        let layouts: Vec<Layout> = self.locals().map(|(_, local)| local.layout()).collect();
        let target = layouts.iter().map(|layout| layout.target);
        Layout {
            columns: released_names(layouts.iter().map(|layout| &layout.columns[..])),
            target: target.into_iter().find(|t| *t != TargetLayout::None).unwrap_or(TargetLayout::None),
        }
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.check_point(point).and(self.check_point(released)).ok()?;
        let (mut sum, mut start) = (0.0, 0);
        for (part, local) in self.locals() {
            let own = start..start + part.range_dim;
            start = own.end;
            sum += local.log_likelihood(&point[own.clone()], &released[own])?;
        }
        Some(sum)
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let mut start = 0;
        let of_part = |(part, local): (&Part, &dyn LocalMechanism)| {
            let before = start;
            start += part.range_dim;
            local.perturbation().into_iter().map(move |of| of.after(before)).collect::<Vec<_>>()
        };
        self.locals().flat_map(of_part).collect()
    }

    /// The parts' first pairs side by side; a part that does not see the unit keeps one point.
    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let pairs = self.locals().map(|(part, local)| {
            let [one, other] = local.range().l2_farthest();
            if !part.scope().sees(unit) {
                return Some([one.clone(), one]);
            }
            let known = local.worst_pairs(unit).into_iter().next();
            known.or_else(|| (unit == Unit::Record).then_some([one, other]))
        });
        let pairs: Option<Vec<[Vec<f64>; 2]>> = pairs.collect();
        pairs.map(|pairs| join(pairs.into_iter())).into_iter().collect()
    }

    fn noise(&self) -> Noise {
        let laws =
            self.locals().map(|(_, local)| (local.noise(), local.layout().target != TargetLayout::None));
        join_noise(laws.collect())
    }
}

/// The keys of a composition that has a curator among its parts: a secret for each curator, none for a local part, whose
/// design is its key.
#[derive(Clone, Serialize, Deserialize)]
struct ComposedKey {
    composed: Composed,
    secrets: Vec<Option<Box<dyn SecretKey>>>,
}

#[typetag::serde(name = "composed")]
impl SecretKey for ComposedKey {
    fn view(&self, clean: &Table) -> Result<Table> {
        self.composed.domain.layout().check(clean)?;
        if self.secrets.len() != self.composed.parts.len() {
            return Err(Error::shape("the key does not have one part for each part of the release"));
        }
        let views = self.composed.parts.iter().zip(&self.secrets).map(|(part, secret)| {
            let clean = clean.part(part.mechanism.domain())?;
            match secret {
                Some(secret) => secret.view(&clean),
                None => Key::Design(part.mechanism.clone()).view(&clean),
            }
        });
        self.composed.join(views.collect::<Result<_>>()?)
    }

    fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        let with_target = self.composed.parts.iter().zip(&self.secrets).filter_map(|(part, secret)| {
            let domain = part.mechanism.domain();
            (*domain.target() != TargetDomain::None).then_some((domain, secret.as_ref()?))
        });
        with_target
            .into_iter()
            .try_fold(predicted, |predicted, (domain, secret)| secret.read(&clean.part(domain)?, predicted))
    }
}
