//! Built-in functions.

use super::Resolver;
use super::convert::common;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::hir::{Builtin, Callee, Expr, ExprKind, Type};
use crate::source::Span;

/// Signatures of built-in functions.
#[derive(Clone, Copy)]
enum Kind {
    /// This many floats, returns a float.
    Floats(usize),
    /// One number, returns the same type.
    Abs,
    /// Two numbers, returns their common type.
    Extreme,
    /// No argument, returns a float.
    Random,
    /// A file name and a count, returns an array.
    Load(fn() -> Type),
}

/// The variant of a function for complex numbers.
fn of_complex(builtin: Builtin) -> Option<Builtin> {
    Some(match builtin {
        Builtin::Abs => Builtin::AbsComplex,
        Builtin::Cos => Builtin::CosComplex,
        Builtin::Exp => Builtin::ExpComplex,
        Builtin::Log => Builtin::LogComplex,
        Builtin::Sin => Builtin::SinComplex,
        Builtin::Sqrt => Builtin::SqrtComplex,
        _ => return None,
    })
}

/// All built-in functions, in alphabetical order.
const BUILTINS: [(&str, Builtin, Kind); 30] = [
    ("abs", Builtin::Abs, Kind::Abs),
    ("acos", Builtin::Acos, Kind::Floats(1)),
    ("acosh", Builtin::Acosh, Kind::Floats(1)),
    ("asin", Builtin::Asin, Kind::Floats(1)),
    ("asinh", Builtin::Asinh, Kind::Floats(1)),
    ("atan", Builtin::Atan, Kind::Floats(1)),
    ("atan2", Builtin::Atan2, Kind::Floats(2)),
    ("atanh", Builtin::Atanh, Kind::Floats(1)),
    ("ceil", Builtin::Ceil, Kind::Floats(1)),
    ("cos", Builtin::Cos, Kind::Floats(1)),
    ("cosh", Builtin::Cosh, Kind::Floats(1)),
    ("exp", Builtin::Exp, Kind::Floats(1)),
    ("floor", Builtin::Floor, Kind::Floats(1)),
    ("init_array_1D_float", Builtin::LoadFloats, Kind::Load(|| Type::Float)),
    ("init_array_1D_int", Builtin::LoadInts, Kind::Load(|| Type::Int)),
    ("log", Builtin::Log, Kind::Floats(1)),
    ("log10", Builtin::Log10, Kind::Floats(1)),
    ("max", Builtin::Max, Kind::Extreme),
    ("min", Builtin::Min, Kind::Extreme),
    ("pow", Builtin::Pow, Kind::Floats(2)),
    ("random", Builtin::Random, Kind::Random),
    ("rint", Builtin::Rint, Kind::Floats(1)),
    ("round", Builtin::Round, Kind::Floats(1)),
    ("sin", Builtin::Sin, Kind::Floats(1)),
    ("sinh", Builtin::Sinh, Kind::Floats(1)),
    ("sqrt", Builtin::Sqrt, Kind::Floats(1)),
    ("tan", Builtin::Tan, Kind::Floats(1)),
    ("tanh", Builtin::Tanh, Kind::Floats(1)),
    // `print` and `println` are statements and resolved as such; they are listed here for suggestions.
    ("print", Builtin::Random, Kind::Random),
    ("println", Builtin::Random, Kind::Random),
];

/// Names of built-in functions.
pub(super) fn names<'n>() -> impl Iterator<Item = &'n str> {
    BUILTINS.iter().map(|(name, ..)| *name)
}

fn find(name: &str) -> Option<(Builtin, Kind)> {
    let found = BUILTINS.iter().find(|(known, ..)| *known == name);
    found.map(|(_, builtin, kind)| (*builtin, *kind))
}

fn arity(kind: Kind) -> usize {
    match kind {
        Kind::Floats(count) => count,
        Kind::Abs => 1,
        Kind::Extreme | Kind::Load(_) => 2,
        Kind::Random => 0,
    }
}

impl<'a> Resolver<'a> {
    /// A call of a built-in function; the outer `None` means that no built-in has this name.
    pub fn builtin(&mut self, name: &ast::Name, args: &'a [ast::Expr], span: Span) -> Option<Option<Expr>> {
        if name.text == "print" || name.text == "println" {
            let error = Diagnostic::new(span, format!("`{}` has no value", name.text));
            return Some(
                self.error(
                    error
                        .label("this is a statement, not an expression")
                        .hint("move the call into a separate statement"),
                ),
            );
        }
        let (builtin, kind) = find(&name.text)?;
        let args: Vec<_> = args.iter().map(|arg| self.expr(arg)).collect();
        let Some(args) = args.into_iter().collect::<Option<Vec<_>>>() else { return Some(None) };
        if args.len() != arity(kind) {
            let error = self.wrong_count(&name.text, arity(kind), args.len(), span);
            return Some(self.error(error));
        }
        Some(self.builtin_call(builtin, kind, args, span))
    }

    fn builtin_call(&mut self, builtin: Builtin, kind: Kind, args: Vec<Expr>, span: Span) -> Option<Expr> {
        let complex = args.iter().any(|arg| arg.ty == Type::Complex);
        let (builtin, required, ty) = match (of_complex(builtin).filter(|_| complex), kind) {
            (Some(Builtin::AbsComplex), _) => (Builtin::AbsComplex, vec![Type::Complex], Type::Float),
            (Some(builtin), _) => (builtin, vec![Type::Complex], Type::Complex),
            (None, Kind::Floats(count)) => (builtin, vec![Type::Float; count], Type::Float),
            (None, Kind::Random) => (builtin, Vec::new(), Type::Float),
            (None, Kind::Load(element)) => {
                (builtin, vec![Type::String, Type::Int], Type::Array(Box::new(element())))
            }
            (None, Kind::Abs | Kind::Extreme) => {
                let ty = args.iter().try_fold(Type::Int, |ty, arg| common(&ty, &arg.ty));
                let ty = ty.filter(|ty| *ty == Type::Int).unwrap_or(Type::Float);
                (builtin, vec![ty.clone(); args.len()], ty)
            }
        };
        let args: Vec<_> = args.into_iter().zip(&required).map(|(arg, ty)| self.convert(arg, ty)).collect();
        let args = args.into_iter().collect::<Option<_>>()?;
        self.note_call(Callee::Builtin(builtin));
        Some(Expr { kind: ExprKind::Call(Callee::Builtin(builtin), args), ty, span })
    }
}
