//! Two processes that send a message back and forth. Each transaction is a send, a context switch and a receive
//! (section 4.5).

use thalweg::{Graph, Value, output};

use crate::job::Job;

/// `rounds` round trips of a message between two processes, over channels of capacity 1: `2 * rounds` transactions.
pub fn ping_pong(rounds: u64) -> Job {
    let graph = Graph::new();
    let (back, pong) = graph.feedback([]);
    let (ping, result) = graph.process("ping", pong, output("out"), move |mut rx, mut tx| async move {
        let mut value = 0;
        for _ in 0..rounds {
            tx.send(value).await;
            let Some(answer) = rx.recv().await else { break };
            value = answer;
        }
        Value(value)
    });
    let pong = graph.process("pong", ping.capacity(1), output("out"), |mut rx, mut tx| async move {
        while let Some(value) = rx.recv().await {
            tx.send(value + 1).await;
        }
    });
    pong.capacity(1).feed(back);
    Job::new(result, move || rounds)
}

/// [`ping_pong`] with coroutines instead of processes.
pub fn ping_pong_coroutines(rounds: u64) -> Job {
    let graph = Graph::new();
    let (back, pong) = graph.feedback([]);
    let (ping, result) = graph.coroutine("ping", pong, output("out"), move |mut rx, mut tx| {
        let mut value = 0;
        for _ in 0..rounds {
            tx.send(value);
            let Some(answer) = rx.recv() else { break };
            value = answer;
        }
        Value(value)
    });
    let pong = graph.coroutine("pong", ping.capacity(1), output("out"), |rx, mut tx| {
        for value in rx {
            tx.send(value + 1);
        }
    });
    pong.capacity(1).feed(back);
    Job::new(result, move || rounds)
}
