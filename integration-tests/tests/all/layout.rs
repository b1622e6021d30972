//! The layout of the workspace: files of a crate have no cyclic imports, and crates depend only on lower
//! layers.

use crate::workspace;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{read_dir, read_to_string};
use std::path::Path;
use toml::Table;

/// Layers of the architecture and their crates, from the lowest to the highest. The last layer is not
/// published.
const LAYERS: [&[&str]; 8] = [
    &["solvers/"],
    &["registry/core"],
    &["registry/noise"],
    &[
        "registry/records",
        "registry/custody",
        "registry/servers",
        "registry/parquet",
        "registry/arrow",
        "registry/tables",
        "models/",
    ],
    &["registry/testing", "mechanisms/"],
    &["evaluation/"],
    &["papers", "scumble"],
    &["benches", "examples/", "guide", "integration-tests", "integration-tests/"],
];

/// Imports of each module of a crate, by module path.
type Imports = BTreeMap<String, BTreeSet<String>>;

type Modules = BTreeMap<Vec<String>, Module>;

/// Paths in its crate that a module names, and paths that it imports, so that other modules may import them
/// from it.
#[derive(Default)]
struct Module {
    named: Vec<Vec<String>>,
    imported: Vec<Vec<String>>,
}

fn manifest(folder: &Path) -> Table {
    read_to_string(folder.join("Cargo.toml")).unwrap().parse().unwrap()
}

/// Returns the folders of the workspace's crates, as listed in its manifest.
fn crates() -> Vec<String> {
    let manifest = manifest(&workspace());
    let members = manifest["workspace"]["members"].as_array().unwrap().iter();
    let folders = members.flat_map(|member| match member.as_str().unwrap().strip_suffix("/*") {
        Some(parent) => {
            entries(&workspace().join(parent)).iter().map(|name| format!("{parent}/{name}")).collect()
        }
        None => vec![member.as_str().unwrap().to_owned()],
    });
    folders.filter(|folder| workspace().join(folder).join("Cargo.toml").exists()).collect()
}

fn entries(folder: &Path) -> Vec<String> {
    let names = read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Collects the source files in a folder by module path. The path of the root is empty; a binary beside a
/// library is left out.
fn sources(folder: &Path, module: &[String], found: &mut BTreeMap<Vec<String>, String>) {
    for name in entries(folder) {
        let path = folder.join(&name);
        let within = |name: &str| [module, &[name.to_owned()]].concat();
        match name.strip_suffix(".rs") {
            None if path.is_dir() && name != "bin" => sources(&path, &within(&name), found),
            Some("main") if folder.join("lib.rs").exists() => {}
            Some("tests") => {}
            Some("lib" | "main" | "mod") => {
                _ = found.insert(module.to_owned(), read_to_string(path).unwrap())
            }
            Some(stem) => _ = found.insert(within(stem), read_to_string(path).unwrap()),
            None => {}
        }
    }
}

/// Strips comments and items that are compiled only for tests. Such an item ends at the column at which it
/// began.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut skipped: Option<usize> = None;
    for line in text.lines().map(|line| line.split("//").next().unwrap().trim_end()) {
        let column = line.len() - line.trim_start().len();
        match skipped {
            None if line.trim_start() == "#[cfg(test)]" => skipped = Some(column),
            None => kept += &format!("{line}\n"),
            Some(start) if column == start && line.ends_with(['}', ';']) => skipped = None,
            Some(_) => {}
        }
    }
    kept
}

/// Returns the paths of a tree of imports: `a::{b, c::d}` has the paths `a::b` and `a::c::d`.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim_start();
    let end = tree.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(tree.len());
    let head: Vec<String> =
        tree[..end].split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    match tree[end..].strip_prefix('{') {
        Some(group) => {
            parts(group).into_iter().flat_map(paths).map(|tail| [&head[..], &tail].concat()).collect()
        }
        None => vec![head],
    }
}

/// Returns the trees in a group of imports, up to its closing brace.
fn parts(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        if depth == 0 && matches!(c, ',' | '}') {
            parts.push(&group[start..at]);
            start = at + 1;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ => {}
        }
    }
    parts
}

/// Converts a path in `module` to a path from the crate's root.
fn absolute(module: &[String], mut path: Vec<String>) -> Vec<String> {
    let mut base = module.to_owned();
    match path.first().map(String::as_str) {
        Some("crate") => base.clear(),
        Some("super") => _ = base.pop(),
        Some("self") => {}
        _ => return [base, path].concat(),
    }
    path.remove(0);
    if path.first().is_some_and(|name| name == "super") {
        absolute(&base, path)
    } else {
        [base, path].concat()
    }
}

/// Reads the text of a module.
fn read(module: &[String], text: &str) -> Module {
    let text = without_tests(text);
    let at = |word: &str| text.match_indices(word).map(|(at, _)| at).collect::<Vec<_>>();
    let is_first = |at: &usize| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || "_$:".contains(c));
    let is_item = |at: &usize| {
        let before = text[..*at].rsplit('\n').next().unwrap();
        before.is_empty() || before.starts_with("pub")
    };
    let trees = |at: usize| paths(&text[at..]).into_iter().map(|path| absolute(module, path));
    Module {
        named: [at("crate::"), at("super::")].concat().into_iter().filter(is_first).flat_map(trees).collect(),
        imported: at("use ").into_iter().filter(is_item).flat_map(|at| trees(at + "use ".len())).collect(),
    }
}

/// Returns the module that defines the item at `path`, followed through all re-imports.
fn defining(modules: &Modules, path: &[String]) -> Vec<String> {
    let depth = (0..=path.len()).rev().find(|depth| modules.contains_key(&path[..*depth])).unwrap_or(0);
    let (module, rest) = path.split_at(depth);
    let again = rest.first().and_then(|name| {
        let mut imported = modules.get(module)?.imported.iter();
        imported.find(|other| other.last() == Some(name) && other[..] != path[..depth + 1])
    });
    again.map_or(module.to_owned(), |path| defining(modules, path))
}

/// Returns the imports between the modules of a crate. Imports between a module and its submodules do not
/// count.
fn imports(texts: &BTreeMap<Vec<String>, String>) -> Imports {
    let modules: Modules = texts.iter().map(|(module, text)| (module.clone(), read(module, text))).collect();
    let imported = |module: &Vec<String>| {
        let defining = modules[module].named.iter().map(|path| defining(&modules, path));
        let others = defining.filter(|other| !other.starts_with(module) && !module.starts_with(other));
        others.map(|other| other.join("::")).collect()
    };
    texts.keys().map(|module| (module.join("::"), imported(module))).collect()
}

/// Finds a cycle of imports, from a module back to itself.
fn circle(imports: &Imports) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|start| circle_from(start, imports, &mut Vec::new(), &mut done))
}

fn circle_from(
    module: &String,
    imports: &Imports,
    way: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) -> Option<Vec<String>> {
    if let Some(first) = way.iter().position(|other| other == module) {
        return Some([&way[first..], std::slice::from_ref(module)].concat());
    }
    if !done.insert(module.clone()) {
        return None;
    }
    way.push(module.clone());
    let found = imports[module].iter().find_map(|other| circle_from(other, imports, way, done));
    way.pop();
    found
}

#[test]
fn files_of_a_crate_import_each_other_in_no_circle() {
    for folder in crates() {
        let mut texts = BTreeMap::new();
        sources(&workspace().join(&folder).join("src"), &[], &mut texts);
        if let Some(circle) = circle(&imports(&texts)) {
            panic!("files of {folder} import each other in a circle: {}", circle.join(" -> "));
        }
    }
}

/// Detects a cycle of three files: by a module's name, by a name of the root, and from a group. Imports in
/// tests do not count.
#[test]
fn a_circle_is_found() {
    let mut texts = BTreeMap::from(
        [
            (vec![], "mod a;\nmod b;\nmod c;\npub use c::{C, Other};\n"),
            (vec!["a".to_owned()], "use crate::b::B;\n"),
            (vec!["b".to_owned()], "use crate::{C, Missing};\n"),
            (vec!["c".to_owned()], "use super::{\n    d::{self},\n    a::A,\n};\n"),
        ]
        .map(|(module, text)| (module, text.to_owned())),
    );
    assert_eq!(circle(&imports(&texts)).unwrap(), ["a", "b", "c", "a"]);
    let tests = "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n// crate::a::A\n";
    texts.insert(vec!["c".to_owned()], tests.to_owned());
    assert_eq!(circle(&imports(&texts)), None);
}

/// Returns the layer of a folder.
fn layer(folder: &str) -> usize {
    let holds = |place: &&str| folder == *place || (place.ends_with('/') && folder.starts_with(*place));
    let found = LAYERS.iter().position(|places| places.iter().any(&holds));
    found.unwrap_or_else(|| panic!("no layer is known for {folder}"))
}

#[test]
fn crates_depend_on_those_below_them() {
    let workspace_manifest = manifest(&workspace());
    let known = workspace_manifest["workspace"]["dependencies"].as_table().unwrap();
    for folder in crates() {
        let manifest = manifest(&workspace().join(&folder));
        let dependencies = manifest.get("dependencies").and_then(|table| table.as_table());
        let names = dependencies.into_iter().flat_map(|table| table.keys());
        for path in names.filter_map(|name| known.get(name)?.get("path")?.as_str()) {
            assert!(layer(path) <= layer(&folder), "{folder} depends on {path}, which is in a layer above");
            assert!(layer(path) < LAYERS.len() - 1, "{folder} depends on {path}, which ships nothing");
        }
    }
}
