//! The policies of the papers, for comparison with `auto`, by their names in the [registry](crate::registry).

mod names;
pub mod partition;
pub mod pools;
pub mod prs;
pub mod pss;
pub mod qes;
pub mod random_stealing;
pub mod static_plan;
mod walk;

pub(crate) use names::{partition, pools, prs, pss, qes, random, static_execution, ws_cur, ws_last};
pub use partition::Partition;
pub use pools::Pools;
pub use prs::Prs;
pub use pss::Pss;
pub use qes::Qes;
pub use random_stealing::RandomStealing;
pub use static_plan::Static;
