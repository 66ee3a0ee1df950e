//! The processor time of the calling thread.

use std::time::Duration;

/// The processor time of a thread.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct CpuTime {
    /// In user code and in the kernel.
    pub(crate) total: Duration,
    /// In the kernel, as exact as the system's statistics are: many count ticks of milliseconds. Zero where the system
    /// does not say it for a thread.
    pub(crate) kernel: Duration,
}

/// The processor time of the calling thread so far.
///
/// Two system calls on Linux: there the one that tells user and kernel apart may be late by a tick, so it is not used
/// for the total.
#[cfg(not(miri))]
pub(crate) fn thread_cpu_time() -> CpuTime {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = time.tv_sec.try_into().unwrap_or(0);
    let total = Duration::new(seconds, time.tv_nsec.try_into().unwrap_or(0));
    CpuTime { total, kernel: kernel_time() }
}

/// Miri has no such clock.
#[cfg(miri)]
pub(crate) fn thread_cpu_time() -> CpuTime {
    CpuTime::default()
}

#[cfg(all(target_os = "linux", not(miri)))]
fn kernel_time() -> Duration {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is valid for writes of one `rusage`, and the call keeps no pointer to it.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0;
    // SAFETY: all fields are integers, for which zero is valid, so it was initialised before the call too.
    let time = unsafe { usage.assume_init() }.ru_stime;
    let seconds = time.tv_sec.try_into().unwrap_or(0);
    if failed { Duration::ZERO } else { Duration::new(seconds, (time.tv_usec as u32).saturating_mul(1000)) }
}

#[cfg(all(not(target_os = "linux"), not(miri)))]
fn kernel_time() -> Duration {
    Duration::ZERO
}
