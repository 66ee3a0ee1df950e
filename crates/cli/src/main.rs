//! The `thalweg` command: one file per verb, and the only crate of the workspace that prints.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod dedup;
mod progress;
mod size;
mod standard;

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
}

fn main() -> ExitCode {
    let command = Command::parse();
    let result = match command.verb {
        Verb::Dedup(dedup) => dedup.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            standard::complain(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}
