//! Reference pages from the registry. A page has the purpose of a mechanism, its parameters, its card, and
//! its results in the benchmark suite. The card states in words the guarantee of the mechanism on an example.

use scumble::core::{Plugin, Registry};
use serde_json::Value;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// Name of the page that lists all mechanisms.
pub const INDEX: &str = "index";

/// Names and Markdown texts of the pages: first [`INDEX`], then one page per registered mechanism.
/// `benchmark` is the Markdown text of `BENCHMARK.md`, with the results of the suite.
///
/// # Errors
/// An error if two registered mechanisms have the same name, or if a mechanism cannot be designed for its own
/// example.
pub fn pages(benchmark: &str) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let registry = Registry::installed()?;
    let mut index = String::from(
        "# Mechanisms\n\nThese pages come from the registry, like the output of `scumble list` and \
         `scumble describe NAME`.\n\n\
         | mechanism | run by | summary |\n|---|---|---|\n",
    );
    let mut pages = vec![];
    for plugin in registry.iter() {
        let Plugin { name, summary, .. } = plugin;
        writeln!(index, "| [{name}]({name}.md) | {} | {summary} |", plugin.descriptor.run_by.run_by())?;
        pages.push(((*name).to_owned(), page(plugin, benchmark)?));
    }
    pages.insert(0, (INDEX.to_owned(), index));
    Ok(pages)
}

fn page(plugin: &Plugin, benchmark: &str) -> Result<String, Box<dyn Error>> {
    let Plugin { name, summary, paper, version, .. } = plugin;
    let example = (plugin.example)()?;
    let guarantee = plugin.design(&example.parameters, &example.brief)?.mechanism().guarantee();
    let mut text = format!(
        "# {name}\n\n{summary}\n\n| | |\n|---|---|\n| run by | {} |\n| source | {paper} |\n| version | \
         {version} |\n",
        plugin.descriptor.run_by.run_by()
    );
    write!(text, "\n## Equations\n\n{}", equations(name)?)?;
    text += "\n## Parameters\n\n";
    let parameters = plugin.parameter_schemas();
    if parameters.is_empty() {
        text += "This mechanism has no parameters.\n";
    } else {
        text += "`--set KEY=VALUE` sets a parameter. The default `chosen` depends on the budget and the \
                 domain.\n\n| parameter | values | default | description |\n|---|---|---|---|\n";
        for (key, schema) in parameters {
            let described = schema["description"].as_str().unwrap_or("").replace('\n', " ");
            let default = match &schema["default"] {
                Value::Null => "chosen".into(),
                value => format!("`{value}`"),
            };
            let values = escaped(&values(&schema).join(", "));
            writeln!(text, "| `{key}` | {values} | {default} | {} |", escaped(&described))?;
        }
    }
    let (domain, budget) = (&example.brief.domain, &example.brief.budget);
    let columns: Vec<&str> = domain.columns().iter().map(String::as_str).take(8).collect();
    write!(
        text,
        "\n## Card\n\nThe card of an example: records of {}{} with a budget of ε = {} and δ = {:e}. Its rows \
         `proof` and `assumes` name the theorem or equation of the source that proves the claim, and its \
         corrections in [the errata](https://docs.rs/scumble).\n\n{}",
        columns.join(", "),
        if domain.columns().len() > columns.len() { " and others" } else { "" },
        budget.epsilon(),
        budget.delta(),
        table(&guarantee.to_string()),
    )?;
    let rows = accuracy(name, benchmark);
    text += "\n## In the suite\n\n";
    if rows.is_empty() {
        text += "The tables over all tasks of `BENCHMARK.md` have no row of this mechanism.\n";
    } else {
        text += "Each cell has two results over all tasks of `BENCHMARK.md`: the median worth of a release \
                 in per cent of the released records, and the number of tasks with evidence that a \
                 model of the release is better than no release.\n\n";
        text += &rows;
    }
    Ok(text)
}

/// Text with the equations of a mechanism's release, and the reason for its guarantee, from the mechanism's
/// file in `equations/`. The text refers to the card if there is no such file.
fn equations(name: &str) -> io::Result<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("equations").join(format!("{name}.md"));
    match fs::read_to_string(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Ok("The card names the theorem that proves the claim.\n".into())
        }
        read => read,
    }
}

/// The allowed values of a parameter, by its JSON schema. `null` is omitted, because the default shows that
/// the parameter is optional.
fn values(schema: &Value) -> Vec<String> {
    if let Some(word) = schema["const"].as_str().or(schema["type"].as_str()) {
        return if word == "null" { vec![] } else { vec![word.to_owned()] };
    }
    let options = ["enum", "oneOf", "anyOf", "type"].iter().find_map(|keyword| schema[keyword].as_array());
    let options = options.into_iter().flatten();
    let option_values = |option: &Value| match option.as_str() {
        Some("null") => vec![],
        Some(word) => vec![word.to_owned()],
        None => values(option),
    };
    options.flat_map(option_values).collect()
}

/// A card as a Markdown table, with one row per line of the card.
fn table(card: &str) -> String {
    let row = |line: &str| {
        let (what, text) = line.split_once("  ").unwrap_or(("", line));
        format!("| {what} | {} |\n", escaped(text.trim()))
    };
    card.lines().map(row).fold("| | |\n|---|---|\n".into(), |table, row| table + &row)
}

/// Escapes `text` for a cell of a Markdown table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

/// Table with the results of the mechanism `name` over all tasks of the suite. Each row is for one unit of
/// privacy and trust model, a section of `benchmark`. The text is empty if `benchmark` has no such results.
fn accuracy(name: &str, benchmark: &str) -> String {
    let mut table = String::new();
    let (mut heading, mut is_overall) = ("", false);
    for line in benchmark.lines() {
        if let Some(section) = line.strip_prefix("## ") {
            (heading, is_overall) = (section, false);
        } else if line == "Over all tasks:" {
            is_overall = true;
        } else if let Some(cells) = line.strip_prefix("| ").filter(|_| is_overall) {
            let Some((first, rest)) = cells.split_once(" | ") else { continue };
            if table.is_empty() && first.starts_with("mechanism") {
                table = format!("| to protect | {rest}\n|{}\n", "---|".repeat(rest.matches('|').count() + 1));
            } else if first == name {
                table += &format!("| {heading} | {rest}\n");
            }
        }
    }
    if table.lines().count() > 2 { table } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_of_a_mechanism_are_those_of_its_name() {
        let benchmark = "## Whole\n\nOver all tasks:\n\n| mechanism: worth | ε = 1 |\n| --- | --- |\n| \
            laplace | 3 % |\n| direct | 4 % |\n\n## Label\n\n| laplace | not this |\n";
        assert_eq!(accuracy("laplace", benchmark), "| to protect | ε = 1 |\n|---|---|\n| Whole | 3 % |\n");
        assert_eq!(accuracy("vlm", benchmark), "");
    }

    #[test]
    fn the_values_of_a_parameter_are_listed() {
        let laplace = Registry::installed().unwrap();
        let schemas = laplace.get("laplace").unwrap().parameter_schemas();
        assert_eq!(values(&schemas["protect"]), ["record", "features", "label"]);
        assert_eq!(values(&schemas["information"]), ["number"]);
    }

    #[test]
    fn every_mechanism_has_a_page_with_its_card() {
        let pages = pages("").unwrap();
        assert_eq!(pages.len(), 1 + Registry::installed().unwrap().iter().count());
        for (name, text) in &pages[1..] {
            assert!(equations(name).unwrap().contains("```text"), "{name} has no equations");
            assert!(text.contains("\n## Card\n") && text.contains("| guarantee | "), "{name}:\n{text}");
        }
    }
}
