//! Which member has executed which iterations of a loop: recorded, saved as text, and replayed.
//!
//! A loop over data that other threads have first written, or whose iterations differ much in cost, can be executed again
//! as it was: each member begins with the iterations that it had before. The iterations of an assignment, member by member,
//! are numbered anew, so that each member has a stretch of the numbers, and the schedules work as for any loop.

use super::{Iterations, Loop};
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;

/// The iterations that each member of a team has executed.
///
/// ```
/// use thalweg_runtime::{Assignment, Loop};
///
/// let assignment = Loop::new().record(0..1000, |range| assert!(range.end <= 1000));
/// let saved = assignment.to_string();
/// let again: Assignment = saved.parse()?;
/// assert_eq!(again, assignment);
/// Loop::new().replay(&again, |range| assert!(range.end <= 1000));
/// # Ok::<(), thalweg_runtime::AssignmentError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// By member: disjoint ranges, in order.
    members: Vec<Vec<Range<usize>>>,
}

impl Assignment {
    /// By member: the ranges that it has executed, in order.
    pub fn members(&self) -> &[Vec<Range<usize>>] {
        &self.members
    }

    /// The number of iterations.
    pub fn len(&self) -> usize {
        self.members.iter().flatten().map(Range::len).sum()
    }

    /// Whether there are no iterations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Loop {
    /// Like [`Loop::for_ranges`]; returns which member has executed which iterations.
    ///
    /// # Panics
    /// If `body` panics.
    pub fn record(self, range: Range<usize>, body: impl Fn(Range<usize>) + Sync) -> Assignment {
        let range = range.start..range.end.max(range.start); // one that ends before it starts is empty
        let (size, members) = self.sizes(range.len());
        self.recorded(&self.iterations(&range, (size, members)), members, body)
    }

    /// Calls `body` with ranges that together are those of an assignment. Each member begins with what it executed before;
    /// with [`Schedule::Hybrid`](super::Schedule::Hybrid) it then steals. Members that the team has not begin nothing: what
    /// was theirs is executed by others. Returns which member has executed which iterations now.
    ///
    /// # Panics
    /// If `body` panics.
    pub fn replay(self, assignment: &Assignment, body: impl Fn(Range<usize>) + Sync) -> Assignment {
        let (size, members) = self.sizes(assignment.len());
        let order = Order::new(assignment);
        let mut lengths: Vec<u64> =
            assignment.members.iter().map(|own| own.iter().map(|range| range.len() as u64).sum()).collect();
        lengths.resize(size.max(lengths.len()), 0);
        let absent = lengths.split_off(size).into_iter().sum::<u64>();
        *lengths.last_mut().expect("a team has a member") += absent;
        let iterations = Iterations::new(
            self.schedule,
            self.stealing,
            &(0..assignment.len()),
            (lengths.into_iter(), members),
            self.least(),
        );
        let taken = self.recorded(&iterations, members, |numbers| order.old(numbers).for_each(&body));
        let of = |own: Vec<Range<usize>>| {
            in_order(own.into_iter().flat_map(|numbers| order.old(numbers)).collect())
        };
        Assignment { members: taken.members.into_iter().map(of).collect() }
    }

    /// Executes a loop and notes which member executes what.
    fn recorded(
        self,
        iterations: &Iterations,
        members: usize,
        body: impl Fn(Range<usize>) + Sync,
    ) -> Assignment {
        let size = crate::team_size();
        let taken: Vec<Mutex<Vec<Range<usize>>>> = (0..size).map(|_| Mutex::default()).collect();
        self.execute(iterations, members, |member, range| {
            body(range.clone());
            // The lock is this member's alone.
            let mut own = taken[member].lock().unwrap_or_else(|poison| poison.into_inner());
            match own.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => own.push(range),
            }
        });
        let taken =
            taken.into_iter().map(|own| own.into_inner().unwrap_or_else(|poison| poison.into_inner()));
        Assignment { members: taken.map(in_order).collect() }
    }
}

/// The iterations of an assignment, numbered anew, member by member.
struct Order {
    ranges: Vec<Range<usize>>,
    /// The first new number of each range.
    starts: Vec<usize>,
}

impl Order {
    fn new(assignment: &Assignment) -> Order {
        let ranges: Vec<Range<usize>> = assignment.members.iter().flatten().cloned().collect();
        let next =
            |next: &mut usize, range: &Range<usize>| Some(std::mem::replace(next, *next + range.len()));
        Order { starts: ranges.iter().scan(0, next).collect(), ranges }
    }

    /// The iterations that have these new numbers.
    fn old(&self, numbers: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let first = self.starts.partition_point(|start| *start <= numbers.start).saturating_sub(1);
        let all = self.starts.iter().zip(&self.ranges).skip(first);
        let end = numbers.end;
        all.take_while(move |(start, _)| **start < end).map(move |(start, range)| {
            let of = |number: usize| range.start + (number.clamp(*start, start + range.len()) - start);
            of(numbers.start)..of(numbers.end)
        })
    }
}

/// Sorts disjoint ranges, and joins neighbours.
fn in_order(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// A text that is no assignment, with the number of the line.
#[derive(Clone, PartialEq, Eq)]
pub struct AssignmentError {
    line: usize,
    what: String,
}

thalweg_graph::error_type!(AssignmentError);

impl fmt::Display for AssignmentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AssignmentError { line, what } = self;
        write!(
            f,
            "line {line}: {what}\nhelp: an assignment has the line `assignment 1`, and a line for each member, such as \
             `member 0 5-9 20-29`"
        )
    }
}

impl fmt::Display for Assignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "assignment 1")?;
        for (member, ranges) in self.members.iter().enumerate() {
            write!(f, "member {member}")?;
            for Range { start, end } in ranges {
                write!(f, " {start}-{}", end - 1)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Assignment {
    type Err = AssignmentError;

    fn from_str(text: &str) -> Result<Assignment, AssignmentError> {
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let error = |line, what| AssignmentError { line, what };
        match lines.next() {
            Some((_, "assignment 1")) => {}
            Some((line, other)) => {
                return Err(error(line, format!("`{}` is no version", other.escape_debug())));
            }
            None => return Err(error(1, "the text is empty".to_owned())),
        }
        let (mut members, mut all) = (Vec::new(), Vec::new());
        for (line, text) in lines {
            let mut words = text.split_ascii_whitespace();
            let number = words.next().filter(|word| *word == "member").and_then(|_| words.next());
            if number.and_then(|number| number.parse().ok()) != Some(members.len()) {
                return Err(error(line, format!("expected `member {}`", members.len())));
            }
            let parse = |word: &str| {
                let (from, to) = word.split_once('-')?;
                let (from, to) = (from.parse().ok()?, to.parse::<usize>().ok()?.checked_add(1)?);
                (from < to).then_some(from..to)
            };
            let wrong = |word: &str| error(line, format!("`{}` is no range", word.escape_debug()));
            let own: Vec<_> =
                words.map(|word| parse(word).ok_or_else(|| wrong(word))).collect::<Result<_, _>>()?;
            all.extend(own.iter().map(|range: &Range<usize>| (range.start, range.end, line)));
            members.push(in_order(own));
        }
        all.sort_unstable();
        if let Some(pair) = all.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            return Err(error(pair[0].2.max(pair[1].2), format!("{} is in two ranges", pair[1].0)));
        }
        Ok(Assignment { members })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schedule;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_record_has_each_iteration_once_and_a_replay_executes_it() {
        crate::build::in_team::tests::in_teams(record_and_replay);
    }

    fn record_and_replay() {
        for schedule in
            [Schedule::Static, Schedule::Hybrid, Schedule::Dynamic, Schedule::Guided, Schedule::Split]
        {
            for count in if cfg!(miri) { &[12][..] } else { &[0, 1, 1000] } {
                let count = *count;
                let settings = Loop::new().schedule(schedule);
                let recorded = settings.record(3..3 + count, |_| ());
                let foreign = "assignment 1\nmember 0 3-4 10-10\nmember 1\nmember 2 8-9\nmember 3 0-2 5-7\n";
                for assignment in [recorded, foreign.parse().unwrap()] {
                    let calls: Vec<AtomicUsize> = (0..count + 11).map(|_| AtomicUsize::new(0)).collect();
                    let call = |range: Range<usize>| {
                        range.for_each(|at| _ = calls[at].fetch_add(1, Ordering::Relaxed))
                    };
                    let again = settings.replay(&assignment, call);
                    let all = |assignment: &Assignment| {
                        in_order(assignment.members.iter().flatten().cloned().collect())
                    };
                    assert_eq!(all(&again), all(&assignment));
                    let ranges = all(&assignment);
                    let is_in = |at: usize| ranges.iter().any(|range| range.contains(&at));
                    let once = |(at, calls): (usize, &AtomicUsize)| {
                        calls.load(Ordering::Relaxed) == usize::from(is_in(at))
                    };
                    assert!(calls.iter().enumerate().all(once), "{schedule:?} {assignment}");
                }
            }
        }
    }

    #[test]
    fn numbers_near_the_largest_one_are_replayed() {
        let recorded = Loop::new().record(usize::MAX - 100..usize::MAX, |_| ());
        let text = format!("assignment 1\nmember 0 0-49\nmember 1 {}-{}\n", usize::MAX - 9, usize::MAX - 1);
        for assignment in [recorded, text.parse().unwrap()] {
            for schedule in [Schedule::Static, Schedule::Hybrid, Schedule::Dynamic] {
                let count = AtomicUsize::new(0);
                let call = |range: Range<usize>| _ = count.fetch_add(range.len(), Ordering::Relaxed);
                Loop::new().schedule(schedule).replay(&assignment, call);
                assert_eq!(count.into_inner(), assignment.len(), "{schedule:?}");
            }
        }
    }

    #[test]
    fn a_long_text_is_read_in_about_linear_time() {
        use std::fmt::Write;
        const LONG: usize = if cfg!(miri) { 100 } else { 50_000 };
        let mut text = String::from("assignment 1\n");
        (0..LONG).for_each(|member| writeln!(text, "member {member} {member}-{member}").unwrap());
        assert_eq!(text.parse::<Assignment>().unwrap().len(), LONG);
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges)]
    fn a_range_that_ends_before_it_starts_is_empty() {
        for schedule in [Schedule::Static, Schedule::Dynamic, Schedule::Guided, Schedule::Hybrid] {
            assert!(Loop::new().schedule(schedule).record(5..3, |range| panic!("{range:?}")).is_empty());
        }
    }

    #[test]
    fn a_text_reads_back_and_a_wrong_one_names_its_line() {
        let text = "assignment 1\nmember 0 0-4 7-7\nmember 1\nmember 2 5-6\n";
        let assignment: Assignment = text.parse().unwrap();
        assert_eq!((assignment.to_string().as_str(), assignment.len()), (text, 8));
        let unordered: Assignment =
            "assignment 1\nmember 0 7-7 3-4 0-2\nmember 1\nmember 2 5-6\n".parse().unwrap();
        assert_eq!(unordered, assignment, "ranges come in order, and neighbours are one");
        for (text, line, what) in [
            ("", 1, "the text is empty"),
            ("assignment 2\n", 1, "`assignment 2` is no version"),
            ("assignment 1\nmember 1 0-1", 2, "expected `member 0`"),
            ("assignment 1\nmember 0 4-3", 2, "`4-3` is no range"),
            ("assignment 1\nmember 0 0-18446744073709551615", 2, "`0-18446744073709551615` is no range"),
            ("assignment 1\nmember 0 0-3\nmember 1 3-4", 3, "3 is in two ranges"),
        ] {
            assert_eq!(text.parse::<Assignment>(), Err(AssignmentError { line, what: what.to_owned() }));
        }
    }
}
