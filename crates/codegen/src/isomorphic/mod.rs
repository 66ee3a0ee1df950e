//! SIMD packs of isomorphic filters: one code for several filters, with what differs between them as values
//! by lane.
//!
//! [`join`] walks the codes in parallel. A constant or table that all have in common stays; constants or
//! tables that differ become tables with a column for each *lane*. Variables and locals may be numbered
//! differently in each code, as long as the renaming is consistent. Any other difference makes the codes not
//! joinable.
//!
//! [`parts()`] splits one code with independent output cells into several, so that the parts of a complex
//! number can be lanes too.

mod parts;

use crate::ir::{Area, Cell, Code, Expr, Mem, MemInfo, MemKind, Scalar, Stmt, Var, VarInfo};
use std::collections::HashMap;

pub(crate) use parts::parts;

/// Several codes joined into one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Joint {
    /// The code of lane 0; a table that differs has the values of lane 0 here.
    pub(crate) code: Code,
    /// By run of cells: for tables that differ, the values of each lane.
    pub(crate) tables: Vec<Option<Vec<Vec<Scalar>>>>,
    /// The number of codes joined.
    pub(crate) lanes: usize,
}

/// Joins codes; `None` where they are not isomorphic.
pub(crate) fn join(codes: &[&Code]) -> Option<Joint> {
    let first = codes.first()?;
    let mut joiner = Joiner {
        codes,
        vars: vec![HashMap::new(); codes.len()],
        mems: vec![HashMap::new(); codes.len()],
        known: HashMap::new(),
        tables: HashMap::new(),
        joint: Joint { code: Code::default(), tables: Vec::new(), lanes: codes.len() },
    };
    let bodies: Vec<&[Stmt]> = codes.iter().map(|code| &code.body[..]).collect();
    joiner.joint.code.labels = first.labels;
    joiner.joint.code.body = joiner.stmts(&bodies)?;
    Some(joiner.joint)
}

struct Joiner<'a> {
    codes: &'a [&'a Code],
    /// By lane: the joint variable and run of cells for each of its own.
    vars: Vec<HashMap<Var, Var>>,
    mems: Vec<HashMap<Mem, Mem>>,
    /// The tables of constants that differ, by the constants' bits.
    known: HashMap<Vec<(u32, u32)>, Mem>,
    /// The joint tables, by the tables of the lanes.
    tables: HashMap<Vec<Mem>, Mem>,
    joint: Joint,
}

/// The same part of all operands; returns `None` from the caller where one does not match the pattern.
macro_rules! parts_of {
    ($all:expr, $pattern:pat => $part:expr) => {
        $all.iter()
            .map(|one| match one {
                $pattern => Some($part),
                _ => None,
            })
            .collect::<Option<Vec<_>>>()?
    };
}

fn same<T: PartialEq>(all: &[T]) -> Option<&T> {
    let (first, rest) = all.split_first()?;
    rest.iter().all(|one| one == first).then_some(first)
}

impl Joiner<'_> {
    fn stmts(&mut self, bodies: &[&[Stmt]]) -> Option<Vec<Stmt>> {
        let lengths: Vec<usize> = bodies.iter().map(|body| body.len()).collect();
        let count = *same(&lengths)?;
        (0..count).map(|at| self.st(&bodies.iter().map(|body| &body[at]).collect::<Vec<_>>())).collect()
    }

    fn st(&mut self, all: &[&Stmt]) -> Option<Stmt> {
        Some(match all[0] {
            Stmt::Set(..) => {
                let (vars, values) =
                    (parts_of!(all, Stmt::Set(x, _) => *x), parts_of!(all, Stmt::Set(_, x) => x));
                let value = self.ex(&values)?;
                Stmt::Set(self.var(&vars)?, value)
            }
            Stmt::Store(_, _, kind, _) => {
                let kinds = parts_of!(all, Stmt::Store(_, _, x, _) => *x);
                same(&kinds)?;
                let area = self.area(&parts_of!(all, Stmt::Store(x, ..) => x))?;
                let at = self.ex(&parts_of!(all, Stmt::Store(_, x, ..) => x))?;
                Stmt::Store(area, at, *kind, self.ex(&parts_of!(all, Stmt::Store(_, _, _, x) => x))?)
            }
            Stmt::If(..) => {
                let condition = self.ex(&parts_of!(all, Stmt::If(x, _, _) => x))?;
                let then = self.stmts(&parts_of!(all, Stmt::If(_, x, _) => &x[..]))?;
                Stmt::If(condition, then, self.stmts(&parts_of!(all, Stmt::If(_, _, x) => &x[..]))?)
            }
            Stmt::For { step, .. } => {
                same(&parts_of!(all, Stmt::For { step, .. } => *step))?;
                let from = self.ex(&parts_of!(all, Stmt::For { from, .. } => from))?;
                let var = self.var(&parts_of!(all, Stmt::For { var, .. } => *var))?;
                let to = self.ex(&parts_of!(all, Stmt::For { to, .. } => to))?;
                let body = self.stmts(&parts_of!(all, Stmt::For { body, .. } => &body[..]))?;
                Stmt::For { var, from, to, step: *step, body }
            }
            _ => return None,
        })
    }

    /// The joint variable of one variable in each lane.
    fn var(&mut self, vars: &[Var]) -> Option<Var> {
        let found: Vec<Option<Var>> =
            self.vars.iter().zip(vars).map(|(known, var)| known.get(var).copied()).collect();
        match *same(&found)? {
            Some(var) => Some(var),
            None => {
                let infos: Vec<&VarInfo> =
                    self.codes.iter().zip(vars).map(|(code, var)| &code.vars[var.0 as usize]).collect();
                same(&infos.iter().map(|info| (info.kind, info.field)).collect::<Vec<_>>())?;
                let var = Var(self.joint.code.vars.len() as u32);
                self.joint.code.vars.push(infos[0].clone());
                self.vars.iter_mut().zip(vars).for_each(|(known, own)| _ = known.insert(*own, var));
                Some(var)
            }
        }
    }

    fn area(&mut self, areas: &[&Area]) -> Option<Area> {
        Some(match areas[0] {
            Area::Mem(_) => Area::Mem(self.mem(&parts_of!(areas, Area::Mem(x) => *x))?),
            Area::In(_) => Area::In(Box::new(self.ex(&parts_of!(areas, Area::In(x) => &**x))?)),
            Area::Out(_) => Area::Out(Box::new(self.ex(&parts_of!(areas, Area::Out(x) => &**x))?)),
        })
    }

    fn mem(&mut self, mems: &[Mem]) -> Option<Mem> {
        let infos: Vec<&MemInfo> =
            self.codes.iter().zip(mems).map(|(code, mem)| &code.mems[mem.0 as usize]).collect();
        same(&infos.iter().map(|info| (info.cell, info.cells)).collect::<Vec<_>>())?;
        if let MemKind::Table(_) = infos[0].kind {
            return self.table(mems, &infos);
        }
        let found: Vec<Option<Mem>> =
            self.mems.iter().zip(mems).map(|(known, mem)| known.get(mem).copied()).collect();
        match *same(&found)? {
            Some(mem) => Some(mem),
            None => {
                same(&infos.iter().map(|info| &info.kind).collect::<Vec<_>>())?;
                let mem = self.push_mem(infos[0].clone(), None);
                self.mems.iter_mut().zip(mems).for_each(|(known, own)| _ = known.insert(*own, mem));
                Some(mem)
            }
        }
    }

    /// The joint table of one table in each lane: the common one, or one with a column for each lane.
    fn table(&mut self, mems: &[Mem], infos: &[&MemInfo]) -> Option<Mem> {
        if let Some(mem) = self.tables.get(mems) {
            return Some(*mem);
        }
        let values = parts_of!(infos, MemInfo { kind: MemKind::Table(values), .. } => values);
        let lanes = match same(&values) {
            Some(_) => None,
            None if infos[0].cell == Cell::Mixed => return None,
            None => Some(values.into_iter().cloned().collect()),
        };
        let mem = self.push_mem(infos[0].clone(), lanes);
        self.tables.insert(mems.to_vec(), mem);
        Some(mem)
    }

    fn push_mem(&mut self, info: MemInfo, lanes: Option<Vec<Vec<Scalar>>>) -> Mem {
        self.joint.code.mems.push(info);
        self.joint.tables.push(lanes);
        Mem(self.joint.code.mems.len() as u32 - 1)
    }

    fn ex(&mut self, all: &[&Expr]) -> Option<Expr> {
        Some(match all[0] {
            Expr::Const(_) => self.constant(&parts_of!(all, Expr::Const(x) => *x))?,
            Expr::Var(_) => Expr::Var(self.var(&parts_of!(all, Expr::Var(x) => *x))?),
            Expr::Load(_, _, kind) => {
                same(&parts_of!(all, Expr::Load(_, _, x) => *x))?;
                let area = self.area(&parts_of!(all, Expr::Load(x, ..) => x))?;
                Expr::Load(area, Box::new(self.ex(&parts_of!(all, Expr::Load(_, x, _) => &**x))?), *kind)
            }
            Expr::Unary(op, kind, _) => {
                same(&parts_of!(all, Expr::Unary(op, kind, _) => (*op, *kind)))?;
                Expr::Unary(*op, *kind, Box::new(self.ex(&parts_of!(all, Expr::Unary(_, _, x) => &**x))?))
            }
            Expr::Binary(op, kind, ..) => {
                same(&parts_of!(all, Expr::Binary(op, kind, ..) => (*op, *kind)))?;
                let x = self.ex(&parts_of!(all, Expr::Binary(_, _, x, _) => &**x))?;
                let y = self.ex(&parts_of!(all, Expr::Binary(_, _, _, y) => &**y))?;
                Expr::Binary(*op, *kind, Box::new(x), Box::new(y))
            }
            Expr::Convert(from, to, _) => {
                same(&parts_of!(all, Expr::Convert(from, to, _) => (*from, *to)))?;
                Expr::Convert(*from, *to, Box::new(self.ex(&parts_of!(all, Expr::Convert(_, _, x) => &**x))?))
            }
            Expr::Math(function, kind, args) => {
                same(&parts_of!(all, Expr::Math(f, kind, args) => (*f, *kind, args.len())))?;
                let of = |at: usize| Some(parts_of!(all, Expr::Math(_, _, args) => &args[at]));
                let args = (0..args.len()).map(|at| self.ex(&of(at)?)).collect::<Option<Vec<_>>>()?;
                Expr::Math(*function, *kind, args)
            }
            Expr::Select(kind, _) => {
                same(&parts_of!(all, Expr::Select(kind, _) => *kind))?;
                let of = |at: usize| Some(parts_of!(all, Expr::Select(_, parts) => &parts[at]));
                Expr::Select(*kind, Box::new([self.ex(&of(0)?)?, self.ex(&of(1)?)?, self.ex(&of(2)?)?]))
            }
            Expr::Iter => {
                parts_of!(all, Expr::Iter => ());
                Expr::Iter
            }
        })
    }

    fn constant(&mut self, all: &[Scalar]) -> Option<Expr> {
        let kind = *same(&all.iter().map(|value| value.kind()).collect::<Vec<_>>())?;
        if same(all).is_some() {
            return Some(Expr::Const(all[0]));
        }
        let bits = all.iter().map(|value| (kind as u32, bits(*value))).collect::<Vec<_>>();
        let mem = match self.known.get(&bits) {
            Some(mem) => *mem,
            None => {
                let name = "known".to_owned();
                let info =
                    MemInfo { kind: MemKind::Table(vec![all[0]]), cell: Cell::Of(kind), cells: 1, name };
                let mem = self.push_mem(info, Some(all.iter().map(|value| vec![*value]).collect()));
                self.known.insert(bits, mem);
                mem
            }
        };
        Some(Expr::Load(Area::Mem(mem), Box::new(Expr::int(0)), kind))
    }
}

fn bits(value: Scalar) -> u32 {
    match value {
        Scalar::Bool(x) => x.into(),
        Scalar::Int(x) => x as u32,
        Scalar::Float(x) => x.to_bits(),
    }
}

/// A fingerprint of a code: equal for all codes that can be joined.
pub(crate) fn outline(code: &Code) -> String {
    use std::fmt::Write;
    fn ex(x: &Expr, text: &mut String) {
        let _ = match x {
            Expr::Const(value) => write!(text, "c{:?}", value.kind()),
            Expr::Var(_) => write!(text, "v"),
            Expr::Load(Area::Mem(_), _, kind) => write!(text, "m{kind:?}"),
            Expr::Load(_, _, kind) => write!(text, "i{kind:?}"),
            Expr::Unary(op, kind, _) => write!(text, "u{op:?}{kind:?}"),
            Expr::Binary(op, kind, ..) => write!(text, "b{op:?}{kind:?}"),
            Expr::Convert(from, to, _) => write!(text, "t{from:?}{to:?}"),
            Expr::Math(function, kind, _) => write!(text, "f{function:?}{kind:?}"),
            Expr::Select(kind, _) => write!(text, "s{kind:?}"),
            Expr::Iter => write!(text, "n"),
        };
        text.push('(');
        x.each(&mut |part| ex(part, text));
        text.push(')');
    }
    let mut text = String::new();
    crate::ir::walk(&code.body, &mut |st| {
        let name = match st {
            Stmt::Set(..) => "set",
            Stmt::Store(..) => "store",
            Stmt::If(_, then, _) => {
                let _ = write!(text, "{}", then.len());
                "if"
            }
            Stmt::For { body, .. } => {
                let _ = write!(text, "{}", body.len());
                "for"
            }
            _ => "other",
        };
        text.push_str(name);
        crate::ir::exprs(st, &mut |x| ex(x, &mut text));
    });
    text
}
