use super::{ENDS, described};
use insta::assert_snapshot;

#[test]
fn pipelines() {
    assert_snapshot!(described(&format!(
        "{ENDS} void->void pipeline Main {{ add S(); for (int i = 0; i < 3; i++) add F(); add T(); }}"
    )));
}

#[test]
fn splitjoins_of_all_kinds() {
    assert_snapshot!(described(&format!(
        "{ENDS}
        int->int splitjoin One {{ split duplicate; add F(); add F(); join roundrobin; }}
        int->int splitjoin Two {{ split roundrobin(2); add F(); add F(); join roundrobin(1, 3); }}
        int->int splitjoin Three(int n) {{
            split roundrobin(n, 0);
            add F();
            add S();
            join roundrobin(1, n);
        }}
        void->int splitjoin Four {{ split roundrobin(0); add S(); add S(); join roundrobin(); }}
        int->void splitjoin Five {{ split duplicate; add T(); add T(); join roundrobin(0); }}
        void->void pipeline Main {{ add Four(); add One(); add Two(); add Three(4); add Five(); }}"
    )));
}

#[test]
fn splitjoins_without_ends() {
    assert_snapshot!(described(&format!(
        "{ENDS} void->void splitjoin Main {{
            split duplicate;
            add pipeline {{ add S(); add T(); }}
            add pipeline {{ add S(); add T(); }}
            join roundrobin;
        }}"
    )));
}

#[test]
fn feedback_loops() {
    assert_snapshot!(described(
        "void->void feedbackloop Main {
            join roundrobin(0, 1);
            body int->int filter { work pop 1 peek 2 push 1 { push(peek(0) + peek(1)); pop(); } }
            loop Identity<int>();
            split roundrobin(0, 1);
            for (int i = 0; i < 2; i++) enqueue i;
        }"
    ));
    assert_snapshot!(described(&format!(
        "{ENDS} int->int feedbackloop Loop {{
            join roundrobin(1, 1);
            body int->int filter {{ work pop 2 push 1 {{ push(pop() + pop()); }} }}
            loop F();
            split duplicate;
            enqueue 0;
        }}
        void->void pipeline Main {{ add S(); add Loop(); add T(); }}"
    )));
}

#[test]
fn feedback_loops_with_zero_weights_are_their_bodies() {
    assert_snapshot!(described(&format!(
        "{ENDS} int->int feedbackloop Open {{
            join roundrobin(2, 0);
            body F();
            loop int->int filter {{ work push 0 pop 0 {{ }} }}
            split roundrobin(1, 0);
        }}
        void->void pipeline Main {{ add S(); add Open(); add T(); }}"
    )));
}

#[test]
fn recursion_of_streams() {
    assert_snapshot!(described(&format!(
        "{ENDS} int->int splitjoin Halves(int n) {{
            split roundrobin(n / 2);
            if (n == 2) {{ add F(); add F(); }} else {{ add Halves(n / 2); add Halves(n / 2); }}
            join roundrobin(n / 2);
        }}
        void->void pipeline Main {{ add S(); add Halves(8); add T(); }}"
    )));
}

#[test]
fn anonymous_streams_capture_enclosing_variables() {
    assert_snapshot!(described(&format!(
        "{ENDS} int->int pipeline P(int n, float[2] h) {{
            for (int i = 1; i < 3; i++) {{
                float[i + 1] w;
                add int->int filter {{
                    work pop n push i {{ for (int k = 0; k < i; k++) push((int) (h[0] + w[i])); for (int k = 0; k < n; k++) pop(); }}
                }};
                add splitjoin {{ split duplicate; for (int j = 0; j < i; j++) add Identity<int>; join roundrobin(n); }};
            }}
        }}
        void->void pipeline Main {{ float[2] h; h[1] = 2; add S(); add P(3, h); add T(); }}"
    )));
}

#[test]
fn omitted_types_are_inferred() {
    assert_snapshot!(described(
        "void->void pipeline Main {
            add void->float[2] filter { work push 1 { float[2] a; push(a); } };
            add splitjoin { split roundrobin; add Identity<float[2]>; add pipeline { add Identity<float[2]>; } join roundrobin; }
            add float[2]->void filter { work pop 1 { pop(); } };
        }"
    ));
}

#[test]
fn built_in_filters() {
    assert_snapshot!(described(
        "void->void pipeline Main { add FileReader<float>(\"in.bin\"); add Identity<float>(); add FileWriter<float>(\"out\" + 1); }"
    ));
}

#[test]
fn portals_list_their_receivers() {
    assert_snapshot!(described(
        "void->void pipeline Main {
            portal<R> p; portal<R> q; portal<R> unused;
            add S(p, q);
            for (int i = 0; i < 2; i++) add R() to p, q;
            add R() to q;
            add int->void filter { work pop 1 { pop(); } };
        }
        void->int filter S(portal<R> p, portal<R> q) { work push 1 { p.set(1); q.set(2); push(0); } }
        int->int filter R { int x; work pop 1 push 1 { push(pop() + x); } handler set(int y) { x = y; } }"
    ));
}

#[test]
fn an_anonymous_stream_declared_void_has_the_output_of_its_children() {
    assert_snapshot!(described(&format!(
        "{ENDS} void->void pipeline Main {{
            add S();
            add int->void splitjoin {{ split duplicate; add F(); add Identity<int>; join roundrobin; }}
            add int->void pipeline {{ add F(); }}
            add T();
        }}"
    )));
}
