//! tokio: one token in a ring of tasks.

use tokio::runtime::Builder;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;

use crate::row::{Row, timed};
use crate::work::mix;

/// An upper bound on the bytes of a task with its channel.
const EACH: usize = 4096;

/// A token makes `rounds` rounds in a ring of `nodes` tasks on one worker; each task adds one to it. Channels and tasks
/// are created in the order of the ring, or shuffled. `None` if that would take more than half of the free memory.
///
/// The clock starts when all tasks have run and wait.
pub fn ring(nodes: usize, rounds: u64, shuffled: bool) -> Option<Row> {
    if nodes.saturating_mul(EACH) > available() / 2 {
        return None;
    }
    let runtime =
        Builder::new_multi_thread().worker_threads(1).build().expect("the system can start threads");
    let mut order: Vec<usize> = (1..nodes).collect();
    if shuffled {
        order.sort_unstable_by_key(|place| mix(*place as u64));
    }
    let (mut senders, mut receivers): (Vec<_>, Vec<_>) = (0..nodes).map(|_| (None, None)).unzip();
    for place in [0].into_iter().chain(order.iter().copied()) {
        let (sender, receiver) = channel::<u64>(1);
        (senders[place], receivers[place]) = (Some(sender), Some(receiver));
    }
    let mut ends = |place: usize| {
        let receiver = receivers[(place + nodes - 1) % nodes].take().expect("one task for each place");
        (receiver, senders[place].take().expect("one task for each place"))
    };
    let ((go, started), (ready, waits)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
    let (receiver, sender) = ends(0);
    let first = runtime.spawn(start(receiver, sender, rounds, ready, started));
    for place in order {
        let (mut receiver, sender) = ends(place);
        runtime.spawn(async move {
            while let Some(token) = receiver.recv().await {
                if sender.send(token + 1).await.is_err() {
                    break;
                }
            }
        });
    }
    runtime.block_on(waits).expect("the first task lives");
    Some(timed(|| {
        go.send(()).expect("the first task waits");
        runtime.block_on(first).expect("a task does not panic")
    }))
}

/// The task that creates the token: one round, so that all tasks have run, and then the timed rounds.
async fn start(
    mut receiver: Receiver<u64>,
    sender: Sender<u64>,
    rounds: u64,
    ready: oneshot::Sender<()>,
    started: oneshot::Receiver<()>,
) -> u64 {
    round(&mut receiver, &sender, 0).await;
    ready.send(()).expect("the calling thread waits");
    started.await.expect("the calling thread starts the clock");
    let mut token = 0;
    for _ in 0..rounds {
        token = round(&mut receiver, &sender, token).await;
    }
    token
}

async fn round(receiver: &mut Receiver<u64>, sender: &Sender<u64>, token: u64) -> u64 {
    sender.send(token + 1).await.expect("the next task lives");
    receiver.recv().await.expect("the token returns")
}

/// The bytes of available memory.
fn available() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok()).map_or(0, |kib| kib << 10)
}
