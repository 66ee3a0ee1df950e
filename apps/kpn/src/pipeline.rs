//! A chain of processes. Each does work for every message and passes the message on (section 5.3.4).

use std::mem::MaybeUninit;

use thalweg::{Graph, Value, output};

use crate::job::{Job, fold};

/// A message of `8 * WORDS` bytes: a number, and payload.
#[derive(Clone, Copy, Debug)]
pub struct Message<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Message<WORDS> {
    fn new(value: u64) -> Self {
        Message([value; WORDS])
    }

    /// Copies the message once, into its slot in the channel, with a new number.
    fn pass<'a>(&self, slot: &'a mut MaybeUninit<Self>, value: u64) -> &'a mut Self {
        let copy = slot.write(*self);
        copy.0[0] = value;
        copy
    }
}

/// Sends `messages` messages of `8 * WORDS` bytes through `stages` processes. Each process applies its own copy of
/// `work` to the first word of each message. The first process makes the messages, and the last one computes a checksum.
///
/// # Panics
/// If `stages` is less than 2 or `WORDS` is 0.
pub fn pipeline<const WORDS: usize>(
    stages: usize,
    messages: u64,
    work: impl FnMut(u64) -> u64 + Clone + Send + 'static,
) -> Job {
    assert!(stages >= 2 && WORDS > 0, "at least two stages and one word a message are needed");
    let graph = Graph::new();
    let mut f = work.clone();
    let mut stream =
        graph.process("stage0", (), output::<Message<WORDS>>("out"), move |(), mut tx| async move {
            for i in 0..messages {
                let value = f(i);
                tx.send_with(|slot| slot.write(Message::new(value))).await;
            }
        });
    for stage in 1..stages - 1 {
        let mut f = work.clone();
        let name = format!("stage{stage}");
        stream = graph.process(&name, stream, output("out"), move |mut rx, mut tx| async move {
            while let Some(message) = rx.recv_ref().await {
                let value = f(message.0[0]);
                tx.send_with(|slot| message.pass(slot, value)).await;
            }
        });
    }
    let (name, mut f) = (format!("stage{}", stages - 1), work.clone());
    let result = graph.process(&name, stream, (), move |mut rx, ()| async move {
        let mut sum = 0;
        while let Some(message) = rx.recv_ref().await {
            sum = fold(sum, f(message.0[0]));
        }
        Value(sum)
    });
    Job::new(result, move || reference(stages, messages, work))
}

/// The result of the pipeline, computed by a loop.
fn reference(stages: usize, messages: u64, mut work: impl FnMut(u64) -> u64) -> u64 {
    (0..messages).fold(0, |sum, i| fold(sum, (0..stages).fold(i, |value, _| work(value))))
}
