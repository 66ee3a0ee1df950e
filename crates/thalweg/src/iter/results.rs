//! The results of an adaptor: from its run, or made by the caller's thread, whichever gives the caller more of them.
//!
//! Results cross from a worker to the caller, and items from the thread of the iterator to a worker. Where both take longer
//! than the work itself, the caller's thread is faster alone. So the two ways are tried as a run tries its width
//! ([`Trials`]): width 2 is the run, width 1 is the caller alone.

use super::stage::{ByHand, Caught, Failure, Made, Stage, Stop};
use super::turns::Control;
use crate::{Error, Options, Outlet, Stream};
use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Instant;
use thalweg_policy::width::{EPOCH_NS, Trials, WARM_NS};
use thalweg_runtime::{EmbedOptions, drop_quietly};

/// The time of a result, in nanoseconds, from which on the run pays without a trial.
const LONG_RESULT_NS: u64 = 5_000;
/// The number of results between two looks at the clock, by the run and by the caller alone. A look takes 20 to 30 ns. Where
/// items take more than a nap of the source it takes the turn in any case; shorter ones are not worked on in parallel until
/// the next look.
const RESULTS_PER_LOOK: u32 = 64;
const RESULTS_PER_LOOK_ALONE: u32 = 16;

/// The maximum exponent of two by which epochs are multiplied while the run makes the results without a trial.
const MAX_RESTS: u32 = 6;

/// Starts a stream, on threads of the pool or of a scope.
type Start<'scope, U> = Box<
    dyn FnOnce(Stream<'scope, Caught<U>>, &Options) -> Result<Outlet<'scope, Caught<U>>, Error>
        + Send
        + 'scope,
>;

/// What [`Results::next`] returns.
type Next<U> = Option<Result<U, Failure>>;

/// The state of an ordered iterator.
enum State<'scope, U: Send> {
    /// `next` was not called yet: nothing runs.
    Waiting(Box<Stream<'scope, Caught<U>>>, Start<'scope, U>),
    Running(Box<Outlet<'scope, Caught<U>>>),
    /// No result follows; the run may not have ended.
    Failed(#[expect(dead_code, reason = "kept to be dropped")] Box<Outlet<'scope, Caught<U>>>),
    Over,
}

/// Results and, last, the reason why no more follow, if the run failed.
pub(crate) struct Results<'scope, U: Send> {
    pub(crate) options: Options,
    state: State<'scope, U>,
    /// The caller's thread makes the next result.
    alone: bool,
    /// `None` while this is dropped.
    by_hand: Option<Box<dyn ByHand<U> + 'scope>>,
    pace: Pace,
}

impl<U: Send + 'static> Results<'static, U> {
    pub(crate) fn new(stage: Stage<'static, U>) -> Self {
        Results::lazy(stage, Box::new(|stream, options| stream.start_with(options)))
    }
}

impl<'scope, U: Send> Results<'scope, U> {
    /// Starts at the first call of `next`.
    pub(crate) fn lazy(stage: Stage<'scope, U>, start: Start<'scope, U>) -> Self {
        Results {
            options: Options::new(),
            state: State::Waiting(Box::new(stage.stream), start),
            alone: false,
            by_hand: Some(stage.by_hand),
            pace: Pace::new(),
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Next<U> {
        loop {
            self.pace.left -= 1;
            if self.pace.left == 0 {
                self.look();
            }
            if let Break(next) = if self.alone { self.made() } else { self.received() } {
                return next;
            }
        }
    }

    /// Gets the next result of the run, unless the caller's thread is to make it.
    #[inline]
    fn received(&mut self) -> ControlFlow<Next<U>> {
        let State::Running(outlet) = &mut self.state else { return self.start() };
        match outlet.next() {
            Some(Ok(item)) => Break(Some(Ok(item))),
            Some(Err(stop)) => match *stop {
                Stop::Failed(failure) => Break(Some(Err(self.stop(failure)))),
                Stop::Turn => {
                    self.alone = self.turns().is_some_and(Control::accept);
                    self.pace.end_recall(self.alone);
                    Continue(())
                }
            },
            None => Break(match outlet.take_failure() {
                Some(error) => Some(Err(self.stop(Failure::Run(error)))),
                None => self.finish().err().map(|error| Err(Failure::Run(error))),
            }),
        }
    }

    /// Makes the next result, unless there is none yet, or the run is to make it.
    #[inline]
    fn made(&mut self) -> ControlFlow<Next<U>> {
        if thalweg_runtime::in_coroutine() {
            // The function may need a larger stack.
            self.turns().inspect(|turns| turns.hand_over());
        }
        match self.by_hand.as_mut().map_or(Made::NoTurn, |by_hand| by_hand.next()) {
            Made::Result(Ok(item)) => return Break(Some(Ok(item))),
            Made::Result(Err(stop)) => {
                if let Stop::Failed(failure) = *stop {
                    return Break(Some(Err(self.stop(failure))));
                }
            }
            Made::Nothing => {
                self.pace.uncount();
                self.look();
            }
            Made::NoTurn => {
                self.alone = false;
                self.pace.end_alone();
            }
        }
        Continue(())
    }

    fn turns(&self) -> Option<&dyn Control> {
        self.by_hand.as_ref().map(|by_hand| by_hand.turns())
    }

    /// Looks at the clock, and chooses between the run and the caller alone.
    #[cold]
    fn look(&mut self) {
        let (recalled, alone) = (self.pace.recalled, self.pace.look(self.alone));
        let Some(turns) = self.turns() else { return };
        if recalled {
            turns.note_progress();
        }
        match (self.alone, alone) {
            (false, true) => turns.recall(),
            // If results of an item are left, they come first.
            (true, false) => turns.hand_over(),
            _ => {}
        }
    }

    #[cold]
    fn start(&mut self) -> ControlFlow<Next<U>> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Waiting(stream, start) => {
                // The caller's turns are those of the iterator's thread (`turns`).
                self.options = std::mem::take(&mut self.options).keep_sources();
                match start(*stream, &self.options) {
                    Ok(outlet) => {
                        self.state = State::Running(Box::new(outlet));
                        if self.options.lets_the_caller_work() {
                            self.pace.begin();
                        }
                        Continue(())
                    }
                    Err(error) => Break(Some(Err(Failure::Run(error)))),
                }
            }
            over => {
                self.state = over;
                Break(None)
            }
        }
    }

    /// Cancels the run; no result follows. The outlet is kept: its drop joins a thread that may be blocked in the
    /// iterator, and the iterator may be waiting for the caller.
    #[cold]
    fn stop(&mut self, failure: Failure) -> Failure {
        self.alone = false;
        if let State::Running(outlet) = std::mem::replace(&mut self.state, State::Over) {
            outlet.cancel();
            self.state = State::Failed(outlet);
        }
        self.turns().inspect(|turns| turns.end());
        failure
    }

    #[cold]
    fn finish(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.state, State::Over) {
            State::Running(outlet) => outlet.finish().map(drop).map_err(Error::from),
            _ => Ok(()),
        }
    }
}

impl<U: Send> Drop for Results<'_, U> {
    fn drop(&mut self) {
        // The source may wait for its turn, and the drop of the outlet for the source.
        self.turns().inspect(|turns| turns.end());
        // Before the run, which then drops the user's values as those of its nodes. What only the caller's thread has is
        // the iterator of its latest results; no failure is left for a panic of the drop.
        drop_quietly(self.by_hand.take());
        if matches!(self.state, State::Waiting(..)) {
            drop_quietly(std::mem::replace(&mut self.state, State::Over));
        }
    }
}

/// The pace of the results, by which the run or the caller alone is chosen.
struct Pace {
    /// The first trial is early: where crossings are expensive, a run of many short items takes several times as long.
    trials: Trials,
    began: Instant,
    /// The end of the phase of the trials, in nanoseconds since `began`.
    until: u64,
    /// The latest look that ended a phase, and the results until then.
    since: (u64, u64),
    results: u64,
    /// Results until the next look, and from one to the next.
    left: u32,
    per_look: u32,
    /// The source was asked for the turn.
    recalled: bool,
    /// The turn was given to the run for a phase of this time, in nanoseconds.
    handed_over: Option<u64>,
    /// The run makes the results until the end of this phase, although the caller alone was chosen ([`Pace::rest`]).
    rests: bool,
    /// How often that was so lately, at most [`MAX_RESTS`].
    times: u32,
}

impl Pace {
    fn new() -> Pace {
        Pace {
            trials: Trials::new(2, 1),
            began: Instant::now(),
            until: u64::MAX,
            since: (0, 0),
            results: 0,
            left: u32::MAX,
            per_look: RESULTS_PER_LOOK,
            recalled: false,
            handed_over: None,
            rests: false,
            times: 0,
        }
    }

    /// The run starts. Without this call there are no trials.
    fn begin(&mut self) {
        self.began = Instant::now();
        self.turn(RESULTS_PER_LOOK, WARM_NS);
    }

    /// The source has answered: the caller has the turn, or not any more.
    fn end_recall(&mut self, has_turn: bool) {
        self.recalled = false;
        match has_turn {
            true => self.turn(RESULTS_PER_LOOK_ALONE, WARM_NS),
            false => self.end_alone(),
        }
    }

    /// The run has the turn, or the iterator has ended.
    fn end_alone(&mut self) {
        let wait = self.handed_over.take().unwrap_or_else(|| self.rest());
        self.turn(RESULTS_PER_LOOK, wait);
    }

    /// The run makes the results for a while, without a trial: the caller was away, or an item has taken long. Or the system had
    /// no core for this thread; so it is a short while at first, and a longer one each time.
    fn rest(&mut self) -> u64 {
        self.rests = true;
        self.times = (self.times + 1).min(MAX_RESTS);
        EPOCH_NS << self.times
    }

    /// Begins a phase of `ns` nanoseconds.
    fn turn(&mut self, per_look: u32, ns: u64) {
        let now = self.now();
        self.count();
        (self.per_look, self.left) = (per_look, per_look);
        (self.since, self.until) = ((now, self.results), now + ns);
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    /// Counts the results since the latest look.
    fn count(&mut self) {
        self.results += u64::from(self.per_look.saturating_sub(self.left));
        self.left = self.per_look;
    }

    /// The latest call made no result.
    fn uncount(&mut self) {
        self.left += 1;
    }

    /// Whether the caller is to make the results from here on.
    fn look(&mut self, alone: bool) -> bool {
        self.count();
        let now = self.now();
        if now < self.until || self.recalled || self.handed_over.is_some() {
            return alone;
        }
        let (since, before) = std::mem::replace(&mut self.since, (now, self.results));
        let each = (now - since) / (self.results - before).max(1);
        // The first results have waited for the start of the run.
        let is_short = each < LONG_RESULT_NS || before == 0;
        let (width, wait) = match (is_short, self.rests) {
            (true, false) => {
                self.times -= u32::from(alone && self.times > 0);
                self.trials.step(now, self.results)
            }
            (true, true) => {
                self.rests = false;
                self.trials.restart();
                (1, WARM_NS)
            }
            (false, rests) if alone || rests => (2, self.rest()),
            (false, _) => {
                self.trials.restart();
                (2, EPOCH_NS)
            }
        };
        self.until = now + wait;
        self.recalled = width == 1 && !alone;
        self.handed_over = (width == 2 && alone).then_some(wait);
        width == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_results_are_counted() {
        let mut pace = Pace::new();
        pace.begin();
        for call in 0..1000 {
            pace.left -= 1;
            if call % 10 != 0 {
                pace.uncount();
            }
            if call % 7 == 0 || pace.left == 0 {
                pace.look(true);
            }
        }
        pace.count();
        assert_eq!(pace.results, 100);
    }
}
