//! The `thalweg` command: one file per verb. This is the only crate of the workspace that prints.

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use thalweg::embed::graph::shown;

use interrupt::Interrupt;
use misuse::Misuse;
use streamit::EmbeddedProgram;
use watch::screen;

mod align;
mod blur;
mod completions;
mod danbi;
mod dedup;
mod demo;
mod despeckle;
mod engine;
mod footer;
mod interrupt;
mod kpn;
#[cfg(feature = "cluster")]
mod launch;
mod life;
mod machine;
mod manual;
mod mapping;
mod memory;
mod misuse;
mod outputs;
mod pagerank;
mod picture;
mod pipelines;
mod plan;
mod plot;
#[cfg(feature = "cluster")]
mod processes;
mod progress;
mod results;
mod scheduling;
mod show;
mod size;
mod standard;
mod stencil;
mod streamit;
mod text;
mod threads;
mod watch;
mod wordcount;

/// Stream processing on multicore machines.
///
/// Runs StreamIt programs and applications of the thalweg engine on all cores, and demonstrates the engine (`thalweg demo`). The result of each is the same at any number
/// of threads. `thalweg VERB --help` describes the options of a verb.
#[derive(Debug, Parser)]
#[command(
    name = "thalweg",
    version,
    arg_required_else_help = true,
    after_long_help = "Examples:
  thalweg dedup pack photos -o photos.thd
  thalweg align reads.fa genes.fa --best
  thalweg check program.str && thalweg run program.str --iterations 100
  thalweg run program.str --iterations 100 --report"
)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Dedup(dedup::Dedup),
    Align(align::Align),
    Blur(blur::Blur),
    Despeckle(despeckle::Despeckle),
    Check(streamit::Check),
    Graph(streamit::Graph),
    Run(streamit::Run),
    Build(streamit::Build),
    Show(show::Show),
    Machine(machine::Machine),
    #[cfg(feature = "cluster")]
    Launch(launch::Launch),
    Demo(demo::Demo),
    Completions(completions::Completions),
    Man(manual::Man),
}

impl Command {
    /// The command with its verbs, options and help texts.
    fn described() -> clap::Command {
        footer::with_exit_codes(Command::command())
    }

    fn parse_arguments() -> Result<Command, clap::Error> {
        let mut command = Command::described().color(screen::colours_of_help());
        let matches = command.try_get_matches_from_mut(std::env::args_os());
        let matches = matches.map_err(|error| demo::suggest(&command, error))?;
        Command::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

fn main() -> ExitCode {
    match EmbeddedProgram::find() {
        Ok(None) => {}
        Ok(Some(program)) => return run_embedded(program),
        Err(error) => return failure(&error),
    }
    let command = match Command::parse_arguments() {
        Ok(command) => command,
        Err(message) => return not_run(&message),
    };
    let interrupt = match prepare() {
        Ok(interrupt) => interrupt,
        Err(error) => return failure(&error),
    };
    let result = match command.verb {
        Verb::Dedup(dedup) => dedup.run(&interrupt),
        Verb::Align(align) => align.run(&interrupt),
        Verb::Blur(blur) => blur.run(&interrupt),
        Verb::Despeckle(despeckle) => despeckle.run(&interrupt),
        Verb::Check(check) => check.run(),
        Verb::Graph(graph) => graph.run(&interrupt),
        Verb::Run(run) => run.run(&interrupt),
        Verb::Build(build) => build.run(&interrupt),
        Verb::Show(show) => show.run(&interrupt),
        Verb::Machine(machine) => machine.run(&interrupt),
        #[cfg(feature = "cluster")]
        Verb::Launch(launch) => launch.run(&interrupt),
        Verb::Demo(demo) => demo.run(&interrupt),
        Verb::Completions(completions) => completions.run(Command::described()),
        Verb::Man(man) => man.run(Command::described(), &interrupt),
    };
    exit_code(result, &interrupt)
}

/// Installs what handles signals, and what names outputs that killed runs have left.
fn prepare() -> anyhow::Result<Interrupt> {
    let interrupt = Interrupt::install()?;
    thalweg_files::on_stale(removed_stale);
    interrupt::survive_file_size_limit()?;
    Ok(interrupt)
}

/// Runs the program embedded in this executable by `thalweg build`.
fn run_embedded(program: EmbeddedProgram) -> ExitCode {
    let run = match program.parse() {
        Ok(run) => run,
        Err(message) => return not_run(&message),
    };
    match prepare() {
        Ok(interrupt) => exit_code(program.run(run, &interrupt), &interrupt),
        Err(error) => failure(&error),
    }
}

/// Prints the help or the version that the arguments ask for, or what is wrong with them.
fn not_run(message: &clap::Error) -> ExitCode {
    if is_said_elsewhere() {
        // All processes of a launch have the same arguments.
    } else if message.use_stderr() {
        _ = message.print(); // an error, which cannot be reported
    } else if let Err(error) = standard::print_by(|| message.print()) {
        return failure(&error);
    }
    u8::try_from(message.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Names an output that a killed process has left.
fn removed_stale(output: &Path) {
    standard::eprint(&format!("note: removed {}, which a killed run had left unfinished", shown(output)));
}

fn exit_code(result: anyhow::Result<()>, interrupt: &Interrupt) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            interrupt.end_if_interrupted(&error);
            let code = failure(&error);
            interrupt::note_left();
            code
        }
    }
}

/// What the engine says to do about its error, which prints without it.
fn help(error: &anyhow::Error) -> Option<String> {
    error.chain().find_map(|cause| match cause.downcast_ref::<thalweg_dedup::Error>() {
        Some(thalweg_dedup::Error::Engine(engine)) => engine.help(),
        _ => cause.downcast_ref::<thalweg::Error>()?.help(),
    })
}

/// Whether process 0 of a launch says what this process would say of its arguments.
fn is_said_elsewhere() -> bool {
    launched_as().is_some_and(|process| process > 0)
}

/// Whether a launcher has started this process, and says what ends it.
fn is_launched() -> bool {
    launched_as().is_some()
}

fn launched_as() -> Option<usize> {
    #[cfg(feature = "cluster")]
    let process = thalweg_cluster::Cluster::launched_as();
    #[cfg(not(feature = "cluster"))]
    let process = None;
    process
}

fn failure(error: &anyhow::Error) -> ExitCode {
    #[cfg(feature = "cluster")]
    if error.is::<processes::SaidElsewhere>() {
        return ExitCode::FAILURE;
    }
    let help = help(error).map_or_else(String::new, |help| format!("\nhelp: {help}"));
    standard::eprint(&format!("error: {}", standard::harmless(&format!("{error:#}{help}"))));
    if error.is::<Misuse>() {
        ExitCode::from(misuse::EXIT)
    } else if error.is::<dedup::Incomplete>() {
        ExitCode::from(dedup::INCOMPLETE)
    } else {
        ExitCode::FAILURE
    }
}
