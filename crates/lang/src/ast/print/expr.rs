//! Printing of names, types and expressions.

use super::list;
use crate::ast::{
    BinaryOp, Bound, Expr, ExprKind, Init, Latency, Literal, Name, Param, Primitive, Rate, Rates, Type,
    TypeKind, UnaryOp, Variable, Weights,
};
use std::fmt;

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Primitive::Boolean => "boolean",
            Primitive::Bit => "bit",
            Primitive::Int => "int",
            Primitive::Float => "float",
            Primitive::Double => "double",
            Primitive::Complex => "complex",
            Primitive::Float2 => "float2",
            Primitive::Float3 => "float3",
            Primitive::Float4 => "float4",
        })
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut base, mut lengths) = (self, String::new());
        while let TypeKind::Array(element, length) = &base.kind {
            lengths.push_str(&format!("[{length}]"));
            base = element;
        }
        match &base.kind {
            TypeKind::Void => f.write_str("void")?,
            TypeKind::Primitive(primitive) => primitive.fmt(f)?,
            TypeKind::Named(name) => name.fmt(f)?,
            TypeKind::Portal(filter) => write!(f, "portal<{filter}>")?,
            TypeKind::Array(..) => unreachable!("array types were stripped above"),
        }
        f.write_str(&lengths)
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ty, self.name)
    }
}

impl fmt::Display for Variable {
    /// Prints without the type, which neighbouring variables share.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.init {
            None => self.name.fmt(f),
            Some(init) => write!(f, "{} = {init}", self.name),
        }
    }
}

impl fmt::Display for Init {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Init::Value(value) => value.fmt(f),
            Init::List(values, _) => write!(f, "{{{}}}", list(values)),
        }
    }
}

impl fmt::Display for UnaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnaryOp::Negate => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        })
    }
}

impl fmt::Display for BinaryOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
        })
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Name(name) => f.write_str(name),
            ExprKind::Member(of, name) => write!(f, "{of}.{name}"),
            ExprKind::Index(of, at) => write!(f, "{of}[{at}]"),
            ExprKind::Unary(op, value) => write!(f, "({op}{value})"),
            ExprKind::Binary(first, rest) => {
                write!(f, "{}{first}", "(".repeat(rest.len()))?;
                rest.iter().try_for_each(|(op, right)| write!(f, " {op} {right})"))
            }
            ExprKind::Ternary(condition, first, second) => write!(f, "({condition} ? {first} : {second})"),
            ExprKind::Cast(ty, value) => write!(f, "(({ty}) {value})"),
            ExprKind::Step { place, by, before } => step(f, place, *by, *before),
            ExprKind::Call(name, arguments) => write!(f, "{name}({})", list(arguments)),
            ExprKind::MethodCall(receiver, name, arguments) => {
                write!(f, "{receiver}.{name}({})", list(arguments))
            }
            ExprKind::Pop => f.write_str("pop()"),
            ExprKind::Peek(index) => write!(f, "peek({index})"),
            ExprKind::Iter => f.write_str("iter()"),
            ExprKind::Vector(values) => write!(f, "float{}({})", values.len(), list(values)),
            ExprKind::Error => f.write_str("<error>"),
        }
    }
}

fn step(f: &mut fmt::Formatter<'_>, place: &Expr, by: i32, before: bool) -> fmt::Result {
    let operator = if by > 0 { "++" } else { "--" };
    if before { write!(f, "({operator}{place})") } else { write!(f, "({place}{operator})") }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Negative numbers print in hexadecimal, because a sign would parse as an operator.
            Literal::Int(value) if *value < 0 => write!(f, "{value:#x}"),
            Literal::Int(value) => value.fmt(f),
            Literal::Float(value) => write!(f, "{}", finite(*value)),
            Literal::Imaginary(value) => write!(f, "{}i", finite(*value)),
            Literal::Char(code) => write!(f, "'{}'", escaped(&char::from(*code).to_string())),
            Literal::String(text) => write!(f, "\"{}\"", escaped(text)),
            Literal::Boolean(value) => value.fmt(f),
            Literal::Pi => f.write_str("pi"),
        }
    }
}

fn finite(value: f32) -> String {
    if value.is_infinite() { "1e999".to_string() } else { format!("{value:?}") }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '"' | '\'' | '\\' => out.extend(['\\', character]),
            _ if character.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out
}

impl fmt::Display for Rates {
    /// Prints each rate with a leading space.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (word, rate) in [("push", &self.push), ("pop", &self.pop), ("peek", &self.peek)] {
            if let Some(rate) = rate {
                write!(f, " {word} {rate}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Static(rate) => rate.fmt(f),
            Rate::Any(_) => f.write_str("*"),
            Rate::Range(range) => {
                write!(f, "[{}, ", range.min)?;
                if let Some(average) = &range.average {
                    write!(f, "{average}, ")?;
                }
                write!(f, "{}]", range.max)
            }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Any(_) => f.write_str("*"),
            Bound::Number(number) => number.fmt(f),
        }
    }
}

impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weights::Duplicate => f.write_str("duplicate"),
            Weights::RoundRobin(weights) => write!(f, "roundrobin({})", list(weights)),
        }
    }
}

impl fmt::Display for Latency {
    /// Prints with a leading space, or nothing if omitted.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound =
            |bound: &Option<Box<Expr>>| bound.as_ref().map(|bound| bound.to_string()).unwrap_or_default();
        match self {
            Latency::Omitted => Ok(()),
            Latency::Any => f.write_str(" [*]"),
            Latency::Between(min, max) => write!(f, " [{}:{}]", bound(min), bound(max)),
        }
    }
}
