//! Makes a machine of the statements of a text.

use super::ReadError;
use super::statements::{At, Caches, Reader};
use crate::Machine;
use crate::check::Place;
use crate::describe::{CacheSpec, CoreSpec, Description, DomainSpec, NEAR};
use crate::show::HEADER;

impl Reader {
    /// Makes the machine. `end` is the line behind the text.
    pub fn finish(mut self, end: usize) -> Result<Machine, ReadError> {
        if !self.header {
            let what = format!("not a machine: expected `{HEADER}`, found no statement");
            return Err(ReadError { line: end, what });
        }
        let mut domains = self.expand();
        self.number(&mut domains)?;
        let (caches, cache_lines) = self.take_caches(&domains);
        let distances = self.take_distances(domains.len())?;
        let lines = Lines {
            end,
            cpus: self.cpus.as_ref().map_or(end, |At(line, _)| *line),
            nodes: self.nodes.as_ref().map_or(end, |At(line, _)| *line),
            caches: cache_lines,
            rows: self.rows.iter().map(|At(line, _)| *line).collect(),
            allowed: self.allowed.as_ref().map_or(end, |At(line, _)| *line),
        };
        let description = Description {
            domains,
            caches,
            distances,
            allowed: self.allowed.map(|At(_, cpus)| cpus),
            millicores: self.millicores,
            memory: self.memory,
            costs: self.costs,
        };
        description.build().map_err(|fault| ReadError { line: lines.of(fault.place), what: fault.what })
    }

    /// The domains with their cores, numbered from 0.
    fn expand(&self) -> Vec<DomainSpec> {
        let (mut domains, mut cpu) = (Vec::new(), 0);
        for group in &self.domains {
            for _ in 0..group.count {
                let mut cores = Vec::new();
                for run in &group.cores {
                    for _ in 0..run.count {
                        let next = cpu + run.units as u32;
                        cores.push(CoreSpec { cpus: (cpu..next).collect(), capacity: run.capacity });
                        cpu = next;
                    }
                }
                domains.push(DomainSpec { node: domains.len() as u32, memory: group.memory, cores });
            }
        }
        domains
    }

    /// Replaces the numbers of CPUs and nodes by those of `cpus` and `nodes`.
    fn number(&self, domains: &mut [DomainSpec]) -> Result<(), ReadError> {
        if let Some(At(line, nodes)) = &self.nodes {
            if nodes.len() != domains.len() {
                let what = format!("expected numbers of {} nodes, found {}", domains.len(), nodes.len());
                return Err(ReadError { line: *line, what });
            }
            domains.iter_mut().zip(nodes).for_each(|(domain, node)| domain.node = *node);
        }
        let Some(At(line, lists)) = &self.cpus else { return Ok(()) };
        let mut cores: Vec<_> = domains.iter_mut().flat_map(|domain| &mut domain.cores).collect();
        let most = cores.iter().map(|core| core.cpus.len()).max().unwrap_or(0);
        if lists.len() != most {
            let what = format!("expected {most} lists, one for each unit of a core, found {}", lists.len());
            return Err(ReadError { line: *line, what });
        }
        for (i, list) in lists.iter().enumerate() {
            let slots: Vec<_> = cores.iter_mut().filter_map(|core| core.cpus.get_mut(i)).collect();
            if slots.len() != list.len() {
                let (slots, found) = (slots.len(), list.len());
                let what =
                    format!("expected {slots} CPUs in list {}, one for each core, found {found}", i + 1);
                return Err(ReadError { line: *line, what });
            }
            slots.into_iter().zip(list).for_each(|(slot, cpu)| *slot = *cpu);
        }
        Ok(())
    }

    /// The caches, and the line of each.
    fn take_caches(&mut self, domains: &[DomainSpec]) -> (Vec<CacheSpec>, Vec<usize>) {
        let (mut caches, mut lines) = (Vec::new(), Vec::new());
        for (level, of_level) in std::mem::take(&mut self.caches) {
            match of_level {
                Caches::Shared(At(at, (bytes, line, share))) => {
                    for cpus in share.groups(domains) {
                        caches.push(CacheSpec { level, bytes, line, cpus });
                        lines.push(at);
                    }
                }
                Caches::Listed(listed) => {
                    for At(at, cache) in listed {
                        caches.push(cache);
                        lines.push(at);
                    }
                }
            }
        }
        (caches, lines)
    }

    /// The distances of all pairs of domains, or none if the text has none.
    fn take_distances(&self, domains: usize) -> Result<Vec<u16>, ReadError> {
        match (&self.distance, &self.rows[..]) {
            (None, []) => Ok(Vec::new()),
            (Some(At(_, other)), []) => {
                let at = |i: usize| if i.is_multiple_of(domains + 1) { NEAR } else { *other };
                Ok((0..domains * domains).map(at).collect())
            }
            (Some(At(line, _)), [..]) => Err(ReadError {
                line: *line,
                what: "expected `distance` or `distances`, found both".to_owned(),
            }),
            (None, rows) => {
                let wrong = rows.iter().find(|At(_, row)| row.len() != domains);
                if let Some(At(line, row)) = wrong {
                    let what =
                        format!("expected {domains} distances, one to each domain, found {}", row.len());
                    return Err(ReadError { line: *line, what });
                }
                let At(last, _) = rows[rows.len() - 1];
                if rows.len() != domains {
                    let what = format!("expected distances of {domains} domains, found {}", rows.len());
                    return Err(ReadError { line: last, what });
                }
                Ok(rows.iter().flat_map(|At(_, row)| row.iter().copied()).collect())
            }
        }
    }
}

/// The lines of a description's parts.
struct Lines {
    end: usize,
    cpus: usize,
    nodes: usize,
    caches: Vec<usize>,
    rows: Vec<usize>,
    allowed: usize,
}

impl Lines {
    fn of(&self, place: Place) -> usize {
        let at = |lines: &[usize], i: usize| lines.get(i).copied().unwrap_or(self.end);
        match place {
            Place::Whole => self.end,
            Place::Cpus => self.cpus,
            Place::Nodes => self.nodes,
            Place::Cache(i) => at(&self.caches, i),
            Place::Distances(i) => at(&self.rows, i),
            Place::Allowed => self.allowed,
        }
    }
}
