//! `kpn.aes.*`: a block of memory encrypted in parts by as many processes as there are threads, as in the Nornir
//! paper (section 5.3.2).
//!
//! The yardstick is the `aes` crate over the same memory on one thread. Both make the memory and fold what comes
//! out, in order and on one thread; so many passes lie between that this is little.

use thalweg_kpn::{Mode, aes};

use super::kpn::{ours, pinned};
use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;

/// Bytes of the memory, and how often it is encrypted.
const BYTES: usize = 64 << 20;
const PASSES: u32 = 64;

/// Runs the figures of this family that were asked for.
pub fn run(session: &mut Session) {
    for (name, mode) in [("ecb", Mode::Ecb), ("ctr", Mode::Ctr(1))] {
        for threads in session.thread_counts() {
            encryption(session, &format!("kpn.aes.{name}.t{threads}"), mode, threads);
        }
    }
}

fn encryption(session: &mut Session, name: &str, mode: Mode, threads: usize) {
    if !session.wants(name) {
        return;
    }
    let bytes = if session.options.quick { BYTES / 16 } else { BYTES };
    let job = move || aes(bytes, threads, PASSES, mode);
    let sum = job().expected();
    let racer = |name: &'static str, role, policy: &'static str| {
        let run = move || ours(job, &pinned(threads).policy(policy));
        Contestant::new(name, role, 1, run).against("aes").expecting(sum)
    };
    let contestants = vec![
        Contestant::new("aes", Role::Yardstick, 1, move || Ok(Some(timed(|| job().expected()))))
            .against("aes")
            .expecting(sum),
        racer("ours", Role::Ours, "auto"),
        racer("ws-cur", Role::Aside, "ws-cur"),
        racer("ws-last", Role::Aside, "ws-last"),
    ];
    session.figure(name, Measure::Speed, threads, contestants);
}
