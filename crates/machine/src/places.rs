//! Where the threads of a team are on a machine.

use crate::{MOST_UNITS, Machine, UnitId};
use std::collections::BTreeMap;

/// The units on which the threads of a team are, and which threads are near each other: made by [`Machine::places`].
///
/// ```
/// use thalweg_machine::Machine;
///
/// let machine = Machine::read("thalweg-machine 1\ndomains 2\ncores 4\ncache 2 per 2 cores\n")?;
/// let places = machine.places(8);
/// assert_eq!(places.domains(), [0, 0, 0, 0, 1, 1, 1, 1]);
/// // Thread 6 shares a cache with thread 7, and memory with 4 and 5 too.
/// assert_eq!(places.near(6), [vec![6], vec![6, 7], vec![4, 5, 6, 7]]);
/// # Ok::<(), thalweg_machine::ReadError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    units: Vec<UnitId>,
    cpus: Vec<u32>,
    domains: Vec<usize>,
    /// By level from near to far, up to the domains: the group of each thread.
    groups: Vec<Vec<usize>>,
}

impl Machine {
    /// The places of this many threads, spread evenly over the units that the process may use, in the order of their ids:
    /// threads whose numbers are near share caches and memory. Of more threads than units, several are on one unit.
    ///
    /// # Panics
    /// If there are more than [`MOST_UNITS`](crate::MOST_UNITS) threads.
    pub fn places(&self, threads: usize) -> Places {
        assert!(threads <= MOST_UNITS, "places of {threads} threads: expected at most {MOST_UNITS}");
        let allowed: Vec<UnitId> = self.allowed().collect();
        let unit =
            |thread: usize| allowed[(thread as u128 * allowed.len() as u128 / threads as u128) as usize];
        let units: Vec<UnitId> = (0..threads).map(unit).collect();
        let cpus = units.iter().map(|unit| self.unit(*unit).cpu).collect();
        let domains: Vec<usize> = units.iter().map(|unit| self.domain_of(*unit).index()).collect();
        let mut groups = Vec::new();
        for level in self.levels() {
            let group: Vec<usize> = units.iter().map(|unit| level.group_of(*unit)).collect();
            // A cache of several domains is beyond what shares memory.
            let crosses = || {
                let mut domain_of = BTreeMap::new();
                let pairs = group.iter().zip(&domains);
                pairs
                    .into_iter()
                    .any(|(group, domain)| domain_of.insert(group, domain).is_some_and(|d| d != domain))
            };
            if crosses() {
                break;
            }
            groups.push(group);
        }
        groups.push(domains.clone());
        Places { units, cpus, domains, groups }
    }
}

impl Places {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.units.len()
    }

    /// The unit of each thread, by its number.
    pub fn units(&self) -> &[UnitId] {
        &self.units
    }

    /// The number by which the operating system knows each thread's unit, by the thread's number.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// The index of each thread's memory domain, by the thread's number.
    pub fn domains(&self) -> &[usize] {
        &self.domains
    }

    /// The threads near a thread, as sets from near to far, each of which contains the one before and is larger: the thread
    /// itself, those that share its core, those that share a cache of each level, those that share its memory domain.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn near(&self, thread: usize) -> Vec<Vec<usize>> {
        let mut near = vec![vec![thread]];
        for group in &self.groups {
            let same: Vec<usize> =
                (0..self.threads()).filter(|other| group[*other] == group[thread]).collect();
            if same.len() > near.last().map_or(0, Vec::len) {
                near.push(same);
            }
        }
        near
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> Machine {
        Machine::read(&format!("thalweg-machine 1\n{text}")).unwrap()
    }

    #[test]
    fn threads_are_spread_over_the_units_that_may_be_used() {
        let places = machine("domains 8\ncores 10\n").places(16);
        assert_eq!(places.domains(), (0..16).map(|thread| thread / 2).collect::<Vec<_>>());
        assert_eq!(places.units()[3], UnitId(15));
        assert_eq!(places.near(3), [vec![3], vec![2, 3]]);
        let limited = machine("domains 2\ncores 4\nlimit cpus 3-5\n").places(3);
        assert_eq!(limited.domains(), [0, 1, 1]);
    }

    #[test]
    fn more_threads_than_units_share_them() {
        let places = machine("domains 1\ncores 2\n").places(4);
        assert_eq!(places.near(1), [vec![1], vec![0, 1], vec![0, 1, 2, 3]]);
        assert_eq!(Machine::uniform(1, 1).places(0).threads(), 0);
    }

    #[test]
    fn any_number_of_threads_gets_places_or_is_refused() {
        let machine = machine("domains 2\ncores 3\n");
        assert_eq!(machine.places(MOST_UNITS).threads(), MOST_UNITS);
        for threads in [MOST_UNITS + 1, isize::MAX as usize / 4, usize::MAX] {
            let panic = std::panic::catch_unwind(|| machine.places(threads)).expect_err("too many");
            let text = panic.downcast_ref::<String>().expect("a text");
            assert_eq!(*text, format!("places of {threads} threads: expected at most 8192"));
        }
    }

    #[test]
    fn near_sets_grow_from_the_core_to_the_domain() {
        let text = "domains 2\ncores 4 units 2\ncache 2 per 2 cores\ncache 3 per domain\n";
        let near = machine(text).places(16).near(5);
        assert_eq!(near, [vec![5], vec![4, 5], vec![4, 5, 6, 7], (0..8).collect()]);
    }

    #[test]
    fn a_cache_of_several_domains_is_not_near() {
        let places = machine("domains 2\ncores 2\ncache 3 of 0-3\n").places(4);
        assert_eq!(places.near(2), [vec![2], vec![2, 3]]);
    }
}
