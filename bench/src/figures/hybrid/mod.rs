//! `hybrid.*`: the figures of Soulé and others, "Dynamic expressivity with static optimization for streaming languages",
//! 2013, with their axes. `hybrid.7b.batch100.t2` is the point of Figure 7b with batches of 100 on two threads.
//!
//! [`fused`] has Figures 5a to 5d, [`parallel`] 6a and 6b, [`schedulers`] 7a and 7b, [`applications`] 8a to 8c. The
//! numbers of threads are the powers of two up to the processors of this machine, and all of them, whatever
//! `--threads` says.

mod applications;
mod fused;
mod parallel;
mod pipelines;
mod schedulers;

use crate::machine;
use crate::native::Compiler;
use crate::session::Session;

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    let compiler = match Compiler::new() {
        Ok(compiler) => compiler,
        Err(error) => return session.errors.push(format!("hybrid: a temporary folder: {error}")),
    };
    fused::run(session, &compiler);
    parallel::run(session, &compiler);
    schedulers::run(session, &compiler);
    applications::run(session, &compiler);
}

/// Runs a figure if it is selected; its error becomes one of the session.
fn figure(session: &mut Session, name: &str, run: impl FnOnce(&mut Session, &str) -> Result<(), String>) {
    if session.selects(name)
        && let Err(error) = run(session, name)
    {
        eprintln!("error: {name}: {error}");
        session.errors.push(format!("{name}: {error}"));
    }
}

/// The numbers of threads of this machine's points.
fn thread_counts() -> Vec<usize> {
    up_to(machine::cores())
}

/// The powers of two below `cores`, and `cores`.
fn up_to(cores: usize) -> Vec<usize> {
    let powers = (0..).map(|power| 1 << power).take_while(|threads| *threads < cores);
    powers.chain([cores]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn thread_counts_end_with_all_processors() {
        assert_eq!(super::up_to(1), [1]);
        assert_eq!(super::up_to(2), [1, 2]);
        assert_eq!(super::up_to(12), [1, 2, 4, 8, 12]);
        assert_eq!(super::up_to(16), [1, 2, 4, 8, 16]);
    }
}
