//! Morphing continuations (Figure 5.3): the order in which a worker runs the tasks that it may run in parallel.
//!
//! A list of tasks, the predecessors or the successors of a node, is grouped by colour and halved again and again. A
//! worker goes on with the half that has its own colours and pushes the other one to its deque as one entry. The worker
//! that takes the entry, a thief or later the same, halves it by its own colours in turn.
//!
//! Where we differ: the paper halves the list of colours, and then the tasks of one colour. Here a list is halved
//! at the border between colours that is nearest to its middle, so the halves have similar numbers of tasks, and after
//! `2 lg n + 1` halvings of `n` tasks one is left. And the groups are in the order of their numbers, not of their
//! appearance: colours of one memory domain, which have consecutive numbers, stay together.

use super::{Colour, ColourSet, Place};
use std::ops::Range;

/// A list of tasks in two halves, as positions in the list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Halves {
    /// What the worker runs next.
    pub first: Range<usize>,
    /// What it pushes to its deque.
    pub rest: Range<usize>,
}

/// Groups tasks by colour, in the order of the colours' numbers. Tasks of one colour keep their order.
pub fn group<T>(tasks: &mut [T], colour: impl Fn(&T) -> Colour) {
    tasks.sort_by_key(colour);
}

/// Halves a grouped list for a worker: of two halves with several colours it runs first the one with a colour of the
/// nearer level of its place, and otherwise the one that stands first.
///
/// Takes time in proportion to the number of colours times the logarithm of the number of tasks.
///
/// ```
/// use thalweg_policy::tasks::{Colour, Place, group, halves};
///
/// let mut tasks = [(7, 'a'), (5, 'b'), (5, 'c'), (7, 'd'), (6, 'e')];
/// let colour = |task: &(u32, char)| Colour(task.0);
/// group(&mut tasks, colour);
/// assert_eq!(tasks.map(|task| task.1), ['b', 'c', 'e', 'a', 'd']);
/// let by_place = |mine| {
///     let halves = halves(&tasks, colour, &Place::of(Colour(mine)));
///     (halves.first, halves.rest)
/// };
/// assert_eq!(by_place(5), (0..2, 2..5));
/// assert_eq!(by_place(7), (2..5, 0..2));
/// assert_eq!(by_place(0), (0..2, 2..5));
/// ```
///
/// # Panics
/// There are less than two tasks.
pub fn halves<T>(tasks: &[T], colour: impl Fn(&T) -> Colour, place: &Place) -> Halves {
    assert!(tasks.len() >= 2, "{} tasks cannot be halved", tasks.len());
    if colour(&tasks[0]) == colour(&tasks[tasks.len() - 1]) {
        let middle = tasks.len() / 2;
        return Halves { first: 0..middle, rest: middle..tasks.len() };
    }
    let middle = border(tasks, &colour);
    let (low, high) = (0..middle, middle..tasks.len());
    if level(&tasks[high.clone()], &colour, place) < level(&tasks[low.clone()], &colour, place) {
        return Halves { first: high, rest: low };
    }
    Halves { first: low, rest: high }
}

/// The colours of a grouped list, which its entry in a deque has.
pub fn colours<T>(tasks: &[T], colour: impl Fn(&T) -> Colour) -> ColourSet {
    groups(tasks, &colour).collect()
}

/// The border between two colours that is nearest to the middle of a list with several colours.
fn border<T>(tasks: &[T], colour: &impl Fn(&T) -> Colour) -> usize {
    let middle = tasks.len() / 2;
    let among = colour(&tasks[middle]);
    let start = tasks.partition_point(|task| colour(task) < among);
    let end = middle + tasks[middle..].partition_point(|task| colour(task) <= among);
    if end == tasks.len() || (start > 0 && middle - start <= end - middle) { start } else { end }
}

/// The nearest level that has a colour of the list; the largest number if no level has one.
fn level<T>(tasks: &[T], colour: &impl Fn(&T) -> Colour, place: &Place) -> usize {
    let mut nearest = usize::MAX;
    for colour in groups(tasks, colour) {
        nearest = nearest.min(place.level_of(colour).unwrap_or(usize::MAX));
        if nearest == 0 {
            break;
        }
    }
    nearest
}

/// The colours of a grouped list, once each.
fn groups<'a, T, F: Fn(&T) -> Colour>(
    tasks: &'a [T],
    colour: &'a F,
) -> impl Iterator<Item = Colour> + use<'a, T, F> {
    let mut left = tasks;
    std::iter::from_fn(move || {
        let next = colour(left.first()?);
        left = &left[left.partition_point(|task| colour(task) <= next)..];
        Some(next)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::XorShift;

    fn same(colour: &Colour) -> Colour {
        *colour
    }

    /// Halves a list until single tasks are left. Returns these in the order in which one worker runs them, and the largest
    /// number of halvings on the way to one of them.
    fn run(tasks: &[Colour], place: &Place) -> (Vec<Colour>, usize) {
        if let [task] = tasks {
            return (vec![*task], 0);
        }
        let Halves { first, rest } = halves(tasks, same, place);
        assert_eq!((first.start.min(rest.start), first.end.max(rest.end)), (0, tasks.len()));
        assert!(first.end == rest.start || rest.end == first.start);
        let (mut order, first) = run(&tasks[first], place);
        let (others, rest) = run(&tasks[rest], place);
        order.extend(others);
        (order, 1 + first.max(rest))
    }

    fn random_list(random: &mut XorShift, seed: u64) -> Vec<Colour> {
        let mut pick = |n: u64| (random.number() >> 32) % n;
        let (length, most) = (1 + pick(300), 1 + pick(100));
        // Some lists have many tasks of few colours.
        let tasks =
            (0..length).map(|_| Colour((pick(most) % (1 + pick(most)).pow(1 + seed as u32 % 2)) as u32));
        let mut tasks: Vec<Colour> = tasks.collect();
        group(&mut tasks, same);
        tasks
    }

    #[test]
    fn each_task_is_run_once_own_colours_first_after_few_halvings() {
        let mut random = XorShift::new(3, 0);
        for seed in 0..300 {
            let tasks = random_list(&mut random, seed);
            let mine = tasks[(random.number() >> 40) as usize % tasks.len()];
            let (mut order, depth) = run(&tasks, &Place::of(mine));
            let own = tasks.iter().filter(|&&task| task == mine).count();
            assert!(order[..own].iter().all(|&task| task == mine), "{order:?}");
            order.sort();
            assert_eq!(order, tasks);
            let limit = 2 * tasks.len().ilog2() as usize + 1;
            assert!(depth <= limit, "{depth} halvings of {} tasks", tasks.len());
        }
    }

    #[test]
    fn a_nearer_level_comes_before_a_farther_one() {
        let tasks: Vec<Colour> = (0..8).map(Colour).collect();
        let set = |colours: std::ops::Range<u32>| ColourSet::from_iter(colours.map(Colour));
        let place = Place::new([set(5..6), set(4..8)]);
        let (order, depth) = run(&tasks, &place);
        assert_eq!((order, depth), ([5, 4, 6, 7, 0, 1, 2, 3].map(Colour).to_vec(), 3));
    }

    #[test]
    fn a_list_without_own_colours_keeps_its_order() {
        let tasks: Vec<Colour> = [1, 1, 2, 2, 2, 9].map(Colour).to_vec();
        for place in [Place::default(), Place::of(Colour(5))] {
            assert_eq!(run(&tasks, &place).0, tasks);
        }
    }

    #[test]
    fn an_entry_has_the_colours_of_its_tasks() {
        let tasks = [1, 1, 2, 9, 9].map(Colour);
        assert_eq!(colours(&tasks, same), ColourSet::from_iter(tasks));
        assert_eq!(colours(&tasks[..0], same), ColourSet::EMPTY);
    }

    #[test]
    #[should_panic(expected = "1 tasks cannot be halved")]
    fn a_single_task_is_not_halved() {
        halves(&[Colour(1)], same, &Place::default());
    }
}
