//! A machine, and what placement asks of it.

use crate::{Cache, CacheId, Core, Costs, Domain, DomainId, Limits, Unit, UnitId};

/// The description of a machine: units, cores, caches, memory domains, limits and costs.
///
/// Ids are dense, and follow the hierarchy: units of one core are neighbours, and so are those of one domain. Cores,
/// caches and domains are nested: of two of them that have a unit in common, one contains the other.
///
/// [`Machine::here`], [`Machine::read`] and [`Machine::uniform`] make one; it prints as the text that
/// [`Machine::read`] takes.
///
/// ```
/// use thalweg_machine::Machine;
///
/// let machine = Machine::uniform(8, 10);
/// let text = machine.to_string();
/// assert_eq!(text, "thalweg-machine 1\ndomains 8\ncores 10\ndistance 20\n");
/// assert_eq!(Machine::read(&text), Ok(machine));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub(crate) units: Vec<Unit>,
    pub(crate) cores: Vec<Core>,
    pub(crate) caches: Vec<Cache>,
    /// The caches of each unit, the lowest level first.
    pub(crate) caches_of: Vec<Vec<CacheId>>,
    pub(crate) domains: Vec<Domain>,
    /// The distances of all pairs of domains, row by row.
    pub(crate) distances: Vec<u16>,
    pub(crate) limits: Limits,
    pub(crate) costs: Costs,
}

impl Machine {
    /// The same machine with other costs. Times that are not positive numbers below 1000 seconds count as not measured.
    pub fn with_costs(mut self, costs: Costs) -> Machine {
        self.costs = costs.within_range();
        self
    }

    /// The processing units, by id.
    pub fn units(&self) -> &[Unit] {
        &self.units
    }

    /// The cores, by id.
    pub fn cores(&self) -> &[Core] {
        &self.cores
    }

    /// The caches for data, by id: those of level 1 first.
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// The memory domains, by id.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// What the process may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The bytes of the smallest cache of one core above the first level, if one is known.
    ///
    /// ```
    /// let text = "thalweg-machine 1\ndomains 1\ncores 2\ncache 1 size 32 KiB per core\ncache 2 size 1 MiB per core\n";
    /// assert_eq!(thalweg_machine::Machine::read(text)?.private_cache(), Some(1 << 20));
    /// # Ok::<(), thalweg_machine::ReadError>(())
    /// ```
    pub fn private_cache(&self) -> Option<u64> {
        let core = |unit: &UnitId| self.unit(*unit).core;
        let of_one = |cache: &&Cache| {
            let first = cache.units().first().map(core);
            cache.level() > 1 && cache.units().iter().all(|unit| Some(core(unit)) == first)
        };
        self.caches().iter().filter(of_one).filter_map(|cache| cache.bytes()).min()
    }

    /// The measured costs.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// A unit by its id.
    ///
    /// # Panics
    /// If the machine has no such unit.
    pub fn unit(&self, unit: UnitId) -> &Unit {
        &self.units[unit.index()]
    }

    /// The unit that the operating system knows by this number. Takes time in proportion to the machine.
    pub fn unit_of_cpu(&self, cpu: u32) -> Option<UnitId> {
        self.units.iter().find(|unit| unit.cpu == cpu).map(|unit| unit.id)
    }

    /// The memory domain of a unit.
    ///
    /// # Panics
    /// If the machine has no such unit.
    pub fn domain_of(&self, unit: UnitId) -> DomainId {
        self.unit(unit).domain
    }

    /// The units of a memory domain, in the order of their ids.
    ///
    /// # Panics
    /// If the machine has no such domain.
    pub fn units_of(&self, domain: DomainId) -> &[UnitId] {
        &self.domains[domain.index()].units
    }

    /// The caches of a unit, the lowest level first.
    ///
    /// # Panics
    /// If the machine has no such unit.
    pub fn caches_of(&self, unit: UnitId) -> impl DoubleEndedIterator<Item = &Cache> {
        self.caches_of[unit.index()].iter().map(|cache| &self.caches[cache.index()])
    }

    /// The cache of the lowest level that two units share, if they share one.
    ///
    /// # Panics
    /// If the machine lacks one of the units.
    pub fn shared_cache(&self, a: UnitId, b: UnitId) -> Option<&Cache> {
        let of_b = &self.caches_of[b.index()];
        let shared = self.caches_of[a.index()].iter().find(|cache| of_b.contains(cache));
        shared.map(|cache| &self.caches[cache.index()])
    }

    /// The distance of the memory of domain `to` from the units of domain `from`: 10 within a domain, in proportion to
    /// the latency between domains, 255 where `to` cannot be reached.
    ///
    /// # Panics
    /// If the machine lacks one of the domains.
    pub fn distance(&self, from: DomainId, to: DomainId) -> u16 {
        self.distances[from.index() * self.domains.len()..][..self.domains.len()][to.index()]
    }

    /// The units that the process may use, at least one, in the order of their ids.
    pub fn allowed(&self) -> impl Iterator<Item = UnitId> {
        let all = if self.limits.allowed.is_none() { &self.units[..] } else { &[] };
        all.iter().map(|unit| unit.id).chain(self.limits.allowed.iter().flatten().copied())
    }

    /// The number of threads to use: the units that the process may use, or fewer if a quota allows fewer cores, at
    /// least 1. A quota of 1.5 cores counts as 1.
    ///
    /// For [`Machine::here`] this is the number that [`threads`](crate::threads) returns without reading the machine.
    pub fn threads(&self) -> usize {
        let quota =
            self.limits.millicores.map_or(usize::MAX, |n| usize::try_from(n / 1000).unwrap_or(usize::MAX));
        self.allowed().count().min(quota).max(1)
    }
}
