//! Framing functions: before each firing they decide how many items it pops from each input.
//!
//! A node with a framing function keeps it under its claim, as a [`Framed`]. A sequential kernel fires after each
//! decision; a parallel one collects the decisions for the firings of a ticket ([`Framed::run`]).

use crate::channel::Lack;
use crate::net::NodeWaker;
use crate::port::inputs::{Inputs, PopCounts};
use thalweg_graph::ChannelId;

/// The decision of a framing function on the next firing.
pub(crate) enum Framing {
    /// The firing pops the numbers of items in `takes`, and the inputs hold them.
    Take,
    /// The node ends.
    End,
    /// The function lacks items.
    Lack(Lack),
    /// The function has decided: the firing pops the numbers of items in `takes`, and lacks some of them.
    Short(Lack),
}

/// A framing function: decides, before each firing, how many items the firing pops from each input.
pub(crate) trait FrameFn<I: Inputs>: Send {
    /// Fills `takes`, by input. `wanted` is a buffer of the same length. The caller holds the node's claim, and claims
    /// the items before the next call.
    fn frame(&mut self, ins: &mut I, wanted: &mut [usize], takes: &mut [usize]) -> Framing;

    /// After a decision on `takes`: the number of further firings, at most `limit`, on which the function would decide the same
    /// without a change of its state, and whose items have arrived. A sequential kernel may fire as many of these as it likes
    /// before the next call of [`FrameFn::frame`].
    fn repeats(&mut self, _ins: &mut I, _takes: &[usize], _limit: usize) -> usize {
        0
    }

    /// Prepares the function for a run. `waker` makes a waker of its node.
    fn prepare(&mut self, _waker: &dyn Fn() -> NodeWaker) {}
}

/// A framing function that decides by [`crate::Glance::peek`], and so is determinate: a peek that needs an item which
/// has not arrived makes the node wait, so the result cannot depend on how many items have arrived.
impl<I, F> FrameFn<I> for F
where
    I: Inputs,
    F: FnMut(&I::Glances) -> Result<Option<I::PopCounts>, crate::NotYet> + Send,
{
    fn frame(&mut self, ins: &mut I, wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        loop {
            let glances = ins.glances();
            match self(&glances) {
                Ok(None) => return Framing::End,
                Ok(Some(counts)) => {
                    takes.copy_from_slice(counts.by_input());
                    assert_pops(takes);
                    // A firing may pop more items than the function has peeked at.
                    return decided(ins, takes);
                }
                Err(_) => {
                    I::wanted(&glances, wanted);
                    assert!(
                        wanted.iter().any(|items| *items > 0),
                        "the framing function gave back a `NotYet` that no peek of this call has given it"
                    );
                    // Otherwise the items have arrived since the glances were made: call the function again.
                    if let Some(lack) = ins.lack(wanted) {
                        return Framing::Lack(lack);
                    }
                }
            }
        }
    }
}

/// Whether the items of a decision have arrived.
fn decided<I: Inputs>(ins: &mut I, takes: &[usize]) -> Framing {
    match ins.short_of(takes) {
        Some(Lack::Ended { .. }) => Framing::End,
        Some(lack) => Framing::Short(lack),
        None => Framing::Take,
    }
}

/// Checks what a framing function has returned. A kernel without inputs has nothing to pop.
///
/// # Panics
/// If the firing would pop nothing from any input.
#[inline]
fn assert_pops(takes: &[usize]) {
    assert!(
        takes.is_empty() || takes.iter().any(|take| *take > 0),
        "the framing function returned a firing that pops no item\n\
         help: return at least 1 for one of the inputs, or `None` to end the node"
    );
}

/// A framing function that reads how many items have arrived: for the engine's own nodes, which may depend on timing.
/// It fills `takes`; if all are 0 it returns the inputs to wait for, as a mask, and an empty mask ends the node.
pub(crate) struct AnyFrame<F>(pub(crate) F);

impl<I, F> FrameFn<I> for AnyFrame<F>
where
    I: Inputs,
    F: FnMut(&I::Glances, &mut [usize]) -> u64 + Send,
{
    fn frame(&mut self, ins: &mut I, _wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        ins.refresh();
        takes.fill(0);
        let inputs = self.0(&ins.glances(), takes);
        match (takes.iter().any(|take| *take > 0), inputs) {
            (true, _) => Framing::Take,
            (false, 0) => Framing::End,
            (false, inputs) => Framing::Lack(Lack::Any { inputs }),
        }
    }
}

/// A framing function that takes what has arrived, from inputs whose order the data alone determine: for the engine's own
/// nodes that pass items on. It fills `takes`, and returns the input whose item is next after these; `None` if that stream
/// has ended. If all of `takes` are 0 the node waits for that input, or ends.
///
/// So the result does not depend on how many items have arrived, only the number of firings does.
pub(crate) struct TurnFrame<F>(pub(crate) F);

impl<I, F> FrameFn<I> for TurnFrame<F>
where
    I: Inputs,
    F: FnMut(&I::Glances, &mut [usize]) -> Option<usize> + Send,
{
    fn frame(&mut self, ins: &mut I, wanted: &mut [usize], takes: &mut [usize]) -> Framing {
        by_turns(ins, wanted, takes, |ins, _, takes| self.0(&ins.glances(), takes))
    }
}

/// [`TurnFrame`] for a function that reads the ports, which have just been refreshed. It also gets a buffer of as many numbers.
pub(super) fn by_turns<I: Inputs>(
    ins: &mut I,
    buffer: &mut [usize],
    takes: &mut [usize],
    mut decide: impl FnMut(&mut I, &mut [usize], &mut [usize]) -> Option<usize>,
) -> Framing {
    loop {
        ins.refresh();
        takes.fill(0);
        let next = decide(ins, buffer, takes);
        if takes.iter().any(|take| *take > 0) {
            return Framing::Take;
        }
        let Some(next) = next else { return Framing::End };
        buffer.fill(0);
        buffer[next] = 1;
        // Otherwise an item has arrived since the ports were refreshed, or the end of the stream.
        if let Some(lack) = ins.lack(buffer) {
            return Framing::Lack(lack);
        }
    }
}

/// A node's framing function with its buffers.
pub(super) struct Framed<'env, I: Inputs> {
    decide: Box<dyn FrameFn<I> + 'env>,
    /// By input: items that the next firing pops.
    takes: Vec<usize>,
    /// Whether `takes` is a decision whose items have not all arrived. The function has returned it, and may have changed its
    /// state, so it is not called again for this firing.
    is_short: bool,
    /// By input: items that the function waits for.
    wanted: Vec<usize>,
}

impl<'env, I: Inputs> Framed<'env, I> {
    /// For a node with this number of inputs.
    pub(super) fn new(decide: Box<dyn FrameFn<I> + 'env>, inputs: usize) -> Framed<'env, I> {
        Framed { decide, takes: vec![0; inputs], is_short: false, wanted: vec![0; inputs] }
    }

    /// Calls the function for the next firing, unless it has decided. The caller claims the items before the next call.
    #[inline]
    pub(super) fn next(&mut self, ins: &mut I) -> Framing {
        let framing = match self.is_short {
            false => self.decide.frame(ins, &mut self.wanted, &mut self.takes),
            true => decided(ins, &self.takes),
        };
        self.is_short = matches!(framing, Framing::Short(_));
        framing
    }

    /// The number of firings, at most `most`, that the latest decision is about: [`FrameFn::repeats`].
    #[inline]
    pub(super) fn firings(&mut self, ins: &mut I, most: usize) -> usize {
        match most {
            1 => 1,
            _ => 1 + self.decide.repeats(ins, &self.takes, most - 1),
        }
    }

    /// By input: items that the next firing pops, after [`Framing::Take`].
    #[inline]
    pub(super) fn takes(&self) -> &[usize] {
        &self.takes
    }

    /// Calls the function for up to `limit` firings of a ticket; claims their items, and stores in `frames` how many each
    /// pops. Returns the number of firings, at least one.
    ///
    /// # Errors
    /// The first firing lacks items; [`Lack::Ended`] if the node ends.
    pub(super) fn run(
        &mut self,
        ins: &mut I,
        cursors: &mut I::Cursors<'static>,
        frames: &mut Vec<usize>,
        limit: usize,
    ) -> Result<usize, Lack> {
        let mut framed = 0;
        frames.clear();
        while framed < limit {
            match self.next(ins) {
                Framing::Take => {}
                Framing::End if framed == 0 => return Err(Lack::Ended { channel: ChannelId(0) }),
                Framing::Lack(lack) | Framing::Short(lack) if framed == 0 => return Err(lack),
                _ => break,
            }
            if framed == 0 {
                ins.open_framed(cursors, &self.takes, 1);
            } else {
                ins.extend_framed(cursors, &self.takes);
            }
            frames.extend_from_slice(&self.takes);
            framed += 1;
        }
        Ok(framed)
    }
}
