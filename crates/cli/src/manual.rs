//! `thalweg man`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use thalweg::graph::shown;
use thalweg_files::OutFile;

use crate::interrupt::Interrupt;
use crate::standard;

/// Write the manual pages of this command and of its verbs.
///
/// Without a folder, the page of the command itself goes to standard output. Into a folder, which is created if there is
/// none, go `thalweg.1` and a page for each verb, such as `thalweg-run.1`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  thalweg man | man -l -
  thalweg man ~/.local/share/man/man1 && man thalweg-run")]
pub(crate) struct Man {
    /// The folder for the pages
    folder: Option<PathBuf>,
    /// Replace pages that exist
    #[arg(short, long, requires = "folder")]
    force: bool,
}

/// A manual page: the name of its file, and its text.
type Page = (String, Vec<u8>);

impl Man {
    /// Writes the pages of `command`.
    pub fn run(self, command: clap::Command, interrupt: &Interrupt) -> Result<()> {
        let mut command = command.disable_help_subcommand(true);
        command.build();
        let Some(folder) = &self.folder else {
            let (_, text) = page(command)?;
            return standard::print_by(|| io::stdout().write_all(&text));
        };
        let mut pages = Vec::new();
        add_pages(command, &mut pages)?;
        fs::create_dir_all(folder).with_context(|| format!("creating {}", shown(folder)))?;
        pages.iter().try_for_each(|page| self.write(folder, page, interrupt))
    }

    fn write(&self, folder: &Path, (name, text): &Page, interrupt: &Interrupt) -> Result<()> {
        let path = folder.join(name);
        let _guard = interrupt.guard();
        let mut file = OutFile::create(&path, self.force)?.durable(false);
        file.write_all(text).with_context(|| format!("writing {}", shown(&path)))?;
        interrupt.stop().check()?;
        Ok(file.commit()?)
    }
}

/// Adds the pages of a command and of its verbs.
fn add_pages(command: clap::Command, pages: &mut Vec<Page>) -> Result<()> {
    for verb in command.get_subcommands() {
        add_pages(verb.clone(), pages)?;
    }
    pages.push(page(command)?);
    Ok(())
}

/// The page of a command.
fn page(command: clap::Command) -> Result<Page> {
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text).context("making a manual page")?;
    Ok((page.get_filename(), text))
}
