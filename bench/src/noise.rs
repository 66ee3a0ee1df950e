//! Detects other load on the machine during a run.
//!
//! The busy and stolen time of all processors (`/proc/stat`) is compared with the processor time of this process and
//! the children it waited for (`getrusage`). Busy time that is not this process's own is foreign.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The share of foreign or stolen processor time above which a run is discarded.
pub const LIMIT: f64 = 0.02;

/// The resolution of `/proc/stat`.
const TICK: Duration = Duration::from_millis(10);

/// The readings of all clocks at one time.
pub struct Snapshot {
    wall: Instant,
    own: Duration,
    busy: Duration,
    stolen: Duration,
}

/// The time that passed on each clock between two snapshots.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    /// Processor time of this process and its children, in seconds.
    pub own: f64,
    /// Processor time of all other processes, in seconds.
    pub foreign: f64,
    /// Time that the hypervisor stole, in seconds.
    pub stolen: f64,
    /// Wall-clock seconds.
    pub wall: f64,
}

impl Snapshot {
    /// Reads all clocks.
    pub fn take() -> Self {
        let (busy, stolen) = machine_time();
        Self { wall: Instant::now(), own: own_time(), busy, stolen }
    }

    /// The interval since this snapshot.
    pub fn elapsed(&self) -> Interval {
        let now = Self::take();
        let own = now.own.saturating_sub(self.own);
        let busy = now.busy.saturating_sub(self.busy);
        Interval {
            own: own.as_secs_f64(),
            foreign: busy.saturating_sub(own).as_secs_f64(),
            stolen: now.stolen.saturating_sub(self.stolen).as_secs_f64(),
            wall: (now.wall - self.wall).as_secs_f64(),
        }
    }
}

impl Interval {
    /// The larger of foreign and stolen time, as a share of the time of `threads` processors.
    /// One tick is allowed: it is the resolution of the kernel's counters.
    pub fn disturbance(&self, threads: usize) -> f64 {
        let lost = self.foreign.max(self.stolen) - TICK.as_secs_f64();
        lost.max(0.0) / (self.wall * threads as f64)
    }
}

/// Processor time of this process and of the children it has waited for.
fn own_time() -> Duration {
    [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN]
        .into_iter()
        .filter_map(|processes| getrusage(processes).ok())
        .map(|usage| (usage.user_time() + usage.system_time()).num_microseconds())
        .map(|us| Duration::from_micros(us.max(0) as u64))
        .sum()
}

/// Busy and stolen time of all processors since boot; zero where the system does not report it.
fn machine_time() -> (Duration, Duration) {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    parse_stat(stat.lines().next().unwrap_or_default())
}

/// The first line of `/proc/stat`: user nice system idle iowait irq softirq steal (guest is inside user).
fn parse_stat(line: &str) -> (Duration, Duration) {
    let ticks: Vec<u32> = line.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    let at = |i: usize| ticks.get(i).copied().unwrap_or(0);
    let busy = at(0) + at(1) + at(2) + at(5) + at(6);
    (TICK * busy, TICK * at(7))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stat_line_is_split_into_busy_and_stolen() {
        let (busy, stolen) = parse_stat("cpu  10 1 5 1000 50 2 3 4 0 0");
        assert_eq!(busy, TICK * 21);
        assert_eq!(stolen, TICK * 4);
    }

    #[test]
    fn one_tick_is_no_disturbance() {
        let interval = Interval { own: 1.0, foreign: 0.01, stolen: 0.0, wall: 0.5 };
        assert_eq!(interval.disturbance(2), 0.0);
    }
}
