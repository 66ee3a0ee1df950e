use super::{fire, printed};
use crate::value::Value;

#[test]
fn precedence_and_integers_follow_the_specification() {
    assert_eq!(printed("println(1|2&4);"), "0\n");
    assert_eq!(printed("println(1<<2+1);"), "5\n");
    assert_eq!(printed("println(-7/3); println(-7%3);"), "-2\n-1\n");
    assert_eq!(printed("println(0xFFFFFFFF);"), "-1\n");
    assert_eq!(printed("int x = 2147483647; println(x + 1);"), "-2147483648\n");
}

#[test]
fn floats_are_binary32() {
    assert_eq!(printed("float x = 16777216; println(x + 1);"), "1.6777216E7\n");
    assert_eq!(printed("println(3/2*2.0);"), "2.0\n");
    assert_eq!(printed("println((int)-2.7);"), "-2\n");
    assert_eq!(printed("println(pi);"), "3.1415927\n");
}

#[test]
fn operands_go_from_left_to_right() {
    let script = fire("pop 1 peek 2 push 1", "push(peek(0) + 10*pop() + 100*peek(0));", &[1, 2, 3]);
    assert_eq!(script.pushed, [Value::Int(211)]);
    assert_eq!(script.log, ["peek 0", "pop", "peek 0", "push"]);
    let script = fire("pop 2 push 1", "push(pop() - pop()*1000);", &[5, 7]);
    assert_eq!(script.pushed, [Value::Int(5 - 7000)]);
}

#[test]
fn old_values_are_read_before_new_ones_are_computed() {
    assert_eq!(printed("int k = 5; k += k++ + 1; println(k);"), "11\n");
    assert_eq!(printed("int k = 5; k = k++ + 1; println(k);"), "6\n");
}

#[test]
fn steps_give_the_old_or_the_new_value() {
    assert_eq!(printed("int k = 5; println(k++); println(++k); println(k--); println(--k);"), "5\n7\n7\n5\n");
    assert_eq!(printed("float x = 0.5; x++; println(x);"), "1.5\n");
}

#[test]
fn the_second_condition_is_evaluated_only_if_it_matters() {
    let body = "if (false && pop() == 1) { } if (true || pop() == 1) { push(1); } pop();";
    let script = fire("pop 1 push 1", body, &[1]);
    assert_eq!(script.log, ["push", "pop"]);
    let script = fire("pop 1 push 1", "push(true ? 8 : pop()); pop();", &[1]);
    assert_eq!(script.pushed, [Value::Int(8)]);
    assert_eq!(script.log, ["push", "pop"]);
}

#[test]
fn bits_and_booleans_print_differently() {
    assert_eq!(
        printed("bit b = 1; println(b); boolean c = true; println(c); println(!c);"),
        "1\ntrue\nfalse\n"
    );
    assert_eq!(printed("bit b = 1; println(~b); println(b ^ 1); println(~5);"), "0\n0\n-6\n");
}

#[test]
fn complex_numbers_have_parts() {
    let body = "complex z = 3 + 4i; z = z * z; println(z.real); println(z.imag); println(abs(z));";
    assert_eq!(printed(body), "-7.0\n24.0\n25.0\n");
    assert_eq!(printed("complex z; z.imag = 2; z.real += 1.5; println(z);"), "1.5+2.0i\n");
    assert_eq!(printed("complex z = 3 + 4i; z /= 1 - 2i; println(z);"), "-1.0+2.0i\n");
}

#[test]
fn vectors_have_components() {
    let body = "float2 v = float2(1.5, 2); v.y *= 3; v = v + v; println(v.x); println(v.y);";
    assert_eq!(printed(body), "3.0\n12.0\n");
    assert_eq!(printed("float4 v = 2.0; v.w = 1; println(v.x + v.w);"), "3.0\n");
    assert_eq!(printed("float3 v; float3 w; v = v / w; v.x = 1; println(v.x);"), "1.0\n");
}

#[test]
fn built_in_functions() {
    assert_eq!(printed("println(max(2,3)); println(min(2.5,3)); println(abs(-4));"), "3\n2.5\n4\n");
    assert_eq!(
        printed("println(round(2.5)); println(round(-2.5)); println(floor(-0.5));"),
        "3.0\n-2.0\n-1.0\n"
    );
    assert_eq!(
        printed("println(sqrt(2)); println(pow(2, 10)); println(atan2(0, 1));"),
        "1.4142135\n1024.0\n0.0\n"
    );
    assert_eq!(printed("println(random());"), "0.25\n");
    assert_eq!(printed("println(iter());"), "7\n");
}

#[test]
fn strings_concatenate() {
    assert_eq!(printed("println(\"x = \" + 3 + \", \" + 0.5 + true);"), "x = 3, 0.5true\n");
    assert_eq!(printed("print(\"a\"); print(1); println();"), "a1\n");
}
