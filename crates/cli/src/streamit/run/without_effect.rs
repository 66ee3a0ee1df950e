//! Options of a run that have no effect.

use super::{Run, RunMode};
use clap::ValueEnum;
use std::path::Path;
use thalweg_codegen::{Native, Threads};
use thalweg_lang::Compiled;
use thalweg_lang::interpret::Options;
use thalweg_lang::tree::Code;

/// An option as the user has written it, and the reason why it has no effect.
fn unused(option: &str, why: &str) -> String {
    format!("`{option}` has no effect: {why}")
}

const NOT_DYNAMIC: &str = "the program has no dynamic rates";
const INTERPRETER: &str = "the interpreter runs the program";

impl Run {
    /// A line for each option that has no effect on a run of this program; without `native`, by the interpreter.
    pub(super) fn without_effect(
        &self,
        compiled: &Compiled,
        native: Option<&Native>,
        (threads, options): (&Threads, Options),
    ) -> Vec<String> {
        let mut notes = match native {
            Some(native) => self.without_effect_on(native, threads, options),
            None => self.without_effect_on_interpreter(),
        };
        if let (Some(bytes), None) = (self.budget, compiled.between_regions().next()) {
            notes.push(unused(
                &format!("--budget {}", thalweg::embed::trace::format_bytes_exactly(bytes)),
                NOT_DYNAMIC,
            ));
        }
        notes.extend(self.without_files(compiled));
        notes
    }

    fn without_effect_on(&self, native: &Native, threads: &Threads, options: Options) -> Vec<String> {
        let mut notes = Vec::new();
        let why = native.one_thread(options);
        let wants_threads = self.on.threads() > Some(1) || self.on.given().contains(&"--plan");
        if let (Some(why), true) = (why, wants_threads) {
            notes.push(format!("the program runs on one thread: {why}"));
        }
        let is_alone = why.is_some() || threads.count() == 1 && !self.has_thread_for_each_region(native);
        if let Some(mode) = self.mode_given() {
            let alone = why.filter(|_| !wants_threads).map_or_else(
                || "the program runs on one thread".to_owned(),
                |why| format!("the program runs on one thread: {why}"),
            );
            if self.mode.divides() && is_alone {
                notes.push(unused(&mode, &alone));
            } else if self.mode == RunMode::Data && !native.is_static() {
                notes.push(unused(
                    &mode,
                    "the program has dynamic rates, so it is divided as by `--mode auto`",
                ));
            }
        }
        if let Some(batch) = self.batch {
            let option = format!("--batch {batch}");
            match native.in_order(options) {
                Some(why) => notes.push(unused(&option, why)),
                None if native.is_static() && is_alone => {
                    let why = "the program has no dynamic rates and runs on one thread";
                    notes.push(unused(&option, why));
                }
                None => {}
            }
        }
        notes
    }

    fn without_effect_on_interpreter(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.on.threads() > Some(1) {
            notes.push("the program runs on one thread: the interpreter is single-threaded".to_owned());
        }
        let level = self.optimise.map(|level| format!("-O {level}"));
        let batch = self.batch.map(|batch| format!("--batch {batch}"));
        let own = self.mode_given().into_iter().chain(level).chain(batch);
        // The interpreter's report has counts and the memory of queues.
        let given = self.on.given().into_iter().filter(|option| *option != "--report");
        let given = given.map(str::to_owned).chain(own);
        notes.extend(given.map(|option| unused(&option, INTERPRETER)));
        notes
    }

    /// Options about files where the program has no such file.
    fn without_files(&self, compiled: &Compiled) -> Vec<String> {
        let codes = || compiled.tree.filters.iter().map(|filter| &filter.code);
        let mut notes = Vec::new();
        if self.repeat_input && !codes().any(|code| matches!(code, Code::FileReader(_))) {
            notes.push(unused("--repeat-input", "the program reads no file"));
        }
        let is_text = |code: &Code| match code {
            Code::FileReader(name) => !super::is_wav(self.input.as_deref().unwrap_or(Path::new(name))),
            Code::FileWriter(name, _) => !super::is_wav(self.output.as_deref().unwrap_or(Path::new(name))),
            _ => false,
        };
        if self.text && !codes().any(is_text) {
            notes.push(unused("--text", "the program reads and writes no file other than sound"));
        }
        notes
    }

    /// The option `--mode`, unless it is the default.
    fn mode_given(&self) -> Option<String> {
        let mode = self.mode.to_possible_value().filter(|_| self.mode != RunMode::Auto)?;
        Some(format!("--mode {}", mode.get_name()))
    }

    /// Whether regions have threads of their own, whatever the number of threads is.
    fn has_thread_for_each_region(&self, native: &Native) -> bool {
        self.mode == RunMode::OsThread && !native.is_static()
    }
}

impl RunMode {
    /// Whether it says how several threads divide the program.
    fn divides(self) -> bool {
        matches!(self, RunMode::Filters | RunMode::Pipeline | RunMode::Data | RunMode::OsThread)
    }
}
