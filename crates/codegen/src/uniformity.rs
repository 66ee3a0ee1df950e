//! Uniformity analysis: which values differ between firings that are done at once.

use crate::ir::{Area, Cell, Code, Expr, Kind, Mem, MemKind, Stmt, Var, exprs, inner, walk, walk_exprs};
use crate::isomorphic::Joint;
use thalweg_lang::hir::BinaryOp;

/// The most cells of locals that differ; each is a vector: half a megabyte of stack.
const MOST_CELLS: usize = 8192;

/// Variables and runs of cells that differ between lanes.
#[derive(Clone)]
pub(crate) struct Divergence {
    vars: Vec<bool>,
    mems: Vec<bool>,
    /// Tables of one number for each lane, which positions of items may contain.
    places: Vec<bool>,
    /// Whether lanes have fields.
    state: bool,
}

impl Divergence {
    /// The analysis of a firing; `None` where firings cannot be done at once.
    pub(crate) fn of(code: &Code) -> Option<Divergence> {
        let (vars, mems) = (vec![false; code.vars.len()], vec![false; code.mems.len()]);
        let mut divergence = Divergence { vars, places: mems.clone(), mems, state: false };
        if !has_no_state(code) {
            return None;
        }
        while divergence.spread(&code.body, false) {}
        (divergence.fits_on_stack(code) && divergence.can_be_done(code, &code.body, false))
            .then_some(divergence)
    }

    /// Whether the stack has room for the locals of all lanes.
    fn fits_on_stack(&self, code: &Code) -> bool {
        let differ = code.mems.iter().zip(&self.mems).filter(|(_, differs)| **differs);
        let locals = differ.filter(|(mem, _)| mem.kind == MemKind::Local);
        locals.map(|(mem, _)| mem.cells).sum::<usize>() <= MOST_CELLS
    }

    /// The result if everything differs.
    pub(crate) fn all(code: &Code) -> Divergence {
        let (vars, mems) = (vec![true; code.vars.len()], vec![true; code.mems.len()]);
        Divergence { vars, places: vec![false; mems.len()], mems, state: true }
    }

    /// The analysis of isomorphic filters; `same` are the fields with equal integers in all at the beginning.
    pub(crate) fn among(joint: &Joint, same: &[u32]) -> Option<Divergence> {
        let code = &joint.code;
        let own = |field: u32, kind| kind == Kind::Float || !same.contains(&field);
        let vars = code.vars.iter().map(|var| var.field.is_some_and(|(field, _)| own(field, var.kind)));
        let mems = code.mems.iter().zip(&joint.tables);
        let mems = mems.map(|(mem, table)| table.is_some() || matches!(mem.kind, MemKind::Field(_)));
        let places = code
            .mems
            .iter()
            .zip(&joint.tables)
            .map(|(mem, table)| table.is_some() && mem.cells == 1 && mem.cell == Cell::Of(Kind::Int));
        let (vars, mems, places) = (vars.collect(), mems.collect(), places.collect());
        let mut divergence = Divergence { vars, mems, places, state: true };
        while divergence.spread(&code.body, false) {}
        let fits = divergence.fits_on_stack(code) && code.large_cells() == 0;
        (fits && divergence.can_be_done(code, &code.body, false)).then_some(divergence)
    }

    /// Whether a position is uniform but for a constant offset of each lane.
    fn place(&self, ex: &Expr) -> bool {
        match ex {
            _ if !self.ex(ex) => true,
            Expr::Load(Area::Mem(mem), at, _) => self.places[mem.0 as usize] && at.as_int() == Some(0),
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub, Kind::Int, x, y) => self.place(x) && self.place(y),
            Expr::Binary(BinaryOp::Mul, Kind::Int, x, y) => self.place(x) && y.as_int().is_some(),
            _ => false,
        }
    }

    pub(crate) fn var(&self, var: Var) -> bool {
        self.vars[var.0 as usize]
    }

    pub(crate) fn mem(&self, mem: Mem) -> bool {
        self.mems[mem.0 as usize]
    }

    /// Whether an expression differs between lanes.
    pub(crate) fn ex(&self, ex: &Expr) -> bool {
        let mut found = match ex {
            Expr::Var(var) => self.var(*var),
            Expr::Load(Area::In(_), ..) | Expr::Iter => true,
            Expr::Load(Area::Mem(mem), ..) => self.mem(*mem),
            _ => false,
        };
        ex.each(&mut |part| found |= self.ex(part));
        found
    }

    /// Propagates differences once through statements; `masked` if some lanes skip them. Returns whether
    /// anything changed.
    fn spread(&mut self, stmts: &[Stmt], masked: bool) -> bool {
        let mut changed = false;
        for st in stmts {
            let mut masked = masked;
            match st {
                Stmt::Set(var, value) => {
                    let now = masked || self.ex(value);
                    changed |= now && !std::mem::replace(&mut self.vars[var.0 as usize], true);
                }
                Stmt::Store(Area::Mem(mem), at, _, value) => {
                    let now = masked || self.ex(at) || self.ex(value);
                    changed |= now && !std::mem::replace(&mut self.mems[mem.0 as usize], true);
                }
                Stmt::If(condition, ..) => masked |= self.ex(condition),
                _ => {}
            }
            for stmts in inner(st) {
                changed |= self.spread(stmts, masked);
            }
        }
        changed
    }

    fn can_be_done(&self, code: &Code, stmts: &[Stmt], masked: bool) -> bool {
        stmts.iter().all(|st| {
            let mut fits = true;
            exprs(st, &mut |ex| fits &= self.fits(code, ex));
            fits &= match st {
                Stmt::Set(..) => true,
                Stmt::Store(Area::Out(item), at, ..) => self.place(item) && self.place(at),
                Stmt::Store(Area::Mem(mem), ..) => {
                    (self.state || code.mems[mem.0 as usize].kind == MemKind::Local)
                        && code.mems[mem.0 as usize].cell != Cell::Mixed
                }
                Stmt::If(..) => true,
                Stmt::For { var, from, to, .. } => !self.var(*var) && !self.ex(from) && !self.ex(to),
                _ => false,
            };
            let masked = masked || matches!(st, Stmt::If(condition, ..) if self.ex(condition));
            fits && inner(st).all(|stmts| self.can_be_done(code, stmts, masked))
        })
    }

    fn fits(&self, code: &Code, ex: &Expr) -> bool {
        let mut fits = match ex {
            Expr::Load(Area::In(item), at, _) => self.place(item) && self.place(at),
            Expr::Load(Area::Out(_), ..) => false,
            Expr::Load(Area::Mem(mem), ..) => code.mems[mem.0 as usize].cell != Cell::Mixed,
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, Kind::Int, _, y) => {
                !self.ex(ex) || y.as_int().is_some_and(|by| by != 0 && by != -1)
            }
            _ => true,
        };
        ex.each(&mut |part| fits &= self.fits(code, part));
        fits
    }
}

/// Whether a firing has no effects other than its output.
pub(crate) fn has_no_state(code: &Code) -> bool {
    let mut none = true;
    walk(&code.body, &mut |st| {
        none &= match st {
            Stmt::Set(var, _) | Stmt::For { var, .. } => code.vars[var.0 as usize].field.is_none(),
            Stmt::Store(Area::Mem(mem), ..) => !matches!(code.mems[mem.0 as usize].kind, MemKind::Field(_)),
            Stmt::Store(..) | Stmt::If(..) => true,
            Stmt::Loop(_)
            | Stmt::Block(..)
            | Stmt::Leave(_)
            | Stmt::Check(..)
            | Stmt::Random(_)
            | Stmt::Print(..) => false,
            Stmt::Calls { .. } | Stmt::Label(_) | Stmt::Jump(_) => false,
            Stmt::Send { .. } | Stmt::Need { .. } | Stmt::Room { .. } | Stmt::Moved { .. } => false,
        };
    });
    // Tables of booleans have byte cells, which works; those of mixed kinds are no vectors.
    walk_exprs(&code.body, &mut |ex| none &= !matches!(ex, Expr::Load(Area::Out(_), ..)));
    none
}
