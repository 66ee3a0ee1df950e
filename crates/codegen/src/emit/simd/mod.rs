//! Several firings at once: each scalar that differs between firings becomes a vector with a lane for each
//! firing.
//!
//! This requires uniform loop bounds, and firings without state, prints, random numbers and failures
//! ([`Divergence`]). Conditions that differ become masks: both branches are executed, and each lane keeps
//! the results of its own branch. Indices are proven in range on every path, so executing a branch needlessly
//! reads nothing out of bounds.
//!
//! Lane `l` is firing `f + l`; its items begin `l` strides further. With stride 1 a vector is loaded
//! directly; with small strides it is picked out of as many vectors; with larger ones it is gathered. Where
//! few variables are needed, several vectors are computed side by side, so that an operation need not wait
//! for the one before it.

mod exprs;
mod firings;
mod stmts;

use super::code::Writer;
use super::terms::mem_name;
use super::vectors::vector;
use crate::ir::{Cell, Code, Mem, MemKind, Stmt, Var, walk};
use crate::plan::{Items, Pack};
use crate::uniformity::Divergence;

pub(super) use firings::firings;

/// The lanes of members, for [`Vectors`].
pub(in crate::emit) struct Lanes<'a> {
    pub(in crate::emit) pack: &'a Pack,
    /// For tables that differ: the first value of each lane.
    pub(in crate::emit) numbers: Vec<Option<Vec<i64>>>,
    /// Vectors of a firing.
    pub(in crate::emit) vectors: usize,
    /// Cells from one firing to the next, of firings done at once.
    pub(in crate::emit) steps: (i64, i64),
}

/// Writes several firings at once.
pub(in crate::emit) struct Vectors<'a> {
    pub(in crate::emit) inner: Writer<'a>,
    pub(in crate::emit) divergence: Divergence,
    pub(in crate::emit) lanes: usize,
    pub(in crate::emit) beside: usize,
    /// Cells from one lane to the next.
    pub(in crate::emit) strides: (i64, i64),
    /// The cells of a firing's output, where they are interleaved at the end.
    picked: Option<i64>,
    /// The index among the vectors side by side.
    pub(in crate::emit) k: usize,
    /// The mask of the lanes that take this branch.
    pub(in crate::emit) mask: Option<String>,
    masks: usize,
    /// Set if lanes are members rather than firings.
    pub(in crate::emit) among: Option<Lanes<'a>>,
    /// The cells of a firing's input, where they are transposed into vectors beforehand.
    pub(in crate::emit) window: Option<i64>,
}

impl<'a> Vectors<'a> {
    /// For members: vectors of `lanes` lanes, `beside` of them side by side.
    pub(in crate::emit) fn among(
        code: &'a Code,
        (input, output): (&'a Items, &'a Items),
        divergence: Divergence,
        (lanes, beside): (usize, usize),
        apart: bool,
        among: Lanes<'a>,
    ) -> Vectors<'a> {
        let inner = Writer::new(code, (input, output), 1, apart);
        let (strides, among) = ((0, 0), Some(among));
        let (picked, mask, window) = (None, None, None);
        Vectors { inner, divergence, lanes, beside, strides, picked, k: 0, mask, masks: 0, among, window }
    }
}

impl Vectors<'_> {
    pub(in crate::emit) fn line(&mut self, text: impl AsRef<str>) {
        self.inner.line(text);
    }

    fn write(&mut self) -> String {
        let at_once = self.lanes * self.beside;
        self.inner.depth = 1;
        let groups = [self.inner.input, self.inner.output].map(|items| items.group).into_iter();
        let mut groups = groups.filter(|group| *group > 1);
        let aligned = groups.clone().next().is_some();
        if groups.any(|group| !(group as usize).is_multiple_of(at_once)) {
            self.beside = 1;
        }
        let at_once = self.lanes * self.beside;
        let condition = if aligned { format!("if (first % {at_once} == 0) ") } else { String::new() };
        self.line(format!("{condition}for (; f + {at_once} <= last; f += {at_once}) {{"));
        self.inner.depth = 2;
        let (input, output) = (self.inner.input, self.inner.output);
        let types = [("in", "const ", input), ("out", "", output)];
        for (name, constant, items) in types {
            let ty = super::terms::cell_type(items.cell);
            self.line(format!("{constant}{ty} *restrict {name} = {name}0 + ({});", items.start("f")));
        }
        self.line("(void)in, (void)out;");
        self.hide_tables();
        self.turn_window();
        self.locals();
        let code = self.inner.code;
        self.stmts(&code.body);
        self.put_together();
        self.inner.depth = 1;
        self.line("}");
        std::mem::take(&mut self.inner.text)
    }

    pub(in crate::emit) fn locals(&mut self) {
        let code = self.inner.code;
        let mut used = vec![false; code.vars.len()];
        walk(&code.body, &mut |st| {
            if let Stmt::Set(var, _) | Stmt::For { var, .. } = st {
                used[var.0 as usize] = true;
            }
        });
        let own = |(at, var): &(usize, &crate::ir::VarInfo)| used[*at] && var.field.is_none();
        for (at, var) in code.vars.iter().enumerate().filter(own) {
            let id = Var(at as u32);
            if self.divergence.var(id) {
                for k in 0..self.beside {
                    self.k = k;
                    let text = format!("{} {} = {{0}};", vector(var.kind), self.name(id));
                    self.line(text);
                }
            } else {
                let text = format!("{} {};", super::terms::type_of(var.kind), self.inner.name(id));
                self.line(text);
            }
        }
        for (at, mem) in super::code::used_mems(code).filter(|(_, mem)| mem.kind == MemKind::Local) {
            let name = mem_name(code, at as u32);
            match (self.divergence.mem(Mem(at as u32)), mem.cell) {
                (true, Cell::Of(kind)) => {
                    for k in 0..self.beside {
                        self.line(format!("{} {name}_{k}[{}];", vector(kind), mem.cells.max(1)));
                    }
                }
                _ => self.inner.local(at),
            }
        }
        if let Some(cells) = self.picked {
            let Cell::Of(kind) = self.inner.output.cell else { return };
            for (k, cell) in (0..self.beside).flat_map(|k| (0..cells).map(move |cell| (k, cell))) {
                self.line(format!("{} give{cell}_{k} = {{0}};", vector(kind)));
            }
        }
    }
}
