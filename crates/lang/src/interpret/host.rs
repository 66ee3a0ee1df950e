//! The host of a filter's code while it fires.

use super::fire::Wait;
use super::world::World;
use crate::eval::{Fault, Host, Random};
use crate::flat::{ChannelId, NodeId};
use crate::messages::SentMessage;
use crate::tree::{Rate, Rates};
use crate::value::Value;

/// Steps of a firing between two checks for an interrupt.
pub(super) const SLICE: u64 = 1 << 16;

/// The host of one firing.
pub(super) struct FilterHost<'a> {
    pub(super) world: &'a World,
    pub(super) node: NodeId,
    pub(super) input: Option<ChannelId>,
    pub(super) output: Option<ChannelId>,
    pub(super) rates: Rates,
    /// Items popped and pushed so far.
    pub(super) popped: u32,
    pub(super) pushed: u32,
    /// Completed executions of `work`.
    pub(super) executions: i32,
    pub(super) random: &'a mut Random,
    /// Steps left beyond the budget of the machine.
    pub(super) steps: u64,
    pub(super) wait: Wait<'a>,
}

impl FilterHost<'_> {
    /// Ends the firing: drops the unpopped rest of a static pop rate and checks the rates.
    pub(super) fn end(&mut self) -> Result<(), String> {
        if let (Some(input), Rate::Static(pop)) = (self.input, self.rates.pop) {
            let rest = pop.saturating_sub(self.popped);
            self.world.channel(input).borrow_mut().drain(..rest as usize);
            self.popped += rest;
        }
        check_rate("pops", self.popped, self.rates.pop)?;
        check_rate("pushes", self.pushed, self.rates.push)
    }

    /// Waits for items, if the firing has a dynamic input rate.
    fn need(&self, items: u64) -> Result<ChannelId, Fault> {
        let input = self.input.ok_or_else(|| Fault("this filter has no input".into()))?;
        while self.world.items(input) < items && self.rates.decides_input() {
            let awaited = &self.world.awaited[self.node.0 as usize];
            awaited.set(items);
            self.world.room.holds(input, self.world.items(input));
            (self.wait)();
            awaited.set(0);
        }
        if self.world.items(input) < items {
            return Err(Fault("the input has too few items".into()));
        }
        Ok(input)
    }
}

/// Checks a number of items against a rate.
fn check_rate(does: &str, items: u32, rate: Rate) -> Result<(), String> {
    let declared = match rate {
        Rate::Static(declared) if declared == items => return Ok(()),
        Rate::Static(declared) => declared.to_string(),
        Rate::Dynamic { min, max, .. } if items >= min && max.is_none_or(|max| items <= max) => return Ok(()),
        Rate::Dynamic { min, max: Some(max), .. } => format!("from {min} to {max}"),
        Rate::Dynamic { min, max: None, .. } => format!("{min} or more"),
    };
    Err(format!("this firing {does} {}, but its rate says {declared}", counted(items.into())))
}

/// A number of items in words.
pub fn counted(items: i64) -> String {
    if items == 1 { "1 item".to_owned() } else { format!("{items} items") }
}

/// A number of items with the verb: "1 item was".
pub fn counted_were(items: i64) -> String {
    format!("{} {}", counted(items), if items == 1 { "was" } else { "were" })
}

impl Host for FilterHost<'_> {
    fn pop(&mut self) -> Result<Value, Fault> {
        if self.rates.pop.fixed().is_some_and(|pop| self.popped >= pop) {
            let most = counted(self.popped.into());
            return Err(Fault(format!("this firing pops more than the {most} of its rate")));
        }
        let input = self.need(1)?;
        self.popped += 1;
        Ok(self.world.channel(input).borrow_mut().pop_front().expect("`need` has checked the input"))
    }

    fn peek(&mut self, index: i32) -> Result<Value, Fault> {
        let beyond = |most: u32| i64::from(index) >= i64::from(most) - i64::from(self.popped);
        if index < 0 || self.rates.peek.most().is_some_and(beyond) {
            let (popped, window) = (counted_were(self.popped.into()), self.rates.window());
            return Err(Fault(format!("`peek({index})` after {popped} popped is outside of {window}")));
        }
        let input = self.need(index as u64 + 1)?;
        Ok(self.world.channel(input).borrow()[index as usize].clone())
    }

    fn push(&mut self, item: Value) -> Result<(), Fault> {
        let output = self.output.ok_or_else(|| Fault("this filter has no output".into()))?;
        if self.rates.push.fixed().is_some_and(|push| self.pushed >= push) {
            let most = counted(self.pushed.into());
            return Err(Fault(format!("this firing pushes more than the {most} of its rate")));
        }
        self.pushed += 1;
        self.world.channel(output).borrow_mut().push_back(item);
        if !self.world.room.holds(output, self.world.items(output)) {
            self.world.over.set(true);
            return Err(Fault("the queues exceed their budget".into()));
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> Result<(), Fault> {
        self.world.print(text).map_err(|error| {
            *self.world.unprinted.borrow_mut() = Some(error.clone());
            Fault(error)
        })
    }

    fn random(&mut self) -> f32 {
        self.random.next_float()
    }

    fn further_steps(&mut self) -> Result<Option<u64>, Fault> {
        if self.world.stops() {
            return Err(Fault("the run is interrupted".into()));
        }
        let more = self.steps.min(SLICE);
        self.steps -= more;
        Ok((more > 0).then_some(more))
    }

    fn executions(&self) -> i32 {
        self.executions
    }

    fn send(
        &mut self,
        portal: u32,
        handler: u32,
        latency: Option<(i32, i32)>,
        args: Vec<Value>,
    ) -> Result<(), Fault> {
        let fired = |node: NodeId| self.world.firings[node.0 as usize].get();
        let (from, firing) = (self.node, fired(self.node) + 1);
        let sent = SentMessage { from, firing, portal, handler, latency: latency.map(|(_, max)| max), args };
        self.world.router.borrow_mut().send(sent, &fired).map_err(Fault)
    }
}
