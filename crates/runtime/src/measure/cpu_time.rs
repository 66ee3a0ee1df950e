//! The processor time of the calling thread, in all and in the kernel.
//!
//! The total comes from the thread's clock, a system call. The kernel's share comes from another one, `getrusage` on
//! Linux, which counts ticks of milliseconds on many systems. A short run must not pay for it: the reading at the end of
//! one measurement serves as the beginning of the next, if the thread has computed little in between, and a measurement
//! of less than [`SHORT`] has no share.

use std::cell::Cell;
use std::time::Duration;

/// The processor time of a thread.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct CpuTime {
    /// In user code and in the kernel.
    pub(crate) total: Duration,
    /// In the kernel; zero where it is not known.
    pub(crate) kernel: Duration,
}

impl CpuTime {
    fn since(self, start: CpuTime) -> CpuTime {
        let total = self.total.saturating_sub(start.total);
        CpuTime { total, kernel: self.kernel.saturating_sub(start.kernel) }
    }
}

/// The processor time below which the kernel's share is not read.
const SHORT: Duration = Duration::from_millis(1);

thread_local! {
    /// The thread's latest reading of both times.
    static LATEST: Cell<Option<CpuTime>> = const { Cell::new(None) };
}

/// A measurement of the calling thread's processor time. It begins and ends on that thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    start: CpuTime,
}

impl Measurement {
    /// Begins a measurement.
    pub(crate) fn start() -> Measurement {
        let total = thread_time();
        let fresh = |latest: &CpuTime| total.saturating_sub(latest.total) < SHORT;
        let kernel = match LATEST.get().filter(fresh) {
            Some(latest) => latest.kernel,
            None => read(total).kernel,
        };
        Measurement { start: CpuTime { total, kernel } }
    }

    /// The processor time since the start.
    pub(crate) fn elapsed(self) -> CpuTime {
        let now = CpuTime { total: thread_time(), kernel: self.start.kernel };
        let is_short = now.total.saturating_sub(self.start.total) < SHORT;
        if is_short { now.since(self.start) } else { read(now.total).since(self.start) }
    }
}

/// Reads the kernel's share, and keeps it with the total as the latest reading.
fn read(total: Duration) -> CpuTime {
    let time = CpuTime { total, kernel: kernel() };
    LATEST.set(Some(time));
    time
}

/// Whether the system knows the processor time of a thread.
pub(crate) const IS_KNOWN: bool = cfg!(all(unix, not(miri)));

/// The processor time of the calling thread so far.
#[cfg(all(unix, not(miri)))]
pub(crate) fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for writes of one `timespec`, and the call keeps no pointer to it. If it fails, `time` stays 0.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

/// Not known on other systems and under Miri.
#[cfg(any(not(unix), miri))]
pub(crate) fn thread_time() -> Duration {
    Duration::ZERO
}

#[cfg(all(target_os = "linux", not(miri)))]
fn kernel() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is valid for writes of one `rusage`, and the call keeps no pointer to it.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0;
    // SAFETY: all fields are integers, for which zero is valid, so it was initialised before the call too.
    let time = unsafe { usage.assume_init() }.ru_stime;
    let seconds = time.tv_sec.try_into().unwrap_or(0);
    if failed { Duration::ZERO } else { Duration::new(seconds, (time.tv_usec as u32).saturating_mul(1000)) }
}

#[cfg(any(not(target_os = "linux"), miri))]
fn kernel() -> Duration {
    Duration::ZERO
}

#[cfg(all(test, target_os = "linux", not(miri), not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_share_of_many_calls_is_seen() {
        let measurement = Measurement::start();
        let mut time = CpuTime::default();
        // The kernel's share is known in ticks, of which there are 100 to 1000 a second.
        for _ in 0..200 {
            for _ in 0..1000 {
                std::hint::black_box(std::fs::metadata("/").is_ok());
            }
            time = measurement.elapsed();
            if !time.kernel.is_zero() {
                break;
            }
        }
        assert!(!time.kernel.is_zero() && time.kernel <= time.total + Duration::from_millis(20), "{time:?}");
    }

    #[test]
    fn a_short_measurement_has_a_total() {
        let measurement = Measurement::start();
        let mut sum = 0_u64;
        (0..10_000).for_each(|i| sum = std::hint::black_box(sum ^ i));
        assert!(!measurement.elapsed().total.is_zero());
    }
}
