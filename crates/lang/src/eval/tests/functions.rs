use super::{fire_within, printed_with};
use crate::eval::Budget;
use crate::value::Value;

#[test]
fn functions_have_locals_of_their_own() {
    let functions = "int f(int n) { int k = n * 2; return k; } ";
    assert_eq!(printed_with(functions, "int k = 1; println(f(3) + k); println(f(f(2)));"), "7\n8\n");
}

#[test]
fn functions_are_recursive() {
    let functions = "int fib(int n) { if (n < 2) return n; return fib(n - 1) + fib(n - 2); }";
    assert_eq!(printed_with(functions, "println(fib(15));"), "610\n");
}

#[test]
fn arguments_are_copies_and_fields_are_not() {
    let functions = "int[2] s; void f(int[2] a) { a[0]++; s[0] = a[0]; }";
    assert_eq!(printed_with(functions, "int[2] a; f(a); f(a); println(a[0]); println(s[0]);"), "0\n1\n");
}

#[test]
fn results_are_values() {
    let functions = "float[2] two(float x) { float[2] a; a[0] = x; a[1] = x + 1; return a; }";
    assert_eq!(printed_with(functions, "float[2] b = two(1.5); println(b[0] * b[1]);"), "3.75\n");
}

#[test]
fn helpers_are_global_functions() {
    let text = "
        helper H { int twice(int x) { return x * 2; } }
        void->void filter F { work { println(H.twice(4)); } }";
    let (done, script) = fire_within(text, Vec::new(), &mut Budget::unlimited());
    assert_eq!((done, script.printed.as_str()), (Ok(()), "8\n"));
}

#[test]
fn functions_with_rates_move_items_of_their_caller() {
    let text = "void->void pipeline Main { add S(); add F(); add T(); }
        void->int filter S { work push 1 { push(0); } }
        int->void filter T { work pop 1 { pop(); } }
        int->int filter F {
            work pop 2 push 1 { push(sum()); }
            int sum() pop 2 { return pop() - pop(); }
        }";
    let items = vec![Value::Int(1), Value::Int(5)];
    let (done, script) = fire_within(text, items, &mut Budget::unlimited());
    assert_eq!(done, Ok(()));
    assert_eq!(script.log, ["pop", "pop", "push"]);
    assert_eq!(script.pushed, [Value::Int(-4)]);
}
