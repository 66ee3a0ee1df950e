//! Loops whose iterations may fail.

use super::Loop;
use crate::sync::{Mutex, lock};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

impl Loop {
    /// Calls `body` with each number of `range` until a call fails, and returns the error of the lowest number that fails:
    /// the one that a sequential loop returns, at any number of threads and with any schedule, if what `body` returns
    /// depends on the number alone.
    ///
    /// After a failure no call begins with a higher number. Calls with lower numbers still happen, since one of them may fail
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
        // The lowest number that has failed so far, in `lowest` for all members to read. Relaxed: it is a hint by which
        // members skip numbers, and a number below the lowest one is never skipped.
        let (lowest, failure) = (AtomicUsize::new(usize::MAX), Mutex::new(None));
        self.for_ranges(range, |range| {
            for at in range {
                if at > lowest.load(Ordering::Relaxed) {
                    return;
                }
                let Err(error) = body(at) else { continue };
                let mut failure = lock(&failure);
                if failure.as_ref().is_none_or(|(before, _)| at < *before) {
                    lowest.store(at, Ordering::Relaxed);
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

    #[test]
    fn the_error_is_that_of_the_lowest_number_that_fails() {
        in_teams(|| {
            for schedule in
                [Schedule::Static, Schedule::Dynamic, Schedule::Guided, Schedule::Split, Schedule::Hybrid]
            {
                for fails in [vec![], vec![0], vec![999], vec![17, 400, 401, 998], (500..1000).collect()] {
                    let called: Vec<AtomicUsize> = (0..1000).map(|_| AtomicUsize::new(0)).collect();
                    let result = Loop::new().schedule(schedule).try_for_each(0..1000, |at| {
                        called[at].fetch_add(1, Ordering::Relaxed);
                        if fails.contains(&at) { Err(at) } else { Ok(()) }
                    });
                    assert_eq!(result.err(), fails.first().copied(), "{schedule:?}");
                    let first = fails.first().map_or(1000, |first| first + 1);
                    assert!(called[..first].iter().all(|calls| calls.load(Ordering::Relaxed) == 1));
                }
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
