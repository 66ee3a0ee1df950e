//! Measures the costs of the machine that executes the program.
//!
//! Each measurement ends at a deadline and has no result where the system does not allow it: no second core, no pinning,
//! no thread, too little memory. All together take less than a second, or two where other load disturbs them.

mod bandwidth;
mod line;
mod miss;
mod wake;

use crate::{Costs, Machine, UnitId};
use std::time::{Duration, Instant};

/// The time for each of the four measurements with two threads.
const EACH: Duration = Duration::from_millis(100);

/// The time for the two kinds of misses.
const MISSES: Duration = Duration::from_millis(100);

/// The time for the bandwidth.
const STREAM: Duration = Duration::from_millis(400);

impl Costs {
    /// Measures the costs of `machine`, which must be the machine that executes this code ([`Machine::here`]): wake-up,
    /// transfer of cache lines, misses of a core's cache, and bandwidth of memory. It takes less than 2 seconds, keeps two cores busy, and uses at
    /// most 256 MB and an eighth of the memory that the process may use.
    ///
    /// What cannot be measured here is `None`, and so are [`Costs::queue`] and [`Costs::steal`]. The costs of lines and
    /// wake-ups are those of one pair of cores; a wake-up is one within a core if the process may use no second one. On
    /// a virtual machine they are those of the cores that execute the virtual ones, whichever these are.
    ///
    /// ```
    /// use thalweg_machine::{Costs, Machine};
    ///
    /// let machine = Machine::here();
    /// let costs = Costs::measure(&machine);
    /// println!("{}", machine.with_costs(costs));
    /// ```
    pub fn measure(machine: &Machine) -> Costs {
        let pairs = Pairs::new(machine);
        // More digits would mean nothing.
        let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
        let line = |pair: Option<(u32, u32)>| line::transfer(pair?, Instant::now() + EACH).map(tenths);
        let any = pairs.nearest();
        let misses = miss::miss(machine, MISSES);
        let costs = Costs {
            wake: wake::latency(any, Instant::now() + EACH).map(tenths),
            line_cache: line(pairs.cache),
            line_domain: line(pairs.domain),
            line_across: line(pairs.across),
            miss_in_order: misses.map(|(in_order, _)| tenths(in_order)),
            miss_at_random: misses.map(|(_, at_random)| tenths(at_random)),
            bandwidth: bandwidth::bandwidth(machine, STREAM).map(|bytes| bytes.next_multiple_of(1_000_000)),
            ..Costs::default()
        };
        costs.within_range()
    }
}

impl Machine {
    /// The numbers of two CPUs of different cores that the process may use, as near to each other as there are: those whose
    /// wake-ups [`Costs::measure`] measures. `None` if the process may use one core, or nothing is known of two.
    ///
    /// ```
    /// let machine = thalweg_machine::Machine::read("thalweg-machine 1\ndomains 2\ncores 2\ncache 2 per domain\n")?;
    /// assert_eq!(machine.near_cpus(), Some((0, 1)));
    /// # Ok::<(), thalweg_machine::ReadError>(())
    /// ```
    pub fn near_cpus(&self) -> Option<(u32, u32)> {
        Pairs::new(self).nearest()
    }
}

/// Pairs of CPUs of different cores that the process may use.
#[derive(Debug, Default)]
struct Pairs {
    /// Two that share a cache.
    cache: Option<(u32, u32)>,
    /// Two of a domain that share no cache.
    domain: Option<(u32, u32)>,
    /// Two of different domains.
    across: Option<(u32, u32)>,
}

impl Pairs {
    fn nearest(&self) -> Option<(u32, u32)> {
        self.cache.or(self.domain).or(self.across)
    }

    /// The first pairs, of which the first unit is the first that the process may use. Without caches nothing is known
    /// about a pair of one domain.
    fn new(machine: &Machine) -> Pairs {
        let mut pairs = Pairs::default();
        let Some(first) = machine.allowed().next() else { return pairs };
        let cpu = |unit: UnitId| machine.unit(unit).cpu;
        for second in machine.allowed().filter(|unit| machine.unit(*unit).core != machine.unit(first).core) {
            let slot = if machine.shared_cache(first, second).is_some() {
                &mut pairs.cache
            } else if machine.domain_of(first) != machine.domain_of(second) {
                &mut pairs.across
            } else if machine.caches().is_empty() {
                continue;
            } else {
                &mut pairs.domain
            };
            slot.get_or_insert((cpu(first), cpu(second)));
        }
        pairs
    }
}

/// The nanoseconds of one call, on the calling thread: the least disturbed of several batches of calls, which together
/// take about `limit`. At least one batch of one call is made.
///
/// ```
/// use std::time::Duration;
///
/// let mut queue = std::collections::VecDeque::new();
/// let ns = thalweg_machine::time_per_call(Duration::from_millis(2), || {
///     queue.push_back(1);
///     std::hint::black_box(queue.pop_front());
/// });
/// assert!(ns > 0.0);
/// ```
pub fn time_per_call(limit: Duration, mut call: impl FnMut()) -> f64 {
    /// A batch lasts long enough to read the clock without effect, and short enough to fit between interruptions.
    const BATCH: Duration = Duration::from_micros(50);
    let end = Instant::now() + limit;
    let (mut calls, mut least) = (1_u32, f64::INFINITY);
    loop {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        let took = start.elapsed();
        // A clock that is too coarse for a call shows at least a part of a nanosecond.
        least = least.min(took.as_nanos().max(1) as f64 / f64::from(calls));
        if Instant::now() >= end {
            return least;
        }
        if took < BATCH {
            calls = calls.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Pairs {
        Pairs::new(&Machine::read(&format!("thalweg-machine 1\n{text}")).unwrap())
    }

    #[test]
    fn pairs_are_of_different_cores_that_may_be_used() {
        let all = pairs("domains 2\ncores 4 units 2\ncache 3 per 2 cores\n");
        assert_eq!((all.cache, all.domain, all.across), (Some((0, 2)), Some((0, 4)), Some((0, 8))));
        let limited = pairs("domains 2\ncores 4 units 2\ncache 3 per 2 cores\nlimit cpus 3,6,7\n");
        assert_eq!((limited.cache, limited.domain, limited.across), (None, Some((3, 6)), None));
        let one_core = pairs("domains 1\ncores 1 units 2\ncache 1 per core\n");
        assert_eq!((one_core.cache, one_core.domain, one_core.across), (None, None, None));
        // Without caches a pair of one domain may share one or none.
        let unknown = pairs("domains 2\ncores 2\n");
        assert_eq!((unknown.cache, unknown.domain, unknown.across), (None, None, Some((0, 2))));
    }

    #[test]
    fn calls_are_timed_in_nanoseconds() {
        let mut calls = 0_u64;
        let ns = time_per_call(Duration::from_millis(2), || calls += std::hint::black_box(1));
        assert!(ns > 0.0 && ns < 1e6 && calls > 1, "{ns} ns, {calls} calls");
        let ns = time_per_call(Duration::ZERO, || std::thread::sleep(Duration::from_micros(300)));
        assert!(ns > 3e5, "{ns} ns");
    }
}
