//! `thalweg dedup stat`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use thalweg::embed::graph::shown;
use thalweg_dedup::{Entry, Error, Listing, stat};

use super::list::List;
use super::{ReadLimits, ratio};
use crate::interrupt::Interrupt;
use crate::{size, standard};

/// Describe the content of an archive.
///
/// Reads the whole archive and checks all that `verify` checks, except that it does not decompress the data.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup stat photos.thd
  thalweg dedup stat --list photos.thd | grep jpg")]
pub(crate) struct Stat {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    /// List the entries of a tree: mode, size and path of each. Of a path of more than 1 MiB, the end is listed
    #[arg(short, long)]
    list: bool,
    #[command(flatten)]
    limits: ReadLimits,
}

impl Stat {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let input = standard::input(&self.archive, interrupt)?.bytes;
        let mut list = List::default();
        let mut print = |entry: &Entry, bytes: u64| match list.line(entry, bytes) {
            Some(line) => standard::print(&line).map_err(into_error),
            None => Ok(()),
        };
        let mut ignore = |_: &Entry, _: u64| Ok(());
        let listing: &mut dyn Listing = if self.list { &mut print } else { &mut ignore };
        let found = stat(input, &self.limits.limits(), listing);
        let found = found.with_context(|| format!("reading {}", shown(&self.archive)))?;
        if !self.list {
            return standard::print(&describe(&found));
        }
        list.note_shortened();
        Ok(())
    }
}

fn into_error(error: anyhow::Error) -> Error {
    let source = std::io::Error::other(format!("{error:#}"));
    Error::Io { doing: "listing".into(), source }
}

fn describe(found: &thalweg_dedup::Stat) -> String {
    let (header, footer) = (&found.header, &found.footer);
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12}{value}");
    };
    line("holds", header.kind.describe().into());
    line("format", format!("version {}", header.version));
    line(
        "content",
        format!(
            "{} ({} bytes), {} entries",
            size::show(footer.content_bytes),
            footer.content_bytes,
            footer.entries
        ),
    );
    line(
        "unique",
        format!("{} ({})", size::show(footer.unique_bytes), ratio(footer.unique_bytes, footer.content_bytes)),
    );
    line(
        "archive",
        format!("{} ({})", size::show(found.archive_bytes), ratio(found.archive_bytes, footer.content_bytes)),
    );
    line("chunks", format!("{}, {} of them duplicates", footer.chunks, footer.duplicates));
    line("records", footer.records.to_string());
    line("codec", format!("{} level {}", header.codec.name(), header.level));
    line(
        "duplicates",
        format!("from {} bytes on, searched every {} bytes", header.matching.min, header.matching.spacing),
    );
    line("window", size::show(header.window));
    line("index", format!("{} entries", header.index_entries));
    line("hash", footer.root.iter().map(|b| format!("{b:02x}")).collect());
    text
}
