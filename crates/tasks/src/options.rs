//! Options of a run.

use crate::team::{team_domains, team_size};
use std::sync::Arc;
use thalweg_policy::random::XorShift;
use thalweg_policy::tasks::{Colour, ColourSet, Place, Search, SearchSettings};

/// How a graph is executed. No option changes a result.
///
/// Member `m` prefers tasks of [`Colour`]`(m)`, and after these the tasks with the colours of its memory domain.
#[derive(Clone, Debug)]
pub struct Options {
    members: Option<usize>,
    domains: Option<Arc<[usize]>>,
    search: SearchSettings,
    seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options { members: None, domains: None, search: SearchSettings::default(), seed: 1 }
    }
}

impl Options {
    /// As many members as the team of the calling thread has ([`thalweg_runtime::team_size`]), in one memory domain.
    pub fn new() -> Options {
        Options::default()
    }

    /// The most threads that execute the graph, the calling one included; 0 counts as 1. No more than the team
    /// has: in a firing the workers of the run, otherwise the threads that the process may run at once.
    #[must_use]
    pub fn members(mut self, members: usize) -> Options {
        self.members = Some(members.max(1));
        self
    }

    /// The memory domain of each member, by the member's number; a member that the list does not have is in a domain of
    /// its own. In a firing the default is [`Options::domains`](thalweg_runtime::Options::domains) of the run. Turns on the counts of accesses ([`MemberCounts::remote`](crate::MemberCounts::remote)), which calls the
    /// colour function once more for each node and each predecessor.
    #[must_use]
    pub fn domains(mut self, domains: impl IntoIterator<Item = usize>) -> Options {
        self.domains = Some(domains.into_iter().collect());
        self
    }

    /// How a member without work searches; [`SearchSettings::RANDOM`] ignores the colours.
    #[must_use]
    pub fn search(mut self, settings: SearchSettings) -> Options {
        self.search = settings;
        self
    }

    /// The seed of the choice of victims.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Options {
        self.seed = seed;
        self
    }

    /// These options in a run that the calling thread starts: with the domains of its team, if they describe none.
    pub(crate) fn in_team(&self) -> Options {
        Options { domains: self.domains.clone().or_else(team_domains), ..self.clone() }
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
        let own = ColourSet::of(Colour(member as u32));
        Place::new([own].into_iter().chain(self.domain(member).filter(|domain| *domain != own)))
    }

    pub(crate) fn search_of(&self, member: usize, members: usize) -> Search {
        Search::new(self.place(member), members, member, self.search)
    }

    pub(crate) fn random_of(&self, member: usize) -> XorShift {
        XorShift::new(self.seed, member)
    }
}
