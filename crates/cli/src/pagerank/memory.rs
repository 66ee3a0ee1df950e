//! The memory that this process may use.

use std::fs;
use std::path::{Path, PathBuf};

/// The bytes of memory that are available, within the limits of the process's control groups. `None` where the system
/// reports neither.
pub(crate) fn available() -> Option<u64> {
    let free = fs::read_to_string("/proc/meminfo").ok().and_then(|text| mem_available(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups).into_iter().filter_map(|file| limit(&fs::read_to_string(file).ok()?));
    limits.chain(free).min()
}

/// The bytes of `MemAvailable` in `/proc/meminfo`, which counts in KiB.
fn mem_available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    number.checked_mul(1024)
}

/// The files that hold the limits of the groups in `/proc/self/cgroup`, of version 1 and 2, and of the groups around
/// them. In a container, only the files near the root may exist.
fn limit_files(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => ("/sys/fs/cgroup", "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let groups = Path::new(path.trim_start_matches('/')).ancestors();
        files.extend(groups.map(|group| Path::new(root).join(group).join(file)));
    }
    files
}

/// The limit in a file. `None` for the word `max`, which means no limit.
fn limit(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_all_groups_count() {
        let files = limit_files("4:cpu,memory:/a/b\n3:cpuset:/c\n0::/d\nnonsense\n");
        let files: Vec<_> = files.iter().map(|file| file.to_str().unwrap()).collect();
        let expected = [
            "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/d/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(files, expected);
    }

    #[test]
    fn numbers_are_in_bytes() {
        assert_eq!(mem_available("MemTotal: 9 kB\nMemAvailable:   24134800 kB\n"), Some(24_134_800 << 10));
        assert_eq!(mem_available("MemTotal: 9 kB\n"), None);
        assert_eq!((limit("max\n"), limit("4096\n")), (None, Some(4096)));
    }
}
