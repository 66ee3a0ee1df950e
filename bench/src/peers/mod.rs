//! The jobs on other systems.

pub mod bare_ring;
pub mod crossbeam;
pub mod danbi;
pub mod external;
pub mod link;
pub mod loops;
pub mod process;
pub mod rayon;
pub mod rtrb;
pub mod std_mpsc;
pub mod tasks;
pub mod timely;
pub mod tokio;
pub mod tokio_ring;
pub mod written;

/// The capacity of a channel between two stages, for all peers with channels.
pub const CAPACITY: usize = 1024;
