//! From which worker a thief takes iterations of a loop.

use super::below;
use std::ops::Range;

/// The rule by which a worker that has done its stretch chooses a victim.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum StealOrder {
    /// The worker with the longest rest, so that few steals suffice. Reads the rests of all workers.
    #[default]
    Longest,
    /// The paper's (section 6.5.2): the next worker that has not begun its stretch; if there is none, a random one that
    /// has iterations left.
    Paper,
    /// No worker: none takes a part of a stretch that another one has begun. What becomes of a stretch whose worker does not
    /// take part is the host's decision. In the virtual host all workers take part. A loop of the engine has no such promise:
    /// there a worker that is done takes whole stretches that have not begun after some time, as in a static schedule.
    Off,
}

impl StealOrder {
    /// The victim of worker `me` and the victim's rest, of which the thief takes the half that [`back`](super::back)
    /// returns; `None` if no other worker has anything left.
    ///
    /// `begin` returns the first iteration of a worker's stretch, whatever the lengths of the stretches are, `rest` what
    /// the worker has left, and `random` 64 random bits. A rest that starts with the stretch has not been begun: what a
    /// worker steals never starts where its own stretch does. Where other threads change a rest meanwhile, the caller
    /// compares it with the returned one.
    ///
    /// ```
    /// use thalweg_policy::tasks::StealOrder;
    ///
    /// // 12 iterations, three workers: the second has done one of its four, the third has not begun.
    /// let rest = |worker: usize| [4..4, 5..8, 8..12][worker].clone();
    /// let begin = |worker: usize| [0, 4, 8][worker];
    /// assert_eq!(StealOrder::Longest.victim(0, 3, begin, rest, &mut || 0), Some((2, 8..12)));
    /// assert_eq!(StealOrder::Off.victim(0, 3, begin, rest, &mut || 0), None);
    /// ```
    pub fn victim(
        self,
        me: usize,
        workers: usize,
        begin: impl Fn(usize) -> u64,
        rest: impl Fn(usize) -> Range<u64>,
        random: &mut impl FnMut() -> u64,
    ) -> Option<(usize, Range<u64>)> {
        let left = |worker: usize| Some((worker, rest(worker))).filter(|(_, rest)| !rest.is_empty());
        match self {
            StealOrder::Longest => {
                (0..workers).filter_map(left).max_by_key(|(_, rest)| rest.end - rest.start)
            }
            StealOrder::Paper => {
                let after = |first: usize| (0..workers).map(move |i| (first + i) % workers);
                let waits = |(worker, rest): &(usize, Range<u64>)| rest.start == begin(*worker);
                let not_begun = after(me + 1).filter_map(left).find(waits);
                not_begun.or_else(|| after(below(random(), workers)).find_map(left))
            }
            StealOrder::Off => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::XorShift;

    /// Where the stretches of four workers of 100 iterations begin.
    fn quarters(worker: usize) -> u64 {
        25 * worker as u64
    }

    #[test]
    fn the_papers_order_prefers_a_stretch_that_has_not_begun() {
        let rests = [0..0, 30..50, 50..52, 75..100];
        let victim = |me, random: &mut dyn FnMut() -> u64| {
            StealOrder::Paper.victim(me, 4, quarters, |worker| rests[worker].clone(), &mut || random())
        };
        assert_eq!(victim(0, &mut || panic!("no random number is needed")), Some((2, 50..52)));
        assert_eq!(victim(2, &mut || panic!("no random number is needed")), Some((3, 75..100)));
    }

    #[test]
    fn the_papers_order_falls_back_to_random_victims() {
        let rests = [0..0, 30..50, 51..52, 76..100];
        let mut random = XorShift::new(1, 0);
        let mut counts = [0; 4];
        for _ in 0..1_000 {
            let rest = |worker: usize| rests[worker].clone();
            let (victim, seen) =
                StealOrder::Paper.victim(0, 4, quarters, rest, &mut || random.number()).unwrap();
            assert_eq!(seen, rests[victim]);
            counts[victim] += 1;
        }
        assert!(counts[0] == 0 && counts[1..].iter().all(|&count| count > 200), "{counts:?}");
    }

    #[test]
    fn nothing_is_stolen_where_nothing_is_left() {
        for order in [StealOrder::Longest, StealOrder::Paper, StealOrder::Off] {
            assert_eq!(order.victim(1, 3, |at| 3 * at as u64, |_| 3..3, &mut || 7), None);
        }
    }
}
