//! `kpn.*`: networks of Kahn processes, the workloads of the Nornir paper.
//!
//! Transactions and hops are in nanoseconds; pipeline, scatter-gather and the random network are efficiencies. "1:1" is
//! this engine with one thread for each process.

use thalweg::Options;
use thalweg_kpn::{
    Job, Layers, Order, layered, ping_pong, ping_pong_coroutines, pipeline, ring, scatter_gather,
};

use super::format_ns;
use crate::jobs::{Chain, equal_shares, split_parts};
use crate::line::Measure;
use crate::peers::crossbeam::Crossbeam;
use crate::peers::{external, link, tokio, tokio_ring};
use crate::race::{Contestant, Outcome, Role};
use crate::row::{Row, confined, timed};
use crate::session::Session;
use crate::work::Work;

/// Stages of the paper's pipeline.
const STAGES: usize = 50;
/// Workers of the scatter-gather figure.
const WORKERS: usize = 256;

/// Runs the selected figures of this family.
pub fn run(session: &mut Session) {
    for threads in session.thread_counts() {
        for accounted in [false, true] {
            transaction(session, threads, accounted);
        }
    }
    for (name, order) in [("creation", Order::Creation), ("shuffled", Order::Shuffled(1))] {
        hops(session, &format!("kpn.ring.{name}.t1"), order, 1_000_000);
        hops(session, &format!("kpn.ring.{name}.n100000.t1"), order, 100_000);
    }
    let threads = session.options.threads;
    for ns in [1_000, 10_000] {
        line::<1>(session, ns, threads);
        line::<8>(session, ns, threads);
        line::<64>(session, ns, threads);
        line::<256>(session, ns, threads);
    }
    scatter(session, &format!("kpn.scatter.w100us.t{threads}"), WORKERS, threads);
    for capacity in [64, 1] {
        for ns in [10_000, 100_000, 1_000_000] {
            let name = format!("kpn.layers.c{capacity}.w{}.t{threads}", format_ns(ns));
            let cost = ns as f64 * Layers::default().work(1000) as f64 / 1000.0;
            let messages = session.items(cost, threads).max(4);
            random_layers(session, &name, Sent { ns, messages }, capacity, threads);
        }
    }
}

/// Times a job from its construction to its end.
pub(super) fn ours(job: impl Fn() -> Job, options: &Options) -> Outcome {
    let mut outcome = Ok(());
    let row = timed(|| match job().run(options) {
        Ok((result, _)) => result,
        Err(error) => {
            outcome = Err(error.to_string());
            0
        }
    });
    outcome.map(|()| Some(row))
}

pub(super) fn pinned(threads: usize) -> Options {
    Options::new().threads(threads).pinned()
}

/// Two processes that send one message to and fro.
fn transaction(session: &mut Session, threads: usize, accounted: bool) {
    let name = format!("kpn.transaction{}.t{threads}", if accounted { ".accounted" } else { "" });
    if !session.selects(&name) {
        return;
    }
    let contestant = |name: &'static str, role, ns: f64, run: fn(u64, usize, bool) -> Outcome| {
        let rounds = session.items(ns, 1) / 2;
        Contestant::new(name, role, 2 * rounds, move || run(rounds, threads, accounted)).expecting(rounds)
    };
    let contestants = vec![
        contestant("ours", Role::Ours, 60.0, |rounds, threads, accounted| {
            let options = pinned(threads);
            ours(|| ping_pong(rounds), &if accounted { options } else { options.untimed() })
        }),
        contestant("coroutines", Role::Aside, 60.0, |rounds, threads, accounted| {
            let options = pinned(threads);
            ours(|| ping_pong_coroutines(rounds), &if accounted { options } else { options.untimed() })
        }),
        contestant("1:1", Role::Aside, 8_000.0, |rounds, threads, _| {
            confined(threads, || {
                ours(|| ping_pong(rounds), &Options::new().threads(threads).thread_per_node())
            })
        }),
        contestant("tokio", Role::Peer, 200.0, |rounds, threads, _| {
            Ok(Some(tokio::ping_pong(rounds, threads)))
        }),
        contestant("crossbeam", Role::Peer, 8_000.0, |rounds, threads, _| {
            Ok(Some(link::ping_pong::<Crossbeam>(rounds, threads)))
        }),
    ];
    session.figure(&name, Measure::NsPerItem, threads, contestants);
}

/// One token in a ring of `nodes` processes.
fn hops(session: &mut Session, name: &str, order: Order, nodes: usize) {
    if !session.selects(name) {
        return;
    }
    let (nodes, rounds) = (if session.options.quick { 10_000 } else { nodes }, 5_000_000 / nodes as u64);
    let hops = nodes as u64 * rounds;
    // The ring is built before the clock starts: its construction is not part of a hop.
    let run = move || {
        let network = ring(nodes, rounds, order).build().map_err(|error| error.to_string())?;
        let prepared = network.prepare(&pinned(1).untimed()).map_err(|error| error.to_string())?;
        let mut outcome = Ok(());
        let row = timed(|| {
            outcome = prepared.run().map(drop).map_err(|error| error.to_string());
            hops
        });
        outcome.map(|()| Some(row))
    };
    let shuffled = order != Order::Creation;
    let peer = move || Ok(tokio_ring::ring(nodes, rounds, shuffled));
    let contestants = vec![
        Contestant::new("ours", Role::Ours, hops, run).expecting(hops),
        Contestant::new("tokio", Role::Peer, hops, peer).expecting(hops),
    ];
    session.figure(name, Measure::NsPerItem, 1, contestants);
}

/// The paper's pipeline with messages of `8 * WORDS` bytes. The peers always pass eight bytes.
pub(super) fn line<const WORDS: usize>(session: &mut Session, ns: u64, threads: usize) {
    let name = format!("kpn.pipeline.b{}.w{}.t{threads}", 8 * WORDS, format_ns(ns));
    if !session.selects(&name) {
        return;
    }
    let items = session.items(ns as f64 * STAGES as f64, threads);
    let job = Chain { stages: STAGES, items, work: Work::lasting(ns, &session.calibration), threads };
    let make = move || {
        let mut stage = job.work.stage();
        pipeline::<WORDS>(STAGES, items, move |x| stage.run(x))
    };
    let sum = job.split().checksum;
    let peer = |name, run: fn(&Chain) -> Row| {
        Contestant::new(name, Role::Peer, items, move || Ok(Some(run(&job)))).expecting(sum)
    };
    let mut contestants = vec![
        Contestant::new("split", Role::Yardstick, items, || Ok(Some(job.split()))).expecting(sum),
        Contestant::new("ours", Role::Ours, items, || ours(make, &pinned(threads))).expecting(sum),
        Contestant::new("1:1", Role::Aside, items, || ours(make, &pinned(threads).thread_per_node()))
            .expecting(sum),
        peer("crossbeam", link::chain::<Crossbeam>),
        peer("tokio", tokio::chain),
    ];
    if let Some(program) = external::program("go", "chain") {
        contestants.push(
            Contestant::new("go", Role::Peer, items, move || program.chain(&job).map(Some)).expecting(sum),
        );
    }
    session.figure(&name, Measure::Speed, threads, contestants);
}

/// The messages from the source of the random network.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// The work in each message, in nanoseconds.
    pub ns: u64,
    /// The number of messages.
    pub messages: u64,
}

/// The paper's random network. A message with `ns` of work corresponds to a work division factor of 10^9 / `ns`; the
/// paper sends as many messages as that factor.
pub(super) fn random_layers(session: &mut Session, name: &str, sent: Sent, capacity: usize, threads: usize) {
    if !session.selects(name) {
        return;
    }
    let Sent { ns, messages } = sent;
    let layers = Layers::default();
    let share = Work::lasting(ns, &session.calibration).steps;
    let (work, times) = (Work::lasting(ns, &session.calibration), layers.work(share) / share);
    let make = move || {
        let mut stage = work.stage();
        layered(&Layers::default(), messages, share, move |steps, trace| stage.run_steps(trace, steps))
    };
    let split = move || {
        split_parts(equal_shares(messages * times, threads, |_| 1), |range| {
            let mut stage = work.stage();
            (range.map(|x| stage.run(x)).fold(0, u64::wrapping_add), 1)
        })
    };
    let sum = make().expected();
    let contestant = |name: &'static str, role, options: Options| {
        Contestant::new(name, role, 1, move || ours(make, &options.clone().capacity(capacity))).expecting(sum)
    };
    let contestants = vec![
        Contestant::new("split", Role::Yardstick, 1, move || Ok(Some(split()))),
        contestant("ours", Role::Ours, pinned(threads)),
        contestant("ws-cur", Role::Aside, pinned(threads).policy("ws-cur")),
        contestant("ws-last", Role::Aside, pinned(threads).policy("ws-last")),
        contestant("qes", Role::Aside, pinned(threads).policy("qes")),
        contestant("1:1", Role::Aside, pinned(threads).thread_per_node()),
    ];
    session.figure(name, Measure::Speed, threads, contestants);
}

/// The paper's scatter-gather with 100 us per task, and the number of rounds of one run.
pub(super) fn scatter(session: &mut Session, name: &str, workers: usize, threads: usize) {
    if !session.selects(name) {
        return;
    }
    let ns = 100_000;
    let work = Work::lasting(ns, &session.calibration);
    let rounds = (session.items(ns as f64 * workers as f64, threads)).max(2);
    let make = move || {
        let mut stage = work.stage();
        scatter_gather(rounds, workers, move |x| stage.run(x))
    };
    let split = move || {
        let shares = equal_shares(rounds * workers as u64, threads, |_| 1);
        split_parts(shares, |range| {
            let mut stage = work.stage();
            (range.map(|x| stage.run(x)).fold(0, u64::wrapping_add), 1)
        })
    };
    let sum = make().expected();
    let contestant = |name: &'static str, role, policy: &'static str| {
        Contestant::new(name, role, 1, move || ours(make, &pinned(threads).policy(policy))).expecting(sum)
    };
    let contestants = vec![
        Contestant::new("split", Role::Yardstick, 1, move || Ok(Some(split()))),
        contestant("ours", Role::Ours, "ws-last"),
        contestant("ws-cur", Role::Aside, "ws-cur"),
        contestant("auto", Role::Aside, "auto"),
        Contestant::new("1:1", Role::Aside, 1, move || ours(make, &pinned(threads).thread_per_node()))
            .expecting(sum),
    ];
    session.figure(name, Measure::Speed, threads, contestants);
}
