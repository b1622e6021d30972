//! Composition of mechanisms for separate columns within one budget.

use crate::{Result, ShippedDesign};
use scumble_core::{Brief, Budget, Design, Plugin, Volunteers};
use scumble_records::Schema;
use serde_json::Value;
use std::collections::HashSet;

/// Part of a composition: a mechanism with its parameters and the columns that it releases.
#[derive(Debug, Clone)]
pub struct Part<'a> {
    /// Plugin that designs the mechanism.
    pub plugin: &'a Plugin,
    /// Parameters of the mechanism: a JSON object, or null for the defaults.
    pub parameters: Value,
    /// Columns of the schema, with or without the target. Empty if the mechanism releases the whole record.
    pub columns: Vec<&'a str>,
}

impl<'a> Part<'a> {
    /// Creates a part for the whole record, with the mechanism's default parameters.
    pub fn alone(plugin: &'a Plugin) -> Self {
        Self { plugin, parameters: Value::Null, columns: vec![] }
    }

    fn is_label(&self, target: Option<&str>) -> bool {
        target.is_some_and(|target| self.columns == [target])
    }
}

impl ShippedDesign {
    /// Designs `parts` side by side for records of `schema`, with the label `target`. The design uses and
    /// releases only the columns that some part names.
    ///
    /// A part whose only column is the label gets the fraction `label_share` of the budget of the [`Brief`],
    /// unless there are no other parts. The other parts divide the rest of the budget, each in proportion to
    /// its number of columns. `brief` is for records of the whole schema. A part whose only column is the
    /// label gets no records of private volunteers (people whose records may shape a design). Its mechanism
    /// could not claim a guarantee for the volunteers.
    ///
    /// # Errors
    /// [`Error::MissingColumn`](scumble_records::Error::MissingColumn) for a column that the schema lacks;
    /// [`Error::Budget`](scumble_core::Error::Budget) if `label_share` is not strictly between zero and one;
    /// any error of a part or of the composition.
    pub fn side_by_side(
        schema: &Schema,
        target: Option<&str>,
        brief: &Brief,
        parts: &[Part],
        label_share: f64,
    ) -> Result<Self> {
        for part in parts {
            schema.columns_named(&part.columns)?; // a column may occur in two parts, not twice in one
        }
        let taken: HashSet<&str> = parts.iter().flat_map(|part| &part.columns).copied().collect();
        let names = schema.columns().iter().map(|column| column.name.as_str());
        let schema = schema.columns_named(&names.filter(|name| taken.contains(name)).collect::<Vec<_>>())?;
        let target = target.filter(|target| taken.contains(target));
        let budgets = shares(&brief.budget, parts, target, label_share)?;
        let designs = parts.iter().zip(budgets).map(|(part, budget)| {
            let domain = match parts.len() {
                1 => schema.domain(target)?, // in schema order, as the whole design
                _ => schema.part(&part.columns, target)?,
            };
            let mut own = brief.for_part(domain)?.with_budget(budget);
            if part.is_label(target) && matches!(own.volunteers, Volunteers::Private(_)) {
                own.volunteers = Volunteers::None;
            }
            Ok(part.plugin.design(&part.parameters, &own)?)
        });
        let design = Design::composed(schema.domain(target)?, designs.collect::<Result<_>>()?)?;
        Self::for_records(design, schema, target)
    }
}

/// Budgets of the parts. Together they do not exceed the whole budget.
fn shares(budget: &Budget, parts: &[Part], target: Option<&str>, label_share: f64) -> Result<Vec<Budget>> {
    let others = parts.iter().filter(|part| !part.is_label(target));
    let mut columns_left: usize = others.map(|part| part.columns.len()).sum();
    let has_label = parts.iter().any(|part| part.is_label(target));
    let (label_budget, mut rest) = match has_label && columns_left > 0 {
        true => budget.split(label_share)?,
        false => (*budget, *budget),
    };
    let shares = parts.iter().map(|part| {
        if part.is_label(target) {
            return Ok(label_budget);
        }
        let own = part.columns.len();
        let share = match own == columns_left {
            true => rest,
            false => {
                let (share, others) = rest.split(own as f64 / columns_left as f64)?;
                rest = others;
                share
            }
        };
        columns_left -= own;
        Ok(share)
    });
    shares.collect()
}
