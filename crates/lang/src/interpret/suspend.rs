//! Suspended firings: each filter with a dynamic input rate has its own stack.

use super::Stop;
use super::fire::Fired;
use super::world::World;
use crate::flat::NodeId;
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::rc::Rc;

/// Bytes of such a stack: twice the evaluator's stack budget.
const STACK: usize = 2 << 20;

/// A filter on its own stack.
pub(super) struct Suspended(Coroutine<(), Result<Fired, Stop>, ()>);

impl Suspended {
    pub(super) fn new(world: &Rc<World>, node: NodeId) -> Result<Suspended, Stop> {
        let stack =
            DefaultStack::new(STACK).map_err(|error| world.fault(node, &format!("no stack: {error}")))?;
        let world = world.clone();
        let coroutine = Coroutine::with_stack(stack, move |yielder, ()| {
            let input = world.compiled.flat.input(node).expect("only a node with input suspends");
            loop {
                let fired = world.fire(node, &|| yielder.suspend(Ok(Fired::Lacks(input))));
                yielder.suspend(fired);
            }
        });
        Ok(Suspended(coroutine))
    }

    /// Continues until a firing ends or waits.
    pub(super) fn fire(&mut self) -> Result<Fired, Stop> {
        match self.0.resume(()) {
            CoroutineResult::Yield(fired) => fired,
            CoroutineResult::Return(()) => unreachable!("the coroutine never returns"),
        }
    }
}
