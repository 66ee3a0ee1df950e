//! What an executable made by `thalweg build` does.

use super::build::own;
use super::payload::Payload;
use super::run::{Engine, Run};
use crate::interrupt::Interrupt;
use anyhow::{Context, Result, bail};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, FromArgMatches};
use thalweg_codegen::Refusal;

/// A program that this executable carries.
pub(crate) struct Carried {
    program: Payload,
}

/// Arguments of `thalweg run` that were settled when the program was built.
const SETTLED: [&str; 2] = ["files", "optimise"];

impl Carried {
    /// The program that this executable carries, if it does.
    ///
    /// # Errors
    /// It is damaged.
    pub fn find() -> Result<Option<Carried>> {
        // One that cannot be read carries nothing that could be run.
        let Ok(mut file) = own() else { return Ok(None) };
        let found = Payload::find(&mut file).context("this executable cannot run")?;
        Ok(found.map(|program| Carried { program }))
    }

    /// The arguments, which are those of `thalweg run`; ends the process where they are wrong, or ask for
    /// help.
    pub fn parse(&self) -> Run {
        let mut command = Run::augment_args(clap::Command::new(leaked(self.program.name.clone())))
            .version(env!("CARGO_PKG_VERSION"))
            .about(leaked(self.about()))
            .long_about(leaked(self.long_about()))
            .after_help("");
        for settled in SETTLED {
            command = command.mut_arg(settled, |arg| arg.required(false).hide(true));
        }
        let matches = command.get_matches_mut();
        for settled in SETTLED {
            if matches.value_source(settled) == Some(ValueSource::CommandLine) {
                let said = format!("`{settled}` is settled in this executable, made by `thalweg build`");
                command.error(ErrorKind::UnknownArgument, said).exit();
            }
        }
        Run::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
    }

    fn about(&self) -> String {
        let files: Vec<&str> = self.program.sources.files().iter().map(|file| file.name.as_str()).collect();
        format!("The StreamIt program `{}` of {}", self.program.name, files.join(", "))
    }

    fn long_about(&self) -> String {
        let code = match &self.program.code {
            Ok(_) => "It is native code.".to_owned(),
            Err(why) => format!("The interpreter runs it: {why}."),
        };
        format!(
            "{}, made by `thalweg build`. {code}\n\nStandard output carries what the program prints, and \
             nothing else. Files are found from the working directory; `-` stands for standard input and \
             output.",
            self.about()
        )
    }

    /// Runs it.
    pub fn run(self, mut run: Run, interrupt: &Interrupt) -> Result<()> {
        let Payload { sources, code, .. } = self.program;
        let Ok(compiled) = thalweg_lang::compile(&sources) else {
            // It was right when it was built; what its streams are made of may be files.
            bail!("its streams cannot be made any more: does it read files that have changed?");
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

/// For as long as the process lives: there is one of each.
fn leaked(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}
