//! `scumble completions` and `scumble man`.

use crate::Files;

#[test]
fn shells_complete_every_subcommand_and_option() {
    let files = Files::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = files.run(&format!("completions {shell}"));
        for expected in ["compare", "release-alone", "suite", "unlabelled"] {
            assert!(script.contains(expected), "{shell} does not complete {expected:?}");
        }
    }
    assert!(files.refuses("completions bsh").contains("bash"));
}

#[test]
fn the_manual_has_a_page_for_every_subcommand() {
    let files = Files::new();
    let page = files.run("man");
    assert!(page.contains(".TH scumble 1") && page.contains("compare"), "{page}");
    files.run("man --output manual");
    let compare = files.read("manual/scumble-compare.1");
    assert!(compare.contains("\\-\\-mechanism") && compare.contains("volunteers"), "{compare}");
    let help = files.run("help");
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(names.len() > 15, "{help}");
    for name in names.iter().filter(|name| !name.is_empty() && **name != "help") {
        assert!(files.exists(&format!("manual/scumble-{name}.1")), "{name} has no page");
    }
}
