//! Checks that messages have routes.

use super::router::{is_downstream, receivers};
use crate::diagnostic::Diagnostic;
use crate::flat::{NodeId, NodeKind};
use crate::hir::{Filter, Latency, Root, Send, Stmt, StmtKind, StreamBody};
use crate::tree::Code;
use crate::value::Value;
use crate::{Compiled, Span};
use std::collections::HashSet;

/// Rejects messages with a latency between filters that no stream connects, or one with dynamic rates: without
/// static rates the receiver's firings have no fixed relation to the sender's.
///
/// # Errors
/// All such messages, each place once per receiver.
pub fn check(compiled: &Compiled) -> Result<(), Vec<Diagnostic>> {
    let receivers = receivers(compiled);
    let (mut errors, mut seen) = (Vec::new(), HashSet::<(Span, NodeId)>::new());
    for (at, node) in compiled.flat.nodes.iter().enumerate() {
        let NodeKind::Filter(id) = node.kind else { continue };
        let Code::Written { stream, params, .. } = &compiled.tree.filters[id.0 as usize].code else {
            continue;
        };
        let StreamBody::Filter(filter) = &compiled.program.streams[stream.0 as usize].body else { continue };
        if !params.iter().any(|param| matches!(param, Value::Portal(_))) {
            continue;
        }
        let from = NodeId(at as u32);
        each_send(filter, &mut |send, span| {
            let Root::Param(param) = send.portal.root else { return };
            let Some(Value::Portal(portal)) = params.get(param as usize) else { return };
            for to in receivers.get(*portal as usize).into_iter().flatten() {
                if let (Err(why), true) = (is_downstream(compiled, from, *to), seen.insert((span, *to))) {
                    let message = format!("`{}` sends a message that cannot arrive: {why}", node.name);
                    let error = Diagnostic::new(span, message).label("sent here");
                    let receiver = compiled.flat.node(*to).span;
                    errors.push(error.other(receiver, "the receiver"));
                }
            }
        });
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Calls `found` for every statement of a filter that sends a message with a latency.
fn each_send<'p>(filter: &'p Filter, found: &mut dyn FnMut(&'p Send, Span)) {
    let works = filter.prework.iter().chain([&filter.work]).map(|work| &work.body);
    let functions = filter.functions.iter().chain(&filter.handlers).map(|function| &function.body);
    works.chain(functions).for_each(|body| sends(&body.stmts, found));
}

fn sends<'p>(stmts: &'p [Stmt], found: &mut dyn FnMut(&'p Send, Span)) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Send(send) if !matches!(send.latency, Latency::Any) => found(send, stmt.span),
            StmtKind::Block(stmts) | StmtKind::While(_, stmts) | StmtKind::DoWhile(stmts, _) => {
                sends(stmts, found);
            }
            StmtKind::If(_, first, second) => {
                sends(first, found);
                sends(second, found);
            }
            StmtKind::For { init, step, body, .. } => {
                [init, step, body].into_iter().for_each(|stmts| sends(stmts, found));
            }
            _ => {}
        }
    }
}
