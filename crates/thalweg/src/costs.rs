//! The costs of this machine's mechanisms, those of the engine included.

use std::hint::black_box;
use std::time::Duration;
use thalweg_machine::{Costs, Machine, time_per_call};

/// The time for a measurement.
const EACH: Duration = Duration::from_millis(100);

/// Measures the costs of `machine`, which must be the machine that executes this code ([`Machine::here`]): those of
/// [`Costs::measure`], and of the engine's own mechanisms:
///
/// - [`Costs::queue`]: an item is pushed to a [`channel`](crate::channel) and popped, by the calling thread;
/// - [`Costs::steal`]: a thread of the calling thread's team takes a task of another one, by the steal of
///   [task graphs](crate::tasks). `None` where the team has one thread, or no other one has time.
///
/// It takes less than 2 seconds, and keeps two cores busy.
///
/// ```
/// use thalweg::machine::{Machine, measure};
///
/// let here = Machine::here();
/// let costs = measure(&here);
/// assert!(costs.queue().is_some_and(|ns| ns > 0.0));
/// println!("{}", here.with_costs(costs)); // the text that Machine::read takes
/// ```
pub fn measure(machine: &Machine) -> Costs {
    let mut costs = Costs::measure(machine);
    // More digits would mean nothing.
    let tenths = |ns: f64| (ns * 10.0).round().max(1.0) / 10.0;
    *costs.queue_mut() = Some(tenths(queue()));
    *costs.steal_mut() = thalweg_tasks::time_per_steal(machine.near_cpus(), EACH).map(tenths);
    costs
}

/// The nanoseconds to push an item to a channel and to pop it.
fn queue() -> f64 {
    let (mut sender, mut receiver) = thalweg_runtime::channel::<u64>(64);
    time_per_call(EACH, || {
        _ = sender.push(black_box(1));
        black_box(receiver.pop());
    })
}
