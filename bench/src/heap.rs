//! The heap of sessions that measure in dilated time.
//!
//! A page fault counts as processor time of the firing in which it happens, so dilated time multiplies it by the dilation: a fault
//! of 3 us becomes a firing that is 3 ms late, and a firing with a large buffer has hundreds of faults. By default glibc returns
//! freed memory to the system, and the next firing faults on it again. [`SETTINGS`] keep that memory in the process. glibc reads
//! them at its start, so [`restart`] replaces the process by one that has them.

use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// glibc's settings: never trim the heap, map no buffer of less than 32 MiB by itself, and one heap for all threads.
const SETTINGS: [(&str, &str); 3] = [
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
    ("MALLOC_MMAP_THRESHOLD_", "33554432"),
    ("MALLOC_ARENA_MAX", "1"),
];

/// Replaces this process by the same command with [`SETTINGS`], unless it has them all, with these or other values. Returns if there
/// is nothing to do, and the error if it fails.
pub fn restart() -> Result<(), String> {
    let missing = missing(|name| env::var_os(name).is_some());
    if missing.is_empty() || !cfg!(target_env = "gnu") || cfg!(feature = "mimalloc") {
        return Ok(());
    }
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut arguments = env::args_os();
    let name = arguments.next();
    let mut command = Command::new(&program);
    command.arg0(name.as_deref().unwrap_or(program.as_os_str())).args(arguments).envs(missing);
    // Returns only with an error.
    Err(format!("{}: {}", program.display(), command.exec()))
}

/// The settings that this process has, for the description of the results; `defaults` if none.
pub fn describe() -> String {
    describe_by(|name| env::var_os(name))
}

/// The settings whose names are not set.
fn missing(is_set: impl Fn(&str) -> bool) -> Vec<(&'static str, &'static str)> {
    SETTINGS.into_iter().filter(|(name, _)| !is_set(name)).collect()
}

fn describe_by<V: AsRef<OsStr>>(value: impl Fn(&str) -> Option<V>) -> String {
    let mut text = String::new();
    for (name, value) in SETTINGS.into_iter().filter_map(|(name, _)| Some((name, value(name)?))) {
        let space = if text.is_empty() { "" } else { " " };
        _ = write!(text, "{space}{name}={}", value.as_ref().display());
    }
    if text.is_empty() { "defaults".into() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_restarts_only_if_settings_are_missing() {
        assert_eq!(missing(|_| false), SETTINGS);
        assert_eq!(missing(|name| name != "MALLOC_ARENA_MAX"), [("MALLOC_ARENA_MAX", "1")]);
        // What the restarted process finds.
        assert!(missing(|name| SETTINGS.iter().any(|(set, _)| *set == name)).is_empty());
    }

    #[test]
    fn results_name_the_settings() {
        assert_eq!(describe_by(|_| None::<&str>), "defaults");
        let some = |name: &str| (name != "MALLOC_MMAP_THRESHOLD_").then_some("1");
        assert_eq!(describe_by(some), "MALLOC_TRIM_THRESHOLD_=1 MALLOC_ARENA_MAX=1");
    }
}
