//! The host of code that creates streams: it can print and has random numbers, but no items.

use super::limits::MAX_PRINTED;
use crate::eval::{Fault, Host, Random};
use crate::value::Value;

/// The host during elaboration.
pub(super) struct ElaborationHost {
    pub(super) printed: String,
    pub(super) random: Random,
}

impl ElaborationHost {
    pub(super) fn new() -> ElaborationHost {
        ElaborationHost { printed: String::new(), random: Random::of_elaboration() }
    }
}

fn only_work<T>(what: &str) -> Result<T, Fault> {
    Err(Fault(format!("{what} only while the program runs")))
}

impl Host for ElaborationHost {
    fn pop(&mut self) -> Result<Value, Fault> {
        only_work("items can be popped")
    }

    fn peek(&mut self, _index: i32) -> Result<Value, Fault> {
        only_work("items can be peeked")
    }

    fn push(&mut self, _item: Value) -> Result<(), Fault> {
        only_work("items can be pushed")
    }

    fn print(&mut self, text: &str) -> Result<(), Fault> {
        if self.printed.len() + text.len() > MAX_PRINTED {
            return Err(Fault(format!("more than {MAX_PRINTED} bytes printed before the program runs")));
        }
        self.printed.push_str(text);
        Ok(())
    }

    fn random(&mut self) -> f32 {
        self.random.next_float()
    }

    fn executions(&self) -> i32 {
        0
    }

    fn send(
        &mut self,
        _portal: u32,
        _handler: u32,
        _latency: Option<(i32, i32)>,
        _args: Vec<Value>,
    ) -> Result<(), Fault> {
        only_work("messages can be sent")
    }
}
