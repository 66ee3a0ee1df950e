//! The workloads of *The Nornir run-time system* (Vrba et al., sections 4.5 and 5) as networks of Kahn processes, with
//! the parameters of the paper and with checked results.
//!
//! | workload | paper | measures |
//! |---|---|---|
//! | [`ping_pong`] | 4.5, the transaction | the cost of send, context switch and receive |
//! | [`ring`] | | this cost with many processes: memory and caches |
//! | [`pipeline`] | 5.3.4 | message size and work for each message |
//! | [`aes`] | 5.3.2, Figure 11 | transfer of memory to workers and back |
//! | [`h264()`] | 5.2.2 and 5.3.1, Figures 6, 7 and 10 | feedback loops through the whole network, and stages with workers |
//! | [`layered`] | 5.2.2 and 5.3.3, Figures 8 and 12 | irregular synchronisation, with cycles |
//! | [`scatter_gather`] | 5.2.1, Figure 4 | one process that wakes many |
//!
//! ```
//! use thalweg::Options;
//!
//! let job = || thalweg_kpn::scatter_gather(10, 8, |x| x * x);
//! let (result, _report) = job().run(&Options::new())?;
//! assert_eq!(result, job().expected());
//! # Ok::<(), thalweg::Error>(())
//! ```

mod aes;
mod h264;
mod job;
mod layered;
mod ping_pong;
mod pipeline;
mod ring;
mod scatter_gather;

pub use aes::{Mode, aes, encrypt};
pub use h264::{H264, Stage, h264};
pub use job::Job;
pub use layered::{Layers, layered};
pub use ping_pong::{ping_pong, ping_pong_coroutines};
pub use pipeline::{Message, pipeline};
pub use ring::{Order, ring};
pub use scatter_gather::scatter_gather;
