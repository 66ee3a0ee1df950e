//! Verbs for StreamIt programs.

mod build;
mod carried;
mod check;
mod graph;
mod media;
mod payload;
mod run;
mod sound;
mod wave;

pub(crate) use build::Build;
pub(crate) use carried::Carried;
pub(crate) use check::Check;
pub(crate) use graph::Graph;
pub(crate) use run::Run;

use crate::standard;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use std::collections::HashSet;
use std::io::{IsTerminal, stderr};
use std::path::{Path, PathBuf};
use thalweg_lang::parser::MAX_ERRORS;
use thalweg_lang::{Compiled, Diagnostic, Sources, compile};

/// The files of a program.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// The program's files: one name space
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl Files {
    /// Fails where what is to be written is one of them, by whatever name.
    fn spare(&self, output: &Path) -> Result<()> {
        let source = self.files.iter().find(|file| is_same(file, output));
        match source {
            Some(source) => bail!(
                "{} is the program's source {}: it would be overwritten",
                output.display(),
                source.display()
            ),
            None => Ok(()),
        }
    }

    /// Reads and compiles the program; errors are printed where they stand in the source.
    fn compile(&self) -> Result<(Sources, Compiled)> {
        let mut sources = Sources::new();
        let mut named = HashSet::new();
        for path in &self.files {
            let new = named.insert(path.canonicalize().unwrap_or_else(|_| path.clone()));
            ensure!(new, "{} is named twice: name each file of a program once", path.display());
            sources.read(path).with_context(|| format!("reading {}", path.display()))?;
        }
        match compile(&sources) {
            Ok(compiled) => Ok((sources, compiled)),
            Err(errors) => {
                complain(&sources, &errors);
                match errors.len() {
                    1 => bail!("1 error"),
                    count if count >= MAX_ERRORS => bail!("the first {count} errors, and there may be more"),
                    count => bail!("{count} errors"),
                }
            }
        }
    }
}

/// Whether two names lead to one file.
#[cfg(unix)]
fn is_same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let which = |path: &Path| path.metadata().map(|there| (there.dev(), there.ino()));
    matches!((which(one), which(other)), (Ok(one), Ok(other)) if one == other)
}

/// Whether two names lead to one file, hard links aside.
#[cfg(not(unix))]
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Prints errors with excerpts of the source.
fn complain(sources: &Sources, errors: &[Diagnostic]) {
    let coloured = stderr().is_terminal();
    errors.iter().for_each(|error| standard::complain(error.render(sources, coloured).trim_end()));
}
