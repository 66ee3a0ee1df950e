//! `locality.*`: the figures and tables of chapters 5 and 6 of Maglalang, "Locality-Aware Concurrency Platforms".
//! `locality.5-7.heat.p80` is the point of Figure 5.7 for `heat` with 80 workers.
//!
//! [`counts`] and [`loops`] have what the virtual host counts: nodes, remote accesses, steals and ticks, for up to 80
//! workers. [`times`] and [`apps`] have what this machine measures, on one thread and on `--threads`.

mod apps;
mod counts;
mod loops;
mod times;

pub use apps::child;

use crate::session::Session;

/// Runs the selected figures.
pub fn run(session: &mut Session) {
    counts::run(session);
    loops::run(session);
    times::run(session);
    apps::run(session);
}
