//! Makes a machine of a description, or says what is wrong with it.
//!
//! Invariant: in a checked machine ids are dense, each unit has one core, one domain and at most one cache of each
//! level, and the cores, caches and domains are nested: of two of them that have a unit in common, one contains the
//! other.

use crate::describe::{CacheSpec, Description, DomainSpec, FAR, NEAR};
use crate::{Cache, CacheId, Core, CoreId, Domain, DomainId, Limits, MOST_DOMAINS, MOST_UNITS};
use crate::{Machine, Unit, UnitId};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a description that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Whole,
    Cpus,
    Nodes,
    /// A cache, by its index.
    Cache(usize),
    /// The distances from a domain.
    Distances(usize),
    Allowed,
}

/// What is wrong with a description, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub place: Place,
    pub what: String,
}

fn fault<T>(place: Place, what: String) -> Result<T, Fault> {
    Err(Fault { place, what })
}

impl Description {
    /// The machine.
    pub fn build(self) -> Result<Machine, Fault> {
        let (units, cores, domains) = parts(&self.domains);
        counts(units.len(), domains.len())?;
        let ids = ids(&units)?;
        nodes(&domains)?;
        let distances = distances(self.distances, domains.len())?;
        let caches = caches(self.caches, &ids, &units, &cores, &domains)?;
        let allowed = match &self.allowed {
            Some(cpus) => allowed(cpus, &ids)?,
            None => None,
        };
        let limits = Limits { allowed, millicores: self.millicores, memory: self.memory };
        let caches_of = caches_of(&caches, units.len());
        let costs = self.costs.within_range();
        Ok(Machine { units, cores, caches, caches_of, domains, distances, limits, costs })
    }
}

/// The units, cores and domains, with dense ids.
fn parts(specs: &[DomainSpec]) -> (Vec<Unit>, Vec<Core>, Vec<Domain>) {
    let (mut units, mut cores, mut domains) = (Vec::new(), Vec::new(), Vec::new());
    let from = |first: usize, end: usize| (first..end).map(|i| UnitId(i as u32)).collect();
    for spec in specs {
        let (domain, first) = (DomainId(domains.len() as u32), units.len());
        for core_spec in &spec.cores {
            let (core, first) = (CoreId(cores.len() as u32), units.len());
            for cpu in &core_spec.cpus {
                units.push(Unit { id: UnitId(units.len() as u32), cpu: *cpu, core, domain });
            }
            cores.push(Core { units: from(first, units.len()), domain, capacity: core_spec.capacity });
        }
        domains.push(Domain { node: spec.node, memory: spec.memory, units: from(first, units.len()) });
    }
    (units, cores, domains)
}

fn counts(units: usize, domains: usize) -> Result<(), Fault> {
    if units == 0 {
        return fault(Place::Whole, "the machine has no cores".to_owned());
    }
    if units > MOST_UNITS {
        return fault(Place::Whole, format!("the machine has {units} units, expected at most {MOST_UNITS}"));
    }
    if domains > MOST_DOMAINS {
        let what = format!("the machine has {domains} domains, expected at most {MOST_DOMAINS}");
        return fault(Place::Whole, what);
    }
    Ok(())
}

/// The units by their CPU numbers.
fn ids(units: &[Unit]) -> Result<BTreeMap<u32, UnitId>, Fault> {
    let mut ids = BTreeMap::new();
    for unit in units {
        if ids.insert(unit.cpu, unit.id).is_some() {
            return fault(Place::Cpus, format!("CPU {} is listed twice", unit.cpu));
        }
    }
    Ok(ids)
}

fn nodes(domains: &[Domain]) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    match domains.iter().find(|domain| !seen.insert(domain.node)) {
        Some(domain) => fault(Place::Nodes, format!("node {} is listed twice", domain.node)),
        None => Ok(()),
    }
}

fn distances(given: Vec<u16>, domains: usize) -> Result<Vec<u16>, Fault> {
    if given.is_empty() {
        let at = |i: usize| if i.is_multiple_of(domains + 1) { NEAR } else { FAR };
        return Ok((0..domains * domains).map(at).collect());
    }
    if given.len() != domains * domains {
        let what = format!("expected distances of {domains} domains, found {} distances", given.len());
        return fault(Place::Distances(0), what);
    }
    for (i, row) in given.chunks(domains).enumerate() {
        if row[i] != NEAR {
            let what = format!("expected distance {NEAR} of domain {i} from itself, found {}", row[i]);
            return fault(Place::Distances(i), what);
        }
        if let Some(less) = row.iter().find(|distance| **distance < NEAR) {
            return fault(Place::Distances(i), format!("expected distances from {NEAR}, found {less}"));
        }
    }
    Ok(given)
}

/// The units that may be used; `None` if these are all.
fn allowed(cpus: &[u32], ids: &BTreeMap<u32, UnitId>) -> Result<Option<Vec<UnitId>>, Fault> {
    let units = known(cpus, ids).map_err(|what| Fault { place: Place::Allowed, what })?;
    Ok((units.len() < ids.len()).then_some(units))
}

/// The units with these CPU numbers, sorted, without duplicates. At least one.
fn known(cpus: &[u32], ids: &BTreeMap<u32, UnitId>) -> Result<Vec<UnitId>, String> {
    let id = |cpu: &u32| ids.get(cpu).copied().ok_or_else(|| format!("the machine has no CPU {cpu}"));
    let mut units = cpus.iter().map(id).collect::<Result<Vec<_>, _>>()?;
    units.sort_unstable();
    units.dedup();
    if units.is_empty() { Err("expected at least one CPU".to_owned()) } else { Ok(units) }
}

/// The caches, by level and then by unit.
fn caches(
    specs: Vec<CacheSpec>,
    ids: &BTreeMap<u32, UnitId>,
    units: &[Unit],
    cores: &[Core],
    domains: &[Domain],
) -> Result<Vec<Cache>, Fault> {
    let mut caches = Vec::with_capacity(specs.len());
    for (i, spec) in specs.into_iter().enumerate() {
        let units = known(&spec.cpus, ids).map_err(|what| Fault { place: Place::Cache(i), what })?;
        caches.push((i, Cache { level: spec.level, bytes: spec.bytes, line: spec.line, units }));
    }
    caches.sort_unstable_by_key(|(i, cache)| (cache.level, cache.units[0], *i));
    let mut nesting = Nesting::new(units, cores, domains);
    for (i, cache) in &caches {
        nesting.add(cache).map_err(|what| Fault { place: Place::Cache(*i), what })?;
    }
    Ok(caches.into_iter().map(|(_, cache)| cache).collect())
}

/// Checks that caches are nested, with each other and with cores and domains.
struct Nesting<'a> {
    units: &'a [Unit],
    domains: &'a [Domain],
    /// For each unit, the units of its core or of its highest cache so far, and the level of that cache.
    around: Vec<(u8, &'a [UnitId])>,
}

impl<'a> Nesting<'a> {
    fn new(units: &'a [Unit], cores: &'a [Core], domains: &'a [Domain]) -> Nesting<'a> {
        let core = |unit: &Unit| (0, &cores[unit.core.index()].units[..]);
        Nesting { units, domains, around: units.iter().map(core).collect() }
    }

    /// Adds a cache. Caches come in the order of their levels.
    fn add(&mut self, cache: &'a Cache) -> Result<(), String> {
        let cpu = |unit: &UnitId| self.units[unit.index()].cpu;
        for unit in &cache.units {
            let (level, inner) = self.around[unit.index()];
            if level == cache.level {
                return Err(format!("CPU {} has two caches of level {level}", cpu(unit)));
            }
            if let Some(missing) = missing(inner, *unit, &cache.units) {
                let with = if level == 0 { "core".to_owned() } else { format!("cache of level {level}") };
                let (unit, missing) = (cpu(unit), cpu(missing));
                return Err(format!("the cache has CPU {unit} and lacks CPU {missing} of the same {with}"));
            }
        }
        let domain = |unit: &UnitId| self.units[unit.index()].domain;
        let first = domain(&cache.units[0]);
        if cache.units.iter().any(|unit| domain(unit) != first) {
            for unit in &cache.units {
                let inner = &self.domains[domain(unit).index()].units;
                if let Some(missing) = missing(inner, *unit, &cache.units) {
                    let (unit, missing) = (cpu(unit), cpu(missing));
                    return Err(format!(
                        "the cache has CPUs of several domains and lacks CPU {missing} of the domain of CPU {unit}"
                    ));
                }
            }
        }
        for unit in &cache.units {
            self.around[unit.index()] = (cache.level, &cache.units);
        }
        Ok(())
    }
}

/// A unit of `inner` that `outer` lacks. The whole of `inner` is searched for its first unit alone, so that the search
/// takes time in proportion to `outer`; `unit` is in both.
fn missing<'a>(inner: &'a [UnitId], unit: UnitId, outer: &[UnitId]) -> Option<&'a UnitId> {
    let end = if inner[0] == unit { inner.len() } else { 1 };
    inner[..end].iter().find(|unit| outer.binary_search(unit).is_err())
}

/// The caches of each unit, the lowest level first.
fn caches_of(caches: &[Cache], units: usize) -> Vec<Vec<CacheId>> {
    let mut of = vec![Vec::new(); units];
    for (i, cache) in caches.iter().enumerate() {
        for unit in &cache.units {
            of[unit.index()].push(CacheId(i as u32));
        }
    }
    of
}
