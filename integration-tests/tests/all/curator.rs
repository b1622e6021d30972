//! A curator's mechanism through the command: a release that is public, and a key that is not.

use scumble::core::Registry;

use scumble::custody::{ShippedDesign, key};

use scumble::records::{OutOfBounds, Reader, Schema, csv};
use scumble_integration_tests as _; // the plugin
use std::path::Path;
use std::process::{Command, Output};

const SCHEMA: &str = r#"
column = [
    { name = "size", kind = "real", lower = 0.0, upper = 10.0 },
    { name = "colour", kind = "category", levels = ["red", "green"] },
]
"#;

const PASSPHRASE: &str = "correct horse battery staple";

struct Desk {
    folder: tempfile::TempDir,
}

fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("schema.toml", SCHEMA);
    write("data.csv", "colour,size\nred,1\ngreen,2.5\n");
    for name in ["keys", "public", "designs"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    let desk = Desk { folder };
    let line =
        "design offset --schema schema.toml --target colour --epsilon inf --output designs/design.json";
    assert!(desk.run(line).status.success());
    desk
}

impl Desk {
    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_with-curator"));
        command.current_dir(self.folder.path()).args(line.split_whitespace());
        command.env("SCUMBLE_PASSPHRASE", PASSPHRASE);
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    #[track_caller]
    fn refuses(&self, line: &str) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(2));
        assert!(!self.path("public/released.csv").exists());
        String::from_utf8(output.stderr).unwrap()
    }

    fn design(&self) -> ShippedDesign {
        ShippedDesign::read(&self.path("designs/design.json"), &Registry::installed().unwrap()).unwrap()
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

const RELEASE: &str = "release --design designs/design.json --input data.csv --output public/released.csv";

#[test]
fn the_key_is_saved_apart_and_opens_the_release() {
    let desk = desk();
    let output = desk.run(&format!("{RELEASE} --key keys/key.json --card public/card.json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let schema = Schema::from_toml(SCHEMA, "schema.toml").unwrap();
    let released = desk.path("public/released.csv");
    let read = |file: &Path, out_of_bounds| {
        let rows = csv::Rows::open(file).unwrap();
        Reader::new(rows, &schema, Some("colour"), out_of_bounds).unwrap().read_all().unwrap().table
    };
    let released = read(&released, OutOfBounds::Keep);
    let clean = read(&desk.path("data.csv"), OutOfBounds::Clip);
    let text = std::fs::read_to_string(desk.path("keys/key.json")).unwrap();
    let design = desk.design();
    let load = |text: &str, passphrase| key::load(text, passphrase, design.mechanism(), "key.json");
    let view = load(&text, PASSPHRASE).unwrap().view(&clean).unwrap();
    let difference = (view.records() - released.records()).mapv(f64::abs);
    // Offsets go up to 2³², so the tolerance is 1e-5.
    assert!(difference.iter().all(|d| *d < 1e-5), "{difference:?}");
    assert_ne!(view.records(), clean.records());
    assert!(!std::fs::read_to_string(desk.path("public/card.json")).unwrap().contains("4294"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(desk.path("keys/key.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may read the key");
    }
    assert!(!text.contains("offset"), "the secret can be read without the passphrase");
    let refused = |text: &str, passphrase| load(text, passphrase).unwrap_err().to_string();
    assert_eq!(
        refused(&text, "another passphrase"),
        "key.json: the key cannot be used: the passphrase is wrong, and nothing was read"
    );
    let changed = text.replacen("\"passes\": 3", "\"passes\": 4", 1);
    assert_ne!(changed, text);
    assert!(refused(&changed, PASSPHRASE).contains("changed after it was saved"));
}

#[test]
fn a_key_needs_a_passphrase_that_is_not_tried_out_in_no_time() {
    let desk = desk();
    let run = |passphrase: Option<&str>| {
        let mut command = desk.command(&format!("{RELEASE} --key keys/key.json"));
        command.env_remove("SCUMBLE_PASSPHRASE").envs(passphrase.map(|text| ("SCUMBLE_PASSPHRASE", text)));
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!desk.path("public/released.csv").exists() && !desk.path("keys/key.json").exists());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(run(None).contains("--passphrase-file FILE"));
    assert!(run(Some("secret")).contains("8 characters or more"));
    std::fs::write(desk.path("keys/passphrase"), "a longer one\n").unwrap();
    let line = format!("{RELEASE} --key keys/key.json --passphrase-file keys/passphrase");
    assert!(desk.run(&line).status.success());
    let text = std::fs::read_to_string(desk.path("keys/key.json")).unwrap();
    assert!(key::load(&text, "a longer one", desk.design().mechanism(), "key.json").is_ok());
}

#[test]
fn a_key_next_to_the_release_the_card_or_the_design_is_refused() {
    let desk = desk();
    for (key, what) in [
        ("public/key.json", "release"),
        ("keys/../public/key.json", "release"),
        ("designs/key.json", "design"),
    ] {
        let message = desk.refuses(&format!("{RELEASE} --key {key}"));
        assert!(message.contains(&format!("in the folder of the {what}")), "{message}");
        assert!(!desk.path(key).exists());
    }
    let message = desk.refuses(&format!("{RELEASE} --key keys/key.json --card keys/card.json"));
    assert!(message.contains("in the folder of the card"), "{message}");
}

#[test]
fn a_release_without_its_key_is_refused_and_a_key_is_never_replaced() {
    let desk = desk();
    assert!(desk.refuses(RELEASE).contains("--key"));
    std::fs::write(desk.path("keys/key.json"), "another's").unwrap();
    let message = desk.refuses(&format!("{RELEASE} --key keys/key.json --force"));
    assert!(message.contains("keys/key.json already exists, and is not overwritten"), "{message}");
    assert_eq!(std::fs::read_to_string(desk.path("keys/key.json")).unwrap(), "another's");
}

#[test]
fn what_has_no_guarantee_costs_more_than_any_ledger_holds() {
    let desk = desk();
    assert!(desk.run("ledger init --ledger keys/ledger.json --dataset d --epsilon 1000").status.success());
    let message =
        desk.refuses(&format!("{RELEASE} --key keys/key.json --ledger keys/ledger.json --dataset d"));
    assert!(message.contains("ε = inf"), "{message}");
    assert!(!Path::new(&desk.path("keys/key.json")).exists());
}

/// Checks that new columns follow the columns of the schema, and that the latter are unchanged.
#[test]
fn records_times_a_secret_matrix_are_written_under_names_of_their_own() {
    let desk = desk();
    let design = "design column-space --schema schema.toml --target colour --protect features --epsilon inf \
        --output designs/design.json --force";
    assert!(desk.run(design).status.success());
    let output = desk.run(&format!("{RELEASE} --key keys/key.json --card public/card.json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let released = std::fs::read_to_string(desk.path("public/released.csv")).unwrap();
    let rows: Vec<Vec<&str>> = released.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["colour", "released 1"]);
    assert_eq!([rows[1][0], rows[2][0]], ["red", "green"]);
    // The unit-length basis of the space spanned by 0.1 and 0.25.
    let [one, other] = [1, 2].map(|row: usize| rows[row][1].parse::<f64>().unwrap());
    assert!((other / one - 2.5).abs() < 1e-12 && (one.hypot(other) - 1.0).abs() < 1e-12, "{one}, {other}");
    let card = std::fs::read_to_string(desk.path("public/card.json")).unwrap();
    assert!(card.contains("ambiguity-set") && card.contains("\"epsilon\": null"), "{card}");
}
