//! Items dealt out in rounds: the code of `deal`, and the order in which `interleave` joins.

use super::SequentialCode;
use super::framing::{FrameFn, Framing, by_turns};
use super::sequential::End;
use crate::channel::{In, Out};
use crate::port::loan::Lent;
use crate::port::shapes::{Many, One};
use crate::port::{Input, PopPort, PushPort};

/// A position in the rounds: in each, port `i` has a turn of `weights[i]` items.
///
/// Invariant: if no weight is 0, `0 < left <= weights[at]`.
pub(crate) struct Round {
    weights: Vec<usize>,
    /// The sum of the weights.
    items: usize,
    at: usize,
    /// The items left of this turn.
    left: usize,
}

impl Round {
    /// The beginning of a round. The graph is refused if there are no weights or one is 0.
    pub(crate) fn new(weights: Vec<usize>) -> Round {
        let items = weights.iter().fold(0, |sum: usize, weight| sum.saturating_add(*weight));
        let left = weights.first().copied().unwrap_or(0);
        Round { weights, items, at: 0, left }
    }

    /// The port whose turn it is.
    #[inline]
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The number of whole rounds, of at most `most` items in all, for which each port has what its turns need: `ports` says
    /// for how many items each has. 0 within a round.
    #[inline]
    pub(crate) fn whole(&self, most: usize, ports: impl Iterator<Item = usize>) -> usize {
        if !self.is_between() {
            return 0;
        }
        let turns = ports.zip(&self.weights).map(|(items, weight)| items / weight);
        turns.fold(most / self.items, usize::min)
    }

    /// Whether a round begins here.
    #[inline]
    fn is_between(&self) -> bool {
        self.at == 0 && self.left == self.weights[0]
    }

    /// By port: the items of a turn.
    #[inline]
    pub(crate) fn weights(&self) -> &[usize] {
        &self.weights
    }

    /// The items left of this turn.
    #[inline]
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// Moves on by `items` items of this turn, at most as many as are left of it.
    #[inline]
    pub(crate) fn advance(&mut self, items: usize) {
        self.left -= items;
        if self.left == 0 {
            self.at = if self.at + 1 == self.weights.len() { 0 } else { self.at + 1 };
            self.left = self.weights[self.at];
        }
    }

    /// Moves on by items that have `arrived`, at most `most`, and adds their numbers to `takes`, which are 0. At least by one
    /// item, if that of this turn has arrived.
    ///
    /// It ends between two rounds if it can: the beginning of a round is taken only alone. Within a round no whole rounds can
    /// be moved, and a position that moved on by whole rounds from there would stay within.
    pub(crate) fn take(&mut self, most: usize, arrived: impl Fn(usize) -> usize, takes: &mut [usize]) {
        let mut room = most;
        while !self.is_between() {
            if !self.take_turn(&mut room, &arrived, takes) {
                return;
            }
        }
        let whole = |((at, weight), take): ((usize, &usize), &usize)| (arrived(at) - take) / weight;
        let fit = self.weights.iter().enumerate().zip(&*takes).map(whole).min().unwrap_or(0);
        let rounds = fit.min(room / self.items);
        for (take, weight) in takes.iter_mut().zip(&self.weights) {
            *take += rounds * weight;
        }
        if takes.iter().all(|take| *take == 0) {
            while self.take_turn(&mut room, &arrived, takes) {}
        }
    }

    /// [`Round::take`] for this turn alone. Whether it has ended.
    fn take_turn(
        &mut self,
        room: &mut usize,
        arrived: &impl Fn(usize) -> usize,
        takes: &mut [usize],
    ) -> bool {
        let count = self.left.min(arrived(self.at) - takes[self.at]).min(*room);
        takes[self.at] += count;
        *room -= count;
        let ends = count == self.left;
        self.advance(count);
        ends
    }
}

/// The code of `deal`. A firing pops one item. They are moved by whole rounds where items and room suffice, and by turns
/// where not.
pub(crate) struct DealSteps(Round);

impl DealSteps {
    pub(crate) fn new(weights: Vec<usize>) -> DealSteps {
        DealSteps(Round::new(weights))
    }
}

impl<T: Send> SequentialCode<One<PopPort<T>>, Vec<PushPort<T>>> for DealSteps {
    const IS_INTERRUPTIBLE: bool = false;

    fn run(
        &mut self,
        items: &mut In<'static, T>,
        outs: &mut Many<Out<'static, T>>,
        limits: [(usize, usize); 1],
        firings: usize,
    ) -> (usize, Option<End>) {
        debug_assert_eq!(limits[0].0, 1, "`deal` pops one item");
        // SAFETY: it is borrowed mutably for the whole call, so no other code has it; below it is used only through the
        // loan, which ends before the borrow.
        let mut items = unsafe { Lent::new(items) };
        let mut fired = 0;
        while fired < firings {
            let rounds = self.0.whole(firings - fired, outs.iter().map(Out::slots_left));
            if rounds > 0 {
                items.here.step(rounds * self.0.items);
                for _ in 0..rounds {
                    for (out, weight) in outs.iter_mut().zip(&self.0.weights) {
                        (0..*weight).for_each(|_| out.push(items.here.pop()));
                    }
                }
                outs.iter().for_each(Out::mark);
                fired += rounds * self.0.items;
                continue;
            }
            let out = &mut outs[self.0.at];
            let turn = self.0.left.min(firings - fired);
            let count = turn.min(out.slots_left());
            items.here.step(count);
            for _ in 0..count {
                out.push(items.here.pop());
            }
            out.mark();
            fired += count;
            self.0.advance(count);
            if count < turn {
                break;
            }
        }
        (fired, None)
    }
}

/// The framing function of `interleave`: a firing takes the whole rounds that have arrived, or what has arrived of
/// one. The result depends on
/// the order alone, only the number of firings on what has arrived.
pub(crate) struct RoundFrame {
    round: Round,
    /// Items of a firing, at most.
    most: usize,
}

impl RoundFrame {
    /// For these rounds, in firings of at most `most` items.
    pub(crate) fn new(weights: Vec<usize>, most: usize) -> RoundFrame {
        RoundFrame { round: Round::new(weights), most }
    }
}

impl<T: Send> FrameFn<Vec<PopPort<T>>> for RoundFrame {
    fn frame(&mut self, ins: &mut Vec<PopPort<T>>, wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        by_turns(ins, wanted, takes, |ins, arrived, takes| {
            for (arrived, port) in arrived.iter_mut().zip(ins.iter_mut()) {
                *arrived = port.side().arrived();
            }
            self.round.take(self.most, |at| arrived[at], takes);
            let next = self.round.at();
            (!ins[next].side().ended || takes.iter().any(|take| *take > 0)).then_some(next)
        })
    }

    /// Firings of whole rounds begin and end between two rounds.
    fn repeats(&mut self, ins: &mut Vec<PopPort<T>>, takes: &[usize], limit: usize) -> usize {
        let rounds = takes[0] / self.round.weights[0];
        let whole = takes.iter().zip(&self.round.weights).all(|(take, weight)| *take == rounds * weight);
        if !whole || !self.round.is_between() {
            return 0;
        }
        let firings = ins.iter_mut().zip(takes).map(|(port, take)| port.side().arrived() / take - 1);
        firings.fold(limit, usize::min)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// All small rounds, positions and numbers of items: `take` moves on as `advance` does, item by item. It takes something
    /// if there is something, and ends between two rounds if it can.
    #[test]
    fn items_are_taken_as_one_by_one() {
        // Under Miri fewer: firings that end within a round, after one and after several, and inputs without items.
        let (mosts, seeds): (Vec<usize>, Vec<usize>) =
            if cfg!(miri) { (vec![1, 4, 11], vec![0, 2, 4]) } else { ((1..12).collect(), (0..50).collect()) };
        let (mosts, seeds) = (&mosts, &seeds);
        let with = |position| {
            mosts.iter().flat_map(move |most| seeds.iter().map(move |seed| (position, *most, *seed)))
        };
        let cases: Vec<_> = (0..9).flat_map(with).collect();
        for weights in [vec![1], vec![3], vec![1, 2, 1], vec![5, 1]] {
            for (position, most, seed) in cases.iter().copied() {
                let arrived: Vec<usize> = (0..weights.len()).map(|at| seed * (at + 3) % 11).collect();
                let (mut one, mut all) = (Round::new(weights.clone()), Round::new(weights.clone()));
                (0..position).for_each(|_| (one.advance(1), all.advance(1)).0);
                let mut takes = vec![0; weights.len()];
                all.take(most, |at| arrived[at], &mut takes);
                // The numbers after each item, and whether a round ends with it.
                let (mut expected, mut ends) = (vec![vec![0; weights.len()]], Vec::new());
                while expected.len() <= most && expected[expected.len() - 1][one.at] < arrived[one.at] {
                    let mut next = expected[expected.len() - 1].clone();
                    next[one.at] += 1;
                    expected.push(next);
                    one.advance(1);
                    ends.push(one.is_between());
                }
                let taken: usize = takes.iter().sum();
                let last_end = ends.iter().rposition(|ends| *ends).map(|at| at + 1);
                let what = || format!("{weights:?} at {position}, {most} of {arrived:?}: {takes:?}");
                assert_eq!(taken, last_end.unwrap_or(ends.len()), "{}", what());
                assert_eq!(takes, expected[taken], "{}", what());
                let mut there = Round::new(weights.clone());
                (0..position + taken).for_each(|_| there.advance(1));
                assert_eq!((all.at, all.left), (there.at, there.left), "{}", what());
            }
        }
    }
}
