//! The world around code that makes streams: it prints and has random numbers, and there are no items.

use super::limits::MAX_PRINTED;
use crate::eval::{Fault, Host, Random};
use crate::value::Value;

/// See the module.
pub(super) struct Outside {
    pub(super) printed: String,
    pub(super) random: Random,
}

impl Outside {
    pub(super) fn new() -> Outside {
        Outside { printed: String::new(), random: Random::of_elaboration() }
    }
}

fn only_work<T>(what: &str) -> Result<T, Fault> {
    Err(Fault(format!("{what} by `work` only: before it, nothing flows")))
}

impl Host for Outside {
    fn pop(&mut self) -> Result<Value, Fault> {
        only_work("items are popped")
    }

    fn peek(&mut self, _index: i32) -> Result<Value, Fault> {
        only_work("items are looked at")
    }

    fn push(&mut self, _item: Value) -> Result<(), Fault> {
        only_work("items are pushed")
    }

    fn print(&mut self, text: &str) -> Result<(), Fault> {
        if self.printed.len() + text.len() > MAX_PRINTED {
            return Err(Fault(format!("more than {MAX_PRINTED} bytes are printed before anything runs")));
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
        only_work("messages are sent")
    }
}
