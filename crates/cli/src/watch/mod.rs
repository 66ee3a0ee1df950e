//! The live view of a run (`--watch`): a thread takes snapshots of the run and shows them on standard error.
//!
//! On a terminal it is a table that stays in place ([`screen`]), drawn four times a second; elsewhere, and with
//! `TERM=dumb`, a plain line a second. The view has no colours, so `NO_COLOR` changes nothing. It replaces the progress
//! bar: two displays in one place would need a third part that arranges them, and the view has the rate of the source.
//!
//! At the end of a run that succeeds the table is removed, as the bar is; `--report` has the totals. After a failure or
//! an interrupt the last frame stays above the message, since it says what the run waited for.

mod frame;
pub(crate) mod screen;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use thalweg::trace::Snapshot;
use thalweg::{Handle, Options};

/// Time between two frames.
const FRAME: Duration = Duration::from_millis(250);
/// Time between two lines.
const LINE: Duration = Duration::from_secs(1);
/// The view waits at least this many times as long as its last snapshot and frame took, so that it takes at most one per
/// cent of a core, however large the graph.
const PAUSE: u32 = 100;

/// The latest run of a command.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(Arc<Mutex<Option<Handle>>>);

impl Runs {
    /// The options, with a function that makes the run that they start the latest.
    pub fn follow(&self, options: Options) -> Options {
        let runs = self.clone();
        options.on_start(move |run| *lock(&runs.0) = Some(run.clone()))
    }

    /// The state of the latest run, if it goes on.
    fn snapshot(&self) -> Option<Snapshot> {
        let run = lock(&self.0).clone()?;
        run.snapshot()
    }
}

/// A live view on a thread of its own.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Arc<(Mutex<bool>, Condvar)>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Watch {
    /// Shows the runs of a command, one after the other, until [`Watch::stop`].
    pub fn start(runs: Runs) -> Watch {
        let stop = Arc::new((Mutex::new(false), Condvar::new()));
        let stopped = stop.clone();
        let on_terminal = screen::is_possible();
        let show = move || {
            let mut view = View { runs, on_terminal: on_terminal && screen::begin(), last: None };
            let period = if view.on_terminal { FRAME } else { LINE };
            let mut pause = period;
            while !waited(&stopped, pause) {
                let began = Instant::now();
                view.show();
                pause = period.max(began.elapsed() * PAUSE);
            }
        };
        // Without a thread there is no view, and the run goes on.
        let thread = std::thread::Builder::new().name("watch".to_owned()).spawn(show).ok();
        Watch { stop, thread: Mutex::new(thread) }
    }

    /// Ends the view. `keep` leaves the last frame on the screen.
    pub fn stop(&self, keep: bool) {
        *lock(&self.stop.0) = true;
        self.stop.1.notify_all();
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            _ = thread.join();
            screen::end(keep);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop(true);
    }
}

/// Waits for a time; true at once if the view is to stop.
fn waited((stop, changed): &(Mutex<bool>, Condvar), time: Duration) -> bool {
    let waited = changed.wait_timeout_while(lock(stop), time, |stop| !*stop);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The state of the view's thread.
struct View {
    runs: Runs,
    on_terminal: bool,
    /// The snapshot of the last frame, for rates.
    last: Option<Snapshot>,
}

impl View {
    /// Shows the state of the run, if one goes on.
    fn show(&mut self) {
        let Some(now) = self.runs.snapshot() else { return };
        // Rates of a run's first frame are means since its start.
        let same = self.last.take().filter(|last| Arc::ptr_eq(last.graph(), now.graph()));
        let rates = now.since(&same.unwrap_or_else(|| Snapshot::new(now.graph().clone())));
        if self.on_terminal {
            screen::draw(|size| frame::table(&now, &rates, size));
        } else {
            crate::standard::eprint(&frame::line(&now, &rates));
        }
        self.last = Some(now);
    }
}
