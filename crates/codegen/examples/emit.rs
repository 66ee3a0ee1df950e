//! Prints the C text of a program: `emit LEVEL FILE.str...`, where the level is 0, 1 or 2.

use std::path::Path;
use std::process::ExitCode;
use thalweg_codegen::{Level, source};
use thalweg_lang::{Sources, compile};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let level = match args.next().as_deref() {
        Some("0") => Level::Plain,
        Some("1") => Level::Fused,
        _ => Level::Vectors,
    };
    let mut sources = Sources::new();
    for file in args {
        if let Err(error) = sources.read(Path::new(&file)) {
            eprintln!("{file}: {error}");
            return ExitCode::FAILURE;
        }
    }
    match compile(&sources) {
        Ok(compiled) => match source(&compiled, level) {
            Ok(text) => {
                print!("{text}");
                ExitCode::SUCCESS
            }
            Err(refusal) => {
                eprintln!("{refusal}");
                ExitCode::FAILURE
            }
        },
        Err(errors) => {
            errors.iter().for_each(|error| eprint!("{}", error.render(&sources, false)));
            ExitCode::FAILURE
        }
    }
}
