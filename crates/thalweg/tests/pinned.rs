//! A process that is pinned to a worker goes on where other workers can take the work that it has made.
//!
//! Nodes here wait for each other outside of the graph, so that a late start is a wait that does not end by itself.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use thalweg::{Graph, Options, output};

/// The time after which a wait fails.
const LIMIT: Duration = Duration::from_secs(10);

/// A count that several nodes see.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Waits until the count is at least `count`, but no longer than [`LIMIT`]; returns whether it is.
    fn reaches(&self, count: usize) -> bool {
        let start = Instant::now();
        while self.0.load(Ordering::Acquire) < count {
            if start.elapsed() > LIMIT {
                return false;
            }
            std::thread::sleep(Duration::from_micros(20));
        }
        true
    }
}

/// The policies that are notified of ready nodes and do not assign them to workers.
const STEALING: [&str; 3] = ["auto", "ws-cur", "ws-last"];

/// Runs a check several times under each of [`STEALING`], on two workers.
fn repeatedly(check: impl Fn(&Options)) {
    for policy in STEALING {
        (0..10).for_each(|_| check(&Options::new().threads(2).policy(policy)));
    }
}

#[test]
fn a_pinned_process_goes_on_while_another_worker_takes_its_first_message() {
    repeatedly(|options| {
        let sent = Count::default();
        let graph = Graph::new();
        let numbers = graph.coroutine("send", (), output("out"), |(), mut out| {
            for number in 0..3 {
                out.send(number);
                sent.add();
            }
        });
        let all = numbers.par_map(|number| number > 0 || sent.reaches(3)).fold(true, |all, one| all && one);
        assert!(
            graph.run_with(options).unwrap().take(all).unwrap(),
            "{options:?}: the process waited for its message"
        );
    });
}

/// The sets of cores that the threads of alarms may use, and that of the calling thread, as the system writes them.
#[cfg(target_os = "linux")]
fn cores_of_alarms() -> (Vec<String>, String) {
    let allowed = |task: &std::path::Path| {
        let status = std::fs::read_to_string(task.join("status")).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        line.unwrap_or_default().trim().to_owned()
    };
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten().map(|task| task.path());
    let is_alarms = |task: &std::path::PathBuf| {
        std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim_end() == "thalweg-alarms")
    };
    let alarms = tasks.filter(is_alarms).map(|task| allowed(&task)).collect();
    (alarms, allowed("/proc/thread-self".as_ref()))
}

/// The thread of alarms serves all runs, so it does not keep the core of the worker that starts it. It stays for some seconds
/// after the run. One that another test has started first is not pinned either.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_of_alarms_may_use_all_cores() {
    let items = thalweg::from_iter(0..3u64).map(|item| {
        // The batch waits for this item longer than for its time.
        std::thread::sleep(Duration::from_millis(10));
        item
    });
    let batches = items.blocking().batch_timeout(1000, Duration::from_millis(1)).unbatch().collect();
    let got = batches.run_with(&Options::new().threads(2).pinned()).unwrap().into_value();
    assert_eq!(got, [0, 1, 2]);
    let start = Instant::now();
    loop {
        let (alarms, own) = cores_of_alarms();
        assert!(!alarms.is_empty(), "the run has set an alarm");
        if alarms.iter().all(|cores| *cores == own) {
            return;
        }
        // A thread that has just started may not have run yet.
        assert!(start.elapsed() < LIMIT, "{alarms:?}, and not {own}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
