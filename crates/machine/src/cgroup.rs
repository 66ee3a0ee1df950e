//! The limits of control groups, versions 1 and 2.
//!
//! A process is in a group of each hierarchy, and every group above it limits it too. The search for the groups of the
//! `cpu` controller follows `std::thread::available_parallelism`, so that both find the same quota.

use crate::system::System;
use std::path::{Path, PathBuf};

/// Where version 2, and the folders of version 1, are mounted: file-hierarchy(7), cgroups(7).
const MOUNT: &str = "/sys/fs/cgroup";

/// A limit of this number of bytes is none: version 1 reports no limit as the largest multiple of a page.
const NO_LIMIT: u64 = 1 << 60;

enum Version {
    V1,
    V2,
}

/// The quota of processor time in thousandths of a core, if there is one; at least 1.
pub(crate) fn millicores(system: &System) -> Option<u64> {
    let (version, groups) = groups(system, "cpu")?;
    let quotas = groups.iter().filter_map(|group| match version {
        Version::V2 => {
            let text = system.text(group.join("cpu.max"))?;
            let (limit, period) = text.split_once(' ')?;
            ratio(limit, period)
        }
        Version::V1 => {
            let limit = system.text(group.join("cpu.cfs_quota_us"))?;
            ratio(&limit, &system.text(group.join("cpu.cfs_period_us"))?)
        }
    });
    quotas.min()
}

/// A quota in thousandths. `None` where the limit is `max` (version 2) or -1 (version 1).
fn ratio(limit: &str, period: &str) -> Option<u64> {
    let (limit, period): (u64, u64) = (limit.trim().parse().ok()?, period.trim().parse().ok()?);
    let millicores = (u128::from(limit) * 1000).checked_div(u128::from(period))?;
    Some(u64::try_from(millicores).unwrap_or(u64::MAX).max(1))
}

/// The limit of memory in bytes, if there is one.
pub(crate) fn memory(system: &System) -> Option<u64> {
    let (version, groups) = groups(system, "memory")?;
    let file = match version {
        Version::V1 => "memory.limit_in_bytes",
        Version::V2 => "memory.max",
    };
    let limits = groups.iter().filter_map(|group| system.text(group.join(file))?.parse().ok());
    limits.filter(|bytes| (1..NO_LIMIT).contains(bytes)).min()
}

/// The folders of the process's group for a controller and of the groups above it.
fn groups(system: &System, controller: &str) -> Option<(Version, Vec<PathBuf>)> {
    let mut found = None;
    // Each line is `hierarchy:controllers:/group`. Version 2 names no controllers.
    for line in system.text("proc/self/cgroup")?.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(group)) = (fields.next(), fields.next()) else { continue };
        let group = PathBuf::from(group.trim_start_matches('/'));
        if controllers.split(',').any(|name| name == controller) {
            // Version 1 comes first: it names the controller.
            found = Some((Version::V1, group));
        } else if controllers.is_empty() && found.is_none() {
            found = Some((Version::V2, group));
        }
    }
    let (version, group) = found?;
    let (mount, group) = match version {
        Version::V2 => mount_of_v2(system, group)?,
        Version::V1 => mount_of_v1(system, controller, &group)?,
    };
    let folders = mount
        .join(group)
        .ancestors()
        .take_while(|path| path.starts_with(&mount))
        .map(Path::to_owned)
        .collect();
    Some((version, folders))
}

fn mount_of_v2(system: &System, group: PathBuf) -> Option<(PathBuf, PathBuf)> {
    let mount = PathBuf::from(MOUNT);
    // Without this file it is another hierarchy that is mounted here.
    system.has(mount.join(&group).join("cgroup.controllers")).then_some((mount, group))
}

/// The mount point of a controller, and the group's path below it.
fn mount_of_v1(system: &System, controller: &str, group: &Path) -> Option<(PathBuf, PathBuf)> {
    let usual = [controller.to_owned(), format!("{controller},cpuacct")];
    let usual = usual.iter().map(|name| (Path::new(MOUNT).join(name), group.to_owned()));
    let mut mounts =
        usual.chain(std::iter::once_with(|| mount_in_table(system, controller, group)).flatten());
    mounts.find(|(mount, group)| system.has(mount.join(group)))
}

/// The mount point of a controller in the table of mounts. It may show a part of the hierarchy.
fn mount_in_table(system: &System, controller: &str, group: &Path) -> Option<(PathBuf, PathBuf)> {
    // `id parent device root mount-point options .. - type source super-options`
    system.text("proc/self/mountinfo")?.lines().find_map(|line| {
        let mut words = line.split(' ');
        let (root, mount) = (words.nth(3)?, words.next()?);
        let options = words.next_back()?;
        let kind = words.nth_back(1)?;
        if kind != "cgroup" || !options.split(',').any(|name| name == controller) {
            return None;
        }
        let below = group.strip_prefix(root.trim_start_matches('/')).ok()?;
        Some((PathBuf::from(mount), below.to_owned()))
    })
}
