//! Built-in functions of scalars.

use thalweg_lang::eval::Fault;
use thalweg_lang::hir::Builtin;
use thalweg_lang::value::Value;

/// A function that returns a scalar. A function that returns a complex number is two of these, one for each
/// part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Function {
    /// The whole result.
    Whole(Builtin),
    /// The real part of the result.
    Real(Builtin),
    /// The imaginary part of the result.
    Imaginary(Builtin),
}

impl Function {
    /// Whether it is an instruction rather than a call.
    pub fn is_cheap(self) -> bool {
        matches!(self, Function::Whole(Builtin::Abs | Builtin::Max | Builtin::Min | Builtin::Sqrt))
    }

    /// Its value, as the interpreter computes it.
    pub fn of(self, args: &[Value]) -> Result<Value, Fault> {
        let complex = |function| match args {
            [Value::Float(re), Value::Float(im)] => Value::builtin(function, &[Value::Complex(*re, *im)]),
            _ => Value::builtin(function, args),
        };
        match self {
            Function::Whole(Builtin::AbsComplex) => complex(Builtin::AbsComplex),
            Function::Whole(function) => Value::builtin(function, args),
            Function::Real(function) | Function::Imaginary(function) => Ok(match complex(function)? {
                Value::Complex(re, im) => {
                    Value::Float(if self == Function::Real(function) { re } else { im })
                }
                other => other,
            }),
        }
    }
}
