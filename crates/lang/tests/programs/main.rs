//! Random programs: they compile and run, the same each time, and changes that mean nothing change
//! nothing; what is almost a program is refused in good order.
//!
//! `THALWEG_CASES` says how many cases, `THALWEG_SEED` which come first.

mod cases;
mod run;

use cases::for_each;
use run::{ITERATIONS, compiled, run};
use thalweg_lang::generate::{Choices, Options, generate};

#[test]
fn generated_programs_compile_and_end() {
    for_each(100, &Options::default(), |program, _| {
        compiled(program)?;
        let run = run(program, ITERATIONS)?;
        match run.end {
            Ok(_) => Ok(()),
            Err(why) => Err(format!("it fails: {why}")),
        }
    });
}
