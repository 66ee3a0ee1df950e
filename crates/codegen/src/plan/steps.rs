//! What fires in a call, in order.

/// A step of a call of `n` steady states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// An actor does the firings of `n` steady states.
    All(usize),
    /// A group of actors, by its index in the plan's blocks, does `n` steady states.
    Unrolled(usize),
    /// These rounds, `n` times.
    Rounds(Vec<Round>),
    /// All members of a pack fire together.
    Pack(usize),
    /// All filters of a kernel fire together.
    Fused(usize),
}

/// A part of a feedback loop's round.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Round {
    /// An actor fires this many times.
    Fire(usize, u64),
    /// These, this many times.
    Repeat(u64, Vec<Round>),
    /// A whole round: actors fire for up to this many rounds at once, since the loop holds the items for it.
    AtOnce(u64, Vec<Round>),
}
