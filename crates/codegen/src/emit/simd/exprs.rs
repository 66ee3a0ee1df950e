//! C text of expressions for all lanes.

use super::Vectors;
use crate::emit::terms::{bare, mem_name, whole};
use crate::emit::vectors::{converted, function, letter, load, operator, vector};
use crate::ir::{Area, Expr, Function, Kind, Var};
use thalweg_lang::hir::{BinaryOp, UnaryOp};

impl Vectors<'_> {
    pub(in crate::emit) fn name(&self, var: Var) -> String {
        format!("{}_v{}", self.inner.name(var), self.k)
    }

    /// An expression as a vector.
    pub(in crate::emit) fn vx(&self, ex: &Expr) -> String {
        let kind = ex.kind(self.inner.code);
        if !self.divergence.ex(ex) {
            let value = self.inner.ex(ex);
            return match kind {
                Kind::Bool => format!("all_i(-(int32_t){value})"),
                _ => format!("all_{}({})", letter(kind), bare(&value)),
            };
        }
        match ex {
            Expr::Var(var) => self.name(*var),
            Expr::Load(area, at, kind) => self.load(area, at, *kind),
            Expr::Unary(UnaryOp::Negate, _, x) => format!("(-{})", self.vx(x)),
            Expr::Unary(_, _, x) => format!("(~{})", self.vx(x)),
            Expr::Binary(op, kind, x, y) => self.binary(*op, *kind, x, y),
            Expr::Convert(from, to, x) => converted(*from, *to, &self.vx(x)),
            Expr::Math(function, kind, args) => self.math(*function, *kind, args),
            Expr::Select(_, parts) => {
                let [c, a, b] = &**parts;
                format!("choose({}, {}, {})", self.vx(c), self.vx(a), self.vx(b))
            }
            Expr::Iter if self.among.is_some() => self.executed(),
            Expr::Iter => format!("(all_i((int32_t)(before + f + {})) + each_lane)", self.k * self.lanes),
            Expr::Const(_) => String::new(),
        }
    }

    /// An operand; it may stay a scalar if the other one is a vector.
    fn operand(&self, ex: &Expr, kind: Kind) -> String {
        if kind != Kind::Bool && !self.divergence.ex(ex) { self.inner.ex(ex) } else { self.vx(ex) }
    }

    fn binary(&self, op: BinaryOp, kind: Kind, x: &Expr, y: &Expr) -> String {
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

    fn math(&self, called: Function, kind: Kind, args: &[Expr]) -> String {
        let parts: Vec<String> = args.iter().map(|arg| self.vx(arg)).collect();
        function(called, kind, &parts)
    }

    fn load(&self, area: &Area, at: &Expr, kind: Kind) -> String {
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
                match (self.divergence.mem(*mem), self.divergence.ex(at)) {
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
            // Outputs are never read.
            Area::Out(_) => String::new(),
        }
    }
}
