//! Printing of expressions.

use super::Printer;
use crate::hir::{Callee, Expr, ExprKind, Init, Link, LinkKind, Place, Root, Step, Type, UnaryOp};
use crate::value::Value;

impl Printer<'_> {
    pub fn expr(&self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Constant(value) => constant(value, &expr.ty),
            ExprKind::Read(place) => self.place(place),
            ExprKind::Unary(op, value) => format!("{}{}", unary_sign(*op), self.expr(value)),
            ExprKind::Binary(first, links) => self.links(first, links),
            ExprKind::And(operands) => self.infix("&&", operands),
            ExprKind::Or(operands) => self.infix("||", operands),
            ExprKind::Ternary(condition, first, second) => {
                format!("({} ? {} : {})", self.expr(condition), self.expr(first), self.expr(second))
            }
            ExprKind::Convert(value) => format!("{}({})", self.ty(&expr.ty), self.expr(value)),
            ExprKind::Step { place, by, before } => {
                let sign = if *by < 0 { "--" } else { "++" };
                let place = self.place(place);
                if *before { format!("{sign}{place}") } else { format!("{place}{sign}") }
            }
            ExprKind::Call(callee, args) => format!("{}({})", self.callee(*callee), self.exprs(args)),
            ExprKind::Pop => "pop()".into(),
            ExprKind::Peek(index) => format!("peek({})", self.expr(index)),
            ExprKind::Iter => "iter()".into(),
            ExprKind::Compose(parts) => format!("{}{{{}}}", self.ty(&expr.ty), self.exprs(parts)),
        }
    }

    pub fn exprs(&self, exprs: &[Expr]) -> String {
        exprs.iter().map(|expr| self.expr(expr)).collect::<Vec<_>>().join(", ")
    }

    pub fn init(&self, init: &Init) -> String {
        match init {
            Init::Value(value) => self.expr(value),
            Init::List(inits) => {
                let inits: Vec<_> = inits.iter().map(|init| self.init(init)).collect();
                format!("{{{}}}", inits.join(", "))
            }
        }
    }

    pub fn place(&self, place: &Place) -> String {
        let mut text = self.root(place.root);
        for step in &place.path {
            match step {
                Step::Field(at) => text.push_str(&format!(".{at}")),
                Step::Index(index) => text.push_str(&format!("[{}]", self.expr(index))),
            }
        }
        text
    }

    pub fn root(&self, root: Root) -> String {
        let (name, sign, at) = match root {
            Root::Local(at) => (self.locals.get(at as usize).map(|(name, _)| name), '#', at),
            Root::Param(at) => (self.params.get(at as usize).map(|(name, _)| name), '$', at),
            Root::Field(at) => (self.fields.get(at as usize).map(|field| &field.name), '@', at),
            Root::Global(at) => (self.program.globals.get(at as usize).map(|global| &global.name), '!', at),
        };
        format!("{}{sign}{at}", name.map_or("?", |name| name.as_str()))
    }

    fn links(&self, first: &Expr, links: &[Link]) -> String {
        let opening = links.iter().rev().map(|link| match &link.kind {
            LinkKind::Operator(..) => "(".to_owned(),
            LinkKind::Convert => format!("{}(", self.ty(&link.ty)),
        });
        let mut text = opening.collect::<String>() + &self.expr(first);
        for link in links {
            if let LinkKind::Operator(op, second) = &link.kind {
                text += &format!(" {} {}", op.symbol(), self.expr(second));
            }
            text.push(')');
        }
        text
    }

    fn infix(&self, sign: &str, operands: &[Expr]) -> String {
        let mut text = "(".repeat(operands.len().saturating_sub(1));
        for (at, operand) in operands.iter().enumerate() {
            match at {
                0 => text += &self.expr(operand),
                _ => text += &format!(" {sign} {})", self.expr(operand)),
            }
        }
        text
    }

    fn callee(&self, callee: Callee) -> String {
        match callee {
            Callee::Function(at) => format!("function#{at}"),
            Callee::Helper(at) => self.program.helpers.get(at as usize).map_or("?", |f| &f.name).to_string(),
            Callee::Native(at) => self.program.natives.get(at as usize).map_or("?", |f| &f.name).to_string(),
            Callee::Builtin(builtin) => format!("{builtin:?}"),
        }
    }
}

fn constant(value: &Value, ty: &Type) -> String {
    match (value, ty) {
        (Value::Bool(value), Type::Bit) => format!("{}b", u8::from(*value)),
        (Value::Bool(value), _) => value.to_string(),
        (Value::Int(value), _) => value.to_string(),
        (Value::Float(value), _) => format!("{value:?}"),
        (Value::Complex(real, imaginary), _) => format!("({real:?}, {imaginary:?}i)"),
        (Value::String(text), _) => format!("{text:?}"),
        (other, _) => format!("{other:?}"),
    }
}

fn unary_sign(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "-",
        UnaryOp::Not => "!",
        UnaryOp::Complement => "~",
    }
}
