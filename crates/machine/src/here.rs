//! Reads a machine from the operating system.
//!
//! Whatever is missing is replaced by the simplest machine that fits the rest: a CPU without a folder is a core of its
//! own, a cache of which the units are not known is left out, and without nodes all CPUs are one domain. Containers and
//! virtual machines hide any part of `/sys`, so no file is required.

use crate::check::Place;
use crate::describe::{CacheSpec, CoreSpec, Description, DomainSpec, FARTHEST, FULL, MOST_LEVELS, NEAR};
use crate::system::System;
use crate::{MOST_DOMAINS, MOST_UNITS, Machine, cgroup, list};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// The bytes of memory that the process may use now without pushing out others: what the system has available, within the
/// limit of the process's control groups. `None` where the system reports neither.
///
/// ```
/// # #[cfg(target_os = "linux")]
/// assert!(thalweg_machine::available_memory().is_some_and(|bytes| bytes > 0));
/// ```
pub fn available_memory() -> Option<u64> {
    available_below(&System::live())
}

/// The bytes that the process may still reserve, if its address space has a limit (`ulimit -v`). An allocation of more
/// fails, however much memory is free. `None` without a limit, and where the system reports none. With a limit it takes a
/// few milliseconds.
///
/// ```
/// if let Some(bytes) = thalweg_machine::address_space_left() {
///     println!("{bytes} bytes may be allocated, less the stacks of further threads");
/// }
/// ```
pub fn address_space_left() -> Option<u64> {
    let system = System::live();
    let limit = system.address_space()?;
    let used = || system.text("proc/self/status").as_deref().and_then(|text| kibibytes(text, "VmSize:"));
    // An allocator reserves twice a heap for a moment when a thread first allocates, 128 MiB in glibc, to align it. So
    // the least of several readings counts.
    let later = (0..3).filter_map(|_| {
        std::thread::sleep(Duration::from_millis(2));
        used()
    });
    Some(limit.saturating_sub(used().into_iter().chain(later).min().unwrap_or(0)))
}

fn available_below(system: &System) -> Option<u64> {
    let free = system.text("proc/meminfo").as_deref().and_then(|text| kibibytes(text, "MemAvailable:"));
    free.into_iter().chain(cgroup::memory(system)).min()
}

impl Machine {
    /// The machine that the calling thread runs on, with the limits of the thread and of its process, without costs.
    ///
    /// On Linux it reads `/sys/devices/system`, `/proc` and the control groups, which takes about 0.2 ms for each
    /// unit. Elsewhere, or where these are hidden, the machine has the [`threads`](crate::threads) that may run, and no more is
    /// known.
    ///
    /// ```
    /// let machine = thalweg_machine::Machine::here();
    /// assert!(machine.threads() <= machine.units().len());
    /// println!("{machine}");
    /// ```
    pub fn here() -> Machine {
        read(&System::live())
    }

    /// The machine whose `/sys` and `/proc` have a copy below `root`: for tests, and to describe another machine from
    /// what was copied there. Reads no more than `root/sys/devices/system`, `root/sys/fs/cgroup` and `root/proc`.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    ///
    /// let folder = tempfile::tempdir()?;
    /// assert_eq!(Machine::below(folder.path()).to_string(), "thalweg-machine 1\ndomains 1\ncores 1\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn below(root: impl AsRef<Path>) -> Machine {
        read(&System::copy(root.as_ref()))
    }
}

fn read(system: &System) -> Machine {
    let mut description = describe(system);
    // Each round removes a part, so the loop ends.
    loop {
        match description.clone().build() {
            Ok(machine) => return machine,
            Err(fault) => remove(&mut description, fault.place),
        }
    }
}

/// Removes the part of a description that contradicts the rest: the system may report anything.
fn remove(description: &mut Description, wrong: Place) {
    match wrong {
        Place::Cache(i) => {
            let level = description.caches[i].level;
            description.caches.retain(|cache| cache.level != level);
        }
        Place::Distances(_) => description.distances.clear(),
        Place::Allowed => description.allowed = None,
        // `describe` returns at least one CPU, and no number twice.
        Place::Whole | Place::Cpus | Place::Nodes => {
            let core = CoreSpec { cpus: vec![0], capacity: FULL };
            let domain = DomainSpec { node: 0, memory: None, cores: vec![core] };
            *description = Description { domains: vec![domain], ..Description::default() };
        }
    }
}

/// The machine as the system reports it.
fn describe(system: &System) -> Description {
    let online = list_in(system, format!("{CPUS}/online")).unwrap_or_default();
    let allowed = system.affinity().or_else(|| affinity_file(system, &online)).unwrap_or_default();
    let cpus = cpus(system, &online, &allowed);
    let caches = caches(system, &cpus);
    let (mut domains, domain_of, distances) = domains(system, &cpus);
    let mut cores = cores(system, &cpus);
    // Cores that share a cache become neighbours.
    let around = around(&caches);
    cores.sort_unstable_by_key(|core| (around.get(&core.cpus[0]), core.cpus[0]));
    for core in cores {
        domains[domain_of.get(&core.cpus[0]).copied().unwrap_or(0)].cores.push(core);
    }
    let allowed: Vec<u32> = allowed.into_iter().filter(|cpu| cpus.contains(cpu)).collect();
    Description {
        domains,
        caches: caches
            .into_iter()
            .map(|((level, cpus), (bytes, line))| CacheSpec { level, bytes, line, cpus })
            .collect(),
        distances,
        allowed: Some(allowed).filter(|allowed| !allowed.is_empty()),
        millicores: cgroup::millicores(system),
        memory: cgroup::memory(system),
        ..Description::default()
    }
}

/// The CPUs in the affinity mask in the file of the calling thread. The mask may have CPUs that are not online.
fn affinity_file(system: &System, online: &[u32]) -> Option<Vec<u32>> {
    let status = system.text("proc/thread-self/status")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let mut allowed = list::parse(list.trim(), MOST_UNITS).ok()?;
    let online: BTreeSet<&u32> = online.iter().collect();
    allowed.retain(|cpu| online.is_empty() || online.contains(cpu));
    Some(allowed)
}

/// The CPUs that are online, and those that the thread may use; at least one.
fn cpus(system: &System, online: &[u32], allowed: &[u32]) -> BTreeSet<u32> {
    // A container's list of CPUs may be made up. CPUs that the thread may use exist.
    let mut cpus: BTreeSet<u32> = online.iter().chain(allowed).copied().collect();
    if cpus.is_empty() {
        cpus.extend(system.numbered(CPUS, "cpu").into_iter().filter(|cpu| *cpu <= list::LARGEST));
    }
    if cpus.is_empty() {
        cpus.extend(0..system.available() as u32);
    }
    cpus.into_iter().take(MOST_UNITS).collect()
}

fn list_in(system: &System, path: impl AsRef<Path>) -> Option<Vec<u32>> {
    list::parse(&system.text(path)?, MOST_UNITS).ok()
}

/// The cores: CPUs that name each other as siblings.
fn cores(system: &System, cpus: &BTreeSet<u32>) -> Vec<CoreSpec> {
    let mut cores: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for cpu in cpus {
        let folder = format!("{CPUS}/cpu{cpu}/topology");
        let siblings = list_in(system, format!("{folder}/thread_siblings_list"))
            .or_else(|| list_in(system, format!("{folder}/core_cpus_list")));
        let siblings = siblings.into_iter().flatten().filter(|sibling| cpus.contains(sibling));
        cores.entry(siblings.fold(*cpu, u32::min)).or_default().push(*cpu);
    }
    let capacity = |cpu: u32| {
        let found = system.text(format!("{CPUS}/cpu{cpu}/cpu_capacity"))?.parse().ok();
        found.filter(|capacity| (1..=FULL).contains(capacity))
    };
    let core = |cpus: Vec<u32>| CoreSpec { capacity: capacity(cpus[0]).unwrap_or(FULL), cpus };
    cores.into_values().map(core).collect()
}

/// The sizes in bytes of a cache and of its lines, if they are known.
type Sizes = (Option<u64>, Option<u32>);

/// The caches for data, by level and CPUs.
fn caches(system: &System, cpus: &BTreeSet<u32>) -> BTreeMap<(u8, Vec<u32>), Sizes> {
    let mut caches = BTreeMap::new();
    for cpu in cpus {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        for index in system.numbered(&folder, "index") {
            let text = |name: &str| system.text(format!("{folder}/index{index}/{name}"));
            if text("type").is_some_and(|kind| kind == "Instruction") {
                continue;
            }
            let level = text("level").and_then(|level| level.parse().ok());
            let Some(level) = level.filter(|level| (1..=MOST_LEVELS).contains(level)) else { continue };
            let shared = text("shared_cpu_list").and_then(|list| list::parse(&list, MOST_UNITS).ok());
            let shared: BTreeSet<u32> =
                shared.into_iter().flatten().filter(|cpu| cpus.contains(cpu)).collect();
            if shared.contains(cpu) {
                let sizes = || {
                    (text("size").and_then(|size| bytes(&size)), text("coherency_line_size").and_then(line))
                };
                caches.entry((level, shared.into_iter().collect())).or_insert_with(sizes);
            }
        }
    }
    caches
}

/// Parses the size of a cache: `32K`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let factor = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|bytes| *bytes > 0)
}

fn line(text: String) -> Option<u32> {
    text.parse().ok().filter(|line| (1..=65_536).contains(line))
}

/// For each CPU the first CPUs of its caches, from the highest level: CPUs that are near to each other have the same
/// beginning.
fn around(caches: &BTreeMap<(u8, Vec<u32>), Sizes>) -> BTreeMap<u32, Vec<u32>> {
    let mut around: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (_, cpus) in caches.keys().rev() {
        cpus.iter().for_each(|cpu| around.entry(*cpu).or_default().push(cpus[0]));
    }
    around
}

/// The memory domains, the index of each CPU's domain, and the distances of all pairs.
fn domains(system: &System, cpus: &BTreeSet<u32>) -> (Vec<DomainSpec>, BTreeMap<u32, usize>, Vec<u16>) {
    let nodes = list_in(system, format!("{NODES}/online")).unwrap_or_else(|| system.numbered(NODES, "node"));
    let nodes: BTreeSet<u32> =
        nodes.into_iter().filter(|node| *node <= list::LARGEST).take(MOST_DOMAINS).collect();
    let (mut domains, mut domain_of, mut distances) = (Vec::new(), BTreeMap::new(), Vec::new());
    for node in nodes {
        let folder = format!("{NODES}/node{node}");
        if !system.has(&folder) {
            continue;
        }
        for cpu in list_in(system, format!("{folder}/cpulist")).into_iter().flatten() {
            if cpus.contains(&cpu) {
                domain_of.entry(cpu).or_insert(domains.len());
            }
        }
        let memory = system.text(format!("{folder}/meminfo")).as_deref().and_then(memory);
        domains.push(DomainSpec { node, memory, cores: Vec::new() });
        let row = system.text(format!("{folder}/distance")).unwrap_or_default();
        distances.extend(
            row.split_whitespace().filter_map(|word| word.parse::<u16>().ok()).map(|d| d.min(FARTHEST)),
        );
    }
    if domains.is_empty() {
        let memory = system.text("proc/meminfo").as_deref().and_then(memory);
        domains.push(DomainSpec { node: 0, memory, cores: Vec::new() });
        distances = vec![NEAR];
    }
    (domains, domain_of, distances)
}

/// The bytes in the line of this name, which has kibibytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The total of a file `meminfo`, in bytes.
fn memory(text: &str) -> Option<u64> {
    let (_, total) = text.lines().find_map(|line| line.split_once("MemTotal:"))?;
    let kib: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_what_the_system_reports() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let available = || available_below(&System::copy(folder.path()));
        assert_eq!(available(), None);
        write("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   24134800 kB\n");
        assert_eq!(available(), Some(24_134_800 << 10));
        assert_eq!(kibibytes("VmPeak:\t 9 kB\nVmSize:\t  12 kB\n", "VmSize:"), Some(12 << 10));
        assert_eq!(kibibytes("VmSize: 12", "VmSize:"), None);
    }
}
