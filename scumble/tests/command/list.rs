//! `scumble list` and `scumble describe`.

use crate::{json, run};

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
