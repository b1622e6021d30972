//! The site: the chapters and the reference pages.

use crate::reference;
use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use std::error::Error;
use std::fs;
use std::path::Path;
use walkdir::WalkDir;

/// Copies a folder with all its contents.
fn copy(from: &Path, to: &Path) -> Result<(), Box<dyn Error>> {
    for entry in WalkDir::new(from) {
        let entry = entry?;
        let place = to.join(entry.path().strip_prefix(from)?);
        if entry.file_type().is_dir() {
            fs::create_dir(place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

/// Builds the site into `folder`.
///
/// # Errors
/// An error if a mechanism cannot be designed for its own example, a chapter is missing, or a file cannot be
/// read or written.
pub fn build(folder: &Path) -> Result<(), Box<dyn Error>> {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR"));
    let book = tempfile::tempdir()?;
    let chapters = book.path().join("chapters");
    copy(&guide.join("chapters"), &chapters)?;
    let pages = reference::pages(&fs::read_to_string(guide.join("../evaluation/page/BENCHMARK.md"))?)?;
    fs::create_dir(chapters.join("reference"))?;
    let mut summary = fs::read_to_string(chapters.join("SUMMARY.md"))?.trim_end().to_owned();
    for (name, text) in &pages {
        fs::write(chapters.join("reference").join(format!("{name}.md")), text)?;
        if name != reference::INDEX {
            summary += &format!("\n  - [{name}](reference/{name}.md)");
        }
    }
    fs::write(chapters.join("SUMMARY.md"), summary)?;
    let mut config = Config::from_disk(guide.join("book.toml"))?;
    config.build.create_missing = false;
    config.build.build_dir = std::path::absolute(folder)?;
    MDBook::load_with_config(book.path(), config)?.build()?;
    Ok(())
}
