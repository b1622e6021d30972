//! Saved designs: a small envelope that is read before the mechanism in it.

use crate::{Error, Mechanism, Registry, Result, ShapedBy};
use serde_json::{Value, json};

/// The format that this version writes and reads.
const FORMAT: &str = "scumble-design-1";

/// A mechanism with the name and version of the plugin that designed it: what is saved, shipped and released with.
#[derive(Debug, Clone)]
pub struct Design {
    /// The plugin's name.
    pub plugin: String,
    /// The plugin's version.
    pub plugin_version: String,
    /// The mechanism.
    pub mechanism: Box<dyn Mechanism>,
}

impl Design {
    /// The envelope {format, plugin, plugin_version, mechanism} as JSON.
    ///
    /// # Errors
    /// [`Error::PrivateVolunteers`] where the design would publish something about people who were promised privacy;
    /// [`Error::Design`] where it cannot be written.
    pub fn to_json(&self) -> Result<String> {
        let guarantee = self.mechanism.guarantee();
        if guarantee.shaped_by == ShapedBy::PrivateVolunteers && !guarantee.protects_volunteers() {
            return Err(Error::PrivateVolunteers { plugin: self.plugin.clone() });
        }
        let mechanism = serde_json::to_value(&self.mechanism).map_err(wrong)?;
        serde_json::to_string_pretty(&json!({
            "format": FORMAT,
            "plugin": self.plugin,
            "plugin_version": self.plugin_version,
            "mechanism": mechanism,
        }))
        .map_err(wrong)
    }

    /// Reads what [`to_json`](Self::to_json) wrote, with the plugins of `registry`; every number is checked again.
    ///
    /// # Errors
    /// [`Error::Design`] for another format or version and for numbers that make no mechanism,
    /// [`Error::UnknownPlugin`] for a plugin that is not there.
    pub fn from_json(text: &str, registry: &Registry) -> Result<Self> {
        let mut envelope: Value = serde_json::from_str(text).map_err(wrong)?;
        let field = |name: &str| {
            envelope[name].as_str().map(str::to_owned).ok_or_else(|| wrong(format!("it has no {name:?}")))
        };
        let (format, plugin, plugin_version) = (field("format")?, field("plugin")?, field("plugin_version")?);
        if format != FORMAT {
            return Err(wrong(format!("its format is {format:?} where {FORMAT:?} is read")));
        }
        let installed = registry.get(&plugin)?;
        if plugin_version != installed.version {
            return Err(wrong(format!(
                "{plugin:?} {plugin_version} designed it, and version {} is installed",
                installed.version
            )));
        }
        let mechanism = serde_json::from_value(envelope["mechanism"].take()).map_err(wrong)?;
        Ok(Self { plugin, plugin_version, mechanism })
    }
}

fn wrong(problem: impl std::fmt::Display) -> Error {
    Error::Design { problem: problem.to_string() }
}
