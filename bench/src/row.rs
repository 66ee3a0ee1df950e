//! One measurement: what a contestant did in one run.

use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The time and the result of one run.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Seconds of the timed region; of a figure of memory, bytes.
    pub seconds: f64,
    /// The checksum of what came out.
    pub checksum: u64,
}

/// Times a run that gives a checksum.
pub fn timed(run: impl FnOnce() -> u64) -> Row {
    let start = Instant::now();
    let checksum = run();
    Row { seconds: start.elapsed().as_secs_f64(), checksum }
}

/// Repeats a short job, one run after the other; the row has the median of their times.
///
/// Each job gives its own time, for what comes before it may not belong to it.
pub fn median_of(jobs: u64, mut job: impl FnMut() -> (Duration, u64)) -> Row {
    let (mut times, mut checksum) = (Vec::with_capacity(jobs as usize), 0);
    for _ in 0..jobs.max(1) {
        let (time, sum) = job();
        times.push(time);
        checksum = sum;
    }
    times.sort_unstable();
    Row { seconds: times[times.len() / 2].as_secs_f64(), checksum }
}

/// The time that `run` takes, and its checksum.
pub fn once(run: impl FnOnce() -> u64) -> (Duration, u64) {
    let start = Instant::now();
    let checksum = run();
    (start.elapsed(), checksum)
}

/// Runs `body` on a thread that may use only `count` processors, as may all threads that it starts.
///
/// This is how a system with a thread of its own for every stage is run "on `count` threads".
pub fn confined<R: Send>(count: usize, body: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            confine(|usable| usable.into_iter().take(count).collect());
            body()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Keeps the calling thread on one processor, a different one for each `index` as far as there are enough.
pub fn pin(index: usize) {
    confine(|usable| usable.get(index % usable.len()).copied().into_iter().collect());
}

/// Keeps the calling thread on the processors that `choose` takes from those it may use now.
/// Does nothing where the system refuses.
fn confine(choose: impl FnOnce(Vec<usize>) -> Vec<usize>) {
    let this = Pid::from_raw(0);
    let Ok(allowed) = sched_getaffinity(this) else { return };
    let usable = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap_or(false)).collect();
    let mut chosen = CpuSet::new();
    choose(usable).into_iter().for_each(|cpu| _ = chosen.set(cpu));
    _ = sched_setaffinity(this, &chosen);
}
