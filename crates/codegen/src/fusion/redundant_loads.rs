//! Redundant-load elimination: an input item that is loaded in several places is loaded once.

use crate::ir::{Area, Code, Expr, Kind, Stmt, Var, VarInfo, exprs_mut, inner_mut, walk_exprs};

/// Eliminates redundant loads among straight-line statements, and in the bodies of loops among them.
pub(super) fn merge_loads(code: &mut Code) {
    let mut body = std::mem::take(&mut code.body);
    stretch(code, &mut body, &mut |ex| matches!(place(ex), Some((item, _)) if item.as_int().is_some()));
    for st in &mut body {
        if let Stmt::For { var, body, .. } = st
            && body.iter().all(|st| matches!(st, Stmt::Set(..)))
        {
            let counts = *var;
            stretch(code, body, &mut |ex| matches!(place(ex), Some((item, _)) if is_made_of(item, counts)));
        }
    }
    code.body = body;
}

/// The item and the cell of a load.
fn place(ex: &Expr) -> Option<(&Expr, i32)> {
    match ex {
        Expr::Load(Area::In(item), at, _) => Some((item, at.as_int()?)),
        _ => None,
    }
}

/// Whether a number depends only on this variable.
fn is_made_of(ex: &Expr, var: Var) -> bool {
    match ex {
        Expr::Const(_) => true,
        Expr::Var(other) => *other == var,
        Expr::Binary(_, Kind::Int, x, y) => is_made_of(x, var) && is_made_of(y, var),
        _ => false,
    }
}

/// Moves repeated loads, which yield the same value throughout, before their first use.
fn stretch(code: &mut Code, stmts: &mut Vec<Stmt>, fits: &mut dyn FnMut(&Expr) -> bool) {
    let mut loads: Vec<(Expr, usize, Option<Var>)> = Vec::new();
    walk_exprs(stmts, &mut |ex| {
        if fits(ex) {
            match loads.iter_mut().find(|(load, ..)| load == ex) {
                Some((_, times, _)) => *times += 1,
                None => loads.push((ex.clone(), 1, None)),
            }
        }
    });
    loads.retain(|(_, times, _)| *times > 1);
    let mut out = Vec::new();
    for mut st in std::mem::take(stmts) {
        for (load, _, var) in loads.iter_mut().filter(|(.., var)| var.is_none()) {
            if uses(&st, load) {
                let new = Var(code.vars.len() as u32);
                code.vars.push(VarInfo { kind: load.kind(code), name: "item".into(), field: None });
                out.push(Stmt::Set(new, load.clone()));
                *var = Some(new);
            }
        }
        put(&mut st, &loads);
        out.push(st);
    }
    *stmts = out;
}

fn uses(st: &Stmt, load: &Expr) -> bool {
    let mut uses = false;
    walk_exprs(std::slice::from_ref(st), &mut |ex| uses |= ex == load);
    uses
}

fn put(st: &mut Stmt, loads: &[(Expr, usize, Option<Var>)]) {
    exprs_mut(st, &mut |ex| put_ex(ex, loads));
    inner_mut(st).flatten().for_each(|st| put(st, loads));
}

fn put_ex(ex: &mut Expr, loads: &[(Expr, usize, Option<Var>)]) {
    if let Some((.., Some(var))) = loads.iter().find(|(load, ..)| load == ex) {
        *ex = Expr::Var(*var);
        return;
    }
    ex.each_mut(&mut |part| put_ex(part, loads));
}
