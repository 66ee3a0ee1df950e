//! The same jobs in other systems.

pub mod bare_ring;
pub mod crossbeam;
pub mod external;
pub mod link;
pub mod rayon;
pub mod rtrb;
pub mod std_mpsc;
pub mod tokio;
pub mod tokio_ring;
pub mod written;

/// Items that fit into a channel between two stages, for every peer that has channels.
pub const CAPACITY: usize = 1024;
