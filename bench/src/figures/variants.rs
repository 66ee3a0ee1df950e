//! `farm.outputs03.*`, `farm.rounds13.*`, `farm.peek64.*`: variants of the farm.
//!
//! Both the variant and the plain farm are compared with perfect splits of their own work; the ratio of the two
//! efficiencies is the figure. The plain farm is in the place of the best peer.

use super::{farm, format_ns};
use crate::jobs::Farm;
use crate::line::Measure;
use crate::ours;
use crate::race::{Contestant, Outcome, Role};
use crate::row::Row;
use crate::session::Session;
use crate::variants::{split_outputs, split_peek, split_rounds};

/// A variant: its name, the mean number of rounds of an item, our run, and the perfect split.
type Variant = (&'static str, f64, fn(&Farm) -> Outcome, fn(&Farm) -> Row);

const VARIANTS: [Variant; 3] = [
    ("outputs03", 1.0, ours::farm_outputs, split_outputs),
    ("rounds13", 2.0, ours::farm_rounds, split_rounds),
    ("peek64", 1.0, ours::farm_peek, split_peek),
];

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for variant in VARIANTS {
        for ns in [200, 1_000, 10_000] {
            let threads = session.options.threads;
            let name = format!("farm.{}.w{}.t{threads}", variant.0, format_ns(ns));
            if session.selects(&name) {
                figure(session, &name, ns, variant);
            }
        }
    }
}

fn figure(session: &mut Session, name: &str, ns: u64, (_, rounds, run, split): Variant) {
    let (plain, job) = (farm::job(session, ns, 1.0), farm::job(session, ns, rounds));
    let (plain_sum, sum) = (plain.split().checksum, split(&job).checksum);
    let contestants = vec![
        Contestant::new("split", Role::Yardstick, job.items, || Ok(Some(split(&job)))).expecting(sum),
        Contestant::new("ours", Role::Ours, job.items, || run(&job)).expecting(sum),
        Contestant::new("plain-split", Role::Yardstick, plain.items, || Ok(Some(plain.split())))
            .expecting(plain_sum),
        Contestant::new("plain-farm", Role::Peer, plain.items, || ours::farm(&plain))
            .expecting(plain_sum)
            .against("plain-split"),
    ];
    session.figure(name, Measure::Speed, plain.threads, contestants);
}
