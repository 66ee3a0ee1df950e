//! Sort-based word count on plain threads, without the engine.

use std::thread;

use super::run::{Merger, Pairs, Run};
use crate::blocks::slices;
use crate::ranking::{Ranked, Ranking};
use crate::words::{Case, CaseFolder};

/// Counts the words of a text by sorting, on `threads` plain threads. Each thread sorts and adds up a stretch of the
/// text, block by block, and then merges its part of the words of all stretches. This is the baseline of
/// [`map_reduce`].
///
/// ```
/// let ranking = thalweg_wordcount::sort_based(b"a b a", thalweg_wordcount::Case::Kept, 1 << 20, 2);
/// assert_eq!(ranking.iter().next(), Some((&b"a"[..], 2)));
/// ```
///
/// # Panics
/// If `threads` is 0.
///
/// [`map_reduce`]: super::map_reduce
pub fn sort_based(text: &[u8], case: Case, block: usize, threads: usize) -> Ranking {
    let stretches = slices(text, text.len().div_ceil(threads));
    let runs = on_threads(stretches.map(|stretch| move || sorted(stretch, case, block).partition(threads)));
    let mut parts: Vec<Merger> = (0..threads).map(|_| Merger::default()).collect();
    for runs in runs {
        parts.iter_mut().zip(runs).for_each(|(part, run)| part.push(run));
    }
    Ranking::merge(on_threads(
        parts.into_iter().map(|part| move || -> Vec<Ranked> { part.finish().ranked() }),
    ))
}

fn sorted(stretch: &[u8], case: Case, block: usize) -> Run {
    let (mut merger, mut buffer, mut folder) = (Merger::default(), Vec::new(), CaseFolder::default());
    for block in slices(stretch, block) {
        let pairs = Pairs::map(folder.fold(block, case), &mut buffer);
        merger.add(pairs.sort(&mut buffer));
    }
    merger.finish()
}

/// Runs each job on a thread of its own. Returns the results in order.
fn on_threads<T: Send, F: FnOnce() -> T + Send>(jobs: impl Iterator<Item = F>) -> Vec<T> {
    thread::scope(|scope| {
        let threads: Vec<_> = jobs.map(|job| scope.spawn(job)).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}
