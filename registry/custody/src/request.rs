//! What a design is asked for, by the command or from another language.

use crate::{Arrangement, LABEL_SHARE, Part, Result, ShippedDesign, protected};
use scumble_core::{Brief, Budget, Error, Protect, Registry, Task, Volunteers};
use scumble_records::Schema;

/// A design that is asked for: mechanisms, the records that they are for, and what they may spend.
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
    /// What is publicly known of the columns.
    pub schema: &'a Schema,
    /// The column that is to be learned.
    pub target: Option<&'a str>,
    /// What may be spent.
    pub budget: Budget,
    /// How many people will release a record, where that is public.
    pub people: Option<usize>,
    /// Records that may shape the design.
    pub volunteers: Volunteers,
    /// What the release is for.
    pub task: Task,
    /// Mechanisms: one without columns for the whole record, or each for its columns.
    pub parts: Vec<Part<'a>>,
    /// What of a record is to be protected: all of it where nothing is said.
    pub protect: Option<Protect>,
    /// The share of ε for a label with a mechanism of its own.
    pub label_share: Option<f64>,
}

impl<'a> DesignRequest<'a> {
    /// A request without a mechanism yet.
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

    /// The design.
    ///
    /// # Errors
    /// What stops a mechanism or the composition; [`Error::Shape`] where the mechanisms protect less than is asked for.
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
        let wanted = protect.unwrap_or(Protect::Record);
        match protected(&design.mechanism().guarantee()) {
            Some(own) if own != Protect::Record && own != wanted => {
                let problem = format!(
                    "the mechanisms protect the {own}, and not the {wanted}; --protect {own} asks for no more"
                );
                Err(Error::shape(problem).into())
            }
            _ => Ok(design),
        }
    }
}
