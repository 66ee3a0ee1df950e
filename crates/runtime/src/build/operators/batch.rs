//! Operators that gather items into vectors, and take vectors apart.

use super::{ANY, rated};
use crate::build::spec::output;
use crate::build::stream::Stream;
use crate::contain::Each;
use crate::node::{BatchFrame, FlatSteps, TimedFrame};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

impl<'env, T: Send + 'env> Stream<'env, T> {
    /// Groups the items into vectors of `size` items (at least 1). The last vector holds the items that are left.
    /// [`Stream::unbatch`] is the inverse.
    ///
    /// ```
    /// use thalweg_runtime::Graph;
    ///
    /// let batches = Graph::new().source(0..5u64).batch(2).collect();
    /// assert_eq!(batches.run()?.into_value(), [vec![0, 1], vec![2, 3], vec![4]]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn batch(self, size: usize) -> Stream<'env, Vec<T>> {
        let mut kernel = self.kernel("batch", output("out").push(1));
        kernel.frame = Some(Box::new(BatchFrame::new(size)));
        let batches = kernel.sequential(|items, out| {
            out.push(items.pop_all());
        });
        batches.at_least_one("size", size);
        batches.pops_at_most(size);
        batches
    }

    /// Groups the items into vectors: a batch goes on when it has `size` items (at least 1), when `time` has passed since its
    /// first item, or when the stream ends. For items that come now and then and are cheaper to handle together, such as
    /// rows for a database.
    ///
    /// **Not determinate**: the borders between batches depend on time. The items and their order do not, so
    /// [`unbatch`](Stream::unbatch) restores the stream. The graph marks the node as timed.
    ///
    /// The items of a batch wait in the node: up to `size` of them, beside what channels hold, and no budget counts them. The
    /// time of a batch begins when the node pops its first item. If the system starts no thread for the alarm, batches go on at
    /// once. A batch goes on later than its time if all workers are
    /// in long firings, or while the channel after the node is full.
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_runtime::Graph;
    ///
    /// let (rows, received) = std::sync::mpsc::channel();
    /// let (inserts, inserted) = std::sync::mpsc::channel();
    /// let client = std::thread::spawn(move || {
    ///     rows.send("first").unwrap();
    ///     assert_eq!(inserted.recv(), Ok(vec!["first"])); // although no second row comes
    ///     rows.send("second").unwrap();
    ///     rows.send("third").unwrap();
    /// });
    /// Graph::new()
    ///     .source(received)
    ///     .blocking()
    ///     .batch_timeout(1000, Duration::from_millis(5))
    ///     .for_each(move |batch| drop(inserts.send(batch)))
    ///     .run()?;
    /// client.join().unwrap();
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn batch_timeout(self, size: usize, time: Duration) -> Stream<'env, Vec<T>> {
        let completes = Arc::new(AtomicBool::new(false));
        let mut kernel = self.kernel("batch_timeout", output("out"));
        kernel.frame = Some(Box::new(TimedFrame::new(size, time, completes.clone())));
        let mut batch = Each::new(Vec::new());
        let batches = kernel.sequential(move |items, out| {
            batch.extend((0..items.len()).map(|_| items.pop()));
            if completes.load(Ordering::Relaxed) {
                out.push(batch.take());
            }
        });
        batches.at_least_one("size", size);
        batches.shared.set(batches.node, |node| {
            *node.timed_mut() = true;
            Ok(())
        });
        batches
    }

    /// Passes on the items of each item: of vectors, as those of [`Stream::batch`], options, or other collections.
    /// [`Stream::flat_map`] without a function.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let squares = Graph::new()
    ///     .source(0..5u64)
    ///     .batch(2)
    ///     .par_map(|batch| batch.into_iter().map(|n| n * n).collect::<Vec<_>>())
    ///     .unbatch();
    /// assert_eq!(squares.collect().run_with(&Options::new().threads(2))?.into_value(), [0, 1, 4, 9, 16]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn unbatch(self) -> Stream<'env, T::Item>
    where
        T: IntoIterator,
        T::IntoIter: Send + 'env,
        T::Item: Send + 'env,
    {
        self.kernel("unbatch", rated(ANY)).add_code(FlatSteps::new(|items: T| items), false).1
    }
}
