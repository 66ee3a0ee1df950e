//! Which filters send messages to which, and whether they can arrive.

use super::router::{is_downstream, receivers};
use crate::diagnostic::Diagnostic;
use crate::flat::{Flat, NodeId};
use crate::hir::{Filter, Latency, Program, Root, Send, Stmt, StmtKind, StreamBody};
use crate::tree::{Code, Tree};
use crate::value::Value;
use crate::{Compiled, Span};
use std::collections::HashSet;
use thalweg_graph::Messages;

/// Records in the graph which filters send messages to which.
pub fn record(program: &Program, tree: &Tree, flat: &mut Flat) {
    let (mut pairs, mut seen) = (Vec::new(), HashSet::new());
    each_message(program, tree, flat, &mut |from, _, _, to| {
        if seen.insert((from, to)) {
            pairs.push(Messages::new(from, to));
        }
    });
    pairs.into_iter().for_each(|pair| flat.graph.add_messages(pair));
}

/// Rejects messages with a latency between filters that no stream connects, or one with dynamic rates: without
/// static rates the receiver's firings have no fixed relation to the sender's.
///
/// # Errors
/// All such messages, each place once per receiver.
pub fn check(compiled: &Compiled) -> Result<(), Vec<Diagnostic>> {
    let (Compiled { program, tree, flat, .. }, mut errors) = (compiled, Vec::new());
    let mut seen = HashSet::<(Span, NodeId)>::new();
    each_message(program, tree, flat, &mut |from, send, span, to| {
        if matches!(send.latency, Latency::Any) {
            return;
        }
        if let (Err(why), true) = (is_downstream(compiled, from, to), seen.insert((span, to))) {
            let message = format!("`{}` sends a message that cannot arrive: {why}", flat.node(from).name());
            let error = Diagnostic::new(span, message).label("sent here");
            errors.push(error.other(flat.span(to), "the receiver"));
        }
    });
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Calls `found` with every sender, statement that sends a message, its place, and receiver.
fn each_message<'p>(
    program: &'p Program,
    tree: &Tree,
    flat: &Flat,
    found: &mut dyn FnMut(NodeId, &'p Send, Span, NodeId),
) {
    if !super::has_messages(tree) {
        return;
    }
    let receivers = receivers(tree, flat);
    for from in flat.graph.node_ids() {
        let Some(filter) = flat.filter(from) else { continue };
        let Code::Written { stream, params, .. } = &tree.filters[filter.0 as usize].code else { continue };
        let StreamBody::Filter(filter) = &program.streams[stream.0 as usize].body else { continue };
        if !params.iter().any(|param| matches!(param, Value::Portal(_))) {
            continue;
        }
        each_send(filter, &mut |send, span| {
            let Root::Param(param) = send.portal.root else { return };
            let Some(Value::Portal(portal)) = params.get(param as usize) else { return };
            let receivers = receivers.get(*portal as usize).into_iter().flatten();
            receivers.for_each(|to| found(from, send, span, *to));
        });
    }
}

/// Calls `found` for every statement of a filter that sends a message.
fn each_send<'p>(filter: &'p Filter, found: &mut dyn FnMut(&'p Send, Span)) {
    let works = filter.prework.iter().chain([&filter.work]).map(|work| &work.body);
    let functions = filter.functions.iter().chain(&filter.handlers).map(|function| &function.body);
    works.chain(functions).for_each(|body| sends(&body.stmts, found));
}

fn sends<'p>(stmts: &'p [Stmt], found: &mut dyn FnMut(&'p Send, Span)) {
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Send(send) => found(send, stmt.span),
            StmtKind::Block(stmts) | StmtKind::While(_, stmts) | StmtKind::DoWhile(stmts, _) => {
                sends(stmts, found);
            }
            StmtKind::If(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| sends(body, found));
                sends(otherwise, found);
            }
            StmtKind::For { init, step, body, .. } => {
                [init, step, body].into_iter().for_each(|stmts| sends(stmts, found));
            }
            _ => {}
        }
    }
}
