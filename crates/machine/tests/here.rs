//! Machines as their `/sys` and `/proc` describe them, whole and with missing or false parts.

use crate::fixtures::{Tree, hybrid, numa, two_cores};
use proptest::prelude::*;
use std::fs;
use thalweg_machine::{LevelKind, Machine};

#[test]
fn a_virtual_machine_with_two_cores() {
    let expected = "\
thalweg-machine 1
domains 1 memory 24684092 KiB
cores 2
cache 1 size 48 KiB line 64 per core
cache 2 size 1 MiB line 64 per core
cache 3 size 32 MiB line 64 per domain
";
    let machine = two_cores().machine();
    assert_eq!(machine.to_string(), expected);
    assert_eq!(machine.threads(), 2);
    let [a, b] = [0, 1].map(|i| machine.units()[i].id());
    assert_eq!(
        machine.shared_cache(a, b).map(|cache| (cache.level(), cache.bytes())),
        Some((3, Some(32 << 20)))
    );
    assert_eq!(machine.caches_of(b).map(|cache| cache.level()).collect::<Vec<_>>(), [1, 2, 3]);
}

#[test]
fn eight_domains_of_ten_cores_of_two_units() {
    let expected = "\
thalweg-machine 1
domains 8 memory 64 GiB
cores 10 units 2
cpus 0-79 80-159
cache 1 size 32 KiB line 64 per core
cache 2 size 256 KiB line 64 per core
cache 3 size 30 MiB line 64 per domain
distance 21
";
    let machine = numa(8, 10).machine();
    assert_eq!(machine.to_string(), expected);
    assert_eq!((machine.units().len(), machine.cores().len(), machine.threads()), (160, 80, 160));
    // CPU 81 is the second unit of the core of CPU 1.
    let [one, sibling, far] = [1, 81, 80 + 75].map(|cpu| machine.unit_of_cpu(cpu).unwrap());
    assert_eq!((one.index(), sibling.index()), (2, 3));
    assert_eq!(machine.unit(one).core(), machine.unit(sibling).core());
    assert_eq!(machine.shared_cache(one, sibling).unwrap().level(), 1);
    assert_eq!(machine.shared_cache(one, far), None);
    let (near, other) = (machine.domain_of(one), machine.domain_of(far));
    assert_eq!((other.index(), machine.distance(near, near), machine.distance(near, other)), (7, 10, 21));
    assert_eq!(machine.units_of(other).len(), 20);
    assert_eq!(machine.unit_of_cpu(160), None);
}

#[test]
fn a_hybrid_machine() {
    let expected = "\
thalweg-machine 1
domains 1 memory 16 MiB
cores 2 units 2
cores 6 capacity 512
cache 1 size 48 KiB line 64 of 0-1 2-3
cache 1 size 32 KiB line 64 of 4 5 6 7 8 9
cache 2 size 2 MiB line 64 of 0-1 2-3 4-7 8-9
cache 3 size 24 MiB line 64 of 0-7
";
    let machine = hybrid().machine();
    assert_eq!(machine.to_string(), expected);
    let capacity =
        |cpu: u32| machine.cores()[machine.unit(machine.unit_of_cpu(cpu).unwrap()).core().index()].capacity();
    assert_eq!((capacity(3), capacity(4), capacity(9)), (1024, 512, 512));
    let levels = machine.levels();
    let sizes = |i: usize| levels[i].groups().iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(levels[1].kind(), LevelKind::Cache(2));
    assert_eq!((sizes(0), sizes(1)), (vec![2, 2, 1, 1, 1, 1, 1, 1], vec![2, 2, 4, 2]));
    // The two cores without a cache of level 3 stay with each other.
    assert_eq!((levels[2].kind(), sizes(2)), (LevelKind::Cache(3), vec![8, 2]));
    assert_eq!((levels[3].kind(), sizes(3)), (LevelKind::Domain, vec![10]));
}

#[test]
fn a_container_with_a_part_of_sys() {
    let tree = numa(2, 4);
    tree.remove("sys/devices/system/node").remove("sys/devices/system/cpu/cpu3/cache");
    for cpu in [3, 11] {
        tree.remove(&format!("sys/devices/system/cpu/cpu{cpu}/topology"));
    }
    tree.file("proc/thread-self/status", "Cpus_allowed_list:\t3-5,11");
    tree.file("proc/meminfo", "MemTotal:       2048 kB\nMemFree:        1 kB");
    tree.file("proc/self/cgroup", "0::/").file("sys/fs/cgroup/cgroup.controllers", "cpu memory");
    tree.file("sys/fs/cgroup/cpu.max", "250000 100000").file("sys/fs/cgroup/memory.max", "1048576");
    let machine = tree.machine();
    assert_eq!((machine.units().len(), machine.domains().len(), machine.threads()), (16, 1, 2));
    assert_eq!(machine.domains()[0].memory(), Some(2 << 20));
    let [a, b] = [3, 11].map(|cpu| machine.unit(machine.unit_of_cpu(cpu).unwrap()));
    assert_ne!(a.core(), b.core(), "no file says that they are siblings");
    // CPU 3 has lost the files of its caches, but those of CPU 11 name it.
    assert_eq!(machine.shared_cache(a.id(), b.id()).map(|cache| cache.level()), Some(1));
    let mut cpus: Vec<u32> = machine.allowed().map(|unit| machine.unit(unit).cpu()).collect();
    cpus.sort();
    assert_eq!(cpus, [3, 4, 5, 11]);
    assert_eq!((machine.limits().millicores(), machine.limits().memory()), (Some(2500), Some(1 << 20)));
}

#[test]
fn hidden_and_empty_folders() {
    let empty = Tree::new();
    assert_eq!(empty.machine().to_string(), "thalweg-machine 1\ndomains 1\ncores 1\n");
    // Nothing but the affinity of the thread.
    let mask = Tree::new();
    mask.file("proc/thread-self/status", "Cpus_allowed_list:\t4,6-7");
    assert_eq!(mask.machine().to_string(), "thalweg-machine 1\ndomains 1\ncores 3\ncpus 4,6-7\n");
    assert_eq!(mask.machine().threads(), 3);
    // No list of CPUs that are online, but their folders.
    let folders = Tree::new();
    folders
        .cpu(0, "0-1", 1024)
        .cpu(1, "0-1", 1024)
        .cpu(4, "4", 1024)
        .file("sys/devices/system/cpu/cpufreq/x", "");
    let text = folders.machine().to_string();
    assert_eq!(text, "thalweg-machine 1\ndomains 1\ncores 1 units 2\ncores 1\ncpus 0,4 1\n");
}

#[test]
fn cpus_that_are_offline_are_no_units() {
    let tree = two_cores();
    tree.online("1").file("proc/thread-self/status", "Cpus_allowed_list:\t0-63");
    let machine = tree.machine();
    assert_eq!((machine.units().len(), machine.units()[0].cpu(), machine.threads()), (1, 1, 1));
    assert_eq!(machine.limits().allowed(), None);
}

#[test]
fn nodes_with_gaps_and_memory_alone() {
    let tree = Tree::new();
    tree.online("0-3").file("sys/devices/system/node/online", "0,2,8");
    tree.node(0, "0,2", 1024, "10 20 17").node(2, "1,3", 1024, "20 10 28").node(8, "", 4096, "17 28 10");
    let expected = "\
thalweg-machine 1
domains 2 memory 1 MiB
cores 2
domains 1 memory 4 MiB
cpus 0,2,1,3
nodes 0,2,8
distances 0 10 20 17
distances 1 20 10 28
distances 2 17 28 10
";
    assert_eq!(tree.machine().to_string(), expected);
}

#[test]
fn a_cache_that_several_domains_share() {
    let tree = Tree::new();
    tree.online("0-3").node(0, "0-1", 1024, "10 12").node(1, "2-3", 1024, "12 10");
    (0..4).for_each(|cpu| _ = tree.cache(cpu, 3, (3, "Unified", "8M"), "0-3"));
    let kinds: Vec<LevelKind> = tree.machine().levels().iter().map(|level| level.kind()).collect();
    assert_eq!(kinds, [LevelKind::Core, LevelKind::Domain, LevelKind::Cache(3)]);
}

#[test]
fn parts_that_contradict_each_other_are_left_out() {
    let tree = two_cores();
    // A cache of level 2 that has one of two siblings, and a row of distances that is too long.
    tree.online("0-3").cpu(2, "2-3", 1024).cpu(3, "2-3", 1024);
    tree.cache(2, 2, (2, "Unified", "1024K"), "2").cache(3, 3, (3, "Unified", "1024K"), "2-3");
    tree.file("sys/devices/system/node/node0/distance", "10 20");
    let text = tree.machine().to_string();
    assert!(!text.contains("cache 2") && text.contains("cache 3 size 32 MiB line 64 of 0-1\n"), "{text}");
    assert!(text.contains("cores 2\ncores 1 units 2\n"), "{text}");
    // Two nodes with one CPU: it belongs to the first.
    tree.file("sys/devices/system/node/online", "0-1").node(1, "1-3", 1024, "20 10");
    let machine = tree.machine();
    assert_eq!(
        (machine.units_of(machine.domain_of(machine.unit_of_cpu(1).unwrap())).len(), machine.units().len()),
        (2, 4)
    );
}

#[test]
fn this_machine_has_the_threads_that_the_standard_library_reports() {
    let machine = Machine::here();
    let available = std::thread::available_parallelism().map_or(1, |n| n.get());
    assert_eq!((machine.threads(), thalweg_machine::threads()), (available, available), "{machine}");
    assert_eq!(Machine::read(&machine.to_string()), Ok(machine));
}

/// Files of [`two_cores`] that the reader understands, or that may be there too.
const FILES: &[&str] = &[
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
    "sys/devices/system/cpu/cpu1/cpu_capacity",
    "sys/devices/system/cpu/cpu0/cache/index0/level",
    "sys/devices/system/cpu/cpu0/cache/index0/type",
    "sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size",
    "sys/devices/system/cpu/cpu0/cache/index2/size",
    "sys/devices/system/cpu/cpu1/cache/index2/shared_cpu_list",
    "sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list",
    "sys/devices/system/node/online",
    "sys/devices/system/node/node0/cpulist",
    "sys/devices/system/node/node0/distance",
    "sys/devices/system/node/node0/meminfo",
    "proc/thread-self/status",
    "proc/self/cgroup",
    "proc/self/mountinfo",
    "sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "sys/fs/cgroup/cpu/cpu.cfs_period_us",
];

#[test]
fn no_content_of_files_panics() {
    let tree = two_cores();
    let original = |file: &&str| fs::read_to_string(tree.root().join(file)).unwrap_or_default();
    let originals: Vec<String> = FILES.iter().map(original).collect();
    let text = prop_oneof![
        3 => Just(None),
        1 => prop_oneof!["[0-9,\\-]{0,8}", "[0-9]{1,6}", "[0-9KMG]{1,22}", "[a-z0-9:/ ,\n-]{0,40}", "\\PC{0,20}"].prop_map(Some),
    ];
    let texts = proptest::collection::vec(text, FILES.len());
    proptest!(ProptestConfig::with_cases(64), |(texts in texts)| {
        for ((file, text), original) in FILES.iter().zip(&texts).zip(&originals) {
            tree.file(file, text.as_ref().unwrap_or(original));
        }
        prop_assert!(tree.machine().threads() >= 1);
    });
}
