//! `str.compile.*`: from the text of the suite's largest programs to native code that is ready to run.

use thalweg_codegen::{Cache, Config, Level};

use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;

/// The program of the suite with the longest C (620 KB), and the one whose filters take longest to lower (316 KB of C in
/// firings without loops): those that start last. DES has the longest text of its own, and starts sooner.
const LARGEST: &str = "time_delay_equaliser";
const SLOWEST: &str = "serpent";

/// Figures, what they are of, and whether it has been compiled before.
const FIGURES: [(&str, &str, bool); 3] = [
    ("str.compile.largest.cold", LARGEST, false),
    ("str.compile.largest.cached", LARGEST, true),
    ("str.compile.slowest.cached", SLOWEST, true),
];

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    for (name, program, cached) in FIGURES {
        if session.wants(name) {
            one(session, name, program, cached);
        }
    }
}

/// Milliseconds with what was compiled before, or without.
fn one(session: &mut Session, name: &str, program: &'static str, cached: bool) {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let cache = if cached { Cache::Folder(folder.path().into()) } else { Cache::None };
    let config = Config { level: Level::Vectors, cache, compiler: None };
    if cached && let Err(why) = prepare(program, &config) {
        return session.errors.push(format!("{name}: {why}"));
    }
    let run = move || {
        let mut done = Ok(());
        let row = timed(|| {
            done = prepare(program, &config);
            0
        });
        done.map(|()| Some(row))
    };
    session.figure(name, Measure::Ms, 1, vec![Contestant::new("ours", Role::Ours, 1, run)]);
}

/// Everything that stands between a text and its first firing.
fn prepare(program: &str, config: &Config) -> Result<(), String> {
    let program = thalweg_str::Program::named(program).ok_or("no such program")?;
    let compiled = thalweg_lang::compile(&program.sources(&[])?).map_err(|errors| format!("{errors:?}"))?;
    thalweg_codegen::build(&compiled.into(), config).map(|_| ()).map_err(|refusal| refusal.to_string())
}
