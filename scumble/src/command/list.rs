//! `scumble list` and `scumble describe`.

use super::{Failure, collect_command, print, print_json, view_command};
use crate::core::{Descriptor, Design, Notion, Plugin, Registry, Releases, ShapedBy};
use crate::custody::ShippedDesign;
use crate::records::Records;
use comfy_table::{Table, presets};
use serde_json::{Value, json};
use std::path::Path;

pub(super) const EXAMPLES: &str = "\
Examples:
  scumble list
  scumble list --markdown";

pub(super) const DESCRIBE_EXAMPLES: &str = "\
Examples:
  scumble describe laplace
  scumble describe --design design.json";

pub(super) fn list(registry: &Registry, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let plugins: Vec<Value> = registry.iter().map(summary).collect();
        return print_json(&plugins);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["mechanism", "run by", "releases", "what it does"]);
    for plugin in registry.iter() {
        let Descriptor { run_by, releases, .. } = plugin.descriptor;
        table.add_row([plugin.name, run_by.run_by(), releases.name(), plugin.summary]);
    }
    print(&table.trim_fmt())
}

/// Prints a Markdown table of what each mechanism claims and discloses, from the guarantee of its example.
pub(super) fn markdown(registry: &Registry) -> Result<(), Failure> {
    let mut text = String::from("| mechanism | run by | claims | discloses |\n|---|---|---|---|\n");
    for plugin in registry.iter() {
        let example = (plugin.example)()?;
        let guarantee = plugin.design(&example.parameters, &example.brief)?.mechanism().guarantee();
        let claims = guarantee.claims.iter().map(|claim| claim.to_string());
        let claims: Vec<String> = claims.chain(guarantee.each_release.clone()).collect();
        let joined =
            |lines: &[String]| if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") };
        let (claims, disclosed) = (joined(&claims), joined(&guarantee.discloses));
        text += &format!(
            "| `{}` | {} | {claims} | {disclosed} |\n",
            plugin.name,
            plugin.descriptor.run_by.run_by()
        );
    }
    print(text.trim_end())
}

fn summary(plugin: &Plugin) -> Value {
    json!({
        "name": plugin.name,
        "summary": plugin.summary,
        "paper": plugin.paper,
        "version": plugin.version,
        "side": plugin.descriptor.run_by,
        "pace": plugin.descriptor.pace,
        "releases": plugin.descriptor.releases,
        "needs_volunteers": plugin.descriptor.needs_volunteers,
    })
}

pub(super) fn describe_design(registry: &Registry, file: &Path, as_json: bool) -> Result<(), Failure> {
    let design = ShippedDesign::read(file, registry)?;
    let guarantee = design.guarantee();
    let records = design.records().ok();
    if as_json {
        return print_json(&json!({
            "origin": design.origin(),
            "digest": design.digest()?,
            "schema": records.map(|records| &records.schema),
            "target": records.and_then(|records| records.target.as_ref()),
            "records": design.mechanism().domain(),
            "needs_view": design.mechanism().releases().is_viewed(),
            "guarantee": guarantee.to_json(),
        }));
    }
    let mut text = format!("designed by {}\ndigest      {}\n", design.origin(), design.digest()?);
    if let Some(Records { schema, target }) = records {
        for column in schema.columns() {
            let label = if Some(&column.name) == target.as_ref() { ", the label" } else { "" };
            text += &format!("takes       {:?}{label}: {}\n", column.name, column.kind);
        }
    }
    text += &format!("\n{guarantee}\n");
    if records.is_some() {
        text += &steps(design.design(), file)?;
    }
    print(text.trim_end())
}

/// Commands that release by a design for two servers.
const STEPS_OF_TWO_SERVERS: &str = "
To report a record, on a device:
  scumble report --help
To check and add up the reports, on each of two servers:
  scumble aggregate --help
To join the noisy shares of the servers, and draw records:
  scumble unshard --help
";

/// Formats the commands that release by this design and use a model of the release.
fn steps(design: &Design, file: &Path) -> Result<String, Failure> {
    if design.mechanism().shared_counts().is_some() {
        return Ok(STEPS_OF_TWO_SERVERS.to_owned());
    }
    let key = design.mechanism().releases().is_secret().then(|| Path::new("keys/key.json"));
    let with_key = if key.is_some() { " --key keys/key.json" } else { "" };
    let file_name = file.display().to_string();
    let file_name = shlex::try_quote(&file_name).unwrap_or_default();
    let model = design.mechanism().releases().family();
    let output = if model.is_some() { "model.csv" } else { "released.csv" };
    let mut text = format!(
        "\nTo release by this design:\n  scumble release --design {file_name} --input private.csv --output \
         {output}{with_key}\n"
    );
    if model.is_some() {
        text += &format!(
            "To predict by the released model:\n  scumble predict --design {file_name} --model {output} \
             --input clean.csv --output predicted.csv\n"
        );
    }
    if matches!(design.mechanism().releases(), Releases::Reports { .. }) {
        text +=
            &format!("To draw records from the reports:\n  {}\n", collect_command(file, Path::new(output)));
    }
    if design.mechanism().releases().is_viewed() {
        text += &format!(
            "To use a model of the release on viewed records, instead of records in the clear (no guarantee \
             covers viewed records):\n  {}\n",
            view_command(file, key)
        );
    }
    Ok(text)
}

pub(super) fn describe(registry: &Registry, name: &str, as_json: bool) -> Result<(), Failure> {
    let plugin = registry.get(name)?;
    let example = (plugin.example)()?;
    let design = plugin.design(&example.parameters, &example.brief)?;
    let guarantee = design.mechanism().guarantee();
    if as_json {
        let mut value = summary(plugin);
        value["parameters"] = (plugin.parameters)().to_value();
        value["needs_view"] = design.mechanism().releases().is_viewed().into();
        value["example"] = json!({
            "records": example.brief.domain,
            "budget": example.brief.budget,
            "guarantee": guarantee.to_json(),
        });
        return print_json(&value);
    }
    let mut text = format!(
        "{name}: {}\n\nsource     {}\nrun by     {}\nreleases   {}\n",
        plugin.summary,
        plugin.paper,
        plugin.descriptor.run_by.run_by(),
        plugin.descriptor.releases.name(),
    );
    if plugin.descriptor.needs_volunteers {
        text += "needs      volunteers' records\n";
    }
    for (name, schema) in plugin.parameter_schemas() {
        let description = schema["description"].as_str().unwrap_or("").replace('\n', " ");
        text += &format!("parameter  {name}: {description}\n");
    }
    let domain = &example.brief.domain;
    text += &format!(
        "\nThe card of an example with the columns {} and the budget ε = {}, δ = {:e}:\n\n{guarantee}\n",
        domain.columns().join(", "),
        example.brief.budget.epsilon(),
        example.brief.budget.delta(),
    );
    let volunteers = match guarantee.shaped_by {
        ShapedBy::PublicKnowledge => "",
        _ => " --volunteers volunteers.csv --volunteers-are consented",
    };
    let has_delta = guarantee.claims.iter().any(|claim| match &claim.notion {
        Notion::LocalDp(dp) => dp.delta > 0.0,
        Notion::CentralDp(dp) => dp.delta > 0.0,
        _ => false,
    });
    let delta = match has_delta {
        true => format!(" --delta {:e}", example.brief.budget.delta()),
        false => String::new(),
    };
    text += &format!(
        "\nTo design this mechanism:\n  scumble design {name} --schema schema.toml --target COLUMN --epsilon \
         1{delta}{volunteers} --output design.json"
    );
    text += &steps(&design, Path::new("design.json"))?;
    print(text.trim_end())
}
