//! `scumble list` and `scumble describe`.

use crate::{Files, json, run};

#[test]
fn the_list_and_the_descriptions_agree() {
    let list = json("list --json");
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, scumble::built_in::NAMES);
    let text = run("list");
    for name in names {
        assert!(text.contains(name), "{text}");
        let card = run(&format!("describe {name}"));
        assert!(card.starts_with(name) && card.contains("guarantee"), "{card}");
        let described = json(&format!("describe {name} --json"));
        assert_eq!(described["name"], name);
        assert!(described["parameters"].is_object() && described["example"]["guarantee"].is_object());
    }
}

/// The command that `describe` prints runs as printed, but for the names of the schema, the target and the
/// volunteers' file.
#[test]
fn the_printed_design_command_runs() {
    for (name, data, target) in [
        ("private-logistic", "iris", "species"),
        ("private-additive", "diabetes", "progression"),
        ("noisy-marginals", "iris", "species"),
        ("mst", "iris", "species"),
        ("private-ridge", "diabetes", "progression"),
        ("gaussian", "iris", "species"),
        ("pair-response", "iris", "species"),
    ] {
        let files = Files::new();
        files.run(&format!("schema --data {data} --output public.toml"));
        let described = files.run(&format!("describe {name}"));
        let mut commands = described.lines().map(str::trim);
        let command = commands.find_map(|line| line.strip_prefix("scumble design ")).unwrap();
        let command = command.replace("schema.toml", "public.toml").replace("COLUMN", target);
        files.run(&format!("design {command} --people 500"));
        assert!(files.all().contains(&"design.json".to_owned()), "{name}: {command}");
    }
}
