//! `scumble new-plugin`: writes a stand-alone crate for a user's own mechanism.

use super::{Failure, print, print_json};
use crate::core::Registry;
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// Kind of mechanism in the template.
#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    /// Noise on the numbers of each record: about thirty lines.
    Noise,
    /// Each person releases their own record, by any method.
    Local,
    /// A trusted curator releases something made of all records.
    Curator,
}

impl Kind {
    /// Returns the template's name, and the texts of its mechanism and its tests. `examples/plugin-template`
    /// compiles and tests the same files.
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

    /// Returns the files of a crate with a mechanism called `name`.
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

/// Names that a plugin's crate cannot have.
const RESERVED: [&str; 5] = [
    // Crates that the plugin depends on.
    "schemars scumble scumble-testing serde serde-json",
    // Names under which other mechanisms are saved.
    "composed faulty",
    // Names that cargo refuses.
    "build deps examples incremental test",
    // Crates of the Rust distribution.
    "alloc core proc-macro std",
    // Keywords of Rust.
    "abstract as async await become box break const continue crate do dyn else enum extern false final fn \
     for gen if impl in let loop macro match mod move mut override priv pub ref return self static struct \
     super trait true try type typeof unsafe unsized use virtual where while yield",
];

const EXAMPLES: &str = "\
Examples:
  scumble new-plugin my-mechanism
  scumble new-plugin my-mechanism --kind curator --output ../my-mechanism --scumble .";

#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NewPluginArguments {
    /// Name of the crate and of its mechanism: lower-case letters, digits and hyphens.
    name: String,
    /// Kind of mechanism.
    #[arg(long, value_enum, default_value_t = Kind::Noise)]
    kind: Kind,
    /// Folder of the crate, which must not exist yet; by default the name.
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// A checkout of scumble that the crate depends on by its path. Without it, the crate depends on the
    /// version of this command.
    #[arg(long, value_name = "PATH")]
    scumble: Option<PathBuf>,
}

/// Reason for not writing a crate.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(
        "{name:?} is not a valid plugin name: a name is a lower-case letter, followed by lower-case letters, \
         digits and single hyphens between them, at most {} characters in all{}",
        LONGEST,
        did_you_mean(nearest)
    )]
    Name { name: String, nearest: Option<String> },
    #[error(
        "{name:?} is not a valid plugin name: Rust, cargo, scumble or a dependency of the plugin uses it"
    )]
    Reserved { name: String },
    #[error("{name:?} is not a valid plugin name: a mechanism of this name already exists")]
    Taken { name: String },
    #[error("{folder}: the path already exists, and nothing is overwritten; give another --output")]
    Exists { folder: String },
    #[error("{folder}: not a checkout of scumble, because it has no registry/core/Cargo.toml")]
    NoCheckout { folder: String },
    #[error("{folder}: the path is not UTF-8, so no manifest can name it")]
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
        "{shown} holds a crate with the mechanism {name}, its tests, and a scumble command that includes \
         it\n\n  {enter}\n  cargo test\n  cargo run --release -- describe {name}\n\nYour noise, sensitivity \
         and proof go into src/lib.rs."
    ))
}

/// Checks that a crate and a mechanism can have this name.
///
/// # Errors
/// Returns an error if the name is invalid, reserved or taken.
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

/// Converts the words of a name to kebab case. Returns `None` if the result is not a valid name.
fn nearest(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let kebab = words.collect::<Vec<_>>().join("-");
    is_kebab(&kebab).then_some(kebab)
}

/// Returns the absolute path of a checkout.
///
/// # Errors
/// Returns an error if the folder is not a checkout.
fn checkout(folder: &Path) -> Result<String, Error> {
    let shown = || folder.display().to_string();
    let whole = folder.canonicalize().map_err(|_| Error::NoCheckout { folder: shown() })?;
    if !whole.join("registry/core/Cargo.toml").is_file() {
        return Err(Error::NoCheckout { folder: shown() });
    }
    whole.into_os_string().into_string().map_err(|_| Error::NotUtf8 { folder: shown() })
}

/// Fills in the versions of a template file: dependencies on a checkout, or on the version of this command.
fn versioned(text: &str, checkout: Option<&str>) -> String {
    let dependency = |folder: &str| match checkout {
        // A JSON string is also a TOML string.
        Some(checkout) => format!("{{ path = {} }}", json!(format!("{checkout}/{folder}"))),
        None => format!("{:?}", env!("CARGO_PKG_VERSION")),
    };
    text.replace("{{rust-version}}", env!("CARGO_PKG_RUST_VERSION"))
        .replace("{{scumble}}", &dependency("scumble"))
        .replace("{{scumble-testing}}", &dependency("registry/testing"))
}

/// Writes all files into a new folder, or none of them. The folder has a temporary name until all files are
/// written.
///
/// # Errors
/// Returns an error if a file cannot be written.
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
