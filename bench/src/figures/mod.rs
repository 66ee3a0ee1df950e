//! The figures, one file for each family.

mod aes;
mod apps;
mod archives;
mod chain;
mod channel;
mod cluster;
mod compile;
mod danbi;
mod dedup;
mod dynamic;
mod farm;
mod fastq;
mod ferret;
mod h264;
mod hybrid;
mod idle;
mod kpn;
mod kpn_memory;
mod locality;
mod loops;
mod map;
mod map_model;
mod operators;
pub mod owned;
mod partition;
mod pools;
mod predict;
mod report;
mod small;
mod streamit;
mod streamit_threads;
mod sweep;
mod variants;
mod wordcount;

pub use danbi::{PARTS as DANBI_PARTS, are_dilated};
pub use fastq::child as fastq;
pub use ferret::FERRET;
pub use kpn_memory::child as resident;
pub use locality::child as app;
pub use loops::child as loops;
pub use small::child as first;
pub use sweep::run as sweep;

use crate::session::Session;

/// Runs all selected figures.
pub fn all(session: &mut Session) {
    // The allocator stands in the names of this family alone.
    if cfg!(feature = "mimalloc") {
        return owned::run(session);
    }
    channel::run(session);
    chain::run(session);
    farm::run(session);
    variants::run(session);
    pools::run(session);
    report::run(session);
    small::run(session);
    operators::run(session);
    ferret::run(session);
    predict::run(session);
    map::run(session);
    owned::run(session);
    fastq::run(session);
    loops::run(session);
    apps::run(session);
    kpn::run(session);
    aes::run(session);
    kpn_memory::run(session);
    partition::run(session);
    h264::run(session);
    wordcount::run(session);
    streamit::run(session);
    dynamic::run(session);
    streamit_threads::run(session);
    compile::run(session);
    idle::run(session);
    dedup::run(session);
    cluster::run(session);
}

/// Formats a duration in nanoseconds for a figure's name.
fn format_ns(ns: u64) -> String {
    match ns {
        0 => "0".into(),
        ns if ns % 1000 == 0 => format!("{}us", ns / 1000),
        ns => format!("{ns}ns"),
    }
}
