//! Quotas and memory limits of control groups, where their files may lie.

use crate::fixtures::{Tree, two_cores};

fn limits(tree: &Tree) -> (Option<u64>, Option<u64>, usize) {
    let machine = tree.machine();
    (machine.limits().millicores(), machine.limits().memory(), machine.threads())
}

#[test]
fn version_2_takes_the_least_of_all_groups_above() {
    let tree = two_cores();
    tree.file("proc/self/cgroup", "0::/a/b/c").file("sys/fs/cgroup/a/b/c/cgroup.controllers", "");
    assert_eq!(limits(&tree), (None, None, 2));
    tree.file("sys/fs/cgroup/a/b/c/cpu.max", "max 100000").file("sys/fs/cgroup/a/cpu.max", "199999 100000");
    tree.file("sys/fs/cgroup/a/b/c/memory.max", "max").file("sys/fs/cgroup/a/b/memory.max", "4096");
    assert_eq!(limits(&tree), (Some(1999), Some(4096), 1));
    tree.file("sys/fs/cgroup/a/b/c/cpu.max", "50000 100000").file("sys/fs/cgroup/memory.max", "1024");
    assert_eq!(limits(&tree), (Some(500), Some(1024), 1));
    // A group that the mount does not show.
    tree.file("proc/self/cgroup", "0::/elsewhere");
    assert_eq!(limits(&tree), (None, None, 2));
}

#[test]
fn version_1_comes_before_version_2() {
    let tree = two_cores();
    tree.file("proc/self/cgroup", "0::/\n3:cpu,cpuacct:/a\n2:memory:/b");
    tree.file("sys/fs/cgroup/cgroup.controllers", "cpu").file("sys/fs/cgroup/cpu.max", "1 1");
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "150000");
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "100000");
    tree.file("sys/fs/cgroup/memory/b/memory.limit_in_bytes", "8192");
    // The usual folder of the controller has no such group.
    tree.remove("sys/fs/cgroup/cpu");
    assert_eq!(limits(&tree), (Some(1500), Some(8192), 1));
    tree.file("proc/self/cgroup", "3:cpu,cpuacct:/a\n2:memory:/b\n0::/");
    assert_eq!(limits(&tree), (Some(1500), Some(8192), 1));
    // A quota of -1 is none, and so is a period of 0.
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "-1");
    assert_eq!(limits(&tree), (None, Some(8192), 2));
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_quota_us", "1");
    tree.file("sys/fs/cgroup/cpu,cpuacct/a/cpu.cfs_period_us", "0");
    assert_eq!(limits(&tree), (None, Some(8192), 2));
}

#[test]
fn the_table_of_mounts_names_other_folders() {
    let tree = two_cores();
    tree.remove("sys/fs/cgroup/cpu").file("proc/self/cgroup", "3:cpu:/docker/one/sub");
    tree.file(
        "proc/self/mountinfo",
        "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n\
         32 31 0:29 /docker/two /groups/two rw - cgroup cgroup rw,cpu\n\
         33 31 0:29 /docker/one /groups/cpu rw,relatime master:11 - cgroup cgroup rw,cpuacct,cpu\n\
         34 31 0:29 /docker/one",
    );
    tree.file("groups/cpu/sub/cpu.cfs_quota_us", "300000").file("groups/cpu/sub/cpu.cfs_period_us", "100000");
    assert_eq!(limits(&tree), (Some(3000), None, 2));
    tree.file("groups/cpu/cpu.cfs_quota_us", "100000").file("groups/cpu/cpu.cfs_period_us", "100000");
    assert_eq!(limits(&tree), (Some(1000), None, 1));
}
