//! Traversal of statements and expressions.

use super::{Area, Expr, Stmt, Var};

/// Calls `f` with each direct expression of a statement.
pub fn exprs<'a>(st: &'a Stmt, f: &mut dyn FnMut(&'a Expr)) {
    match st {
        Stmt::Set(_, x) => f(x),
        Stmt::Store(area, at, _, x) => {
            if let Area::In(item) | Area::Out(item) = area {
                f(item);
            }
            f(at);
            f(x);
        }
        Stmt::If(c, _, _) => f(c),
        Stmt::For { from, to, .. } => {
            f(from);
            f(to);
        }
        Stmt::Check(c, _, args) => {
            f(c);
            args.iter().for_each(f);
        }
        Stmt::Print(_, args) => args.iter().for_each(f),
        Stmt::Send { latency, args, .. } => latency.iter().chain(args).for_each(f),
        Stmt::Need { taken, ahead, given } => [taken, ahead, given].into_iter().for_each(f),
        Stmt::Room { given } => f(given),
        Stmt::Moved { taken, given } => [taken, given].into_iter().for_each(f),
        Stmt::Calls { to, .. } => f(to),
        Stmt::Loop(_)
        | Stmt::Block(..)
        | Stmt::Leave(_)
        | Stmt::Random(_)
        | Stmt::Label(_)
        | Stmt::Jump(_) => {}
    }
}

/// Like [`exprs`], for changing them.
pub fn exprs_mut(st: &mut Stmt, f: &mut dyn FnMut(&mut Expr)) {
    match st {
        Stmt::Set(_, x) => f(x),
        Stmt::Store(area, at, _, x) => {
            if let Area::In(item) | Area::Out(item) = area {
                f(item);
            }
            f(at);
            f(x);
        }
        Stmt::If(c, _, _) => f(c),
        Stmt::For { from, to, .. } => {
            f(from);
            f(to);
        }
        Stmt::Check(c, _, args) => {
            f(c);
            args.iter_mut().for_each(f);
        }
        Stmt::Print(_, args) => args.iter_mut().for_each(f),
        Stmt::Send { latency, args, .. } => latency.iter_mut().chain(args).for_each(f),
        Stmt::Need { taken, ahead, given } => [taken, ahead, given].into_iter().for_each(f),
        Stmt::Room { given } => f(given),
        Stmt::Moved { taken, given } => [taken, given].into_iter().for_each(f),
        Stmt::Calls { to, .. } => f(to),
        Stmt::Loop(_)
        | Stmt::Block(..)
        | Stmt::Leave(_)
        | Stmt::Random(_)
        | Stmt::Label(_)
        | Stmt::Jump(_) => {}
    }
}

/// The statement lists inside a statement.
pub fn inner(st: &Stmt) -> impl Iterator<Item = &Vec<Stmt>> {
    let (first, second) = match st {
        Stmt::If(_, then, otherwise) => (Some(then), Some(otherwise)),
        Stmt::For { body, .. } | Stmt::Loop(body) | Stmt::Block(_, body) | Stmt::Calls { body, .. } => {
            (Some(body), None)
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// Like [`inner`], for changing them.
pub fn inner_mut(st: &mut Stmt) -> impl Iterator<Item = &mut Vec<Stmt>> {
    let (first, second) = match st {
        Stmt::If(_, then, otherwise) => (Some(then), Some(otherwise)),
        Stmt::For { body, .. } | Stmt::Loop(body) | Stmt::Block(_, body) | Stmt::Calls { body, .. } => {
            (Some(body), None)
        }
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// Replaces a variable by an expression.
pub fn replace(stmts: &mut [Stmt], var: Var, by: &Expr) {
    fn down(ex: &mut Expr, var: Var, by: &Expr) {
        if matches!(ex, Expr::Var(read) if *read == var) {
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
pub fn walk<'a>(stmts: &'a [Stmt], f: &mut dyn FnMut(&'a Stmt)) {
    for st in stmts {
        f(st);
        inner(st).for_each(|stmts| walk(stmts, f));
    }
}

/// Calls `f` with each expression of the statements in preorder.
pub fn walk_exprs(stmts: &[Stmt], f: &mut dyn FnMut(&Expr)) {
    fn down(ex: &Expr, f: &mut dyn FnMut(&Expr)) {
        f(ex);
        ex.each(&mut |part| down(part, f));
    }
    walk(stmts, &mut |st| exprs(st, &mut |ex| down(ex, f)));
}
