//! Every workload has its result when workers pause at random points.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use thalweg::embed::graph::NodeId;
use thalweg::embed::policy::WorkerId;
use thalweg::embed::policy::registry;
use thalweg::embed::policy::registry::Visit;
use thalweg::graph::GraphData;
use thalweg::policy::{Decision, Event, Host, Needs, Policy};
use thalweg::{Failed, Network, Options};
use thalweg_kpn::{
    H264, Job, Layers, Mode, Order, aes, h264, layered, ping_pong, ping_pong_coroutines, pipeline, ring,
    scatter_gather,
};

/// A policy that makes its workers pause before some decisions, for various times. During a pause, other workers see
/// the effects of the last activation, but not those of the next decision.
struct Delayed<'a, P> {
    policy: &'a P,
    state: AtomicU64,
}

impl<P> Delayed<'_, P> {
    fn pause(&self) {
        let step = self.state.fetch_add(1, Ordering::Relaxed);
        match (step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % 512 {
            0 => std::thread::sleep(Duration::from_micros(50)),
            1..16 => std::thread::yield_now(),
            16..32 => (0..200).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

impl<P: Policy> Policy for Delayed<'_, P> {
    type Local = P::Local;
    type Shared = P::Shared;

    fn needs(&self, graph: &GraphData) -> Needs {
        self.policy.needs(graph)
    }

    fn start<H: Host<P::Shared>>(&self, worker: WorkerId, host: &mut H) -> P::Local {
        self.policy.start(worker, host)
    }

    fn ready<H: Host<P::Shared>>(&self, me: &mut P::Local, node: NodeId, host: &mut H) {
        self.pause();
        self.policy.ready(me, node, host);
    }

    fn next<H: Host<P::Shared>>(
        &self,
        me: &mut P::Local,
        last: Option<(NodeId, Event)>,
        host: &mut H,
    ) -> Decision {
        self.pause();
        self.policy.next(me, last, host)
    }
}

struct Run<'a> {
    network: Network<'static>,
    options: &'a Options,
    seed: u64,
}

impl Visit for Run<'_> {
    type Out = Result<thalweg::Run, Failed>;

    fn visit<P: Policy>(self, policy: &P) -> Self::Out {
        let state = AtomicU64::new(self.seed << 32);
        self.network.prepare(self.options)?.run_under(&Delayed { policy, state })
    }
}

fn check_everywhere(make: impl Fn() -> Job) {
    let expected = make().expected();
    let mut seed = 0;
    for policy in registry::names() {
        for (threads, capacity) in [(1, 1), (2, 1), (2, 3), (4, 2), (4, 64)] {
            seed += 1;
            let options = Options::new().policy(policy).threads(threads).capacity(capacity);
            let run = |network| registry::dispatch(policy, Run { network, options: &options, seed }).unwrap();
            let (result, _) = make().run_by(run).unwrap_or_else(|error| panic!("{options:?}: {error}"));
            assert_eq!(result, expected, "{options:?}");
        }
    }
}

fn work(x: u64) -> u64 {
    (x ^ x >> 7).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[test]
fn round_trips() {
    check_everywhere(|| ping_pong(100));
    check_everywhere(|| ping_pong_coroutines(100));
    check_everywhere(|| ring(30, 5, Order::Shuffled(2)));
}

#[test]
fn chains_and_hubs() {
    check_everywhere(|| pipeline::<16>(20, 60, work));
    check_everywhere(|| scatter_gather(5, 20, work));
    check_everywhere(|| aes(3000, 7, 3, Mode::Ctr(5)));
}

#[test]
fn networks_with_cycles() {
    check_everywhere(|| layered(&Layers::new(6, 4, 4, 1), 30, 1000, |share, trace| work(share ^ trace)));
    let size = H264 { frames: 3, rows: 3, workers: 3 };
    check_everywhere(|| h264(size, 1000, |share, trace| work(share ^ trace)));
}
