use super::{fault, fire_within, printed};
use crate::eval::Budget;

/// The failure of statements within a budget.
fn within(body: &str, budget: &mut Budget) -> String {
    let text = format!("void->void filter F {{ work {{ {body} }} }}");
    fire_within(&text, Vec::new(), budget).0.expect_err("a failure")
}

#[test]
fn indices_out_of_range_report_the_length() {
    assert_eq!(fault("", "int[4] a; int i = 5; a[i] = 1;"), "index 5 is outside an array of length 4 at `i`");
    assert_eq!(
        fault("int[4] a; int z;", "println(a[z-1]);"),
        "index -1 is outside an array of length 4 at `z-1`"
    );
    assert_eq!(
        fault("", "int[2][3] a; int i = 3; a[1][i]++;"),
        "index 3 is outside an array of length 3 at `i`"
    );
}

#[test]
fn division_by_zero_reports_its_location() {
    assert_eq!(fault("int z;", "println(1 + 7 / z);"), "7 is divided by zero at `7 / z`");
    assert_eq!(printed("float z; println(1 / z);"), "Infinity\n");
}

#[test]
fn array_lengths_are_checked() {
    assert_eq!(fault("int z;", "int[z - 1] a;"), "array length -1 is negative at `z - 1`");
    let huge = fault("int z;", "int[z + 2000000000][2000000000] a;");
    assert!(huge.starts_with("`int[2000000000][2000000000]` is too large"), "{huge}");
    assert_eq!(
        fault("", "int[2] a; int[3] b; a = b;"),
        "cannot assign an array [3] to an array [2] at `a = b;`"
    );
    let list = |values: &str| fault("", &format!("int n = 2; int[n] a = {values};"));
    assert_eq!(list("{1, 2, 3}"), "this array has length 2, but the list has 3 values at `int[n] a`");
    assert_eq!(list("{1}"), "this array has length 2, but the list has 1 value at `int[n] a`");
}

#[test]
fn argument_lengths_match_parameters() {
    let text = fault("int f(int[2] a) { return a[0]; }", "int[3] a; f(a);");
    assert_eq!(text, "expected `int[2]`, found an array [3] at `f(a)`");
}

#[test]
fn host_errors_report_the_operation() {
    let text = "void->void pipeline Main { add S(); add F(); }
         void->int filter S { work push 1 { push(0); } }
         int->void filter F { work pop 1 { println(1 + pop()); } }";
    let (done, _) = fire_within(text, Vec::new(), &mut Budget::unlimited());
    assert_eq!(done, Err("there is no item to pop at `pop()`".to_owned()));
}

#[test]
fn endless_loops_exhaust_the_step_budget() {
    let mut budget = Budget { steps: 10_000, ..Budget::unlimited() };
    assert_eq!(
        within("while (true) { }", &mut budget),
        "step limit exceeded: this may not terminate at `while (true) { }`"
    );
    assert_eq!(budget.steps, 0);
    let mut budget = Budget { steps: 10_000, ..Budget::unlimited() };
    let copies = "int[1000] a; for (int i = 0; i < 1000; i++) { int[1000] b = a; }";
    assert!(within(copies, &mut budget).starts_with("step limit exceeded"));
}

#[test]
fn locals_reserve_and_release_memory() {
    let mut budget = Budget { words: 1000, ..Budget::unlimited() };
    assert!(within("int[600] a; int[600] b;", &mut budget).starts_with("the variables together"));
    let text = "void->void filter F {
        void f() { int[600] a; }
        work { for (int i = 0; i < 9; i++) { f(); int[300] b; } }
    }";
    let mut budget = Budget { words: 1000, ..Budget::unlimited() };
    assert_eq!(fire_within(text, Vec::new(), &mut budget).0, Ok(()));
    assert_eq!(budget.words, 1000);
}

#[test]
fn endless_recursion_fails() {
    let text = fault("int f(int n) { return f(n + 1); }", "f(0);");
    assert_eq!(text, "more than 1000 calls are nested at `f(n + 1)`");
}

/// The limit holds for calls of any stack size.
#[test]
fn calls_may_be_nested_up_to_their_number() {
    let (before, after) = ("if (n > 0) { ".repeat(30), "} ".repeat(30));
    let sum = format!("{}f(n - 1){}", "(1 + ".repeat(30), ")".repeat(30));
    let function = format!("int f(int n) {{ {before} return {sum}; {after} return 7; }}");
    for (n, expected) in [(999, Some(30 * 999 + 7)), (1000, None)] {
        let text = format!("void->void filter F {{ {function} work {{ println(f({n})); }} }}");
        let (done, script) = fire_within(&text, Vec::new(), &mut Budget::unlimited());
        match expected {
            Some(value) => assert_eq!((done, script.printed), (Ok(()), format!("{value}\n"))),
            None => assert_eq!(done, Err("more than 1000 calls are nested at `f(n - 1)`".to_owned())),
        }
    }
}

#[test]
fn deep_nesting_fails_before_the_stack_is_used_up() {
    let nested = format!("{}1{}", "(1 + ".repeat(90), ")".repeat(90));
    let text = format!("void->void filter F {{ work {{ int x = {nested}; }} }}");
    let mut budget = Budget { stack: 4096, ..Budget::unlimited() };
    let (done, _) = fire_within(&text, Vec::new(), &mut budget);
    assert!(done.expect_err("a failure").starts_with("calls, statements or expressions are nested too deep"));
}
