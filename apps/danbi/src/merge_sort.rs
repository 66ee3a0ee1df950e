//! MergeSort: sorts numbers by merging, in a loop.
//!
//! ```text
//! source ─▶ sort ═══▶ split ≡≡≡▶ merge ─▶ sink
//!                       ▲           ║
//!                       ╚═══════════╝
//! ```
//!
//! `sort` makes sorted runs of one piece. `split` takes two neighbouring runs and cuts both where the pieces of the merged run
//! begin (Akl and Santoro, *Optimal parallel merging and sorting without memory conflicts*, 1987), so that `merge` makes
//! each piece by itself. Pieces of the merged run go back to `split`, which merges runs of twice the length, until one run
//! is left. Even runs take the left queue, odd ones the right queue.
//!
//! The number of keys determines the number of pieces in each run, so the framing function of `split` counts: it takes the
//! runs of `sort` pair by pair, then all pairs of the next level, and so on.
//!
//! The split of the paper copies the keys that a merge needs to one place. This one sends references to pieces.
//!
//! # Memory
//!
//! The last merge that reads a piece takes the piece's memory for its next result. That memory is in the core's cache, and no
//! allocator has to clear it. With 2 threads and 8.4 million keys, new memory for each piece took 30 ms of 410 ms of processor time.
//!
//! The merges of the last level write to the caller's memory. A sink that copied their pieces there would do so on one thread, and
//! that thread alone would touch the memory of the result for the first time.

use crate::inputs;
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use thalweg::{Graph, In, Options, Output, Report, Stream, input as port, output};

/// The input of the paper's Table III, in million bytes.
pub const MEGABYTES: u32 = 3815;

/// What the program is given beside its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// About the number of keys that `sort` sorts, and that a firing of `merge` makes: see [`Parameters::keys_of_piece`].
    /// At least one.
    pub piece: usize,
}

impl Parameters {
    /// The keys of each piece of this number of keys: the nearest to `piece` with which the pieces are as many as a power of two,
    /// or fewer. With one piece more another level would move all keys once more, to merge that piece.
    ///
    /// ```
    /// use thalweg_danbi::merge_sort::Parameters;
    ///
    /// let parameters = Parameters { piece: 1000 };
    /// assert_eq!([64_000, 65_000, 95_000].map(|keys| parameters.keys_of_piece(keys)), [1000, 1016, 743]);
    /// ```
    pub fn keys_of_piece(&self, keys: usize) -> usize {
        let levels = (keys as f64 / self.piece as f64).log2().round();
        keys.div_ceil(1 << levels.clamp(0.0, 60.0) as u32).max(1)
    }
}

impl Default for Parameters {
    /// Pieces of 4096 keys, 16 KiB.
    fn default() -> Self {
        Parameters { piece: 4096 }
    }
}

/// Random keys: [`MEGABYTES`] times `scale`.
pub fn input(scale: f64, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..inputs::units(MEGABYTES, scale, size_of::<u32>(), 1)).map(|_| random.u32(..)).collect()
}

/// Runs the program: the sorted keys, and the report of the run.
///
/// ```
/// use thalweg::Options;
/// use thalweg_danbi::merge_sort::{Parameters, sort};
///
/// let (sorted, _report) = sort(&[5, 1, 4, 1, 3], &Parameters { piece: 2 }, &Options::new())?;
/// assert_eq!(sorted, [1, 1, 3, 4, 5]);
/// # Ok::<(), thalweg::Error>(())
/// ```
///
/// # Errors
/// As those of [`Output::run_with`].
///
/// # Panics
/// As [`graph`].
pub fn sort(
    keys: &[u32],
    parameters: &Parameters,
    options: &Options,
) -> Result<(Vec<u32>, Report), thalweg::Error> {
    let mut sorted = vec![0; keys.len()];
    let ((), report) = graph(keys, &mut sorted, parameters).run_with(options)?.into_parts();
    Ok((sorted, report))
}

/// The program, which writes the sorted keys to `sorted`. If a run fails, a part of them may have been written.
///
/// # Panics
/// If pieces have no keys, or there are not as many places in `sorted` as keys.
pub fn graph<'env>(keys: &'env [u32], sorted: &'env mut [u32], parameters: &Parameters) -> Output<'env, ()> {
    assert!(parameters.piece > 0, "a piece has keys");
    assert_eq!(keys.len(), sorted.len(), "a place for each key");
    let piece = parameters.keys_of_piece(keys.len());
    let pieces = keys.len().div_ceil(piece);
    let graph = Graph::new();
    let (left, right) = sorted_pieces(graph.source(keys.chunks(piece).enumerate()));
    let (back_left, merged_left) = graph.feedback([]);
    let (back_right, merged_right) = graph.feedback([]);
    // A level of the tree may be complete before the next one begins.
    let half = pieces.div_ceil(2).max(1);
    let inputs = (
        port("sorted left", left),
        port("sorted right", right),
        port("merged left", merged_left.capacity(half)),
        port("merged right", merged_right.capacity(half)),
    );
    let (done, left, right) = merge(&graph, split(&graph, inputs, piece, pieces), Places::new(sorted, piece));
    left.feed(back_left);
    right.feed(back_right);
    done.for_each(|()| ()).named("sink")
}

/// A piece of a sorted run. All pieces of a run but its last one have the same number of keys.
#[derive(Clone, Debug)]
struct Piece {
    keys: Keys,
    run: RunId,
}

/// The keys of a piece.
type Keys = Arc<Vec<u32>>;

/// A run: the number of merges that made it, and its place among the runs of that level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RunId {
    level: u32,
    place: usize,
}

impl RunId {
    /// The run that this one is merged into.
    fn merged(self) -> RunId {
        RunId { level: self.level + 1, place: self.place / 2 }
    }

    /// Whether it has all `pieces` pieces.
    fn is_whole(self, pieces: usize) -> bool {
        pieces.div_ceil(1 << self.level) <= 1
    }
}

/// Two runs to merge, the second of which may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    level: u32,
    /// The pieces of each.
    pieces: [usize; 2],
}

/// The pairs of runs in the order in which they are merged: level by level, and within a level from the first key to the
/// last. The number of pieces determines it.
#[derive(Clone, Debug)]
struct Rounds {
    pieces: usize,
    level: u32,
    /// The pieces of this level that have been paired.
    paired: usize,
}

impl Rounds {
    fn new(pieces: usize) -> Rounds {
        Rounds { pieces, level: 0, paired: 0 }
    }

    /// The next pair, without a step to it.
    fn peek(&self) -> Option<Pair> {
        let run = 1 << self.level;
        let left = (self.pieces - self.paired).min(run);
        let right = (self.pieces - self.paired - left).min(run);
        (left > 0).then_some(Pair { level: self.level, pieces: [left, right] })
    }

    /// Steps behind the pair. Behind the last one of a level is the first one of the next level, if that has two runs.
    fn step(&mut self, pair: Pair) {
        self.paired += pair.pieces[0] + pair.pieces[1];
        if self.paired == self.pieces && self.pieces > 2 << self.level {
            (self.level, self.paired) = (self.level + 1, 0);
        }
    }
}

/// Sorts pieces, each of which becomes a run. Even runs take the first stream, odd ones the second.
fn sorted_pieces<'env>(
    unsorted: Stream<'env, (usize, &'env [u32])>,
) -> (Stream<'env, Piece>, Stream<'env, Piece>) {
    unsorted.kernel("sort", (output("left"), output("right"))).parallel(|unsorted, (left, right)| {
        let (place, keys) = unsorted.pop();
        let mut keys = keys.to_vec();
        keys.sort_unstable();
        let piece = Piece { keys: Arc::new(keys), run: RunId { level: 0, place } };
        if place % 2 == 0 { left.push(piece) } else { right.push(piece) }
    })
}

/// Keys of a run, at most as many as a piece has: they lie in two neighbouring pieces at most.
type Stretch = [Option<(Keys, Range<usize>)>; 2];

/// What `split` sends: the keys of the left run, those of the right run, and the run that the merged piece belongs to.
type Splits<'env> = (Stream<'env, Stretch>, Stream<'env, Stretch>, Stream<'env, Task>);

/// The run that a merged piece belongs to.
#[derive(Clone, Copy, Debug)]
struct Task {
    run: RunId,
    /// The place of the piece in the result, if the run is the result.
    place: Option<usize>,
}

/// Cuts pairs of runs where pieces of the merged run begin.
fn split<'env>(
    graph: &Graph<'env>,
    inputs: (Pieces<'env>, Pieces<'env>, Pieces<'env>, Pieces<'env>),
    piece: usize,
    pieces: usize,
) -> Splits<'env> {
    let mut rounds = Rounds::new(pieces);
    graph
        .kernel("split", inputs, (output("left"), output("right"), output("task")))
        .framed(move |(sorted_left, sorted_right, merged_left, merged_right)| {
            let Some(pair) = rounds.peek() else { return Ok(None) };
            let [left, right] = pair.pieces;
            let inputs =
                if pair.level == 0 { [sorted_left, sorted_right] } else { [merged_left, merged_right] };
            // The step is made when both runs have arrived, for the function is called again if they have not.
            for (input, pieces) in inputs.into_iter().zip(pair.pieces) {
                if pieces > 0 {
                    input.peek(pieces - 1)?;
                }
            }
            rounds.step(pair);
            Ok(Some(if pair.level == 0 { [left, right, 0, 0] } else { [0, 0, left, right] }))
        })
        .parallel(move |(sorted_left, sorted_right, merged_left, merged_right), (lefts, rights, tasks)| {
            let (left, right) = (Run::pop(sorted_left, merged_left), Run::pop(sorted_right, merged_right));
            let run = left.pieces[0].run.merged();
            let is_last = run.is_whole(pieces);
            let mut places = 0..;
            cut(&left, &right, piece, |left, right| {
                lefts.push(left);
                rights.push(right);
                tasks.push(Task { run, place: places.next().filter(|_| is_last) });
            });
        })
}

/// An input of `split`.
type Pieces<'env> = thalweg::node::PopSpec<'env, Piece>;

/// A sorted run.
struct Run {
    pieces: Vec<Piece>,
    /// The keys of each piece but the last.
    piece: usize,
    length: usize,
}

impl Run {
    /// The run that a firing has on one of two inputs.
    fn pop(sorted: &mut In<'_, Piece>, merged: &mut In<'_, Piece>) -> Run {
        let pieces: Vec<_> = std::iter::from_fn(|| sorted.try_pop().or_else(|| merged.try_pop())).collect();
        let piece = pieces.first().map_or(1, |first| first.keys.len());
        let length = pieces.last().map_or(0, |last| piece * (pieces.len() - 1) + last.keys.len());
        Run { pieces, piece, length }
    }

    fn key(&self, at: usize) -> u32 {
        self.pieces[at / self.piece].keys[at % self.piece]
    }

    /// The keys of a range, which is not longer than a piece.
    fn stretch(&self, range: Range<usize>) -> Stretch {
        let first = range.start / self.piece;
        [first, first + 1].map(|at| {
            let begin = at * self.piece;
            let inside = range.start.max(begin)..range.end.min(begin + self.piece);
            let part = |piece: &Piece| (piece.keys.clone(), inside.start - begin..inside.end - begin);
            if inside.is_empty() { None } else { self.pieces.get(at).map(part) }
        })
    }
}

/// Calls `each` with the keys of the left and of the right run that become each piece of the merged run.
fn cut(left: &Run, right: &Run, piece: usize, mut each: impl FnMut(Stretch, Stretch)) {
    let length = left.length + right.length;
    let mut from = 0;
    for begin in (0..length).step_by(piece) {
        let end = (begin + piece).min(length);
        let to = lefts(left, right, from..from + (end - begin), end);
        each(left.stretch(from..to), right.stretch(begin - from..end - to));
        from = to;
    }
}

/// The number of keys of the left run among the first `count` keys of the merged run, which is in the range `within`, its end
/// included. Of equal keys those of the left run are first.
fn lefts(left: &Run, right: &Run, within: Range<usize>, count: usize) -> usize {
    let mut low = within.start.max(count.saturating_sub(right.length));
    let mut high = within.end.min(left.length);
    while low < high {
        let middle = (low + high) / 2;
        if left.key(middle) <= right.key(count - middle - 1) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The places of the result's pieces, each of which one merge takes.
struct Places<'env>(Vec<Mutex<&'env mut [u32]>>);

impl<'env> Places<'env> {
    fn new(sorted: &'env mut [u32], piece: usize) -> Places<'env> {
        Places(sorted.chunks_mut(piece).map(Mutex::new).collect())
    }

    fn count(&self) -> usize {
        self.0.len().max(1)
    }

    fn take(&self, at: usize) -> &'env mut [u32] {
        std::mem::take(&mut self.0[at].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes the pieces of merged runs: writes those of the result to their places, and pushes those of even and odd runs that are
/// merged again.
fn merge<'env>(
    graph: &Graph<'env>,
    (lefts, rights, tasks): Splits<'env>,
    places: Places<'env>,
) -> (Stream<'env, ()>, Stream<'env, Piece>, Stream<'env, Piece>) {
    let outputs = (output("done"), output("left"), output("right"));
    // A cut sends all pieces of a run. Where firings wait for their tickets it leaves by one port after the other, and elsewhere it keeps
    // its own pieces until it has left, for which `merge` may need the room. So each port has room for all.
    let pieces = places.count();
    let inputs = (
        port("left", lefts.capacity(pieces)),
        port("right", rights.capacity(pieces)),
        port("task", tasks.capacity(pieces)),
    );
    graph.kernel("merge", inputs, outputs).parallel(move |(lefts, rights, tasks), (done, left, right)| {
        let Task { run, place } = tasks.pop();
        let (lefts, rights) = (lefts.pop(), rights.pop());
        if let Some(place) = place {
            merge_into(places.take(place), &lefts, &rights);
            return done.push(());
        }
        let piece = Piece { keys: Arc::new(merged(&lefts, &rights)), run };
        lefts.into_iter().chain(rights).flatten().for_each(|(keys, _)| keep(keys));
        if run.place % 2 == 0 { left.push(piece) } else { right.push(piece) }
    })
}

thread_local! {
    /// The memory of a piece that no other merge reads.
    static SPARE: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// Keeps the memory of a piece for the thread's next merge, if no other one reads it.
fn keep(keys: Keys) {
    if let Ok(keys) = Arc::try_unwrap(keys) {
        SPARE.set(keys);
    }
}

/// The slices of a stretch.
fn parts(stretch: &Stretch) -> impl Iterator<Item = &[u32]> + Clone {
    stretch.iter().flatten().map(|(keys, range)| &keys[range.clone()])
}

/// Merges the keys of two stretches.
fn merged(left: &Stretch, right: &Stretch) -> Vec<u32> {
    let length = parts(left).chain(parts(right)).map(<[u32]>::len).sum();
    let mut all = SPARE.take();
    all.resize(length, 0);
    merge_into(&mut all, left, right);
    all
}

/// Merges the keys of two stretches to a place for all of them.
fn merge_into(mut free: &mut [u32], left: &Stretch, right: &Stretch) {
    let (mut lefts, mut rights) = (parts(left), parts(right));
    let (mut a, mut b) = (lefts.next(), rights.next());
    while let (Some(left), Some(right)) = (a, b) {
        let (i, j) = merge_slices(free, left, right);
        free = &mut free[i + j..];
        a = if i == left.len() { lefts.next() } else { Some(&left[i..]) };
        b = if j == right.len() { rights.next() } else { Some(&right[j..]) };
    }
    for rest in a.into_iter().chain(lefts).chain(b).chain(rights) {
        let places = free.split_off_mut(..rest.len()).expect("room for all keys");
        places.copy_from_slice(rest);
    }
}

/// Merges two slices until one of them is empty. Returns the numbers of keys taken from both.
pub fn merge_slices(all: &mut [u32], left: &[u32], right: &[u32]) -> (usize, usize) {
    let (mut i, mut j) = (0, 0);
    for place in all {
        let (Some(a), Some(b)) = (left.get(i), right.get(j)) else { break };
        let first = a <= b;
        *place = if first { *a } else { *b };
        i += usize::from(first);
        j += usize::from(!first);
    }
    (i, j)
}

/// The program without a graph: merges runs of 1, 2, 4, ... keys.
pub fn sequential(keys: &[u32]) -> Vec<u32> {
    let (mut from, mut to) = (keys.to_vec(), Vec::with_capacity(keys.len()));
    let mut run = 1;
    while run < keys.len() {
        to.clear();
        for pair in from.chunks(2 * run) {
            let (mut left, mut right) = pair.split_at(run.min(pair.len()));
            while let ([a, ..], [b, ..]) = (left, right) {
                let smaller = if a <= b { &mut left } else { &mut right };
                to.push(smaller[0]);
                *smaller = &smaller[1..];
            }
            to.extend_from_slice(left);
            to.extend_from_slice(right);
        }
        std::mem::swap(&mut from, &mut to);
        run *= 2;
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(pieces: usize) -> Vec<(u32, [usize; 2])> {
        let mut rounds = Rounds::new(pieces);
        let next = || {
            let pair = rounds.peek()?;
            rounds.step(pair);
            Some((pair.level, pair.pieces))
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn every_level_pairs_all_pieces() {
        assert_eq!(rounds(0), []);
        assert_eq!(rounds(1), [(0, [1, 0])]);
        assert_eq!(rounds(2), [(0, [1, 1])]);
        assert_eq!(rounds(5), [(0, [1, 1]), (0, [1, 1]), (0, [1, 0]), (1, [2, 2]), (1, [1, 0]), (2, [4, 1])]);
    }

    #[test]
    fn the_last_level_makes_the_whole_run() {
        for pieces in 1..70 {
            let (last, ..) = *rounds(pieces).last().expect("a pair");
            let whole = |level| RunId { level, place: 0 }.is_whole(pieces);
            assert!(whole(last + 1) && (last == 0 || !whole(last)), "{pieces}");
        }
    }

    fn run(keys: &[u32], piece: usize) -> Run {
        let piece_of =
            |keys: &[u32]| Piece { keys: Arc::new(keys.to_vec()), run: RunId { level: 0, place: 0 } };
        Run { pieces: keys.chunks(piece).map(piece_of).collect(), piece, length: keys.len() }
    }

    #[test]
    fn cut_runs_merge_to_full_pieces() {
        for (left, right) in [(0, 0), (1, 0), (7, 3), (8, 8), (13, 8), (3, 12)] {
            let keys = |count: u32, factor: u32| (0..count).map(|i| i * factor / 2).collect::<Vec<_>>();
            let (left, right) = (keys(left, 3), keys(right, 5));
            let mut pieces = Vec::new();
            cut(&run(&left, 4), &run(&right, 4), 4, |left, right| pieces.push(merged(&left, &right)));
            let mut expected = [left, right].concat();
            expected.sort();
            assert_eq!(pieces, expected.chunks(4).map(<[_]>::to_vec).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_memory_of_a_piece_that_no_merge_reads_is_used_again() {
        let merged_keys = || {
            let part = |keys: &[u32]| [Some((Arc::new(keys.to_vec()), 0..keys.len())), None];
            merged(&part(&[1, 4]), &part(&[2, 3]))
        };
        let keys = Arc::new(vec![9; 4]);
        let (memory, other) = (keys.as_ptr(), keys.clone());
        keep(keys);
        let new = merged_keys();
        assert_ne!(new.as_ptr(), memory, "another merge reads it");
        keep(other);
        let again = merged_keys();
        assert_eq!((again.as_ptr(), &again[..]), (memory, &[1, 2, 3, 4][..]));
    }

    #[test]
    fn pieces_are_as_many_as_a_power_of_two_or_fewer() {
        for piece in [1, 7, 64, 4096] {
            for keys in (0..3000).chain([1 << 20, (1 << 20) + 1]) {
                let each = Parameters { piece }.keys_of_piece(keys);
                assert!(each > 0 && each <= 2 * piece, "{keys} keys, {each} of a piece, {piece} wanted");
                // Levels of merges: no more than the number of pieces of that length needs.
                let levels = |each: usize| keys.div_ceil(each).next_power_of_two().ilog2();
                assert!(levels(each) <= levels(piece), "{keys} keys");
            }
        }
    }
}
