//! Describes the machine that the figures are measured on.

use std::fs;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

/// The description of the machine, as pairs of a name and a value.
pub fn describe() -> Vec<(&'static str, String)> {
    vec![
        ("cpu", cpu_model()),
        ("cores", cores().to_string()),
        ("caches", caches()),
        ("kernel", read_line("/proc/sys/kernel/osrelease")),
        ("commit", version("git", &["describe", "--always", "--dirty"])),
        ("rustc", version("rustc", &["--version"])),
        ("go", version("go", &["version"])),
        ("c++", version("c++", &["--version"])),
        ("tar", version("tar", &["--version"])),
        ("zstd", version("zstd", &["--version"])),
        ("borg", version("borg", &["--version"])),
        ("restic", version("restic", &["version"])),
    ]
}

/// The command line that repeats this session, without `--out`.
pub fn command() -> String {
    let features = if cfg!(feature = "mimalloc") { " --features mimalloc" } else { "" };
    let mut words = vec![format!("cargo run --release -p thalweg-bench{features} --")];
    let mut arguments = std::env::args().skip(1);
    while let Some(word) = arguments.next() {
        if word == "--out" {
            arguments.next();
        } else if !word.starts_with("--out=") {
            words.push(word);
        }
    }
    words.join(" ")
}

/// The number of processors that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A short name for files: the processor's model and the number of cores.
pub fn slug() -> String {
    let words = format!("{} {}c", cpu_model(), cores());
    let plain: String =
        words.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Today's date and time, in UTC, as `2026-01-31-2359`.
pub fn stamp() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(seconds / 86_400);
    let minutes = seconds % 86_400 / 60;
    format!("{year:04}-{month:02}-{day:02}-{:02}{:02}", minutes / 60, minutes % 60)
}

/// Year, month and day of a day counted from 1970-01-01.
fn civil(mut day: u64) -> (u64, u64, u64) {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

fn cpu_model() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or_else(|| "unknown cpu".into(), |(_, model)| model.trim().into())
}

/// Level, kind and size of each cache of the first processor.
fn caches() -> String {
    let found: Vec<String> = (0..8)
        .map(|i| format!("/sys/devices/system/cpu/cpu0/cache/index{i}"))
        .map_while(|dir| {
            let level = fs::read_to_string(format!("{dir}/level")).ok()?;
            let kind = read_line(&format!("{dir}/type"));
            let size = read_line(&format!("{dir}/size"));
            Some(format!("L{} {kind} {size}", level.trim()))
        })
        .collect();
    if found.is_empty() { "unknown".into() } else { found.join(", ") }
}

fn read_line(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".into(), |text| text.trim().into())
}

/// The first line that a tool prints about its version.
fn version(tool: &str, arguments: &[&str]) -> String {
    let Ok(output) = Command::new(tool).args(arguments).output() else {
        return "none".into();
    };
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or("unknown").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(19_782), (2024, 2, 29));
        assert_eq!(civil(20_088), (2024, 12, 31));
    }
}
