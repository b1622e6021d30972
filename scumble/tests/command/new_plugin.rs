//! `scumble new-plugin`.

use crate::{Files, refused, succeeded, workspace};
use std::collections::BTreeMap;
use std::fs::{read_dir, read_to_string};
use std::path::Path;

/// Returns the texts of all files in a folder and its subfolders, by relative path.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(texts(&path).into_iter().map(|(within, text)| (format!("{name}/{within}"), text)));
        } else {
            found.insert(name, read_to_string(path).unwrap());
        }
    }
    found
}

/// Returns the names of the dependencies in a manifest, including those of tests.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut names = vec![];
    let mut inside = false;
    for line in manifest.lines() {
        match line.strip_prefix('[') {
            Some(table) => inside = table.ends_with("dependencies]"),
            None if inside && !line.starts_with('#') => {
                names.extend(line.split([' ', '.']).next().filter(|name| !name.is_empty()));
            }
            None => {}
        }
    }
    names.sort_unstable();
    names
}

#[test]
fn it_writes_what_the_workspace_compiles_and_tests() {
    for kind in ["noise", "local", "curator"] {
        let files = Files::new();
        let name = format!("plugin-template-{kind}");
        let output = files.run(&format!("new-plugin {name} --kind {kind}"));
        assert!(
            output.contains(&format!("cd {name}\n")) && output.contains(&format!("describe {name}")),
            "{output}"
        );
        let written = texts(&files.path(&name));
        // In the workspace, the three mechanisms are modules of one crate.
        let template =
            |file: &str| read_to_string(workspace().join("scumble/plugin-template").join(file)).unwrap();
        let renamed = |text: &str| {
            text.replace(&format!("plugin_template::{kind}"), &format!("plugin_template_{kind}"))
        };
        assert_eq!(written["src/lib.rs"], template(&format!("{kind}.rs")));
        assert_eq!(written["tests/privacy.rs"], renamed(&template(&format!("test_{kind}.rs"))));
        let manifest = &written["Cargo.toml"];
        let workspace_manifest =
            read_to_string(workspace().join("examples/plugin-template/Cargo.toml")).unwrap();
        assert_eq!(dependencies(manifest), dependencies(&workspace_manifest));
        let version = env!("CARGO_PKG_VERSION");
        for line in [
            "\n[workspace]\n".to_owned(),
            format!("\nscumble = \"{version}\"\n"),
            format!("\nscumble-testing = \"{version}\"\n"),
        ] {
            assert!(manifest.contains(&line), "{line:?} is missing:\n{manifest}");
        }
        assert_eq!(files.all(), [name.as_str(), "schema.toml"]);
    }
}

/// Counts lines of code without comments; the curator's count includes its tests.
#[test]
fn a_curator_who_releases_a_noisy_mean_is_at_most_sixty_lines_and_the_staircase_seventy() {
    let count = |file: &str| {
        let text = read_to_string(workspace().join(file)).unwrap();
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
    };
    let curator =
        count("scumble/plugin-template/curator.rs") + count("scumble/plugin-template/test_curator.rs");
    assert!(curator <= 60, "{curator}");
    assert!(
        count("examples/staircase-plugin/src/lib.rs") <= 70,
        "{}",
        count("examples/staircase-plugin/src/lib.rs")
    );
}

#[test]
fn a_plugin_of_another_name_depends_on_a_checkout() {
    let files = Files::new();
    let line = "new-plugin my-noise2 --output elsewhere --json --scumble";
    let (output, _) = succeeded(files.command(line).arg(workspace()));
    let output: serde_json::Value = serde_json::from_str(&output).unwrap();
    let written = texts(&files.path("elsewhere"));
    assert_eq!(output["name"], "my-noise2");
    assert_eq!(output["folder"], "elsewhere");
    assert_eq!(output["files"].as_array().unwrap().len(), written.len());
    for (file, text) in &written {
        let left = ["plugin-template", "plugin_template"].into_iter().find(|name| text.contains(name));
        assert_eq!(left, None, "{file}:\n{text}");
    }
    assert!(!written["Cargo.toml"].contains("{{"), "{}", written["Cargo.toml"]);
    assert!(written["src/main.rs"].contains("use my_noise2 as _;"), "{}", written["src/main.rs"]);
    assert!(written["src/lib.rs"].contains("&'static str = \"my-noise2\";"), "{}", written["src/lib.rs"]);
    let checkout = workspace().canonicalize().unwrap();
    for folder in ["scumble", "registry/testing"] {
        let path = checkout.join(folder);
        let line = format!("{{ path = {:?} }}", path.to_str().unwrap());
        assert!(written["Cargo.toml"].contains(&line), "{line} is missing:\n{}", written["Cargo.toml"]);
    }
}

#[test]
fn what_is_no_name_is_refused_with_one_that_is() {
    let files = Files::new();
    for (name, expected) in [
        ("My_Noise", "did you mean \"my-noise\"?"),
        ("2noise", "\"2noise\" is not a valid plugin name: a name is a lower-case letter, followed by"),
        ("noise-", "did you mean \"noise\"?"),
        ("a--b", "did you mean \"a-b\"?"),
        ("../noise", "did you mean \"noise\"?"),
        (
            "serde",
            "\"serde\" is not a valid plugin name: Rust, cargo, scumble or a dependency of the plugin uses \
             it",
        ),
        (
            "match",
            "\"match\" is not a valid plugin name: Rust, cargo, scumble or a dependency of the plugin uses \
             it",
        ),
        ("laplace", "\"laplace\" is not a valid plugin name: a mechanism of this name already exists"),
    ] {
        let refused = files.refuses(&format!("new-plugin {name}"));
        assert!(refused.contains(expected), "{name}: {refused}");
    }
    let long = "n".repeat(65);
    assert!(files.refuses(&format!("new-plugin {long}")).contains("at most 64 characters in all"));
    assert_eq!(files.all(), ["schema.toml"]);
}

#[test]
fn nothing_is_overwritten_or_left_half_written() {
    let files = Files::new();
    std::fs::create_dir(files.path("my-noise")).unwrap();
    let exists = "the path already exists, and nothing is overwritten; give another --output";
    assert_eq!(files.refuses("new-plugin my-noise"), format!("my-noise: {exists}"));
    assert_eq!(files.refuses("new-plugin my-noise --output schema.toml"), format!("schema.toml: {exists}"));
    let nowhere = files.refuses("new-plugin my-noise --output nowhere/noise");
    assert!(nowhere.starts_with("nowhere: "), "{nowhere}");
    assert_eq!(files.all(), ["my-noise", "schema.toml"]);
    assert!(read_dir(files.path("my-noise")).unwrap().next().is_none());
}

#[test]
fn a_folder_that_is_no_checkout_is_refused() {
    let files = Files::new();
    for folder in [".", "nowhere", "schema.toml"] {
        assert_eq!(
            files.refuses(&format!("new-plugin my-noise --scumble {folder}")),
            format!("{folder}: not a checkout of scumble, because it has no registry/core/Cargo.toml")
        );
    }
    let inside = refused(files.command("new-plugin my-noise --scumble").arg(workspace().join("scumble")));
    assert!(inside.contains("not a checkout of scumble"));
    assert_eq!(files.all(), ["schema.toml"]);
}
