//! Regression tests for failures that random programs have found.

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
fn zero_minus_zero_has_no_sign() {
    let text = "void->void pipeline Main {
        add void->int filter { int n; work push 1 { push(n); n = n + 1 & 3; } };
        add int->void filter { work pop 1 { int x = pop(); println(0.0 - x); println(0.0 - abs((float)x)); } };
    }";
    if has_compiler("zero_minus_zero_has_no_sign") {
        let seen = agree(text, &Memory::default(), Some(5));
        assert!(seen.printed.starts_with("0.0\n0.0\n-1.0\n"), "{}", seen.printed);
    }
}

/// The position of an item may be any expression.
#[test]
fn items_at_a_selected_position() {
    let text = "void->void pipeline Main {
        add FileReader<int>(\"in\");
        add int->int filter { work pop 2 push 2 peek 4 {
            int k = peek(0) & 1;
            push(peek(k & 3) * 7 + peek(1) - peek(k > 0 ? 1 : 0)); push(peek(k ^ 1) + peek(k | 2) * peek(0)); pop(); pop();
        } };
        add int->int filter { int at = 3; init { at = 1; } work pop 1 push 1 peek 2 {
            push(peek(at & 1) * 3 + peek(0) * peek(at > 0 ? 1 : 0)); pop();
        } };
        add int->int filter { int at; work pop 1 push 2 { at++; push(pop() + at); push(at); } };
        add FileWriter<int>(\"out\");
    }";
    if has_compiler("items_at_a_selected_position") {
        agree(text, &ints("in", 500), None);
    }
}

/// Equal pipelines are merged, which leaves no order of steps with the table look-ups as a pack.
#[test]
fn isomorphic_filters_beside_equal_pipelines_fire() {
    let text = "void->void pipeline Main {
        add FileReader<float>(\"in\");
        add float->int splitjoin {
            split duplicate;
            for (int r = 0; r < 3; r++) add Looks(r * 4 + 2);
            for (int r = 0; r < 3; r++) add float->int pipeline {
                add float->float filter { work pop 2 push 2 { push(pop() + 8.5); push(pop() * 52.5); } };
                add float->int filter {
                    float[12] weights = {2.0, 1.5, 2.5, 1.5, 2.25, 2.0, -4.5, 3.0, 0.25, -3.0, -1.5, 1.25};
                    work pop 2 push 2 peek 11 {
                        float sum0 = 0.0;
                        for (int i = 0; i < 10; i++) sum0 += peek(i) * weights[i];
                        push((int)sum0);
                        float sum1 = 0.0;
                        for (int i = 0; i < 10; i++) sum1 += peek(i + 1) * weights[i];
                        push((int)sum1);
                        pop(); pop();
                    }
                };
            };
            join roundrobin;
        };
        add FileWriter<int>(\"out\");
    }
    float->int filter Looks(int p) {
        int[16] table;
        init { for (int i = 0; i < 16; i++) table[i] = (i * 2 + p) % 11; }
        work pop 8 push 8 {
            for (int i = 0; i < 8; i++) {
                float x = pop();
                int y = table[(int)x & 15];
                if (i % 2 == 0 && x < 0) y = -y;
                push(y);
            }
        }
    }";
    if has_compiler("isomorphic_filters_beside_equal_pipelines_fire") {
        agree(text, &Memory { any: Some(500), ..Memory::default() }, None);
    }
}
