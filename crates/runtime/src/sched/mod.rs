//! Scheduling: workers, how nodes become ready, how threads sleep and wake.
//!
//! A change reaches a sleeping thread in three steps: the thread that made it calls [`make_ready`]; that puts a token
//! in a queue of [`ready`], where the policy is notified; [`sleep`] wakes a thread.
//!
//! | module | question it answers |
//! |---|---|
//! | [`worker`] | what does a worker do between two decisions of the policy? |
//! | [`pace`] | how long is an activation? |
//! | [`statistics`] | what does a worker measure of an activation? |
//! | [`idle`] | what does a worker do without work? |
//! | [`host`] | what can a policy ask and do? |
//! | [`width`] | how many workers does a run use? |
//! | [`carry`] | do workers wait for the turn of the items that they carry on? |
//! | [`look`] | how do results get past a long firing? |
//! | [`make_ready`] | how does a change reach the thread that acts on it? |
//! | [`ready`] | where are the nodes that wait for a worker, for policies that are notified? |
//! | [`notify`] | what does a worker report to its policy after an activation? |
//! | [`handoff`] | when does the next activation follow without a decision? |
//! | [`pass_on`] | which node does a worker leave to the others, for one that only it can run? |
//! | [`affinity`] | to which worker does a node belong, where the policy assigns nodes to workers? |
//! | [`injector`] | what does a worker do about events from outside the activations? |
//! | [`sleep`] | when does a thread sleep, and why is no wake-up lost? |
//! | [`dedicated`] | how does a node with a thread of its own run? |
//! | [`widen`] | how much room does a channel get? |
//! | [`ending`] | what follows when a node ends or fails? |

pub(crate) mod affinity;
pub(crate) mod carry;
pub(crate) mod dedicated;
pub(crate) mod ending;
pub(crate) mod handoff;
pub(crate) mod host;
mod idle;
pub(crate) mod injector;
pub(crate) mod look;
pub(crate) mod make_ready;
pub(crate) mod notify;
pub(crate) mod pace;
mod pass_on;
pub(crate) mod ready;
pub(crate) mod roaming;
pub(crate) mod sleep;
mod statistics;
pub(crate) mod widen;
pub(crate) mod width;
pub(crate) mod worker;
