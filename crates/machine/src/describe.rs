//! A machine by the numbers that the operating system uses: what its readers make, and what is printed.

use crate::{Costs, MOST_UNITS, Machine, UnitId};

/// A machine that is not yet checked. CPUs and nodes have the system's numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Description {
    pub domains: Vec<DomainSpec>,
    pub caches: Vec<CacheSpec>,
    /// The distances of all pairs of domains, row by row. Empty: [`FAR`] between any two.
    pub distances: Vec<u16>,
    pub allowed: Option<Vec<u32>>,
    pub millicores: Option<u64>,
    pub memory: Option<u64>,
    pub costs: Costs,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DomainSpec {
    pub node: u32,
    pub memory: Option<u64>,
    pub cores: Vec<CoreSpec>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CoreSpec {
    pub cpus: Vec<u32>,
    pub capacity: u16,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CacheSpec {
    pub level: u8,
    pub bytes: Option<u64>,
    pub line: Option<u32>,
    pub cpus: Vec<u32>,
}

/// The distance of a domain from itself.
pub(crate) const NEAR: u16 = 10;

/// The distance of two domains where none is given: what Linux assumes.
pub(crate) const FAR: u16 = 20;

/// The largest distance, which means that the domain cannot be reached.
pub(crate) const FARTHEST: u16 = 255;

/// The capacity of the fastest core.
pub(crate) const FULL: u16 = 1024;

/// The highest level of a cache.
pub(crate) const MOST_LEVELS: u8 = 8;

/// Which cores share a cache, where all caches of a level are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// Each core has one.
    Core,
    /// Each domain has one.
    Domain,
    /// Each run of this number of consecutive cores of a domain has one; the last run may be shorter.
    Cores(usize),
}

impl Share {
    /// The CPUs of each cache.
    pub fn groups(self, domains: &[DomainSpec]) -> Vec<Vec<u32>> {
        let mut groups = Vec::new();
        for domain in domains {
            let size = match self {
                Share::Core => 1,
                Share::Domain => domain.cores.len().max(1),
                Share::Cores(n) => n.max(1),
            };
            let cpus = |cores: &[CoreSpec]| cores.iter().flat_map(|core| core.cpus.iter().copied()).collect();
            groups.extend(domain.cores.chunks(size).map(cpus));
        }
        groups
    }
}

impl Machine {
    /// The description that is this machine.
    pub(crate) fn describe(&self) -> Description {
        let cpus = |units: &[UnitId]| units.iter().map(|unit| self.unit(*unit).cpu).collect();
        let mut domains: Vec<DomainSpec> = (self.domains().iter())
            .map(|domain| DomainSpec { node: domain.node, memory: domain.memory, cores: Vec::new() })
            .collect();
        for core in self.cores() {
            let spec = CoreSpec { cpus: cpus(&core.units), capacity: core.capacity };
            domains[core.domain.index()].cores.push(spec);
        }
        let caches = self.caches().iter().map(|cache| CacheSpec {
            level: cache.level,
            bytes: cache.bytes,
            line: cache.line,
            cpus: cpus(&cache.units),
        });
        Description {
            domains,
            caches: caches.collect(),
            distances: self.distances.clone(),
            allowed: self.limits().allowed.as_deref().map(cpus),
            millicores: self.limits().millicores,
            memory: self.limits().memory,
            costs: self.costs().clone(),
        }
    }
}

impl Machine {
    /// A machine of `domains` equal domains, each of `cores` cores with one unit. No caches, limits or costs are known.
    /// CPUs and nodes are numbered from 0.
    ///
    /// ```
    /// let machine = thalweg_machine::Machine::uniform(2, 4);
    /// assert_eq!((machine.threads(), machine.levels().len()), (8, 2));
    /// ```
    ///
    /// # Panics
    /// If there is no core, or more than [`MOST_UNITS`](crate::MOST_UNITS) cores or
    /// [`MOST_DOMAINS`](crate::MOST_DOMAINS) domains.
    pub fn uniform(domains: usize, cores: usize) -> Machine {
        let units = domains.checked_mul(cores).filter(|units| (1..=MOST_UNITS).contains(units));
        assert!(units.is_some(), "{domains} domains of {cores} cores: expected from 1 to {MOST_UNITS} cores");
        let core = |cpu: usize| CoreSpec { cpus: vec![cpu as u32], capacity: FULL };
        let domain = |node: usize| DomainSpec {
            node: node as u32,
            memory: None,
            cores: (node * cores..(node + 1) * cores).map(core).collect(),
        };
        let description =
            Description { domains: (0..domains).map(domain).collect(), ..Description::default() };
        description.build().unwrap_or_else(|fault| panic!("{}", fault.what))
    }
}
