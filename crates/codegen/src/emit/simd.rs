//! Several firings at once: each scalar that differs between firings is a vector with one lane for each.
//!
//! That can be done where firings keep no state, print and draw nothing and cannot fail, and where loops go
//! round equally often in each ([`lanes::Varies`]). Conditions that differ become masks: both ways are
//! gone, and each lane keeps what its own way has given. Indices are proven to be inside on every way, so
//! that going a way for nothing reads nothing outside.
//!
//! Lane `l` stands for firing `f + l`, whose items begin `l` strides further on. Where the stride is 1 a
//! vector is loaded as it stands, small ones are picked out of as many vectors, and larger ones one by
//! one. Several vectors are calculated side by side where few variables are needed: an operation need not
//! wait for the one before it.

use super::code::Writer;
use super::expr::{bare, mem_name, whole};
use super::family::Lanes;
use super::items::{Items, Pattern};
use super::lanes::Varies;
use super::weave::{self, weave, weaves};
use super::window;
use crate::compose::turns;
use crate::ir::{Area, Cell, Code, Ex, Kind, Mem, MemKind, St, Var, walk, walk_exprs};
use std::fmt::Write;
use thalweg_lang::hir::{BinaryOp, Builtin, UnaryOp};

/// The largest stride whose items are picked out of vectors.
pub(super) const NARROW: i64 = 8;

/// The loop over as many firings at a time as there are lanes; none where that cannot be done.
pub(crate) fn firings(code: &Code, input: &Items, output: &Items, lanes: usize) -> Option<String> {
    let mut text = side_by_side(code, input, output, (lanes, 4))?;
    // The firings of the last vector may have been done before: they give the same again.
    if input.group == 1 && output.group == 1 {
        let rest = side_by_side(code, input, output, (lanes, 1))?;
        // Where that is one vector, the loop is the same.
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

/// The same, with so many vectors side by side at most; what is left is left.
fn side_by_side(code: &Code, input: &Items, output: &Items, (lanes, most): (usize, usize)) -> Option<String> {
    let varies = Varies::of(code)?;
    let strides = (stride(input, lanes)?, stride(output, lanes)?);
    let window = window::cells(code, &varies, input, strides.0);
    if !pays(code, &varies, (if window.is_some() { 1 } else { strides.0 }, strides.1)) {
        return None;
    }
    // Vectors of a window are loaded as they are: turns of a loop may share them.
    let shared = window.and_then(|_| turns(code));
    let (code, varies) = match &shared {
        Some(shared) => (shared, Varies::of(shared)?),
        None => (code, varies),
    };
    let beside = if window.is_some() { 1 } else { beside(code, &varies).min(most) };
    let inner = Writer {
        code,
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

/// Cells from one firing's items to the next one's, of input and output, where firings are done at once.
pub(crate) fn strides_of(code: &Code, input: &Items, output: &Items, lanes: usize) -> Option<(i64, i64)> {
    let varies = Varies::of(code)?;
    let strides = (stride(input, lanes)?, stride(output, lanes)?);
    pays(code, &varies, strides).then_some(strides)
}

/// Cells from one firing's items to the next one's.
fn stride(items: &Items, lanes: usize) -> Option<i64> {
    let cells = items.cells as i64;
    match &items.pattern {
        Pattern::Ring => None,
        _ if items.cell == Cell::Mixed => None,
        _ if items.group == 1 => Some(items.group_stride * cells),
        _ if items.group % lanes as i64 == 0 => Some(items.stride * cells),
        _ => None,
    }
}

/// Whether there is enough to calculate for items that are loaded one by one.
fn pays(code: &Code, varies: &Varies, (input, output): (i64, i64)) -> bool {
    let (mut work, mut apart) = (0, 0);
    walk(&code.body, &mut |st| {
        if let St::Store(Area::Out(_), ..) = st {
            apart += usize::from(output > NARROW);
        }
    });
    walk_exprs(&code.body, &mut |ex| match ex {
        Ex::Load(Area::In(_), ..) => apart += usize::from(input > NARROW),
        Ex::Load(_, at, _) if varies.ex(at) => apart += 1,
        Ex::Binary(..) | Ex::Select(..) | Ex::Unary(..) | Ex::Convert(..) => {
            work += usize::from(varies.ex(ex))
        }
        Ex::Math(function, ..) => {
            let cheap = matches!(function, Builtin::Abs | Builtin::Max | Builtin::Min | Builtin::Sqrt);
            work += usize::from(cheap && varies.ex(ex)) * 2;
        }
        _ => {}
    });
    work > 0 && work >= 2 * apart
}

/// How many vectors are calculated side by side.
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

/// The items of a firing, if they are all given at known places, as a whole run, and are few: then they
/// are put together at the end.
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

pub(super) struct Vectors<'a> {
    pub(super) inner: Writer<'a>,
    pub(super) varies: Varies,
    pub(super) lanes: usize,
    pub(super) beside: usize,
    /// Cells from one lane to the next.
    pub(super) strides: (i64, i64),
    /// The cells of a firing's output, where they are put together at the end.
    picked: Option<i64>,
    /// Which of the vectors side by side.
    pub(super) k: usize,
    /// What the lanes are that go this way.
    pub(super) mask: Option<String>,
    masks: usize,
    /// Lanes that are siblings, not firings.
    pub(super) among: Option<Lanes<'a>>,
    /// The cells of a firing's input, where they are turned into vectors beforehand.
    pub(super) window: Option<i64>,
}

impl<'a> Vectors<'a> {
    /// For siblings: vectors of so many lanes, so many side by side.
    pub(super) fn among(
        code: &'a Code,
        (input, output): (&'a Items, &'a Items),
        varies: Varies,
        (lanes, beside): (usize, usize),
        apart: bool,
        among: Lanes<'a>,
    ) -> Vectors<'a> {
        let inner = Writer {
            code,
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
    pub(super) fn line(&mut self, text: impl AsRef<str>) {
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

    pub(super) fn locals(&mut self) {
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
        for (at, mem) in code.mems.iter().enumerate() {
            if mem.kind != MemKind::Local || !super::code::is_used(code, at) {
                continue;
            }
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
            let Cell::Of(kind) = output_cell(self.inner.output) else { return };
            for (k, cell) in (0..self.beside).flat_map(|k| (0..cells).map(move |cell| (k, cell))) {
                self.line(format!("{} give{cell}_{k} = {{0}};", vector(kind)));
            }
        }
    }

    pub(super) fn stmts(&mut self, stmts: &[St]) {
        stmts.iter().for_each(|st| self.st(st));
    }

    /// Writes something for each of the vectors side by side.
    fn each(&mut self, mut write: impl FnMut(&mut Self) -> String) {
        for k in 0..self.beside {
            self.k = k;
            let text = write(self);
            self.line(text);
        }
    }

    fn st(&mut self, st: &St) {
        match st {
            St::Set(var, value) if self.varies.var(*var) => self.each(|writer| {
                let (name, value) = (writer.name(*var), writer.vx(value));
                writer.kept(&name, &value)
            }),
            St::Set(var, value) => {
                let text = format!("{} = {};", self.inner.name(*var), bare(&self.inner.ex(value)));
                self.line(text);
            }
            St::Store(area, at, kind, value) => self.store(area, at, *kind, value),
            St::If(condition, then, otherwise) if self.varies.ex(condition) => {
                self.both(condition, then, otherwise);
            }
            St::If(condition, then, otherwise) => {
                let condition = self.inner.ex(condition);
                self.line(format!("if ({}) {{", bare(&condition)));
                self.inside(then);
                self.line("} else {");
                self.inside(otherwise);
                self.line("}");
            }
            St::For { var, from, to, step, body } => {
                let (name, sign) = (self.inner.name(*var), if *step > 0 { "<" } else { ">" });
                let (from, to) = (self.inner.ex(from), self.inner.ex(to));
                self.line(format!("for ({name} = {}; {name} {sign} {to}; {name} += {step}) {{", bare(&from)));
                self.forget(body);
                self.inside(body);
                self.line("}");
            }
            // Nothing else passes `Varies::of`.
            _ => {}
        }
    }

    fn inside(&mut self, stmts: &[St]) {
        self.inner.depth += 1;
        self.stmts(stmts);
        self.inner.depth -= 1;
    }

    /// Both ways, each for its lanes.
    fn both(&mut self, condition: &Ex, then: &[St], otherwise: &[St]) {
        let (mask, before) = (self.masks, self.mask.clone());
        self.masks += 1;
        self.line("{");
        self.inner.depth += 1;
        self.each(|writer| {
            let condition = writer.vx(condition);
            format!("const VI m{mask}_{} = {};", writer.k, bare(&condition))
        });
        for (stmts, name, not) in [(then, "y", ""), (otherwise, "n", "~")] {
            if stmts.is_empty() {
                continue;
            }
            let outer = before.clone();
            self.each(|writer| {
                let k = writer.k;
                let outer = outer.as_ref().map_or(String::new(), |outer| format!("{outer}_{k} & "));
                format!("const VI {name}{mask}_{k} = {outer}{not}m{mask}_{k};")
            });
            self.mask = Some(format!("{name}{mask}"));
            self.stmts(stmts);
        }
        self.mask = before;
        self.inner.depth -= 1;
        self.line("}");
    }

    /// An assignment that only the lanes of this way do.
    fn kept(&self, place: &str, value: &str) -> String {
        match &self.mask {
            None => format!("{place} = {};", bare(value)),
            Some(mask) => format!("{place} = choose({mask}_{}, {value}, {place});", self.k),
        }
    }

    fn store(&mut self, area: &Area, at: &Ex, kind: Kind, value: &Ex) {
        match area {
            Area::Out(item) => self.each(|writer| writer.give(item, at, kind, value)),
            Area::Mem(mem) if self.varies.mem(*mem) => self.each(|writer| {
                let (name, k) = (mem_name(writer.inner.code, mem.0), writer.k);
                let value = writer.vx(value);
                if writer.varies.ex(at) {
                    let at = writer.vx(at);
                    let only = writer.mask.as_ref().map_or(String::new(), |mask| format!("if ({mask}_{k}[l]) "));
                    let ty = vector(kind);
                    return format!(
                        "{{ const VI at = {}; const {ty} value = {}; for (int l = 0; l < LANES; l++) {only}{name}_{k}[at[l]][l] = value[l]; }}",
                        bare(&at),
                        bare(&value)
                    );
                }
                let place = format!("{name}_{k}[{}]", bare(&writer.inner.ex(at)));
                writer.kept(&place, &value)
            }),
            _ => {
                let text = format!("{} = {};", self.inner.cell(area, at), bare(&self.inner.ex(value)));
                self.line(text);
            }
        }
    }

    /// A cell of an item that is given.
    fn give(&mut self, item: &Ex, at: &Ex, kind: Kind, value: &Ex) -> String {
        let (k, stride) = (self.k, self.strides.1);
        let value = self.vx(value);
        if self.among.is_some() {
            return self.give_among(item, at, kind, &value);
        }
        let items = self.inner.output;
        let place = items.place("write", &self.inner.ex(item), item.as_int(), &self.inner.ex(at));
        if self.picked.is_some() {
            return self.kept(&format!("give{place}_{k}"), &value);
        }
        let first = format!("out + {} + {}", k as i64 * self.lanes as i64 * stride, whole(&place));
        let value = match &self.mask {
            None => value,
            Some(mask) => format!("choose({mask}_{k}, {value}, {})", load(kind, &first, stride)),
        };
        let name = letter(kind);
        if stride == 1 {
            format!("store_{name}({first}, {});", bare(&value))
        } else {
            format!("spread_{name}({first}, {stride}, {});", bare(&value))
        }
    }

    /// Items that were picked are written together.
    fn put_together(&mut self) {
        let (Some(cells), Cell::Of(kind)) = (self.picked, output_cell(self.inner.output)) else { return };
        let lanes = self.lanes as i64;
        if weaves(cells) {
            for k in 0..self.beside as i64 {
                self.line(weave(kind, cells, k, k * lanes * cells));
            }
            return;
        }
        for k in 0..self.beside as i64 {
            for part in 0..cells {
                let mut all: Option<String> = None;
                for cell in 0..cells {
                    // Lane `i` of this part is cell `(part * lanes + i) % cells` of a firing.
                    let own = |i: i64| (part * lanes + i) % cells == cell;
                    let from = |i: i64| (part * lanes + i) / cells;
                    let next = format!("give{cell}_{k}");
                    let picks = (0..lanes).map(|i| if own(i) { lanes + from(i) } else { i });
                    all = Some(match all {
                        None => {
                            let picks = (0..lanes).map(|i| if own(i) { from(i) } else { 0 });
                            format!("__builtin_shuffle({next}, (VI){{{}}})", list(picks))
                        }
                        Some(all) => format!("__builtin_shuffle({all}, {next}, (VI){{{}}})", list(picks)),
                    });
                }
                let place = k * lanes * cells + part * lanes;
                self.line(format!("store_{}(out + {place}, {});", letter(kind), all.unwrap_or_default()));
            }
        }
    }

    pub(super) fn name(&self, var: Var) -> String {
        format!("{}_v{}", self.inner.name(var), self.k)
    }

    /// An expression as a vector.
    pub(super) fn vx(&self, ex: &Ex) -> String {
        let kind = ex.kind(self.inner.code);
        if !self.varies.ex(ex) {
            let value = self.inner.ex(ex);
            return match kind {
                Kind::Bool => format!("all_i(-(int32_t){value})"),
                _ => format!("all_{}({})", letter(kind), bare(&value)),
            };
        }
        match ex {
            Ex::Var(var) => self.name(*var),
            Ex::Load(area, at, kind) => self.load(area, at, *kind),
            Ex::Unary(UnaryOp::Negate, _, x) => format!("(-{})", self.vx(x)),
            Ex::Unary(_, _, x) => format!("(~{})", self.vx(x)),
            Ex::Binary(op, kind, x, y) => self.binary(*op, *kind, x, y),
            Ex::Convert(from, to, x) => converted(*from, *to, &self.vx(x)),
            Ex::Math(function, kind, args) => self.math(*function, *kind, args),
            Ex::Select(_, parts) => {
                let [c, a, b] = &**parts;
                format!("choose({}, {}, {})", self.vx(c), self.vx(a), self.vx(b))
            }
            Ex::Iter if self.among.is_some() => self.executed(),
            Ex::Iter => format!("(all_i((int32_t)(before + f + {})) + each_lane)", self.k * self.lanes),
            Ex::Const(_) => String::new(),
        }
    }

    /// An operand: a scalar where the other one is a vector does.
    fn operand(&self, ex: &Ex, kind: Kind) -> String {
        if kind != Kind::Bool && !self.varies.ex(ex) { self.inner.ex(ex) } else { self.vx(ex) }
    }

    fn binary(&self, op: BinaryOp, kind: Kind, x: &Ex, y: &Ex) -> String {
        let known = y.as_int();
        let vectors = match (op, kind) {
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, _) => known.is_none(),
            (BinaryOp::Rem, Kind::Float) => true,
            _ => false,
        };
        if vectors {
            return operator(op, kind, &self.vx(x), &self.vx(y), known);
        }
        operator(op, kind, &self.operand(x, kind), &self.operand(y, kind), known)
    }

    fn math(&self, builtin: Builtin, kind: Kind, args: &[Ex]) -> String {
        let parts: Vec<String> = args.iter().map(|arg| self.vx(arg)).collect();
        function(builtin, kind, &parts)
    }

    fn load(&self, area: &Area, at: &Ex, kind: Kind) -> String {
        match area {
            Area::In(item) if self.among.is_some() => self.take_among(item, at, kind),
            Area::In(item) if self.window.is_some() => self.in_window(item, at),
            Area::In(item) => {
                let place =
                    self.inner.input.place("read", &self.inner.ex(item), item.as_int(), &self.inner.ex(at));
                let own = self.k as i64 * self.lanes as i64 * self.strides.0;
                let first = format!("in + {own} + {}", whole(&place));
                load(kind, &first, self.strides.0)
            }
            Area::Mem(mem) => {
                if let Some(value) = self.column(*mem, at, kind) {
                    return value;
                }
                let (name, k) = (mem_name(self.inner.code, mem.0), self.k);
                match (self.varies.mem(*mem), self.varies.ex(at)) {
                    (true, false) => format!("{name}_{k}[{}]", bare(&self.inner.ex(at))),
                    (own, _) => {
                        let element =
                            if own { format!("{name}_{k}[at[l]][l]") } else { format!("{name}[at[l]]") };
                        let element =
                            if !own && kind == Kind::Bool { format!("-{element}") } else { element };
                        let at = self.vx(at);
                        format!(
                            "({{ const VI at = {}; {} r; for (int l = 0; l < LANES; l++) r[l] = {element}; r; }})",
                            bare(&at),
                            vector(kind)
                        )
                    }
                }
            }
            // What has been given is not looked at.
            Area::Out(_) => String::new(),
        }
    }
}

/// A vector as one of another kind.
pub(super) fn converted(from: Kind, to: Kind, x: &str) -> String {
    match (from, to) {
        (Kind::Bool, Kind::Int) => format!("(-{x})"),
        (Kind::Bool, _) => format!("__builtin_convertvector(-{x}, VF)"),
        (Kind::Int, Kind::Float) => format!("__builtin_convertvector({x}, VF)"),
        (Kind::Float, Kind::Int) => format!("to_ints({x})"),
        (Kind::Float, Kind::Bool) => format!("(VI)({x} != 0.0f)"),
        _ => format!("(VI)({x} != 0)"),
    }
}

/// An operator between vectors, of which one may be a scalar; `by` is the second one where it is known.
pub(super) fn operator(op: BinaryOp, kind: Kind, a: &str, b: &str, by: Option<i32>) -> String {
    use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne, Rem, ShiftLeft, ShiftRight};
    let sign = op.symbol();
    match (op, kind) {
        (Eq, Kind::Bool) => format!("(~({a} ^ {b}))"),
        (Ne, Kind::Bool) => format!("({a} ^ {b})"),
        (Lt, Kind::Bool) => format!("(~{a} & {b})"),
        (Le, Kind::Bool) => format!("(~{a} | {b})"),
        (Gt, Kind::Bool) => format!("({a} & ~{b})"),
        (Ge, Kind::Bool) => format!("({a} | ~{b})"),
        (Eq | Ne | Lt | Le | Gt | Ge, _) => format!("(VI)({a} {sign} {b})"),
        (ShiftLeft | ShiftRight, _) => match by {
            Some(by) => format!("({a} {sign} {})", by & 31),
            None => format!("({a} {sign} ({b} & 31))"),
        },
        (Rem, Kind::Float) => format!("rest_f({a}, {b})"),
        _ => format!("({a} {sign} {b})"),
    }
}

/// A function of vectors.
pub(super) fn function(function: Builtin, kind: Kind, parts: &[String]) -> String {
    let (a, b) = (&parts[0], parts.get(1).map_or("", String::as_str));
    match (function, kind) {
        (Builtin::Max, _) => format!("greater({a}, {b})"),
        (Builtin::Min, _) => format!("smaller({a}, {b})"),
        (Builtin::Abs, Kind::Float) => format!("(VF)((VI){a} & 0x7fffffff)"),
        (Builtin::Abs, _) => format!("choose((VI)({a} < 0), -{a}, {a})"),
        _ => {
            let inner: Vec<String> =
                ["x[l]", "y[l]"][..parts.len()].iter().map(|x| (*x).to_owned()).collect();
            let one = super::expr::math(function, kind, &inner);
            let y = if parts.len() == 2 { format!("const VF y = {b}; ") } else { String::new() };
            format!("({{ const VF x = {a}; {y}VF r; for (int l = 0; l < LANES; l++) r[l] = {one}; r; }})")
        }
    }
}

fn output_cell(items: &Items) -> Cell {
    items.cell
}

fn load(kind: Kind, first: &str, stride: i64) -> String {
    let name = letter(kind);
    match stride {
        1 => format!("load_{name}({first})"),
        2..=NARROW if kind != Kind::Bool => format!("pick{stride}_{name}({first})"),
        _ => format!("gather_{name}({first}, {stride})"),
    }
}

pub(super) fn list(numbers: impl Iterator<Item = i64>) -> String {
    numbers.map(|number| number.to_string()).collect::<Vec<_>>().join(", ")
}

/// The type of vectors of a kind; booleans are masks, -1 for true.
pub(super) fn vector(kind: Kind) -> &'static str {
    if kind == Kind::Float { "VF" } else { "VI" }
}

pub(super) fn letter(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "b",
        Kind::Int => "i",
        Kind::Float => "f",
    }
}

/// Lanes of this machine's vectors.
pub(crate) fn lanes() -> usize {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512f") {
        return 16;
    }
    8
}

/// Types and functions of vectors: of the machine's lanes, and of fewer for siblings.
pub(crate) fn begin(lanes: usize) -> String {
    let mut text = types(lanes) + &weave::begin(lanes);
    for fewer in [lanes / 2, lanes / 4].into_iter().filter(|fewer| *fewer >= 4) {
        text.push_str(&super::places::narrow(&types(fewer), fewer, lanes));
    }
    text
}

fn types(lanes: usize) -> String {
    // Written out: of a loop over lanes GCC makes a shuffle of neighbours that nobody asked for.
    let same = vec!["x"; lanes].join(", ");
    let vectors = include_str!("vectors.h");
    let mut text = format!("\n#define LANES {lanes}\n#define SAME(x) {{{same}}}\n{vectors}");
    let each: Vec<String> = (0..lanes).map(|lane| lane.to_string()).collect();
    let _ = writeln!(text, "static const VI each_lane = {{{}}};", each.join(", "));
    for stride in 2..=NARROW {
        for (letter, ty, element) in [("f", "VF", "float"), ("i", "VI", "int32_t")] {
            let _ = writeln!(text, "{}", pick(stride, letter, ty, element, lanes as i64));
        }
    }
    let swapped = (0..lanes as i64).map(|lane| lane ^ 1);
    let _ = writeln!(text, "#define swap_f(x) __builtin_shuffle((x), (VI){{{}}})", list(swapped));
    text.push_str(&window::turn(lanes));
    text
}

/// A function that picks every so manyth cell.
fn pick(stride: i64, letter: &str, ty: &str, element: &str, lanes: i64) -> String {
    let mut text = format!("static inline {ty} pick{stride}_{letter}(const {element} *from)\n{{\n");
    for part in 0..stride {
        let _ = writeln!(text, "    const {ty} v{part} = load_{letter}(from + {});", part * lanes);
    }
    let of = |part: i64| (0..lanes).map(move |l| (l, l * stride / lanes == part, l * stride % lanes));
    let first = of(0).chain([]).map(|(l, own, at)| {
        let second = l * stride / lanes == 1;
        if own {
            at
        } else if second {
            lanes + at
        } else {
            0
        }
    });
    let _ = writeln!(text, "    {ty} r = __builtin_shuffle(v0, v1, (VI){{{}}});", list(first));
    for part in 2..stride {
        let picks = of(part).map(|(l, own, at)| if own { lanes + at } else { l });
        let _ = writeln!(text, "    r = __builtin_shuffle(r, v{part}, (VI){{{}}});", list(picks));
    }
    text.push_str("    return r;\n}");
    text
}
