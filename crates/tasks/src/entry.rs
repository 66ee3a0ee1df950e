//! Entries of deques that have colours, and morphing continuations (Figure 5.3 of the paper): the order in which a member
//! executes tasks that may run in parallel.

use crate::exec::Owned;
use thalweg_policy::tasks::{Colour, ColourSet, Place, colours, group, halves};

/// The colour, in a task, of a task without a hint. It is in no set, but any coloured attempt takes such a task: it is no
/// more remote to one member than to another.
const NONE: Colour = Colour(u32::MAX);

/// The colour, in a task, of the user's colour with that number: another one that is in no set.
const LARGEST: Colour = Colour(u32::MAX - 1);

/// A task of a run: what it is, in the terms of the run, and its colour. One word, so that an entry is in registers when
/// it goes from one function to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task(u64);

impl Task {
    /// Every number is a legal colour, so `None` has no number among the user's.
    #[inline]
    pub(crate) fn new(id: u32, colour: Option<Colour>) -> Task {
        let colour = colour.map_or(NONE, |colour| colour.min(LARGEST));
        Task(u64::from(colour.0) << 32 | u64::from(id))
    }

    #[inline]
    pub(crate) fn id(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn colour(self) -> Colour {
        Colour((self.0 >> 32) as u32)
    }
}

/// What a deque has: one task, or a list that is halved by the member that takes it.
pub(crate) enum Entry {
    One(Task),
    Many(Box<Batch>),
}

/// Tasks of several colours, grouped.
pub(crate) struct Batch {
    tasks: Vec<Task>,
    colours: ColourSet,
    /// Some task has no colour.
    uncoloured: bool,
}

impl Entry {
    fn of(tasks: &[Task]) -> Entry {
        match tasks {
            [task] => Entry::One(*task),
            _ => Entry::Many(Box::new(Batch {
                colours: colours(tasks, |task| task.colour()),
                // The colour with the highest number stands last.
                uncoloured: tasks.last().is_some_and(|task| task.colour() == NONE),
                tasks: tasks.to_vec(),
            })),
        }
    }

    /// An entry of all these tasks, if there are any.
    pub(crate) fn all(mut tasks: Vec<Task>) -> Option<Entry> {
        group(&mut tasks, |task| task.colour());
        (!tasks.is_empty()).then(|| Entry::of(&tasks))
    }

    /// Whether a coloured attempt for these colours may take the entry.
    pub(crate) fn fits(&self, wanted: &ColourSet) -> bool {
        match self {
            Entry::One(task) => task.colour() == NONE || wanted.contains(task.colour()),
            Entry::Many(batch) => batch.uncoloured || batch.colours.intersects(wanted),
        }
    }

    /// The first task of this entry for a member at `place`; pushes the others.
    #[inline]
    pub(crate) fn first(self, place: &Place, owned: &mut Owned<Entry>) -> Task {
        match self {
            Entry::One(task) => task,
            Entry::Many(batch) => morph(&batch.tasks, place, owned),
        }
    }
}

/// The task that a member at `place` executes first; pushes the others, the last ones first. The list is used up.
#[inline]
pub(crate) fn spawn(tasks: &mut Vec<Task>, place: &Place, owned: &mut Owned<Entry>) -> Option<Entry> {
    let next = match tasks.as_mut_slice() {
        [] => return None,
        [task] => *task,
        several => {
            let first = several[0].colour();
            if several.iter().any(|task| task.colour() != first) {
                group(several, |task| task.colour());
            }
            morph(several, place, owned)
        }
    };
    tasks.clear();
    Some(Entry::One(next))
}

/// Pushes the half of the tasks that is not for this member, as one entry, until the tasks have one colour; then these
/// one by one. Returns the first. The tasks are grouped, and at least one.
fn morph(mut tasks: &[Task], place: &Place, owned: &mut Owned<Entry>) -> Task {
    while tasks[0].colour() != tasks[tasks.len() - 1].colour() {
        let halves = halves(tasks, |task| task.colour(), place);
        owned.push(Entry::of(&tasks[halves.rest]));
        tasks = &tasks[halves.first];
    }
    tasks[1..].iter().rev().for_each(|task| owned.push(Entry::One(*task)));
    tasks[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_of_any_colour_is_no_task_without_one() {
        let all = ColourSet::from_iter((0..ColourSet::COLOURS).map(Colour));
        let fits = |colours: &[Option<Colour>]| {
            let tasks = colours.iter().map(|colour| Task::new(3, *colour)).collect();
            Entry::all(tasks).unwrap().fits(&all)
        };
        for largest in [u32::MAX, u32::MAX - 1, 1024].map(|colour| Some(Colour(colour))) {
            assert!(!fits(&[largest]) && !fits(&[largest, Some(Colour(2000))]), "{largest:?} is in no set");
            assert!(fits(&[largest, None]) && fits(&[None]) && fits(&[largest, Some(Colour(5))]));
        }
    }
}
