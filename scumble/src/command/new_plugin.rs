//! `scumble new-plugin`: a crate for a mechanism of one's own, to be built by itself.

use super::{Failure, print, print_json};
use crate::core::Registry;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// What of a mechanism the template is.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Noise on the numbers of each record: some thirty lines.
    Noise,
    /// Each person releases their own record, in any other way.
    Local,
    /// A trusted curator releases something made of all records.
    Curator,
}

impl Kind {
    /// The template's own name, the mechanism, and its tests. `examples/plugin-template` has the same, so that they are compiled and tested.
    fn template(self) -> [&'static str; 3] {
        match self {
            Self::Noise => [
                "noise",
                include_str!("../../plugin-template/noise.rs"),
                include_str!("../../plugin-template/test_noise.rs"),
            ],
            Self::Local => [
                "local",
                include_str!("../../plugin-template/local.rs"),
                include_str!("../../plugin-template/test_local.rs"),
            ],
            Self::Curator => [
                "curator",
                include_str!("../../plugin-template/curator.rs"),
                include_str!("../../plugin-template/test_curator.rs"),
            ],
        }
    }

    /// The files of a crate with a mechanism of this name.
    fn files(self, name: &str, checkout: Option<&str>) -> [(&'static str, String); 5] {
        let [kind, mechanism, tests] = self.template();
        let in_rust = name.replace('-', "_");
        let rendered = |text: &str| {
            let text = text.replace(&format!("plugin-template-{kind}"), "plugin-template");
            let text = text.replace(&format!("plugin_template::{kind}"), "plugin_template");
            let text = text.replace("plugin-template", name).replace("plugin_template", &in_rust);
            versioned(&text, checkout)
        };
        [
            ("Cargo.toml", rendered(include_str!("../../plugin-template/Cargo.toml.template"))),
            ("README.md", rendered(include_str!("../../plugin-template/README.md"))),
            ("src/lib.rs", rendered(mechanism)),
            ("src/main.rs", rendered(include_str!("../../plugin-template/main.rs"))),
            ("tests/privacy.rs", rendered(tests)),
        ]
    }
}

/// What no crate of a plugin can be called.
const RESERVED: [&str; 5] = [
    // The crates that it depends on.
    "schemars scumble scumble-testing serde serde-json",
    // The names under which other mechanisms are saved.
    "composed faulty",
    // What cargo refuses.
    "build deps examples incremental test",
    // Crates of Rust.
    "alloc core proc-macro std",
    // Words of Rust.
    "abstract as async await become box break const continue crate do dyn else enum extern false final fn for gen \
     if impl in let loop macro match mod move mut override priv pub ref return self static struct super trait true \
     try type typeof unsafe unsized use virtual where while yield",
];

const EXAMPLES: &str = "\
Examples:
  scumble new-plugin my-mechanism
  scumble new-plugin my-mechanism --kind curator --output ../my-mechanism --scumble .";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NewPluginArguments {
    /// The name of the crate and of its mechanism: lower-case letters, digits and hyphens.
    name: String,
    /// What the mechanism is.
    #[arg(long, value_enum, default_value_t = Kind::Noise)]
    kind: Kind,
    /// The folder of the crate, which must not exist yet; by default the name.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// A checkout of scumble that the crate depends on by its path; else it depends on the version of this command.
    #[arg(long, value_name = "PATH")]
    scumble: Option<PathBuf>,
}

/// Why no crate is written.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(
        "{name:?} is no name for a plugin: it must be a lower-case letter and then such letters, digits and single \
         hyphens, at most {} in all{}",
        LONGEST,
        did_you_mean(nearest)
    )]
    Name { name: String, nearest: Option<String> },
    #[error(
        "{name:?} is no name for a plugin: Rust, cargo, scumble or a crate that the plugin needs uses it"
    )]
    Reserved { name: String },
    #[error("{name:?} is no name for a plugin: there is a mechanism of this name already")]
    Taken { name: String },
    #[error("{folder}: it exists already, and nothing is overwritten")]
    Exists { folder: String },
    #[error("{folder}: it is no checkout of scumble, for it has no registry/core/Cargo.toml")]
    NoCheckout { folder: String },
    #[error("{folder}: its path is not UTF-8, and so no manifest can name it")]
    NotUtf8 { folder: String },
    #[error("{place}: {problem}")]
    Unwritten {
        place: String,
        #[source]
        problem: io::Error,
    },
}

const LONGEST: usize = 64;

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or(String::new(), |name| format!("; did you mean {name:?}?"))
}

pub(super) fn new_plugin(
    registry: &Registry,
    arguments: &NewPluginArguments,
    json: bool,
) -> Result<(), Failure> {
    let name = &arguments.name;
    check(name, registry)?;
    let folder = arguments.output.clone().unwrap_or_else(|| name.into());
    let shown = folder.display().to_string();
    if folder.symlink_metadata().is_ok() {
        return Err(Error::Exists { folder: shown }.into());
    }
    let checkout = arguments.scumble.as_deref().map(checkout).transpose()?;
    let files = arguments.kind.files(name, checkout.as_deref());
    write(&folder, &files)?;
    if json {
        let names = files.each_ref().map(|(file, _)| *file);
        return print_json(&json!({ "name": name, "folder": shown, "files": names }));
    }
    // Only a zero byte cannot be quoted, and no path has one.
    let enter = shlex::try_join(["cd", &*shown]).unwrap_or_default();
    print(&format!(
        "{shown}: a crate with the mechanism {name}, its tests, and a scumble command that has it\n\n  {enter}\n  \
         cargo test\n  cargo run --release -- describe {name}\n\nYour noise, sensitivity and proof go into src/lib.rs."
    ))
}

/// # Errors
/// For a name that a crate or a mechanism cannot have, or that another one has.
fn check(name: &str, registry: &Registry) -> Result<(), Error> {
    if !is_kebab(name) {
        return Err(Error::Name { name: name.into(), nearest: nearest(name) });
    }
    if RESERVED.iter().any(|names| names.split(' ').any(|reserved| reserved == name)) {
        return Err(Error::Reserved { name: name.into() });
    }
    match registry.iter().any(|plugin| plugin.name == name) {
        true => Err(Error::Taken { name: name.into() }),
        false => Ok(()),
    }
}

fn is_kebab(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= LONGEST
        && name.chars().all(is_plain)
        && !name.ends_with('-')
        && !name.contains("--")
}

/// The same words in kebab case, where these make a name.
fn nearest(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let kebab = words.collect::<Vec<_>>().join("-");
    is_kebab(&kebab).then_some(kebab)
}

/// The checkout's absolute path.
///
/// # Errors
/// For a folder that is none.
fn checkout(folder: &Path) -> Result<String, Error> {
    let shown = || folder.display().to_string();
    let whole = folder.canonicalize().map_err(|_| Error::NoCheckout { folder: shown() })?;
    if !whole.join("registry/core/Cargo.toml").is_file() {
        return Err(Error::NoCheckout { folder: shown() });
    }
    whole.into_os_string().into_string().map_err(|_| Error::NotUtf8 { folder: shown() })
}

/// A file of the template, which depends on a checkout or on the version of this command.
fn versioned(text: &str, checkout: Option<&str>) -> String {
    let dependency = |folder: &str| match checkout {
        // A string of JSON is one of TOML.
        Some(checkout) => format!("{{ path = {} }}", json!(format!("{checkout}/{folder}"))),
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
    };
    text.replace("{{rust-version}}", env!("CARGO_PKG_RUST_VERSION"))
        .replace("{{scumble}}", &dependency("scumble"))
        .replace("{{scumble-testing}}", &dependency("registry/testing"))
}

/// Writes the files into a new folder, all of them or none: aside, and then under its name.
///
/// # Errors
/// Where one cannot be written.
fn write(folder: &Path, files: &[(&str, String)]) -> Result<(), Error> {
    let unwritten = |place: &Path| {
        let place = place.display().to_string();
        move |problem: io::Error| Error::Unwritten { place, problem }
    };
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let aside = tempfile::Builder::new().prefix(".new-plugin-").tempdir_in(parent);
    let aside = aside.map_err(unwritten(parent))?;
    let whole = aside.path().join("crate");
    for (name, text) in files {
        let file = whole.join(name);
        let within = file.parent().unwrap_or(&whole);
        let made = std::fs::create_dir_all(within).and_then(|()| std::fs::write(&file, text));
        made.map_err(unwritten(folder))?;
    }
    std::fs::rename(&whole, folder).map_err(unwritten(folder))
}
