//! The handlers of messages: those of all messages that each node may receive.

use super::messages::lower_handler;
use super::node::NodeCode;
use crate::ir::{Code, Message};
use crate::scalar_replacement::tidy;
use std::collections::btree_map::Entry;
use thalweg_lang::Compiled;
use thalweg_lang::flat::NodeId;
use thalweg_lang::messages::receivers;

/// Lowers, for each node, the handlers of all messages that it may receive.
pub(super) fn lower_handlers(compiled: &Compiled, codes: &mut [Option<NodeCode>]) -> Result<(), String> {
    let receivers = receivers(&compiled.tree, &compiled.flat);
    let sent = |code: &Code| code.messages.clone();
    let mut open: Vec<Message> =
        codes.iter().flatten().flat_map(|codes| codes.all().flat_map(sent).collect::<Vec<_>>()).collect();
    while let Some(message) = open.pop() {
        for node in &receivers[message.portal as usize] {
            let Some(id) = compiled.flat.filter(*node) else { continue };
            let filter = &compiled.tree.filters[id.0 as usize];
            let why = |why: String| format!("`{}`: {why}", filter.path);
            let Some(codes) = &mut codes[node.0 as usize] else { continue };
            let handler = match codes.handlers.entry(message.handler) {
                Entry::Occupied(made) => made.into_mut(),
                Entry::Vacant(new) => {
                    let made = lower_handler(&compiled.program, &compiled.tree, filter, message.handler);
                    let mut made = made.map_err(why)?;
                    tidy(&mut made.code);
                    open.extend(sent(&made.code));
                    new.insert(made)
                }
            };
            if (&handler.shapes, handler.cells) != (&message.shapes, message.cells) {
                return Err(why(
                    "the message and its handler disagree on the length of an array argument".into()
                ));
            }
        }
    }
    Ok(())
}

/// Whether a node may send messages to itself.
pub(crate) fn sends_to_itself(compiled: &Compiled, codes: &[Option<NodeCode>], node: u32) -> bool {
    let receivers = receivers(&compiled.tree, &compiled.flat);
    let hears = |message: &Message| receivers[message.portal as usize].contains(&NodeId(node));
    let codes = codes[node as usize].as_ref();
    codes.is_some_and(|codes| codes.all().any(|code| code.messages.iter().any(hears)))
}
