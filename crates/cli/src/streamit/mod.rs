//! Verbs for StreamIt programs.

mod build;
mod check;
mod embedded;
mod graph;
mod mask;
mod payload;
mod program_files;
mod run;
mod wav;

pub(crate) use build::Build;
pub(crate) use check::Check;
pub(crate) use embedded::EmbeddedProgram;
pub(crate) use graph::Graph;
pub(crate) use run::Run;

use crate::misuse::Misuse;
use crate::watch::screen;
use crate::{outputs, standard};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use thalweg::embed::graph::shown;
use thalweg_lang::parser::MAX_ERRORS;
use thalweg_lang::{Compiled, Diagnostic, Sources, compile};

/// The source files of a program.
#[derive(Debug, Args)]
pub(crate) struct SourceFiles {
    /// The source files of the program, which share one name space; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl SourceFiles {
    /// Fails if `output` is one of the source files, under any of its names.
    fn check_not_source(&self, output: &Path) -> Result<()> {
        outputs::check_apart([output], self.files.iter().map(PathBuf::as_path))
    }

    /// Reads and compiles the program. Prints errors with excerpts of the source.
    fn compile(&self) -> Result<(Sources, Compiled)> {
        let mut sources = Sources::new();
        let mut named = HashSet::new();
        for path in &self.files {
            let new = named.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
            let twice = || {
                Misuse::new(format!(
                    "{} is given twice\nhelp: name each file of the program once",
                    shown(path)
                ))
            };
            ensure!(new, twice());
            ensure!(!path.is_dir(), "{} is a folder, expected a file\nhelp: name a file in it", shown(path));
            let reading = || format!("reading {}", shown(path));
            if standard::is_dash(path) {
                let stdin = standard::stdin().with_context(reading)?;
                sources.read_from("standard input", stdin).with_context(reading)?;
            } else {
                sources.read(path).with_context(reading)?;
            }
        }
        match compile(&sources) {
            Ok(compiled) => Ok((sources, compiled)),
            Err(errors) => {
                print_errors(&sources, &errors);
                match errors.len() {
                    1 => bail!("1 error"),
                    count if count >= MAX_ERRORS => bail!("stopped after {count} errors"),
                    count => bail!("{count} errors"),
                }
            }
        }
    }
}

/// Prints errors with excerpts of the source.
fn print_errors(sources: &Sources, errors: &[Diagnostic]) {
    let coloured = screen::has_colours();
    errors.iter().for_each(|error| standard::eprint(error.render(sources, coloured).trim_end()));
}
