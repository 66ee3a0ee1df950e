//! `str.compile.*`: from the text of the suite's largest program to native code that is ready to run.

use thalweg_codegen::{Cache, Config, Level};

use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;

/// The program of the suite with the longest text.
const PROGRAM: &str = "des";

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    for (name, cached) in [("str.compile.cold", false), ("str.compile.cached", true)] {
        if session.wants(name) {
            one(session, name, cached);
        }
    }
}

/// Milliseconds with what was compiled before, or without.
fn one(session: &mut Session, name: &str, cached: bool) {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let cache = if cached { Cache::Folder(folder.path().into()) } else { Cache::None };
    let config = Config { level: Level::Vectors, cache, compiler: None };
    if cached && let Err(why) = prepare(&config) {
        return session.errors.push(format!("{name}: {why}"));
    }
    let run = move || {
        let mut done = Ok(());
        let row = timed(|| {
            done = prepare(&config);
            0
        });
        done.map(|()| Some(row))
    };
    session.figure(name, Measure::Ms, 1, vec![Contestant::new("ours", Role::Ours, 1, run)]);
}

/// Everything that stands between a text and its first firing.
fn prepare(config: &Config) -> Result<(), String> {
    let program = thalweg_str::Program::named(PROGRAM).ok_or("no such program")?;
    let compiled = thalweg_lang::compile(&program.sources(&[])?).map_err(|errors| format!("{errors:?}"))?;
    thalweg_codegen::build(&compiled.into(), config).map(|_| ()).map_err(|refusal| refusal.to_string())
}
