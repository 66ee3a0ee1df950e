//! `thalweg dedup stat`.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use thalweg::graph::{shown, shown_bytes};
use thalweg_dedup::{Entry, Error, stat};

use super::{ReadLimits, ratio};
use crate::interrupt::Interrupt;
use crate::{size, standard};

/// Describe the content of an archive.
///
/// Reads the whole archive and checks its checksums, but does not decompress the data.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg dedup stat photos.thd
  thalweg dedup stat --list photos.thd | grep jpg")]
pub(crate) struct Stat {
    /// The archive, or `-` for standard input
    archive: PathBuf,
    /// List the entries of a tree: mode, size and path of each
    #[arg(short, long)]
    list: bool,
    #[command(flatten)]
    limits: ReadLimits,
}

impl Stat {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        let input = standard::input(&self.archive, interrupt)?.bytes;
        let mut paths = Paths::default();
        let mut list = |entry: &Entry, bytes: u64| {
            let Some(line) = paths.line(entry, bytes) else { return Ok(()) };
            if self.list { standard::print(&line).map_err(into_error) } else { Ok(()) }
        };
        let found = stat(input, &self.limits.limits(), &mut list);
        let found = found.with_context(|| format!("reading {}", shown(&self.archive)))?;
        if self.list {
            return Ok(());
        }
        standard::print(&describe(&found))
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

/// Tracks the open folders to print paths.
#[derive(Default)]
struct Paths {
    open: Vec<String>,
    /// The paths of files and links of which further names may follow.
    shared: Vec<String>,
    started: bool,
}

impl Paths {
    fn line(&mut self, entry: &Entry, bytes: u64) -> Option<String> {
        let Some(name) = entry.name() else {
            self.open.pop();
            return None;
        };
        if !self.started {
            self.started = true;
            return None;
        }
        let name = shown_bytes(name).to_string();
        let path = self.open.iter().fold(String::new(), |path, folder| path + folder + "/") + &name;
        Some(match entry {
            Entry::Dir(meta) => {
                self.open.push(name);
                format!("d{:04o} {:>12} {path}/\n", meta.mode, "")
            }
            Entry::File(meta) => {
                let line = format!("f{:04o} {bytes:>12} {path}\n", meta.mode);
                if meta.shared {
                    self.shared.push(path);
                }
                line
            }
            Entry::Link { meta, target } => {
                let line = format!("l{:4} {:>12} {path} -> {}\n", "", "", shown_bytes(target));
                if meta.shared {
                    self.shared.push(path);
                }
                line
            }
            Entry::HardLink { file, .. } => {
                let first = usize::try_from(*file).ok().and_then(|file| self.shared.get(file));
                format!("h{:4} {:>12} {path} link to {}\n", "", "", first.map_or("?", String::as_str))
            }
            Entry::Up => return None,
        })
    }
}
