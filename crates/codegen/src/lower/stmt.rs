//! Statements.

use super::assigned::{does, times_set};
use super::shape::kind_of;
use super::{Bind, Lower, Outcome, Part, Val, cells_of};
use crate::ir::{Area, Expr, Kind, MemKind, Piece, Scalar, Stmt};
use thalweg_lang::hir::{self, BinaryOp, Init, Place, Shaped, StmtKind, Type};
use thalweg_lang::interpret::counted;
use thalweg_lang::value::Shape;

/// A condition with what is executed if it holds.
type Branch = (hir::Expr, Vec<hir::Stmt>);

/// Branches of one `if` that are nested.
const MAX_NESTED_BRANCHES: usize = 16;

impl<'a> Lower<'a> {
    pub(super) fn stmts(&mut self, stmts: &'a [hir::Stmt]) -> Outcome<()> {
        for stmt in stmts {
            if !self.alive {
                break;
            }
            self.span = stmt.span;
            self.stmt(stmt)?;
        }
        self.budget()
    }

    fn stmt(&mut self, stmt: &'a hir::Stmt) -> Outcome<()> {
        match &stmt.kind {
            StmtKind::Declare { local, ty, init } => self.declare(*local, ty, init.as_ref()),
            StmtKind::Assign(place, value) => self.assign(place, value),
            StmtKind::Update { place, op, value, via } => self.update(place, *op, value, via, stmt),
            StmtKind::Expr(expr) => self.expr(expr).map(drop),
            StmtKind::Push(item) => self.push(item),
            StmtKind::Print(text, line_ends) => self.print(text.as_ref(), *line_ends),
            StmtKind::Block(stmts) => self.stmts(stmts),
            StmtKind::If(branches, otherwise) => self.branches(branches, otherwise),
            StmtKind::While(condition, body) => self.repeat(Some(condition), &[], body, false),
            StmtKind::DoWhile(body, condition) => self.repeat(Some(condition), &[], body, true),
            StmtKind::For { init, condition, step, body } => {
                self.stmts(init)?;
                self.repeat(condition.as_ref(), step, body, false)
            }
            StmtKind::Break | StmtKind::Continue => {
                let (brk, cont) = *self.frame().loops.last().ok_or("`break` or `continue` outside a loop")?;
                self.leave(if matches!(stmt.kind, StmtKind::Break) { brk } else { cont });
                Ok(())
            }
            StmtKind::Return(value) => self.give_back(value.as_ref()),
            StmtKind::Send(send) => self.send(send, stmt.span),
            _ => Err("a statement creates streams".into()),
        }
    }

    /// `if` and each `else if`. Of many, some at a time are nested; a variable says whether none has been taken, so that the
    /// nesting is bounded, which all that follows relies on.
    fn branches(&mut self, branches: &'a [Branch], otherwise: &'a [hir::Stmt]) -> Outcome<()> {
        let mut parts = branches.chunks(MAX_NESTED_BRANCHES).peekable();
        if branches.len() <= MAX_NESTED_BRANCHES {
            return self.nested_branches(branches, &|lower| lower.stmts(otherwise));
        }
        let none = self.var(Kind::Bool, "none");
        self.set(none, Expr::Const(Scalar::Bool(true)));
        while let Some(part) = parts.next() {
            let is_last = parts.peek().is_none();
            let none_so_far = self.known.constant(none).map_or(Expr::Var(none), Expr::Const);
            self.branch(
                none_so_far,
                |lower| {
                    lower.set(none, Expr::Const(Scalar::Bool(false)));
                    lower.nested_branches(part, &|lower| {
                        if is_last {
                            return lower.stmts(otherwise);
                        }
                        lower.set(none, Expr::Const(Scalar::Bool(true)));
                        Ok(())
                    })
                },
                |_| Ok(()),
            )?;
            if !self.alive {
                break;
            }
        }
        Ok(())
    }

    fn nested_branches(
        &mut self,
        branches: &'a [Branch],
        otherwise: &dyn Fn(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let Some(((condition, body), rest)) = branches.split_first() else { return otherwise(self) };
        let condition = self.scalar(condition)?;
        self.branch(condition, |lower| lower.stmts(body), |lower| lower.nested_branches(rest, otherwise))
    }

    fn give_back(&mut self, value: Option<&'a hir::Expr>) -> Outcome<()> {
        let value = value.map(|value| self.expr(value)).transpose()?;
        let (leave, result) = (self.frame().leave, self.frame().result.clone());
        if let (Some(value), Some(result)) = (value, result)
            && !matches!(result, Bind::None)
        {
            self.put(&result, value)?;
        }
        self.leave(leave);
        Ok(())
    }

    fn declare(&mut self, local: u32, ty: &'a Shaped, init: Option<&'a Init>) -> Outcome<()> {
        match (&ty.ty, init) {
            (scalar, init) if Self::has_variable(scalar) => {
                let kind = kind_of(scalar)?;
                let value = match init {
                    None => Expr::Const(Scalar::zero(kind)),
                    Some(Init::Value(expr)) => self.scalar(expr)?,
                    Some(Init::List(_)) => return Err("a scalar is initialised with a list".into()),
                };
                let bind = self.frame().locals[local as usize].clone();
                let var = match bind {
                    Bind::Scalar(var) if self.code.vars[var.0 as usize].kind == kind => var,
                    _ => self.var(kind, &self.local_name(local)),
                };
                self.frame().locals[local as usize] = Bind::Scalar(var);
                self.set(var, value);
                Ok(())
            }
            (Type::String, Some(Init::Value(expr))) if self.set_once(local) => {
                let parts = self.text(expr)?;
                self.frame().locals[local as usize] = Bind::Text(parts);
                Ok(())
            }
            (Type::String | Type::Portal(_), _) => {
                Err("unsupported local variable of string or portal type".into())
            }
            _ => self.declare_cells(local, ty, init),
        }
    }

    fn local_name(&self, local: u32) -> String {
        self.frames.last().map_or_else(String::new, |frame| frame.body.locals[local as usize].0.to_string())
    }

    /// Whether a local is never assigned after its declaration.
    fn set_once(&mut self, local: u32) -> bool {
        times_set(self.frame().body, local) == 1
    }

    fn declare_cells(&mut self, local: u32, ty: &'a Shaped, init: Option<&'a Init>) -> Outcome<()> {
        let shape = self.shape(ty)?;
        if let Some(init @ Init::List(_)) = init
            && self.set_once(local)
            && let Some(cells) = self.constant_list(init, &shape)?
        {
            let mem = self.mem(MemKind::Table(cells), &shape, &self.local_name(local))?;
            self.frame().locals[local as usize] = Bind::Area(mem, shape);
            return Ok(());
        }
        let value = match init {
            Some(Init::Value(expr)) => Some(self.expr(expr)?),
            _ => None,
        };
        let mem = match &self.frame().locals[local as usize] {
            Bind::Area(mem, old) if *old == shape => *mem,
            _ => {
                let name = self.local_name(local);
                self.mem(MemKind::Local, &shape, &name)?
            }
        };
        match (value, init) {
            (Some(value), _) => self.store_cells(&Area::Mem(mem), &Expr::int(0), &shape, value)?,
            (None, None) => self.clear(mem, &shape)?,
            (None, Some(init)) => {
                // Its elements may read the variable's value of an earlier iteration.
                let fresh = self.mem(MemKind::Local, &shape, "list")?;
                self.clear(fresh, &shape)?;
                self.list(fresh, 0, &shape, init)?;
                let list = Val::Area(Area::Mem(fresh), Expr::int(0), shape.clone());
                self.store_cells(&Area::Mem(mem), &Expr::int(0), &shape, list)?;
            }
        }
        self.frame().locals[local as usize] = Bind::Area(mem, shape);
        Ok(())
    }

    fn list(&mut self, mem: crate::ir::Mem, at: usize, shape: &Shape, init: &'a Init) -> Outcome<()> {
        match (init, shape) {
            (Init::Value(expr), shape) => {
                let value = self.expr(expr)?;
                self.store_cells(&Area::Mem(mem), &Expr::int(at as i64), shape, value)
            }
            (Init::List(inits), Shape::Array(element, length)) if inits.len() == *length => {
                let cells = cells_of(element, &self.tree.structs);
                for (place, init) in inits.iter().enumerate() {
                    self.list(mem, at + place * cells, element, init)?;
                }
                Ok(())
            }
            _ => Err("a list does not have the shape of its array".into()),
        }
    }

    /// The cells of a list of constants; `None` where an element is not constant.
    fn constant_list(&mut self, init: &'a Init, shape: &Shape) -> Outcome<Option<Vec<Scalar>>> {
        let mark = self.mark();
        let mut cells = Vec::new();
        let (stmts, all) = self.aside(|lower| lower.constant_cells(init, shape, &mut cells))?;
        if all && stmts.is_empty() {
            return Ok(Some(cells));
        }
        self.rewind(mark);
        Ok(None)
    }

    fn constant_cells(&mut self, init: &'a Init, shape: &Shape, out: &mut Vec<Scalar>) -> Outcome<bool> {
        match (init, shape) {
            (Init::Value(expr), Shape::Scalar(_)) => {
                let parts = match self.expr(expr)? {
                    Val::Scalar(ex) => vec![ex],
                    Val::Cells(parts) => parts,
                    _ => return Ok(false),
                };
                let known: Option<Vec<Scalar>> = parts.iter().map(Expr::constant).collect();
                out.extend(known.iter().flatten());
                Ok(known.is_some())
            }
            (Init::List(inits), Shape::Array(element, length)) if inits.len() == *length => {
                for init in inits {
                    if !self.constant_cells(init, element, out)? {
                        return Ok(false);
                    }
                }
                Ok(matches!(super::cell_of(element, &self.tree.structs)?, crate::ir::Cell::Of(_)))
            }
            _ => Ok(false),
        }
    }

    fn assign(&mut self, place: &'a Place, value: &'a hir::Expr) -> Outcome<()> {
        // Indices keep the values they had before the right side was evaluated.
        let effects = self.has_effects(value);
        let loc = self.place(place)?;
        let loc = if effects { self.freeze_loc(loc) } else { loc };
        let value = self.expr(value)?;
        self.store(&loc, value)
    }

    fn update(
        &mut self,
        place: &'a Place,
        op: BinaryOp,
        value: &'a hir::Expr,
        via: &Type,
        stmt: &'a hir::Stmt,
    ) -> Outcome<()> {
        let effects = self.has_effects(value);
        let loc = self.place(place)?;
        let loc = if effects { self.freeze_loc(loc) } else { loc };
        let old = self.load(&loc)?;
        let ty = match (&old, self.kind_at(&loc)) {
            (_, Some(Kind::Bool)) => Type::Bit,
            (_, Some(Kind::Int)) => Type::Int,
            (_, Some(Kind::Float)) => Type::Float,
            (Val::Cells(_), _) => via.clone(),
            _ => return Err("a compound assignment to an array or structure".into()),
        };
        let old = self.convert(old, &ty, via)?;
        let old = if effects { self.freeze(old)? } else { old };
        let value = self.expr(value)?;
        self.span = stmt.span;
        let new = self.binary(op, via, old, value)?;
        let new = self.convert(new, via, &ty)?;
        self.store(&loc, new)
    }

    fn push(&mut self, expr: &'a hir::Expr) -> Outcome<()> {
        let value = self.expr(expr)?;
        self.span = expr.span;
        let place = self.given.place();
        let range = self.cursor_range(&self.given.clone());
        match self.rates.push.fixed() {
            Some(push) if range.1 >= i64::from(push) => {
                let more = self.compare(BinaryOp::Ge, place.clone(), Expr::int(push.into()));
                let most = counted(push.into());
                let why = format!("this firing pushes more than the {most} of its rate");
                self.check(more, why, Vec::new());
            }
            Some(_) => {}
            None => self.room(range),
        }
        self.given.fixed += 1;
        let shape = self.output.clone();
        self.store_cells(&Area::Out(Box::new(place)), &Expr::int(0), &shape, value)
    }

    fn print(&mut self, text: Option<&'a hir::Expr>, line_ends: bool) -> Outcome<()> {
        let mut parts = match text.map(|text| Ok::<_, String>((self.expr(text)?, &text.ty))).transpose()? {
            None => Vec::new(),
            Some((Val::Text(parts), _)) => parts,
            Some((Val::Scalar(ex), ty)) => vec![Part::Value(vec![ex], ty.clone())],
            Some((Val::Cells(cells), ty)) => vec![Part::Value(cells, ty.clone())],
            Some(_) => return Err("an array or structure is printed".into()),
        };
        if line_ends {
            parts.push(Part::Text("\n".into()));
        }
        self.print_parts(parts)
    }

    /// Prints the parts in order, and of a choice the chosen side.
    fn print_parts(&mut self, parts: Vec<Part>) -> Outcome<()> {
        let (mut pieces, mut args) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::Text(text) => pieces.push(Piece::Text(text)),
                Part::Value(cells, ty) => {
                    pieces.push(Piece::Value(ty));
                    args.extend(cells);
                }
                Part::Choice(condition, first, second) => {
                    self.print_pieces(std::mem::take(&mut pieces), std::mem::take(&mut args));
                    self.branch(
                        condition,
                        |lower| lower.print_parts(first),
                        |lower| lower.print_parts(second),
                    )?;
                }
            }
        }
        self.print_pieces(pieces, args);
        Ok(())
    }

    fn print_pieces(&mut self, pieces: Vec<Piece>, args: Vec<Expr>) {
        if !pieces.is_empty() {
            self.code.formats.push(pieces);
            self.emit(Stmt::Print(self.code.formats.len() as u32 - 1, args));
        }
    }

    /// Drops what is known of variables that the code may change.
    pub(super) fn forget_changed(&mut self, stmts: &[&'a [hir::Stmt]], condition: Option<&'a hir::Expr>) {
        let mut roots = Vec::new();
        for stmts in stmts {
            roots.extend(does(stmts, self.filter, self.program).roots);
        }
        if let Some(condition) = condition {
            roots.extend(super::assigned::expr_does(condition, self.filter, self.program).roots);
        }
        for root in roots {
            let bind = match root {
                thalweg_lang::hir::Root::Local(at) => self.frame().locals.get(at as usize).cloned(),
                root => self.roots.get(&root).cloned(),
            };
            if let Some(Bind::Scalar(var)) = bind {
                self.known.forget(var);
            }
        }
    }
}
