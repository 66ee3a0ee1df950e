//! Built-in functions.

use super::Value;
use crate::eval::Fault;
use crate::hir::Builtin;

impl Value {
    /// The result of a built-in function. Functions that need more than their arguments (random numbers, files) are
    /// in [`eval`](crate::eval).
    ///
    /// A function of floats evaluates the binary64 function of that name of the system's mathematics library (which
    /// both Rust's `f64` and C call) and rounds the result to binary32 once. Rust has its own formulas for three
    /// functions; here they are defined, in binary64 with `a` for the absolute value of `x`, as:
    /// - `asinh`: `log1p(a + a*a / (1 + sqrt(a*a + 1)))` with the sign of `x`;
    /// - `acosh`: `log(x + sqrt((x - 1) * (x + 1)))`;
    /// - `atanh`: `0.5 * log1p(2*x / (1 - x))`;
    ///
    /// Functions of a complex number `a + bi` are, in binary64 and each part rounded once:
    /// - `abs`: `r = sqrt(a*a + b*b)`;
    /// - `exp`: `exp(a) * cos(b)` and `exp(a) * sin(b)`; `log`: `log(r)` and `atan2(b, a)`;
    /// - `cos`: `cos(a) * cosh(b)` and `-(sin(a) * sinh(b))`; `sin`: `sin(a) * cosh(b)` and
    ///   `cos(a) * sinh(b)`;
    /// - `sqrt`: with `t = sqrt((|a| + r) * 0.5)`, and if `t` is not 0, `t` and `b / (2 * t)` where `a` is
    ///   not negative, else `|b| / (2 * t)` and `t` with the sign of `b`; of 0, 0.
    ///
    /// `round` is `floor(x + 0.5)` in binary64, so that halves go up; `rint` takes halves to the even
    /// number. `max(a, b)` is `a > b ? a : b` and `min(a, b)` is `a < b ? a : b`, so that with NaN they
    /// are `b`. `abs` of the least integer wraps to itself.
    ///
    /// # Errors
    /// The function does not accept such values.
    pub fn builtin(function: Builtin, args: &[Value]) -> Result<Value, Fault> {
        let result = match args {
            [Value::Float(x)] => float1(function, *x),
            [Value::Float(x), Value::Float(y)] => float2(function, *x, *y),
            [Value::Int(x)] if function == Builtin::Abs => Some(Value::Int(x.wrapping_abs())),
            [Value::Int(x), Value::Int(y)] => int2(function, *x, *y),
            [Value::Complex(re, im)] => complex(function, (*re).into(), (*im).into()),
            _ => None,
        };
        result.ok_or_else(|| {
            let kinds: Vec<&str> = args.iter().map(Value::kind).collect();
            Fault(format!("{function:?} does not apply to {}", kinds.join(" and ")))
        })
    }
}

fn float1(function: Builtin, argument: f32) -> Option<Value> {
    let x = f64::from(argument);
    let result = match function {
        Builtin::Acos => x.acos(),
        Builtin::Acosh => acosh(x),
        Builtin::Asin => x.asin(),
        Builtin::Asinh => asinh(x),
        Builtin::Atan => x.atan(),
        Builtin::Atanh => 0.5 * (2.0 * x / (1.0 - x)).ln_1p(),
        Builtin::Ceil => x.ceil(),
        Builtin::Cos => x.cos(),
        Builtin::Cosh => x.cosh(),
        Builtin::Exp => x.exp(),
        Builtin::Floor => x.floor(),
        Builtin::Log => x.ln(),
        Builtin::Log10 => x.log10(),
        Builtin::Rint => x.round_ties_even(),
        Builtin::Round => (x + 0.5).floor(),
        Builtin::Sin => x.sin(),
        Builtin::Sinh => x.sinh(),
        Builtin::Sqrt => x.sqrt(),
        Builtin::Tan => x.tan(),
        Builtin::Tanh => x.tanh(),
        Builtin::Abs => x.abs(),
        _ => return None,
    };
    Some(Value::Float(result as f32))
}

fn complex(function: Builtin, a: f64, b: f64) -> Option<Value> {
    let r = (a * a + b * b).sqrt();
    let (re, im) = match function {
        Builtin::AbsComplex => return Some(Value::Float(r as f32)),
        Builtin::CosComplex => (a.cos() * b.cosh(), -(a.sin() * b.sinh())),
        Builtin::ExpComplex => (a.exp() * b.cos(), a.exp() * b.sin()),
        Builtin::LogComplex => (r.ln(), b.atan2(a)),
        Builtin::SinComplex => (a.sin() * b.cosh(), a.cos() * b.sinh()),
        Builtin::SqrtComplex => complex_root(a, b, r),
        _ => return None,
    };
    Some(Value::Complex(re as f32, im as f32))
}

/// The square root with a real part of at least 0.
fn complex_root(a: f64, b: f64, r: f64) -> (f64, f64) {
    let t = ((a.abs() + r) * 0.5).sqrt();
    if t == 0.0 {
        (0.0, 0.0)
    } else if a >= 0.0 {
        (t, b / (2.0 * t))
    } else {
        (b.abs() / (2.0 * t), t.copysign(b))
    }
}

fn acosh(x: f64) -> f64 {
    (x + ((x - 1.0) * (x + 1.0)).sqrt()).ln()
}

fn asinh(x: f64) -> f64 {
    let a = x.abs();
    (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p().copysign(x)
}

fn float2(function: Builtin, x: f32, y: f32) -> Option<Value> {
    Some(Value::Float(match function {
        Builtin::Atan2 => f64::from(x).atan2(f64::from(y)) as f32,
        Builtin::Pow => f64::from(x).powf(f64::from(y)) as f32,
        Builtin::Max if x > y => x,
        Builtin::Min if x < y => x,
        Builtin::Max | Builtin::Min => y,
        _ => return None,
    }))
}

fn int2(function: Builtin, x: i32, y: i32) -> Option<Value> {
    match function {
        Builtin::Max => Some(Value::Int(x.max(y))),
        Builtin::Min => Some(Value::Int(x.min(y))),
        _ => None,
    }
}
