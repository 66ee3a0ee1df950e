//! Channels: a bounded ring of items between one producing and one consuming port.
//!
//! # Protocol
//!
//! Items have consecutive indices from 0; item `i` lives in slot `i mod size`. Two counters say
//! who owns what ([`Meter`]):
//!
//! ```text
//!        released            claimed              published          reserved
//!   ───────┼────────────────────┼────────────────────┼──────────────────┼───────▶ index
//!   empty  │ consumer's firings │ items to be taken  │ producer's firings│ empty
//!        head                 next                 tail               next
//!       (shared)        (consuming node)          (shared)       (producing node)
//! ```
//!
//! - Only the producing side stores `tail`, only the consuming side stores `head`; "side" is
//!   whoever holds the claim of the node (a sequential node) or the retirement of its reorder
//!   window (a parallel one), so there is one writer at a time and hand-over between writers is
//!   ordered by that claim.
//! - A slot with index in `[head, tail)` belongs to the consuming node, all others to the
//!   producing node. `tail` is stored with `Release` after the slots are written and read with
//!   `Acquire` before they are read; `head` is stored with `Release` after the slots were read
//!   and read with `Acquire` before they are written again. Hence no slot is accessed by both.
//! - `ended` is stored with `Release` after the last `tail` and after `end`, which repeats it, so a
//!   consumer that reads `ended` (`Acquire`) has the final tail in `end`. `gone` mirrors it: the consumer
//!   will never read again, and what is published from then on is dropped by the producer.
//! - `tail - head <= capacity <= size`. Growth replaces the storage while both nodes are at rest,
//!   and held by who grows it (see `search`) or found so by the last thread awake (`quiesce`); so
//!   cached pointers are refreshed at every claim and never kept across one.
//! - `capacity` is only ever raised, so a limit computed from an older value is too small, never too large. Where
//!   there are more slots than `capacity` it may be raised while both nodes are active (`dedicated`).
//!
//! Who sleeps and who wakes is not here: see `sleep`.

mod cursor;
mod lack;
mod meter;
pub(crate) mod operation;
mod pair;
mod ring;

pub(crate) use cursor::Limits;
pub use cursor::{Glance, In, NotYet, Out, View};
pub use lack::Lack;
pub(crate) use meter::{Layout, Meter};
pub use pair::{Receiver, Sender, channel};
pub(crate) use ring::{Grow, Ring, Sizes, Waits, Weigh};
