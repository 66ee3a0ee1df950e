//! `kpn.aes.*`: a block of memory encrypted in parts by as many processes as there are threads, as in the Nornir
//! paper (section 5.3.2).
//!
//! The yardstick is the `aes` crate over the same memory on one thread. Both create the memory and fold the result on
//! one thread; next to the many passes of encryption this costs little.

use thalweg_kpn::{Mode, aes};

use super::kpn::{ours, pinned};
use crate::line::Measure;
use crate::race::{Contestant, Role};
use crate::row::timed;
use crate::session::Session;

/// The bytes of memory, and the number of times they are encrypted.
const BYTES: usize = 64 << 20;
const PASSES: u32 = 64;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for (name, mode) in [("ecb", Mode::Ecb), ("ctr", Mode::Ctr(1))] {
        for threads in session.thread_counts() {
            encryption(session, &format!("kpn.aes.{name}.t{threads}"), mode, threads);
        }
    }
}

fn encryption(session: &mut Session, name: &str, mode: Mode, threads: usize) {
    if !session.selects(name) {
        return;
    }
    let bytes = if session.options.quick { BYTES / 16 } else { BYTES };
    let job = move || aes(bytes, threads, PASSES, mode);
    let sum = job().expected();
    let contestant = |name: &'static str, role, policy: &'static str| {
        let run = move || ours(job, &pinned(threads).policy(policy));
        Contestant::new(name, role, 1, run).against("aes").expecting(sum)
    };
    let contestants = vec![
        Contestant::new("aes", Role::Yardstick, 1, move || Ok(Some(timed(|| job().expected()))))
            .against("aes")
            .expecting(sum),
        contestant("ours", Role::Ours, "auto"),
        contestant("ws-cur", Role::Aside, "ws-cur"),
        contestant("ws-last", Role::Aside, "ws-last"),
    ];
    session.figure(name, Measure::Speed, threads, contestants);
}
