//! The program embedded in an executable that `thalweg build` has written.

use super::build::current_executable;
use super::payload::Payload;
use super::run::{Engine, Run};
use crate::footer;
use crate::interrupt::Interrupt;
use crate::watch::screen;
use anyhow::{Context, Result, bail};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, FromArgMatches};
use thalweg_codegen::Refusal;

/// A program embedded in this executable.
pub(crate) struct EmbeddedProgram {
    program: Payload,
}

/// The examples in the help text. The executable may have any name.
const EXAMPLES: &str = "\
Examples:
  ./PROGRAM --iterations 1000
  ./PROGRAM --iterations 1000 --threads 1 --report";

/// Arguments of `thalweg run` that are fixed when a program is built.
const FIXED_ARGUMENTS: [&str; 2] = ["files", "optimise"];

impl EmbeddedProgram {
    /// The program embedded in this executable, if there is one.
    ///
    /// # Errors
    /// The program is damaged.
    pub fn find() -> Result<Option<EmbeddedProgram>> {
        // If the executable cannot be read, it runs as the plain command.
        let Ok(mut file) = current_executable() else { return Ok(None) };
        let found = Payload::find(&mut file).context("this executable cannot run")?;
        Ok(found.map(|program| EmbeddedProgram { program }))
    }

    /// Parses the arguments, which are those of `thalweg run`.
    ///
    /// # Errors
    /// They are invalid, or request help.
    pub fn parse(&self) -> Result<Run, clap::Error> {
        let command = Run::augment_args(clap::Command::new(leaked(self.program.name.clone())))
            .version(env!("CARGO_PKG_VERSION"))
            .about(leaked(self.about()))
            .long_about(leaked(self.long_about()))
            .after_long_help(EXAMPLES)
            .color(screen::colours_of_help());
        let mut command = footer::with_exit_codes(command);
        for fixed in FIXED_ARGUMENTS {
            command = command.mut_arg(fixed, |arg| arg.required(false).hide(true));
        }
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        for fixed in FIXED_ARGUMENTS {
            if matches.value_source(fixed) == Some(ValueSource::CommandLine) {
                let message = format!("`{fixed}` was fixed when `thalweg build` wrote this executable");
                return Err(command.error(ErrorKind::UnknownArgument, message));
            }
        }
        Run::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }

    fn about(&self) -> String {
        let files: Vec<&str> = self.program.sources.files().iter().map(|file| file.name.as_str()).collect();
        format!("The StreamIt program `{}` from {}", self.program.name, files.join(", "))
    }

    fn long_about(&self) -> String {
        let code = match &self.program.code {
            Ok(_) => "It runs as native code.".to_owned(),
            Err(why) => format!("The interpreter runs it: {why}."),
        };
        format!(
            "{}, built by `thalweg build`. {code}\n\nStandard output has the output of the program and nothing \
             else. Paths are relative to the working directory; `-` means standard input or output.",
            self.about()
        )
    }

    /// Runs the program.
    pub fn run(self, mut run: Run, interrupt: &Interrupt) -> Result<()> {
        let Payload { sources, code, .. } = self.program;
        let Ok(compiled) = thalweg_lang::compile(&sources) else {
            // It compiled when it was built. But its streams may depend on files.
            bail!(
                "the program's streams cannot be constructed any more\n\
                 help: check the files that it reads while its streams are constructed"
            );
        };
        if let Err(why) = &code
            && run.engine == Some(Engine::Native)
        {
            bail!("this executable has no native code: {why}");
        }
        if code.is_err() {
            run.engine = Some(Engine::Interpreter);
        }
        run.execute(interrupt, &sources, compiled, |_, compiled| match code {
            Ok(object) => object.load(compiled),
            Err(why) => Err(Refusal::Unable(why)),
        })
    }
}

/// Leaks a string to make it static. Called a constant number of times.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
