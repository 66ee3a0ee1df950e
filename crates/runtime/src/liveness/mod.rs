//! Why a run never hangs: the engine finds cycles of waiting nodes, grows full channels, ends loops, and cancels nodes
//! whose results nothing can read.
//!
//! | module | question it answers |
//! |---|---|
//! | [`waits`] | which node waits for which? |
//! | [`quiesce`] | which node can be made claimable when all threads are about to sleep? |
//! | [`search`], [`state`], [`suspects`] | which cycle waits while other nodes of the graph run? |
//! | [`growth`] | which channel grows, and is there budget for it? |
//! | [`starve`] | does a cycle without a full channel end, or is it a deadlock? |
//! | [`dead`], [`live`] | from which nodes can no live end of the graph be reached any more? |
//!
//! Two threads may judge a cycle: the last thread awake, which has the whole graph to itself (`quiesce`), and a thread
//! that holds the claims of all its nodes (`search`). Both read the wait-for graph (`waits`), and open a cycle by the
//! same functions (`growth`).

pub(crate) mod dead;
pub(crate) mod growth;
pub(crate) mod live;
pub(crate) mod quiesce;
pub(crate) mod search;
pub(crate) mod starve;
pub(crate) mod state;
pub(crate) mod suspects;
pub(crate) mod waits;
