//! `scumble compare --html`: the page as a file, and in a browser.
//!
//! The browser is a headless Chromium. Without one, the tests that need it report this and are skipped.

use crate::{Files, succeeded};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the means in cells that sort as numbers, in the order of the page.
fn numbers(page: &str) -> Vec<f64> {
    let cells = page.split(" data-value=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    cells.map(|text| if text.is_empty() { f64::NAN } else { text.parse().unwrap() }).collect()
}

/// Experiment with two models, two metrics of each, two metrics of the adversary, and three candidates, one
/// of them without a budget.
const EXPERIMENT: &str = "trials = 6\nepsilon = [1, 8, inf]\n\
    metrics = [\"rmse\", \"mae\", \"recovered\", \"unbiased-error\"]\n\
    [data]\ninput = \"data.csv\"\nschema = \"schema.toml\"\ntarget = \"price\"\n\
    [[mechanism]]\nname = \"identity\"\n\
    [[mechanism]]\nname = \"laplace\"\ngrid = { protect = [\"label\", \"record\"] }\n\
    [[model]]\nname = \"ridge\"\ngrid = { l2_penalty = [0.01, 1] }\n";

fn experiment() -> Files {
    let files = Files::new();
    files.good();
    files.write("exp.toml", EXPERIMENT);
    files
}

#[test]
fn the_numbers_of_the_page_are_those_of_the_json() {
    let files = experiment();
    let outcome = files.json("compare --json --config exp.toml --html page.html");
    let rows = crate::all_rows(&outcome);
    assert_eq!(rows.len(), 7 * (2 * 2 + 2));
    let number = |value: &Value| match value {
        Value::Null => f64::NAN,
        Value::String(text) => text.parse().unwrap(),
        value => value.as_f64().unwrap(),
    };
    // Mechanisms without a budget are listed separately, once.
    let with_budget = rows.iter().filter(|row| !row["epsilon"].is_null());
    let mut expected: Vec<f64> = with_budget.map(|row| number(&row["mean"])).collect();
    let mut found = numbers(&files.read("page.html"));
    for numbers in [&mut expected, &mut found] {
        numbers.sort_by(f64::total_cmp);
    }
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert!(
            found == expected || (found.is_nan() && expected.is_nan()),
            "{found} where {expected} is right"
        );
    }
}

/// Checks that the files embedded in a page hold the numbers of the JSON, and the same rows as CSV.
#[test]
fn a_page_holds_its_numbers_as_files() {
    use base64::{Engine, prelude::BASE64_STANDARD};
    let files = experiment();
    let outcome = files.json("compare --json --config exp.toml --html page.html");
    let page = files.read("page.html");
    let held = |kind: &str| {
        let start = page.split(&format!("href=\"data:{kind};base64,")).nth(1).unwrap();
        String::from_utf8(BASE64_STANDARD.decode(start.split('"').next().unwrap()).unwrap()).unwrap()
    };
    assert_eq!(serde_json::from_str::<Value>(&held("application/json")).unwrap(), outcome);
    let table = held("text/csv");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let expected = crate::all_rows(&outcome);
    assert_eq!(rows.len(), expected.len());
    let (with, without): (Vec<_>, Vec<_>) = rows.iter().partition(|row| &row[23] == "true");
    for (row, expected) in with.into_iter().chain(without).zip(&expected) {
        assert_eq!(row[23].parse::<bool>().ok(), expected["dp"].as_bool());
        assert_eq!(row[24], outcome["warning"].as_str().unwrap().to_owned());
        assert_eq!(&row[0], expected["mechanism"].as_str().unwrap());
        assert_eq!(&row[3], expected["model"].as_str().unwrap());
        assert_eq!(row[6].parse::<f64>().ok(), expected["mean"].as_f64());
        assert_eq!(row[8].parse::<f64>().ok(), expected["bound"].as_f64());
    }
}

#[test]
fn a_page_says_what_is_guaranteed_and_how_it_was_made() {
    let files = experiment();
    files.run("compare --config exp.toml --html page.html --seed 3");
    // Each option of a command is in a box that is not broken.
    let page = files.read("page.html");
    assert!(page.contains(" <span class=\"option\">--seed 3</span></pre>"));
    let page = page.replace("<span class=\"option\">", "").replace("</span>", "");
    for expected in [
        "<h1>The cost of privacy: “price” learned from data.csv</h1>",
        "<pre class=\"command\">scumble compare --config exp.toml --html page.html --seed 3</pre>",
        "grid = { protect = [&quot;label&quot;, &quot;record&quot;] }",
        "<dt class=\"first\">guarantee</dt><dd>ε = 1 local differential privacy for the whole record</dd>",
        "<dt class=\"first\">guarantee</dt><dd>ε = 8 local differential privacy for the label (label \
         DP)</dd>",
        "<dt>discloses</dt><dd>the features of every record, in the clear</dd>",
        "laplace 0.1.0",
        "<dt>seed</dt><dd>3</dd>",
        "<pre class=\"command\">scumble design laplace --schema schema.toml --target price --epsilon 8 \
         --delta 0.000001 --protect label --set 'protect=label' --output design.json</pre>",
        "Without differential privacy, the same at every ε",
    ] {
        assert!(page.contains(expected), "{expected:?} is missing");
    }
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 2 * 2 + 2 + 2);
    assert_eq!(page.matches("<details class=\"card\"").count(), 3);
    assert!(!page.contains("<details class=\"card\" open"));
}

/// Checks the lines below the recommendations, and the scale of a chart with a score far beyond it.
#[test]
fn a_page_describes_the_mechanisms_and_marks_scores_beyond_the_scale() {
    let files = Files::new();
    let wines = "compare --trials 10 --epsilon 8 --mechanism pair-response --html page.html";
    files.run(wines);
    let page = files.read("page.html");
    for expected in [
        "<li>pair-response: report of one random column and the label",
        "<code>scumble collect --design design.json --reports reports.csv --output collected.csv</code>",
    ] {
        assert!(page.contains(expected), "{expected:?} is missing");
    }
    let line = "compare --trials 4 --epsilon 0.1,100 --mechanism laplace --metric r2 --input data.csv \
                --schema schema.toml --target price";
    files.good();
    let outcome = files.json(&format!("{line} --json --svg chart.svg"));
    let r2: Vec<f64> = crate::all_rows(&outcome).iter().map(|row| row["mean"].as_f64().unwrap()).collect();
    assert!(r2[0] < -1000.0 && r2[1] > 0.9, "{r2:?}");
    // The clean records have an R² of 1, and the baseline has one of about 0, so the scale starts near −1.
    let chart = files.read("chart.svg");
    assert!(chart.contains(&format!(">{:.4}</text>", r2[0])), "{chart}");
    let lowest = chart.split("text-anchor=\"end\">").nth(2).unwrap().split('<').next().unwrap();
    assert!((-1.5..=-1.0).contains(&lowest.parse().unwrap()), "{lowest}");
}

/// Checks that the chart names every mechanism with differential privacy, and shows no other.
#[test]
fn the_chart_is_a_file_of_its_own() {
    let files = experiment();
    files.run("compare --config exp.toml --svg chart.svg --csv rows.csv");
    let chart = files.read("chart.svg");
    assert!(chart.starts_with("<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\""), "{chart}");
    for expected in [
        "--s0: #",
        "data-series=\"laplace, protect = label\"",
        ">mean baseline</text>",
        ">in the clear</text>",
    ] {
        assert!(chart.contains(expected), "{expected:?} is missing:\n{chart}");
    }
    assert!(!chart.contains("identity") && !chart.contains("NaN"), "{chart}");
    assert_eq!(files.read("rows.csv").lines().count(), 1 + 7 * (2 * 2 + 2));
    assert_eq!(
        files.refuses("compare --config exp.toml --svg chart.svg"),
        "chart.svg already exists; --force replaces it"
    );
}

#[test]
fn a_page_that_exists_stays_unless_it_may_be_replaced() {
    let files = Files::new();
    files.write("page.html", "old");
    // The number of trials is so large that a refusal after them would time out.
    let refused = files.refuses("compare --html page.html --trials 100000");
    assert_eq!(refused, "page.html already exists; --force replaces it");
    assert_eq!(files.read("page.html"), "old");
    assert!(
        files.refuses("compare --html no/page.html --trials 100000").contains("no/page.html: No such file")
    );
    files.run("compare --html page.html --force --trials 1 --epsilon 1 --mechanism identity");
    assert!(files.read("page.html").starts_with("<!DOCTYPE html>"));
    assert_eq!(files.all(), ["page.html", "schema.toml"]);
    files.write("exp.toml", "");
    let read = files.refuses("compare --config exp.toml --html exp.toml --force");
    assert_eq!(read, "exp.toml: this is an input file; refusing to overwrite it");
    let same = files.refuses("compare --config exp.toml --html a --cells a");
    assert_eq!(same, "a: the file is given as two different outputs");
}

/// Creates a page with names that try to break out of HTML, attributes and scripts.
fn hostile() -> (Files, PathBuf) {
    const COLUMN: &str = "</script><script>hostile = 1</script>";
    const LEVEL: &str = "\"><img src=x onerror='hostile = 1'>";
    let files = Files::new();
    let schema = format!(
        "column = [{{ name = '''{COLUMN}''', kind = \"category\", levels = ['''{LEVEL}''', \"b\"] }},\n\
         {{ name = \"x\", kind = \"real\", lower = 0.0, upper = 1.0 }}]"
    );
    let schema = files.write("<b onclick=hostile()>&'.toml", schema);
    let cell = format!("\"{}\"", LEVEL.replace('"', "\"\""));
    let rows: String =
        (0..20).map(|row| format!("{},0.{row}\n", if row % 2 == 0 { &cell } else { "b" })).collect();
    let input = files.write("<script>hostile = 1;.csv", format!("{COLUMN},x\n{rows}"));
    let mut command = files.command("compare --trials 2 --epsilon 1,inf --html page.html --target");
    succeeded(command.args([COLUMN, "--input"]).arg(input).arg("--schema").arg(schema));
    let page = files.path("page.html");
    (files, page)
}

#[test]
fn hostile_names_do_not_break_out() {
    let (files, _) = hostile();
    let page = files.read("page.html");
    assert_eq!(page.matches("<script").count(), 1, "the page's own, and no other");
    assert_eq!(page.matches("</script").count(), 1);
    assert!(!page.contains("<img") && !page.contains("<b "), "{page}");
    assert!(page.contains("&lt;script&gt;hostile"));
}

#[test]
fn a_page_asks_nothing_of_the_network() {
    let files = experiment();
    files.run("compare --config exp.toml --html page.html");
    let page = files.read("page.html");
    // A click saves the embedded files, so they cause no request.
    let page = page.replace(" href=\"data:", "");
    // The name space is the only address in the page.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for loading in [" src=", " href=", "url(", "@import", "<link", "<iframe", "://", "fetch(", "XMLHttp"] {
        assert!(!page.contains(loading), "{loading:?} is in the page");
    }
}

fn chromium() -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let found = places.find(|place| place.is_file());
    if found.is_none() {
        scumble_testing::skipped("no Chromium is installed, so no browser has seen the page");
    }
    found
}

/// Observations of a browser on a page.
struct Visit {
    /// Document after all scripts have run.
    dom: String,
    /// Lines written to the console, including errors of scripts.
    console: Vec<String>,
}

/// Returns a headless browser with its own profile folder.
fn browser(chromium: &Path, profile: &Path) -> Command {
    let mut command = Command::new(chromium);
    command
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
        ])
        .arg(format!("--user-data-dir={}", profile.display()));
    command
}

fn visit(chromium: &Path, page: &Path) -> Visit {
    let profile = tempfile::tempdir().unwrap();
    let output = browser(chromium, profile.path())
        .args([
            "--enable-logging=stderr",
            "--virtual-time-budget=2000",
            "--dump-dom",
            "--window-size=1300,1000",
        ])
        .arg(page)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let console = stderr.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    Visit { dom: String::from_utf8(output.stdout).unwrap(), console }
}

/// Findings of the test's script on a page.
#[derive(Debug, Deserialize)]
struct Findings {
    title: String,
    charts: usize,
    labelled: bool,
    /// Number of points with a non-empty box, for each series.
    points: Vec<usize>,
    /// Column contents after one click and after two, for each header.
    sorted: Vec<Sorted>,
    legend: usize,
    /// Files saved by the buttons of the first chart: their names and first characters.
    saved: Vec<(String, String)>,
    /// True if every command has a button.
    copied: bool,
    scripts: usize,
    requests: usize,
    hostile: bool,
    window: f64,
    document: f64,
}

#[derive(Debug, Deserialize)]
struct Sorted {
    head: String,
    states: Vec<String>,
    columns: Vec<Vec<String>>,
}

const SCRIPT: &str = concat!(
    r#"<script>
addEventListener("load", async () => {
  const saved = [];
  HTMLAnchorElement.prototype.click = function () { saved.push([this.download, this.href.slice(0, 18)]); };
  const table = document.querySelector("table.sortable");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  all("details").forEach((closed) => closed.open = true);
  all(".tools")[0]?.querySelectorAll("button").forEach((button) => button.click());
  for (let wait = 0; wait < 50 && saved.length < 2; wait++) await new Promise((done) => setTimeout(done, 20));
  const sorted = all("thead th", table).map((head, at) => {
    const states = [], columns = [];
    for (const click of [1, 2]) {
      head.querySelector("button").click();
      states.push(all("thead th", table).map((other) => other.ariaSort).join(" "));
      columns.push([...table.tBodies[0].rows].map((row) => "#,
    r#"row.cells[at].dataset.value ?? row.cells[at].textContent));
    }
    return { head: head.textContent, states, columns };
  });
  const findings = {
    title: document.title,
    charts: all("svg.chart").length,
    labelled: all("svg.chart").every((chart) => "#,
    r#"chart.getAttribute("role") === "img" && chart.querySelector("title").textContent),
    points: all("svg.chart .series").map((series) => all(".point", series).filter((point) => {
      const box = point.getBoundingClientRect();
      return box.width > 0 && box.height > 0;
    }).length),
    sorted,
    legend: all(".legend li").length,
    saved,
    copied: all("pre.command").every((command) => command.nextElementSibling?.matches("button.copy")),
    scripts: document.scripts.length,
    requests: performance.getEntriesByType("resource").length,
    hostile: "hostile" in window,
    window: innerWidth,
    document: document.documentElement.scrollWidth,
  };
  parent.postMessage(JSON.stringify(findings), "*");
});
</script>"#
);

/// Returns a page that frames the copy at any width, which a browser window cannot have. It writes down the
/// script's message.
fn frame(width: u32) -> String {
    let listener = concat!(
        r#"addEventListener("message", (said) => "#,
        r#"{ document.getElementById("findings").textContent = said.data; });"#
    );
    format!(
        r#"<!DOCTYPE html><pre id="findings"></pre><script>
        {listener}
        </script><iframe src="copy.html" width="{width}" height="900" style="border: 0"></iframe>"#
    )
}

/// Returns the script's findings on a copy of the page, in a window of the given width.
fn findings(chromium: &Path, page: &Path, width: u32) -> Findings {
    let [copy, framed] = ["copy.html", "frame.html"].map(|name| page.with_file_name(name));
    std::fs::write(&copy, std::fs::read_to_string(page).unwrap() + SCRIPT).unwrap();
    std::fs::write(&framed, frame(width)).unwrap();
    let Visit { dom, console } = visit(chromium, &framed);
    assert_eq!(console, [""; 0], "something was written to the console");
    let found =
        dom.split("<pre id=\"findings\">").nth(1).unwrap_or_else(|| panic!("the script did not end: {dom}"));
    let found = found.split("</pre>").next().unwrap();
    let found =
        found.replace("&lt;", "<").replace("&gt;", ">").replace("&nbsp;", "\u{a0}").replace("&amp;", "&");
    serde_json::from_str(&found).unwrap()
}

/// Number of points in each series of the experiment's charts: eight charts of two series, at three budgets.
fn points() -> Vec<usize> {
    vec![3; 8 * 2]
}

/// Counts the pixels of each colour in a screenshot of the page, in a window of the given width.
fn screenshot(chromium: &Path, page: &Path, width: u32) -> BTreeMap<[u8; 3], usize> {
    let profile = tempfile::tempdir().unwrap();
    let picture = page.with_extension("png");
    let status = browser(chromium, profile.path())
        .args(["--force-device-scale-factor=1", "--force-color-profile=srgb"])
        .arg(format!("--window-size={width},4000"))
        .arg(format!("--screenshot={}", picture.display()))
        .arg(page)
        .output()
        .unwrap();
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stderr));
    let file = std::io::BufReader::new(std::fs::File::open(&picture).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let frame = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((frame.width, frame.height), (width, 4000));
    let mut counts = BTreeMap::new();
    for pixel in pixels[..frame.buffer_size()].chunks(frame.color_type.samples()) {
        *counts.entry([pixel[0], pixel[1], pixel[2]]).or_insert(0) += 1;
    }
    counts
}

/// Returns the colour of a class of series on white paper, from the page's style.
fn ink(page: &str, class: &str) -> [u8; 3] {
    let colour =
        page.split(&format!("--{class}: #")).nth(1).unwrap_or_else(|| panic!("{class} has no colour"));
    [0, 2, 4].map(|at| u8::from_str_radix(&colour[at..at + 2], 16).unwrap())
}

/// Checks rendered pixels instead of the document: every series appears in its colour on white paper, and
/// disappears when the charts are hidden.
#[test]
fn a_screenshot_shows_every_series_in_its_ink() {
    let Some(chromium) = chromium() else { return };
    let files = experiment();
    files.run("compare --config exp.toml --html page.html");
    let page = files.read("page.html");
    let shown = screenshot(&chromium, &files.path("page.html"), 1100);
    assert!(shown[&[255; 3]] > 1100 * 4000 / 2, "most of it is paper");
    let bare = page.replace("</style>", "svg { visibility: hidden }</style>");
    let bare = screenshot(&chromium, &files.write("bare.html", bare), 1100);
    for class in ["s0", "s1"] {
        let seen = |counts: &BTreeMap<[u8; 3], usize>| counts.get(&ink(&page, class)).copied().unwrap_or(0);
        // Two charts, each with a name, a mark in the legend and three marks on a line.
        assert!(seen(&shown) > 500, "{class}: {} pixels", seen(&shown));
        assert!(seen(&bare) < seen(&shown) / 10, "{class}: {} pixels without a chart", seen(&bare));
    }
}

/// Returns true if a column is sorted in ascending order, numbers by value.
fn is_sorted(column: &[String]) -> bool {
    match column.iter().map(|text| text.parse().ok()).collect::<Option<Vec<f64>>>() {
        Some(numbers) => numbers.is_sorted(),
        None => column.is_sorted_by_key(|text| text.to_lowercase()),
    }
}

#[test]
fn a_browser_shows_the_charts_and_sorts_the_table() {
    let Some(chromium) = chromium() else { return };
    let files = experiment();
    files.run("compare --config exp.toml --html page.html");
    let found = findings(&chromium, &files.path("page.html"), 1100);
    assert_eq!(found.title, "The cost of privacy: “price” learned from data.csv");
    assert_eq!((found.charts, found.legend, found.labelled), (8, 8 * 2, true));
    assert_eq!(found.points, points());
    let name = "root-mean-squared-error-by-ridge-regression-l2-penalty-0-01-against";
    let saved = [(".svg", "data:image/svg+xml"), (".png", "data:image/png;bas")];
    let saved = saved.map(|(kind, begins)| (format!("{name}{kind}"), begins.to_owned()));
    assert_eq!((found.saved, found.copied), (saved.to_vec(), true));
    assert_eq!((found.scripts, found.requests), (2, 0));
    let heads: Vec<&str> = found.sorted.iter().map(|sorted| sorted.head.as_str()).collect();
    let expected = ["mechanism", "protects", "ε = 1", "ε = 8", "ε = ∞"];
    assert_eq!(heads, expected);
    for (at, Sorted { head, states, columns }) in found.sorted.iter().enumerate() {
        let state = |now: &str| {
            let states: Vec<&str> = (0..5).map(|other| if other == at { now } else { "none" }).collect();
            states.join(" ")
        };
        assert_eq!(states, &[state("ascending"), state("descending")], "{head}");
        for (column, is_upward) in columns.iter().zip([true, false]) {
            // Empty cells are last in either direction.
            let some = column.iter().take_while(|text| !text.is_empty());
            let mut some: Vec<String> = some.cloned().collect();
            assert!(column[some.len()..].iter().all(String::is_empty), "{head}: {column:?}");
            if !is_upward {
                some.reverse();
            }
            assert!(is_sorted(&some), "{head}: {column:?}");
        }
    }
}

#[test]
fn a_phone_shows_the_page_no_wider_than_it_is() {
    let Some(chromium) = chromium() else { return };
    let files = experiment();
    files.run("compare --config exp.toml --html page.html");
    let found = findings(&chromium, &files.path("page.html"), 390);
    assert_eq!(found.window, 390.0);
    assert!(found.document <= found.window, "the document is {} wide", found.document);
    assert_eq!(found.points, points());
    let wide =
        files.read("page.html").replace("overflow-x: auto", "").replace(".wide { display: none; }", "");
    let spoilt = findings(&chromium, &files.write("spoilt.html", wide), 390);
    assert!(spoilt.document > spoilt.window, "a table without a box of its own was not seen");
}

/// Prints all quick mechanisms at three budgets, including shuffled reports. Scores and guarantees fill most
/// of the sheets.
#[test]
fn a_page_of_all_mechanisms_prints_on_six_sheets() {
    let Some(chromium) = chromium() else { return };
    let files = Files::new();
    files.run(
        "compare --trials 1 --epsilon 0.5,2,8 --shuffler --volunteers 0.1 --unlabelled --metric \
        recovered --html page.html",
    );
    let sheets = sheets(&chromium, &files.path("page.html"));
    assert!((2..=6).contains(&sheets), "{sheets} sheets");
}

#[test]
fn the_card_of_a_release_prints_on_one_sheet() {
    let Some(chromium) = chromium() else { return };
    let files = Files::new();
    files.run("schema --data wine --output wines.toml --records wines.csv");
    files.run(
        "design noisy-marginals --schema wines.toml --target quality --epsilon 2 --delta 1e-6 --people 1599 \
         --output design.json",
    );
    files.run("release --design design.json --input wines.csv --output released.csv --card card.html");
    assert_eq!(sheets(&chromium, &files.path("card.html")), 1);
}

/// Returns the number of sheets of a printed page.
fn sheets(chromium: &Path, page: &Path) -> usize {
    let profile = tempfile::tempdir().unwrap();
    let printed = page.with_extension("pdf");
    let output = browser(chromium, profile.path())
        .arg(format!("--print-to-pdf={}", printed.display()))
        .arg(page)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&std::fs::read(printed).unwrap()).matches("/Type /Page\n").count()
}

#[test]
fn a_browser_runs_nothing_that_hostile_names_say() {
    let Some(chromium) = chromium() else { return };
    let (_files, page) = hostile();
    let found = findings(&chromium, &page, 1100);
    assert_eq!((found.hostile, found.scripts, found.requests, found.charts), (false, 2, 0, 5));
    assert!(found.title.contains("</script><script>hostile = 1</script>"), "{}", found.title);
}

/// Checks that the browser tests can fail: they detect deliberate mistakes in a page.
#[test]
fn a_browser_that_meets_a_mistake_says_so() {
    let Some(chromium) = chromium() else { return };
    let files = Files::new();
    files.run("compare --trials 1 --epsilon 1 --mechanism identity --html page.html");
    let page = files.read("page.html");
    let console = |page: String| visit(&chromium, &files.write("spoilt.html", page)).console;
    assert_eq!(console(page.clone()), [""; 0]);
    for (spoilt, expected) in [
        (page.clone() + "<script>console.error('deliberate')</script>", "deliberate"),
        (page.clone() + "<script>const = 1</script>", "SyntaxError"),
        (page.clone() + "<script>nothing.there()</script>", "ReferenceError"),
        (page.clone() + "<img src='http://localhost:9/picture.png'>", "Content Security Policy"),
        (page.replace("table.tHead.rows[0]", "table.tHead.rows[1]"), "TypeError"),
    ] {
        let lines = console(spoilt).join("\n");
        assert!(lines.contains(expected), "{expected} was not seen: {lines:?}");
    }
}
