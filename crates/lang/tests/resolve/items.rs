//! Items of array and structure types.

use crate::common::{accepted, refused};

fn program(push: &str) -> String {
    format!(
        "struct Pair {{ int key; float[2] value; }}
         void->void pipeline Main {{ add Make(2); add Take(2); }}
         void->Pair filter Make(int n) {{ work push 1 {{ Pair p; p.key = n; push({push}); }} }}
         Pair->void filter Take(int n) {{ work pop 1 {{ Pair p = pop(); println(p.value[n - 1]); }} }}"
    )
}

#[test]
fn structures_are_items() {
    accepted(&program("p"));
    refused(&program("p.key"), &["expected a `Pair`, found an `int`"]);
}

#[test]
fn array_items_take_lengths_from_parameters() {
    accepted(
        "void->void pipeline Main { add Make(3); add Take(3); }
         void->float[n] filter Make(int n) { work push 1 { float[n] a; push(a); } }
         float[n]->void filter Take(int n) { work pop 1 { float[n] a = pop(); println(a[n - 1]); } }",
    );
    refused(
        "void->void pipeline Main { add Make(3); }
         void->float[m] filter Make(int n) { work push 1 { float[n] a; push(a); } }",
        &["cannot find variable `m`"],
    );
}
