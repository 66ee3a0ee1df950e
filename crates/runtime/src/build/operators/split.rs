//! Operators that split a stream.

use crate::build::mistake::Mistake;
use crate::build::spec::{PushSpec, output};
use crate::build::stream::Stream;
use crate::node::DealSteps;

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Splits the stream by a test: the first result has the items for which `test` returns true, the second one the
    /// others, both in order.
    ///
    /// The node needs room in both channels. If the readers of the results wait for each other, as where one result is read
    /// to its end first ([`Stream::concat`]), the channel of the other grows, within the byte budget.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let graph = Graph::new();
    /// let (even, odd) = graph.source(0..10u64).partition(|n| n % 2 == 0);
    /// let sums = even.zip(odd).map(|(even, odd)| even + odd).collect();
    /// assert_eq!(sums.run()?.into_value(), [1, 5, 9, 13, 17]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn partition(
        self,
        mut test: impl FnMut(&T) -> bool + Send + 'env,
    ) -> (Stream<'env, T>, Stream<'env, T>) {
        self.kernel("partition", (output("true"), output("false"))).sequential(move |items, (yes, no)| {
            let item = items.pop();
            if test(&item) { yes.push(item) } else { no.push(item) }
        })
    }

    /// Copies the stream: both results have all items. To share large items instead of copying them, put them into an
    /// `Arc`.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let (numbers, copies) = Graph::new().source(0..5u64).tee();
    /// let pairs = numbers.zip(copies.map(|n| n * n)).collect();
    /// assert_eq!(pairs.run()?.into_value(), [(0, 0), (1, 1), (2, 4), (3, 9), (4, 16)]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn tee(self) -> (Stream<'env, T>, Stream<'env, T>)
    where
        T: Clone,
    {
        self.kernel("tee", (output("out0").push(1), output("out1").push(1))).sequential(
            |items, (first, second)| {
                let item = items.pop();
                first.push(item.clone());
                second.push(item);
            },
        )
    }

    /// Deals the items out to `N` streams in rounds: in each round the first `weights[0]` items go to stream 0, the next
    /// `weights[1]` to stream 1, and so on. (The round-robin splitter of StreamIt.) [`Graph::interleave`](crate::Graph::interleave) with the
    /// same weights is the inverse.
    ///
    /// Items go on as they come: no item waits for the others of its round, and the items of an incomplete last round are
    /// delivered. Each weight is at least 1, and there is at least one; otherwise
    /// [`Graph::build`](crate::Graph::build) reports a mistake.
    ///
    /// The node needs room in all channels: see [`Stream::partition`].
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let graph = Graph::new();
    /// let [a, b] = graph.source(0..8u64).deal([1, 2]);
    /// let (a, b) = (a.collect(), b.collect());
    /// let run = graph.run()?;
    /// assert_eq!(run.take(a)?, [0, 3, 6]);
    /// assert_eq!(run.take(b)?, [1, 2, 4, 5, 7]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn deal<const N: usize>(self, weights: [usize; N]) -> [Stream<'env, T>; N] {
        let shared = self.shared.clone();
        let outputs: Vec<PushSpec<T>> = (0..N).map(|i| output(&format!("out{i}"))).collect();
        let (node, streams) = self.kernel("deal", outputs).add_code(DealSteps::new(weights.to_vec()), false);
        if let Some(why) = wrong_weights(&weights) {
            shared.draft().mistake(Mistake::Node(node, why));
        }
        streams.try_into().unwrap_or_else(|_| unreachable!("a stream for each output"))
    }
}

/// What is wrong with the weights of [`Stream::deal`] and [`Graph::interleave`](crate::Graph::interleave).
pub(super) fn wrong_weights(weights: &[usize]) -> Option<String> {
    match weights {
        [] => Some("no `weights`: at least 1 is needed".to_owned()),
        _ if weights.contains(&0) => Some(format!("`weights` {weights:?}: each must be at least 1")),
        _ => None,
    }
}
