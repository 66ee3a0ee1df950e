//! Snapshots of rendered errors and of a resolved program.

use crate::common::{accepted, render, resolved};

#[test]
fn a_program_in_its_resolved_form() {
    let program = accepted(
        r#"
        struct Tap { int at; float gain; }
        static { int SIZE = 2; float[SIZE] table; init { table[0] = 1; } }
        native Clock { int now(); }
        helper Mine { float half(float x) { return x / 2; } }

        void->void pipeline Main {
            portal<Gain> knob;
            add Count(SIZE, knob);
            for (int i = 0; i < 3; i++) {
                float[i + 1] h;
                h[0] = i;
                add float->float filter { work pop 1 push 1 { push(pop() * h[0] + i); } };
            }
            add Gain() to knob;
            add splitjoin {
                split roundrobin(1, SIZE);
                add Identity<float>();
                add Echo(0.5);
                join roundrobin;
            }
            add FileWriter<float>("out");
        }

        void->float filter Count(int n, portal<Gain> knob) {
            int count = 0;
            prework push n { for (int k = 0; k < n; ++k) push(k); }
            work push 1 {
                bit odd = count & 1;
                float x = odd ? count++ : Mine.half(n) + Clock.now();
                if (count > 10 && odd) { knob.set(1, 2.5) [1:2]; println("sent " + count); }
                x += 1;
                count <<= 1;
                push(abs(-x) + max(n, 2));
            }
        }

        stateful float->float filter Gain() {
            Tap[2] taps;
            init { taps[1].gain = 1; }
            work pop 1 push [0, *] {
                float y = pop();
                do { y -= 1; } while (y > 1);
                while (true) { if (y < 0) break; else return; }
                push(scaled(y));
            }
            float scaled(float x) { return x * taps[1].gain; }
            handler set(int at, float gain) { taps[1].at = at; taps[1].gain = gain; }
        }

        float->float feedbackloop Echo(float strength) {
            join roundrobin(1, 1);
            body float->float filter { work pop 2 peek 3 push 2 {
                complex c = peek(2) + 2i;
                float2 v = float2(1, 2) * 3;
                push(pop() + strength * c.imag);
                push(v.y);
            } };
            loop Identity<float>();
            split duplicate();
            enqueue 0;
        }
        "#
        .replace("stateful float->float filter Gain", "float->float stateful filter Gain")
        .as_str(),
    );
    insta::assert_snapshot!(program.to_string());
}

#[test]
fn rendered_errors() {
    let text = r#"
struct Tap { int at; float gain; }

void->void pipeline Main {
    add Source(3, 4);
    add Gian(2);
    add Sink();
}

void->float filter Source(int n) {
    float phase;
    work push 1 {
        int step = 0.5 * n;
        n = n + 1;
        phase = phse + step;
        push(phase);
        push(0);
    }
}

float->float filter Gain(float strength) {
    Tap tap;
    work pop 1 push 1 {
        float strength = 2;
        push(pop() * tap.gian);
    }
}

float->void filter Sink() {
    work { println(pop() % 2); }
}

float->float splitjoin Both {
    split duplicate;
    add Gain(1);
    enqueue 1;
}
"#;
    let errors = resolved(text).expect_err("much is wrong");
    insta::assert_snapshot!(render(text, &errors));
}
