//! `thalweg graph`.

use super::SourceFiles;
use crate::interrupt::Interrupt;
use crate::{outputs, standard, text};
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use thalweg::Report;
use thalweg::embed::graph::{BYTE_ORDER_MARK, shown};
use thalweg::graph::GraphData;
use thalweg::trace::ReportExt;
use thalweg_lang::Compiled;
use thalweg_lang::picture::{Form, draw};

/// Show the graph of a StreamIt program, or of the run that a report describes, with its rates.
///
/// Of a program, the formats `tree` and `svg` show rates as peek/pop -> push, or as pop -> push for a filter that does not
/// peek beyond the items it pops. `*` is a dynamic rate. A report has the formats `flat` and `dot`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg graph Radio.str Filters.str
  thalweg graph Radio.str Filters.str --format svg --output radio.svg
  thalweg graph Radio.str Filters.str --format schedule
  thalweg graph report.json --format dot")]
pub(crate) struct Graph {
    #[command(flatten)]
    files: SourceFiles,
    /// The format of the output (default: tree for a program, flat for a report)
    #[arg(long = "format", visible_alias = "form", value_enum)]
    form: Option<GraphForm>,
    /// Write to this file, or to standard output for `-` (default: standard output)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long, requires = "output")]
    force: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum GraphForm {
    /// Nested streams, as text
    Tree,
    /// Nodes and channels, as text
    Flat,
    /// A drawing in the language of Graphviz
    Dot,
    /// A drawing as SVG
    Svg,
    /// Static regions with repetitions and firing order, and the size of each channel
    Schedule,
}

impl Graph {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        if let Some(output) = &self.output {
            self.files.check_not_source(output)?;
        }
        let picture = match &self.files.files[..] {
            [path] if is_json(path) => of_report(path, self.form.unwrap_or(GraphForm::Flat), interrupt)?,
            _ => self.form.unwrap_or(GraphForm::Tree).of(&self.files.compile()?.1),
        };
        match self.output {
            None => standard::print(&picture),
            Some(path) => outputs::write(&path, self.force, picture.as_bytes(), interrupt),
        }
    }
}

/// Whether a file is JSON, not a program: it begins with a brace, as no program does. A pipe is not examined, since its
/// beginning could not be read again.
fn is_json(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    let text = start.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&start);
    read.is_ok() && text.trim_ascii_start().starts_with(b"{")
}

/// The graph of a report.
fn of_report(path: &Path, form: GraphForm, interrupt: &Interrupt) -> Result<String> {
    let text = text::read(path, "", interrupt)?;
    let report = Report::from_json(&text).with_context(|| format!("reading {}", shown(path)))?;
    let graph = report.graph();
    match form {
        GraphForm::Flat => Ok(graph.to_string()),
        GraphForm::Dot => Ok(dot(graph)),
        _ => bail!(
            "{} is a report, which has no nested streams and no schedule\nhelp: use --format flat or --format dot",
            shown(path)
        ),
    }
}

/// A drawing, with clusters where the graph comes from a program with nested streams.
fn dot(graph: &GraphData) -> String {
    let from_program = graph.node_ids().any(|node| graph.span(node).is_some());
    if from_program { graph.to_nested_dot() } else { graph.to_dot() }
}

impl GraphForm {
    fn of(self, compiled: &Compiled) -> String {
        let form = match self {
            GraphForm::Tree => Form::Tree,
            GraphForm::Svg => Form::Svg,
            GraphForm::Flat => return compiled.flat.graph.to_string(),
            GraphForm::Dot => return dot(&compiled.flat.graph),
            GraphForm::Schedule => return compiled.schedule.show(&compiled.flat.graph).to_string(),
        };
        draw(&compiled.tree, &compiled.flat, form)
    }
}
