//! One measurement: the time and checksum of one run.

use std::time::{Duration, Instant};

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The time and the result of one run.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Seconds of the timed region; for a figure of memory, bytes.
    pub seconds: f64,
    /// The checksum of the results.
    pub checksum: u64,
    /// What else whole programs cost; zero for all other runs.
    pub costs: Costs,
}

/// The costs of programs that ran as processes of their own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// Seconds of processor time, of user and system.
    pub cpu: f64,
    /// Bytes: the peak of resident memory, added up over the programs of a pipeline.
    pub memory: f64,
    /// Bytes of the output; of several processes, those that went from one to another.
    pub size: f64,
}

impl Row {
    /// A run without costs other than its time.
    pub fn new(seconds: f64, checksum: u64) -> Self {
        Self { seconds, checksum, costs: Costs::default() }
    }
}

/// Times a run that returns a checksum.
pub fn timed(run: impl FnOnce() -> u64) -> Row {
    let start = Instant::now();
    let checksum = run();
    Row::new(start.elapsed().as_secs_f64(), checksum)
}

/// Repeats a short job, one run after the other; the row has the median of their times.
///
/// Each job returns its own time, since its preparation may not count.
pub fn median_of(jobs: u64, mut job: impl FnMut() -> (Duration, u64)) -> Row {
    let (mut times, mut checksum) = (Vec::with_capacity(jobs as usize), 0);
    for _ in 0..jobs.max(1) {
        let (time, sum) = job();
        times.push(time);
        checksum = sum;
    }
    times.sort_unstable();
    Row::new(times[times.len() / 2].as_secs_f64(), checksum)
}

/// The time of one run, and its checksum.
pub fn once(run: impl FnOnce() -> u64) -> (Duration, u64) {
    let start = Instant::now();
    let checksum = run();
    (start.elapsed(), checksum)
}

/// Runs `body` on a thread that may use only `count` processors; threads that it starts inherit this.
///
/// This limits a system that starts a thread for every stage to `count` processors.
pub fn confined<R: Send>(count: usize, body: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            confine(|usable| usable.into_iter().take(count).collect());
            body()
        });
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs `body` on the calling thread, which may use only one processor until `body` returns; threads that `body` starts
/// inherit this.
pub fn on_one_processor<R>(body: impl FnOnce() -> R) -> R {
    let this = Pid::from_raw(0);
    let before = sched_getaffinity(this);
    confine(|usable| usable.into_iter().take(1).collect());
    let result = body();
    if let Ok(before) = before {
        _ = sched_setaffinity(this, &before);
    }
    result
}

/// Pins the calling thread to one processor, a different one for each `index` as long as there are enough.
pub fn pin(index: usize) {
    confine(|usable| usable.get(index % usable.len()).copied().into_iter().collect());
}

/// Restricts the calling thread to the processors that `choose` selects from those it may use now.
/// Does nothing if the system refuses.
fn confine(choose: impl FnOnce(Vec<usize>) -> Vec<usize>) {
    let this = Pid::from_raw(0);
    let Ok(allowed) = sched_getaffinity(this) else { return };
    let usable = (0..CpuSet::count()).filter(|&cpu| allowed.is_set(cpu).unwrap_or(false)).collect();
    let mut chosen = CpuSet::new();
    choose(usable).into_iter().for_each(|cpu| _ = chosen.set(cpu));
    _ = sched_setaffinity(this, &chosen);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The processors that this thread may use.
    fn usable() -> usize {
        std::thread::available_parallelism().map_or(1, usize::from)
    }

    #[test]
    fn threads_inherit_the_one_processor_and_the_caller_gets_its_own_back() {
        let before = usable();
        let inside = || std::thread::scope(|scope| scope.spawn(usable).join().unwrap());
        assert_eq!(on_one_processor(inside), 1);
        assert_eq!(usable(), before);
    }
}
