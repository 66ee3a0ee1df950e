//! Decisions of task graphs and parallel loops: which task a worker runs next, whom it steals from, and which
//! iterations of a loop are its own.
//!
//! All of it is plain code on plain data, like the policies of this crate: the host makes the calls atomic, draws the
//! random numbers and counts the attempts. The engine and the virtual host of `thalweg-sim` run the same code.
//!
//! | file | decision | paper |
//! |---|---|---|
//! | [`Colour`], [`ColourSet`] | a hint at the data that a task uses, and sets of these with a test in constant time | 5.4 |
//! | [`Place`] | the colours that a worker prefers, by levels from near to far | 5.4, 5.7 |
//! | [`group`], [`halves`] | morphing continuations: which half of a list of tasks a worker runs, and which it leaves to thieves | Figure 5.3 |
//! | [`offers`], [`taken_back`], [`stolen`], [`Deque`] | the owner takes its newest entry, a thief the oldest ones; when a worker offers its entries, and how many move at once | 5.2 |
//! | [`Search`] | whom a worker without work tries to steal from: coloured attempts, random ones, the forced first steal | 5.4 |
//! | [`stretch`], [`front`], [`back`], [`StealOrder`], [`Stretches`] | iterations of a loop: the own stretch, and the half that a thief takes | 6.4, 6.5.2 |
//! | [`guided`] | how many iterations a worker of a guided loop takes | 5.5 |
//!
//! The numbers are those of chapters and sections of *Locality-Aware Concurrency Platforms*.
//!
//! # A worker of a task graph
//!
//! ```text
//!   entry ──more than one task──▶ halves ──▶ the rest to the own deque, with its colours ──▶ entry
//!     └──one task──▶ run it ──▶ tasks that follow from it: group ──▶ entry
//!                       └─none─▶ the newest entry of the own deque ──▶ entry
//!                                   └─none─▶ Search::next ──▶ attempt ──▶ Search::failed ──▶ Search::next
//!                                                               └──▶ Search::stole ──▶ entry
//! ```

mod colour;
mod deque;
mod guided;
mod order;
mod place;
mod search;
mod steal_order;
mod stretches;

pub use colour::{Colour, ColourSet};
pub use deque::{Deque, Stolen, Transfer, offers, stolen, taken_back};
pub use guided::guided;
pub use order::{Halves, colours, group, halves};
pub use place::Place;
pub use search::{Attempt, Search, SearchSettings};
pub use steal_order::StealOrder;
pub use stretches::{Stretches, back, front, stretch};

/// A number below `n` from 64 random bits. `n` is not 0.
fn below(random: u64, n: usize) -> usize {
    (((random >> 32) * n as u64) >> 32) as usize
}
