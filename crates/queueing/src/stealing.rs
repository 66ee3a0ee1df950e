//! Work stealing among threads that each pass items through all stages: the three steps of section 3.3 of the pipeline
//! model, after Y. Tay and H. Pang (2000).
//!
//! 1. Each thread alone is M/M/1/N/N with `Tarr = Tser`, where `N` is its share of the tokens.
//! 2. What other threads' idle time takes over is the mean number of busy servers, `v`, of M/M/n/n: `n` is the idle time
//!    of the others (equation 7), and the offered load is the part `p` of the thread's throughput that finds it busy.
//! 3. Each thread is M/M/(1 + v)/N/N, which departs at `min(n, 1 + v) / Tser`.
//!
//! Corrections (errata, F5): the index condition of equation 7 means all threads but this one; "each stage" of step 1
//! means each thread; the offered load of step 2 is `p λ Tser` erlangs, not `p λ`. And F6: step 3 counts an idle thread
//! once for every thread that it may help, and so can exceed the machine (8 threads with 3 tokens each: 8.65 of 8). The
//! result is clamped to the ideal central queue ([`ideal`]) and to `P / Tser`.
//!
//! The number of stages does not appear: an item's service time is the sum over the stages, however they are cut.

use crate::closed::{Closed, ClosedState};
use crate::erlang::erlang_b;
use crate::error::{items, positive, threads};
use crate::{Error, ideal};

/// Threads that steal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stealing {
    /// The mean time of an item in all stages together, in seconds.
    pub service: f64,
    /// The number of threads, `P`.
    pub threads: u32,
    /// The tokens of all threads. A number that the threads do not divide gives some of them one more.
    pub tokens: u64,
}

/// What the three steps give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StealingState {
    /// Items per second, clamped.
    pub throughput: f64,
    /// Items per second as the paper's step 3 has it; may exceed what the threads can do.
    pub unclamped: f64,
    /// Items per second without stealing: the sum of step 1.
    pub without_stealing: f64,
    /// The mean number of idle other threads, `n` of equation 7, averaged over the threads.
    pub idle: f64,
    /// The mean number of stolen items in service, `v`, averaged over the threads.
    pub stolen: f64,
    /// The share of the threads' time that is work, from 0 to 1.
    pub utilisation: f64,
}

impl Stealing {
    /// Computes the three steps.
    ///
    /// # Errors
    /// A number out of range.
    pub fn solve(&self) -> Result<StealingState, Error> {
        positive("service time", self.service)?;
        let p = f64::from(threads(self.threads)?);
        items("number of tokens", self.tokens)?;
        let classes = self.classes()?;
        let idle: f64 = classes.iter().map(|class| class.count * (1.0 - class.busy())).sum();
        let mut state = StealingState {
            throughput: 0.0,
            unclamped: 0.0,
            without_stealing: classes.iter().map(|class| class.count * class.rate()).sum(),
            idle: 0.0,
            stolen: 0.0,
            utilisation: 0.0,
        };
        for class in &classes {
            let others = (idle - (1.0 - class.busy())).max(0.0);
            let stolen = class.stolen(others, self.service)?;
            state.idle += class.count / p * others;
            state.stolen += class.count / p * stolen;
            state.unclamped +=
                class.count * self.thread(class.tokens, 1.0 + stolen)?.map_or(0.0, |s| s.throughput);
        }
        let ideal = ideal::ideal(self.service, self.threads, self.tokens)?.throughput;
        state.throughput = state.unclamped.min(ideal).min(p / self.service);
        state.utilisation = (state.throughput * self.service / p).min(1.0);
        Ok(state)
    }

    /// The threads, in groups with equally many tokens.
    fn classes(&self) -> Result<Vec<Class>, Error> {
        let (share, rest) = (self.tokens / u64::from(self.threads), self.tokens % u64::from(self.threads));
        let counts = [(u64::from(self.threads) - rest, share), (rest, share + 1)];
        counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, tokens)| {
                Ok(Class { count: count as f64, tokens, alone: self.thread(tokens, 1.0)? })
            })
            .collect()
    }

    /// One thread as a closed stage; `None` without a token.
    fn thread(&self, tokens: u64, c: f64) -> Result<Option<ClosedState>, Error> {
        if tokens == 0 {
            return Ok(None);
        }
        let (service, arrival) = (self.service, self.service);
        Closed { service, arrival, threads: c, population: tokens }.solve().map(Some)
    }
}

/// Threads with equally many tokens.
struct Class {
    count: f64,
    tokens: u64,
    alone: Option<ClosedState>,
}

impl Class {
    fn busy(&self) -> f64 {
        self.alone.map_or(0.0, |state| state.utilisation)
    }

    fn rate(&self) -> f64 {
        self.alone.map_or(0.0, |state| state.throughput)
    }

    /// Step 2: the mean number of stolen items in service.
    fn stolen(&self, idle: f64, service: f64) -> Result<f64, Error> {
        let load = self.busy() * self.rate() * service;
        if load == 0.0 {
            return Ok(0.0);
        }
        Ok(load * (1.0 - erlang_b(idle, load)?))
    }
}
