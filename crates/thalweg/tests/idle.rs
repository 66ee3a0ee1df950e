//! Threads that have no work use no processor time: workers of a run that waits for its input, and members of a team after
//! a loop, a join or a task graph.
//!
//! A program of its own, because it measures the whole process. Its tests run one at a time.

use rustix::time::{ClockId, clock_gettime};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;
use thalweg::loops::{Schedule, team_size};
use thalweg::{Loop, Options, from_iter, join};

/// A thread that spins uses far more even on a machine that does ten other things.
const MOST: Duration = Duration::from_millis(10);

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_run_that_waits_a_second_uses_less_than_ten_milliseconds() {
    let _alone = alone();
    // The first run of a process starts its threads.
    from_iter(0..1).blocking().for_each(|_| {}).run_with(&Options::new().threads(4)).unwrap();
    for threads in [1, 4] {
        let options = Options::new().threads(threads);
        let slow = (0..2).inspect(|_| sleep(Duration::from_millis(500)));
        let before = cpu_time();
        let flow = from_iter(slow).blocking().par_map(|x: u64| x + 1).map(|x| x * 2).for_each(|_| {});
        flow.run_with(&options).unwrap();
        let used = cpu_time() - before;
        assert!(used < MOST, "{threads} threads: {used:?}");
    }
}

/// Workers fire this source, as its items own memory: the looker rests while they wait. Without that it would use more than
/// ten milliseconds of these two seconds. Two runs at the same time use no more together than one of them may.
#[test]
fn a_roaming_source_that_waits_uses_no_processor_time() {
    let _alone = alone();
    // Each end is dropped with its run, so that a run does not wait for one that has failed.
    let (first, second) = (channel(), channel());
    let run = |threads: usize, (to, from): (Sender<()>, Receiver<()>)| {
        move || {
            let meet = move || {
                to.send(()).expect("the other run goes on");
                from.recv().expect("the other run goes on");
            };
            let (report, used) = channel();
            let slow = (0..2).map(move |item| {
                // Before the looker rests, it looks for something to pass on.
                sleep(Duration::from_millis(500));
                meet();
                let before = cpu_time();
                sleep(Duration::from_secs(2));
                report.send(cpu_time() - before).unwrap();
                meet();
                item.to_string()
            });
            let flow = from_iter(slow).blocking().par_map(|text| text + "!").for_each(drop);
            flow.run_with(&Options::new().threads(threads)).unwrap();
            for used in used {
                assert!(used < MOST / 2, "{threads} threads: {used:?}");
            }
        }
    };
    std::thread::scope(|scope| {
        let runs = [run(1, (first.0, second.1)), run(4, (second.0, first.1))];
        runs.map(|run| scope.spawn(run)).map(|run| run.join().unwrap())
    });
}

/// Executes jobs of each kind. Two members meet in each loop, so one of them was awake just now.
fn jobs() {
    for schedule in [Schedule::Hybrid, Schedule::Static, Schedule::Dynamic] {
        let met = Barrier::new(2);
        Loop::new().grain(1).schedule(schedule).members(2).for_each(0..2, |_| _ = met.wait());
    }
    join(|| (), || ());
}

/// What the process uses while its threads have nothing to do, soon after they had.
fn used_afterwards() -> Duration {
    sleep(Duration::from_millis(5));
    let before = cpu_time();
    sleep(Duration::from_millis(300));
    cpu_time() - before
}

#[test]
fn members_of_a_pool_sleep_after_their_jobs() {
    let _alone = alone();
    if team_size() < 2 {
        return; // the calling thread is the only member
    }
    jobs();
    let used = used_afterwards();
    assert!(used < MOST, "{used:?}");
}

#[test]
fn workers_of_a_run_sleep_after_their_jobs() {
    let _alone = alone();
    let (report, used) = channel();
    let met = Arc::new(Barrier::new(2));
    // The thread of the source measures after the first item, while the workers wait for the second.
    let is_done = met.clone();
    let source = (0..2).inspect(move |&item| {
        if item == 1 {
            is_done.wait();
            report.send(used_afterwards()).unwrap();
        }
    });
    let work = move |item: u64| {
        if item == 0 {
            jobs();
            met.wait();
        }
    };
    from_iter(source).blocking().map(work).for_each(|_| {}).run_with(&Options::new().threads(3)).unwrap();
    let used = used.recv().unwrap();
    assert!(used < MOST, "{used:?}");
}

/// More workers than cores, of which one is in a long firing: at most one other looks at it, the rest sleep.
#[test]
fn workers_of_a_run_sleep_during_a_long_firing() {
    let _alone = alone();
    for policy in thalweg::embed::policy::registry::names() {
        let (report, used) = channel();
        let work = move |item: u64| {
            if item == 2 {
                report.send(used_afterwards()).unwrap();
            }
        };
        let options = Options::new().threads(16).policy(policy);
        from_iter(0..4).map(work).par_map(|()| ()).for_each(|()| {}).run_with(&options).unwrap();
        let used = used.recv().unwrap();
        assert!(used < 2 * MOST, "{policy}: {used:?}");
    }
}
