//! Parallel loops on this engine and on other systems.
//!
//! All contestants call the same functions in C for their iterations (`bench/peers/loops/kernels.c`), and so do the
//! programs of OpenMP and oneTBB, which are processes of their own ([`super::external`]). `bench/peers/loops/job.h`
//! defines the same jobs for these programs, and must change together with [`LoopJob`].
//!
//! | file | what |
//! |---|---|
//! | `executor` | what executes a loop: this engine, rayon, the calling thread alone |
//! | `grid` | cells with a border |
//! | `job` | the jobs, and the perfect split of each |
//! | `kernels` | the functions in C |
//! | `library` | loops of OpenMP and oneTBB in this process, for iterations that are not in C |
//! | `tasks` | the jobs over grids as graphs of tasks |

mod executor;
mod grid;
mod job;
mod kernels;
mod library;
mod tasks;

pub use executor::{Alone, Executor, Ours, Rayon, RayonByOne};
pub use job::{LoopJob, Shape};
pub use library::Library;
pub use tasks::{ITERATIONS, Tasks};
