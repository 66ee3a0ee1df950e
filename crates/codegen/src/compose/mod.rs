//! One code for several filters that fire together: what one gives is a local that the next one takes.
//!
//! A firing of the whole is some firings of each filter, one after the other in data-flow order, between which
//! no items are left. Each of them is written out with variables of its own ([`Inline`]); loops over places of
//! what is inside go ([`unfold`]), so that these become variables; and loops that have the same bounds and need
//! nothing of one another become one ([`jam`]), so that what they load of their common input is loaded once
//! ([`once`]). Sums of what is inside need not begin with 0 ([`zeros`]).
//! Operations, and their order where one needs the other, stay what they were.

mod columns;
mod inline;
mod jam;
mod names;
mod once;
mod turns;
mod unfold;
mod zeros;

use crate::emit::items::Items;
use crate::ir::{Cell, Code, Mem, MemInfo, MemKind};
use crate::scalars::tidy;
use inline::Inline;

pub(crate) use inline::begin;
pub(crate) use turns::turns;

/// A filter's firings in one of the whole.
pub(crate) struct Piece<'a> {
    pub(crate) code: &'a Code,
    pub(crate) firings: i64,
    pub(crate) input: Side<'a>,
    pub(crate) output: Side<'a>,
}

/// Where a filter takes or gives items.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) items: &'a Items,
    /// What is inside, by its number; none of what is around.
    pub(crate) inside: Option<usize>,
    /// The first place of a firing of the whole there.
    pub(crate) low: i64,
}

/// What is inside: a run of items.
pub(crate) struct Inside {
    pub(crate) cell: Cell,
    pub(crate) cells: usize,
}

/// The code of filters, if they can be put together.
pub(crate) fn compose(pieces: &[Piece<'_>], inside: &[Inside]) -> Option<Code> {
    let mut code = Code::default();
    for (number, Inside { cell, cells }) in inside.iter().enumerate() {
        let (kind, name) = (MemKind::Local, format!("inside{number}"));
        code.mems.push(MemInfo { kind, cell: *cell, cells: *cells, name });
    }
    let own: Vec<Mem> = (0..inside.len() as u32).map(Mem).collect();
    for piece in pieces {
        Inline::new(piece, &own).all(&mut code)?;
    }
    unfold::unfold(&mut code, &own)?;
    tidy(&mut code);
    jam::jam(&mut code);
    once::once(&mut code);
    zeros::drop_zeros(&mut code);
    (code.large_cells() == 0).then_some(code)
}
