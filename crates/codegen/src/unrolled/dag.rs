//! The computation of a block as a DAG of operations: no loops, variables or indices.

use crate::ir::{Function, Kind, Scalar};
use rustc_hash::FxHashMap;
use thalweg_lang::hir::{BinaryOp, Type, UnaryOp};
use thalweg_lang::value::Value;

/// A value: a constant or the result of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Val {
    /// No operand.
    None,
    /// A constant, by its bits.
    Const(Kind, u32),
    /// The result of a node.
    Node(u32),
}

impl Val {
    pub(super) fn of(scalar: Scalar) -> Val {
        match scalar {
            Scalar::Bool(x) => Val::Const(Kind::Bool, x.into()),
            Scalar::Int(x) => Val::Const(Kind::Int, x as u32),
            Scalar::Float(x) => Val::Const(Kind::Float, x.to_bits()),
        }
    }

    /// The constant, if it is one.
    pub(super) fn scalar(self) -> Option<Scalar> {
        match self {
            Val::Const(kind, bits) => Some(scalar(kind, bits)),
            _ => None,
        }
    }
}

/// The constant with these bits.
pub(crate) fn scalar(kind: Kind, bits: u32) -> Scalar {
    match kind {
        Kind::Bool => Scalar::Bool(bits != 0),
        Kind::Int => Scalar::Int(bits as i32),
        Kind::Float => Scalar::Float(f32::from_bits(bits)),
    }
}

/// The operation of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    /// A cell of a buffer that comes from outside.
    In {
        buffer: u32,
        cell: u32,
    },
    Unary(UnaryOp),
    Binary(BinaryOp),
    Convert,
    Math(Function),
    Select,
    /// A cell of a table, by its index.
    Look(u32),
    /// Rotation to the left by this many bits.
    RotateLeft(u32),
    /// A copy of the operand.
    Same,
}

/// An operation on operands of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node {
    pub(crate) op: Op,
    /// The kind of the result, and of the operands.
    pub(crate) kind: Kind,
    pub(crate) of: Kind,
    pub(crate) args: [Val; 3],
}

/// A table that nodes index.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Table {
    pub(crate) kind: Kind,
    pub(crate) values: Vec<Scalar>,
}

/// Nodes in topological order.
#[derive(Default)]
pub(crate) struct Dag {
    pub(crate) nodes: Vec<Node>,
    pub(crate) tables: Vec<Table>,
    /// The nodes of cells that come from outside.
    entered: FxHashMap<Node, u32>,
}

impl Dag {
    /// The value of an operation. Only cells from outside are shared: with common subexpressions shared,
    /// codes that differ in constants would no longer be isomorphic.
    pub(super) fn node(&mut self, node: Node) -> Val {
        if let Some(folded) = fold(&node) {
            return Val::of(folded);
        }
        let node = self.turned(node);
        if let (Op::In { .. }, Some(known)) = (node.op, self.entered.get(&node)) {
            return Val::Node(*known);
        }
        self.nodes.push(node);
        let at = self.nodes.len() as u32 - 1;
        if let Op::In { .. } = node.op {
            self.entered.insert(node, at);
        }
        Val::Node(at)
    }

    /// Recognises a rotation: the language has no logical shift, so programs write `x >> n & m | x << 32 -
    /// n`, in any order, where `m` has the low `32 - n` bits set.
    fn turned(&self, node: Node) -> Node {
        let Node { op: Op::Binary(BinaryOp::BitOr), of: Kind::Int, args: [a, b, _], .. } = node else {
            return node;
        };
        for (low, high) in [(a, b), (b, a)] {
            if let Some((x, by)) = self.shifted(high, BinaryOp::ShiftLeft)
                && by > 0
                && self.low_bits(low) == Some((x, 32 - by))
            {
                return Node { op: Op::RotateLeft(by), args: [x, Val::None, Val::None], ..node };
            }
        }
        node
    }

    /// The operands of this operation on integers, if one is constant; the constant last.
    fn with_known(&self, value: Val, wanted: BinaryOp) -> Option<(Val, u32)> {
        let Val::Node(node) = value else { return None };
        let Node { op: Op::Binary(op), of: Kind::Int, args, .. } = self.nodes[node as usize] else {
            return None;
        };
        match args {
            [x @ Val::Node(_), Val::Const(_, known), _] if op == wanted => Some((x, known)),
            [Val::Const(_, known), x @ Val::Node(_), _] if op == wanted && op == BinaryOp::BitAnd => {
                Some((x, known))
            }
            _ => None,
        }
    }

    fn shifted(&self, value: Val, op: BinaryOp) -> Option<(Val, u32)> {
        self.with_known(value, op).map(|(x, by)| (x, by & 31))
    }

    /// The operand and the distance of a logical shift to the right.
    fn low_bits(&self, value: Val) -> Option<(Val, u32)> {
        let (shifted, mask) = self.with_known(value, BinaryOp::BitAnd)?;
        let (x, by) = self.shifted(shifted, BinaryOp::ShiftRight)?;
        (mask == u32::MAX >> by).then_some((x, by))
    }

    /// A copy of a value as a node of its own.
    pub(super) fn same(&mut self, value: Val, kind: Kind) -> u32 {
        self.nodes.push(Node { op: Op::Same, kind, of: kind, args: [value, Val::None, Val::None] });
        self.nodes.len() as u32 - 1
    }

    /// The range of an integer.
    fn range(&self, value: Val) -> Option<(i32, i32)> {
        let node = match value {
            Val::Node(node) => &self.nodes[node as usize],
            value => match value.scalar()? {
                Scalar::Int(x) => return Some((x, x)),
                _ => return None,
            },
        };
        let [a, b, c] = node.args;
        let known = |value: Val| match value.scalar() {
            Some(Scalar::Int(x)) => Some(x),
            _ => None,
        };
        match (node.op, known(b)) {
            (Op::Binary(BinaryOp::BitAnd), by) => {
                let most = by.or(known(a)).filter(|most| *most >= 0)?;
                Some((0, most))
            }
            (Op::Binary(BinaryOp::Rem), Some(by))
                if by > 0 && self.range(a).is_some_and(|(low, _)| low >= 0) =>
            {
                Some((0, by - 1))
            }
            (Op::Binary(BinaryOp::ShiftRight), Some(by)) => {
                let (low, high) = self.range(a).unwrap_or((i32::MIN, i32::MAX));
                Some((low >> (by & 31), high >> (by & 31)))
            }
            (Op::Binary(BinaryOp::Add), _) => {
                let ((a, b), (c, d)) = (self.range(a)?, self.range(b)?);
                Some((a.checked_add(c)?, b.checked_add(d)?))
            }
            (Op::Binary(BinaryOp::Mul), Some(by)) if by >= 0 => {
                let (low, high) = self.range(a)?;
                Some((low.checked_mul(by)?, high.checked_mul(by)?))
            }
            (Op::Convert, _) if node.of == Kind::Bool => Some((0, 1)),
            (Op::Select, _) => {
                let ((a, b), (c, d)) = (self.range(b)?, self.range(c)?);
                Some((a.min(c), b.max(d)))
            }
            _ => None,
        }
    }

    /// A cell of a table, restricted to the part that the index can reach. An index into a few vectors counts
    /// from 0 and needs only its low bits.
    pub(super) fn look(&mut self, kind: Kind, values: &[Scalar], at: Val, lanes: usize) -> Option<Val> {
        let (low, high) = self.range(at).unwrap_or((0, i32::MAX));
        // The index is known to be in range.
        let low = low.max(0) as usize;
        let high = usize::try_from(high).ok()?.min(values.len().checked_sub(1)?);
        let values = values.get(low..=high)?;
        let mut index = self.less(at, low as i32);
        let room = values.len().div_ceil(lanes).next_power_of_two() * lanes;
        if let (Val::Node(node), true) = (index, room <= 4 * lanes)
            && let Node {
                op: Op::Binary(BinaryOp::BitAnd), args: [x, Val::Const(Kind::Int, mask), _], ..
            } = self.nodes[node as usize]
            && mask as usize + 1 == room
        {
            index = x;
        }
        let op = Op::Look(self.table(kind, values));
        Some(self.node(Node { op, kind, of: Kind::Int, args: [index, Val::None, Val::None] }))
    }

    /// An integer minus a constant.
    fn less(&mut self, value: Val, by: i32) -> Val {
        let none = Val::None;
        let (mut value, mut by) = (value, by);
        if let Val::Node(node) = value
            && let Node { op: Op::Binary(BinaryOp::Add), args: [a, b, _], .. } = self.nodes[node as usize]
        {
            for (x, known) in [(a, b), (b, a)] {
                if let Val::Const(Kind::Int, more) = known {
                    (value, by) = (x, by.wrapping_sub(more as i32));
                    break;
                }
            }
        }
        if by == 0 {
            return value;
        }
        let args = [value, Val::of(Scalar::Int(by.wrapping_neg())), none];
        self.node(Node { op: Op::Binary(BinaryOp::Add), kind: Kind::Int, of: Kind::Int, args })
    }

    /// The index of a table.
    fn table(&mut self, kind: Kind, values: &[Scalar]) -> u32 {
        let found = self.tables.iter().position(|table| table.kind == kind && table.values == values);
        found.unwrap_or_else(|| {
            self.tables.push(Table { kind, values: values.to_vec() });
            self.tables.len() - 1
        }) as u32
    }
}

/// Folds an operation on constants, by the interpreter's operations.
fn fold(node: &Node) -> Option<Scalar> {
    let mut args = Vec::new();
    for arg in node.args.iter().filter(|arg| **arg != Val::None) {
        args.push(arg.scalar()?.value());
    }
    let ty = |kind| match kind {
        Kind::Bool => Type::Boolean,
        Kind::Int => Type::Int,
        Kind::Float => Type::Float,
    };
    let result = match (node.op, &args[..]) {
        (Op::Unary(op), [x]) => x.clone().unary(op),
        (Op::Binary(op), [x, y]) => Value::binary(op, x, y),
        (Op::Convert, [x]) => x.clone().convert(&ty(node.of), &ty(node.kind)),
        (Op::Math(function), args) => function.of(args),
        (Op::Select, [Value::Bool(c), a, b]) => return Scalar::of(if *c { a } else { b }),
        _ => return None,
    };
    Scalar::of(&result.ok()?)
}
