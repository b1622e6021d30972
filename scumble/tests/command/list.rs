//! `scumble list` and `scumble describe`.

use crate::{json, scumble};

#[test]
fn the_list_and_the_descriptions_agree() {
    let list = json(&["list", "--json"]);
    let names: Vec<&str> = list.as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, scumble::built_in::NAMES);
    let text = String::from_utf8(scumble(&["list"]).stdout).unwrap();
    for name in names {
        assert!(text.contains(name), "{text}");
        let card = String::from_utf8(scumble(&["describe", name]).stdout).unwrap();
        assert!(card.starts_with(name) && card.contains("guarantee"), "{card}");
        let described = json(&["describe", name, "--json"]);
        assert_eq!(described["name"], name);
        assert!(described["parameters"].is_object() && described["example"]["guarantee"].is_object());
    }
}
