//! `scumble list` and `scumble describe`.

use super::{Failure, print, print_json};
use crate::registry::{Design, Plugin, Records, Registry, Side};
use comfy_table::{Table, presets};
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn list(registry: &Registry, as_json: bool) -> Result<(), Failure> {
    if as_json {
        let plugins: Vec<Value> = registry.iter().map(summary).collect();
        return print_json(&plugins);
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["mechanism", "run by", "what it does"]);
    for plugin in registry.iter() {
        table.add_row([plugin.name, run_by(plugin), plugin.summary]);
    }
    print(&table.trim_fmt())
}

fn run_by(plugin: &Plugin) -> &'static str {
    match plugin.side {
        Side::Local => "each person",
        Side::Curator => "a curator",
    }
}

fn summary(plugin: &Plugin) -> Value {
    json!({
        "name": plugin.name,
        "summary": plugin.summary,
        "paper": plugin.paper,
        "version": plugin.version,
        "side": plugin.side,
        "pace": plugin.pace,
    })
}

pub(super) fn describe_design(registry: &Registry, file: &Path, as_json: bool) -> Result<(), Failure> {
    let design = Design::read(file, registry)?;
    let guarantee = design.mechanism().guarantee();
    let records = design.records().ok();
    if as_json {
        return print_json(&json!({
            "origin": design.origin(),
            "digest": design.digest()?,
            "schema": records.map(|records| &records.schema),
            "target": records.and_then(|records| records.target.as_ref()),
            "records": design.mechanism().domain(),
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
    print(format!("{text}\n{guarantee}").trim_end())
}

pub(super) fn describe(registry: &Registry, name: &str, as_json: bool) -> Result<(), Failure> {
    let plugin = registry.get(name)?;
    let example = (plugin.example)()?;
    let mechanism = plugin.design(&example.parameters, &example.brief)?.into_mechanism();
    let guarantee = mechanism.guarantee();
    if as_json {
        let mut value = summary(plugin);
        value["parameters"] = (plugin.parameters)().to_value();
        value["example"] = json!({
            "records": example.brief.domain,
            "budget": example.brief.budget,
            "guarantee": guarantee.to_json(),
        });
        return print_json(&value);
    }
    let mut text = format!(
        "{name}: {}\n\nsource     {}\nrun by     {}\n",
        plugin.summary,
        plugin.paper,
        run_by(plugin),
    );
    for (name, schema) in plugin.parameter_schemas() {
        let description = schema["description"].as_str().unwrap_or("").replace('\n', " ");
        text += &format!("parameter  {name}: {description}\n");
    }
    let domain = &example.brief.domain;
    text += &format!(
        "\nThe card of an example, records of {} with a budget of ε = {} and δ = {:e}:\n\n{guarantee}",
        domain.columns().join(", "),
        example.brief.budget.epsilon(),
        example.brief.budget.delta(),
    );
    print(text.trim_end())
}
