//! What firings with dynamic rates do: whether they wait, can be rolled back, and move items.

use crate::ir::{Area, Code, Expr, MemKind, Stmt, walk};

/// Whether a firing may move nothing.
pub(crate) fn may_idle(code: &Code) -> bool {
    let moves = |ex: &Expr| ex.as_int().is_some_and(|items| items > 0);
    let mut moved = false;
    walk(&code.body, &mut |st| {
        moved |= matches!(st, Stmt::Moved { taken, given } if moves(taken) || moves(given));
    });
    !moved
}

/// Whether a firing that lacks items can be rolled back: until it ends it changes only variables.
pub(crate) fn may_try(code: &Code) -> bool {
    let mut changes = false;
    walk(&code.body, &mut |st| {
        changes |= match st {
            Stmt::Store(Area::Mem(mem), ..) => matches!(code.mems[mem.0 as usize].kind, MemKind::Field(_)),
            Stmt::Print(..) | Stmt::Random(_) => true,
            _ => false,
        }
    });
    !changes
}

/// Whether a firing may wait in the middle.
pub(crate) fn may_wait(code: &Code) -> bool {
    let mut waits = false;
    walk(&code.body, &mut |st| waits |= matches!(st, Stmt::Need { .. }));
    waits
}

/// The items that each firing pops and pushes, where that is constant and covered by its precondition.
pub(crate) fn fixed(code: &Code) -> Option<(u64, u64)> {
    let count = |ex: &Expr| u64::try_from(ex.as_int()?).ok();
    let Some(Stmt::Moved { taken, given }) = code.body.last() else { return None };
    if may_wait(code) { None } else { Some((count(taken)?, count(given)?)) }
}
