//! `thalweg dedup`: one file per verb.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use thalweg_dedup::{Limits, Summary};

use crate::size;

mod pack;
mod stat;
mod unpack;
mod verify;

/// Pack files into a deduplicated, compressed archive, and unpack them again.
#[derive(Debug, Args)]
pub(crate) struct Dedup {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Pack(pack::Pack),
    Unpack(unpack::Unpack),
    Verify(verify::Verify),
    Stat(stat::Stat),
}

impl Dedup {
    pub fn run(self) -> Result<()> {
        match self.verb {
            Verb::Pack(verb) => verb.run(),
            Verb::Unpack(verb) => verb.run(),
            Verb::Verify(verb) => verb.run(),
            Verb::Stat(verb) => verb.run(),
        }
    }
}

/// What is granted to an archive that is read.
#[derive(Debug, Args)]
struct Grant {
    /// Refuse archives that need more memory than this for earlier data
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = size::parse)]
    window_limit: u64,
}

impl Grant {
    fn limits(&self) -> Limits {
        Limits::default().window(self.window_limit)
    }
}

/// A few lines about a finished run.
fn report(summary: &Summary, took: Duration) -> String {
    let per_second = summary.content_bytes as f64 / took.as_secs_f64().max(1e-9);
    format!(
        "content   {} in {} entries\n\
         unique    {} ({} of {} chunks are duplicates)\n\
         archive   {} ({}), {} records\n\
         time      {:.3} s, {}/s",
        size::show(summary.content_bytes),
        summary.entries,
        size::show(summary.unique_bytes),
        summary.duplicates,
        summary.chunks,
        size::show(summary.archive_bytes),
        ratio(summary.archive_bytes, summary.content_bytes),
        summary.records,
        took.as_secs_f64(),
        size::show(per_second as u64),
    )
}

/// One count as a share of another.
fn ratio(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.2} %", part as f64 * 100.0 / whole as f64) }
}
