//! Scalar replacement (SROA): short runs of cells with constant indices only become variables. Then dead code
//! is dropped.

use crate::ir::{Area, Cell, Code, Expr, Kind, Mem, MemKind, Stmt, Var, VarInfo};
use crate::ir::{exprs_mut, inner_mut, walk, walk_exprs};
use std::collections::HashMap;

/// The longest local, and the longest field, that become variables.
const LOCAL: usize = 256;
const FIELD: usize = 16;

/// Replaces cells by variables and drops dead code.
pub(crate) fn tidy(code: &mut Code) {
    replace(code);
    while sweep(code) {}
}

/// The accesses to a run of cells.
#[derive(Clone)]
enum Use {
    /// Constant indices only, each cell as one kind.
    Cells(HashMap<i32, Kind>),
    /// Any other.
    Any,
}

fn replace(code: &mut Code) {
    let mut uses: Vec<Use> = code
        .mems
        .iter()
        .map(|mem| match (&mem.kind, mem.cells) {
            (MemKind::Local, 0..=LOCAL) | (MemKind::Field(_), 0..=FIELD) => Use::Cells(HashMap::new()),
            _ => Use::Any,
        })
        .collect();
    let cells: Vec<usize> = code.mems.iter().map(|mem| mem.cells).collect();
    let mut note = |area: &Area, at: &Expr, kind: Kind| {
        let Area::Mem(mem) = area else { return };
        let known = &mut uses[mem.0 as usize];
        let Use::Cells(kinds) = known else { return };
        let at = at.as_int().filter(|at| usize::try_from(*at).is_ok_and(|at| at < cells[mem.0 as usize]));
        match at {
            Some(at) if *kinds.entry(at).or_insert(kind) == kind => {}
            _ => *known = Use::Any,
        }
    };
    walk(&code.body, &mut |st| {
        if let Stmt::Store(area, at, kind, _) = st {
            note(area, at, *kind);
        }
    });
    walk_exprs(&code.body, &mut |ex| {
        if let Expr::Load(area, at, kind) = ex {
            note(area, at, *kind);
        }
    });
    let mut vars = HashMap::new();
    for (mem, known) in uses.into_iter().enumerate() {
        let Use::Cells(kinds) = known else { continue };
        let info = &code.mems[mem];
        // A field of which only some cells are accessed still has all its cells.
        let field = if let MemKind::Field(field) = info.kind { Some(field) } else { None };
        if info.cell == Cell::Mixed && field.is_some() {
            continue;
        }
        let mut kinds: Vec<(i32, Kind)> = kinds.into_iter().collect();
        kinds.sort_unstable_by_key(|(at, _)| *at);
        for (at, kind) in kinds {
            let name = format!("{}_{at}", info.name);
            code.vars.push(VarInfo { kind, name, field: field.map(|field| (field, at as u32)) });
            vars.insert((Mem(mem as u32), at), Var(code.vars.len() as u32 - 1));
        }
    }
    rewrite(&mut code.body, &vars);
}

fn rewrite(stmts: &mut [Stmt], vars: &HashMap<(Mem, i32), Var>) {
    let find = |area: &Area, at: &Expr| match area {
        Area::Mem(mem) => vars.get(&(*mem, at.as_int()?)).copied(),
        _ => None,
    };
    fn down(ex: &mut Expr, find: &dyn Fn(&Area, &Expr) -> Option<Var>) {
        if let Expr::Load(area, at, _) = ex
            && let Some(var) = find(area, at)
        {
            *ex = Expr::Var(var);
            return;
        }
        ex.each_mut(&mut |part| down(part, find));
    }
    for st in stmts {
        exprs_mut(st, &mut |ex| down(ex, &find));
        if let Stmt::Store(area, at, _, value) = st
            && let Some(var) = find(area, at)
        {
            *st = Stmt::Set(var, value.clone());
        }
        inner_mut(st).for_each(|stmts| rewrite(stmts, vars));
    }
}

/// Drops statements without effect; returns whether there were any.
pub(crate) fn sweep(code: &mut Code) -> bool {
    let mut read = vec![false; code.vars.len()];
    let mut loaded = vec![false; code.mems.len()];
    walk_exprs(&code.body, &mut |ex| match ex {
        Expr::Var(var) => read[var.0 as usize] = true,
        Expr::Load(Area::Mem(mem), _, _) => loaded[mem.0 as usize] = true,
        _ => {}
    });
    for (var, info) in code.vars.iter().enumerate() {
        read[var] |= info.field.is_some();
    }
    for (mem, info) in code.mems.iter().enumerate() {
        loaded[mem] |= info.kind != MemKind::Local;
    }
    let mut body = std::mem::take(&mut code.body);
    let changed = drop_unread(&mut body, &read, &loaded);
    code.body = body;
    changed
}

fn drop_unread(stmts: &mut Vec<Stmt>, read: &[bool], loaded: &[bool]) -> bool {
    let before = stmts.len();
    let mut changed = false;
    for st in stmts.iter_mut() {
        inner_mut(st).for_each(|stmts| changed |= drop_unread(stmts, read, loaded));
    }
    stmts.retain(|st| match st {
        Stmt::Set(var, _) => read[var.0 as usize],
        Stmt::Store(Area::Mem(mem), ..) => loaded[mem.0 as usize],
        Stmt::If(_, then, otherwise) => !then.is_empty() || !otherwise.is_empty(),
        Stmt::For { var, body, .. } => !body.is_empty() || read[var.0 as usize],
        Stmt::Block(_, body) => !body.is_empty(),
        _ => true,
    });
    changed || stmts.len() < before
}
