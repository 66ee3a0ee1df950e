//! Symbolic execution: the firings of a block are executed on unknown values to build a [`Dag`].
//!
//! Control flow is known at compile time, except for conditions on single items: then both branches are
//! executed, and each variable that differs afterwards becomes a select.

use super::dag::{Dag, Node, Op, Val};
use crate::ir::{Area, Cell, Code, Expr, Kind, MemKind, Scalar, Stmt, compares};
use crate::plan::Items;

/// The most nodes of a block, and the most statements executed for it.
const MOST_NODES: usize = 1 << 17;
const MOST_STEPS: usize = 1 << 21;

/// The cells of a buffer, in a steady state.
#[derive(Clone, Debug)]
pub(super) enum Cells {
    /// They come from outside.
    Outside(Kind),
    /// The block computes them.
    Inside(Vec<Val>),
}

/// A block under construction.
pub(super) struct Trace {
    pub(super) dag: Dag,
    /// By buffer; `None` for buffers that the block does not use.
    pub(super) buffers: Vec<Option<Cells>>,
    /// By node: the buffer and cell that it was stored to first.
    pub(super) homes: Vec<Option<(u32, u32)>>,
    /// The number of nodes after each firing.
    pub(super) firings: Vec<u32>,
    steps: usize,
    lanes: usize,
}

/// One firing.
struct Firing<'a> {
    trace: &'a mut Trace,
    code: &'a Code,
    /// The buffer, and the positions of its items.
    input: Option<(usize, Vec<i64>)>,
    cells: (usize, usize),
    now: Now,
}

/// The values between two statements.
#[derive(Clone)]
struct Now {
    vars: Vec<Val>,
    mems: Vec<Vec<Val>>,
    given: Vec<Val>,
}

/// The position of a firing's first item.
fn begin(items: &Items, firing: i64) -> i64 {
    items.base + firing / items.group * items.group_stride + firing % items.group * items.stride
}

/// The positions of a firing's items.
pub(super) fn places(items: &Items, firing: i64) -> Vec<i64> {
    (0..items.window).map(|item| begin(items, firing) + items.offset(item)).collect()
}

/// A side of an actor: its buffer and items.
pub(super) type Side<'a> = (usize, &'a Items);

impl Trace {
    pub(super) fn new(buffers: Vec<Option<Cells>>, lanes: usize) -> Trace {
        Trace { dag: Dag::default(), buffers, homes: Vec::new(), firings: Vec::new(), steps: 0, lanes }
    }

    /// Loads a cell of a buffer.
    fn load(&mut self, buffer: usize, cell: i64) -> Option<Val> {
        match self.buffers[buffer].as_ref()? {
            Cells::Outside(kind) => {
                let op = Op::In { buffer: buffer as u32, cell: u32::try_from(cell).ok()? };
                Some(self.dag.node(Node { op, kind: *kind, of: *kind, args: [Val::None; 3] }))
            }
            Cells::Inside(cells) => {
                cells.get(usize::try_from(cell).ok()?).copied().filter(|value| *value != Val::None)
            }
        }
    }

    fn store(&mut self, buffer: usize, cell: i64, value: Val) -> Option<()> {
        let Cells::Inside(cells) = self.buffers[buffer].as_mut()? else { return None };
        *cells.get_mut(usize::try_from(cell).ok()?)? = value;
        if let Val::Node(node) = value {
            self.homes.resize(self.dag.nodes.len(), None);
            self.homes[node as usize].get_or_insert((buffer as u32, cell as u32));
        }
        Some(())
    }

    /// Traces a filter's firings in a steady state; `None` where they cannot be traced.
    pub(super) fn fire(
        &mut self,
        code: &Code,
        input: Option<Side<'_>>,
        output: Option<Side<'_>>,
        firings: i64,
    ) -> Option<()> {
        let of = |side: Option<Side<'_>>| side.map_or(1, |(_, items)| items.cells);
        let cells = (of(input), of(output));
        for firing in 0..firings {
            let given = output.map_or(0, |(_, items)| items.window as usize) * cells.1;
            let now = Now {
                vars: vec![Val::None; code.vars.len()],
                mems: code
                    .mems
                    .iter()
                    .map(|mem| vec![Val::None; local_cells(&mem.kind, mem.cells)])
                    .collect(),
                given: vec![Val::None; given],
            };
            let places = input.map(|(buffer, items)| (buffer, places(items, firing)));
            let mut one = Firing { trace: self, code, input: places, cells, now };
            one.stmts(&code.body)?;
            let given = one.now.given;
            self.firings.push(self.dag.nodes.len() as u32);
            if let Some((buffer, items)) = output {
                let places = places_of_cells(items, firing);
                for (cell, value) in places.into_iter().zip(given) {
                    self.store(buffer, cell, Some(value).filter(|value| *value != Val::None)?)?;
                }
            }
        }
        Some(())
    }

    /// Traces the copies of a splitter, joiner or identity.
    pub(super) fn copy(
        &mut self,
        moves: &[[u64; 5]],
        inputs: &[Side<'_>],
        outputs: &[Side<'_>],
        firings: i64,
    ) -> Option<()> {
        for firing in 0..firings {
            let places = |sides: &[Side<'_>]| -> Vec<Vec<i64>> {
                sides.iter().map(|(_, items)| places_of_cells(items, firing)).collect()
            };
            let (ins, outs) = (places(inputs), places(outputs));
            for [from, from_at, to, to_at, count] in moves.iter().map(|part| part.map(|x| x as usize)) {
                let cells = inputs.get(from)?.1.cells;
                for at in 0..count * cells {
                    let value = self.load(inputs[from].0, *ins[from].get(from_at * cells + at)?)?;
                    self.store(outputs[to].0, *outs[to].get(to_at * cells + at)?, value)?;
                }
            }
        }
        Some(())
    }
}

fn places_of_cells(items: &Items, firing: i64) -> Vec<i64> {
    let cells = items.cells as i64;
    places(items, firing)
        .into_iter()
        .flat_map(|place| (0..cells).map(move |cell| place * cells + cell))
        .collect()
}

fn local_cells(kind: &MemKind, cells: usize) -> usize {
    if *kind == MemKind::Local { cells } else { 0 }
}

impl Firing<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) -> Option<()> {
        stmts.iter().try_for_each(|st| self.st(st))
    }

    fn st(&mut self, st: &Stmt) -> Option<()> {
        self.trace.steps += 1;
        if self.trace.steps > MOST_STEPS || self.trace.dag.nodes.len() > MOST_NODES {
            return None;
        }
        match st {
            Stmt::Set(var, value) => {
                self.code.vars[var.0 as usize].field.is_none().then_some(())?;
                self.now.vars[var.0 as usize] = self.ex(value)?;
            }
            Stmt::Store(area, at, kind, value) => {
                let value = self.ex(value)?;
                self.store(area, at, *kind, value)?;
            }
            Stmt::If(condition, then, otherwise) => match self.ex(condition)? {
                Val::Const(_, 0) => self.stmts(otherwise)?,
                Val::Const(..) => self.stmts(then)?,
                condition => self.both(condition, then, otherwise)?,
            },
            Stmt::For { var, from, to, step, body } => {
                let (mut at, to) = (self.int(from)?, self.int(to)?);
                while if *step > 0 { at < to } else { at > to } {
                    self.now.vars[var.0 as usize] = Val::of(Scalar::Int(at));
                    self.stmts(body)?;
                    self.trace.steps += 1;
                    at = at.wrapping_add(*step);
                }
                self.now.vars[var.0 as usize] = Val::of(Scalar::Int(at));
            }
            _ => return None,
        }
        Some(())
    }

    fn store(&mut self, area: &Area, at: &Expr, _kind: Kind, value: Val) -> Option<()> {
        let at = usize::try_from(self.int(at)?).ok()?;
        match area {
            Area::Mem(mem) => {
                let info = &self.code.mems[mem.0 as usize];
                (info.kind == MemKind::Local && info.cell != Cell::Mixed).then_some(())?;
                *self.now.mems[mem.0 as usize].get_mut(at)? = value;
            }
            Area::Out(item) => {
                let item = usize::try_from(self.int(item)?).ok()?;
                *self.now.given.get_mut(item * self.cells.1 + at)? = value;
            }
            Area::In(_) => return None,
        }
        Some(())
    }

    /// Executes both branches, and selects where they differ.
    fn both(&mut self, condition: Val, then: &[Stmt], otherwise: &[Stmt]) -> Option<()> {
        let before = self.now.clone();
        self.stmts(then)?;
        let mut first = std::mem::replace(&mut self.now, before);
        self.stmts(otherwise)?;
        let mut second = self.now.clone();
        self.join(condition, &mut first.vars, &mut second.vars)?;
        self.join(condition, &mut first.given, &mut second.given)?;
        for (first, second) in first.mems.iter_mut().zip(&mut second.mems) {
            self.join(condition, first, second)?;
        }
        self.now = second;
        Some(())
    }

    fn join(&mut self, condition: Val, first: &mut [Val], second: &mut [Val]) -> Option<()> {
        for (a, b) in first.iter().zip(second) {
            match (*a, *b) {
                (a, b) if a == b => {}
                (Val::None, _) => {}
                // A variable that one branch has not set is set again before it is read.
                (a, Val::None) => *b = a,
                (a, other) => {
                    let kind = self.kind(a);
                    let args = [condition, a, other];
                    *b = self.trace.dag.node(Node { op: Op::Select, kind, of: kind, args });
                }
            }
        }
        Some(())
    }

    fn kind(&self, value: Val) -> Kind {
        match value {
            Val::Const(kind, _) => kind,
            Val::Node(node) => self.trace.dag.nodes[node as usize].kind,
            Val::None => Kind::Int,
        }
    }

    /// An integer that must be constant.
    fn int(&mut self, ex: &Expr) -> Option<i32> {
        match self.ex(ex)?.scalar()? {
            Scalar::Int(value) => Some(value),
            Scalar::Bool(value) => Some(value.into()),
            Scalar::Float(_) => None,
        }
    }

    fn ex(&mut self, ex: &Expr) -> Option<Val> {
        let none = Val::None;
        let (op, kind, of, args) = match ex {
            Expr::Const(value) => return Some(Val::of(*value)),
            Expr::Var(var) => return self.var(*var),
            Expr::Load(area, at, kind) => return self.load(area, at, *kind),
            Expr::Unary(op, kind, x) => (Op::Unary(*op), *kind, *kind, [self.ex(x)?, none, none]),
            Expr::Binary(op, kind, x, y) => {
                let result = if compares(*op) { Kind::Bool } else { *kind };
                (Op::Binary(*op), result, *kind, [self.ex(x)?, self.ex(y)?, none])
            }
            Expr::Convert(from, to, x) => (Op::Convert, *to, *from, [self.ex(x)?, none, none]),
            Expr::Math(function, kind, args) => {
                let mut all = [none; 3];
                for (to, arg) in all.iter_mut().zip(args) {
                    *to = self.ex(arg)?;
                }
                (Op::Math(*function), *kind, *kind, all)
            }
            Expr::Select(kind, parts) => {
                let [c, a, b] = &**parts;
                match self.ex(c)? {
                    Val::Const(_, 0) => return self.ex(b),
                    Val::Const(..) => return self.ex(a),
                    c => (Op::Select, *kind, *kind, [c, self.ex(a)?, self.ex(b)?]),
                }
            }
            Expr::Iter => return None,
        };
        Some(self.trace.dag.node(Node { op, kind, of, args }))
    }

    fn var(&self, var: crate::ir::Var) -> Option<Val> {
        let info = &self.code.vars[var.0 as usize];
        match self.now.vars[var.0 as usize] {
            _ if info.field.is_some() => None,
            Val::None => Some(Val::of(Scalar::zero(info.kind))),
            value => Some(value),
        }
    }

    fn load(&mut self, area: &Area, at: &Expr, kind: Kind) -> Option<Val> {
        let at = self.ex(at)?;
        match area {
            Area::In(item) => {
                let item = usize::try_from(self.int(item)?).ok()?;
                let Some(Scalar::Int(at)) = at.scalar() else { return None };
                let (buffer, places) = self.input.as_ref()?;
                let cell = places.get(item)? * self.cells.0 as i64 + i64::from(at);
                self.trace.load(*buffer, cell)
            }
            Area::Mem(mem) => {
                let code = self.code;
                let info = &code.mems[mem.0 as usize];
                match (&info.kind, at.scalar(), at) {
                    (MemKind::Table(values), Some(Scalar::Int(at)), _) => {
                        let value = *values.get(usize::try_from(at).ok()?)?;
                        (value.kind() == kind).then_some(Val::of(value))
                    }
                    (MemKind::Table(values), None, Val::Node(_)) if info.cell != Cell::Mixed => {
                        let lanes = self.trace.lanes;
                        self.trace.dag.look(kind, values, at, lanes)
                    }
                    (MemKind::Local, Some(Scalar::Int(at)), _) => {
                        let value = *self.now.mems[mem.0 as usize].get(usize::try_from(at).ok()?)?;
                        Some(if value == Val::None { Val::of(Scalar::zero(kind)) } else { value })
                    }
                    _ => None,
                }
            }
            Area::Out(_) => None,
        }
    }
}
