//! Folders with files as Linux has them in `/sys` and `/proc`.

use std::fs;
use std::path::Path;
use tempfile::TempDir;
use thalweg_machine::Machine;

/// A folder that stands for the root of a machine.
pub struct Tree(TempDir);

impl Tree {
    pub fn new() -> Tree {
        Tree(tempfile::tempdir().expect("a temporary folder"))
    }

    /// Writes a file, with the newline that Linux has at its end.
    pub fn file(&self, path: &str, text: impl AsRef<str>) -> &Tree {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder can be made");
        fs::write(path, format!("{}\n", text.as_ref())).expect("a file can be written");
        self
    }

    pub fn remove(&self, path: &str) -> &Tree {
        let path = self.0.path().join(path);
        let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.expect("there is such a file");
        self
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn machine(&self) -> Machine {
        let machine = Machine::below(self.root());
        // Every machine of the system has a text form.
        assert_eq!(Machine::read(&machine.to_string()).as_ref(), Ok(&machine), "{machine}");
        machine
    }

    /// The CPUs that are online.
    pub fn online(&self, list: &str) -> &Tree {
        self.file("sys/devices/system/cpu/online", list)
    }

    /// A CPU with its siblings and its capacity.
    pub fn cpu(&self, cpu: u32, siblings: &str, capacity: u32) -> &Tree {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        self.file(&format!("{folder}/topology/thread_siblings_list"), siblings);
        self.file(&format!("{folder}/cpu_capacity"), capacity.to_string())
    }

    /// A cache of a CPU: its index, level, type, size, and the CPUs that share it.
    pub fn cache(&self, cpu: u32, index: u32, (level, kind, size): (u32, &str, &str), shared: &str) -> &Tree {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        self.file(&format!("{folder}/level"), level.to_string());
        self.file(&format!("{folder}/type"), kind);
        self.file(&format!("{folder}/size"), size);
        self.file(&format!("{folder}/coherency_line_size"), "64");
        self.file(&format!("{folder}/shared_cpu_list"), shared)
    }

    /// A memory domain.
    pub fn node(&self, node: u32, cpus: &str, kib: u64, distances: &str) -> &Tree {
        let folder = format!("sys/devices/system/node/node{node}");
        self.file(&format!("{folder}/cpulist"), cpus);
        self.file(&format!("{folder}/distance"), distances);
        let total = format!("Node {node} MemTotal:       {kib} kB\nNode {node} MemFree:        1 kB");
        self.file(&format!("{folder}/meminfo"), total)
    }
}

/// A virtual machine with two cores.
pub fn two_cores() -> Tree {
    let tree = Tree::new();
    tree.online("0-1").file("sys/devices/system/node/online", "0").node(0, "0-1", 24_684_092, "10");
    for cpu in 0..2 {
        tree.cpu(cpu, &cpu.to_string(), 1024);
        tree.cache(cpu, 0, (1, "Data", "48K"), &cpu.to_string());
        tree.cache(cpu, 1, (1, "Instruction", "32K"), &cpu.to_string());
        tree.cache(cpu, 2, (2, "Unified", "1024K"), &cpu.to_string());
        tree.cache(cpu, 3, (3, "Unified", "32768K"), "0-1");
    }
    tree.file(
        "proc/thread-self/status",
        "Name:\tcat\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1",
    );
    tree.file("proc/self/cgroup", "4:memory:/a/b\n1:cpu:/\n0::/");
    tree.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    tree.file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    tree.file("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712");
    tree
}

/// Domains of equal numbers of cores, each of two units: CPU `n` and CPU `n` + the number of all cores are siblings.
pub fn numa(domains: u32, cores: u32) -> Tree {
    let (tree, half) = (Tree::new(), domains * cores);
    tree.online(&format!("0-{}", 2 * half - 1));
    tree.file("sys/devices/system/node/online", format!("0-{}", domains - 1));
    for node in 0..domains {
        let distances: Vec<&str> =
            (0..domains).map(|other| if other == node { "10" } else { "21" }).collect();
        let (first, end) = (node * cores, (node + 1) * cores);
        let cpus = format!("{first}-{},{}-{}", end - 1, first + half, end + half - 1);
        tree.node(node, &cpus, 64 << 20, &distances.join(" "));
        for cpu in (first..end).chain(first + half..end + half) {
            let siblings = format!("{},{}", cpu % half, cpu % half + half);
            tree.cpu(cpu, &siblings, 1024);
            tree.cache(cpu, 0, (1, "Data", "32K"), &siblings);
            tree.cache(cpu, 2, (2, "Unified", "256K"), &siblings);
            tree.cache(cpu, 3, (3, "Unified", "30720K"), &cpus);
        }
    }
    tree
}

/// 2 fast cores of two units, a cluster of 4 slow ones that share a cache of level 2, and 2 slow ones with no cache of
/// level 3. CPU 10 is offline.
pub fn hybrid() -> Tree {
    let tree = Tree::new();
    tree.online("0-9")
        .file("sys/devices/system/cpu/offline", "10")
        .file("proc/meminfo", "MemTotal:  16384 kB");
    for (cpus, l2, l3) in
        [("0-1", "0-1", "0-7"), ("2-3", "2-3", "0-7"), ("4-7", "4-7", "0-7"), ("8-9", "8-9", "")]
    {
        let (first, last) = cpus.split_once('-').unwrap();
        for cpu in first.parse::<u32>().unwrap()..=last.parse().unwrap() {
            let is_fast = cpu < 4;
            let own = if is_fast { cpus } else { &cpu.to_string() };
            tree.cpu(cpu, own, if is_fast { 1024 } else { 512 });
            tree.cache(cpu, 0, (1, "Data", if is_fast { "48K" } else { "32K" }), own);
            tree.cache(cpu, 2, (2, "Unified", "2M"), l2);
            if !l3.is_empty() {
                tree.cache(cpu, 3, (3, "Unified", "24M"), l3);
            }
        }
    }
    tree.file("sys/devices/system/cpu/cpu10/online", "0");
    tree
}
