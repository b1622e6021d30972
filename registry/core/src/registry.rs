//! The plugins at hand, and whether a design that was saved is one of theirs.

use crate::composed::parts_of;
use crate::{Design, Designed, Error, Origin, Plugin, Result, nearest_name};
use std::any::Any;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The plugins at hand, by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    plugins: BTreeMap<&'static str, Plugin>,
}

impl Registry {
    /// All plugins that are linked into this binary.
    ///
    /// # Errors
    /// [`Error::DuplicatePlugin`].
    pub fn installed() -> Result<Self> {
        let mut registry = Self::default();
        inventory::iter::<Plugin>.into_iter().try_for_each(|plugin| registry.add(*plugin))?;
        Ok(registry)
    }

    /// Adds a plugin by hand, where linkers play tricks.
    ///
    /// # Errors
    /// [`Error::DuplicatePlugin`].
    pub fn add(&mut self, plugin: Plugin) -> Result<()> {
        match self.plugins.entry(plugin.name) {
            Entry::Vacant(place) => {
                place.insert(plugin);
                Ok(())
            }
            Entry::Occupied(before) => Err(Error::DuplicatePlugin { name: before.get().name.into() }),
        }
    }

    /// The plugin of this name.
    ///
    /// # Errors
    /// [`Error::UnknownPlugin`] with the nearest name.
    pub fn get(&self, name: &str) -> Result<&Plugin> {
        self.plugins.get(name).ok_or_else(|| Error::UnknownPlugin {
            name: name.into(),
            nearest: nearest_name(name, self.plugins.keys().copied()),
        })
    }

    /// All plugins, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.values()
    }

    /// Whether the plugins that `origin` names are here, in the versions that it names.
    ///
    /// # Errors
    /// The sentence about one that is not there, or about another version.
    pub fn check(&self, origin: &Origin) -> std::result::Result<(), String> {
        let installed = match &*origin.plugin {
            Origin::COMPOSED => env!("CARGO_PKG_VERSION"),
            plugin => self.get(plugin).map_err(|error: Error| error.to_string())?.version,
        };
        if origin.plugin_version != installed {
            return Err(format!(
                "{:?} {} designed it, and version {installed} is installed",
                origin.plugin, origin.plugin_version
            ));
        }
        origin.parts.iter().try_for_each(|part| self.check(part))
    }

    /// The design of a mechanism that was read from a file, which says that `origin` designed it.
    ///
    /// # Errors
    /// The sentence about a mechanism that these plugins do not make, or one that must not be saved.
    pub fn restored(&self, origin: Origin, mechanism: Designed) -> std::result::Result<Design, String> {
        self.check_made(&origin, mechanism.as_any())?;
        let design = Design::read(origin, mechanism);
        design.check_volunteers().map_err(|error| error.to_string())?;
        Ok(design)
    }

    /// Whether the mechanism is of the type that the plugin makes, and its parts are of those of theirs.
    fn check_made(&self, origin: &Origin, mechanism: &dyn Any) -> std::result::Result<(), String> {
        if origin.plugin != Origin::COMPOSED {
            let plugin = self.get(&origin.plugin).map_err(|error| error.to_string())?;
            return match mechanism.type_id() == (plugin.makes)() && origin.parts.is_empty() {
                true => Ok(()),
                false => Err(format!(
                    "it says that {:?} designed it, which makes no such mechanism",
                    origin.plugin
                )),
            };
        }
        match parts_of(mechanism) {
            Some(parts) if parts.len() == origin.parts.len() => {
                let mut parts = origin.parts.iter().zip(parts);
                parts.try_for_each(|(origin, part)| self.check_made(origin, part))
            }
            _ => Err("the parts that it says it was composed of are not those of its mechanism".into()),
        }
    }
}
