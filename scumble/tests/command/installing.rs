//! The image and the workflow for users. The `Dockerfile` names files and versions of this workspace. The
//! commands of the workflow release a file, and push the charge before anything is published.

use crate::{Files, workspace};
use std::fs::read_to_string;
use std::path::Path;
use std::process::{Command, Output};

/// Returns the workspace's manifest.
fn manifest() -> toml::Table {
    read_to_string(workspace().join("Cargo.toml")).unwrap().parse().unwrap()
}

/// Returns the words after `instruction` in each line of the `Dockerfile` that begins with it.
fn instructions(instruction: &str) -> Vec<Vec<String>> {
    let text = read_to_string(workspace().join("Dockerfile")).unwrap();
    let lines = text.lines().filter_map(|line| line.strip_prefix(instruction)?.strip_prefix(' '));
    lines.map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

#[test]
fn the_image_compiles_with_the_workspaces_rust_and_runs_without_root() {
    let [build, runtime] = &instructions("FROM")[..] else { panic!("two stages are expected") };
    let rust = manifest()["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    let system = build[0].strip_prefix(&format!("rust:{rust}-slim-")).expect("the workspace's Rust");
    // The command needs a C library at least as new as that of the stage that compiles it.
    assert_eq!(runtime[0], format!("debian:{system}-slim"));
    assert!(!["root", "0"].contains(&instructions("USER")[0][0].split(':').next().unwrap()));
    assert_eq!(instructions("ENTRYPOINT"), [["[\"scumble\"]"]]);
}

#[test]
fn the_image_is_built_from_all_packages_of_the_workspace_and_nothing_else() {
    let [sources, installed] = &instructions("COPY")[..] else { panic!("two copies are expected") };
    assert_eq!(sources[..], [".", "."]);
    assert!(installed[0] == "--from=build" && installed[1].ends_with("/bin/scumble"), "{installed:?}");
    let ignore = read_to_string(workspace().join(".dockerignore")).unwrap();
    let mut lines = ignore.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(lines.next(), Some("*"));
    let kept: Vec<&str> = lines.map(|line| line.strip_prefix('!').unwrap()).collect();
    assert!(kept.is_sorted() && kept.iter().all(|name| workspace().join(name).exists()), "{kept:?}");
    let manifest = manifest();
    for member in manifest["workspace"]["members"].as_array().unwrap() {
        let folder = Path::new(member.as_str().unwrap()).iter().next().unwrap().to_str().unwrap();
        assert!(kept.contains(&folder), "{folder} does not enter the image");
    }
}

/// Returns the name and the script of each step of the workflow that runs one.
fn steps() -> Vec<(String, String)> {
    let text = read_to_string(workspace().join("examples/ci/release.yml")).unwrap();
    let mut lines = text.lines().peekable();
    let (mut name, mut steps) = (String::new(), vec![]);
    while let Some(line) = lines.next() {
        if let Some(given) = line.trim_start().strip_prefix("- name: ") {
            name = given.to_owned();
        }
        if let Some(script) = line.strip_prefix("        run: ") {
            let more = std::iter::from_fn(|| lines.next_if(|line| line.starts_with("          ")));
            let more: Vec<&str> = more.collect();
            steps.push((name.clone(), if script == "|" { more.join("\n") } else { script.to_owned() }));
        }
    }
    steps
}

/// Runs a script in `folder` as the workflow's shell does, with the tested command in its path.
fn shell(folder: &Path, script: &str) -> Output {
    let own = Path::new(env!("CARGO_BIN_EXE_scumble")).parent().unwrap();
    let path = format!("{}:{}", own.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("bash");
    command.args(["-e", "-c", script]).current_dir(folder).env("PATH", path);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap()
}

#[track_caller]
fn succeeds(folder: &Path, script: &str) -> String {
    let output = shell(folder, script);
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Creates a repository with records, a design and a ledger of ε = 3, which is pushed to `origin.git`.
fn private_repository() -> Files {
    let files = Files::new();
    files.good();
    std::fs::rename(files.path("data.csv"), files.path("records.csv")).unwrap();
    files.run("design direct --schema schema.toml --target colour --epsilon 2 --output design.json");
    files.run("ledger init --ledger ledger.json --dataset records --epsilon 3");
    let script = "git init --quiet --bare origin.git && git init --quiet --initial-branch main
        git remote add origin ./origin.git
        git config user.name owner && git config user.email owner@localhost
        git add records.csv design.json ledger.json && git commit --quiet --message records
        git push --quiet --set-upstream origin main";
    succeeds(&files.path(""), script);
    files
}

#[test]
fn the_workflow_pushes_the_charge_before_it_publishes() {
    let files = private_repository();
    let mut steps = steps();
    let install = steps.remove(0).1;
    let (command, package) =
        install.split_once(" --path scumble-source/").expect("a package of this workspace");
    assert_eq!((command, package), ("cargo install --locked", "scumble --no-default-features"));
    let names: Vec<&str> = steps.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["Show the budget", "Release", "Keep the charge"]);
    for (_, script) in &steps {
        succeeds(&files.path(""), script);
    }
    let pushed = succeeds(&files.path(""), "git --git-dir origin.git show main:ledger.json");
    assert_eq!((files.spent(), pushed), (2.0, files.read("ledger.json")));
    let text = read_to_string(workspace().join("examples/ci/release.yml")).unwrap();
    let (_, published) = text.split_once("upload-artifact").unwrap();
    for name in ["released.csv", "card.json"] {
        assert!(published.contains(name) && files.exists(name), "{name}");
    }
    // The next run exceeds the ledger's ε of 3, and stops at the release, before anything is pushed.
    std::fs::remove_file(files.path("released.csv")).unwrap();
    std::fs::remove_file(files.path("card.json")).unwrap();
    let refused = shell(&files.path(""), &steps[1].1);
    assert!(!refused.status.success() && !files.exists("released.csv"), "{refused:?}");
    assert_eq!(files.spent(), 2.0);
}
