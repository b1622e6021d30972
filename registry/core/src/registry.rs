//! Registry of the available plugins, which builds designs from saved states.

use crate::design::ComposedState;
use crate::{Design, Error, Origin, Plugin, Result, nearest_name};
use serde_json::Value;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{PoisonError, RwLock};

/// Plugins that this process registered while it ran.
static ADDED: RwLock<Registry> = RwLock::new(Registry { plugins: BTreeMap::new() });

/// Available plugins, by name.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    plugins: BTreeMap<&'static str, Plugin>,
}

impl Registry {
    /// All plugins that are linked into this binary, and those that were [registered](Self::register) since
    /// it started.
    ///
    /// # Errors
    /// [`Error::DuplicatePlugin`] for two plugins with the same name.
    pub fn installed() -> Result<Self> {
        let mut registry = Self::linked()?;
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
        added.iter().try_for_each(|plugin| registry.add(*plugin))?;
        Ok(registry)
    }

    fn linked() -> Result<Self> {
        let mut registry = Self::default();
        inventory::iter::<Plugin>.into_iter().try_for_each(|plugin| registry.add(*plugin))?;
        Ok(registry)
    }

    /// Registers a plugin that is not linked into this binary, for example one of another language. It
    /// replaces a plugin of the same name that was registered in the same way.
    ///
    /// # Errors
    /// [`Error::DuplicatePlugin`] if a linked plugin has this name.
    pub fn register(plugin: Plugin) -> Result<()> {
        if Self::linked()?.plugins.contains_key(plugin.name) {
            return Err(Error::DuplicatePlugin { name: plugin.name.into() });
        }
        ADDED.write().unwrap_or_else(PoisonError::into_inner).plugins.insert(plugin.name, plugin);
        Ok(())
    }

    /// Adds a plugin in code, for example if the linker did not include it.
    ///
    /// # Errors
    /// [`Error::DuplicatePlugin`] if the registry has a plugin with this name.
    pub fn add(&mut self, plugin: Plugin) -> Result<()> {
        match self.plugins.entry(plugin.name) {
            Entry::Vacant(place) => {
                place.insert(plugin);
                Ok(())
            }
            Entry::Occupied(before) => Err(Error::DuplicatePlugin { name: before.get().name.into() }),
        }
    }

    /// Plugin of this name.
    ///
    /// # Errors
    /// [`Error::UnknownPlugin`], with the nearest name, if no plugin has this name.
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

    /// Checks that the plugins named by `origin` are available in the versions it names.
    ///
    /// # Errors
    /// A sentence, if a plugin is missing or has another version.
    pub fn check(&self, origin: &Origin) -> std::result::Result<(), String> {
        let installed = match &*origin.plugin {
            Origin::COMPOSED => env!("CARGO_PKG_VERSION"),
            plugin => self.get(plugin).map_err(|error: Error| error.to_string())?.version,
        };
        if origin.plugin_version != installed {
            return Err(format!(
                "it was designed by {:?} {}, and version {installed} is installed",
                origin.plugin, origin.plugin_version
            ));
        }
        origin.parts.iter().try_for_each(|part| self.check(part))
    }

    /// Builds a design from its saved [state](Design::state). The plugin of each part builds the part. The
    /// parts are composed in the same way as when the design was made.
    ///
    /// # Errors
    /// [`Error::UnknownPlugin`] for a plugin that is not available. [`Error::State`] for a state from which
    /// the plugins of `origin` cannot build a mechanism. Also the errors of the plugins for numbers in the
    /// state, and of [`Design::composed`] for the parts of a composition. [`Error::PrivateVolunteers`] if
    /// private volunteers' records shaped the design and its guarantee has no claim for these volunteers.
    pub fn build(&self, origin: Origin, state: Value) -> Result<Design> {
        let design = match &*origin.plugin {
            Origin::COMPOSED => {
                let ComposedState { domain, parts } = Error::read_state(&state)?;
                if parts.len() != origin.parts.len() {
                    return Err(Error::state(
                        "the parts of its origin do not match the parts of its mechanism",
                    ));
                }
                let parts = origin.parts.into_iter().zip(parts);
                let parts = parts.map(|(origin, state)| self.build(origin, state));
                Design::composed(domain, parts.collect::<Result<_>>()?)?
            }
            plugin if origin.parts.is_empty() => {
                let mechanism = (self.get(plugin)?.build)(&state)?;
                Design::built(origin, state, mechanism)
            }
            plugin => {
                return Err(Error::state(format!("it was designed by {plugin:?}, which composes no parts")));
            }
        };
        design.check_volunteers()?;
        Ok(design)
    }
}
