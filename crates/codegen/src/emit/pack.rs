//! C text of SIMD packs: lane `l` of the vectors is member `l`.
//!
//! With more members than lanes, several vectors are side by side; and where firings keep nothing, several
//! firings: vector `k` is number `k % vectors` of firing `f + k / vectors`. Lanes beyond the last member
//! compute unused values and store nothing.
//!
//! A load reads each lane's item from its own position: one position for all, consecutive positions, or a
//! permutation of these ([`lanes_at`]). The members' state is in their own structures; in the function it is
//! in vectors.

use super::code::{alternates, field_name, tables, used_mems};
use super::scattered::{beyond, lanes_at, narrow, one_in, one_out};
use super::simd::{Lanes, Vectors};
use super::terms::{bare, cell_type, mem_name, type_of, whole};
use super::vectors::{letter, vector};
use crate::ir::{Area, Cell, Code, Expr, Kind, Mem, MemKind, Scalar, Stmt, Var, walk, walk_exprs};
use crate::isomorphic::Joint;
use crate::plan::{Items, Pack, Pattern};
use crate::uniformity::Divergence;
use thalweg_lang::hir::BinaryOp;

/// The most vectors of sums side by side.
const MOST_SUMS: usize = 24;

/// The most firings at once.
const MOST_FIRINGS: usize = 8;

/// The most statements of an iteration over several firings.
const MOST_STATEMENTS: usize = 3000;

/// Writes the function of a pack.
pub(crate) struct PackCode<'a> {
    pub(crate) pack: &'a Pack,
    /// The structure of each member's state.
    pub(crate) kept: Vec<String>,
    /// Whether there is a `prework`.
    pub(crate) after_prework: bool,
    /// Lanes of the machine's vectors.
    pub(crate) most: usize,
}

impl PackCode<'_> {
    /// The text from the parameters on; the pointers to the members' structures are `kept0` and so on.
    pub(crate) fn function(&self) -> String {
        let pack = self.pack;
        let vectors = pack.joint.lanes.div_ceil(pack.width);
        let code = columns(&pack.joint, vectors * pack.width);
        let none = Items::in_line(Cell::Of(Kind::Int), 1, 0);
        let input = pack.input.as_ref().map_or(&none, |port| &port.items);
        let output = &pack.output.items;
        let divergence = Divergence::among(&pack.joint, &pack.same)
            .expect("the analysis succeeded when the pack was chosen");
        let firings = firings(&code, &divergence, (input, output), vectors);
        let mut text = tables(&code, input, output);
        let mut begun = self.writer(&code, &divergence, (input, output), vectors, 1);
        begun.begin_members(self);
        text.push_str(&begun.inner.text);
        text.push_str("    int64_t f = first;\n");
        let mut counts = vec![firings, 1];
        counts.dedup();
        for firings in counts {
            let mut writer = self.writer(&code, &divergence, (input, output), vectors, firings);
            writer.iterations(firings);
            text.push_str(&writer.inner.text);
        }
        let mut ended = self.writer(&code, &divergence, (input, output), vectors, 1);
        ended.end_members(self);
        text.push_str(&ended.inner.text);
        narrow(&text, pack.width, self.most)
    }

    fn writer<'b>(
        &'b self,
        code: &'b Code,
        divergence: &Divergence,
        (input, output): (&'b Items, &'b Items),
        vectors: usize,
        firings: usize,
    ) -> Vectors<'b> {
        let step = |items: &Items| if items.group == 1 { items.group_stride * items.cells as i64 } else { 0 };
        let numbers = self.pack.joint.tables.iter().map(|table| numbers(table.as_ref()?)).collect();
        let lanes = Lanes { pack: self.pack, numbers, vectors, steps: (step(input), step(output)) };
        let apart = alternates(code);
        let width = self.pack.width;
        Vectors::among(code, (input, output), divergence.clone(), (width, vectors * firings), apart, lanes)
    }
}

fn numbers(table: &[Vec<Scalar>]) -> Option<Vec<i64>> {
    let first = |values: &Vec<Scalar>| match values.first() {
        Some(Scalar::Int(value)) => Some(i64::from(*value)),
        _ => None,
    };
    table.iter().map(first).collect()
}

/// The code with its tables that differ as rows of one value for each lane.
fn columns(joint: &Joint, lanes: usize) -> Code {
    let mut code = joint.code.clone();
    for (mem, table) in code.mems.iter_mut().zip(&joint.tables) {
        let Some(table) = table else { continue };
        let lane = |lane: usize| &table[lane.min(table.len() - 1)];
        let values = (0..mem.cells).flat_map(|cell| (0..lanes).map(move |l| lane(l)[cell]));
        mem.kind = MemKind::Table(values.collect());
    }
    code
}

/// The number of firings at once.
fn firings(code: &Code, divergence: &Divergence, (input, output): (&Items, &Items), vectors: usize) -> usize {
    let state = code.vars.iter().any(|var| var.field.is_some())
        || code.mems.iter().any(|mem| matches!(mem.kind, MemKind::Field(_)));
    if state || input.group > 1 || output.group > 1 {
        return 1;
    }
    let (mut sets, mut statements) = (vec![0; code.vars.len()], 0);
    walk(&code.body, &mut |st| {
        statements += 1;
        if let Stmt::Set(var, _) = st {
            sets[var.0 as usize] += 1;
        }
    });
    let cells = code
        .mems
        .iter()
        .enumerate()
        .filter(|(at, mem)| mem.kind == MemKind::Local && divergence.mem(Mem(*at as u32)));
    let cells: usize = cells.map(|(_, mem)| mem.cells).sum();
    // A variable set in several places is live for long; one set once is soon used.
    let sums = (0..sets.len()).filter(|var| sets[*var] > 1 && divergence.var(Var(*var as u32))).count();
    let most =
        (MOST_SUMS / ((sums + cells).max(1) * vectors)).min(MOST_STATEMENTS / (statements * vectors).max(1));
    match most.min(MOST_FIRINGS) {
        0 | 1 => 1,
        most => 1 << most.ilog2(),
    }
}

impl Vectors<'_> {
    fn members(&self) -> &Lanes<'_> {
        self.among.as_ref().expect("the lanes are members")
    }

    /// Loads the members' state into variables.
    fn begin_members(&mut self, members: &PackCode<'_>) {
        let code = self.inner.code;
        let width = members.pack.width;
        let own = |k: usize, lane: usize| member(members.pack, k * width + lane);
        if uses_iter(code) {
            let minus = if members.after_prework { " - 1" } else { "" };
            self.line(format!("const int64_t before = kept0->fired{minus};"));
        }
        for (at, var) in code.vars.iter().enumerate() {
            let Some((field, cell)) = var.field else { continue };
            let (id, from) = (Var(at as u32), format!("{}[{cell}]", field_name(field)));
            if !self.divergence.var(id) {
                let text = format!("{} {} = kept0->{from};", type_of(var.kind), self.inner.name(id));
                self.line(text);
                continue;
            }
            for k in 0..self.beside {
                self.k = k;
                let values =
                    (0..width).map(|lane| one_in(var.kind, &format!("kept{}->{from}", own(k, lane))));
                let values: Vec<String> = values.collect();
                let text = format!("{} {} = {{{}}};", vector(var.kind), self.name(id), values.join(", "));
                self.line(text);
            }
        }
        for (at, mem) in used_mems(code) {
            let (MemKind::Field(field), Cell::Of(kind)) = (&mem.kind, mem.cell) else { continue };
            let (name, field) = (mem_name(code, at as u32), field_name(*field));
            for k in 0..self.beside {
                self.line(format!("{} {name}_{k}[{}];", vector(kind), mem.cells.max(1)));
                self.line(format!("for (int c = 0; c < {}; c++) {{", mem.cells));
                for lane in 0..width {
                    let value = one_in(kind, &format!("kept{}->{field}[c]", own(k, lane)));
                    self.line(format!("    {name}_{k}[c][{lane}] = {value};"));
                }
                self.line("}");
            }
        }
    }

    /// Stores the variables back to the members' state.
    fn end_members(&mut self, members: &PackCode<'_>) {
        let (code, pack) = (self.inner.code, members.pack);
        let lanes = |k: usize| (0..pack.width).map(move |lane| (lane, k * pack.width + lane));
        let real = |at: usize| at < pack.joint.lanes;
        for (at, var) in code.vars.iter().enumerate() {
            let Some((field, cell)) = var.field else { continue };
            let (id, to) = (Var(at as u32), format!("{}[{cell}]", field_name(field)));
            if !self.divergence.var(id) {
                for member in 0..pack.actors.len() {
                    let text = format!("kept{member}->{to} = {};", self.inner.name(id));
                    self.line(text);
                }
                continue;
            }
            for k in 0..self.beside {
                self.k = k;
                for (lane, at) in lanes(k).filter(|(_, at)| real(*at)) {
                    let value = one_out(var.kind, &format!("{}[{lane}]", self.name(id)));
                    self.line(format!("kept{}->{to} = {value};", member(pack, at)));
                }
            }
        }
        for (at, mem) in used_mems(code) {
            let (MemKind::Field(field), Cell::Of(kind)) = (&mem.kind, mem.cell) else { continue };
            let (name, field) = (mem_name(code, at as u32), field_name(*field));
            for k in 0..self.beside {
                self.line(format!("for (int c = 0; c < {}; c++) {{", mem.cells));
                for (lane, at) in lanes(k).filter(|(_, at)| real(*at)) {
                    let value = one_out(kind, &format!("{name}_{k}[c][{lane}]"));
                    self.line(format!("    kept{}->{field}[c] = {value};", member(pack, at)));
                }
                self.line("}");
            }
        }
    }

    /// The loop over this many firings at a time.
    fn iterations(&mut self, firings: usize) {
        self.line(format!("for (; f + {firings} <= last; f += {firings}) {{"));
        self.inner.depth = 2;
        for (items, name, constant) in [(self.inner.input, "in", "const "), (self.inner.output, "out", "")] {
            let ty = cell_type(items.cell);
            self.line(format!("{constant}{ty} *restrict {name} = {name}0 + ({});", items.start("f")));
        }
        self.line("(void)in, (void)out;");
        self.locals();
        let code = self.inner.code;
        self.stmts(&code.body);
        self.inner.depth = 1;
        self.line("}");
    }

    /// Splits a position into the part that all lanes share, and each lane's own offset.
    fn place_of(&self, ex: &Expr) -> (Expr, Vec<i64>) {
        let lanes = self.members();
        let none = || vec![0; lanes.pack.joint.lanes];
        match ex {
            Expr::Load(Area::Mem(mem), _, _) if self.divergence.ex(ex) => {
                (Expr::int(0), lanes.numbers[mem.0 as usize].clone().unwrap_or_else(none))
            }
            Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), Kind::Int, x, y) if self.divergence.ex(ex) => {
                let ((a, mut all), (b, more)) = (self.place_of(x), self.place_of(y));
                let sign = if *op == BinaryOp::Add { 1 } else { -1 };
                all.iter_mut().zip(&more).for_each(|(at, more)| *at += sign * more);
                let same = match (sign, b.as_int()) {
                    (1, _) => a.plus(b),
                    (_, Some(b)) => a.plus(Expr::int(-i64::from(b))),
                    _ => Expr::Binary(BinaryOp::Sub, Kind::Int, Box::new(a), Box::new(b)),
                };
                (same, all)
            }
            Expr::Binary(BinaryOp::Mul, Kind::Int, x, y) if self.divergence.ex(ex) => {
                let by = i64::from(y.as_int().unwrap_or(1));
                let (same, mut all) = self.place_of(x);
                all.iter_mut().for_each(|at| *at *= by);
                (same.times(by), all)
            }
            _ => (ex.clone(), none()),
        }
    }

    /// A cell of an item: the text of a pointer, and each lane's distance from it.
    fn places(&self, takes: bool, item: &Expr, at: &Expr) -> (String, Vec<i64>) {
        let lanes = self.members();
        let (items, base, step, own, side) = if takes {
            (self.inner.input, "in", lanes.steps.0, &lanes.pack.from, "read")
        } else {
            (self.inner.output, "out", lanes.steps.1, &lanes.pack.to, "write")
        };
        let ((item, by_item), (at, by_cell)) = (self.place_of(item), self.place_of(at));
        let stride = if let Pattern::Every(by) = items.pattern { by * items.cells as i64 } else { 1 };
        let first = (self.k / lanes.vectors) as i64 * step;
        let place = items.place(side, &self.inner.ex(&item), item.as_int(), &self.inner.ex(&at));
        let all = own.iter().zip(by_item).zip(by_cell);
        let all: Vec<i64> = all.map(|((own, item), cell)| own + item * stride + cell).collect();
        let width = lanes.pack.width;
        let from = self.k % lanes.vectors * width;
        let own = all.iter().copied().skip(from).take(width).collect();
        (format!("{base} + {first} + {}", whole(&place)), own)
    }

    /// Loads the items of all lanes.
    pub(super) fn take_among(&self, item: &Expr, at: &Expr, kind: Kind) -> String {
        let (first, own) = self.places(true, item, at);
        lanes_at(kind, &first, &beyond(own, self.lanes))
    }

    /// Stores the items of all lanes that are members.
    pub(super) fn give_among(&self, item: &Expr, at: &Expr, kind: Kind, value: &str) -> String {
        let (first, own) = self.places(false, item, at);
        let (name, count) = (letter(kind), own.len());
        let value = match &self.mask {
            None => value.to_owned(),
            Some(mask) => {
                let old = lanes_at(kind, &first, &beyond(own.clone(), self.lanes));
                format!("choose({mask}_{}, {value}, {old})", self.k)
            }
        };
        let value = bare(&value);
        let in_line = own.windows(2).all(|pair| pair[1] - pair[0] == 1);
        match own[0] {
            at if in_line && count == self.lanes => format!("store_{name}({first} + {at}, {value});"),
            at if in_line && kind != Kind::Bool => {
                let ty = vector(kind);
                format!("{{ const {ty} some = {value}; memcpy({first} + {at}, &some, {}); }}", 4 * count)
            }
            _ => {
                let ty = vector(kind);
                let each = own
                    .iter()
                    .enumerate()
                    .map(|(lane, at)| format!("to[{at}] = {};", one_out(kind, &format!("some[{lane}]"))));
                let each: Vec<String> = each.collect();
                let cell = cell_type(self.inner.output.cell);
                format!("{{ const {ty} some = {value}; {cell} *to = {first}; {} }}", each.join(" "))
            }
        }
    }

    /// A value of a table that differs.
    pub(super) fn column(&self, mem: Mem, at: &Expr, kind: Kind) -> Option<String> {
        let lanes = self.among.as_ref()?;
        lanes.pack.joint.tables[mem.0 as usize].as_ref()?;
        let (name, all) = (mem_name(self.inner.code, mem.0), lanes.vectors * self.lanes);
        let first = self.k % lanes.vectors * self.lanes;
        if !self.divergence.ex(at) {
            let at = match at.as_int() {
                Some(at) => (i64::from(at) * all as i64 + first as i64).to_string(),
                None => format!("{} * {all} + {first}", self.inner.ex(at)),
            };
            return Some(format!("load_{}({name} + {at})", letter(kind)));
        }
        let element = one_in(kind, &format!("{name}[at[l] * {all} + {first} + l]"));
        let (at, ty) = (self.vx(at), vector(kind));
        Some(format!(
            "({{ const VI at = {}; {ty} r; for (int l = 0; l < LANES; l++) r[l] = {element}; r; }})",
            bare(&at)
        ))
    }

    /// The number of executions of `work` before this firing.
    pub(super) fn executed(&self) -> String {
        let lanes = self.members();
        format!("all_i((int32_t)(before + f + {}))", self.k / lanes.vectors)
    }

    /// A compiler barrier before the body of a loop that loads items: loaded values are not carried to the
    /// next iteration, for which there are no registers.
    pub(super) fn forget(&mut self, body: &[Stmt]) {
        if self.among.is_none() || self.beside == 1 {
            return;
        }
        let mut takes = false;
        let mut nested = false;
        walk(body, &mut |st| nested |= matches!(st, Stmt::For { .. }));
        walk_exprs(body, &mut |ex| takes |= matches!(ex, Expr::Load(Area::In(_), ..)));
        let has_cells = self.inner.code.mems.iter().any(|mem| mem.kind == MemKind::Local);
        if takes && !nested && !has_cells {
            self.inner.depth += 1;
            self.line("__asm__ volatile (\"\" ::: \"memory\");");
            self.inner.depth -= 1;
        }
    }
}

/// The member of a lane; lanes beyond the last member repeat it.
fn member(pack: &Pack, lane: usize) -> usize {
    let each = pack.joint.lanes / pack.actors.len();
    lane.min(pack.joint.lanes - 1) / each
}

fn uses_iter(code: &Code) -> bool {
    let mut found = false;
    walk_exprs(&code.body, &mut |ex| found |= matches!(ex, Expr::Iter));
    found
}
