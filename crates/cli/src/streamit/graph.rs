//! `thalweg graph`.

use super::SourceFiles;
use crate::standard;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thalweg_lang::Compiled;
use thalweg_lang::files::Output;
use thalweg_lang::picture::{Form, draw};

/// Show the streams of a StreamIt program with their rates.
///
/// Rates are shown as peek/pop -> push, or as pop -> push for a filter that does not peek beyond the items it
/// pops. `*` is a dynamic rate.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg graph Radio.str Filters.str
  thalweg graph Radio.str --form svg --output radio.svg
  thalweg graph Radio.str --form schedule")]
pub(crate) struct Graph {
    #[command(flatten)]
    files: SourceFiles,
    /// The form of the output
    #[arg(short, long, value_enum, default_value_t = GraphForm::Tree)]
    form: GraphForm,
    /// The file to write (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GraphForm {
    /// Nested streams, as text
    Tree,
    /// Filters, splitters, joiners and channels, as text
    Flat,
    /// A drawing in the language of Graphviz
    Dot,
    /// A drawing as SVG
    Svg,
    /// Static regions with repetitions and firing order, and the size of each channel
    Schedule,
}

impl Graph {
    pub fn run(self) -> Result<()> {
        if let Some(output) = &self.output {
            self.files.check_not_source(output)?;
        }
        let (_, compiled) = self.files.compile()?;
        let picture = self.form.of(&compiled);
        match self.output {
            None => standard::print(&picture),
            Some(path) => write(&path, &picture).with_context(|| format!("writing {}", path.display())),
        }
    }
}

/// Writes a whole file, or none.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut output = Output::create(path)?;
    output.write_all(text.as_bytes())?;
    output.finish()
}

impl GraphForm {
    fn of(self, compiled: &Compiled) -> String {
        let form = match self {
            GraphForm::Tree => Form::Tree,
            GraphForm::Flat => Form::Flat,
            GraphForm::Dot => Form::Dot,
            GraphForm::Svg => Form::Svg,
            GraphForm::Schedule => return compiled.schedule.show(&compiled.flat.graph).to_string(),
        };
        draw(&compiled.tree, &compiled.flat, form)
    }
}
