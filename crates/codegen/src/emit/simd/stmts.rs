//! C text of statements for all lanes: conditions as masks, and stores of output.

use super::Vectors;
use crate::emit::interleave::interleave;
use crate::emit::terms::{bare, mem_name, whole};
use crate::emit::vectors::{letter, list, load, vector};
use crate::ir::{Area, Cell, Expr, Kind, Stmt};
use crate::plan::interleaves;

impl Vectors<'_> {
    pub(in crate::emit) fn stmts(&mut self, stmts: &[Stmt]) {
        stmts.iter().for_each(|st| self.st(st));
    }

    /// Writes a line for each of the vectors side by side.
    fn each(&mut self, mut write: impl FnMut(&mut Self) -> String) {
        for k in 0..self.beside {
            self.k = k;
            let text = write(self);
            self.line(text);
        }
    }

    fn st(&mut self, st: &Stmt) {
        match st {
            Stmt::Set(var, value) if self.divergence.var(*var) => self.each(|writer| {
                let (name, value) = (writer.name(*var), writer.vx(value));
                writer.kept(&name, &value)
            }),
            Stmt::Set(var, value) => {
                let text = format!("{} = {};", self.inner.name(*var), bare(&self.inner.ex(value)));
                self.line(text);
            }
            Stmt::Store(area, at, kind, value) => self.store(area, at, *kind, value),
            Stmt::If(condition, then, otherwise) if self.divergence.ex(condition) => {
                self.both(condition, then, otherwise);
            }
            Stmt::If(condition, then, otherwise) => {
                let condition = self.inner.ex(condition);
                self.line(format!("if ({}) {{", bare(&condition)));
                self.inside(then);
                self.line("} else {");
                self.inside(otherwise);
                self.line("}");
            }
            Stmt::For { var, from, to, step, body } => {
                let (name, sign) = (self.inner.name(*var), if *step > 0 { "<" } else { ">" });
                let (from, to) = (self.inner.ex(from), self.inner.ex(to));
                self.line(format!("for ({name} = {}; {name} {sign} {to}; {name} += {step}) {{", bare(&from)));
                self.forget(body);
                self.inside(body);
                self.line("}");
            }
            // `Divergence::of` rejects all other statements.
            _ => {}
        }
    }

    fn inside(&mut self, stmts: &[Stmt]) {
        self.inner.depth += 1;
        self.stmts(stmts);
        self.inner.depth -= 1;
    }

    /// Both branches, each masked to its lanes.
    fn both(&mut self, condition: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
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

    /// An assignment masked to the lanes of this branch.
    fn kept(&self, place: &str, value: &str) -> String {
        match &self.mask {
            None => format!("{place} = {};", bare(value)),
            Some(mask) => format!("{place} = choose({mask}_{}, {value}, {place});", self.k),
        }
    }

    fn store(&mut self, area: &Area, at: &Expr, kind: Kind, value: &Expr) {
        match area {
            Area::Out(item) => self.each(|writer| writer.give(item, at, kind, value)),
            Area::Mem(mem) if self.divergence.mem(*mem) => self.each(|writer| {
                let (name, k) = (mem_name(writer.inner.code, mem.0), writer.k);
                let value = writer.vx(value);
                if writer.divergence.ex(at) {
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

    /// Stores a cell of output.
    fn give(&mut self, item: &Expr, at: &Expr, kind: Kind, value: &Expr) -> String {
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

    /// Interleaves and stores output that was kept in variables.
    pub(super) fn put_together(&mut self) {
        let (Some(cells), Cell::Of(kind)) = (self.picked, self.inner.output.cell) else { return };
        let lanes = self.lanes as i64;
        if interleaves(cells) {
            for k in 0..self.beside as i64 {
                self.line(interleave(kind, cells, k, k * lanes * cells));
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
}
