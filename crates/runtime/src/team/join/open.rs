//! The first join of a thread opens a session.

use super::member::{Crew, Member};
use super::session::Session;
use crate::team::counted::lend_uncounted;
use crate::team::lending::Recall;
use crate::team::members::{Work, help_inside};
use crate::team::{call_members, team_size};
use std::cell::Cell;
use std::ptr::null;

thread_local! {
    /// The member that this thread is in its innermost job, if that is a session; null otherwise.
    static MEMBER: Cell<*const Member<'static>> = const { Cell::new(null()) };
}

/// Calls `a` and `b`, and returns their results. `b` may be executed on another thread meanwhile: in a firing of a graph on one
/// of the run's workers that has nothing else to do, otherwise on a thread of the process's pool. Joins may be nested
/// to any depth that the stack has room for, so this is the form of algorithms that divide their work in two.
///
/// A join costs a few nanoseconds where no other thread comes. Both functions are executed in any case, also if the other
/// one panics. They must not wait for each other: `b` may begin after `a` has ended.
///
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() <= 1000 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = thalweg_runtime::join(|| sum(left), || sum(right));
///     left + right
/// }
/// assert_eq!(sum(&(0..100_000).collect::<Vec<_>>()), 4_999_950_000);
/// ```
///
/// # Panics
/// If `a` or `b` panics, after both are done; with the panic of `a` if both do.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    // SAFETY: the pointer is null, or that of a member in a frame below: `Current` has set it, and resets it before the member
    // is dropped. `Hidden` makes it null while the thread is in another job or run.
    match unsafe { MEMBER.get().as_ref() } {
        Some(member) => member.join(a, b),
        None => begin(a, b),
    }
}

/// Executes a join in a session of its own.
#[cold]
#[inline(never)]
fn begin<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB + Send,
    RB: Send,
{
    let session = Session::new(team_size());
    let (halves, results) = (Cell::new(Some((a, b))), Cell::new(None));
    let own = |me| {
        let _end = End(&session);
        // The job may be open when the join is over: then there is nothing left to do.
        if let Some((a, b)) = halves.take() {
            results.set(Some(as_member(&session, me, |member| member.join(a, b))));
        }
    };
    let part = |me, recall: Recall<'_>| {
        as_member(&session, me, |member| member.help(recall));
    };
    let more = || session.has_work();
    lend_uncounted(Work { most: usize::MAX, part: &part, more: &more }, own);
    results.into_inner().expect("the caller executes the join")
}

/// Calls `work` as a member of a session: joins in it belong to the session.
fn as_member<R>(session: &Session, me: usize, work: impl FnOnce(&Member<'_>) -> R) -> R {
    let member = Member::new(session, me, Crew { call: call_members, help: help_inside });
    let _current = Current::set(&member);
    work(&member)
}

/// Ends a session, after a panic too.
struct End<'s>(&'s Session);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Makes a member the current one of this thread, until it is dropped. It borrows the member.
struct Current<'m>(std::marker::PhantomData<&'m Member<'m>>, #[expect(dead_code, reason = "dropped")] Hidden);

impl<'m> Current<'m> {
    fn set(member: &'m Member<'_>) -> Current<'m> {
        let before = Hidden(MEMBER.replace(std::ptr::from_ref(member).cast()));
        Current(std::marker::PhantomData, before)
    }
}

/// Hides the session of this thread until it is dropped: the thread enters another job or run.
pub(in crate::team) struct Hidden(*const Member<'static>);

impl Hidden {
    pub(in crate::team) fn new() -> Hidden {
        Hidden(MEMBER.replace(null()))
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        MEMBER.set(self.0);
    }
}
