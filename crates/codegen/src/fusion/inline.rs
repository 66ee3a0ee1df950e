//! Writes out a filter's firings.

use crate::ir::{Area, Code, Expr, Mem, MemKind, Stmt, Var, exprs_mut, inner_mut};
use crate::plan::{Items, Pattern};

/// A filter's firings in one firing of the kernel.
pub(crate) struct Piece<'a> {
    pub(crate) code: &'a Code,
    pub(crate) firings: i64,
    pub(crate) input: Side<'a>,
    pub(crate) output: Side<'a>,
}

/// Where a filter reads or writes items.
#[derive(Clone, Copy)]
pub(crate) struct Side<'a> {
    pub(crate) items: &'a Items,
    /// The index of the run inside; `None` for the outside.
    pub(crate) inside: Option<usize>,
    /// The position of the kernel's first item there.
    pub(crate) low: i64,
}

pub(super) struct Inline<'a> {
    piece: &'a Piece<'a>,
    /// The runs of cells that replace items inside.
    own: &'a [Mem],
    /// The variables and runs of cells of this firing, by those of the filter.
    vars: Vec<Var>,
    mems: Vec<Option<Mem>>,
    firing: i64,
}

impl<'a> Inline<'a> {
    pub(super) fn new(piece: &'a Piece<'a>, own: &'a [Mem]) -> Inline<'a> {
        Inline { piece, own, vars: Vec::new(), mems: vec![None; piece.code.mems.len()], firing: 0 }
    }

    /// Appends all firings to a code.
    pub(super) fn all(mut self, code: &mut Code) -> Option<()> {
        for firing in 0..self.piece.firings {
            self.firing = firing;
            self.declare(code)?;
            let mut body = self.piece.code.body.clone();
            self.stmts(&mut body)?;
            code.body.append(&mut body);
        }
        Some(())
    }

    /// All firings share the tables; each has its own variables and other cells.
    fn declare(&mut self, code: &mut Code) -> Option<()> {
        let vars = &self.piece.code.vars;
        if vars.iter().any(|var| var.field.is_some()) {
            return None;
        }
        let first = code.vars.len() as u32;
        self.vars = (first..).take(vars.len()).map(Var).collect();
        code.vars.extend(vars.iter().cloned());
        for (mem, info) in self.mems.iter_mut().zip(&self.piece.code.mems) {
            let known = matches!(info.kind, MemKind::Table(_));
            if !(known && mem.is_some()) {
                *mem = Some(Mem(code.mems.len() as u32));
                code.mems.push(info.clone());
            }
        }
        let fields = |info: &crate::ir::MemInfo| matches!(info.kind, MemKind::Field(_));
        (!self.piece.code.mems.iter().any(fields)).then_some(())
    }

    fn stmts(&self, stmts: &mut [Stmt]) -> Option<()> {
        stmts.iter_mut().try_for_each(|st| self.st(st))
    }

    fn st(&self, st: &mut Stmt) -> Option<()> {
        let mut can_be = Some(());
        exprs_mut(st, &mut |ex| can_be = can_be.and_then(|()| self.ex(ex)));
        can_be?;
        match st {
            Stmt::Set(var, _) | Stmt::For { var, .. } => *var = self.vars[var.0 as usize],
            Stmt::Store(area, at, ..) => self.place(area, at)?,
            Stmt::If(..) => {}
            _ => return None,
        }
        inner_mut(st).try_for_each(|stmts| self.stmts(stmts))
    }

    fn ex(&self, ex: &mut Expr) -> Option<()> {
        let mut can_be = Some(());
        ex.each_mut(&mut |part| can_be = can_be.and_then(|()| self.ex(part)));
        can_be?;
        match ex {
            Expr::Var(var) => *var = self.vars[var.0 as usize],
            Expr::Load(area, at, _) => self.place(area, at)?,
            Expr::Iter => return None,
            _ => {}
        }
        Some(())
    }

    /// Translates an access to the fused code.
    fn place(&self, area: &mut Area, at: &mut Expr) -> Option<()> {
        let (side, item) = match area {
            Area::Mem(mem) => {
                *mem = self.mems[mem.0 as usize]?;
                return Some(());
            }
            Area::In(item) => (&self.piece.input, item),
            Area::Out(item) => (&self.piece.output, item),
        };
        let place = place(side, self.firing, std::mem::replace(item, Expr::int(0)))?;
        match side.inside {
            None => **item = place,
            Some(number) => {
                let cell = std::mem::replace(at, Expr::int(0));
                *at = place.times(side.items.cells as i64).plus(cell);
                *area = Area::Mem(self.own[number]);
            }
        }
        Some(())
    }
}

/// An item's position, counted from the first of the fused firing.
fn place(side: &Side<'_>, firing: i64, item: Expr) -> Option<Expr> {
    let begin = begin(side.items, firing) - side.low;
    match (item.as_int(), &side.items.pattern) {
        (Some(item), _) => Some(Expr::int(begin + side.items.offset(item.into()))),
        (None, Pattern::Every(by)) => Some(item.times(*by).plus(Expr::int(begin))),
        _ => None,
    }
}

/// The position of a firing's first item.
pub(crate) fn begin(items: &Items, firing: i64) -> i64 {
    items.base + firing / items.group * items.group_stride + firing % items.group * items.stride
}
