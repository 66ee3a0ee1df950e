//! A process that is pinned to a worker goes on where other workers can take the work that it has made.
//!
//! Nodes here wait for each other outside of the graph, so that a late start is a wait that does not end by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use thalweg::{Graph, Options, output};

/// The time after which a wait fails.
const LIMIT: Duration = Duration::from_secs(10);

/// A count that several nodes see.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Waits until the count is at least `count`, but no longer than [`LIMIT`]; returns whether it is.
    fn reaches(&self, count: usize) -> bool {
        let start = Instant::now();
        while self.0.load(Ordering::Acquire) < count {
            if start.elapsed() > LIMIT {
                return false;
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        true
    }
}

/// The policies that are notified of ready nodes and do not assign them to workers.
const STEALING: [&str; 3] = ["auto", "ws-cur", "ws-last"];

/// Runs a check several times under each of [`STEALING`], on two workers.
fn repeatedly(check: impl Fn(&Options)) {
    for policy in STEALING {
        (0..10).for_each(|_| check(&Options::new().threads(2).policy(policy)));
    }
}

#[test]
fn a_pinned_process_goes_on_while_another_worker_takes_its_first_message() {
    repeatedly(|options| {
        let sent = Count::default();
        let graph = Graph::new();
        let numbers = graph.coroutine("send", (), output("out"), |(), mut out| {
            for number in 0..3 {
                out.send(number);
                sent.add();
            }
        });
        let all = numbers.par_map(|number| number > 0 || sent.reaches(3)).fold(true, |all, one| all && one);
        assert!(
            graph.run_with(options).unwrap().take(all).unwrap(),
            "{options:?}: the process waited for its message"
        );
    });
}
