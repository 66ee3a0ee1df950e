//! Regression tests of errors that random programs found.

use crate::run::{compiled_text, execute};

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
    let input: Vec<u8> = [1, 2].into_iter().flat_map(i32::to_le_bytes).collect();
    let run = execute(&compiled_text(text).unwrap(), &[("in".to_owned(), input)], 9);
    assert_eq!(run.printed, "1\n6\n2\n7\n");
}
