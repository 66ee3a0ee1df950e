//! Traversal of statements and expressions.

use super::{Area, Ex, St, Var};

/// Calls `f` with each direct expression of a statement.
pub fn exprs<'a>(st: &'a St, f: &mut dyn FnMut(&'a Ex)) {
    match st {
        St::Set(_, x) => f(x),
        St::Store(area, at, _, x) => {
            if let Area::In(item) | Area::Out(item) = area {
                f(item);
            }
            f(at);
            f(x);
        }
        St::If(c, _, _) => f(c),
        St::For { from, to, .. } => {
            f(from);
            f(to);
        }
        St::Check(c, _, args) => {
            f(c);
            args.iter().for_each(f);
        }
        St::Print(_, args) => args.iter().for_each(f),
        St::Send { latency, args, .. } => latency.iter().chain(args).for_each(f),
        St::Need { taken, ahead, given } => [taken, ahead, given].into_iter().for_each(f),
        St::Room { given } => f(given),
        St::Moved { taken, given } => [taken, given].into_iter().for_each(f),
        St::Calls { to, .. } => f(to),
        St::Loop(_) | St::Block(..) | St::Leave(_) | St::Random(_) | St::At(_) | St::Go(_) => {}
    }
}

/// Like [`exprs`], for changing them.
pub fn exprs_mut(st: &mut St, f: &mut dyn FnMut(&mut Ex)) {
    match st {
        St::Set(_, x) => f(x),
        St::Store(area, at, _, x) => {
            if let Area::In(item) | Area::Out(item) = area {
                f(item);
            }
            f(at);
            f(x);
        }
        St::If(c, _, _) => f(c),
        St::For { from, to, .. } => {
            f(from);
            f(to);
        }
        St::Check(c, _, args) => {
            f(c);
            args.iter_mut().for_each(f);
        }
        St::Print(_, args) => args.iter_mut().for_each(f),
        St::Send { latency, args, .. } => latency.iter_mut().chain(args).for_each(f),
        St::Need { taken, ahead, given } => [taken, ahead, given].into_iter().for_each(f),
        St::Room { given } => f(given),
        St::Moved { taken, given } => [taken, given].into_iter().for_each(f),
        St::Calls { to, .. } => f(to),
        St::Loop(_) | St::Block(..) | St::Leave(_) | St::Random(_) | St::At(_) | St::Go(_) => {}
    }
}

/// The statement lists inside a statement.
pub fn inner(st: &St) -> impl Iterator<Item = &Vec<St>> {
    let (first, second) = match st {
        St::If(_, then, otherwise) => (Some(then), Some(otherwise)),
        St::For { body, .. } | St::Loop(body) | St::Block(_, body) | St::Calls { body, .. } => {
            (Some(body), None)
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// Like [`inner`], for changing them.
pub fn inner_mut(st: &mut St) -> impl Iterator<Item = &mut Vec<St>> {
    let (first, second) = match st {
        St::If(_, then, otherwise) => (Some(then), Some(otherwise)),
        St::For { body, .. } | St::Loop(body) | St::Block(_, body) | St::Calls { body, .. } => {
            (Some(body), None)
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// Replaces a variable by an expression.
pub fn replace(stmts: &mut [St], var: Var, by: &Ex) {
    fn down(ex: &mut Ex, var: Var, by: &Ex) {
        if matches!(ex, Ex::Var(read) if *read == var) {
            *ex = by.clone();
            return;
        }
        ex.each_mut(&mut |part| down(part, var, by));
    }
    for st in stmts {
        exprs_mut(st, &mut |ex| down(ex, var, by));
        inner_mut(st).for_each(|stmts| replace(stmts, var, by));
    }
}

/// Calls `f` with each statement in preorder.
pub fn walk<'a>(stmts: &'a [St], f: &mut dyn FnMut(&'a St)) {
    for st in stmts {
        f(st);
        inner(st).for_each(|stmts| walk(stmts, f));
    }
}

/// Calls `f` with each expression of the statements in preorder.
pub fn walk_exprs(stmts: &[St], f: &mut dyn FnMut(&Ex)) {
    fn down(ex: &Ex, f: &mut dyn FnMut(&Ex)) {
        f(ex);
        ex.each(&mut |part| down(part, f));
    }
    walk(stmts, &mut |st| exprs(st, &mut |ex| down(ex, f)));
}
