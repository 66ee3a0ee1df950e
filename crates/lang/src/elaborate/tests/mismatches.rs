use super::{ENDS, errors};
use insta::assert_snapshot;

#[test]
fn neighbours_in_pipelines() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        float->float filter G {{ work pop 1 push 1 {{ push(pop()); }} }}
        int[4]->int[3] filter H {{ work pop 1 push 1 {{ int[3] a; pop(); push(a); }} }}
        int[4]->void filter I {{ work pop 1 {{ pop(); }} }}
        void->void pipeline Main {{ add S(); add G(); add H(); add I(); add T(); }}"
    )));
}

#[test]
fn ends_of_composites() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->float pipeline A {{ add F(); }}
        void->int pipeline B {{ add F(); add F(); }}
        void->void pipeline Main {{ add S(); add A(); add B(); add T(); }}"
    )));
}

#[test]
fn arms_of_splitjoins() {
    assert_snapshot!(errors(&format!(
        "{ENDS}
        int->float filter G {{ work pop 1 push 1 {{ push(pop()); }} }}
        int->int splitjoin A {{ split duplicate; add F(); add G(); join roundrobin; }}
        void->void pipeline Main {{
            add S(); add A();
            add splitjoin {{ split roundrobin(1, 0); add F(); add G(); join roundrobin(1, 0); }}
            add T();
        }}"
    )));
}
