//! The lowered code of a filter: its firings and its handlers of messages.

use super::messages::Handler;
use crate::ir::Code;
use std::collections::BTreeMap;

/// The lowered code of a filter.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct NodeCode {
    pub(crate) work: Code,
    pub(crate) prework: Option<Code>,
    /// The handlers of messages that it may receive, by index.
    pub(crate) handlers: BTreeMap<u32, Handler>,
}

impl NodeCode {
    /// The code by number: 0 for `work`, 1 for `prework`, from 2 on for handlers.
    pub(crate) fn which(&self, which: u32) -> Option<&Code> {
        match which {
            0 => Some(&self.work),
            1 => self.prework.as_ref(),
            handler => self.handlers.get(&(handler - 2)).map(|handler| &handler.code),
        }
    }

    /// All its codes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Code> {
        let handlers = self.handlers.values().map(|handler| &handler.code);
        std::iter::once(&self.work).chain(&self.prework).chain(handlers)
    }
}

/// The number of filters that print.
pub(crate) fn printers(codes: &[Option<NodeCode>]) -> usize {
    let prints = |code: &Code| !code.formats.is_empty();
    codes.iter().flatten().filter(|codes| codes.all().any(prints)).count()
}

/// Whether some code may fail.
pub(crate) fn may_fail(codes: &[Option<NodeCode>]) -> bool {
    let fails = |codes: &NodeCode| {
        !codes.work.sites.is_empty() || codes.handlers.values().any(|handler| !handler.code.sites.is_empty())
    };
    codes.iter().flatten().any(fails)
}
