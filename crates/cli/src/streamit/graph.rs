//! `thalweg graph`.

use super::Files;
use crate::standard;
use anyhow::Result;
use clap::Args;
use thalweg_lang::tree::describe;

/// Draw a StreamIt program: its streams with their rates.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  thalweg graph Radio.str Filters.str")]
pub(crate) struct Graph {
    #[command(flatten)]
    files: Files,
}

impl Graph {
    pub fn run(self) -> Result<()> {
        let (_, compiled) = self.files.compile()?;
        standard::print(&describe(&compiled.tree, &compiled.program))
    }
}
