//! `thalweg graph`.

use super::Files;
use crate::standard;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thalweg_lang::Compiled;
use thalweg_lang::files::Output;
use thalweg_lang::picture::{Form, draw};

/// Draw a StreamIt program: its streams with their rates.
///
/// Rates are given as peek/pop -> push, or as pop -> push where a filter looks at no more than it takes, with
/// `*` where each firing decides.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg graph Radio.str Filters.str
  thalweg graph Radio.str --form svg --output radio.svg
  thalweg graph Radio.str --form schedule")]
pub(crate) struct Graph {
    #[command(flatten)]
    files: Files,
    /// How it is shown
    #[arg(short, long, value_enum, default_value_t = Shown::Tree)]
    form: Shown,
    /// Where it goes (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shown {
    /// Streams in streams, as text
    Tree,
    /// Filters, splitters, joiners and channels, as text
    Flat,
    /// A drawing for Graphviz
    Dot,
    /// A drawing
    Svg,
    /// Static regions: who fires how often, and what channels hold
    Schedule,
}

impl Graph {
    pub fn run(self) -> Result<()> {
        if let Some(output) = &self.output {
            self.files.spare(output)?;
        }
        let (_, compiled) = self.files.compile()?;
        let picture = self.form.of(&compiled);
        match self.output {
            None => standard::print(&picture),
            Some(path) => write(&path, &picture).with_context(|| format!("writing {}", path.display())),
        }
    }
}

/// Writes all of a file, or nothing.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(text.as_bytes())?;
    output.finish()
}

impl Shown {
    fn of(self, compiled: &Compiled) -> String {
        let form = match self {
            Shown::Tree => Form::Tree,
            Shown::Flat => Form::Flat,
            Shown::Dot => Form::Dot,
            Shown::Svg => Form::Svg,
            Shown::Schedule => return compiled.schedule.show(&compiled.flat).to_string(),
        };
        draw(&compiled.tree, &compiled.flat, form)
    }
}
