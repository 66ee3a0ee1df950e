//! C text of expressions.

use super::code::Writer;
use super::terms::{bare, convert, math, mem_name, scalar};
use crate::ir::{Area, Cell, Expr, Kind, Scalar, Var};
use thalweg_lang::hir::{BinaryOp, UnaryOp};

impl Writer<'_> {
    pub(crate) fn name(&self, var: Var) -> String {
        self.names[var.0 as usize].clone()
    }

    /// An expression, in parentheses where needed.
    pub(crate) fn ex(&self, ex: &Expr) -> String {
        match ex {
            Expr::Const(value) => scalar(*value),
            Expr::Var(var) => self.name(*var),
            Expr::Load(area, at, kind) => self.load(area, at, *kind),
            Expr::Unary(UnaryOp::Negate, Kind::Float, x) if self.apart => format!("apart(-{})", self.ex(x)),
            Expr::Unary(UnaryOp::Negate, _, x) => format!("(-{})", self.ex(x)),
            Expr::Unary(UnaryOp::Complement, Kind::Int, x) => format!("(~{})", self.ex(x)),
            Expr::Unary(_, _, x) => format!("(!{})", self.ex(x)),
            Expr::Binary(op, kind, x, y) => self.binary(*op, *kind, x, y),
            Expr::Convert(from, to, x) => convert(*from, *to, &self.ex(x)),
            Expr::Math(function, kind, args) => {
                let args: Vec<String> = args.iter().map(|arg| self.ex(arg)).collect();
                math(*function, *kind, &args)
            }
            Expr::Select(_, parts) => {
                let [c, a, b] = &**parts;
                format!("({} ? {} : {})", self.ex(c), self.ex(a), self.ex(b))
            }
            Expr::Iter => "(int32_t)(before + f)".into(),
        }
    }

    fn binary(&self, op: BinaryOp, kind: Kind, x: &Expr, y: &Expr) -> String {
        let (a, b) = (self.ex(x), self.ex(y));
        match (op, kind) {
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, _) => {
                let by = match y.as_int() {
                    Some(by) => (by & 31).to_string(),
                    None => format!("({b} & 31)"),
                };
                format!("({a} {} {by})", op.symbol())
            }
            (BinaryOp::Sub, Kind::Float) if self.apart => format!("apart({a} - {b})"),
            (BinaryOp::Sub, Kind::Float) if is_zero(x) && !matches!(y, Expr::Var(_)) => {
                format!("from_zero({b})")
            }
            (BinaryOp::Rem, Kind::Float) => format!("fmodf({a}, {b})"),
            (BinaryOp::Div, Kind::Int) if y.as_int().is_none_or(|by| by == -1) => {
                format!("quotient({a}, {b})")
            }
            (BinaryOp::Rem, Kind::Int) if y.as_int().is_none_or(|by| by == -1) => format!("rest({a}, {b})"),
            _ => format!("({a} {} {b})", op.symbol()),
        }
    }

    fn load(&self, area: &Area, at: &Expr, kind: Kind) -> String {
        let place = self.cell(area, at);
        match (self.cell_of(area), kind) {
            (Cell::Mixed, Kind::Float) => format!("float_of({place})"),
            (Cell::Mixed, Kind::Bool) => format!("(uint8_t){place}"),
            _ => place,
        }
    }

    pub(crate) fn cell_of(&self, area: &Area) -> Cell {
        match area {
            Area::Mem(mem) => self.code.mems[mem.0 as usize].cell,
            Area::In(_) => self.input.cell,
            Area::Out(_) => self.output.cell,
        }
    }

    /// A cell as an lvalue.
    pub(crate) fn cell(&self, area: &Area, at: &Expr) -> String {
        match area {
            Area::Mem(mem) => format!("{}[{}]", mem_name(self.code, mem.0), bare(&self.ex(at))),
            Area::In(item) => {
                format!("in[{}]", self.input.place("read", &self.ex(item), item.as_int(), &self.ex(at)))
            }
            Area::Out(item) => {
                format!("out[{}]", self.output.place("write", &self.ex(item), item.as_int(), &self.ex(at)))
            }
        }
    }
}

fn is_zero(ex: &Expr) -> bool {
    ex.constant() == Some(Scalar::Float(0.0))
}
