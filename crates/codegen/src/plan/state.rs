//! What a node's firings leave behind besides items.

use crate::emit::program::NodeCode;
use crate::ir::{Area, Code, MemKind, St, walk};

/// Whether what a node does depends on its firings before, or can be seen elsewhere than in its items: it
/// changes fields, draws random numbers, prints, or has to do with messages. (How often it has fired is known without having been
/// there, and what `prework` has left is the same for all firings after it.)
pub(crate) fn has_state(codes: &NodeCode) -> bool {
    changes(&codes.work) || !codes.handlers.is_empty()
}

/// Whether code has none of that to do with.
pub(crate) fn keeps_nothing(code: &Code) -> bool {
    !changes(code)
}

fn changes(code: &Code) -> bool {
    let mut found = false;
    walk(&code.body, &mut |st| {
        found |= match st {
            St::Set(var, _) | St::For { var, .. } => code.vars[var.0 as usize].field.is_some(),
            St::Store(Area::Mem(mem), ..) => matches!(code.mems[mem.0 as usize].kind, MemKind::Field(_)),
            St::Random(_) | St::Print(..) | St::Send { .. } => true,
            _ => false,
        };
    });
    found
}
