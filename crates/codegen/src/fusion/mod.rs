//! Vertical fusion: one code for several filters, in which one filter's output is a local that the next one
//! reads.
//!
//! A firing of the fused kernel is several firings of each filter, in data-flow order, after which no items
//! remain between them. Each firing is written out with variables of its own ([`Inline`]). Loops over
//! positions of items inside are unrolled ([`unroll`]), so that these items become variables. Loops with the
//! same bounds that do not depend on each other are fused ([`loop_fusion`]), so that what they load of their common
//! input is loaded once ([`redundant_loads`]). Sums of items inside need not begin with 0 ([`identities`]). Operations, and
//! the order of dependent ones, stay as they were.

mod identities;
mod inline;
mod loop_fusion;
mod names;
mod redundant_loads;
mod table_interleaving;
mod unroll;
mod unroll_and_jam;

use crate::ir::{Cell, Code, Mem, MemInfo, MemKind};
use crate::scalar_replacement::tidy;
use inline::Inline;

pub(crate) use inline::{Piece, Side, begin};
pub(crate) use unroll_and_jam::unroll_and_jam;

/// A run of items inside.
pub(crate) struct Inside {
    pub(crate) cell: Cell,
    pub(crate) cells: usize,
}

/// Fuses filters, if that is possible.
pub(crate) fn fuse(pieces: &[Piece<'_>], inside: &[Inside]) -> Option<Code> {
    let mut code = Code::default();
    for (number, Inside { cell, cells }) in inside.iter().enumerate() {
        let (kind, name) = (MemKind::Local, format!("inside{number}"));
        code.mems.push(MemInfo { kind, cell: *cell, cells: *cells, name });
    }
    let own: Vec<Mem> = (0..inside.len() as u32).map(Mem).collect();
    for piece in pieces {
        Inline::new(piece, &own).all(&mut code)?;
    }
    unroll::unroll(&mut code, &own)?;
    tidy(&mut code);
    loop_fusion::fuse_loops(&mut code);
    redundant_loads::merge_loads(&mut code);
    identities::drop_zeros(&mut code);
    (code.large_cells() == 0).then_some(code)
}
