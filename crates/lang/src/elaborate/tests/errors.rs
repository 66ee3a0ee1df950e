use super::{ENDS, errors};
use insta::assert_snapshot;

#[test]
fn invalid_rates() {
    assert_snapshot!(errors(
        "void->void pipeline Main { add S(0-3); add F(2); add G(3); add T(); }
        void->int filter S(int n) { work push n { } }
        int->int filter F(int n) { work pop n peek 1 - n push 1 { for (int i = 0; i < n; i++) pop(); push(1); } }
        int->int filter G(int n) { work pop [n, n - 1] push [2, 1, 4] { pop(); push(1); push(2); } }
        int->void filter T { work pop 1 { pop(); } }"
    ));
}

#[test]
fn rates_against_ends() {
    assert_snapshot!(errors(
        "void->void pipeline Main { add S(0); add F(0); add T(); }
        void->int filter S(int n) { work push n { for (int i = 0; i < n; i++) push(1); } }
        int->int filter F(int n) { work pop n push n { for (int i = 0; i < n; i++) push(pop()); } }
        int->void filter T { work pop 1 { pop(); } }"
    ));
}

#[test]
fn lengths_of_parameters() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->int filter G(int n, float[n][2] h) {{ work pop 1 push 1 {{ push(pop() + (int) h[0][0]); }} }}
        void->void pipeline Main {{ float[3][2] h; add S(); add G(3, h); add G(4, h); add T(); }}"
    )));
}

#[test]
fn failing_code() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->int filter G(int n) {{ int[4] a; init {{ for (int i = 0; i <= n; i++) a[i] = 1; }} work pop 1 push 1 {{ push(pop()); }} }}
        int->int filter H(int n) {{ int x = 3 / n; work pop 1 push 1 {{ push(pop()); }} }}
        int->int filter K(int n) {{ float[n - 9] x; work pop 1 push 1 {{ push(pop()); }} }}
        int->int filter L {{ float[2] x = init_array_1D_float(\"no such file\", 2); work pop 1 push 1 {{ push(pop()); }} }}
        void->void pipeline Main {{ add S(); add G(3); add G(4); add G(5); add H(0); add K(2); add L(); add T(); }}"
    )));
}

#[test]
fn weights_against_streams() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->int splitjoin A(int n) {{ split roundrobin(1, 2, 3); add F(); add F(); join roundrobin(1, n); }}
        int->int splitjoin B {{ split roundrobin(0); add F(); add F(); join roundrobin(0, 0); }}
        int->int splitjoin C {{ split duplicate; add F(); add T(); join roundrobin(1, 1); }}
        int->int splitjoin D {{ split roundrobin(1, 1); add F(); add S(); join roundrobin; }}
        void->void pipeline Main {{ add S(); add A(0 - 1); add B(); add C(); add D(); add T(); }}"
    )));
}

#[test]
fn composites_without_children() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->int pipeline Empty(int n) {{ for (int i = 0; i < n; i++) add F(); }}
        int->int splitjoin None(int n) {{ split duplicate; for (int i = 0; i < n; i++) add F(); join roundrobin; }}
        void->void pipeline Main {{ add S(); add Empty(0); add None(0); add T(); }}"
    )));
}

#[test]
fn invalid_feedback_loops() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->int feedbackloop A {{ join roundrobin(1, 0); body F(); loop F(); split duplicate; enqueue 0; }}
        int->int feedbackloop B {{ join roundrobin; body G(); loop F(); split roundrobin(1, 1, 1); enqueue 1; }}
        int->int feedbackloop C {{ join roundrobin; body F(); loop G(); split roundrobin; enqueue 1; }}
        int->int feedbackloop D {{ join roundrobin(0, 1); body F(); loop F(); split roundrobin; enqueue 1; }}
        int->float filter G {{ work pop 1 push 1 {{ push(pop()); }} }}
        void->void pipeline Main {{ add S(); add A(); add B(); add C(); add D(); add T(); }}"
    )));
}
