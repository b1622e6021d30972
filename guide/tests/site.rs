//! A build of the site without warnings, and the targets of all links in the site and in the documents of the
//! repository.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as Logged, Level, Metadata, Subscriber};
use walkdir::{DirEntry, WalkDir};

/// Collects the logged warnings and errors.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0 += &format!("{field}: {value:?} ");
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Logged) {
        let mut message = Message(String::new());
        event.record(&mut message);
        self.0.lock().unwrap().push(message.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The files below a folder with this extension. Built and hidden files are left out.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let is_ours = |entry: &DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !name.starts_with('.') && !["target", "book"].contains(&&*name)
    };
    let entries = WalkDir::new(folder).into_iter().filter_entry(is_ours);
    let paths = entries.map(|entry| entry.unwrap().into_path());
    paths.filter(|path| path.extension().is_some_and(|own| own == extension)).collect()
}

/// The values of an attribute in HTML.
fn values<'h>(html: &'h str, attribute: &str) -> Vec<&'h str> {
    let start = format!(" {attribute}=\"");
    html.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn is_outside(link: &str) -> bool {
    ["http://", "https://", "mailto:", "data:", "javascript:"].iter().any(|scheme| link.starts_with(scheme))
}

#[test]
fn the_site_builds_without_a_warning_and_its_links_lead_somewhere() {
    let (warnings, folder) = (Warnings::default(), tempfile::tempdir().unwrap());
    tracing::subscriber::with_default(warnings.clone(), || scumble_guide::site::build(folder.path()))
        .unwrap();
    let warnings = warnings.0.lock().unwrap();
    assert!(warnings.is_empty(), "{warnings:#?}");
    let pages = files(folder.path(), "html");
    assert!(pages.len() > 40, "{}", pages.len());
    let mut lost = vec![];
    for page in pages.iter().filter(|page| page.file_name().is_some_and(|name| name != "404.html")) {
        let html = fs::read_to_string(page).unwrap();
        for link in
            values(&html, "href").into_iter().chain(values(&html, "src")).filter(|link| !is_outside(link))
        {
            let (path, anchor) =
                link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            let has_anchor = |anchor: &str| {
                let text = fs::read_to_string(&target).unwrap_or_default();
                anchor.is_empty() || values(&text, "id").contains(&anchor)
            };
            if !target.is_file() || !anchor.is_none_or(has_anchor) {
                lost.push(format!("{}: {link}", page.strip_prefix(folder.path()).unwrap().display()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}

/// The anchor that GitHub gives a heading.
fn anchor_of(heading: &str) -> String {
    let kept = heading
        .trim()
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
        .collect::<String>();
    kept.replace(' ', "-")
}

/// The links of a document, and the anchors of its headings.
fn links_and_anchors(text: &str) -> (Vec<String>, BTreeSet<String>) {
    let (mut links, mut anchors, mut heading) = (vec![], BTreeSet::new(), None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                links.push(dest_url.to_string())
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    *heading += &text;
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                anchors.extend(heading.take().map(|heading| anchor_of(&heading)))
            }
            _ => {}
        }
    }
    (links, anchors)
}

/// Returns whether a link is the path of an item. rustdoc resolves and checks such paths.
fn is_item(path: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    path.split("::").all(is_name) && !root().join(path).exists()
}

#[test]
fn links_of_documents_lead_to_files_and_headings_that_are_there() {
    let documents = files(&root(), "md");
    assert!(documents.len() > 40, "{}", documents.len());
    let chapters = root().join("guide/chapters");
    let mut lost = vec![];
    for document in &documents {
        let (links, own) = links_and_anchors(&fs::read_to_string(document).unwrap());
        for link in links.iter().filter(|link| !is_outside(link)) {
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            // The build of the site creates the reference pages, and another test checks links to them.
            if document.starts_with(&chapters) && path.starts_with("reference/") {
                continue;
            }
            if anchor.is_none() && is_item(path) {
                continue;
            }
            let target = document.parent().unwrap().join(path);
            let anchors = match path {
                "" => own.clone(),
                _ => fs::read_to_string(&target).map(|text| links_and_anchors(&text).1).unwrap_or_default(),
            };
            if !target.exists() || anchor.is_some_and(|anchor| !anchors.contains(anchor)) {
                lost.push(format!("{}: {link}", document.strip_prefix(root()).unwrap().display()));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
