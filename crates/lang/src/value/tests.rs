//! Arithmetic, rule by rule.

use super::{Elements, Shape, Value};
use crate::eval::Fault;
use crate::hir::{BinaryOp, Builtin, StructId, Type, UnaryOp};
use proptest::prelude::*;

fn int(op: BinaryOp, a: i32, b: i32) -> i32 {
    match Value::binary(op, &Value::Int(a), &Value::Int(b)) {
        Ok(Value::Int(result)) => result,
        other => panic!("{other:?}"),
    }
}

fn float(op: BinaryOp, a: f32, b: f32) -> f32 {
    match Value::binary(op, &Value::Float(a), &Value::Float(b)) {
        Ok(Value::Float(result)) => result,
        other => panic!("{other:?}"),
    }
}

fn call(function: Builtin, args: &[f32]) -> f32 {
    let args: Vec<Value> = args.iter().map(|x| Value::Float(*x)).collect();
    match Value::builtin(function, &args) {
        Ok(Value::Float(result)) => result,
        other => panic!("{other:?}"),
    }
}

#[test]
fn integers_wrap_and_divide_toward_zero() {
    assert_eq!(int(BinaryOp::Div, -7, 3), -2);
    assert_eq!(int(BinaryOp::Rem, -7, 3), -1);
    assert_eq!(int(BinaryOp::Rem, 7, -3), 1);
    assert_eq!(int(BinaryOp::Div, 1, 2), 0);
    assert_eq!(int(BinaryOp::Add, i32::MAX, 1), i32::MIN);
    assert_eq!(int(BinaryOp::Mul, 65536, 65536), 0);
    assert_eq!(int(BinaryOp::Div, i32::MIN, -1), i32::MIN);
    assert_eq!(int(BinaryOp::Rem, i32::MIN, -1), 0);
    assert_eq!(Value::Int(i32::MIN).unary(UnaryOp::Negate), Ok(Value::Int(i32::MIN)));
}

#[test]
fn division_of_integers_by_zero_is_a_fault() {
    for op in [BinaryOp::Div, BinaryOp::Rem] {
        let result = Value::binary(op, &Value::Int(5), &Value::Int(0));
        assert_eq!(result, Err(Fault("5 is divided by zero".into())));
    }
    assert_eq!(float(BinaryOp::Div, 1.0, 0.0), f32::INFINITY);
}

#[test]
fn shifts_go_by_the_low_five_bits_and_keep_the_sign() {
    assert_eq!(int(BinaryOp::ShiftLeft, 1, 33), 2);
    assert_eq!(int(BinaryOp::ShiftLeft, 1, 31), i32::MIN);
    assert_eq!(int(BinaryOp::ShiftRight, -8, 1), -4);
    assert_eq!(int(BinaryOp::ShiftRight, -1, 31), -1);
    assert_eq!(int(BinaryOp::ShiftRight, 8, -31), 4);
}

#[test]
fn floats_have_24_bits() {
    assert_eq!(float(BinaryOp::Add, 16_777_216.0, 1.0), 16_777_216.0);
    assert_eq!(float(BinaryOp::Div, 1.0, 3.0).to_bits(), 0x3eaa_aaab);
    assert_eq!(float(BinaryOp::Rem, -7.5, 2.0), -1.5);
    // With a fused multiply-add the difference would not be 0.
    let x = 1.0 + f32::EPSILON;
    let square = float(BinaryOp::Mul, x, x);
    assert_eq!(float(BinaryOp::Sub, float(BinaryOp::Mul, x, x), square), 0.0);
}

#[test]
fn comparisons_with_nan_are_false() {
    let nan = Value::Float(f32::NAN);
    for op in [BinaryOp::Eq, BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge] {
        assert_eq!(Value::binary(op, &nan, &nan), Ok(Value::Bool(false)));
    }
    assert_eq!(Value::binary(BinaryOp::Ne, &nan, &nan), Ok(Value::Bool(true)));
}

#[test]
fn complex_numbers_multiply_and_divide() {
    let (x, y) = (Value::Complex(3.0, 4.0), Value::Complex(1.0, -2.0));
    assert_eq!(Value::binary(BinaryOp::Mul, &x, &x), Ok(Value::Complex(-7.0, 24.0)));
    assert_eq!(Value::binary(BinaryOp::Div, &x, &y), Ok(Value::Complex(-1.0, 2.0)));
    assert_eq!(Value::binary(BinaryOp::Sub, &x, &y), Ok(Value::Complex(2.0, 6.0)));
    assert_eq!(Value::binary(BinaryOp::Ne, &x, &y), Ok(Value::Bool(true)));
    assert_eq!(Value::builtin(Builtin::AbsComplex, &[x]), Ok(Value::Float(5.0)));
}

#[test]
fn vectors_work_by_components() {
    let (x, y) = (Value::Vector([1.0, 2.0, 0.0, 0.0]), Value::Vector([2.0, 8.0, 0.0, 0.0]));
    assert_eq!(Value::binary(BinaryOp::Mul, &x, &y), Ok(Value::Vector([2.0, 16.0, 0.0, 0.0])));
    let quotient = Value::binary(BinaryOp::Div, &x, &y).map(|value| value.trimmed(2));
    assert_eq!(quotient, Ok(Value::Vector([0.5, 0.25, 0.0, 0.0])));
}

#[test]
fn bits_and_booleans_have_logic() {
    let (no, yes) = (Value::Bool(false), Value::Bool(true));
    assert_eq!(Value::binary(BinaryOp::BitXor, &yes, &yes), Ok(no.clone()));
    assert_eq!(Value::binary(BinaryOp::BitOr, &no, &yes), Ok(yes.clone()));
    assert_eq!(yes.clone().unary(UnaryOp::Complement), Ok(no.clone()));
    assert!(Value::binary(BinaryOp::Add, &yes, &yes).is_err());
}

#[test]
fn strings_concatenate_up_to_a_length() {
    let text = |text: &str| Value::String(text.into());
    assert_eq!(Value::binary(BinaryOp::Add, &text("a"), &text("b")), Ok(text("ab")));
    let long = text(&"x".repeat(1 << 20));
    assert!(Value::binary(BinaryOp::Add, &long, &text("x")).is_err());
}

#[test]
fn conversions_follow_the_specification() {
    let to = |value: Value, to: Type| value.convert(&Type::Void, &to).expect("a conversion");
    assert_eq!(to(Value::Float(-2.7), Type::Int), Value::Int(-2));
    assert_eq!(to(Value::Float(1e20), Type::Int), Value::Int(i32::MAX));
    assert_eq!(to(Value::Float(f32::NEG_INFINITY), Type::Int), Value::Int(i32::MIN));
    assert_eq!(to(Value::Float(f32::NAN), Type::Int), Value::Int(0));
    assert_eq!(to(Value::Int(16_777_217), Type::Float), Value::Float(16_777_216.0));
    assert_eq!(to(Value::Int(i32::MAX), Type::Int), Value::Int(i32::MAX));
    assert_eq!(to(Value::Bool(true), Type::Float), Value::Float(1.0));
    assert_eq!(to(Value::Int(3), Type::Complex), Value::Complex(3.0, 0.0));
    assert_eq!(to(Value::Float(2.0), Type::Vector(3)), Value::Vector([2.0, 2.0, 2.0, 0.0]));
    assert_eq!(to(Value::Int(-1), Type::Bit), Value::Bool(true));
    assert_eq!(to(Value::Int(2), Type::Boolean), Value::Bool(true));
    assert_eq!(to(Value::Complex(0.0, 1.0), Type::Boolean), Value::Bool(true));
    assert!(Value::Array(Vec::new().into()).convert(&Type::Void, &Type::Int).is_err());
}

#[test]
fn errors_render_as_plain_text() {
    let text = |x: f32| Value::Float(x).to_text(&Type::Float);
    let written = [
        1.0,
        0.5,
        -0.0,
        1e8,
        1.234_567e6,
        1e7,
        9_999_999.0,
        0.001,
        1.5e-7,
        std::f32::consts::SQRT_2,
        f32::MAX,
    ];
    let texts: Vec<String> = written.into_iter().map(text).collect();
    let expected = "1.0 0.5 -0.0 1.0E8 1234567.0 1.0E7 9999999.0 0.001 1.5E-7 1.4142135 3.4028235E38";
    assert_eq!(texts.join(" "), expected);
    assert_eq!([text(f32::NAN), text(f32::NEG_INFINITY)], ["NaN", "-Infinity"]);
    assert_eq!(Value::Bool(true).to_text(&Type::Bit), "1");
    assert_eq!(Value::Bool(true).to_text(&Type::Boolean), "true");
    assert_eq!(Value::Int(-3).to_text(&Type::Int), "-3");
    assert_eq!(Value::Complex(1.0, -2.5).to_text(&Type::Complex), "1.0-2.5i");
    assert_eq!(Value::Complex(1.0, -0.0).to_text(&Type::Complex), "1.0-0.0i");
    for nan in [f32::NAN, -f32::NAN] {
        assert_eq!(Value::Complex(nan, nan).to_text(&Type::Complex), "NaN+NaNi");
    }
    assert_eq!(Value::Vector([1.0, 2.0, 0.0, 0.0]).to_text(&Type::Vector(2)), "(1.0, 2.0)");
}

#[test]
fn functions_round_once() {
    assert_eq!(call(Builtin::Sqrt, &[2.0]), std::f32::consts::SQRT_2);
    assert_eq!(call(Builtin::Sin, &[1.0]).to_bits(), (1.0f64.sin() as f32).to_bits());
    assert_eq!(call(Builtin::Atan2, &[1.0, -1.0]).to_bits(), (1.0f64.atan2(-1.0) as f32).to_bits());
    assert_eq!(call(Builtin::Pow, &[2.0, 10.0]), 1024.0);
    assert_eq!(call(Builtin::Round, &[2.5]), 3.0);
    assert_eq!(call(Builtin::Round, &[-2.5]), -2.0);
    assert_eq!(call(Builtin::Round, &[0.499_999_97]), 0.0);
    assert_eq!(call(Builtin::Rint, &[2.5]), 2.0);
    assert_eq!(call(Builtin::Floor, &[-0.5]), -1.0);
    for (function, exact) in [
        (Builtin::Asinh, f64::asinh as fn(f64) -> f64),
        (Builtin::Atanh, f64::atanh),
        (Builtin::Sinh, f64::sinh),
    ] {
        for x in [-0.75f32, -1e-6, 0.0, 0.25, 0.9] {
            let (found, exact) = (call(function, &[x]), exact(x.into()) as f32);
            assert!(
                (found - exact).abs() <= exact.abs() * f32::EPSILON,
                "{function:?} of {x}: {found} {exact}"
            );
        }
    }
    assert!((call(Builtin::Acosh, &[1.5]) - 1.5f32.acosh()).abs() < 1e-6);
}

#[test]
fn complex_functions() {
    let call = |function, re, im| match Value::builtin(function, &[Value::Complex(re, im)]) {
        Ok(Value::Complex(re, im)) => (re, im),
        other => panic!("{other:?}"),
    };
    let near = |(a, b): (f32, f32), (c, d): (f32, f32)| (a - c).abs() < 1e-6 && (b - d).abs() < 1e-6;
    assert_eq!(call(Builtin::SqrtComplex, -4.0, 0.0), (0.0, 2.0));
    assert_eq!(call(Builtin::SqrtComplex, 3.0, 4.0), (2.0, 1.0));
    assert_eq!(call(Builtin::SqrtComplex, -3.0, -4.0), (1.0, -2.0));
    assert_eq!(call(Builtin::SqrtComplex, 0.0, 0.0), (0.0, 0.0));
    let (e, pi) = (std::f32::consts::E, std::f32::consts::PI);
    assert!(near(call(Builtin::ExpComplex, 1.0, pi), (-e, 0.0)));
    assert!(near(call(Builtin::LogComplex, -e, 0.0), (1.0, pi)));
    assert!(near(call(Builtin::SinComplex, 1.0, 0.0), (1.0f32.sin(), 0.0)));
    assert!(near(call(Builtin::CosComplex, 0.0, 1.0), (1.0f32.cosh(), 0.0)));
    assert!(near(call(Builtin::SinComplex, 0.5, -0.25), (0.494_485_8, -0.221_688_2)));
    assert!(near(call(Builtin::CosComplex, 0.5, -0.25), (0.905_150_2, 0.121_108_8)));
    assert!(Value::builtin(Builtin::Tan, &[Value::Complex(1.0, 0.0)]).is_err());
}

#[test]
fn abs_min_and_max_keep_the_type() {
    let call = |function, args: &[Value]| Value::builtin(function, args).expect("a function");
    assert_eq!(call(Builtin::Abs, &[Value::Int(-3)]), Value::Int(3));
    assert_eq!(call(Builtin::Abs, &[Value::Int(i32::MIN)]), Value::Int(i32::MIN));
    assert_eq!(call(Builtin::Abs, &[Value::Float(-3.5)]), Value::Float(3.5));
    assert_eq!(call(Builtin::Max, &[Value::Int(2), Value::Int(3)]), Value::Int(3));
    assert_eq!(call(Builtin::Min, &[Value::Float(2.0), Value::Float(3.0)]), Value::Float(2.0));
    assert_eq!(call(Builtin::Max, &[Value::Float(f32::NAN), Value::Float(1.0)]), Value::Float(1.0));
    assert!(Value::builtin(Builtin::Sin, &[Value::Int(1)]).is_err());
}

#[test]
fn variables_start_as_zero() {
    let structs = [vec![Shape::Scalar(Type::Int), Shape::array(Shape::Scalar(Type::Bit), 2)]];
    let shape = Shape::array(Shape::Struct(StructId(0)), 2);
    let value = Value::zero(&shape, &structs);
    let one = Value::Struct(vec![Value::Int(0), Value::Array(vec![Value::Bool(false); 2].into())]);
    assert_eq!(value, Value::Array(vec![one.clone(), one].into()));
    assert!(value.fits(&shape, &structs));
    assert!(!value.fits(&Shape::array(Shape::Struct(StructId(0)), 3), &structs));
    assert_eq!(shape.cells(&structs, 100), Some(8));
    assert_eq!(shape.cells(&structs, 7), None);
    assert_eq!(Value::zero(&shape, &structs).cells(), 8);
    let words = Value::zero(&shape, &structs).words();
    assert_eq!(shape.words(&structs, words), Some(words));
    assert_eq!(shape.words(&structs, words - 1), None);
    assert_eq!(shape.to_string(), "struct#0[2]");
    let matrix = Shape::array(Shape::array(Shape::Scalar(Type::Float), 3), 2);
    assert_eq!(matrix.to_string(), "float[2][3]");
    let huge = Shape::array(Shape::array(matrix, usize::MAX), usize::MAX);
    assert_eq!(huge.cells(&[], u64::MAX), None);
    assert_eq!(huge.words(&[], u64::MAX), None);
    assert_eq!(Value::zero(&Shape::array(huge, 0), &[]), Value::Array(Vec::new().into()));
}

proptest! {
    #[test]
    fn integers_are_those_of_64_bits_cut_off(a: i32, b: i32) {
        let (x, y) = (i64::from(a), i64::from(b));
        prop_assert_eq!(int(BinaryOp::Add, a, b), (x + y) as i32);
        prop_assert_eq!(int(BinaryOp::Sub, a, b), (x - y) as i32);
        prop_assert_eq!(int(BinaryOp::Mul, a, b), (x * y) as i32);
        if b != 0 {
            prop_assert_eq!(int(BinaryOp::Div, a, b), (x / y) as i32);
            prop_assert_eq!(int(BinaryOp::Rem, a, b), (x % y) as i32);
        }
        prop_assert_eq!(int(BinaryOp::ShiftLeft, a, b), (x << (b & 31)) as i32);
        prop_assert_eq!(int(BinaryOp::ShiftRight, a, b), (x >> (b & 31)) as i32);
        prop_assert_eq!(int(BinaryOp::BitXor, a, b), (x ^ y) as i32);
        let less = Value::binary(BinaryOp::Lt, &Value::Int(a), &Value::Int(b));
        prop_assert_eq!(less, Ok(Value::Bool(x < y)));
    }

    #[test]
    fn text_of_floats_reads_back(bits: u32) {
        let x = f32::from_bits(bits);
        let text = Value::Float(x).to_text(&Type::Float);
        let read: f32 = text.parse().expect("a number");
        prop_assert!(read.to_bits() == bits || x.is_nan() && read.is_nan(), "{} {}", x, text);
        prop_assert!(text.contains('.') || !x.is_finite());
    }

    #[test]
    fn floats_become_integers_by_cutting(x in -3e9f32..3e9) {
        let exact = f64::from(x).trunc().clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32;
        prop_assert_eq!(Value::Float(x).convert(&Type::Float, &Type::Int), Ok(Value::Int(exact)));
    }
}

#[test]
fn arrays_of_numbers_are_contiguous() {
    let bytes = |ty: Type, length: usize| {
        let shape = Shape::array(Shape::Scalar(ty), length);
        Value::zero(&shape, &[]).words() * 4 - Value::Array(Vec::new().into()).words() * 4
    };
    assert_eq!(bytes(Type::Int, 1000), 4016);
    assert_eq!(bytes(Type::Float, 1000), 4016);
    assert_eq!(bytes(Type::Bit, 1000), 1016);
    assert!(bytes(Type::Complex, 1000) >= 1000 * size_of::<Value>() as u64);
}

#[test]
fn arrays_compare_equal_across_representations() {
    for element in [Value::Int(3), Value::Float(0.5), Value::Bool(true), Value::Complex(1.0, 2.0)] {
        let filled = Elements::filled(element.clone(), 3);
        assert_eq!(filled, Elements::from(vec![element.clone(); 3]));
        assert_eq!(filled, [element.clone(), element.clone(), element.clone()].into_iter().collect());
        assert_eq!(filled.get(2).as_deref(), Some(&element));
        assert!(filled.get(3).is_none() && filled.len() == 3);
    }
    assert_eq!(Elements::filled(Value::Int(1), 0), Elements::from(Vec::new()));
    let mixed: Elements = [Value::Int(1), Value::Bool(true)].into_iter().collect();
    assert_eq!(mixed, Elements::from(vec![Value::Int(1), Value::Bool(true)]));
    assert_eq!(mixed.iter().count(), 2);
}
