//! What a node sends in the middle of a long activation reaches workers that are idle, and a process that is pinned to a
//! worker goes on where other workers can take the work that it has made.
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
            graph.run(options).unwrap().take(all).unwrap(),
            "{options:?}: the process waited for its message"
        );
    });
}

/// A process that waits after its first message until its consumer has it.
#[test]
fn the_first_message_of_a_process_arrives_while_the_process_runs() {
    repeatedly(|options| {
        for has_stack in [false, true] {
            let (arrived, seen) = (Count::default(), AtomicUsize::new(0));
            let graph = Graph::new();
            let numbers = match has_stack {
                true => graph.coroutine("send", (), output("out"), |(), mut out| {
                    out.send(0);
                    seen.fetch_add(usize::from(arrived.reaches(1)), Ordering::Relaxed);
                    out.send(1);
                }),
                false => graph.process("send", (), output("out"), |(), mut out| {
                    let (arrived, seen) = (&arrived, &seen);
                    async move {
                        out.send(0).await;
                        seen.fetch_add(usize::from(arrived.reaches(1)), Ordering::Relaxed);
                        out.send(1).await;
                    }
                }),
            };
            numbers.for_each(|_: i32| arrived.add());
            graph.run(options).unwrap();
            assert_eq!(seen.load(Ordering::Relaxed), 1, "{options:?}: the message arrived late");
        }
    });
}

/// Each message of a process with a thread of its own may be the last one for a long time.
#[test]
fn each_message_of_a_blocking_process_arrives_before_the_next_one() {
    repeatedly(|options| {
        let (arrived, late) = (Count::default(), AtomicUsize::new(0));
        let graph = Graph::new();
        let kernel = graph.kernel("read", (), output("out")).blocking();
        let numbers = kernel.coroutine(|(), mut out| {
            for number in 0..40usize {
                out.send(number);
                if !arrived.reaches(number + 1) {
                    late.store(number + 1, Ordering::Relaxed);
                    return;
                }
            }
        });
        numbers.for_each(|_| arrived.add());
        graph.run(options).unwrap();
        assert_eq!(late.load(Ordering::Relaxed), 0, "{options:?}: a message arrived late");
    });
}

/// The smallest stack has room for the wake-up in the middle of a turn, which starts a thread here.
#[test]
fn a_small_stack_has_room_for_a_wake_up() {
    for threads in 2..5 {
        let graph = Graph::new();
        let kernel = graph.kernel("send", (), output("out")).stack(1);
        let numbers = kernel.coroutine(|(), mut out| (0..100usize).for_each(|number| out.send(number)));
        let sum = numbers.fold(0, |sum, number| sum + number);
        assert_eq!(graph.run(&Options::new().threads(threads)).unwrap().take(sum).unwrap(), 4950);
    }
}
