//! `idle.*`: the processor time of a run that waits for its input.

use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Role};
use crate::session::Session;

/// Runs the figure if it is selected.
pub fn run(session: &mut Session) {
    let seconds = if session.options.quick { 1 } else { 5 };
    let name = format!("idle.wait{seconds}s");
    if session.selects(&name) {
        let threads = session.options.threads;
        let ours = Contestant::new("ours", Role::Ours, 1, move || ours::idle(seconds as f64, threads));
        session.figure(&name, Measure::CpuMs, threads, vec![ours]);
    }
}
