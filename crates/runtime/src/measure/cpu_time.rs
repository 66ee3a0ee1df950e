//! The processor time of the calling thread.

use std::time::Duration;

/// The processor time of a thread.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct CpuTime {
    /// In user code and in the kernel.
    pub(crate) total: Duration,
    /// In the kernel; zero where the system does not say it for a thread.
    pub(crate) kernel: Duration,
}

/// The processor time of the calling thread so far. One system call.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn thread_cpu_time() -> CpuTime {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is valid for writes of one `rusage`, and the call keeps no pointer to it.
    let failed = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0;
    // SAFETY: all fields are integers, for which zero is valid, so it was initialised before the call too.
    let usage = unsafe { usage.assume_init() };
    let time = |time: libc::timeval| {
        Duration::new(time.tv_sec.try_into().unwrap_or(0), (time.tv_usec as u32).saturating_mul(1000))
    };
    let (user, kernel) =
        if failed { Default::default() } else { (time(usage.ru_utime), time(usage.ru_stime)) };
    CpuTime { total: user + kernel, kernel }
}

/// The processor time of the calling thread so far, without the kernel's share. One system call.
#[cfg(all(not(target_os = "linux"), not(miri)))]
pub(crate) fn thread_cpu_time() -> CpuTime {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = time.tv_sec.try_into().unwrap_or(0);
    let total = Duration::new(seconds, time.tv_nsec.try_into().unwrap_or(0));
    CpuTime { total, kernel: Duration::ZERO }
}

/// Miri has no such clock.
#[cfg(miri)]
pub(crate) fn thread_cpu_time() -> CpuTime {
    CpuTime::default()
}
