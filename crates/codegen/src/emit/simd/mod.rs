//! Several firings at once: each scalar that differs between firings becomes a vector with a lane for each
//! firing.
//!
//! This requires uniform loop bounds, and firings without state, prints, random numbers and failures
//! ([`Varies`]). Conditions that differ become masks: both branches are executed, and each lane keeps
//! the results of its own branch. Indices are proven in range on every path, so executing a branch needlessly
//! reads nothing out of bounds.
//!
//! Lane `l` is firing `f + l`; its items begin `l` strides further. With stride 1 a vector is loaded
//! directly; with small strides it is picked out of as many vectors; with larger ones it is gathered. Where
//! few variables are needed, several vectors are computed side by side, so that an operation need not wait
//! for the one before it.

mod exprs;
mod stmts;

use super::code::Writer;
use super::expr::{mem_name, names};
use super::family::Lanes;
use super::vectors::vector;
use super::window;
use crate::compose::turns;
use crate::ir::{Area, Cell, Code, Kind, Mem, MemKind, St, Var, walk};
use crate::plan::{Items, NARROW, Pattern, pays, stride, weaves};
use crate::uniformity::Varies;
use std::fmt::Write;

/// The loop over as many firings at a time as there are lanes; `None` where that is not possible.
pub(crate) fn firings(code: &Code, input: &Items, output: &Items, lanes: usize) -> Option<String> {
    let mut text = side_by_side(code, input, output, (lanes, 4))?;
    // Firings of the last vector may repeat earlier ones: they store the same items again.
    if input.group == 1 && output.group == 1 {
        let rest = side_by_side(code, input, output, (lanes, 1))?;
        // With one vector the loops are the same.
        if rest == text {
            text.clear();
        }
        let one = rest.split_once("{\n").map_or("", |(_, body)| body);
        let _ = write!(
            text,
            "    while (f < last && last - first >= {lanes}) {{\n        if (last - f < {lanes})\n            \
             f = last - {lanes};\n{}        f += {lanes};\n    }}\n",
            one.strip_suffix("    }\n").unwrap_or(one)
        );
    }
    Some(text)
}

/// The loop with at most this many vectors side by side; remaining firings are left over.
fn side_by_side(code: &Code, input: &Items, output: &Items, (lanes, most): (usize, usize)) -> Option<String> {
    let varies = Varies::of(code)?;
    let strides = (stride(input, lanes)?, stride(output, lanes)?);
    let window = window::cells(code, &varies, input, strides.0);
    if !pays(code, &varies, (if window.is_some() { 1 } else { strides.0 }, strides.1)) {
        return None;
    }
    // Vectors of a window are loaded directly, so iterations of a loop may share them.
    let shared = window.and_then(|_| turns(code));
    let (code, varies) = match &shared {
        Some(shared) => (shared, Varies::of(shared)?),
        None => (code, varies),
    };
    let beside = if window.is_some() { 1 } else { beside(code, &varies).min(most) };
    let inner = Writer {
        code,
        names: names(code),
        input,
        output,
        text: String::new(),
        depth: 2,
        which: 0,
        apart: super::code::alternates(code),
        way: Default::default(),
    };
    let mut writer = Vectors {
        inner,
        varies,
        lanes,
        beside,
        strides,
        picked: picked(code, output, strides.1),
        k: 0,
        mask: None,
        masks: 0,
        among: None,
        window,
    };
    Some(writer.write())
}

/// The number of vectors computed side by side.
fn beside(code: &Code, varies: &Varies) -> usize {
    let cells: usize = code
        .mems
        .iter()
        .enumerate()
        .filter(|(at, mem)| mem.kind == MemKind::Local && varies.mem(Mem(*at as u32)))
        .map(|(_, mem)| mem.cells)
        .sum();
    let vars = (0..code.vars.len() as u32).filter(|var| varies.var(Var(*var))).count();
    match vars + cells {
        0..=4 => 4,
        5..=10 => 2,
        _ => 1,
    }
}

/// The cells of a firing's output, if all are stored at constant positions, as a whole run, and are few: then
/// they are interleaved at the end.
fn picked(code: &Code, output: &Items, stride: i64) -> Option<i64> {
    let dense = output.window * output.cells as i64 == stride;
    let few = (2..=NARROW).contains(&stride) || weaves(stride);
    let whole = output.pattern == Pattern::Every(1) && output.group == 1 && dense && few;
    let mut known = true;
    walk(&code.body, &mut |st| {
        if let St::Store(Area::Out(item), at, ..) = st {
            known &= item.as_int().is_some() && at.as_int().is_some();
        }
    });
    (whole && known && output.cell != Cell::Of(Kind::Bool)).then_some(stride)
}

pub(in crate::emit) struct Vectors<'a> {
    pub(in crate::emit) inner: Writer<'a>,
    pub(in crate::emit) varies: Varies,
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
    /// Set if lanes are siblings rather than firings.
    pub(in crate::emit) among: Option<Lanes<'a>>,
    /// The cells of a firing's input, where they are transposed into vectors beforehand.
    pub(in crate::emit) window: Option<i64>,
}

impl<'a> Vectors<'a> {
    /// For siblings: vectors of `lanes` lanes, `beside` of them side by side.
    pub(in crate::emit) fn among(
        code: &'a Code,
        (input, output): (&'a Items, &'a Items),
        varies: Varies,
        (lanes, beside): (usize, usize),
        apart: bool,
        among: Lanes<'a>,
    ) -> Vectors<'a> {
        let inner = Writer {
            code,
            names: names(code),
            input,
            output,
            text: String::new(),
            depth: 1,
            which: 0,
            apart,
            way: Default::default(),
        };
        let (strides, among) = ((0, 0), Some(among));
        let (picked, mask, window) = (None, None, None);
        Vectors { inner, varies, lanes, beside, strides, picked, k: 0, mask, masks: 0, among, window }
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
            let ty = super::expr::cell_type(items.cell);
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
            if let St::Set(var, _) | St::For { var, .. } = st {
                used[var.0 as usize] = true;
            }
        });
        let own = |(at, var): &(usize, &crate::ir::VarInfo)| used[*at] && var.field.is_none();
        for (at, var) in code.vars.iter().enumerate().filter(own) {
            let id = Var(at as u32);
            if self.varies.var(id) {
                for k in 0..self.beside {
                    self.k = k;
                    let text = format!("{} {} = {{0}};", vector(var.kind), self.name(id));
                    self.line(text);
                }
            } else {
                let text = format!("{} {};", super::expr::type_of(var.kind), self.inner.name(id));
                self.line(text);
            }
        }
        for (at, mem) in super::code::used_mems(code).filter(|(_, mem)| mem.kind == MemKind::Local) {
            let name = mem_name(code, at as u32);
            match (self.varies.mem(Mem(at as u32)), mem.cell) {
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
