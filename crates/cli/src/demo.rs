//! `thalweg demo`.

use anyhow::Result;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, Subcommand};

use crate::danbi::Danbi;
use crate::interrupt::Interrupt;
use crate::kpn::Kpn;
use crate::life::Life;
use crate::pagerank::Pagerank;
use crate::pipelines::Pipelines;
use crate::stencil::Stencil;
use crate::wordcount::Wordcount;

/// Run a demonstration of the engine.
///
/// Each is a program of the literature on parallel streams and loops, with inputs of its own or yours. It checks its result, or
/// has the same one at any number of threads.
#[derive(Debug, Args)]
#[command(after_long_help = "Examples:
  thalweg demo wordcount --top 20 book.txt
  thalweg demo life r-pentomino --until-settled
  thalweg demo kpn ring --processes 10000 --rounds 10 --report
  thalweg demo danbi merge-sort --scale 0.01 --check
  thalweg demo pipelines lz77 book.txt -o book.lz77")]
pub(crate) struct Demo {
    #[command(subcommand)]
    program: Program,
}

#[derive(Debug, Subcommand)]
enum Program {
    Wordcount(Wordcount),
    Pagerank(Pagerank),
    Life(Life),
    Stencil(Stencil),
    Kpn(Kpn),
    Danbi(Danbi),
    Pipelines(Pipelines),
}

impl Demo {
    pub fn run(self, interrupt: &Interrupt) -> Result<()> {
        match self.program {
            Program::Wordcount(wordcount) => wordcount.run(interrupt),
            Program::Pagerank(pagerank) => pagerank.run(interrupt),
            Program::Life(life) => life.run(interrupt),
            Program::Stencil(stencil) => stencil.run(),
            Program::Kpn(kpn) => kpn.run(interrupt),
            Program::Danbi(danbi) => danbi.run(interrupt),
            Program::Pipelines(pipelines) => pipelines.run(interrupt),
        }
    }
}

/// Names the demonstration in the error about an unknown verb of `command`, if that is the name of one.
pub(crate) fn suggest(command: &clap::Command, mut error: clap::Error) -> clap::Error {
    let name = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if error.kind() == ErrorKind::InvalidSubcommand => name.clone(),
        _ => return error,
    };
    if command.find_subcommand("demo").is_some_and(|demo| demo.find_subcommand(&name).is_some()) {
        let tip = format!("it is a demonstration: 'thalweg demo {name}'");
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}
