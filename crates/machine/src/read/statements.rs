//! The statements of a machine's text, one method for each kind.

use crate::costs::TIMES;
use crate::describe::{CacheSpec, FARTHEST, FULL, MOST_LEVELS, NEAR, Share};
use crate::show::HEADER;
use crate::words::{between, nanoseconds, once, quote, size, thousandths};
use crate::{Costs, MOST_DOMAINS, MOST_UNITS, list};
use std::collections::BTreeMap;

/// A value and its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<T>(pub usize, pub T);

/// Domains that are alike.
#[derive(Debug)]
pub(super) struct Domains {
    pub count: usize,
    pub memory: Option<u64>,
    pub cores: Vec<Cores>,
}

/// Cores that are alike, of each domain.
#[derive(Debug)]
pub(super) struct Cores {
    pub count: usize,
    pub units: usize,
    pub capacity: u16,
}

/// The caches of a level.
#[derive(Debug)]
pub(super) enum Caches {
    Shared(At<(Option<u64>, Option<u32>, Share)>),
    Listed(Vec<At<CacheSpec>>),
}

/// The statements read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The present line.
    pub at: usize,
    pub header: bool,
    pub domains: Vec<Domains>,
    /// The units of the domains above.
    pub units: usize,
    pub cpus: Option<At<Vec<Vec<u32>>>>,
    pub nodes: Option<At<Vec<u32>>>,
    pub caches: BTreeMap<u8, Caches>,
    pub distance: Option<At<u16>>,
    pub rows: Vec<At<Vec<u16>>>,
    pub allowed: Option<At<Vec<u32>>>,
    pub millicores: Option<u64>,
    pub memory: Option<u64>,
    pub costs: Costs,
}

impl Reader {
    /// Adds the statement of a line.
    pub fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !self.header {
            return self.header(&words);
        }
        match words[..] {
            ["domains", n] => self.domains(n, None),
            ["domains", n, "memory", bytes, unit] => self.domains(n, Some(size(bytes, unit)?)),
            ["cores", n, ref rest @ ..] => self.cores(n, rest),
            ["cpus", ref lists @ ..] if !lists.is_empty() => {
                once(&mut self.cpus, At(self.at, lists_of(lists, MOST_UNITS)?), "cpus")
            }
            ["nodes", list] => once(&mut self.nodes, At(self.at, list::parse(list, MOST_DOMAINS)?), "nodes"),
            ["cache", level, ref rest @ ..] => self.cache(level, rest),
            ["distance", n] => once(&mut self.distance, At(self.at, distance(n)?), "distance"),
            ["distances", id, ref row @ ..] => self.row(id, row),
            ["limit", "cpus", list] => {
                once(&mut self.allowed, At(self.at, list::parse(list, MOST_UNITS)?), "limit cpus")
            }
            ["limit", "cores", n] => once(&mut self.millicores, thousandths(n)?, "limit cores"),
            ["limit", "memory", n, unit] => once(&mut self.memory, size(n, unit)?, "limit memory"),
            ["cost", "bandwidth", n, "bytes/s"] => {
                once(&mut self.costs.bandwidth, between(n, 1, u64::MAX)?, "cost bandwidth")
            }
            ["cost", name, ns, "ns"] => self.cost(name, ns),
            _ => Err(format!("unknown statement {}", quote(line))),
        }
    }

    fn header(&mut self, words: &[&str]) -> Result<(), String> {
        let found = words.join(" ");
        if found == HEADER {
            self.header = true;
            return Ok(());
        }
        Err(match words {
            ["thalweg-machine", _] => format!(
                "unsupported version: expected `{HEADER}`, found {}\n\
                 help: print the machine again with this version of the program, and repeat the edits",
                quote(&found)
            ),
            _ => format!("not a machine: expected `{HEADER}`, found {}", quote(&found)),
        })
    }

    fn domains(&mut self, count: &str, memory: Option<u64>) -> Result<(), String> {
        let above: usize = self.domains.iter().map(|domains| domains.count).sum();
        if above == MOST_DOMAINS {
            return Err(format!("expected at most {MOST_DOMAINS} domains, found more"));
        }
        let count = between(count, 1, (MOST_DOMAINS - above) as u64)? as usize;
        self.domains.push(Domains { count, memory, cores: Vec::new() });
        Ok(())
    }

    fn cores(&mut self, count: &str, mut rest: &[&str]) -> Result<(), String> {
        let count = between(count, 1, MOST_UNITS as u64)? as usize;
        let (mut units, mut capacity) = (None, None);
        while !rest.is_empty() {
            rest = match *rest {
                ["units", n, ref rest @ ..] => {
                    once(&mut units, between(n, 1, MOST_UNITS as u64)? as usize, "units").map(|()| rest)
                }
                ["capacity", n, ref rest @ ..] => {
                    once(&mut capacity, between(n, 1, FULL.into())? as u16, "capacity").map(|()| rest)
                }
                _ => Err(format!("expected `units N` or `capacity N`, found {}", quote(rest[0]))),
            }?;
        }
        let (units, capacity) = (units.unwrap_or(1), capacity.unwrap_or(FULL));
        let Some(domains) = self.domains.last_mut() else {
            return Err("expected `domains` above `cores`\nhelp: add `domains 1` above this line".to_owned());
        };
        // Each factor is at most 8192, so the product is below 2^40.
        self.units += domains.count * count * units;
        if self.units > MOST_UNITS {
            return Err(format!("expected at most {MOST_UNITS} units, found {} up to this line", self.units));
        }
        domains.cores.push(Cores { count, units, capacity });
        Ok(())
    }

    fn cache(&mut self, level: &str, mut rest: &[&str]) -> Result<(), String> {
        let level = between(level, 1, MOST_LEVELS.into())? as u8;
        let (mut bytes, mut line) = (None, None);
        loop {
            rest = match *rest {
                ["size", n, unit, ref rest @ ..] => {
                    once(&mut bytes, size(n, unit)?, "size").map(|()| rest)?
                }
                ["line", n, ref rest @ ..] => {
                    once(&mut line, between(n, 1, 65_536)? as u32, "line").map(|()| rest)?
                }
                ["of", ref lists @ ..] if !lists.is_empty() => return self.listed(level, bytes, line, lists),
                ["per", "core"] => return self.shared(level, bytes, line, Share::Core),
                ["per", "domain"] => return self.shared(level, bytes, line, Share::Domain),
                ["per", n, "cores"] => {
                    let n = between(n, 1, MOST_UNITS as u64)? as usize;
                    return self.shared(level, bytes, line, Share::Cores(n));
                }
                _ => {
                    let known =
                        "`size N KiB`, `line N`, `per core`, `per N cores`, `per domain` or `of LIST`";
                    return Err(format!("expected {known}, found {}", quote(&rest.join(" "))));
                }
            };
        }
    }

    fn shared(
        &mut self,
        level: u8,
        bytes: Option<u64>,
        line: Option<u32>,
        share: Share,
    ) -> Result<(), String> {
        let caches = Caches::Shared(At(self.at, (bytes, line, share)));
        match self.caches.insert(level, caches) {
            Some(_) => Err(format!("duplicate `cache {level}`")),
            None => Ok(()),
        }
    }

    fn listed(
        &mut self,
        level: u8,
        bytes: Option<u64>,
        line: Option<u32>,
        lists: &[&str],
    ) -> Result<(), String> {
        let Caches::Listed(caches) = self.caches.entry(level).or_insert(Caches::Listed(Vec::new())) else {
            return Err(format!("duplicate `cache {level}`"));
        };
        // No unit has two caches of a level.
        let above: usize = caches.iter().map(|At(_, cache)| cache.cpus.len()).sum();
        for cpus in lists_of(lists, MOST_UNITS - above)? {
            caches.push(At(self.at, CacheSpec { level, bytes, line, cpus }));
        }
        Ok(())
    }

    fn row(&mut self, id: &str, row: &[&str]) -> Result<(), String> {
        if between(id, 0, MOST_DOMAINS as u64 - 1)? as usize != self.rows.len() {
            return Err(format!("expected distances of domain {}, found domain {id}", self.rows.len()));
        }
        let row = row.iter().map(|word| distance(word)).collect::<Result<_, _>>()?;
        self.rows.push(At(self.at, row));
        Ok(())
    }

    fn cost(&mut self, name: &str, ns: &str) -> Result<(), String> {
        let Some(i) = TIMES.iter().position(|time| *time == name) else {
            return Err(format!("expected one of {}, found {}", TIMES.join(", "), quote(name)));
        };
        once(self.costs.times_mut()[i], nanoseconds(ns)?, &format!("cost {name}"))
    }
}

/// Parses lists of at most `most` numbers together.
fn lists_of(words: &[&str], most: usize) -> Result<Vec<Vec<u32>>, String> {
    let (mut lists, mut left) = (Vec::new(), most);
    for word in words {
        let list = list::parse(word, left)?;
        left -= list.len();
        lists.push(list);
    }
    Ok(lists)
}

fn distance(word: &str) -> Result<u16, String> {
    Ok(between(word, NEAR.into(), FARTHEST.into())? as u16)
}
