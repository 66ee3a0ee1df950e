//! `thalweg check`.

use super::SourceFiles;
use crate::standard;
use anyhow::Result;
use clap::Args;

/// Check a StreamIt program: names, types, rates, and whether it can run without end.
///
/// Prints the size of the program, or its errors with their places in the source and with help.
#[derive(Debug, Args)]
#[command(after_long_help = "Example:
  thalweg check Radio.str Filters.str")]
pub(crate) struct Check {
    #[command(flatten)]
    files: SourceFiles,
}

impl Check {
    pub fn run(self) -> Result<()> {
        let (_, compiled) = self.files.compile()?;
        let count = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
        let words = [
            count(compiled.tree.filters.len(), "filter"),
            count(compiled.flat.channels().len(), "channel"),
            count(compiled.schedule.regions.len(), "static region"),
        ];
        standard::print(&format!("{}: correct\n", words.join(", ")))
    }
}
