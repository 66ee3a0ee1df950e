//! Side effects and state of a node's firings.

use crate::ir::{Area, Code, MemKind, Stmt, walk};
use crate::lower::NodeCode;

/// Whether a firing depends on earlier firings other than through its items, or is visible elsewhere: it
/// changes fields, draws random numbers, prints, or sends or receives messages. (The number of earlier
/// firings does not count: it is known without them. What `prework` has left does not count: it is the same
/// for all later firings.)
pub(crate) fn has_state(codes: &NodeCode) -> bool {
    changes(&codes.work) || !codes.handlers.is_empty()
}

/// Whether code has none of these effects.
pub(crate) fn keeps_nothing(code: &Code) -> bool {
    !changes(code)
}

fn changes(code: &Code) -> bool {
    let mut found = false;
    walk(&code.body, &mut |st| {
        found |= match st {
            Stmt::Set(var, _) | Stmt::For { var, .. } => code.vars[var.0 as usize].field.is_some(),
            Stmt::Store(Area::Mem(mem), ..) => matches!(code.mems[mem.0 as usize].kind, MemKind::Field(_)),
            Stmt::Random(_) | Stmt::Print(..) | Stmt::Send { .. } => true,
            _ => false,
        };
    });
    found
}
