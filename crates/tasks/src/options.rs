//! Options of a run of a task graph.

use crate::team::{team_domains, team_size};
use std::sync::Arc;
use thalweg_machine::Places;
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{Colour, ColourSet, Place, Search, SearchSettings};

/// How a graph is executed. No option changes a result.
///
/// Member `m` prefers tasks of [`Colour`]`(m)`, and after these the tasks with the colours of members near it: those of its
/// memory domain, if [`domains`](TaskOptions::domains) are given, or by levels, from its core to its domain, if
/// [`places`](TaskOptions::places) are. The two set the same thing, so the later call replaces the earlier one.
///
/// Colours have numbers below 1024. A team may have more members: those from 1024 on prefer no task, and steal by random
/// attempts, by which alone tasks of colours from 1024 on are stolen. That costs time and changes no result. Accesses to data of
/// such a colour all count as remote.
///
/// **Places are assumed.** [`domains`](TaskOptions::domains) and [`places`](TaskOptions::places) say where members are, and put no
/// thread there: outside of runs no thread is pinned, and the system moves threads as it likes. Counts of remote accesses are
/// then those of the described places, which may be of another machine. To have the threads there, execute the graph in
/// [`in_team`](thalweg_runtime::in_team), with the run option
/// [`pinned_at`](thalweg_runtime::Options::pinned_at).
#[derive(Clone, Debug)]
pub struct TaskOptions {
    members: Option<usize>,
    domains: Option<Arc<[usize]>>,
    places: Option<Places>,
    search: SearchSettings,
    seed: u64,
}

impl Default for TaskOptions {
    fn default() -> TaskOptions {
        TaskOptions { members: None, domains: None, places: None, search: SearchSettings::default(), seed: 1 }
    }
}

impl TaskOptions {
    /// As many members as the team of the calling thread has ([`thalweg_runtime::team_size`]), in one memory domain.
    pub fn new() -> TaskOptions {
        TaskOptions::default()
    }

    /// The most threads that execute the graph, the calling one included; 0 counts as 1. No more than the team
    /// has: in a firing the workers of the run, otherwise the threads that the process may run at once.
    #[must_use]
    pub fn members(mut self, members: usize) -> TaskOptions {
        self.members = Some(members.max(1));
        self
    }

    /// The memory domain of each member, by the member's number; a member that the list does not have is in a domain of
    /// its own. In a firing the default is [`Options::domains`](thalweg_runtime::Options::domains) of the run. Turns on the
    /// counts of accesses ([`MemberCounts::remote`](crate::MemberCounts::remote)), which calls the colour function once
    /// more for each node and each predecessor. Replaces [`places`](TaskOptions::places).
    #[must_use]
    pub fn domains(mut self, domains: impl IntoIterator<Item = usize>) -> TaskOptions {
        self.domains = Some(domains.into_iter().collect());
        self.places = None;
        self
    }

    /// Where the members are on a machine, which may be a described one. Member `m` has the place of thread `m`, and prefers,
    /// after its own colour, those of the members with which it shares a core, then a cache of each level, then its memory
    /// domain ([`Places::near`]). A member that the places do not have is in a domain of its own. Replaces
    /// [`domains`](TaskOptions::domains), by those of the places.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    /// use thalweg_tasks::{Colour, TaskOptions, StaticGraph};
    ///
    /// let machine = Machine::read("thalweg-machine 1\ndomains 2\ncores 4\ncache 2 per 2 cores\n")?;
    /// let options = TaskOptions::new().members(1).places(&machine.places(8));
    /// // A chain of 8 nodes, one near each thread: half of them are in the other domain.
    /// let mut chain = StaticGraph::from_edges(8, (1..8).map(|n| (n - 1, n))).colours(|n| Some(Colour(n)));
    /// let counts = chain.run_with(&options, |_| {}).expect("no cycle");
    /// assert_eq!((counts.total().accesses(), counts.total().remote()), (15, 7));
    /// # Ok::<(), thalweg_machine::ReadError>(())
    /// ```
    #[must_use]
    pub fn places(self, places: &Places) -> TaskOptions {
        let options = self.domains(places.domains().iter().copied());
        TaskOptions { places: Some(places.clone()), ..options }
    }

    /// How a member without work searches; [`SearchSettings::RANDOM`] ignores the colours.
    #[must_use]
    pub fn search(mut self, settings: SearchSettings) -> TaskOptions {
        self.search = settings;
        self
    }

    /// The seed of the choice of victims.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> TaskOptions {
        self.seed = seed;
        self
    }

    /// These options in a run that the calling thread starts: with the domains of its team, if they describe none.
    pub(crate) fn in_team(&self) -> TaskOptions {
        TaskOptions { domains: self.domains.clone().or_else(team_domains), ..self.clone() }
    }

    pub(crate) fn count(&self) -> usize {
        let size = team_size();
        self.members.unwrap_or(size).min(size)
    }

    /// The colours of the members in a member's domain, if domains are described.
    pub(crate) fn domain(&self, member: usize) -> Option<ColourSet> {
        let domains = self.domains.as_ref()?;
        let mine = domains.get(member);
        let same = (0..domains.len()).filter(|other| mine == domains.get(*other)).chain([member]);
        Some(same.map(|member| Colour(member as u32)).collect())
    }

    pub(crate) fn place(&self, member: usize) -> Place {
        let near = self.places.iter().filter(|places| member < places.threads());
        let near = near.flat_map(|places| places.near(member)).map(|members| colours_of(&members));
        let members = self.domains.as_ref().map_or(0, |domains| domains.len());
        Place::among(members, Colour(member as u32), near.chain(self.domain(member)))
    }

    pub(crate) fn search_of(&self, member: usize, members: usize) -> Search {
        Search::new(self.place(member), members, member, self.search)
    }

    pub(crate) fn random_of(&self, member: usize) -> XorShift {
        XorShift::new(self.seed, member)
    }
}

/// The colours of some members.
fn colours_of(members: &[usize]) -> ColourSet {
    members.iter().map(|member| Colour(*member as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_machine::Machine;

    fn levels(options: &TaskOptions, member: usize) -> Vec<Vec<u32>> {
        let colours = |set: &ColourSet| set.iter().map(|colour| colour.0).collect();
        options.place(member).levels().iter().map(colours).collect()
    }

    #[test]
    fn colours_have_a_level_for_core_caches_and_domain() {
        let text = "thalweg-machine 1\ndomains 2\ncores 4 units 2\ncache 2 per 2 cores\ncache 3 per domain\n";
        let machine = Machine::read(text).unwrap();
        let all = TaskOptions::new().places(&machine.places(16));
        let domain: Vec<u32> = (8..16).collect();
        assert_eq!(levels(&all, 13), [vec![13], vec![12, 13], vec![12, 13, 14, 15], domain]);
        // 8 threads are one on each core.
        let cores = TaskOptions::new().places(&machine.places(8));
        assert_eq!(levels(&cores, 5), [vec![5], vec![4, 5], vec![4, 5, 6, 7]]);
        assert_eq!(levels(&cores, 9), [[9]], "a member without a place");
    }

    #[test]
    fn domains_alone_have_one_level_and_replace_places() {
        let of_domains = |options: TaskOptions| options.domains([0, 0, 1, 1]);
        let places = Machine::uniform(1, 4).places(4);
        for options in [TaskOptions::new(), TaskOptions::new().places(&places)].map(of_domains) {
            assert_eq!(levels(&options, 1), [vec![1], vec![0, 1]]);
            assert_eq!(levels(&options, 7), [[7]]);
        }
        assert_eq!(levels(&TaskOptions::new(), 1), [[1]]);
    }

    /// So on a machine with one domain a search makes no more attempts than without domains.
    #[test]
    fn a_domain_of_all_members_is_no_level() {
        assert_eq!(levels(&TaskOptions::new().domains([0; 4]), 1), [[1]]);
        assert_eq!(levels(&TaskOptions::new().places(&Machine::uniform(1, 4).places(4)), 1), [[1]]);
    }
}
