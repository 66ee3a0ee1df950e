//! What code may do besides computing.

use crate::value::Value;

/// The world around code that is executed. Where it is told to do what it cannot (an item is pushed
/// while streams are made, say) it answers with a [`Fault`].
pub trait Host {
    /// Takes the next item.
    ///
    /// # Errors
    /// There are no items here.
    fn pop(&mut self) -> Result<Value, Fault>;

    /// Looks at an item; 0 is the next.
    ///
    /// # Errors
    /// There is no such item, or there are no items here.
    fn peek(&mut self, index: i32) -> Result<Value, Fault>;

    /// Gives an item.
    ///
    /// # Errors
    /// Nobody takes items here.
    fn push(&mut self, item: Value) -> Result<(), Fault>;

    /// Prints.
    ///
    /// # Errors
    /// It cannot be written.
    fn print(&mut self, text: &str) -> Result<(), Fault>;

    /// The next number of the filter's own sequence, from 0 up to 1.
    fn random(&mut self) -> f32;

    /// Steps that code may do besides, where it has used up those of its budget; none where that is all.
    ///
    /// # Errors
    /// The run is to end at once.
    fn further_steps(&mut self) -> Result<Option<u64>, Fault> {
        Ok(None)
    }

    /// How often the filter's `work` has been executed before.
    fn executions(&self) -> i32;

    /// Sends a message to whoever hears a portal: the handler by its number, when it is to arrive (`None`
    /// for whenever it can), and what it is given.
    ///
    /// # Errors
    /// It cannot arrive then.
    fn send(
        &mut self,
        portal: u32,
        handler: u32,
        latency: Option<(i32, i32)>,
        args: Vec<Value>,
    ) -> Result<(), Fault>;
}

/// What keeps code from going on, in one sentence; who executes it knows the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(pub String);
