//! The options of a run.

use super::planned::{Cause, Chooser};
use super::{EmbedOptions, Handle};
use crate::build::Tokens;
use crate::error::Error;
use crate::measure::cpu_time;
use crate::measure::dilation::MIN_LOAD;
use crate::threads::{Panic, StackSize};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;
use thalweg_graph::{GraphData, Kind};
use thalweg_machine::{Machine, Places};
use thalweg_plan::{MOST_THREADS, POOLS, Plan, Wishes};
use thalweg_policy::Policy;
use thalweg_policy::registry::{Unknown, Visit, dispatch};

/// The options of a run. The plan chooses values for those that are not set.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    pub(super) threads: Option<usize>,
    pub(super) machine: Option<Arc<Machine>>,
    pub(super) policy: Option<String>,
    pub(super) pools: Option<usize>,
    pub(super) budget: Option<usize>,
    pub(super) capacity: Option<usize>,
    pub(super) firings_per_thread: Option<f64>,
    pub(super) run: Option<usize>,
    pub(super) tokens: Option<usize>,
    pub(super) seed: u64,
    pub(super) deadline: Option<Duration>,
    pub(super) counted: bool,
    pub(super) unaccounted: bool,
    pub(super) pins: Option<Pins>,
    pub(super) thread_per_node: bool,
    pub(super) keeps_sources: bool,
    pub(super) closes_loops: bool,
    pub(super) timeline: usize,
    pub(super) domains: Option<Arc<[usize]>>,
    pub(super) plan: Option<Arc<Plan>>,
    pub(super) plan_with: Option<Chooser>,
    pub(super) on_start: OnStart,
    pub(super) thread_stack: Option<usize>,
    pub(super) dilation: Option<u32>,
    pub(super) ticket_waits: bool,
}

impl Options {
    /// Options of which none is set.
    pub fn new() -> Options {
        Options::default()
    }

    /// The number of workers; by default the number of cores that this process may use. Nodes that block have threads
    /// of their own besides, or [an additional worker](crate::Kernel::blocking).
    ///
    /// It is the upper bound: under the policy `auto` a run tries from time to time whether fewer workers move as many items,
    /// and lets the others sleep if so. [`Report::notes`](thalweg_trace::Report::notes) then has the number and the latest
    /// trial. All workers are used under any other policy and with a [plan](Options::plan) of the caller, in a graph with a node
    /// that has a stack, and in runs that are [`repeatable`](Options::repeatable) or [`untimed`](Options::untimed).
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = Some(threads);
        self
    }

    /// Plans the run for this machine, which need not be the one that executes it: with as many workers as it
    /// [has threads](Machine::threads), unless [`threads`](Self::threads) is set, and with claims and messages that fit into
    /// its first-level caches. The results are the same.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let planned = Machine::read("thalweg-machine 1\ndomains 8\ncores 10\ncache 1 size 64 KiB per core\n")?;
    /// let graph = Graph::new();
    /// graph.source(0..10u64).par_map(|n| n * n).for_each(|_| ());
    /// let network = graph.build()?;
    /// let prepared = network.prepare(&Options::new().machine(planned))?;
    /// assert_eq!(prepared.plan().threads(), 80);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn machine(mut self, machine: impl Into<Arc<Machine>>) -> Self {
        self.machine = Some(machine.into());
        self
    }

    /// Scheduling policy: a name with settings (`"prs:C=1000"`, see [`thalweg_policy::registry::names`]), or
    /// a policy of this crate (`Prs::new(1000)`), which prints as its name. For a policy of your own
    /// see [`Graph::run_under`](crate::Graph::run_under).
    pub fn policy(mut self, policy: impl std::fmt::Display) -> Self {
        self.policy = Some(policy.to_string());
        self
    }

    /// Gives each parallel node `workers` workers of its own and each other node one, none of which runs another node: the policy
    /// [`pools`](thalweg_policy::registry::names). So the graph decides the number of workers, which may be more than the
    /// cores. A parallel node gets at most as many as its [own limit](crate::Kernel::workers), and a node with a thread of its own none.
    ///
    /// `policy("pools")` without this option divides the [`threads`](Self::threads): a parallel node gets an equal part of those
    /// that one worker for each other node leaves, and at least one.
    ///
    /// # Errors
    /// The run is refused with [`Error::Options`] for 0 workers, more than `thalweg_plan::MOST_THREADS` (4096), another
    /// [`policy`](Self::policy), or a number of [`threads`](Self::threads); with [`Error::Plan`] if all nodes together need more than
    /// 4096.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let graph = Graph::new();
    /// let sum = graph.source(0..100u64).par_map(|n| n * n).fold(0, |sum, n| sum + n);
    /// let (sum, report) = sum.run_with(&Options::new().pools(3))?.into_parts();
    /// // A worker of the source, three of the map, one of the sum.
    /// assert_eq!((sum, report.threads()), (328_350, 5));
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn pools(mut self, workers: usize) -> Self {
        self.pools = Some(workers);
        self
    }

    /// The maximum number of bytes that channels take: slots, weights of [weighed](crate::Stream::weigh) items, and growth. A
    /// parallel node may exceed it by one firing of each worker. Without a budget all weighed channels together hold at most
    /// 64 MiB, and more only where the graph cannot go on without. Then channels grow while all of them take at most 1 GiB
    /// (16 MiB into a loop that starves).
    pub fn budget(mut self, bytes: usize) -> Self {
        self.budget = Some(bytes);
        self
    }

    /// Follows this plan: that of an earlier run ([`Prepared::plan`](crate::Prepared::plan)), printed, edited and read
    /// back ([`Plan::read`]), or one made from a profile ([`Plan::with_profile`]). A second call replaces the plan.
    ///
    /// The plan decides what [`threads`](Self::threads), [`machine`](Self::machine), [`policy`](Self::policy),
    /// [`budget`](Self::budget), [`capacity`](Self::capacity), [`claim_length`](Self::claim_length) and
    /// [`thread_per_node`](Self::thread_per_node) wish, so none of these may be set too. A plan that does not fit the graph is
    /// [`Error::Plan`] when the run is prepared.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    /// # use thalweg_plan::Plan;
    ///
    /// let graph = Graph::new();
    /// let sum = graph.source(1..=4u64).fold(0, |sum, n| sum + n);
    /// let network = graph.build()?;
    /// let (data, text) = (network.graph().clone(), "# edited\n");
    /// let prepared = network.prepare(&Options::new().threads(2))?;
    /// let text = format!("{text}{}", prepared.plan().on(&data)).replace("threads 2", "threads 1");
    ///
    /// let plan = Plan::read(&text, &data).expect("the edited plan fits");
    /// let again = Graph::new();
    /// let sum = again.source(1..=4u64).fold(0, |sum, n| sum + n);
    /// let (sum, report) = sum.run_with(&Options::new().plan(plan))?.into_parts();
    /// assert_eq!((sum, report.threads()), (10, 1));
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn plan(mut self, plan: Plan) -> Self {
        self.plan = Some(Arc::new(plan));
        self
    }

    /// Calls `choose` when a run is prepared, with the graph and the plan that the engine has made from the other
    /// options. The run follows the plan that `choose` returns, if that fits the graph. So a program can print, edit or
    /// replace a plan before it has seen the graph, and wishes that a library has set give way. [`Options::plan`] is
    /// the simple case; only one of both may be set.
    ///
    /// A second call adds a function, which gets the plan that the first one returned.
    ///
    /// An error that `choose` returns is [`Error::Plan`] of the run, and ends it before the next function is called.
    pub fn plan_with(
        mut self,
        choose: impl Fn(&GraphData, Plan) -> Result<Plan, Cause> + Send + Sync + 'static,
    ) -> Self {
        self.plan_with = Some(Chooser::new(choose).after(self.plan_with));
        self
    }

    /// The number of items that each channel without a capacity of its own can hold. By default the plan chooses it. A
    /// channel next to a [blocking](crate::Stream::blocking) node or an [`Outlet`](crate::Outlet) then widens while
    /// half of it lasts less than about a millisecond, up to 16 times its capacity and 1 MiB. A channel of items that own
    /// memory, as `String` and `Vec` do, begins with room for a few of them, and widens to the items that the slower of its
    /// two ends takes a millisecond for.
    pub fn capacity(mut self, items: usize) -> Self {
        self.capacity = Some(items);
        self
    }

    /// The capacity of each channel without one of its own, by its rates: `factor` times max(P, C) T items, where a firing of
    /// its producer pushes P items, one of its consumer pops C, and the run has T workers; at least what one firing needs.
    /// A dynamic rate counts as one item. By default the plan sizes channels by claims of many firings.
    ///
    /// It is the rule of the DANBI paper (section IV-A), which tries the factors 1/3, 2/3, 1, 2 and 3 (Figure 7). No channel
    /// widens then. Results do not depend on it.
    ///
    /// # Errors
    /// [`Error::Options`] when the run is prepared, if `factor` is not above 0 or not finite, or a
    /// [`capacity`](Self::capacity) is set too.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options, output};
    ///
    /// let graph = Graph::new();
    /// let pairs = graph.source(0..100).kernel("pair", output("out").push(2)).parallel(|items, out| {
    ///     let item = items.pop();
    ///     out.extend([item, -item]);
    /// });
    /// let options = Options::new().threads(4).firings_per_thread(3.0);
    /// let (sum, report) = pairs.fold(0, |sum, item| sum + item).run_with(&options)?.into_parts();
    /// assert_eq!(sum, 0);
    /// assert_eq!(report.plan().map(|plan| plan.capacities()), Some(&[12, 24][..]));
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn firings_per_thread(mut self, factor: f64) -> Self {
        self.firings_per_thread = Some(factor);
        self
    }

    /// The maximum number of firings of a claim.
    pub fn claim_length(mut self, firings: usize) -> Self {
        self.run = Some(firings);
        self
    }

    /// The maximum number of items in flight between the graph's source and its sink: of the items that the source has
    /// pushed and that have entered the nodes behind it, at most `items` still have descendants there. An item enters when
    /// it has a token, and the token is free again when the last item that the sink gets of it leaves for the sink. (These
    /// are the *ntokens* of a pipeline of TBB, by which the paper bounds memory and contention: section 2.3; section 3.3
    /// models their effect on throughput, for which 3 to 5 for each thread sufficed.) By default the capacities of channels
    /// are the only limit. Results do not depend on it. The facade has it with the feature `tokens`.
    ///
    /// The run has two nodes more, `in_flight.entry` behind the source and `in_flight` before the sink, as
    /// [`Stream::in_flight`](crate::Stream::in_flight) of all nodes between them has, with the same counting, and with the same
    /// growth of the limit where one firing needs more items. The plan, its fingerprint and the report show them. So a plan
    /// of a run with tokens fits runs with tokens, and decides their number ([`Options::plan`]). The channels between source and
    /// entry and between exit and sink hold at most `items` items each, or what one firing needs.
    ///
    /// # Errors
    /// [`Error::Options`] when the run is prepared:
    ///
    /// - `items` is 0;
    /// - the graph has several sources or sinks, or none; its source has several outputs, or its sink several inputs;
    /// - a port between source and sink has a dynamic rate with which
    ///   [`Stream::in_flight`](crate::Stream::in_flight) cannot count: the message names it.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let graph = Graph::new();
    /// let words = graph.source(["to be or", "not to be"]).par_flat_map(|line| line.split(' ')).collect();
    /// let (words, report) = words.run_with(&Options::new().threads(2).tokens(4))?.into_parts();
    /// assert_eq!(words, ["to", "be", "or", "not", "to", "be"]);
    /// let names: Vec<&str> = report.graph().nodes().iter().map(|node| node.name()).collect();
    /// assert_eq!(names, ["source", "par_flat_map", "collect", "in_flight.entry", "in_flight"]);
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    #[cfg(feature = "tokens")]
    pub fn tokens(mut self, items: usize) -> Self {
        self.tokens = Some(items);
        self
    }

    /// Makes the firings of ordered parallel kernels wait for their tickets, as the runtime of the DANBI paper (sections II and
    /// III-A2) does: for experiments with its policies. Results do not depend on it. By default no worker waits: it leaves a
    /// result that cannot be published yet, and goes on.
    ///
    /// A ticket is then one firing. It is computed without a look at the room of its outputs. Then, at one output after the
    /// other, it waits until all earlier firings have passed, and for room. While it is not its turn the worker
    /// takes another computed firing of the kernel, the oldest one; if there is none it *stalls*, and begins no other firing
    /// meanwhile. If the output is full the firing is suspended, and the worker goes to the consumer if its policy says so. So up to
    /// a window of firings are computed and not published, beside what the channels hold; a [`budget`](Self::budget) counts
    /// their bytes. The report has the [stall](thalweg_trace::WorkerReport::stall) of each worker and the numbers of
    /// [waits and suspended firings](thalweg_trace::Report::tickets), and the policy `prs` counts these waits.
    ///
    /// Kernels that are [unordered](crate::Kernel::unordered), and [`par_flat_map`](crate::Stream::par_flat_map), whose firings
    /// have any number of items, do not wait. Where the paper's kernels may reserve room after they have computed a part, a
    /// firing here computes all of its items first.
    ///
    /// # Errors
    /// [`Error::Options`] when the run is prepared, with [`thread_per_node`](Self::thread_per_node): a kernel with one thread has
    /// one firing at a time, and nothing to wait for.
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let graph = Graph::new();
    /// let squares = graph.source(0..100u64).par_map(|n| n * n).collect();
    /// let options = Options::new().threads(2).policy("prs").wait_for_tickets();
    /// let (squares, report) = squares.run_with(&options)?.into_parts();
    /// assert!(squares.into_iter().eq((0..100).map(|n| n * n)));
    /// assert!(report.tickets().is_some());
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn wait_for_tickets(mut self) -> Self {
        self.ticket_waits = true;
        self
    }

    /// The seed of the policies' random choices. The result of the run does not depend on it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Makes the run fail with [`Error::Deadline`] when it takes longer. Firings are not interrupted.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }

    /// Makes activations end by their number of firings and never by the clock, so that a run with one worker can be
    /// repeated exactly. Channels of items that own memory do not widen by time either: they begin with all their slots
    /// ([`Options::capacity`]).
    pub fn repeatable(mut self) -> Self {
        self.counted = true;
        self
    }

    /// Reads no clock during the run: the report's times are zero, and activations end by their number of firings
    /// ([`Options::repeatable`]). For measuring the cost of accounting. (A deadline and the policy `partition` need the
    /// clock, and override this.)
    pub fn untimed(mut self) -> Self {
        self.unaccounted = true;
        self.counted = true;
        self
    }

    /// Records what each thread does, and when: the latest `events` of each thread, which take 32 bytes each. The
    /// timeline is in the report ([`Report::timeline`](thalweg_trace::Report::timeline)). 0 records nothing, as by
    /// default. The facade has it with the feature `timeline`.
    #[cfg(feature = "timeline")]
    pub fn timeline(mut self, events: usize) -> Self {
        self.timeline = events;
        self
    }

    /// Describes the memory domain of each worker, by the worker's number; a worker that the list does not have is in a
    /// domain of its own. Task graphs in firings, unless their options describe domains themselves, then prefer tasks of
    /// their member's domain, and count their accesses to remote memory for the report
    /// ([`NodeReport::jobs`](thalweg_trace::NodeReport::jobs)). The domains of a machine, this one or another, are those of
    /// `machine::Places::domains`. Places no thread.
    pub fn domains(mut self, domains: impl IntoIterator<Item = usize>) -> Self {
        self.domains = Some(domains.into_iter().collect());
        self
    }

    /// Runs each process and sequential kernel on a thread of its own, scheduled by the operating
    /// system: Nornir's 1:1 model (section 4.1), for comparison. Parallel kernels share the
    /// workers.
    pub fn thread_per_node(mut self) -> Self {
        self.thread_per_node = true;
        self
    }

    /// Ends a loop that starves, and discards the present and future items of its inputs from outside, where the
    /// run would otherwise fail with [`Error::Deadlock`]: for loops whose nodes drop items on purpose. A loop without an
    /// input from outside ends too if items are left in it or a process waits in it. Items that are left in a loop are
    /// counted in the report ([`ChannelReport::leftover`](thalweg_trace::ChannelReport::leftover)).
    ///
    /// Without this option a loop ends if its inputs from outside have ended and hold less than a firing needs; and one
    /// without such inputs if it consists of kernels, all of which wait for items, and all its channels are empty.
    ///
    /// The loop ends when no node can make progress, even if full channels grow within the budget. So the same items
    /// are discarded at any thread count and capacity, and the loop does not end while an endless source that does not
    /// feed it runs.
    pub fn close_starved_loops(mut self) -> Self {
        self.closes_loops = true;
        self
    }

    /// Pins each worker to one of the cores that the calling thread may use, if the system
    /// supports it. For dedicated machines: a pinned worker waits while another program uses its
    /// core. With more workers than cores no worker is pinned.
    pub fn pinned(mut self) -> Self {
        self.pins = Some(Pins::AnyCore);
        self
    }

    /// Pins worker `m` to the unit of thread `m` of these places, which are to be of this machine (`Machine::here`), and
    /// describes the workers' [`domains`](Self::domains) by them. Runs as many workers as there are places, unless
    /// [`threads`](Self::threads) is set; with more no worker is pinned. A worker whose unit the system does not have, or does
    /// not let the thread use, is not pinned.
    ///
    /// ```
    /// use thalweg_machine::Machine;
    /// use thalweg_runtime::{Options, in_team, team_domains, team_size};
    ///
    /// let here = Machine::here();
    /// let places = here.places(here.threads());
    /// let team = in_team(&Options::new().pinned_at(&places), || (team_size(), team_domains()))?;
    /// assert_eq!(team, (here.threads(), Some(places.domains().into())));
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn pinned_at(mut self, places: &Places) -> Self {
        self.pins = Some(Pins::At(places.cpus().into()));
        self.threads = self.threads.or(Some(places.threads()));
        self.domains(places.domains().iter().copied())
    }

    /// The minimum stack size of the run's threads, in bytes: for functions that recurse deeply. By default a thread
    /// has a stack of 2 MiB, or what the environment variable `RUST_MIN_STACK` says, and an overflow ends the program. Only
    /// pages that are touched take memory. A run that cannot start such threads fails with [`Error::Thread`].
    ///
    /// The calling thread takes part in a run with the stack that it has; with [`Stream::start`](crate::Stream::start) and
    /// in adaptors all threads are the engine's. Loops, `join` and task graphs in a firing are executed by the run's
    /// threads; for those outside of runs use [`in_team`](crate::in_team). The stack of a coroutine is its own
    /// ([`Kernel::stack`](crate::Kernel::stack)).
    ///
    /// ```
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// fn depth(n: u64) -> u64 {
    ///     let frame = std::hint::black_box([n; 100]);
    ///     if n == 0 { 0 } else { depth(n - 1) + frame[99] / n }
    /// }
    /// let options = Options::new().thread_stack(64 << 20);
    /// let mut depths = Graph::new().source([20_000u64; 3]).par_map(depth).start_with(&options)?;
    /// assert_eq!(depths.next(), Some(20_000)); // 16 MB of frames
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn thread_stack(mut self, bytes: usize) -> Self {
        self.thread_stack = Some(bytes);
        self
    }

    /// Calls a function with the run's handle when all nodes and channels are made and before the first firing, on the
    /// thread that runs the graph: to observe ([`Handle::snapshot`]) or stop a run that is started elsewhere. The run
    /// begins when the function returns. If it panics, no node fires, and the panic continues in the caller of the run.
    /// A second call adds a function, which is called after the first.
    pub fn on_start(mut self, call: impl Fn(&Handle) + Send + Sync + 'static) -> Self {
        self.on_start = self.on_start.then(call);
        self
    }

    /// Makes each claim of a kernel last `scale` times the processor time of its firings: they compute, and then the thread
    /// sleeps before other nodes get their items. So two cores run the schedule of 40 workers, with the program's own
    /// results, variance and branches, `scale` times slower. Claims are as long as without the option.
    ///
    /// What the engine does between firings is not dilated, so such runs do not show what channels, the scheduler and
    /// contention cost. The [report](thalweg_trace::Report::dilation) says that its times are dilated. `scale` is best large
    /// enough that a claim lasts for a millisecond or more; the report's notes say if many did not. Not dilated are
    /// the iterations of parallel loops and the nodes of task graphs inside a firing, framing and weight functions, and functions
    /// that a node calls at the end of its input.
    ///
    /// # Errors
    /// [`Error::Options`] when the run is prepared: `scale` is less than 2, or less than 4 times the workers of each core, since
    /// they would wait for cores instead of sleeping, where nodes with threads of their own count as workers; the graph has a
    /// process, whose messages leave while it computes; the system does not know the processor time of a thread (Windows does
    /// not); or the run reads no clock
    /// ([`repeatable`](Self::repeatable), [`untimed`](Self::untimed)).
    ///
    /// ```
    /// use std::time::Duration;
    /// use thalweg_runtime::{Graph, Options};
    ///
    /// let graph = Graph::new();
    /// let sum = graph.source(0..2000u64).par_map(|n| (0..n).fold(n, |a, b| a ^ b.wrapping_mul(a))).fold(0, |a, b| a ^ b);
    /// let (_, report) = sum.run_with(&Options::new().threads(8).dilate(100))?.into_parts();
    /// assert_eq!(report.dilation(), Some(100));
    /// # Ok::<(), thalweg_runtime::Error>(())
    /// ```
    pub fn dilate(mut self, scale: u32) -> Self {
        self.dilation = Some(scale);
        self
    }

    /// Refuses a scale of time with which this graph would not keep its schedule.
    pub(super) fn check_dilation(&self, graph: &GraphData, threads: usize) -> Result<(), Error> {
        let Some(scale) = self.dilation else { return Ok(()) };
        let refused = |why: String| Err(Error::Options(format!("time dilated {scale} times: {why}")));
        if !cpu_time::IS_KNOWN {
            return refused("this system does not know the processor time of a thread".to_owned());
        }
        if self.counted || self.unaccounted {
            return refused(
                "the run is to read no clock\nhelp: leave out `repeatable` and `untimed`".to_owned(),
            );
        }
        let cores = thalweg_plan::threads();
        let least = (MIN_LOAD * threads).div_ceil(cores).max(2);
        if (scale as usize) < least {
            return refused(format!(
                "at least {least} is needed for {threads} threads on {cores} cores, so that they sleep and do not wait for cores"
            ));
        }
        match graph.nodes().iter().find(|node| node.kind() == Kind::Process) {
            Some(process) => refused(format!(
                "`{}` is a process, whose messages leave while it computes\nhelp: dilate graphs of kernels",
                process.name()
            )),
            None => Ok(()),
        }
    }

    /// Refuses waits for tickets where no firing would wait.
    pub(super) fn check_tickets(&self) -> Result<(), Error> {
        if self.ticket_waits && self.thread_per_node {
            return Err(Error::Options(
                "`Options::wait_for_tickets` and `Options::thread_per_node` are both set, and a kernel with one thread has nothing \
                 to wait for\nhelp: leave out one of them"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Refuses a plan together with an option that it decides.
    pub(super) fn check_plan(&self) -> Result<(), Error> {
        if self.plan.is_none() {
            return Ok(());
        }
        let wishes = [
            ("plan_with", self.plan_with.is_some()),
            ("threads", self.threads.is_some()),
            ("machine", self.machine.is_some()),
            ("policy", self.policy.is_some()),
            ("pools", self.pools.is_some()),
            ("budget", self.budget.is_some()),
            ("capacity", self.capacity.is_some()),
            ("firings_per_thread", self.firings_per_thread.is_some()),
            ("claim_length", self.run.is_some()),
            ("thread_per_node", self.thread_per_node),
        ];
        match wishes.iter().find(|(_, set)| *set) {
            Some((wish, _)) => Err(Error::Options(format!(
                "`Options::plan` and `Options::{wish}` are both set, and the plan decides both\n\
                 help: leave out `{wish}`, and edit the plan instead"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses a share of room that is no positive number, or stands beside a capacity.
    pub(super) fn check_room(&self) -> Result<(), Error> {
        let Some(factor) = self.firings_per_thread else { return Ok(()) };
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(Error::Options(format!(
                "{factor} firings for each thread: a number above 0 is needed\nhelp: leave it out for the plan's capacities"
            )));
        }
        if self.capacity.is_some() {
            return Err(Error::Options(
                "`Options::firings_per_thread` and `Options::capacity` are both set\nhelp: leave out one of them"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Refuses a number of workers for parallel nodes together with what it decides.
    pub(super) fn check_pools(&self) -> Result<(), Error> {
        let Some(workers) = self.pools else { return Ok(()) };
        let refused = |why: String| Err(Error::Options(why));
        if workers > MOST_THREADS {
            return refused(format!("{workers} workers for each parallel node: at most {MOST_THREADS}"));
        }
        if self.policy.as_deref().is_some_and(|policy| policy != POOLS) {
            return refused(format!(
                "`Options::pools` and policy `{}` are both set\nhelp: leave out the policy: `pools` is one",
                self.policy.as_deref().unwrap_or_default()
            ));
        }
        if self.threads.is_some() {
            return refused(
                "`Options::pools` and `Options::threads` are both set, and the graph decides the number of threads\n\
                 help: leave out `threads`, or set policy `pools` in place of `Options::pools`"
                    .to_owned(),
            );
        }
        // Known unless the crate is built without the policies of the papers.
        policy(POOLS).map_err(|unknown| Error::Options(unknown.to_string()))
    }

    /// Whether the engine chooses how many of the workers a run uses: it has a clock, and the caller has not given a plan.
    pub(crate) fn adapts_width(&self) -> bool {
        !self.counted && !self.unaccounted && !self.chooses_plan() && self.dilation.is_none()
    }

    /// Whether workers may fire blocking sources: no option says on which threads nodes run.
    pub(crate) fn lets_sources_roam(&self) -> bool {
        let asks = self.thread_per_node
            || self.pins.is_some()
            || self.thread_stack.is_some()
            || self.keeps_sources
            || !self.adapts_width();
        !asks
    }

    /// The limit on items in flight.
    pub(super) fn limit(&self) -> Option<Tokens> {
        self.tokens.map(|most| Tokens { most, capacity: self.capacity })
    }

    /// The minimum stack size of the run's threads.
    pub(super) fn stack_size(&self) -> StackSize {
        self.thread_stack.map_or(StackSize::default(), StackSize::at_least)
    }

    /// The wishes of a run in which `keepers` nodes share a part of the budget.
    pub(super) fn wishes(&self, keepers: usize) -> Wishes {
        Wishes::default()
            .threads(self.workers())
            .maybe(self.machine.clone(), Wishes::machine)
            .maybe(self.policy.clone().or_else(|| self.pools.map(|_| POOLS.to_owned())), Wishes::policy)
            .maybe(self.pools, Wishes::pools)
            .maybe(self.budget, Wishes::budget)
            .maybe(self.capacity, Wishes::capacity)
            .maybe(self.firings_per_thread, Wishes::firings_per_thread)
            .maybe(self.run, Wishes::claim_length)
            .thread_per_node(self.thread_per_node)
            .repeatable(self.counted)
            .keepers(keepers)
    }
}

/// What the workers are pinned to.
#[derive(Clone, Debug)]
pub(super) enum Pins {
    /// A core each, of those that the calling thread may use.
    AnyCore,
    /// By worker: a CPU, by the number that the system has for it.
    At(Arc<[u32]>),
}

/// Checks that a policy of this name exists.
pub(super) fn policy(name: &str) -> Result<(), Unknown> {
    dispatch(name, Known)
}

type StartFn = dyn Fn(&Handle) + Send + Sync;

/// The function of [`Options::on_start`].
#[derive(Clone, Default)]
pub(super) struct OnStart(Option<Arc<StartFn>>);

// Options have these traits whatever they call: a run resumes the panic of the function, and uses it no more.
impl UnwindSafe for OnStart {}
impl RefUnwindSafe for OnStart {}

impl std::fmt::Debug for OnStart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Some(..)" } else { "None" })
    }
}

impl OnStart {
    pub(super) fn is_set(&self) -> bool {
        self.0.is_some()
    }

    fn then(self, second: impl Fn(&Handle) + Send + Sync + 'static) -> OnStart {
        OnStart(Some(match self.0 {
            Some(first) => Arc::new(move |run: &Handle| {
                first(run);
                second(run);
            }),
            None => Arc::new(second),
        }))
    }

    /// Calls the function, if there is one. The error is its panic.
    pub(super) fn call(&self, run: &Handle) -> Result<(), Panic> {
        self.0.as_ref().map_or(Ok(()), |call| catch_unwind(AssertUnwindSafe(|| call(run))))
    }
}

/// Visits the policy of a name only to check that the name is known.
struct Known;

impl Visit for Known {
    type Out = ();

    fn visit<P: Policy>(self, _policy: &P) {}
}
