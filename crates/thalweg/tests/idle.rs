//! A run that waits for its input uses no processor time: idle workers sleep until there is work.
//!
//! The only test of its file, because it measures the whole process.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use thalweg::{Options, from_iter};

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[test]
fn a_run_that_waits_a_second_uses_less_than_ten_milliseconds() {
    // The first run of a process starts its threads.
    from_iter(0..1).blocking().for_each(|_| {}).run(&Options::new().threads(4)).unwrap();
    for threads in [1, 4] {
        let options = Options::new().threads(threads);
        let slow = (0..2).inspect(|_| std::thread::sleep(Duration::from_millis(500)));
        let before = cpu_time();
        let flow = from_iter(slow).blocking().par_map(|x: u64| x + 1).map(|x| x * 2).for_each(|_| {});
        flow.run(&options).unwrap();
        let used = cpu_time() - before;
        assert!(used < Duration::from_millis(10), "{threads} threads: {used:?}");
    }
}
