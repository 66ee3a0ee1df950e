//! The texts of the programs that have one.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use thalweg::embed::graph::shown;

use super::Run;
use crate::interrupt::Interrupt;
use crate::{outputs, size, standard};

/// The times of its text that a program takes: the text, its form in the graph, the result, and that of the sequential program.
const COPIES: u64 = 5;

/// The text that a program reads, and that which it writes.
#[derive(Debug, Args)]
pub(super) struct Text {
    /// The file to read, or `-` for standard input (default: a text made of a seed)
    #[arg(value_name = "FILE")]
    pub(super) input: Option<PathBuf>,
    /// The bytes of the text that is made
    #[arg(long, value_name = "SIZE", default_value = "4MiB", conflicts_with = "input", value_parser = size::parse)]
    bytes: u64,
    /// The seed of the text that is made
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "input")]
    seed: u64,
    /// Write the result to a file, which appears when it is complete; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace an existing output file
    #[arg(short, long)]
    force: bool,
}

impl Text {
    /// Checks the names of all files, and reads or makes the text.
    pub(super) fn open(
        &self,
        run: &Run,
        make: impl FnOnce(usize, u64) -> Vec<u8>,
        interrupt: &Interrupt,
    ) -> Result<Vec<u8>> {
        let read = self.input.as_deref().into_iter().chain(run.engine.files());
        outputs::check_apart(self.output.as_deref(), read)?;
        if let Some(output) = &self.output {
            outputs::check_absent(output, self.force)?;
        }
        run.engine.check(&[], self.input.iter().chain(&self.output).map(PathBuf::as_path))?;
        if let Some(path) = &self.input {
            return self.read(path, run, interrupt);
        }
        run.check_memory(self.bytes.saturating_mul(COPIES), "choose a smaller --bytes")?;
        Ok(make(usize::try_from(self.bytes)?, self.seed))
    }

    fn read(&self, path: &Path, run: &Run, interrupt: &Interrupt) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let longest = run.memory / COPIES;
        let input = standard::input(path, interrupt)?;
        input
            .bytes
            .take(longest.saturating_add(1))
            .read_to_end(&mut text)
            .with_context(|| format!("reading {}", shown(path)))?;
        run.check_memory(COPIES * text.len() as u64, "choose a shorter file")?;
        Ok(text)
    }

    /// Writes the result, if it is wanted, and the lines about it, unless standard output has the result.
    pub(super) fn finish(&self, result: &[u8], lines: &str, interrupt: &Interrupt) -> Result<()> {
        if let Some(output) = &self.output {
            outputs::write(output, self.force, result, interrupt)?;
        }
        if self.is_printed() { Ok(()) } else { standard::print(lines) }
    }

    /// Whether standard output has the result.
    pub(super) fn is_printed(&self) -> bool {
        self.output.as_deref().is_some_and(standard::is_dash)
    }
}
