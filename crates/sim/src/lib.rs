//! A host in virtual time: workers, costs and the clock are numbers.
//!
//! One thread plays all workers in order of virtual time, so a run is a function of policy, model and settings, and
//! the same seed makes the same decisions. It runs the policies of `thalweg-policy` unchanged. Only tests and
//! estimates use it.
//!
//! | file | what |
//! |---|---|
//! | `model` | the input of a run: a graph with costs and gains |
//! | `measured` | a model from a profile |
//! | `settings` | costs and sizes of the virtual machine |
//! | `sizes` | capacities and claims: those of the model and the settings, or of a plan |
//! | [`shapes`] | models of graphs that occur in tests and measurements |
//! | `world` | channels, claims, order of publication, ends of nodes |
//! | `clock` | the event heap and the run |
//! | `view` | workers, and the host that their policy sees |
//! | `waits` | how long nodes stay claimable |
//! | `report` | the result of a run |
//! | [`tasks`], [`loops`] | task graphs and parallel loops, on hosts of their own |
//! | [`caches`] | private caches of the workers, and what a schedule misses |
//! | `due` | the order of these hosts' steps |
//!
//! # What is modelled
//!
//! - A claim takes effect [`Settings::decide`] ticks after the decision, so two workers can choose the same node,
//!   and one is refused.
//! - An activation of a sequential node runs in slices and publishes each at its end, until its budget is spent or a
//!   channel is empty or full.
//! - An activation of a parallel node runs the firings it has claimed. They are published in ticket order, through a
//!   reorder window of bounded length.
//! - An idle worker calls the policy [`Settings::patience`] times, then sleeps until something is published.
//! - With heavy items ([`Model::heavy`]) workers carry their items on
//!   ([`Measurements::carries`](thalweg_policy::Measurements::carries)): an activation publishes once, and ends where the
//!   items of another worker begin. A worker that waits for the turn of its items stays awake.
//! - With [`Settings::ticket_wait`] the firings of parallel nodes wait for their tickets, and a worker whose firing must wait
//!   stalls, as in the engine with `Options::wait_for_tickets`.
//! - With [`Settings::cache`] each firing takes time for what it misses in the cache of its worker. All firings of a claim touch
//!   memory when they are claimed, one after the other.
//! - A node needs one more activation to end after its input has ended. A source ends with its last firing.
//! - A source with a thread of its own publishes its next burst when all workers sleep ([`Model::starving`]).
//!
//! # What is not
//!
//! Processes and direct handoffs, other nodes with a thread of their own, channels that grow, failures.

pub mod caches;
mod clock;
mod due;
pub mod loops;
mod measured;
mod model;
mod origins;
mod report;
mod settings;
pub mod shapes;
mod sizes;
pub mod tasks;
mod turns;
mod view;
mod waits;
mod world;

pub use clock::{run, run_planned};
pub use model::{Cost, Model, NodeModel, Ratio};
pub use report::{Failure, Report};
pub use settings::Settings;
