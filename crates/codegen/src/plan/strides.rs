//! Whether several firings of one filter are done at once: by the distance of their items, and by their work.

use super::{Items, Pattern};
use crate::ir::{Area, Cell, Code, Expr, Stmt, walk, walk_exprs};
use crate::uniformity::Divergence;

/// The largest stride at which items are picked out of vectors.
pub(crate) const NARROW: i64 = 8;

/// The strides of input and output in cells, where firings are done at once.
pub(crate) fn strides_of(code: &Code, input: &Items, output: &Items, lanes: usize) -> Option<(i64, i64)> {
    let divergence = Divergence::of(code)?;
    let strides = (stride(input, lanes)?, stride(output, lanes)?);
    pays(code, &divergence, strides).then_some(strides)
}

/// Cells from one firing's items to the next one's.
pub(crate) fn stride(items: &Items, lanes: usize) -> Option<i64> {
    let cells = items.cells as i64;
    match &items.pattern {
        Pattern::Ring => None,
        _ if items.cell == Cell::Mixed => None,
        _ if items.group == 1 => Some(items.group_stride * cells),
        _ if items.group % lanes as i64 == 0 => Some(items.stride * cells),
        _ => None,
    }
}

/// Whether there are enough operations for the items that are gathered.
pub(crate) fn pays(code: &Code, divergence: &Divergence, (input, output): (i64, i64)) -> bool {
    let (mut work, mut apart) = (0, 0);
    walk(&code.body, &mut |st| {
        if let Stmt::Store(Area::Out(_), ..) = st {
            apart += usize::from(output > NARROW);
        }
    });
    walk_exprs(&code.body, &mut |ex| match ex {
        Expr::Load(Area::In(_), ..) => apart += usize::from(input > NARROW),
        Expr::Load(_, at, _) if divergence.ex(at) => apart += 1,
        Expr::Binary(..) | Expr::Select(..) | Expr::Unary(..) | Expr::Convert(..) => {
            work += usize::from(divergence.ex(ex))
        }
        Expr::Math(function, ..) => {
            work += usize::from(function.is_cheap() && divergence.ex(ex)) * 2;
        }
        _ => {}
    });
    work > 0 && work >= 2 * apart
}
