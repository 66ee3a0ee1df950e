//! One process sends a task to each of many workers and waits for all answers (section 5.2.1, Figure 4).

use thalweg::{Graph, Rx, Tx, Value, input, output};

use crate::job::{Job, fold};

/// In each of `rounds` rounds, the hub sends a task to each of `workers` workers, which do `work` and answer, and then
/// receives all answers.
pub fn scatter_gather(
    rounds: u64,
    workers: usize,
    work: impl FnMut(u64) -> u64 + Clone + Send + 'static,
) -> Job {
    let graph = Graph::new();
    let (backs, answers): (Vec<_>, Vec<_>) = (0..workers).map(|_| graph.feedback([])).unzip();
    let inputs: Vec<_> =
        answers.into_iter().enumerate().map(|(i, s)| input(&format!("answer{i}"), s)).collect();
    let outputs: Vec<_> = (0..workers).map(|i| output(&format!("task{i}"))).collect();
    let (tasks, result) = graph.process(
        "hub",
        inputs,
        outputs,
        move |mut rxs: Vec<Rx<u64>>, mut txs: Vec<Tx<u64>>| async move {
            let mut sum = 0;
            for round in 0..rounds {
                for (tx, worker) in txs.iter_mut().zip(0..) {
                    tx.send(task(round, worker)).await;
                }
                for rx in &mut rxs {
                    let Some(answer) = rx.recv().await else { return Value(sum) };
                    sum = fold(sum, answer);
                }
            }
            Value(sum)
        },
    );
    for (i, (back, stream)) in backs.into_iter().zip(tasks).enumerate() {
        let mut work = work.clone();
        let answer = graph.process(
            &format!("worker{i}"),
            input("task", stream),
            output("answer"),
            move |mut rx, mut tx| async move {
                while let Some(task) = rx.recv().await {
                    tx.send(work(task)).await;
                }
            },
        );
        answer.feed(back);
    }
    let all = (0..rounds).flat_map(move |round| (0..workers as u64).map(move |worker| task(round, worker)));
    Job::new(result, move || all.map(work).fold(0, fold))
}

/// The task for a worker in a round.
fn task(round: u64, worker: u64) -> u64 {
    round << 20 | worker
}
