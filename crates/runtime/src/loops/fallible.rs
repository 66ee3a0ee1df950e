//! Loops whose iterations may fail.

use super::Loop;
use crate::sync::{Mutex, lock};
use crate::team::counted_alone;
use std::ops::Range;

impl Loop {
    /// Calls `body` with each number of `range` until a call fails, and returns the error of the lowest number that fails:
    /// the one that a sequential loop returns, at any number of threads and with any schedule, if what `body` returns
    /// depends on the number alone.
    ///
    /// After a failure no call begins with a higher number, and none is taken: a range without an end that can be reached,
    /// as `0..usize::MAX`, ends by a failure. Calls with lower numbers still happen, since one of them may fail
    /// too, and calls with higher numbers may have happened before. So a `body` that is to stop the whole loop,
    /// as after [`Handle::is_over`](crate::Handle::is_over), fails for each number from then on.
    ///
    /// ```
    /// use thalweg_runtime::Loop;
    ///
    /// let texts = ["3", "14", "x", "15", "y"];
    /// let check = |at: usize| texts[at].parse::<u32>().map(drop).map_err(|error| (at, error.to_string()));
    /// assert_eq!(Loop::new().try_for_each(0..2, check), Ok(()));
    /// assert_eq!(Loop::new().try_for_each(0..5, check), Err((2, "invalid digit found in string".to_owned())));
    /// ```
    ///
    /// # Errors
    /// That of the lowest number for which `body` fails.
    ///
    /// # Panics
    /// If `body` panics. Other members then begin no more ranges.
    pub fn try_for_each<E: Send>(
        self,
        range: Range<usize>,
        body: impl Fn(usize) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let (size, members) = self.sizes(range.len());
        if range.is_empty() {
            return Ok(());
        }
        if members < 2 {
            let mut result = Ok(());
            counted_alone(range.len(), || result = range.clone().try_for_each(body));
            return result;
        }
        let (iterations, failure) = (self.iterations(&range, (size, members)), Mutex::new(None));
        self.execute(&iterations, members, |_, range| {
            for at in range {
                if at >= iterations.limit() {
                    return;
                }
                let Err(error) = body(at) else { continue };
                iterations.fail_at(at);
                let mut failure = lock(&failure);
                // The lock orders the failures, so that the lowest one stays.
                if failure.as_ref().is_none_or(|(before, _)| at < *before) {
                    let higher = failure.replace((at, error));
                    drop(failure); // Before the error, whose drop is the user's code.
                    drop(higher);
                }
                return;
            }
        });
        let failure = failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;
    use crate::build::in_team::tests::in_teams;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_error_is_that_of_the_lowest_number_that_fails() {
        const COUNT: usize = if cfg!(miri) { 40 } else { 1000 };
        let some = vec![17, COUNT / 2 - 1, COUNT / 2, COUNT - 2];
        let all = [some, (COUNT / 2..COUNT).collect(), vec![], vec![0], vec![COUNT - 1]];
        in_teams(|| {
            for schedule in ALL {
                for fails in &all[..if cfg!(miri) { 2 } else { all.len() }] {
                    let called: Vec<AtomicUsize> = (0..COUNT).map(|_| AtomicUsize::new(0)).collect();
                    let result = Loop::new().schedule(schedule).try_for_each(0..COUNT, |at| {
                        called[at].fetch_add(1, Ordering::Relaxed);
                        if fails.contains(&at) { Err(at) } else { Ok(()) }
                    });
                    assert_eq!(result.err(), fails.first().copied(), "{schedule:?}");
                    let first = fails.first().map_or(COUNT, |first| first + 1);
                    assert!(called[..first].iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
                }
            }
        });
    }

    const ALL: [Schedule; 5] =
        [Schedule::Static, Schedule::Dynamic, Schedule::Guided, Schedule::Split, Schedule::Hybrid];

    /// Loops that would outlast all computers, if members took what is behind a failure.
    #[test]
    fn a_failure_ends_a_loop_without_an_end() {
        in_teams(|| {
            for schedule in ALL {
                for members in [1, 2, 8] {
                    for first in if cfg!(miri) { &[1][..] } else { &[0, 1, 300, usize::MAX / 2] } {
                        let fail = |at: usize| if at >= *first + 7 && at % 7 == 3 { Err(at) } else { Ok(()) };
                        let lowest = (first + 7..).find(|at| at % 7 == 3);
                        let settings = Loop::new().schedule(schedule).members(members);
                        let result = settings.try_for_each(*first..usize::MAX, fail);
                        assert_eq!(result.err(), lowest, "{schedule:?}, {members} members");
                        let stealing = settings.stealing(thalweg_policy::tasks::StealOrder::Off);
                        assert_eq!(stealing.try_for_each(*first..usize::MAX, fail).err(), lowest);
                    }
                }
            }
        });
    }

    #[test]
    fn numbers_before_the_largest_one_are_called() {
        in_teams(|| {
            let last = usize::MAX - 1;
            for schedule in ALL {
                let all = [Some(last - 40), None, Some(last), Some(last - 99)];
                for fails in &all[..if cfg!(miri) { 1 } else { all.len() }] {
                    let fails = *fails;
                    let called: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
                    let result = Loop::new().schedule(schedule).try_for_each(last - 99..usize::MAX, |at| {
                        called[last - at].fetch_add(1, Ordering::Relaxed);
                        if fails.is_some_and(|fails| at >= fails) { Err(at) } else { Ok(()) }
                    });
                    assert_eq!(result.err(), fails, "{schedule:?}");
                    let lowest = last - fails.unwrap_or(last);
                    assert!(called[lowest..].iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
                }
            }
        });
    }

    #[test]
    fn a_failure_of_an_inner_loop_is_one_of_the_outer_loop() {
        in_teams(|| {
            for schedule in ALL {
                let settings = Loop::new().schedule(schedule);
                let result = settings.try_for_each(0..usize::MAX, |outer| {
                    settings.try_for_each(
                        outer..usize::MAX,
                        |at| if at >= 40 { Err((outer, at)) } else { Ok(()) },
                    )
                });
                assert_eq!(result, Err((0, 40)), "{schedule:?}");
            }
        });
    }

    #[test]
    fn one_member_ends_at_the_first_failure() {
        let called = AtomicUsize::new(0);
        let fail = |at: usize| {
            called.fetch_add(1, Ordering::Relaxed);
            if at >= 7 { Err(at) } else { Ok(()) }
        };
        assert_eq!(Loop::new().members(1).try_for_each(0..1000, fail), Err(7));
        assert_eq!(called.into_inner(), 8);
    }
}
