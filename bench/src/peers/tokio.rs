//! tokio: a task per stage with bounded channels, and a farm with a task per item.

use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::channel;
use tokio::task::JoinHandle;

use super::CAPACITY;
use crate::jobs::{Chain, Farm};
use crate::row::{Row, timed};
use crate::work::fold;

/// A runtime with `threads` workers; created before the clock starts.
fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).build().expect("the system can start threads")
}

/// The chain; the calling thread only waits.
pub fn chain(job: &Chain) -> Row {
    let (runtime, job) = (runtime(job.threads), *job);
    let mut stage = job.work.stage();
    timed(|| {
        let (first, mut upstream) = channel::<u64>(CAPACITY);
        runtime.spawn(async move {
            for i in 0..job.items {
                first.send(stage.run(i)).await.expect("the next stage lives");
            }
        });
        for _ in 0..job.stages - 2 {
            let (next, downstream) = channel::<u64>(CAPACITY);
            let mut from = std::mem::replace(&mut upstream, downstream);
            runtime.spawn(async move {
                while let Some(x) = from.recv().await {
                    next.send(stage.run(x)).await.expect("the next stage lives");
                }
            });
        }
        let sink = runtime.spawn(async move {
            let mut sum = 0;
            while let Some(x) = upstream.recv().await {
                sum = fold(sum, stage.run(x));
            }
            sum
        });
        runtime.block_on(sink).expect("the sink does not panic")
    })
}

/// Two tasks that send one message to and fro.
pub fn ping_pong(rounds: u64, threads: usize) -> Row {
    let runtime = runtime(threads);
    timed(|| {
        let ((to, mut there), (back, mut from)) = (channel::<u64>(1), channel::<u64>(1));
        runtime.spawn(async move {
            while let Some(value) = there.recv().await {
                if back.send(value + 1).await.is_err() {
                    break;
                }
            }
        });
        let ping = runtime.spawn(async move {
            let mut value = 0;
            for _ in 0..rounds {
                to.send(value).await.expect("the other task lives");
                value = from.recv().await.expect("the other task answers");
            }
            value
        });
        runtime.block_on(ping).expect("a task does not panic")
    })
}

/// The farm: every item is a task, and the sink awaits them in order.
pub fn farm(job: &Farm) -> Row {
    let runtime = runtime(job.threads);
    timed(|| {
        let (queue, mut tasks) = channel::<JoinHandle<u64>>(CAPACITY);
        let (items, work) = (job.items, job.work.clone());
        runtime.spawn(async move {
            for i in 0..items {
                let work = work.clone();
                let task = tokio::spawn(async move { work.run(i) });
                queue.send(task).await.expect("the sink lives");
            }
        });
        let sink = runtime.spawn(async move {
            let mut sum = 0;
            while let Some(task) = tasks.recv().await {
                sum = fold(sum, task.await.expect("a task does not panic"));
            }
            sum
        });
        runtime.block_on(sink).expect("the sink does not panic")
    })
}
