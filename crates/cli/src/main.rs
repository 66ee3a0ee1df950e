//! The `thalweg` command: one file per verb. This is the only crate of the workspace that prints.

use std::path::Path;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use interrupt::Interrupt;
use streamit::EmbeddedProgram;

mod align;
mod dedup;
mod engine;
mod interrupt;
mod life;
mod machine;
mod memory;
mod pagerank;
mod plan;
mod progress;
mod results;
mod scheduling;
mod show;
mod size;
mod standard;
mod stencil;
mod streamit;
mod threads;
mod watch;
mod wordcount;

/// Stream processing on multicore machines.
#[derive(Debug, Parser)]
#[command(name = "thalweg", version, arg_required_else_help = true)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Pack files into a deduplicated, compressed archive, and unpack them again.
    Dedup(dedup::Dedup),
    Wordcount(wordcount::Wordcount),
    Pagerank(pagerank::Pagerank),
    Life(life::Life),
    Stencil(stencil::Stencil),
    Align(align::Align),
    Check(streamit::Check),
    Graph(streamit::Graph),
    Run(streamit::Run),
    Build(streamit::Build),
    Show(show::Show),
    Machine(machine::Machine),
}

fn main() -> ExitCode {
    match EmbeddedProgram::find() {
        Ok(None) => {}
        Ok(Some(program)) => return run_embedded(program),
        Err(error) => return failure(&error),
    }
    let command = Command::parse();
    let interrupt = match Interrupt::install() {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(&error),
    };
    thalweg_files::on_stale(removed_stale);
    if let Err(error) = interrupt::survive_file_size_limit() {
        return failure(&error);
    }
    let result = match command.verb {
        Verb::Dedup(dedup) => dedup.run(&interrupt),
        Verb::Wordcount(wordcount) => wordcount.run(&interrupt),
        Verb::Pagerank(pagerank) => pagerank.run(&interrupt),
        Verb::Life(life) => life.run(&interrupt),
        Verb::Stencil(stencil) => stencil.run(),
        Verb::Align(align) => align.run(&interrupt),
        Verb::Check(check) => check.run(),
        Verb::Graph(graph) => graph.run(),
        Verb::Run(run) => run.run(&interrupt),
        Verb::Build(build) => build.run(&interrupt),
        Verb::Show(show) => show.run(&interrupt),
        Verb::Machine(machine) => machine.run(&interrupt),
    };
    exit_code(result, &interrupt)
}

/// Runs the program embedded in this executable by `thalweg build`.
fn run_embedded(program: EmbeddedProgram) -> ExitCode {
    let run = program.parse();
    match Interrupt::install() {
        Ok(interrupt) => exit_code(program.run(run, &interrupt), &interrupt),
        Err(error) => failure(&error),
    }
}

/// Names an output that a killed process has left.
fn removed_stale(output: &Path) {
    let output = thalweg_files::printable(output);
    standard::eprint(&format!("note: removed {output}, which a killed run had left unfinished"));
}

fn exit_code(result: anyhow::Result<()>, interrupt: &Interrupt) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => interrupt.exit_code(&error).unwrap_or_else(|| failure(&error)),
    }
}

fn failure(error: &anyhow::Error) -> ExitCode {
    standard::eprint(&format!("error: {error:#}"));
    if error.is::<dedup::Incomplete>() { ExitCode::from(dedup::INCOMPLETE) } else { ExitCode::FAILURE }
}
