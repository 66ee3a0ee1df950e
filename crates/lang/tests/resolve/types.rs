//! Types, promotions and literals.

use crate::common::{accepted, hinted, refused, with_code, with_filter};

#[test]
fn numbers_are_promoted_upward_only() {
    accepted(&with_code("boolean b = true; bit t = b; int i = t; float f = i; complex c = f; float2 v = i;"));
    accepted(&with_code("int i = true; complex c = 1; float f = true;"));
    refused(&with_code("int i = 1.5;"), &["expected an `int`, found a `float`"]);
    refused(&with_code("complex c; float f = c;"), &["expected a `float`, found a `complex`"]);
    refused(&with_code("float2 v; float f = v;"), &["expected a `float`, found a `float2`"]);
    refused(&with_code("int i; boolean b = i;"), &["expected a `boolean`, found an `int`"]);
    refused(&with_code("bit t; boolean b = t;"), &["expected a `boolean`, found a `bit`"]);
    refused(&with_code("float2 a; float3 b = a;"), &["expected a `float3`, found a `float2`"]);
    hinted(&with_code("int i = 1.5;"), "cast it with `(int)`, which drops the fraction");
    hinted(&with_code("complex c; float f = c;"), "use `.real`, `.imag` or `abs`");
}

#[test]
fn literals_0_and_1_convert_to_bits() {
    accepted(&with_code("bit b = 1; b = 0; b = b ^ 1; bit[2] c = {0, 1}; b = true ? b : 0;"));
    accepted(&with_code("int i = 6; bit b = (i & 2) >> 1;"));
    refused(&with_code("bit b = 2;"), &["expected a `bit`, found `2`"]);
    refused(&with_code("bit b = 1.0;"), &["expected a `bit`, found a `float`"]);
}

#[test]
fn casts_go_between_numbers() {
    accepted(&with_code(
        "int i = (int) 2.5; float f = (float) i; bit b = (bit) i; complex c = (complex) 1; i = (int) b;",
    ));
    refused(&with_code("complex c; float f = (float) c;"), &["cannot convert a `complex` to a `float`"]);
    refused(&with_code("int[2] a; int i = (int) a;"), &["cannot convert an `int[]` to an `int`"]);
}

#[test]
fn conditions_are_booleans_or_integers() {
    accepted(&with_code(
        "int i = 2; int k = i ? 1 : 2; bit b = 1; if (b) { } while (i) { i--; } if (!i) { }",
    ));
    accepted(&with_code("int i = 2; boolean b = i && true || i > 1;"));
    refused(&with_code("if (1.5) { }"), &["expected a `boolean`, found a `float`"]);
    refused(&with_code("boolean b = 1.5 && true;"), &["expected a `boolean`, found a `float`"]);
    refused(&with_code("for (int i = 0; 2.5; i++) { }"), &["expected a `boolean`, found a `float`"]);
}

#[test]
fn arrays_have_integer_lengths_and_elements_of_one_type() {
    accepted(&with_code("int n = 3; float[n][2] a; a[1][0] = 2; float[2] row = a[2]; a[0] = row;"));
    accepted(&with_code("float[2][2] a = {{1, 2}, {3.5, 4}};"));
    refused(&with_code("float[2.5] a;"), &["expected an `int`, found a `float`"]);
    refused(&with_code("float[0 - 1] a;"), &["an array cannot have -1 elements"]);
    refused(&with_code("float[2] a; a[1.5] = 1;"), &["expected an `int`, found a `float`"]);
    refused(&with_code("float[2] a; a[-1] = 1;"), &["array index -1 is negative"]);
    refused(&with_code("float a; a[0] = 1;"), &["cannot index a `float`"]);
    refused(&with_code("int[2] a; float[2] b = a;"), &["expected a `float[]`, found an `int[]`"]);
    refused(&with_code("float a = {1, 2};"), &["expected a `float`, found a list"]);
    refused(&with_code("int[2] a = {1, 2.5};"), &["expected an `int`, found a `float`"]);
}

#[test]
fn structures_complex_numbers_and_vectors_have_parts() {
    let with = |code: &str| format!("struct P {{ int n; float[2] at; }} {}", with_code(code));
    accepted(&with("P p; p.n = 1; p.at[1] = p.n; P q = p; P[2] all; all[1].at[0] = 2;"));
    accepted(&with("complex c = 1 + 2i; c.real = c.imag; float3 v; v.z = v.x; float4 w; w.w = 1;"));
    refused(&with("P p; p.m = 1;"), &["cannot find field `m`"]);
    refused(&with("complex c; c.x = 1;"), &["a `complex` has no part `x`"]);
    refused(&with("float2 v; v.z = 1;"), &["a `float2` has no part `z`"]);
    refused(&with("int i; i.x = 1;"), &["an `int` has no part `x`"]);
    refused(&with("P p; int i = p;"), &["expected an `int`, found a `P`"]);
}

#[test]
fn structures_do_not_contain_themselves() {
    let main = "void->void pipeline Main { add FileReader<int>(\"in\"); add FileWriter<int>(\"out\"); }";
    accepted(&format!("struct A {{ B[2] b; B c; }} struct B {{ int i; }} {main}"));
    refused(&format!("struct A {{ A next; }} {main}"), &["structure `A` has infinite size"]);
    refused(
        &format!("struct A {{ B[2] b; }} struct B {{ A a; }} {main}"),
        &["structure `A` has infinite size", "structure `B` has infinite size"],
    );
}

#[test]
fn variables_cannot_be_void() {
    refused(&with_code("void x;"), &["a value cannot have type `void`"]);
    refused(&with_code("void[2] x;"), &["a value cannot have type `void`"]);
}

#[test]
fn lists_have_one_value_per_element() {
    let few = |given: usize, length: usize| {
        let values = if given == 1 { "value" } else { "values" };
        format!("this array has length {length}, but the list has {given} {values}")
    };
    accepted(&with_code(
        "int[3] a = {1, 2, 3}; int[2][2] b = {{1, 2}, {3, 4}}; int n = 2; int[n] c = {1, 2, 3};",
    ));
    refused(&with_code("int[3] a = {1, 2};"), &[&few(2, 3)]);
    refused(&with_code("int[3] a = {};"), &[&few(0, 3)]);
    refused(&with_code("int[3] a = {1, 2, 3, 4};"), &[&few(4, 3)]);
    refused(&with_code("int[2][2] a = {{1, 2}, {3}};"), &[&few(1, 2)]);
    refused(&with_code("int[2][3] a = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};"), &[&few(3, 2)]);
    // All rows have one length, even if the lengths are unknown.
    refused(&with_code("int n = 2; int[n][n] a = {{1, 2}, {3}};"), &[&few(1, 2)]);
    refused(&format!("static {{ int[2] a = {{1}}; }} {}", with_code("")), &[&few(1, 2)]);
    let field = "float->float filter Test() { float[1] h = {1, 2}; work pop 1 push 1 { push(pop()); } }";
    refused(&with_filter(field), &[&few(2, 1)]);
}
