//! The bytes that a process holds, against its budget: states of keys, shared values, and what is left for batches.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::batch::{Cause, Failure};
use super::weigh::Weigh;
use crate::ticket::Ticket;
use crate::window::Window;

/// What to do where a budget is too small.
pub(crate) const HELP: &str = "raise the budget, make states or shared values smaller, or use more processes";

/// See [`Cluster::budget`](crate::Cluster::budget).
pub(crate) struct Budget {
    limit: usize,
    /// The processes that read: all their batches may wait in one process, so each has an equal share of what is left.
    readers: usize,
    window: Arc<Window>,
    shared: AtomicUsize,
    states: AtomicUsize,
    largest_batch: AtomicUsize,
}

impl Budget {
    pub fn new(limit: usize, readers: usize, window: Arc<Window>) -> Budget {
        let zero = AtomicUsize::default;
        Budget { limit, readers, window, shared: zero(), states: zero(), largest_batch: zero() }
    }

    /// Counts the shared values.
    pub fn share(&self, bytes: usize) -> Result<(), String> {
        self.shared.store(bytes, Relaxed);
        self.check(|limit| format!("shared values have {bytes} bytes, and the budget is {limit}"))
    }

    /// A batch has this number of encoded bytes: the window has room for as many of the largest as are left.
    pub fn batch(&self, bytes: usize) {
        self.largest_batch.fetch_max(bytes, Relaxed);
        self.fit();
    }

    /// A keyed stage has states of other sizes than before.
    fn change(&self, before: usize, after: usize) {
        if after >= before {
            self.states.fetch_add(after - before, Relaxed);
            self.fit();
        } else {
            self.states.fetch_sub(before - after, Relaxed);
        }
    }

    fn held(&self) -> usize {
        self.shared.load(Relaxed) + self.states.load(Relaxed)
    }

    fn fit(&self) {
        let left = self.limit.saturating_sub(self.held());
        if let Some(room) = (left / self.readers).checked_div(self.largest_batch.load(Relaxed)) {
            self.window.shrink(room);
        }
    }

    fn check(&self, text: impl FnOnce(usize) -> String) -> Result<(), String> {
        if self.held() > self.limit { Err(text(self.limit)) } else { Ok(()) }
    }
}

/// The bytes of the states of a keyed stage in this process. Without a budget it counts nothing.
pub(super) struct Tally<K, S, W> {
    budget: Option<Arc<Budget>>,
    name: &'static str,
    weigh: Arc<W>,
    keys: usize,
    bytes: usize,
    /// Those that the budget knows.
    noted: usize,
    of: PhantomData<fn(K, S)>,
}

impl<K, S, W: Weigh<S>> Tally<K, S, W> {
    pub fn new(budget: Option<Arc<Budget>>, name: &'static str, weigh: Arc<W>) -> Self {
        Tally { budget, name, weigh, keys: 0, bytes: 0, noted: 0, of: PhantomData }
    }

    /// A key has its first state.
    pub fn add(&mut self, state: &S) {
        if self.budget.is_some() {
            self.keys += 1;
            self.bytes = self.bytes.saturating_add(size_of::<K>().saturating_add(self.weigh.bytes(state)));
        }
    }

    /// Calls a function that changes a state.
    pub fn change<R>(&mut self, state: &mut S, f: impl FnOnce(&mut S) -> R) -> R {
        if W::IS_FIXED || self.budget.is_none() {
            return f(state);
        }
        let before = self.weigh.bytes(state);
        let result = f(state);
        // A function that does not weigh equal states alike must not make the sum wrap around.
        self.bytes = self.bytes.saturating_add(self.weigh.bytes(state)).saturating_sub(before);
        result
    }

    /// All states are gone.
    pub fn clear(&mut self) {
        (self.keys, self.bytes) = (0, 0);
        _ = self.check(Ticket::first_of(0));
    }

    /// Fails if the budget is exceeded.
    pub fn check(&mut self, ticket: Ticket) -> Result<(), Cause> {
        let Some(budget) = &self.budget else { return Ok(()) };
        budget.change(self.noted, self.bytes);
        self.noted = self.bytes;
        let exceeded = |limit| {
            let (keys, bytes) = (self.keys, self.bytes);
            let other = budget.held() - bytes;
            let other =
                if other == 0 { String::new() } else { format!(", other states and shared values {other}") };
            format!("the states of {keys} keys have {bytes} bytes{other}, and the budget is {limit}")
        };
        budget.check(exceeded).map_err(|text| {
            let stage = self.name.to_owned();
            Failure { stage, ticket, text, help: Some(HELP), cause: None }.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::weigh::SizeOf;
    use super::*;
    use crate::engine::Engine;

    fn budget(limit: usize) -> Arc<Budget> {
        Arc::new(Budget::new(limit, 2, Arc::new(Window::new(8, 1, Engine::default()))))
    }

    #[test]
    fn states_count_as_they_grow_and_shrink() {
        let budget = budget(100);
        let mut tally = Tally::<u64, Vec<u8>, _>::new(Some(budget.clone()), "fold", Arc::new(Vec::len));
        let mut state = vec![0; 12];
        tally.add(&state);
        assert!(tally.check(Ticket::first_of(0)).is_ok());
        assert_eq!(budget.held(), 20);
        tally.change(&mut state, |state| state.resize(93, 0));
        let error = tally.check(Ticket::first_of(3)).unwrap_err().to_string();
        assert_eq!(
            error,
            "stage fold, batch 0 of part 3: the states of 1 keys have 101 bytes, and the budget is 100"
        );
        tally.change(&mut state, |state| state.clear());
        assert!(tally.check(Ticket::first_of(3)).is_ok());
        assert_eq!(budget.held(), 8);
        tally.clear();
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn without_a_function_a_state_counts_as_its_type_has_it() {
        let budget = budget(100);
        let mut tally = Tally::<u64, u32, _>::new(Some(budget.clone()), "scan", Arc::new(SizeOf));
        (0..8).for_each(|n| tally.add(&n));
        assert!(tally.check(Ticket::first_of(0)).is_ok());
        assert_eq!(budget.held(), 96);
        assert!(budget.share(4).is_ok());
        assert_eq!(budget.share(5).unwrap_err(), "shared values have 5 bytes, and the budget is 100");
        let error = tally.check(Ticket::first_of(0)).unwrap_err().to_string();
        assert!(error.contains("8 keys have 96 bytes, other states and shared values 5, and"), "{error}");
    }

    #[test]
    fn batches_have_what_is_left() {
        let budget = budget(100);
        budget.batch(10);
        let mut tally = Tally::<(), Vec<u8>, _>::new(Some(budget.clone()), "fold", Arc::new(Vec::len));
        tally.add(&vec![0; 40]);
        tally.check(Ticket::first_of(0)).unwrap();
        let enters = (0..).map(|batch| Ticket { part: 0, batch });
        // (100 - 40) / 2 readers / 10 bytes.
        assert_eq!(budget.window.room(), 3);
        assert!(enters.take(3).all(|ticket| budget.window.enter(ticket)));
    }
}
