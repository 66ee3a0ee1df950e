//! The interface between code and its surroundings.

use crate::value::Value;

/// Side effects of code. An operation that is not available, such as a push during elaboration, returns a
/// [`Fault`].
pub trait Host {
    /// Pops an item.
    ///
    /// # Errors
    /// Items are not available.
    fn pop(&mut self) -> Result<Value, Fault>;

    /// Peeks at an item; index 0 is the next one.
    ///
    /// # Errors
    /// There is no such item, or items are not available.
    fn peek(&mut self, index: i32) -> Result<Value, Fault>;

    /// Pushes an item.
    ///
    /// # Errors
    /// Items are not available.
    fn push(&mut self, item: Value) -> Result<(), Fault>;

    /// Prints text.
    ///
    /// # Errors
    /// The output cannot be written.
    fn print(&mut self, text: &str) -> Result<(), Fault>;

    /// The next number of the filter's own sequence, at least 0 and below 1.
    fn random(&mut self) -> f32;

    /// More steps for code that has used up its budget; `None` ends it.
    ///
    /// # Errors
    /// The run is interrupted.
    fn further_steps(&mut self) -> Result<Option<u64>, Fault> {
        Ok(None)
    }

    /// The number of completed executions of the filter's `work`.
    fn executions(&self) -> i32;

    /// Sends a message to the receivers of a portal: handler number, latency (`None` for best effort) and
    /// arguments.
    ///
    /// # Errors
    /// The message cannot arrive in time.
    fn send(
        &mut self,
        portal: u32,
        handler: u32,
        latency: Option<(i32, i32)>,
        args: Vec<Value>,
    ) -> Result<(), Fault>;
}

/// The reason why code fails, in one sentence; the caller adds the place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault(pub String);
