//! `thalweg man`.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use clap::Args;
use clap_mangen::roff::{Roff, roman};
use thalweg::embed::graph::shown;

use crate::footer::{self, EXAMPLES, Section};
use crate::interrupt::Interrupt;
use crate::{outputs, standard};

/// Write the manual pages of this command and of its verbs.
///
/// Without a folder, the page of the command itself goes to standard output. Into a folder, which is created if there is
/// none, go `thalweg.1` and a page for each verb, such as `thalweg-run.1`.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg man | man -l -
  thalweg man ~/.local/share/man/man1 && man thalweg-run")]
pub(crate) struct Man {
    /// The folder for the pages
    folder: Option<PathBuf>,
    /// Replace pages that exist
    #[arg(short, long, requires = "folder")]
    force: bool,
}

/// The date of the manual pages, which a page must have.
const DATE: &str = "2026-11-26";

/// What the pages belong to.
const SOURCE: &str = concat!("thalweg ", env!("CARGO_PKG_VERSION"));

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
        ensure!(
            folder.is_dir() || !folder.exists(),
            "{} is not a folder\nhelp: choose another name",
            shown(folder)
        );
        fs::create_dir_all(folder).with_context(|| format!("creating {}", shown(folder)))?;
        pages
            .iter()
            .try_for_each(|(name, text)| outputs::write(&folder.join(name), self.force, text, interrupt))
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

/// The page of a command. The footer of its help becomes sections, in the usual order: exit codes come before examples.
fn page(command: clap::Command) -> Result<Page> {
    let mut footer = footer::sections(&command);
    footer.sort_by_key(|section| section.manual_title() == EXAMPLES);
    let has_verbs = command.has_subcommands();
    let has_version = command.get_version().is_some();
    let page = clap_mangen::Man::new(command);
    let name = page.get_filename();
    let page = page.title(name.trim_end_matches(".1")).date(DATE).source(SOURCE).manual("User Commands");
    let mut text = Vec::new();
    let mut render = || {
        page.render_title(&mut text)?;
        page.render_name_section(&mut text)?;
        page.render_synopsis_section(&mut text)?;
        page.render_description_section(&mut text)?;
        page.render_options_section(&mut text)?;
        if has_verbs {
            page.render_subcommands_section(&mut text)?;
        }
        if has_version {
            page.render_version_section(&mut text)?;
        }
        of_footer(&footer).to_writer(&mut text)
    };
    render().context("making a manual page")?;
    Ok((name, tidy(&String::from_utf8_lossy(&text)).into_bytes()))
}

/// Without spaces at the ends of lines and without empty lines, which are not meant for this format.
fn tidy(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let mut lines: Vec<&str> = lines.collect();
    lines.dedup_by(|next, last| next == last && *next == ".br");
    lines.join("\n") + "\n"
}

/// The sections of a footer, whose lines stay as they are.
fn of_footer(sections: &[Section]) -> Roff {
    let mut roff = Roff::new();
    for section in sections {
        roff.control("SH", [section.manual_title().as_str()]).control("nf", []);
        for line in &section.lines {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff
}
