//! Whether there are ways for the messages that a program can send.

use super::post::{hearers, is_down};
use crate::diagnostic::Diagnostic;
use crate::flat::{NodeId, NodeKind};
use crate::hir::{Filter, Latency, Root, Send, Stmt, StmtKind, StreamBody};
use crate::tree::Code;
use crate::value::Value;
use crate::{Compiled, Span};
use std::collections::HashSet;

/// Refuses messages between filters that no stream joins, or one whose rates are dynamic: when they would arrive is
/// told in firings of their receiver, and those are not tied to the sender's then.
///
/// # Errors
/// All of them, each place once for each filter that would hear it.
pub fn check(compiled: &Compiled) -> Result<(), Vec<Diagnostic>> {
    let hearers = hearers(compiled);
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
            for to in hearers.get(*portal as usize).into_iter().flatten() {
                if let (Err(why), true) = (is_down(compiled, from, *to), seen.insert((span, *to))) {
                    let message = format!("`{}` sends a message that cannot arrive: {why}", node.name);
                    let error = Diagnostic::new(span, message).label("sent here");
                    let heard = compiled.flat.node(*to).span;
                    errors.push(error.other(heard, "to be heard here"));
                }
            }
        });
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The places where a filter sends messages that are to arrive at a certain time.
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
