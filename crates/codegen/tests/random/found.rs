//! What random programs have found.

use crate::common::{Memory, agree, has_compiler, ints};

#[test]
fn a_loop_without_input_stops_with_the_rest_when_the_input_ends() {
    let text = "void->void pipeline Main {
        add void->int splitjoin {
            split roundrobin(0);
            add FileReader<int>(\"in\");
            add feedbackloop {
                join roundrobin(0, 1);
                body int->int filter { work pop 1 push 1 { push(pop() + 1); } };
                loop Identity<int>();
                split duplicate;
                enqueue 5;
            };
            join roundrobin;
        };
        add int->void filter { work pop 1 { println(pop()); } };
    }";
    if has_compiler("a_loop_without_input_stops_with_the_rest_when_the_input_ends") {
        agree(text, &ints("in", 9), None);
    }
}

#[test]
fn zero_less_zero_has_no_sign() {
    let text = "void->void pipeline Main {
        add void->int filter { int n; work push 1 { push(n); n = n + 1 & 3; } };
        add int->void filter { work pop 1 { int x = pop(); println(0.0 - x); println(0.0 - abs((float)x)); } };
    }";
    if has_compiler("zero_less_zero_has_no_sign") {
        let seen = agree(text, &Memory::default(), Some(5));
        assert!(seen.printed.starts_with("0.0\n0.0\n-1.0\n"), "{}", seen.printed);
    }
}
