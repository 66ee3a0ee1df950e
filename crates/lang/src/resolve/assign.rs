//! Declarations, assignments and expression statements.

use super::Resolver;
use super::convert::{common, promotes};
use super::frame::Variable;
use super::operators::binary_op;
use crate::ast::{self, BinaryOp as AstOp};
use crate::diagnostic::Diagnostic;
use crate::hir::{self, Callee, Expr, ExprKind, Init, Stmt, StmtKind, Type};
use crate::source::Span;

impl<'a> Resolver<'a> {
    /// Declares locals; each initial value may use the preceding ones.
    pub fn declare_variables(&mut self, variables: &'a [ast::Variable], out: &mut Vec<Stmt>) -> Option<()> {
        let mut right = Some(());
        for variable in variables {
            if self.declare_variable(variable, out).is_none() {
                right = None;
            }
        }
        right
    }

    fn declare_variable(&mut self, variable: &'a ast::Variable, out: &mut Vec<Stmt>) -> Option<()> {
        let ty = self.value_type(&variable.ty);
        let mut shape = ty.is_some().then(|| self.shaped(&variable.ty)).flatten();
        // A variable is not in scope in its own initial value.
        let init = variable.init.as_ref().map(|init| self.first_value(init, ty.as_ref(), shape.as_ref()));
        let (name, span) = (variable.name.text.clone(), variable.name.span);
        if let (Some(shape), Some(_)) = (&mut shape, self.frame().composite) {
            out.extend(self.freeze(shape, &name));
        }
        let local = self.declare_local(Variable { name, span, ty, shape: shape.clone() });
        let init = match init {
            Some(init) => Some(init?),
            None => None,
        };
        let span = variable.ty.span.to(span);
        out.push(Stmt { kind: StmtKind::Declare { local, ty: shape?, init }, span });
        Some(())
    }

    /// An initial value; lists must be as long as their arrays.
    pub fn first_value(
        &mut self,
        init: &'a ast::Init,
        ty: Option<&Type>,
        shape: Option<&hir::Shaped>,
    ) -> Option<Init> {
        let value = self.init(init, ty)?;
        shape.map_or(Some(()), |shape| self.check_lists(init, shape))?;
        Some(value)
    }

    /// An initial value; without a type if the declared type is invalid.
    fn init(&mut self, init: &'a ast::Init, ty: Option<&Type>) -> Option<Init> {
        match init {
            ast::Init::Value(value) => {
                let value = self.expr(value)?;
                Some(Init::Value(self.convert(value, ty?)?))
            }
            ast::Init::List(inits, span) => {
                let element = match ty {
                    Some(Type::Array(element)) => Some(&**element),
                    Some(other) => {
                        let name = self.type_with_article(other);
                        let error = Diagnostic::new(*span, format!("expected {name}, found a list"));
                        return self.error(
                            error
                                .label("only an array can have a list as value")
                                .hint("declare an array: `int[2] a = {1, 2};`"),
                        );
                    }
                    None => None,
                };
                let inits: Vec<_> = inits.iter().map(|init| self.init(init, element)).collect();
                Some(Init::List(inits.into_iter().collect::<Option<_>>()?))
            }
        }
    }

    /// `place = value` and `place op= value`.
    pub fn assign(
        &mut self,
        place: &'a ast::Expr,
        op: Option<AstOp>,
        value: &'a ast::Expr,
    ) -> Option<StmtKind> {
        let target = self.target(place);
        let resolved = self.expr(value);
        let (place, ty) = target?;
        let resolved = resolved?;
        match op {
            None => Some(StmtKind::Assign(place, self.convert(resolved, &ty)?)),
            Some(op) => self.update(place, &ty, op, resolved, value.span),
        }
    }

    fn update(
        &mut self,
        place: hir::Place,
        ty: &Type,
        op: AstOp,
        value: Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let Some(resolved_op) = binary_op(op) else {
            return self.error(Diagnostic::new(span, "there is no such compound assignment"));
        };
        let (via, value) = match op {
            AstOp::ShiftLeft | AstOp::ShiftRight => {
                self.require_integers(ty, span)?;
                (Type::Int, self.integer(value)?)
            }
            AstOp::Add if *ty == Type::String => (Type::String, self.text(value)?),
            _ => {
                let Some(via) = common(ty, &value.ty).and_then(|ty| calculated(op, ty)) else {
                    return self.no_operator(op, ty, &value.ty, span);
                };
                // Unlike `=`, a compound assignment truncates a float to an integer; published programs rely on it.
                if !promotes(&via, ty) && (&via, ty) != (&Type::Float, &Type::Int) {
                    self.convert(Expr { ty: via, ..value }, ty)?;
                    return None;
                }
                let value = self.convert(value, &via)?;
                (via, value)
            }
        };
        Some(StmtKind::Update { place, op: resolved_op, value, via })
    }

    /// An expression statement.
    pub fn expr_stmt(&mut self, expr: &'a ast::Expr, span: Span) -> Option<StmtKind> {
        if let ast::ExprKind::Call(name, args) = &expr.kind
            && (name.text == "print" || name.text == "println")
            && !self.frame().function_names.contains_key(name.text.as_str())
        {
            return self.print(name.text == "println", args, span);
        }
        Some(StmtKind::Expr(self.any_expr(expr)?))
    }

    fn print(&mut self, line: bool, args: &'a [ast::Expr], span: Span) -> Option<StmtKind> {
        self.code().effects.state = true;
        match args {
            [] if line => Some(StmtKind::Print(None, true)),
            [value] => {
                let value = self.expr(value)?;
                Some(StmtKind::Print(Some(self.text(value)?), line))
            }
            _ => {
                let name = if line { "println" } else { "print" };
                let error = Diagnostic::new(span, format!("`{name}` takes 1 argument, found {}", args.len()));
                self.error(error.hint("concatenate values with `+`: `println(\"x = \" + x)`"))
            }
        }
    }

    /// Converts a value to a string.
    pub fn text(&mut self, value: Expr) -> Option<Expr> {
        match &value.ty {
            Type::String => Some(value),
            Type::Bit | Type::Boolean | Type::Int | Type::Float | Type::Complex | Type::Vector(_) => {
                Some(super::convert::converted(value, Type::String))
            }
            other => {
                let name = self.type_with_article(other);
                let error = Diagnostic::new(value.span, format!("cannot print {name}"));
                self.error(error.label(format!("this is {name}")).hint("print its parts"))
            }
        }
    }

    /// Records a write to a variable; reports variables that cannot be written.
    pub fn note_write(&mut self, root: hir::Root, span: Span) -> Option<()> {
        let (what, hint) = match root {
            hir::Root::Local(_) => return Some(()),
            hir::Root::Field(_) => {
                self.code().effects.state = true;
                return Some(());
            }
            hir::Root::Global(_) if self.code().place == super::frame::Context::Static => return Some(()),
            hir::Root::Global(_) => ("a `static` variable", "set it in the `init` of its `static` block"),
            hir::Root::Param(at) if (at as usize) < self.frame().own_params() => {
                ("a parameter of the stream", "copy it into a local variable")
            }
            hir::Root::Param(_) => (
                "a variable of the enclosing code",
                "a stream has copies of the variables of the enclosing code",
            ),
        };
        let variable = self.variable(root).map(|variable| (variable.name.clone(), variable.span));
        let (name, declared) = variable.unwrap_or_default();
        let error = Diagnostic::new(span, format!("cannot assign to `{name}`: it is {what}"))
            .label("assigned here")
            .other(declared, "declared here");
        self.error(error.hint(hint))
    }

    /// Records a call.
    pub fn note_call(&mut self, callee: Callee) {
        let frame = self.frame();
        frame.calls_handlers |= matches!(callee, Callee::Function(at) if at >= frame.plain_functions);
        let effects = &mut self.code().effects;
        match callee {
            Callee::Native(_) | Callee::Builtin(hir::Builtin::Random) => effects.state = true,
            Callee::Builtin(_) => {}
            Callee::Function(_) | Callee::Helper(_) => {
                if !effects.calls.contains(&callee) {
                    effects.calls.push(callee);
                }
            }
        }
    }

    /// An increment or decrement.
    pub fn step(&mut self, place: &'a ast::Expr, by: i32, before: bool, span: Span) -> Option<Expr> {
        let (place, ty) = self.target(place)?;
        if !matches!(ty, Type::Int | Type::Float) {
            let name = self.type_with_article(&ty);
            let sign = if by < 0 { "--" } else { "++" };
            let error = Diagnostic::new(span, format!("cannot apply `{sign}` to {name}"));
            return self.error(error.label("expected an `int` or a `float`"));
        }
        Some(Expr { kind: ExprKind::Step { place, by, before }, ty, span })
    }
}

/// The type in which an operator computes with operands of a common type; `None` if it does not accept them.
pub(super) fn calculated(op: AstOp, common: Type) -> Option<Type> {
    use Type::{Bit, Boolean, Complex, Float, Int, Vector};
    match (op, common) {
        (AstOp::Add | AstOp::Sub | AstOp::Mul | AstOp::Div, Bit | Boolean) => Some(Int),
        (AstOp::Add | AstOp::Sub | AstOp::Mul | AstOp::Div, ty @ (Int | Float | Complex | Vector(_))) => {
            Some(ty)
        }
        (AstOp::Rem, Bit | Boolean | Int) => Some(Int),
        (AstOp::BitAnd | AstOp::BitOr | AstOp::BitXor, ty @ (Bit | Boolean | Int)) => Some(ty),
        (AstOp::Lt | AstOp::Le | AstOp::Gt | AstOp::Ge, Bit | Boolean | Int) => Some(Int),
        (AstOp::Lt | AstOp::Le | AstOp::Gt | AstOp::Ge, Float) => Some(Float),
        (AstOp::Eq | AstOp::Ne, ty @ (Bit | Boolean | Int | Float | Complex | Vector(_))) => Some(ty),
        _ => None,
    }
}
