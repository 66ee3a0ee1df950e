//! Which node a worker activates next: pure decision code, one file per policy.
//!
//! A policy decides and never acts. It has no threads, clocks, atomics or unsafe code: it reads the state of the run
//! through a [`Host`] and returns a [`Decision`]. The engine is one host; the simulator, which runs the same policies
//! in virtual time, is another.
//!
//! # Calls
//!
//! The host calls [`Policy::start`] for each worker, in order of their numbers and before anything else. Then each
//! worker repeats:
//!
//! ```text
//!   next ──▶ Activate(n) ──▶ activation of n ──▶ handoffs(0) ──▶ ready(m), ready(n) ──▶ next
//!     └────▶ Idle ──▶ the host looks for a claimable node for a while, then parks ──▶ next
//! ```
//!
//! [`Policy::next`] may name any node. Where another worker holds the node, the activation ends at once with
//! [`Event::Refused`], and the host calls `next` again. [`Policy::ready`] is called only where the policy has
//! notifications ([`Needs`]); [`Policy::handoffs`] matters only there, and to processes.
//!
//! # Tokens
//!
//! A policy that scans finds work with [`Host::claimable`], and the host keeps no tokens for it. Scanning does not
//! scale to a million processes; with notifications the host instead passes every node that becomes claimable to the
//! policy, as a *token*: the right to activate the node once. A sequential node or a process has at most one token, a
//! parallel node at most one for each worker. A token is in one of these states:
//!
//! | state | entered by | left by |
//! |---|---|---|
//! | in the hand of a worker | [`Policy::ready`], [`Host::pop`], [`Host::steal`] | [`Host::push`], [`Decision::Activate`] |
//! | in a queue | [`Host::push`]; the host, for a node that became claimable outside of all activations | [`Host::pop`], [`Host::steal`] |
//! | with an activation | [`Decision::Activate`] | the end of the activation, which destroys the token |
//!
//! The hand of a worker is its [`Policy::Local`], or any other state of the policy. At the start every claimable node
//! has one token, in the hand of the policy: the calls of [`Policy::start`] must together find each of these nodes
//! once, by [`Host::claimable`], and push or keep it.
//!
//! When an activation has ended, the host destroys its token. Then it makes a token for each node that the
//! activation left claimable and that has fewer than its maximum, first for neighbours and last for the node
//! itself, and calls [`Policy::ready`] with each. Where several workers see at once that a node has become
//! claimable, one of them makes the token. The host never searches for a lost token, so a policy must neither drop
//! nor duplicate one.
//!
//! # Liveness
//!
//! Law: while some node is claimable and no other worker acts, a worker that calls `next` again after every
//! [`Decision::Idle`] must, after a bounded number of calls, get [`Decision::Activate`] of a claimable node. Where
//! nodes have affinity, the law binds the worker that the node belongs to, and where the plan assigns them the workers of the node.
//!
//! The policies of this crate keep a stricter law, so that a worker may park after any `Idle`: they return `Idle`
//! only after they have examined everything that the worker could take, and found nothing. A scanning policy
//! examines every node (`random`: every token that is not with an activation of another worker), a policy with
//! notifications every queue, one with affinity the worker's own queue, and one that the plan assigns nodes for the nodes of the worker. One exception: where workers carry items
//! on ([`Measurements::carries`]), `auto` returns `Idle` at most [`auto::MAX_WAITS`] times in a row although nodes are
//! claimable. There the host calls `next` again as long as some node is claimable, and lets no worker park before.
//!
//! # Policies
//!
//! | file | policy | fair |
//! |---|---|---|
//! | [`random_stealing`] | DANBI's baseline: work stealing that ignores the graph | yes |
//! | [`qes`] | queue events choose the producer or the consumer (section III-A2) | no |
//! | [`pss`] | `qes`, and fill levels before a queue is empty or full, with probabilities (III-A3) | no |
//! | [`prs`] | `pss`, and random nodes after long waits (III-A4) | no |
//! | [`work_stealing`] | Nornir's WS-CUR and WS-LAST: notified of ready nodes, steals the oldest | yes |
//! | [`partition`] | Nornir's graph partitioning: affinity by load and traffic, no stealing | yes |
//! | [`pools`] | a pool of workers for each node, and no stealing: the stages of queueing models | yes |
//! | [`static_plan`] | the segments that a mapper has given each worker, with or without help for others (sections 3.2 and 4.2.3 of the thesis that it cites) | yes |
//! | [`auto`] | ours: data-flow order with hysteresis; the default | yes |
//!
//! A policy is *fair* if it activates a node that stays claimable within a number of decisions that is bounded by the
//! size of the graph and the number of workers.
//!
//! All but `auto` are there with the feature `papers`, which is on by default. A program without it has one instance of the
//! engine's loop instead of ten.
//!
//! To add a policy, write one file and add one line to [`registry`].
//!
//! # Task graphs and loops
//!
//! What a worker runs and steals inside task graphs and parallel loops is decided in [`tasks`], apart from the policies
//! above.

pub mod auto;
mod host;
mod needs;
mod order;
#[cfg(feature = "papers")]
mod papers;
mod patience;
mod pick;
mod policy;
pub mod random;
mod readiness;
pub mod record;
pub mod registry;
pub mod tasks;
pub mod width;
pub mod work_stealing;

#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod graphs;
#[cfg(test)]
mod mock;

pub use auto::Auto;
pub use host::{End, Host, Measurements, Occupancy, Shared, WorkerId, dealt};
pub use needs::Needs;
#[cfg(feature = "papers")]
pub use papers::{
    Partition, Pools, Prs, Pss, Qes, RandomStealing, Static, partition, pools, prs, pss, qes,
    random_stealing, static_plan,
};
pub use policy::{Decision, Event, Policy};
pub use record::Recorded;
pub use work_stealing::WorkStealing;
