//! Request for a design, from the command line or from another programming language.

use crate::{Arrangement, LABEL_SHARE, Part, Result, ShippedDesign, protected};
use scumble_core::{Brief, Budget, Error, Protect, Registry, Task, Volunteers};
use scumble_records::Schema;

/// Request for a design: mechanisms, a description of the records, and a budget.
///
/// ```
/// use scumble_classic::LAPLACE;
/// use scumble_core::{Budget, Registry, Unit};
/// use scumble_custody::{DesignRequest, Part};
/// use scumble_records::Schema;
///
/// let toml = "column = [{ name = \"height\", kind = \"real\", lower = 40.0, upper = 220.0 }]";
/// let schema = Schema::from_toml(toml, "people.toml")?;
/// let mut request = DesignRequest::new(&schema, None, Budget::pure(2.0)?);
/// request.parts = vec![Part::alone(&LAPLACE)];
/// let design = request.design(&Registry::installed()?)?;
/// assert_eq!(design.guarantee().local_dp(Unit::Record).unwrap().epsilon, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DesignRequest<'a> {
    /// Public knowledge about the columns.
    pub schema: &'a Schema,
    /// Name of the column to learn.
    pub target: Option<&'a str>,
    /// Budget of the design.
    pub budget: Budget,
    /// Number of people who will release a record, if this number is public.
    pub people: Option<usize>,
    /// Volunteers: people whose records may shape the design.
    pub volunteers: Volunteers,
    /// Purpose of the release.
    pub task: Task,
    /// Mechanisms of the design: one with an empty list of columns, for the whole record, or mechanisms that
    /// each list their columns.
    pub parts: Vec<Part<'a>>,
    /// Part of a record to protect. The default is the whole record.
    pub protect: Option<Protect>,
    /// Fraction of ε for the label, if a separate mechanism releases the label.
    pub label_share: Option<f64>,
}

impl<'a> DesignRequest<'a> {
    /// Creates a request without a mechanism.
    pub fn new(schema: &'a Schema, target: Option<&'a str>, budget: Budget) -> Self {
        Self {
            schema,
            target,
            budget,
            people: None,
            volunteers: Volunteers::None,
            task: Task::default(),
            parts: vec![],
            protect: None,
            label_share: None,
        }
    }

    /// Adds a part for the label: randomised response for a class, and Laplace noise for a number. It does so
    /// if the label has a share of ε, the parts list their columns, and none of them lists the label.
    ///
    /// # Errors
    /// [`Error::Shape`] if a part releases the label together with other columns, so that the label has no
    /// share of its own. [`Error::UnknownPlugin`] if the mechanism for the label is not available.
    pub fn add_label_part(&mut self, registry: &'a Registry) -> Result<()> {
        let is_composed = self.parts.iter().any(|part| !part.columns.is_empty());
        let (Some(target), Some(_), true) = (self.target, self.label_share, is_composed) else {
            return Ok(());
        };
        match self.parts.iter().find(|part| part.columns.contains(&target)) {
            Some(part) if part.columns.len() > 1 => {
                let name = part.plugin.name;
                let problem = format!(
                    "{name} releases {target:?} together with other columns, so the label has no share of \
                     its own"
                );
                return Err(Error::shape(problem).into());
            }
            Some(_) => {}
            None => {
                let is_class = self.schema.column(target)?.kind.levels().is_some();
                let plugin = registry.get(if is_class { "randomized-response" } else { "laplace" })?;
                self.parts.push(Part { columns: vec![target], ..Part::alone(plugin) });
            }
        }
        Ok(())
    }

    /// Builds the design.
    ///
    /// # Errors
    /// Any error of a mechanism or of the composition; [`Error::Shape`] if the mechanisms protect less than
    /// requested.
    pub fn design(self, registry: &Registry) -> Result<ShippedDesign> {
        let Self { schema, target, protect, label_share, .. } = self;
        let brief = Brief {
            people: self.people,
            bins: schema.bins(target),
            volunteers: self.volunteers,
            task: self.task,
            ..Brief::new(schema.domain(target)?, self.budget)
        };
        if let [Part { plugin, parameters, columns }] = &self.parts[..]
            && columns.is_empty()
        {
            let design = Arrangement::designed(registry, plugin, parameters, &brief, protect, label_share)?;
            return ShippedDesign::for_records(design, schema.clone(), target);
        }
        let share = label_share.unwrap_or(LABEL_SHARE);
        let design = ShippedDesign::side_by_side(schema, target, &brief, &self.parts, share)?;
        let requested = protect.unwrap_or(Protect::Record);
        match protected(&design.mechanism().guarantee()) {
            Some(own) if own != Protect::Record && own != requested => {
                let problem = format!(
                    "the mechanisms protect only the {own}, not the {requested}; --protect {own} accepts this"
                );
                Err(Error::shape(problem).into())
            }
            _ => Ok(design),
        }
    }
}
