//! A run on the threads of a team, and what each member keeps while it is absent.

use super::{Executor, Thief, Work};
use crate::options::TaskOptions;
use crate::sync::{Mutex, lock};
use crate::team::parallel;
use thalweg_runtime::MemberCounts;

/// A member that is absent: no thread executes its part.
struct Kept<L> {
    local: L,
    thief: Thief,
    panic: Option<String>,
}

/// A member at the end of a run.
pub(crate) struct Ended<L> {
    pub(crate) me: usize,
    pub(crate) local: L,
    /// The counts of joins and of stealing.
    pub(crate) counts: MemberCounts,
    /// The message of a panic that has ended the run.
    pub(crate) panic: Option<String>,
}

/// Executes all entries that follow from the seeds, the last one of these first. Returns the members that have joined, by number.
///
/// A number is that of one thread at a time ([`parallel`]), and a later one continues with what the earlier one has left.
pub(crate) fn run<W>(
    work: &W,
    seeds: Vec<W::Entry>,
    options: &TaskOptions,
    local: impl Fn(usize) -> W::Local + Sync,
) -> Vec<Ended<W::Local>>
where
    W: Work,
    W::Local: Send,
{
    let members = options.count();
    let executor = Executor::new(members, seeds);
    let kept: Vec<Mutex<Option<Kept<W::Local>>>> = (0..members).map(|_| Mutex::new(None)).collect();
    let part = |me: usize, counts: &mut MemberCounts| {
        let mut member = lock(&kept[me]).take().unwrap_or_else(|| Kept {
            local: local(me),
            thief: Thief::new(me, options.search_of(me, members), options.random_of(me)),
            panic: None,
        });
        let sum = |member: &Kept<W::Local>| W::counts(&member.local) + member.thief.counts;
        let before = sum(&member);
        member.thief.counts = member.thief.counts + *counts;
        let ended = executor.member(work, &mut member.local, &mut member.thief);
        member.panic = member.panic.or(ended.err());
        *counts = sum(&member).since(before);
        *lock(&kept[me]) = Some(member);
    };
    parallel(members, &part, &|| executor.has_work());
    let kept = kept.iter().map(|kept| lock(kept).take()).enumerate();
    let ended = |(me, kept): (usize, Option<Kept<W::Local>>)| {
        let Kept { local, thief, panic } = kept?;
        Some(Ended { me, local, counts: thief.counts, panic })
    };
    kept.filter_map(ended).collect()
}
