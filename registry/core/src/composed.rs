//! Composition of several mechanisms into one mechanism.

use crate::domain::{Factors, check_width, join};
use crate::table::Places;
use crate::{
    Accumulator, CuratorMechanism, Designed, Domain, Error, Guarantee, Key, Layout, LocalMechanism,
    ModelFunction, Noise, NoiseDistribution, Perturbation, Randomness, RecordDomain, Release, ReleasedModel,
    Releases, Result, SecretKey, Stream, Table, Target, TargetDomain, TargetLayout, Unit, collected, compose,
    local,
};
use ndarray::{Array2, Axis, concatenate};
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

/// Composes mechanisms, the *parts*, into one mechanism for records of `domain`. The composition is local, so
/// that each person runs it, if all parts are local. Otherwise a curator runs it.
///
/// A part reads the columns that its own domain names, and the target if its domain has one. If several parts
/// read one column, each of them releases it. [`compose::by_parts`] gives the guarantee of all parts
/// together. A column that no part reads is not released.
///
/// # Errors
/// [`Error::Shape`] if a part was designed for a column or a target that `domain` lacks or defines
/// differently. Also if two parts read the target, or if there is no part. [`Error::NotApplicable`] if a part
/// makes [reports](Releases::Reports) or is run by two servers, or if one of several parts releases a model
/// or synthetic rows.
pub fn composed(domain: RecordDomain, parts: Vec<Designed>) -> Result<Designed> {
    let locals = parts.iter().map(|part| match part {
        Designed::Local(local) => Some(local.clone()),
        Designed::Curator(_) => None,
    });
    match locals.collect() {
        Some(locals) => Ok(Designed::local(Composed::over(domain, locals)?)),
        None => Ok(Designed::curator(CuratorComposed::over(domain, parts)?)),
    }
}

/// Positions, among the columns of `domain`, of the columns of each part's own domain. The parts keep their
/// order.
///
/// # Errors
/// Same [`Error::Shape`] as [`composed`].
fn places<'d>(
    domain: &RecordDomain,
    parts: impl Iterator<Item = &'d RecordDomain> + Clone,
) -> Result<Vec<Vec<usize>>> {
    let (places, factors) = (Places::new(domain.columns()), Factors::new(domain.features()));
    let with_target = parts.clone().filter(|own| *own.target() != TargetDomain::None).count();
    let found = parts.map(|own| {
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
        Ok(columns)
    });
    let found: Vec<Vec<usize>> = found.collect::<Result<_>>()?;
    if found.is_empty() {
        return Err(Error::shape("a composition needs at least one part"));
    }
    if with_target > 1 {
        return Err(Error::shape("two parts take the target, and a table has only one target"));
    }
    Ok(found)
}

/// Refuses parts that make reports, which are randomised answers to one question about each record.
///
/// # Errors
/// [`Error::NotApplicable`] if one of the parts makes reports.
fn refuse_reports<'p>(mut parts: impl Iterator<Item = &'p dyn LocalMechanism>) -> Result<()> {
    match parts.find(|part| part.collector().is_some()) {
        None => Ok(()),
        Some(_) => Err(Error::not_applicable(
            "a composition",
            "one part makes reports of whole records, and such reports cannot be composed",
        )),
    }
}

/// Scope (features, label, or both) of a part that was designed for the domain `own`.
fn scope(own: &RecordDomain) -> compose::Scope {
    compose::Scope { features: !own.columns().is_empty(), label: *own.target() != TargetDomain::None }
}

/// Composition of local mechanisms. Each reads some columns of a record, its target, or both: see
/// [`composed`].
#[derive(Debug, Clone)]
pub struct Composed {
    domain: RecordDomain,
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
struct Part {
    mechanism: Arc<dyn LocalMechanism>,
    /// Positions of the mechanism's columns among the columns of the composition.
    columns: Vec<usize>,
    /// Number of coordinates of the mechanism's range, the set of points that its `encode` may return.
    /// `released` is the number of columns that the mechanism releases.
    range_dim: usize,
    released: usize,
}

impl Part {
    fn new(mechanism: Arc<dyn LocalMechanism>, columns: Vec<usize>) -> Self {
        let (range_dim, released) = (mechanism.range().dim(), mechanism.layout().columns.len());
        Self { mechanism, columns, range_dim, released }
    }

    fn scope(&self) -> compose::Scope {
        scope(self.mechanism.domain())
    }
}

impl Composed {
    /// Composes local parts over records of `domain`.
    ///
    /// # Errors
    /// Same errors as [`composed`].
    pub fn over(domain: RecordDomain, parts: Vec<Arc<dyn LocalMechanism>>) -> Result<Self> {
        let columns = places(&domain, parts.iter().map(|part| part.domain()))?;
        refuse_reports(parts.iter().map(|part| &**part))?;
        let parts = parts.into_iter().zip(columns).map(|(part, columns)| Part::new(part, columns)).collect();
        let composed = Self { domain, parts };
        composed.whole_range()?;
        Ok(composed)
    }

    /// Composes one mechanism for the features with one for the target. The ε of the whole record is the sum
    /// of the ε of both mechanisms.
    ///
    /// # Errors
    /// [`Error::Shape`] if `features` reads a target or `labels` reads a feature. Also the errors of
    /// [`over`](Self::over).
    pub fn features_with_labels(features: impl LocalMechanism, labels: impl LocalMechanism) -> Result<Self> {
        if *features.domain().target() != TargetDomain::None || !labels.domain().columns().is_empty() {
            return Err(Error::shape(
                "the part for the features must be designed without the target, and the part for the labels \
                 without the features",
            ));
        }
        let domain = RecordDomain::new(
            features.domain().columns().to_vec(),
            features.domain().features().clone(),
            labels.domain().target().clone(),
        )?;
        Self::over(domain, vec![Arc::new(features), Arc::new(labels)])
    }

    /// Composed mechanisms, in the order in which they were given.
    pub fn parts(&self) -> impl Iterator<Item = &dyn LocalMechanism> {
        self.parts.iter().map(|part| &*part.mechanism)
    }

    fn whole_range(&self) -> Result<Domain> {
        Domain::product(self.parts().map(|local| local.range()))
    }

    /// Checks the number of coordinates of a point.
    ///
    /// # Errors
    /// [`Error::Shape`] unless `point` has as many coordinates as the ranges of all parts together.
    fn check_point(&self, point: &[f64]) -> Result<()> {
        check_width(self.parts.iter().map(|part| part.range_dim).sum(), point.len())
    }
}

/// Joins the column names of the parts. If an earlier column has the same name, the number of the later part,
/// counted from 1, is appended to the name of the later column.
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

/// Joins the noise distributions of the parts. The flag of a part is true if the part releases the target.
/// Parts draw independent noise.
fn join_noise(parts: Vec<(Noise, bool)>) -> Noise {
    let mut whole = Noise { features: vec![], target: NoiseDistribution::Exact { width: 0 } };
    let count = parts.len();
    for (part, (noise, has_target)) in parts.into_iter().enumerate() {
        whole
            .features
            .extend(noise.features.into_iter().map(|distribution| distribution.for_part(part, count)));
        if has_target {
            whole.target = noise.target.for_part(part, count);
        }
    }
    whole
}

impl LocalMechanism for Composed {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        let parts: Vec<_> = self.parts().map(|part| (scope(part.domain()), part.guarantee())).collect();
        compose::by_parts(&parts)
    }

    fn range(&self) -> Domain {
        self.whole_range().unwrap_or_else(|_| Domain::empty()) // `over` checked that the range exists
    }

    fn encode(&self, record: &[f64]) -> Result<Vec<f64>> {
        check_width(self.domain.flat().dim(), record.len())?;
        let (features, target) = record.split_at(self.domain.columns().len());
        let mut point = vec![];
        for part in &self.parts {
            let mut own: Vec<f64> = part.columns.iter().map(|&at| features[at]).collect();
            if part.scope().label {
                own.extend(target);
            }
            point.extend(part.mechanism.encode(&own)?);
        }
        Ok(point)
    }

    fn perturb(&self, point: &mut [f64], stream: &mut Stream) -> Result<()> {
        self.check_point(point)?;
        let mut rest = point;
        for part in &self.parts {
            let (own, others) = rest.split_at_mut(part.range_dim);
            part.mechanism.perturb(own, stream)?;
            rest = others;
        }
        Ok(())
    }

    fn decode(&self, point: Vec<f64>) -> Result<Vec<f64>> {
        self.check_point(&point)?;
        // Features of all parts first, then the target of the part that has it.
        let (mut features, mut target) = (vec![], vec![]);
        let mut rest = &point[..];
        for part in &self.parts {
            let (own, others) = rest.split_at(part.range_dim);
            let mut own = part.mechanism.decode(own.to_vec())?;
            target.extend(own.drain(part.released.min(own.len())..));
            features.extend(own);
            rest = others;
        }
        features.extend(target);
        Ok(features)
    }

    /// Records if no part releases a view (rows in another space than the records') and each column of the
    /// domain is released once; otherwise a view.
    fn releases(&self) -> Releases {
        let layout = self.layout();
        let is_viewed = self.parts().any(|part| part.releases().is_viewed());
        match is_viewed || layout.width() != self.domain.layout().width() {
            true => Releases::View { secret: false, aligned: true, target: layout.target },
            false => Releases::Records,
        }
    }

    fn layout(&self) -> Layout {
        let layouts: Vec<Layout> = self.parts().map(|local| local.layout()).collect();
        Layout {
            columns: released_names(layouts.iter().map(|layout| &layout.columns[..])),
            target: first_target(layouts.iter().map(|layout| layout.target)),
        }
    }

    fn log_likelihood(&self, point: &[f64], released: &[f64]) -> Option<f64> {
        self.check_point(point).and(self.check_point(released)).ok()?;
        let (mut sum, mut start) = (0.0, 0);
        for part in &self.parts {
            let own = start..start + part.range_dim;
            start = own.end;
            sum += part.mechanism.log_likelihood(&point[own.clone()], &released[own])?;
        }
        Some(sum)
    }

    fn perturbation(&self) -> Vec<Perturbation> {
        let mut start = 0;
        let shifted = |part: &Part| {
            let before = start;
            start += part.range_dim;
            part.mechanism
                .perturbation()
                .into_iter()
                .map(move |perturbation| perturbation.after(before))
                .collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(shifted).collect()
    }

    /// Pair of points that differ only in `unit` and whose outputs are easy to distinguish. It joins the
    /// first pair of the `worst_pairs` of each part that sees `unit`. If such a part has no pair, two distant
    /// points of the part's range replace it for [`Unit::Record`]. For other units, the result is then empty.
    /// A part that does not see `unit` contributes the same coordinates to both points of the pair.
    fn worst_pairs(&self, unit: Unit) -> Vec<[Vec<f64>; 2]> {
        let pairs = self.parts.iter().map(|part| {
            let local = &part.mechanism;
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
        let distributions =
            self.parts().map(|local| (local.noise(), local.layout().target != TargetLayout::None));
        join_noise(distributions.collect())
    }
}

/// Composition of mechanisms that a curator runs, because at least one of them needs a curator. Each releases
/// some columns of a table, its target, or both: see [`composed`].
#[derive(Debug, Clone)]
pub struct CuratorComposed {
    domain: RecordDomain,
    parts: Vec<Designed>,
}

impl CuratorComposed {
    fn over(domain: RecordDomain, parts: Vec<Designed>) -> Result<Self> {
        places(&domain, parts.iter().map(Designed::domain))?;
        let locals = parts.iter().filter_map(|part| match part {
            Designed::Local(local) => Some(&**local),
            Designed::Curator(_) => None,
        });
        refuse_reports(locals)?;
        refuse_drawn(&parts)?;
        Ok(Self { domain, parts })
    }

    fn compose(&self, guarantee: impl Fn(&Designed) -> Guarantee) -> Guarantee {
        let parts: Vec<_> = self.parts.iter().map(|part| (scope(part.domain()), guarantee(part))).collect();
        compose::by_parts(&parts)
    }
}

/// Refuses parts of two servers, and parts whose output rows cannot be joined with those of another part.
///
/// # Errors
/// [`Error::NotApplicable`] if two servers run a part. Also if there are several parts, and one releases a
/// model or rows that correspond to no input rows.
fn refuse_drawn(parts: &[Designed]) -> Result<()> {
    let refuse = |what: &str| {
        let reason = format!(
            "{what}, so its output cannot be joined with the rows of another part; let this part protect the \
             whole record"
        );
        Err(Error::not_applicable("a composition", reason))
    };
    if parts.iter().any(|part| part.shared_counts().is_some()) {
        return refuse("two servers run a part, without a curator who could run the others");
    }
    let mut releases = parts.iter().map(Designed::releases).filter(|_| parts.len() > 1);
    releases.try_for_each(|releases| match releases {
        Releases::Model { .. } => refuse("a part releases a model's coefficients"),
        Releases::Tables => refuse("a part releases tables of counts"),
        Releases::Synthetic { .. } => refuse("a part draws rows that correspond to no record"),
        Releases::Records | Releases::View { .. } | Releases::Reports { .. } => Ok(()),
    })
}

/// Kind of output of all parts together. No part makes reports, because [`CuratorComposed::over`] refuses
/// such parts.
fn releases_of(parts: &[Designed]) -> Releases {
    let releases = || parts.iter().map(Designed::releases);
    match parts {
        [only] if !only.releases().is_viewed() => only.releases(),
        _ if releases().any(Releases::is_viewed) => {
            let targets = parts.iter().map(|part| part.releases().target(part.domain().layout().target));
            Releases::View {
                secret: true, // a local part has no secret, but the key of the composition covers all parts
                aligned: releases().all(Releases::is_aligned),
                target: first_target(targets),
            }
        }
        _ => Releases::Records,
    }
}

/// Kind of target of the only part that has one; none if no part has a target.
fn first_target(mut targets: impl Iterator<Item = TargetLayout>) -> TargetLayout {
    targets.find(|target| *target != TargetLayout::None).unwrap_or(TargetLayout::None)
}

/// Joins the tables of the parts column by column.
fn join_tables(tables: Vec<Table>) -> Result<Table> {
    let records: Vec<_> = tables.iter().map(|table| table.records().view()).collect();
    let records = concatenate(Axis(1), &records).map_err(|e| Error::shape(e.to_string()))?;
    let names = released_names(tables.iter().map(Table::columns));
    let target = tables.iter().map(Table::target).find(|target| **target != Target::None);
    Table::new(names, records, target.cloned().unwrap_or(Target::None))
}

impl CuratorMechanism for CuratorComposed {
    fn domain(&self) -> &RecordDomain {
        &self.domain
    }

    fn guarantee(&self) -> Guarantee {
        self.compose(Designed::guarantee)
    }

    fn guarantee_of(&self, records: usize) -> Guarantee {
        self.compose(|part| part.guarantee_of(records))
    }

    fn start(&self) -> Box<dyn Accumulator + '_> {
        collected(&self.domain, |table, randomness| self.release_parts(table, randomness))
    }

    /// Kind of output: a view (rows in another space than the records') if any part releases a view.
    /// Otherwise a single part decides the kind, and several parts together release records.
    fn releases(&self) -> Releases {
        releases_of(&self.parts)
    }

    fn model_of(&self, table: &Table) -> Result<Arc<dyn ReleasedModel>> {
        match self.parts.iter().find(|part| part.releases().family().is_some()) {
            Some(part) => {
                Ok(Arc::new(PartModel { domain: part.domain().clone(), model: part.model_of(table)? }))
            }
            None => Err(Error::no_model()),
        }
    }

    fn key_of(&self, state: &Value) -> Result<Arc<dyn SecretKey>> {
        let states: Vec<Option<Value>> = Error::read_state(state)?;
        if states.len() != self.parts.len() {
            return Err(Error::state("the key and the design have different numbers of parts"));
        }
        let secret_of = |(part, state): (&Designed, Option<Value>)| match (part.releases().is_secret(), state)
        {
            (true, Some(state)) => part.key_of(&state).map(Some),
            (false, None) => Ok(None),
            _ => Err(Error::state("the secrets of the key do not match the curators of the design")),
        };
        let secrets = self.parts.iter().zip(states).map(secret_of).collect::<Result<_>>()?;
        Ok(Arc::new(ComposedKey { composed: self.clone(), secrets }))
    }
}

impl CuratorComposed {
    fn release_parts(&self, table: &Table, randomness: &mut Randomness) -> Result<Release> {
        let mut tables = vec![];
        let mut secrets = vec![];
        let mut guarantees = vec![];
        let mut noises = vec![];
        let mut model = None; // released by the only part: `over` refuses a model among several parts
        for part in &self.parts {
            let release = part.release(&table.part(part.domain())?, randomness)?;
            noises.push((release.noise, *release.table.target() != Target::None));
            guarantees.push((scope(part.domain()), release.guarantee));
            tables.push(release.table);
            secrets.push(match release.key {
                Key::None | Key::Design(_) => None,
                Key::Model(part_model) => {
                    model = Some((part.domain().clone(), part_model));
                    None
                }
                Key::Secret(secret) => Some(secret.into_key()),
            });
        }
        let table = join_tables(tables)?;
        let key = match model {
            Some((domain, model)) => Key::Model(Arc::new(PartModel { domain, model })),
            None if self.releases().is_secret() => {
                Key::secret(ComposedKey { composed: self.clone(), secrets }, &table)
            }
            None => Key::None,
        };
        let (guarantee, noise) = (compose::by_parts(&guarantees), join_noise(noises));
        Ok(Release::new(key, guarantee, noise, table))
    }
}

/// Model released by the only part of a composition. It predicts from the columns of the part.
#[derive(Debug, Clone)]
struct PartModel {
    domain: RecordDomain,
    model: Arc<dyn ReleasedModel>,
}

impl PartModel {
    fn features(&self, clean: &Table) -> Result<Table> {
        clean.part(&self.domain.without_target())
    }
}

impl ReleasedModel for PartModel {
    fn predict(&self, clean: &Table) -> Result<Target> {
        self.model.predict(&self.features(clean)?)
    }

    fn scores(&self, clean: &Table) -> Result<Array2<f64>> {
        self.model.scores(&self.features(clean)?)
    }

    fn functions(&self) -> Vec<ModelFunction> {
        self.model.functions()
    }
}

/// Key of a [`CuratorComposed`]: one secret for each part whose release has a secret key, and `None` for each
/// other part. A local part has no secret, because its public design is its key.
struct ComposedKey {
    composed: CuratorComposed,
    secrets: Vec<Option<Arc<dyn SecretKey>>>,
}

impl SecretKey for ComposedKey {
    fn view(&self, clean: &Table) -> Result<Table> {
        self.composed.domain.layout().check(clean)?;
        let views = self.composed.parts.iter().zip(&self.secrets).map(|(part, secret)| {
            let clean = clean.part(part.domain())?;
            match (secret, part) {
                (Some(secret), _) => secret.view(&clean),
                (None, Designed::Local(local)) => local::view(&**local, &clean),
                (None, Designed::Curator(_)) => Ok(clean),
            }
        });
        join_tables(views.collect::<Result<_>>()?)
    }

    fn read(&self, clean: &Table, predicted: Target) -> Result<Target> {
        let with_target = self.composed.parts.iter().zip(&self.secrets).filter_map(|(part, secret)| {
            let domain = part.domain();
            (*domain.target() != TargetDomain::None).then_some((domain, secret.as_ref()?))
        });
        with_target
            .into_iter()
            .try_fold(predicted, |predicted, (domain, secret)| secret.read(&clean.part(domain)?, predicted))
    }

    fn state(&self) -> serde_json::Result<Value> {
        let states =
            self.secrets.iter().map(|secret| secret.as_ref().map(|secret| secret.state()).transpose());
        serde_json::to_value(states.collect::<serde_json::Result<Vec<_>>>()?)
    }
}
