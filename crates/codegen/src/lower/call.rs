//! Calls: functions are inlined into their callers.

use super::assigned::{changes_local, does, returns_early};
use super::shape::is_scalar;
use super::{Bind, Lower, Outcome, Val};
use crate::ir::{self, Area, Expr, Label, MemKind, Scalar, Stmt};
use thalweg_lang::hir::{self, Builtin, Callee, Function, Root, Shaped, Type};
use thalweg_lang::value::Shape;

impl<'a> Lower<'a> {
    pub(super) fn call(
        &mut self,
        callee: Callee,
        args: &'a [hir::Expr],
        expr: &'a hir::Expr,
    ) -> Outcome<Val> {
        match callee {
            Callee::Builtin(builtin) => return self.builtin(builtin, args),
            Callee::Native(at) => return self.native(at, expr),
            Callee::Function(_) | Callee::Helper(_) => {}
        }
        let values = self.operands(&args.iter().collect::<Vec<_>>())?;
        self.span = expr.span;
        self.check_depth();
        if self.is_being_made(callee) {
            return self.invoke(callee, values);
        }
        match &self.group(callee)[..] {
            [] => self.call_in(callee, values),
            group => self.call_group(group, values),
        }
    }

    pub(super) fn put_in(&mut self, function: &'a Function, values: Vec<Val>) -> Outcome<Val> {
        let leave = self.label();
        let what = does(&function.body.stmts, self.filter, self.program);
        let early = returns_early(&function.body.stmts);
        if early {
            self.make_even(leave, what.pops, what.pushes);
        }
        // Arguments are bound in the caller's frame, and parameter shapes are evaluated in the new one.
        let mut binds = Vec::with_capacity(values.len());
        for (at, value) in values.into_iter().enumerate() {
            binds.push(self.argument(function, at as u32, value, &what.roots)?);
        }
        self.push_frame(&function.body, leave, None);
        for (at, bind) in binds.into_iter().enumerate() {
            self.frame().locals[at] = bind;
            self.check_shape(&function.params[at], at)?;
        }
        let result = self.result(&function.result)?;
        self.frame().result = Some(result.clone());
        self.body(function, leave)?;
        self.get(&result)
    }

    /// Lowers the body of a function in the topmost frame, and pops that frame.
    pub(super) fn body(&mut self, function: &'a Function, leave: Label) -> Outcome<()> {
        let (mut stmts, ()) = self.aside(|lower| {
            lower.stmts(&function.body.stmts)?;
            lower.close(leave)
        })?;
        self.frames.pop();
        strip(&mut stmts, leave);
        if super::leaves(&stmts, leave) {
            self.out.push(Stmt::Block(leave, stmts));
        } else {
            self.out.extend(stmts);
        }
        Ok(())
    }

    pub(super) fn argument(
        &mut self,
        function: &'a Function,
        at: u32,
        value: Val,
        roots: &[Root],
    ) -> Outcome<Bind> {
        let name = function.body.locals.get(at as usize).map_or("p", |local| local.0.as_str());
        match value {
            Val::Scalar(ex) => {
                let var = self.var(ex.kind(&self.code), name);
                self.set(var, ex);
                Ok(Bind::Scalar(var))
            }
            Val::Text(parts) => Ok(Bind::Text(parts)),
            Val::Cells(parts) => {
                let shape = Shape::of(&function.params[at as usize].ty);
                let mem = self.mem(MemKind::Local, &shape, name)?;
                self.store_cells(&Area::Mem(mem), &Expr::int(0), &shape, Val::Cells(parts))?;
                Ok(Bind::Area(mem, shape))
            }
            Val::Area(Area::Mem(mem), from, shape)
                if from.as_int() == Some(0)
                    && crate::lower::cells_of(&shape, &self.tree.structs)
                        == self.code.mems[mem.0 as usize].cells
                    && !changes_local(&function.body, at)
                    && !self.is_changed(mem, roots) =>
            {
                Ok(Bind::Area(mem, shape))
            }
            Val::Area(area, from, shape) => {
                let mem = self.mem(MemKind::Local, &shape, name)?;
                let value = Val::Area(area, from, shape.clone());
                self.store_cells(&Area::Mem(mem), &Expr::int(0), &shape, value)?;
                Ok(Bind::Area(mem, shape))
            }
            Val::Nothing => Err("a `void` value is passed as an argument".into()),
        }
    }

    fn is_changed(&self, mem: crate::ir::Mem, roots: &[Root]) -> bool {
        match self.code.mems[mem.0 as usize].kind {
            MemKind::Field(at) => roots.contains(&Root::Field(at)),
            _ => false,
        }
    }

    /// Checks that an argument has the declared lengths, as the interpreter does at each call.
    pub(super) fn check_shape(&mut self, declared: &'a Shaped, at: usize) -> Outcome<()> {
        if !matches!(declared.ty, Type::Array(_)) {
            return Ok(());
        }
        let shape = self.shape(declared)?;
        match &self.frame().locals[at] {
            Bind::Area(_, given) if *given == shape => Ok(()),
            _ => Err("the length of an array argument differs from the parameter's".into()),
        }
    }

    /// Allocates a result, which is zero where the function returns nothing.
    pub(super) fn result(&mut self, declared: &'a Shaped) -> Outcome<Bind> {
        if declared.ty == Type::Void {
            return Ok(Bind::None);
        }
        let shape = self.shape(declared)?;
        let bind = self.temporary(&shape)?;
        match &bind {
            Bind::Scalar(var) => {
                let kind = self.code.vars[var.0 as usize].kind;
                self.set(*var, Expr::Const(Scalar::zero(kind)));
            }
            Bind::Area(mem, shape) => self.clear(*mem, &shape.clone())?,
            _ => {}
        }
        Ok(bind)
    }

    fn builtin(&mut self, builtin: Builtin, args: &'a [hir::Expr]) -> Outcome<Val> {
        if builtin == Builtin::Random {
            let var = self.var(crate::ir::Kind::Float, "random");
            self.emit(Stmt::Random(var));
            return Ok(Val::Scalar(Expr::Var(var)));
        }
        if matches!(builtin, Builtin::LoadInts | Builtin::LoadFloats) {
            return Err("a file is read while the program runs".into());
        }
        let values = self.operands(&args.iter().collect::<Vec<_>>())?;
        let mut scalars = Vec::new();
        for value in values {
            match value {
                Val::Scalar(ex) => scalars.push(ex),
                Val::Cells(parts) => scalars.extend(parts),
                _ => return Err("a built-in function is applied to an array or structure".into()),
            }
        }
        if gives_complex(builtin) {
            let parts: Vec<Expr> = scalars.into_iter().map(|part| self.spill(part)).collect();
            let real = self.math(ir::Function::Real(builtin), parts.clone())?;
            return Ok(Val::Cells(vec![real, self.math(ir::Function::Imaginary(builtin), parts)?]));
        }
        Ok(Val::Scalar(self.math(ir::Function::Whole(builtin), scalars)?))
    }

    /// A function without a body here: a call fails, as in the interpreter.
    fn native(&mut self, at: u32, expr: &'a hir::Expr) -> Outcome<Val> {
        self.span = expr.span;
        let name = self.program.natives.get(at as usize).map_or("", |native| &native.name);
        let why = format!("the native function `{name}` is not part of the program");
        self.check(Expr::Const(Scalar::Bool(true)), why, Vec::new());
        match &expr.ty {
            Type::Void => Ok(Val::Nothing),
            Type::Array(_) | Type::String | Type::Portal(_) => {
                Err("a native function returns an array, a string or a portal".into())
            }
            ty => {
                let bind = self.temporary(&Shape::of(ty))?;
                self.get(&bind)
            }
        }
    }

    /// The shape of a declaration; its lengths must be constant.
    pub(super) fn shape(&mut self, declared: &'a Shaped) -> Outcome<Shape> {
        let mut innermost = &declared.ty;
        let mut lengths = Vec::new();
        for length in &declared.lengths {
            let Type::Array(element) = innermost else {
                return Err("a declaration has more lengths than dimensions".into());
            };
            innermost = element;
            let length = match self.scalar(length)?.constant() {
                Some(Scalar::Int(length)) => usize::try_from(length).ok(),
                Some(Scalar::Bool(length)) => Some(usize::from(length)),
                _ => None,
            };
            lengths.push(length.ok_or("an array's length depends on data")?);
        }
        let shape = lengths
            .into_iter()
            .rev()
            .fold(Shape::of(innermost), |element, length| Shape::Array(std::sync::Arc::new(element), length));
        let cells = super::cells_of(&shape, &self.tree.structs);
        if cells > MOST_CELLS {
            return Err(format!("a local array has {cells} cells, more than the limit of {MOST_CELLS}"));
        }
        Ok(shape)
    }

    /// Whether values of a type are scalars with a variable of their own.
    pub(super) fn has_variable(ty: &Type) -> bool {
        is_scalar(ty)
    }
}

/// The most cells of a local array.
const MOST_CELLS: usize = 1 << 22;

fn strip(stmts: &mut Vec<Stmt>, label: crate::ir::Label) {
    super::strip(stmts, label);
}

/// Functions that return a complex number.
fn gives_complex(builtin: Builtin) -> bool {
    use Builtin::{CosComplex, ExpComplex, LogComplex, SinComplex, SqrtComplex};
    matches!(builtin, CosComplex | ExpComplex | LogComplex | SinComplex | SqrtComplex)
}
