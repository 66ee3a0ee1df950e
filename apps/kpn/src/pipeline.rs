//! A line of processes that each work on every message and pass it on (section 5.3.4).

use std::mem::MaybeUninit;

use thalweg::{Graph, Value, output};

use crate::job::{Job, fold};

/// A message of `8 * WORDS` bytes: its number, and weight to carry.
#[derive(Clone, Copy, Debug)]
pub struct Message<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Message<WORDS> {
    fn new(value: u64) -> Self {
        Message([value; WORDS])
    }

    /// Copies the message, once, to where it will lie, with what a stage has made of it.
    fn pass<'a>(&self, place: &'a mut MaybeUninit<Self>, value: u64) -> &'a mut Self {
        let copy = place.write(*self);
        copy.0[0] = value;
        copy
    }
}

/// `messages` messages of `8 * WORDS` bytes through `stages` processes, each of which does `work` on
/// the first word of each, with a state of its own. The first stage makes them and the last one folds what comes out.
///
/// # Panics
/// With fewer than two stages, or messages of no words.
pub fn pipeline<const WORDS: usize>(
    stages: usize,
    messages: u64,
    work: impl FnMut(u64) -> u64 + Clone + Send + 'static,
) -> Job {
    assert!(stages >= 2 && WORDS > 0, "a pipeline has two stages at least, and a message one word");
    let graph = Graph::new();
    let mut f = work.clone();
    let mut stream =
        graph.process("stage0", (), output::<Message<WORDS>>("out"), move |(), mut tx| async move {
            for i in 0..messages {
                let value = f(i);
                tx.send_with(|place| place.write(Message::new(value))).await;
            }
        });
    for stage in 1..stages - 1 {
        let mut f = work.clone();
        let name = format!("stage{stage}");
        stream = graph.process(&name, stream, output("out"), move |mut rx, mut tx| async move {
            while let Some(message) = rx.recv_ref().await {
                let value = f(message.0[0]);
                tx.send_with(|place| message.pass(place, value)).await;
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
    Job::new(result, move || through(stages, messages, work))
}

/// What comes out of the pipeline, by a plain loop.
fn through(stages: usize, messages: u64, mut work: impl FnMut(u64) -> u64) -> u64 {
    (0..messages).fold(0, |sum, i| fold(sum, (0..stages).fold(i, |value, _| work(value))))
}
