//! Why a run never hangs: searches for cycles of waiting nodes, growth of full channels, the end of loops, and the
//! cancellation of nodes whose results nothing can read.
//!
//! | module | question it answers |
//! |---|---|
//! | [`waits`] | which node waits for which? |
//! | [`quiesce`] | what can go on when all threads are about to sleep? |
//! | [`search`], [`state`], [`suspects`] | which cycle waits while the rest of the graph runs? |
//! | [`growth`] | which channel grows, and is there budget for it? |
//! | [`starve`] | does a cycle without a full channel end, or is it a deadlock? |
//! | [`dead`], [`live`] | from which nodes can no live end of the graph be reached any more? |

pub(crate) mod dead;
pub(crate) mod growth;
pub(crate) mod live;
pub(crate) mod quiesce;
pub(crate) mod search;
pub(crate) mod starve;
pub(crate) mod state;
pub(crate) mod suspects;
pub(crate) mod waits;
