use super::{fire_within, printed, printed_with};
use crate::eval::Budget;
use crate::value::Value;

#[test]
fn arrays_are_values() {
    let body =
        "int[3] a; a[1] = 5; int[3] b = a; b[1] = 6; println(a[1]); println(b[1]); a = b; println(a[1]);";
    assert_eq!(printed(body), "5\n6\n6\n");
    let body =
        "int[2][3] m; m[1][2] = 4; int[3] row = m[1]; row[0] = 9; println(m[1][0] + m[1][2] + row[0]);";
    assert_eq!(printed(body), "13\n");
    assert_eq!(printed("int[2][2] m; int[2] r; r[1] = 3; m[0] = r; println(m[0][1]);"), "3\n");
}

#[test]
fn arrays_may_be_listed() {
    let body = "int[2][3] m = {{1, 2, 3}, {4, 5, 6}}; int[2] a = {7, 8}; println(m[1][2]); println(a[1]);";
    assert_eq!(printed(body), "6\n8\n");
}

#[test]
fn structures_are_values() {
    let text = "
        struct P { int x; float[2] y; }
        void->void filter F { work {
            P p; p.x = 3; p.y[1] = 0.5; P q = p; q.x++; q.y[1] += 1;
            println(p.x); println(q.x); println(p.y[1]); println(q.y[1]);
        } }";
    let (done, script) = fire_within(text, Vec::new(), &mut Budget::unlimited());
    assert_eq!((done, script.printed.as_str()), (Ok(()), "3\n4\n0.5\n1.5\n"));
}

#[test]
fn arrays_of_structures() {
    let text = "
        struct P { int x; }
        struct Q { P[2] p; complex z; }
        void->void filter F { Q[2] q; work { q[1].p[1].x = 8; q[1].z.imag = 2; println(q[1].p[1].x); println(q[1].z); } }";
    let (done, script) = fire_within(text, Vec::new(), &mut Budget::unlimited());
    assert_eq!((done, script.printed.as_str()), (Ok(()), "8\n0.0+2.0i\n"));
}

#[test]
fn fields_stay_and_params_are_read() {
    assert_eq!(printed_with("int[2] a; float x;", "a[1]++; x -= 2; println(a[1]); println(x);"), "1\n-2.0\n");
    let text = "void->void pipeline Main { add F(4); add T(); }
        int->void filter T { work pop 1 { pop(); } }
        void->int filter F(int n) { int[n] a; work push 1 { println(n); a[n - 1] = n; println(a[2]); push(1); } }";
    let (done, script) = fire_within(text, Vec::new(), &mut Budget::unlimited());
    assert_eq!((done, script.printed.as_str()), (Ok(()), "3\n3\n"));
}

#[test]
fn arrays_are_pushed_as_a_whole_with_their_lengths() {
    let source = |length: u32| {
        format!(
            "void->void pipeline Main {{ add F(); add T(); }}
             void->int[2] filter F {{ work push 1 {{ int[{length}] a; a[0] = 4; push(a); }} }}
             int[2]->void filter T {{ work pop 1 {{ pop(); }} }}"
        )
    };
    let (done, script) = fire_within(&source(2), Vec::new(), &mut Budget::unlimited());
    assert_eq!(done, Ok(()));
    assert_eq!(script.pushed, [Value::Array(vec![Value::Int(4), Value::Int(0)].into())]);
    let (done, _) = fire_within(&source(3), Vec::new(), &mut Budget::unlimited());
    assert_eq!(done, Err("cannot push an array [3]: items are int[2] at `a`".to_owned()));
}
