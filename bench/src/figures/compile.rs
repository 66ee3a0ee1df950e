//! `str.compile.*`: from the text of the suite's largest programs to native code that is ready to run.

use thalweg_codegen::{Cache, Config, Level};

use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;

/// The two programs of the suite that take longest to start: the one with the longest C (620 KB), and the one with the
/// filters that take longest to lower (316 KB of C in firings without loops). DES has the longest source text, and
/// starts sooner.
const LARGEST: &str = "time_delay_equaliser";
const SLOWEST: &str = "serpent";

/// Figures: the name, the program, and whether it was compiled before.
const FIGURES: [(&str, &str, bool); 3] = [
    ("str.compile.largest.cold", LARGEST, false),
    ("str.compile.largest.cached", LARGEST, true),
    ("str.compile.slowest.cached", SLOWEST, true),
];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for (name, program, cached) in FIGURES {
        if session.selects(name) {
            one(session, name, program, cached);
        }
    }
}

/// Milliseconds to compile a program, or to find it in the cache.
fn one(session: &mut Session, name: &str, program: &'static str, cached: bool) {
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => return session.errors.push(format!("{name}: {error}")),
    };
    let cache = if cached { Cache::Folder(folder.path().into()) } else { Cache::None };
    let config = Config { level: Level::Vectors, cache, compiler: None };
    if cached && let Err(error) = prepare(program, &config) {
        return session.errors.push(format!("{name}: {error}"));
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

/// All steps from a program's text to its first firing.
fn prepare(program: &str, config: &Config) -> Result<(), String> {
    let program = thalweg_str::Program::named(program).ok_or("no such program")?;
    let compiled = thalweg_lang::compile(&program.sources(&[])?).map_err(|errors| format!("{errors:?}"))?;
    thalweg_codegen::build(&compiled.into(), config).map(|_| ()).map_err(|refusal| refusal.to_string())
}
