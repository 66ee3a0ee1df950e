//! Local alignment of sequences (Smith-Waterman): scores and alignments of all queries with all targets.
//!
//! ```text
//!            columns: query ─▶
//!   rows:   ┌───┬───┬───┐   A block needs the last row of the block above and the last column of the block at its
//!   target  │ 0 │ 1 │ 2 │   left: a graph of tasks. The blocks with equal numbers form an anti-diagonal, which may be
//!     │     ├───┼───┼───┤   one parallel loop instead ([`Schedule`]).
//!     ▼     │ 1 │ 2 │ 3 │
//!           └───┴───┴───┘
//! ```
//!
//! Where there are many pairs, a loop over the pairs is executed instead, or over groups of sequences that one is compared with
//! at once; [`compare`] chooses. The results depend neither on that nor on threads nor on the size of blocks.
//!
//! - [`Aligner`] aligns one pair, with scores and gap costs from [`Scoring`].
//! - [`read_fasta`] reads sequences, [`compare`] aligns all pairs, and [`Writer`] writes what it finds as text, SAM or
//!   TSV.

mod affine;
mod aligner;
mod alignment;
mod alphabet;
mod blosum;
#[cfg(feature = "cluster")]
mod cluster;
mod compare;
mod error;
mod fasta;
mod general;
mod groups;
mod number;
#[cfg(target_arch = "x86_64")]
mod registers;
mod schedule;
mod scoring;
mod wavefront;
mod write;

pub use aligner::{Aligner, Work};
pub use alignment::{Alignment, Step};
pub use alphabet::Alphabet;
#[cfg(feature = "cluster")]
pub use cluster::{Pairs, compare_on};
pub use compare::{Compare, Found, Hit, compare, work};
pub use error::{Error, Result};
pub use fasta::{Sequence, read_fasta};
pub use schedule::Schedule;
pub use scoring::{Gap, MOST, Scoring};
#[doc(hidden)]
pub use wavefront::Each;
pub use wavefront::{Quiet, Watch};
pub use write::{Format, Writer};
