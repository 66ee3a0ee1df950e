//! Operators that join streams in an order that the data alone determine.

use super::split::wrong_weights;
use crate::build::graph::{Graph, RUN};
use crate::build::mistake::Mistake;
use crate::build::spec::output;
use crate::build::stream::Stream;
use crate::channel::{Glance, In, Out};
use crate::node::{Round, RoundFrame, TurnFrame};

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Pairs the items of two streams of one graph. The result ends with the shorter stream.
    pub fn zip<U: Send + 'env>(self, other: Stream<'env, U>) -> Stream<'env, (T, U)> {
        self.graph()
            .kernel("zip", (self, other), output("out").push(1))
            .sequential(|(left, right), out| out.push((left.pop(), right.pop())))
    }

    /// Passes on all items of this stream, and then all items of `other`, a stream of the same graph.
    ///
    /// `other` waits meanwhile. If both streams come from one node, the channel of `other` grows to what that node pushes on
    /// it before this stream ends, within the byte budget.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let (small, large) = Graph::new().source([7, 1, 9, 3]).partition(|n| *n < 5);
    /// assert_eq!(small.concat(large).collect().run()?.into_value(), [1, 3, 7, 9]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn concat(self, other: Stream<'env, T>) -> Stream<'env, T> {
        let mut kernel = self.graph().kernel("concat", (self, other), output("out"));
        kernel.frame =
            Some(Box::new(TurnFrame(|(first, second): &(Glance<T>, Glance<T>), takes: &mut [usize]| {
                for (at, input) in [first, second].into_iter().enumerate() {
                    takes[at] = input.arrived().min(RUN);
                    if takes[at] > 0 || !input.ended() {
                        return Some(at);
                    }
                }
                None
            })));
        kernel.sequential(|(first, second), out| {
            pass_all(first, out);
            pass_all(second, out);
        })
    }
}

impl<'env> Graph<'env> {
    /// Joins `N` streams of this graph in rounds: each round has `weights[0]` items of stream 0, then `weights[1]` of
    /// stream 1, and so on. (The round-robin joiner of StreamIt.) It restores a stream that [`Stream::deal`] has dealt out
    /// with the same weights.
    ///
    /// Items go on as they come, in this order. The result ends where the next item would be one of a stream that has
    /// ended, as that of [`Stream::zip`] does; what other streams still hold is discarded. So an incomplete last round of
    /// [`Stream::deal`] is restored too. Each weight is at least 1, and there is at least one; otherwise
    /// [`Graph::build`] reports a mistake.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let graph = Graph::new();
    /// let [a, b] = graph.source(0..8u64).deal([1, 2]);
    /// let restored = graph.interleave([1, 2], [a.map(|n| n * 10), b]);
    /// assert_eq!(restored.collect().run()?.into_value(), [0, 1, 2, 30, 4, 5, 60, 7]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn interleave<T: Send + 'env, const N: usize>(
        &self,
        weights: [usize; N],
        streams: [Stream<'env, T>; N],
    ) -> Stream<'env, T> {
        let mut kernel = self.kernel("interleave", Vec::from(streams), output("out"));
        kernel.frame = Some(Box::new(RoundFrame::new(weights.to_vec(), RUN)));
        // It moves on as that of the framing function does: the firing pops what the function has counted.
        let mut popped = Round::new(weights.to_vec());
        let (node, joined) = kernel.add_sequential(
            move |inputs, out| {
                loop {
                    // What does not fit goes on item by item, into the cursor's overflow.
                    let rounds = popped.whole(out.slots_left(), inputs.iter().map(In::len));
                    out.push_rounds(inputs, popped.weights(), rounds);
                    let input = &mut inputs[popped.at()];
                    let (turn, count) = (popped.left(), popped.left().min(input.len()));
                    (0..count).for_each(|_| out.push(input.pop()));
                    popped.advance(count);
                    if count < turn {
                        break;
                    }
                }
            },
            false,
        );
        if let Some(why) = wrong_weights(&weights) {
            self.shared.draft().mistake(Mistake::Node(node, why));
        }
        joined
    }
}

/// Moves the items of a firing from an input to the output.
#[inline]
pub(in crate::build) fn pass_all<T>(input: &mut In<T>, out: &mut Out<T>) {
    while let Some(item) = input.try_pop() {
        out.push(item);
    }
}

/// Small enough for Miri.
#[cfg(all(test, not(loom)))]
mod tests {
    use crate::{Graph, Options};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// An item that owns memory and counts its drop.
    struct Owned<'a>(Box<usize>, &'a AtomicUsize);

    impl Drop for Owned<'_> {
        fn drop(&mut self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Rounds and batches of items that own memory, also where the consumer of the batches panics in the middle.
    #[test]
    fn joined_items_are_dropped_once() {
        let rounds = if cfg!(miri) { 6 } else { 10 };
        for panics in [false, true] {
            let (made, drops) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let graph = Graph::new();
            let [few, many] = [rounds, 2 * rounds].map(|count| {
                let (made, drops) = (&made, &drops);
                graph.source((0..count).map(move |number| {
                    made.fetch_add(1, Ordering::Relaxed);
                    Owned(Box::new(number), drops)
                }))
            });
            let batches = graph.interleave([1, 2], [few, many]).batch(4);
            let numbers = batches.map(move |batch| {
                assert!(!panics || *batch[0].0 != 4, "injected");
                batch.iter().map(|item| *item.0).collect::<Vec<_>>()
            });
            let numbers = numbers.collect();
            let outcome = graph.run_with(&Options::new().threads(1).capacity(8));
            match outcome.map(|run| run.take(numbers).unwrap().concat()) {
                Ok(numbers) => {
                    let expected = (0..rounds).flat_map(|round| [round, 2 * round, 2 * round + 1]);
                    assert!(!panics && numbers.into_iter().eq(expected));
                }
                Err(_) => assert!(panics),
            }
            assert!(made.load(Ordering::Relaxed) > 8);
            assert_eq!(made.into_inner(), drops.into_inner());
        }
    }
}
