//! Prints a machine as text.
//!
//! ```text
//! thalweg-machine 1
//! domains 8 memory 64 GiB                 8 domains; what follows describes each of them
//! cores 10 units 2                        10 cores, each of 2 units
//! cores 4 capacity 512                    4 more, half as fast
//! cpus 0-79 80-159                        the system's numbers of the cores' first units, then of the second ones
//! nodes 0,8                               the system's numbers of the domains
//! cache 1 size 48 KiB line 64 per core
//! cache 2 size 2 MiB line 64 per 2 cores
//! cache 3 size 32 MiB line 64 per domain
//! cache 3 size 16 MiB of 0-3 4-7,12       one cache for each list of CPUs
//! distance 21                             between any two domains
//! distances 0 10 21 31                    from domain 0 to each, where they differ
//! limit cpus 0-3                          the affinity mask
//! limit cores 1.5
//! limit memory 2 GiB
//! cost queue 8.5 ns                       and steal, wake, line-cache, line-domain, line-across, miss-in-order, miss-at-random
//! cost bandwidth 12000000000 bytes/s
//! ```
//!
//! Units, cores and domains are numbered from 0 in the order of the lines. CPU numbers are these numbers of the units
//! unless `cpus` gives others, and node numbers are those of the domains unless `nodes` does. What is not known is left
//! out.

use crate::costs::TIMES;
use crate::describe::{CacheSpec, CoreSpec, Description, DomainSpec, FULL, Share};
use crate::words::{show_size, show_thousandths};
use crate::{Machine, list};
use std::collections::BTreeSet;
use std::fmt;

/// The first line of the text form. The number changes when older readers would misread the text.
pub(crate) const HEADER: &str = "thalweg-machine 1";

impl Machine {
    /// Whether a text, or its first line, has the mark of a machine. [`Machine::read`] may refuse it nevertheless.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    ///
    /// assert!(Machine::is_text("thalweg-machine 1\n") && !Machine::is_text("# my notes\n"));
    /// ```
    pub fn is_text(text: &str) -> bool {
        text.split_whitespace().next() == HEADER.split_whitespace().next()
    }
}

impl fmt::Display for Machine {
    /// Writes the text form that [`Machine::read`] reads.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let machine = self.describe();
        writeln!(f, "{HEADER}")?;
        domains(&machine.domains, f)?;
        numbers(&machine.domains, f)?;
        for level in machine.caches.chunk_by(|a, b| a.level == b.level) {
            caches(level, &machine.domains, f)?;
        }
        distances(&machine, f)?;
        limits(&machine, f)?;
        costs(&machine, f)
    }
}

/// The domains and their cores; a line for equal neighbours.
fn domains(domains: &[DomainSpec], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let shape = |core: &CoreSpec| (core.cpus.len(), core.capacity);
    let alike = |a: &DomainSpec, b: &DomainSpec| {
        a.memory == b.memory && a.cores.iter().map(shape).eq(b.cores.iter().map(shape))
    };
    for domains in domains.chunk_by(alike) {
        write!(f, "domains {}", domains.len())?;
        if let Some(memory) = domains[0].memory {
            write!(f, " memory {}", show_size(memory))?;
        }
        writeln!(f)?;
        for cores in domains[0].cores.chunk_by(|a, b| shape(a) == shape(b)) {
            write!(f, "cores {}", cores.len())?;
            let (units, capacity) = shape(&cores[0]);
            if units != 1 {
                write!(f, " units {units}")?;
            }
            if capacity != FULL {
                write!(f, " capacity {capacity}")?;
            }
            writeln!(f)?;
        }
    }
    Ok(())
}

/// The system's numbers, where they are not those of the ids.
fn numbers(domains: &[DomainSpec], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let cores = || domains.iter().flat_map(|domain| &domain.cores);
    let cpus = cores().flat_map(|core| &core.cpus).copied();
    if !cpus.eq(0..cores().map(|core| core.cpus.len() as u32).sum()) {
        let most = cores().map(|core| core.cpus.len()).max().unwrap_or(0);
        f.write_str("cpus")?;
        for i in 0..most {
            let list: Vec<u32> = cores().filter_map(|core| core.cpus.get(i).copied()).collect();
            write!(f, " {}", list::show(&list))?;
        }
        writeln!(f)?;
    }
    let nodes: Vec<u32> = domains.iter().map(|domain| domain.node).collect();
    if !nodes.iter().copied().eq(0..nodes.len() as u32) {
        writeln!(f, "nodes {}", list::show(&nodes))?;
    }
    Ok(())
}

/// The caches of one level, ordered by their units.
fn caches(level: &[CacheSpec], domains: &[DomainSpec], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let kind = |cache: &CacheSpec| (cache.bytes, cache.line);
    let are_alike = level.iter().all(|cache| kind(cache) == kind(&level[0]));
    let in_first = |core: &&CoreSpec| level[0].cpus.contains(&core.cpus[0]);
    let first = domains.iter().flat_map(|domain| &domain.cores).filter(in_first).count();
    let shares = [Share::Core, Share::Domain, Share::Cores(first)];
    let describes = |share: &Share| share.groups(domains).iter().eq(level.iter().map(|cache| &cache.cpus));
    if let Some(share) = shares.into_iter().find(|share| are_alike && describes(share)) {
        cache(&level[0], f)?;
        return match share {
            Share::Core => writeln!(f, " per core"),
            Share::Domain => writeln!(f, " per domain"),
            Share::Cores(n) => writeln!(f, " per {n} cores"),
        };
    }
    for caches in level.chunk_by(|a, b| kind(a) == kind(b)) {
        cache(&caches[0], f)?;
        f.write_str(" of")?;
        for cache in caches {
            let sorted: Vec<u32> = cache.cpus.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
            write!(f, " {}", list::show(&sorted))?;
        }
        writeln!(f)?;
    }
    Ok(())
}

/// What describes a cache, without its CPUs.
fn cache(cache: &CacheSpec, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "cache {}", cache.level)?;
    if let Some(bytes) = cache.bytes {
        write!(f, " size {}", show_size(bytes))?;
    }
    if let Some(line) = cache.line {
        write!(f, " line {line}")?;
    }
    Ok(())
}

fn distances(machine: &Description, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let domains = machine.domains.len();
    if domains == 1 {
        return Ok(());
    }
    let other = machine.distances[1];
    let is_other = |(i, distance): (usize, &u16)| i.is_multiple_of(domains + 1) || *distance == other;
    if machine.distances.iter().enumerate().all(is_other) {
        return writeln!(f, "distance {other}");
    }
    for (i, row) in machine.distances.chunks(domains).enumerate() {
        write!(f, "distances {i}")?;
        row.iter().try_for_each(|distance| write!(f, " {distance}"))?;
        writeln!(f)?;
    }
    Ok(())
}

fn limits(machine: &Description, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(allowed) = &machine.allowed {
        let sorted: Vec<u32> = allowed.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        writeln!(f, "limit cpus {}", list::show(&sorted))?;
    }
    if let Some(quota) = machine.millicores {
        writeln!(f, "limit cores {}", show_thousandths(quota))?;
    }
    if let Some(memory) = machine.memory {
        writeln!(f, "limit memory {}", show_size(memory))?;
    }
    Ok(())
}

fn costs(machine: &Description, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (name, ns) in TIMES.iter().zip(machine.costs.times()) {
        if let Some(ns) = ns {
            writeln!(f, "cost {name} {ns} ns")?;
        }
    }
    match machine.costs.bandwidth {
        Some(bandwidth) => writeln!(f, "cost bandwidth {bandwidth} bytes/s"),
        None => Ok(()),
    }
}
