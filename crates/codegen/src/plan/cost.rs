//! Costs of firings: [`choose`](super::choose) compares them to decide what is packed into lanes and what is fused.
//!
//! Costs are rough counts for a steady state: 1 is an operation on a vector of the machine's lanes, or two on
//! vectors of half that length.

use super::{Items, Pattern};
use crate::ir::{Area, Code, Expr, Stmt, exprs, inner};
use crate::isomorphic::Joint;
use crate::uniformity::Divergence;

/// The assumed number of iterations of a loop with unknown bounds.
const SOME_ITERATIONS: f64 = 16.0;

/// The cost of each item of a vector that is gathered item by item.
const EACH: f64 = 1.0;

/// The operations of a firing.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Work {
    /// Operations on values that differ by lane.
    pub(super) ops: f64,
    /// Loads and stores of items.
    pub(super) loads: f64,
    pub(super) stores: f64,
    /// Gathers from tables and arrays.
    pub(super) apart: f64,
    /// Calls of functions that are not single operations.
    pub(super) calls: f64,
}

/// Counts the operations of a firing, given which values differ.
pub(super) fn work(code: &Code, divergence: &Divergence) -> Work {
    let mut work = Work::default();
    add(&code.body, divergence, 1.0, &mut work);
    work
}

/// The loads of items in a firing, counting repeated ones.
pub(crate) fn loads(code: &Code, divergence: &Divergence) -> f64 {
    work(code, divergence).loads
}

fn add(stmts: &[Stmt], divergence: &Divergence, times: f64, work: &mut Work) {
    for st in stmts {
        exprs(st, &mut |ex| add_ex(ex, divergence, times, work));
        if let Stmt::Store(Area::Out(_), ..) = st {
            work.stores += times;
        }
        let iterations = match st {
            Stmt::For { from, to, step, .. } => iterations(from, to, *step),
            _ => 1.0,
        };
        inner(st).for_each(|stmts| add(stmts, divergence, times * iterations, work));
    }
}

fn iterations(from: &Expr, to: &Expr, step: i32) -> f64 {
    match (from.as_int(), to.as_int()) {
        (Some(from), Some(to)) => (f64::from(to - from) / f64::from(step)).ceil().max(0.0),
        _ => SOME_ITERATIONS,
    }
}

fn add_ex(ex: &Expr, divergence: &Divergence, times: f64, work: &mut Work) {
    match ex {
        Expr::Load(Area::In(_), ..) => work.loads += times,
        Expr::Load(_, at, _) if divergence.ex(at) => work.apart += times,
        Expr::Math(function, ..) if function.is_cheap() => work.ops += 2.0 * times,
        Expr::Math(..) => work.calls += times,
        Expr::Binary(..) | Expr::Select(..) | Expr::Unary(..) | Expr::Convert(..) if divergence.ex(ex) => {
            work.ops += times;
        }
        _ => {}
    }
    ex.each(&mut |part| add_ex(part, divergence, times, work));
}

/// The cost of a function called for each lane.
const CALL: f64 = 20.0;

/// The cost of a firing of one filter, with many firings at once where possible.
pub(super) fn alone(code: &Code, input: Option<&Items>, output: &Items, lanes: usize) -> f64 {
    let all = lanes as f64;
    let vectors = Divergence::of(code).map(|divergence| work(code, &divergence));
    let scalar = |work: Work| work.ops + work.loads + work.stores + work.apart + CALL * work.calls;
    let one = scalar(work(code, &Divergence::all(code)));
    let Some(work) = vectors else { return one };
    let stride = |items: Option<&Items>| items.map_or(Some(1), |items| stride(items, lanes));
    let (Some(from), Some(to)) = (stride(input), stride(Some(output))) else { return one };
    let moved = |stride: i64| match stride {
        0 | 1 => 1.0,
        2..=8 => 2.0 * stride as f64,
        _ => all * EACH,
    };
    let taken =
        if input.is_some_and(|input| is_deinterleaved(&work, input)) { DEINTERLEAVED } else { moved(from) };
    let together = work.ops
        + work.loads * taken
        + work.stores * if is_interleaved(output, to) { 1.0 + (to as f64).log2() } else { moved(to) }
        + all * (work.apart * EACH + work.calls * CALL);
    one.min(together / all)
}

/// Whether the output is interleaved from vectors in registers.
fn is_interleaved(output: &Items, stride: i64) -> bool {
    let dense = output.group == 1 && output.window * output.cells as i64 == stride;
    dense && output.pattern == Pattern::Every(1) && interleaves(stride)
}

/// The most cells of a firing that are interleaved in registers.
const MOST_INTERLEAVED: i64 = 16;

/// Whether firings of this many cells are interleaved.
pub(crate) fn interleaves(cells: i64) -> bool {
    (2..=MOST_INTERLEAVED).contains(&cells) && cells.count_ones() == 1
}

/// The cost of a load where items have been deinterleaved or transposed beforehand.
const DEINTERLEAVED: f64 = 1.5;

/// Whether each item of a window is loaded often enough for that.
fn is_deinterleaved(work: &Work, input: &Items) -> bool {
    let rows = input.group_stride.min(input.window).max(1);
    let in_line = input.group == 1 && matches!(input.pattern, Pattern::Every(_)) && input.cells == 1;
    in_line && work.loads >= 4.0 * rows as f64
}

fn stride(items: &Items, lanes: usize) -> Option<i64> {
    let cells = items.cells as i64;
    match items.pattern {
        Pattern::Ring => None,
        _ if items.group == 1 => Some(items.group_stride * cells),
        _ if items.group % lanes as i64 == 0 => Some(items.stride * cells),
        _ => None,
    }
}

/// The cost of a firing of all members, and the best number of lanes of a vector.
pub(super) fn together(
    joint: &Joint,
    divergence: &Divergence,
    (from, to): (i64, i64),
    lanes: usize,
) -> (f64, usize) {
    let work = work(&joint.code, divergence);
    let cost = |width: usize| {
        let (vectors, each) = (joint.lanes.div_ceil(width) as f64, width as f64);
        // Two of the shorter vectors are done at a time.
        let unit = (each / lanes as f64).max(0.5);
        let moved = |stride: i64| match stride {
            0 | 1 => unit,
            _ => each * EACH,
        };
        let moves = work.loads * moved(from) + work.stores * moved(to);
        vectors * (work.ops * unit + moves + each * (work.apart * EACH + work.calls * CALL))
    };
    let widths = [lanes, lanes / 2, lanes / 4].into_iter().filter(|width| *width >= 4);
    let mut best = (f64::INFINITY, lanes);
    for width in widths {
        let cost = cost(width);
        let as_many = joint.lanes.div_ceil(width) == joint.lanes.div_ceil(best.1);
        // Of equal costs, fewer and longer vectors, but none with unused lanes.
        if cost < best.0 * 0.99 || (as_many && cost <= best.0) {
            best = (cost, width);
        }
    }
    best
}
