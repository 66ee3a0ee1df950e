//! Channels: a bounded ring of items between one producing and one consuming port.
//!
//! # Slots
//!
//! Items have consecutive indices from 0; item `i` lies in slot `i mod size`. The counters of the [`Meter`] and the
//! private ones of the two nodes divide the indices:
//!
//! ```text
//!        released            claimed              published          reserved
//!   ───────┼────────────────────┼────────────────────┼──────────────────┼───────▶ index
//!    free  │ consumer's firings │      published     │ producer's firings│ free
//!        head                 next                 tail               next
//!       (shared)        (consuming node)          (shared)       (producing node)
//! ```
//!
//! | slot is | index | accessed by | entered by | left by |
//! |---|---|---|---|---|
//! | free | below `head + capacity`, from the producer's `next` | producing side | the consumer's `release` | the producer's claim, which moves its `next` |
//! | reserved | `[tail, next)` of the producer | the claim or ticket that reserved it | claim | `publish`, which moves `tail` |
//! | published | `[next, tail)` of the consumer | consuming side, by reference | `publish` | the consumer's claim, which moves its `next` |
//! | claimed | `[head, next)` of the consumer | the claim or ticket that took it | claim | `release`, which moves `head` |
//!
//! The *producing side* is the holder of the producing node's claim (a sequential node or a process) or of the
//! retirement of its reorder window (a parallel node); the *consuming side* likewise. The claim orders successive
//! holders, so each counter has one writer at a time, and a side reads its own counters `Relaxed`.
//!
//! # Counters and orderings
//!
//! | field | written by | store | pairs with | so that |
//! |---|---|---|---|---|
//! | `tail` | producing side | `Release` in `publish` | `Acquire` in `tail` | the consumer reads what was written to slots below `tail` |
//! | `head` | consuming side | `Release` in `release` | `Acquire` in `head` | the producer overwrites slots below `head` only after their last read |
//! | `ended` | producing side, or the thread that holds all claims | `Release` in `end`, `cut` | `Acquire` in `ended` | a consumer that sees `ended` reads the final tail in `end` |
//! | `gone` | consuming side | `Release` in `leave` | `Acquire` in `gone` | a producer that sees `gone` may access both ends |
//! | `capacity` | any thread, by `fetch_max` | `Relaxed` | none | it only rises: a stale value understates the room |
//!
//! # Races, and why they cannot happen
//!
//! *Both sides access one slot.* The producer writes only below `head + capacity <= head + size`, and reads `head` before
//! it writes; the consumer reads only below `tail`. So indices that are accessed at one time differ by less than `size`,
//! hence their slots differ, and each hand-over is one of the pairs above.
//!
//! *The consumer misses the last items.* A consumer that reads `tail` and then `ended` may see the end but not the tail
//! that preceded it. `end` therefore holds the final tail, is stored before `ended`, and replaces `tail` once `ended` is
//! seen ([`Consumer::refresh`](crate::port::Consumer), `Rx::poll_message`).
//!
//! *A stream is ended twice.* A sending end may be dropped on any thread (`Meter::end`) while the examination of the graph at
//! rest cuts its channel (`Meter::cut`). `end` sets the final tail by an exchange that fails once it is set, and `cut`
//! overwrites it while the consumer is excluded, so the cut decides in either order.
//!
//! *The producer publishes to a consumer that leaves.* `publish` stores `tail` and then reads `gone`. If it reads false
//! though the consumer is leaving, the items stay in the ring; the next `publish` or `purge_if_gone`, or the ring's
//! drop, finds them. If it reads true, the consumer accesses nothing any more, and the producer drops them.
//!
//! *A cursor points into storage that has been replaced.* Growth replaces the storage while both nodes are at rest, and
//! either claimed by the thread that grows (`liveness::search`) or found so by the last thread awake
//! (`liveness::quiesce`). Slot pointers are read at each claim and never kept across one. Where a ring has more slots
//! than `capacity`, `capacity` may rise while both nodes are active (`sched::dedicated`): no storage moves.
//!
//! # Files
//!
//! | file | has |
//! |---|---|
//! | [`slots`] | access to slots; the only file that computes their addresses |
//! | [`ring`] | storage and its growth, weights |
//! | [`meter`] | the shared counters |
//! | [`origins`] | the workers that the items come from |
//! | [`cursor`] | a firing's view of its channels |
//! | [`lent`] | a message that a process reads in place |
//! | [`pair`] | the channel alone, without a graph |
//!
//! Sleeping and waking are not part of this protocol: see `sched::sleep`.

mod cursor;
mod lack;
mod lent;
mod meter;
pub(crate) mod operation;
mod origins;
mod pair;
mod ring;
mod slots;

pub(crate) use cursor::Consumers;
pub use cursor::{Glance, In, NotYet, Out, View};
pub(crate) use cursor::{InputRates, MarkRef};
pub use cursor::{Mark, Marks};
pub use lack::Lack;
pub(crate) use meter::{Layout, Meter, is_heavy};
pub(crate) use origins::{Origins, Taking};
pub use pair::{Receiver, Sender, channel};
pub(crate) use ring::{Grow, NoMemory, Ring, Sizes, WaitFlag, Weigh};
#[cfg(all(loom, test))]
pub(crate) use slots::Slots;
