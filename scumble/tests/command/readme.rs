//! What the README shows works, word for word.

use crate::Files;

const README: &str = include_str!("../../../README.md");

/// The wines in two columns, and the README's own schema of them.
fn wines() -> Files {
    let files = Files::new();
    for (at, file) in [(1, "wines.toml"), (2, "experiment.toml")] {
        let text = README.split("```toml\n").nth(at).unwrap().split("```").next().unwrap();
        files.write(file, text);
    }
    let wines = linfa_datasets::winequality();
    let rows = wines.records.outer_iter().zip(&wines.targets);
    let rows: String = rows
        .map(|(wine, &points)| format!("{},{}\n", wine[10], if points >= 6 { "good" } else { "bad" }))
        .collect();
    files.write("wines.csv", format!("alcohol,quality\n{rows}"));
    files
}

#[test]
fn its_commands_run_in_their_order() {
    let files = wines();
    let commands: Vec<&str> = README.lines().filter_map(|line| line.strip_prefix("$ scumble ")).collect();
    let names: Vec<&str> = commands.iter().map(|line| line.split(' ').next().unwrap()).collect();
    let expected = [
        "schema",
        "compare",
        "compare",
        "compare",
        "compare",
        "compare",
        "suite",
        "design",
        "release",
        "describe",
        "schema",
        "design",
        "release",
        "view",
        "design",
        "release",
        "collect",
        "design",
        "ledger",
        "release",
        "ledger",
        "design",
        "account",
        "account",
        "account",
        "account",
        "account",
        "solve",
        "solve",
        "solve",
        "describe",
        "audit",
        "audit",
        "reproduce",
        "reproduce",
    ];
    assert_eq!(names, expected);
    for command in commands {
        // Two trials say whether a comparison runs, and one task whether the suite does.
        let command = command.replacen("compare ", "compare --trials 2 ", 1);
        files.run(&command.replacen("suite --all", "suite iris --trials 2", 1));
    }
    assert!(files.read("experiment.html").contains("noise-aware logistic regression, l2_penalty = 10"));
    assert!(files.read("results/fisher-svm/figure-3.svg").starts_with("<svg"));
    // One line a mechanism, budget, model or adversary, and trial; and one a model, seven sizes in the clear, and trial.
    assert_eq!(files.read("experiment.cells.jsonl").lines().count(), (5 * (3 + 1) + 7 * 3) * 2);
    assert_eq!(files.read("released.csv").lines().next(), Some("alcohol,quality"));
    assert_eq!(files.read("collected.csv").lines().count(), 1600);
    assert_eq!(files.read("second.csv").lines().count(), 1600);
    assert!(
        files.run("ledger show --ledger ledger.json").contains("randomized-response 0.1.0 to second.csv")
    );
}

#[test]
fn its_accounts_and_its_audit_are_the_ones_that_are_printed() {
    for command in [
        "account dp-sgd --sampling-rate 0.01 --noise-multiplier 1 --steps 1000 --delta 1e-5",
        "account shuffle --epsilon-local 1 --people 32561 --delta 1e-6",
        "account laplace-accuracy --classes 10 --epsilon 2",
        "audit randomized-response --quick",
    ] {
        let shown = README.split(&format!("$ scumble {command}\n")).nth(1).unwrap();
        let shown = shown.split("\n$ ").next().unwrap().split("```").next().unwrap();
        let printed = Files::new().run(command);
        assert_eq!(printed.trim_end(), shown.trim_end());
    }
}

#[test]
fn its_card_is_the_one_that_is_printed() {
    let shown = README.split("$ scumble describe randomized-response\n...\n").nth(1).unwrap();
    let shown = shown.split("```").next().unwrap();
    let printed = Files::new().run("describe randomized-response");
    assert!(printed.contains(shown.trim_end()), "the README shows\n{shown}\nand printed is\n{printed}");
}

#[test]
fn its_result_of_a_paper_is_the_one_that_is_printed() {
    let shown =
        README.split("$ scumble reproduce fisher-svm/figure-3 --output results\n...\n").nth(1).unwrap();
    let shown = shown.split("\n...").next().unwrap();
    let printed = Files::new().run("reproduce fisher-svm/figure-3 --quick");
    assert!(printed.contains(shown), "the README shows\n{shown}\nand printed is\n{printed}");
}

#[test]
fn the_table_of_mechanisms_in_security_is_that_of_the_registry() {
    let table = Files::new().run("list --markdown");
    assert!(
        include_str!("../../../SECURITY.md").contains(table.trim_end()),
        "SECURITY.md has another table than `scumble list --markdown` prints:\n{table}"
    );
}
