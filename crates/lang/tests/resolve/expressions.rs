//! Operators, calls and printing.

use crate::common::{accepted, refused, with_code, with_filter};

#[test]
fn arithmetic_takes_numbers() {
    accepted(&with_code(
        "float f = 1 + 2.5 * 3 - true / 4; complex c = 2i * 3 + f; int i = -true; bit b = 1; i = b + b;",
    ));
    accepted(&with_code("float3 v = float3(1, 2, 3) * 2 + 1.5; v = -v / v;"));
    refused(&with_code("float2 v; float3 w; w = v + w;"), &["cannot apply `+` to a `float2` and a `float3`"]);
    refused(
        &with_code("complex c; float2 v; v = c * v;"),
        &["cannot apply `*` to a `complex` and a `float2`"],
    );
    refused(&with_code("int[2] a; int i = -a;"), &["cannot apply `-` to an `int[]`"]);
}

#[test]
fn remainders_shifts_and_bit_operators_take_integers() {
    accepted(&with_code(
        "int i = 7 % 3 << 2 >> true; i = i & 1 | 2 ^ i; bit b = 1; b = b & 1; boolean t = true & false; i = ~i;",
    ));
    refused(&with_code("int i = 7.5 % 2;"), &["cannot apply `%` to a `float` and an `int`"]);
    refused(&with_code("int i = 1 << 2.5;"), &["cannot apply `<<` to an `int` and a `float`"]);
    refused(&with_code("int i = 1 & 2.5;"), &["cannot apply `&` to an `int` and a `float`"]);
    refused(&with_code("float f = ~1.5;"), &["cannot apply `~` to a `float`"]);
}

#[test]
fn comparisons_take_floats_at_most() {
    accepted(&with_code("boolean b = 1 < 2.5; b = true == false; b = 2i == 1i; bit t = 1; b = t == 1;"));
    refused(&with_code("boolean b = 1i < 2;"), &["cannot apply `<` to a `complex` and an `int`"]);
    refused(&with_code("int[2] a; boolean b = a == a;"), &["cannot apply `==` to an `int[]` and an `int[]`"]);
}

#[test]
fn both_values_of_a_ternary_have_one_type() {
    accepted(&with_code("float f = true ? 1 : 2.5; int[2] a; int[2] b; a = f > 1 ? a : b;"));
    refused(
        &with_code("int[2] a; int i = true ? a : 1;"),
        &["`?:` cannot choose between an `int[]` and an `int`"],
    );
}

#[test]
fn steps_and_compound_assignments_change_numbers() {
    accepted(&with_code("int i = 1; i++; --i; float f; f += i; f *= 2; i <<= 2; i += 1.5; bit b; b += 1;"));
    refused(&with_code("complex c; c++;"), &["cannot apply `++` to a `complex`"]);
    refused(&with_code("float f; f <<= 2;"), &["cannot apply `<<` to a `float` and an `int`"]);
    refused(&with_code("float f; f += 2i;"), &["expected a `float`, found a `complex`"]);
}

#[test]
fn built_in_functions_have_types() {
    accepted(&with_code(
        "int i = max(1, 2) + abs(-3); float f = min(1, 2.5) + sin(1) + pow(2, 3) + atan2(1, 2) + random();",
    ));
    accepted(&with_code("complex c = exp(2i); float f = abs(c); float g = abs(-1.5); c = sqrt(c);"));
    refused(&with_code("int i = floor(2.5);"), &["expected an `int`, found a `float`"]);
    refused(&with_code("float f = sin(1, 2);"), &["`sin` takes 1 argument, found 2"]);
    refused(&with_code("float f = tan(2i);"), &["expected a `float`, found a `complex`"]);
    refused(&with_code("int i = max(1, 2.5);"), &["expected an `int`, found a `float`"]);
    refused(&with_code("float f = unknown(1);"), &["cannot find function `unknown`"]);
}

#[test]
fn arrays_are_loaded_from_files() {
    accepted(&with_code(
        "int[8] a = init_array_1D_int(\"a.txt\", 8); float[2] b = init_array_1D_float(\"b.txt\", 2);",
    ));
    refused(
        &with_code("float[8] a = init_array_1D_int(\"a.txt\", 8);"),
        &["expected a `float[]`, found an `int[]`"],
    );
    refused(&with_code("int[8] a = init_array_1D_int(8, 8);"), &["expected a `String`, found an `int`"]);
}

#[test]
fn functions_of_the_filter_are_called_with_their_types() {
    let filter = |code: &str| {
        with_filter(&format!(
            "float->float filter Test() {{
                work pop 1 push 1 {{ {code} push(pop()); }}
                float scale(float x, int n) {{ return x * n; }}
                void nothing() {{ }}
                float sin(int n) {{ return n; }}
             }}"
        ))
    };
    accepted(&filter("float f = scale(1, 2); nothing(); float g = sin(2);"));
    refused(&filter("float f = scale(1);"), &["`scale` takes 2 arguments, found 1"]);
    refused(&filter("float f = scale(1, 2.5);"), &["expected an `int`, found a `float`"]);
    refused(&filter("float f = nothing();"), &["expected a value, found `void`"]);
    // A function of the filter shadows a built-in one.
    refused(&filter("float f = sin(2.5);"), &["expected an `int`, found a `float`"]);
}

#[test]
fn functions_return_their_declared_type() {
    let filter = |function: &str| {
        with_filter(&format!(
            "float->float filter Test() {{ work pop 1 push 1 {{ push(pop()); }} {function} }}"
        ))
    };
    accepted(&filter("int f(int n) { if (n > 0) return 1; return n; } void g() { return; }"));
    refused(&filter("int f() { return 1.5; }"), &["expected an `int`, found a `float`"]);
    refused(&filter("int f() { }"), &["missing `return` in `f`"]);
    refused(&filter("int f() { return; }"), &["`return` without a value, expected an `int`"]);
    refused(&filter("void f() { return 1; }"), &["`return` with a value in a `void` function"]);
}

#[test]
fn block_functions_are_called_by_block_name() {
    let program = |code: &str| {
        format!(
            "native Clock {{ int now(float scale); }}
             helper Mine {{ int twice(int n) {{ return sum(n, n); }} int sum(int a, int b) {{ return a + b; }} }}
             {}",
            with_code(code)
        )
    };
    accepted(&program("int t = Clock.now(1) + Mine.twice(2); Mine.sum(1, 2);"));
    refused(&program("int t = Clock.when(1);"), &["cannot find function `when`"]);
    refused(&program("int t = Clok.now(1);"), &["cannot find helper or native block `Clok`"]);
    refused(&program("int t = Mine.twice();"), &["`twice` takes 1 argument, found 0"]);
    refused(&program("int t = twice(2);"), &["cannot find function `twice`"]);
}

#[test]
fn print_takes_one_scalar() {
    accepted(&with_code("println(1); print(\"a\" + 1 + true + 2.5 + 2i + float2(1, 2)); println();"));
    refused(&with_code("int[2] a; println(a);"), &["cannot print an `int[]`"]);
    refused(&with_code("println(1, 2);"), &["`println` takes 1 argument, found 2"]);
    refused(&with_code("int i = println(1);"), &["`println` has no value"]);
}
