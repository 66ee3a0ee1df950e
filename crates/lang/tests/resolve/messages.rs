//! Portals, handlers and messages.

use crate::common::{accepted, refused};

fn program(parts: &str, send: &str) -> String {
    format!(
        "void->void pipeline Main {{ portal<Take> p; int n; add Make(p); {parts} }}
         void->int filter Make(portal<Take> p) {{ work push 1 {{ push(1); {send} }} }}
         int->void filter Take() {{
            float gain;
            work pop 1 {{ println(pop() * gain); }}
            handler set(float g, int n) {{ gain = g; }}
         }}"
    )
}

#[test]
fn messages_go_to_handlers_with_their_types() {
    let parts = "add Take() to p;";
    accepted(&program(parts, "p.set(1, 2);"));
    accepted(&program(parts, "int k = 2; p.set(1.5, 2) [k:k + 3]; p.set(1, 2) [-1:]; p.set(1, 2) [*];"));
    refused(&program(parts, "p.sett(1, 2);"), &["cannot find handler `sett`"]);
    refused(&program(parts, "p.set(1);"), &["`set` takes 2 arguments, found 1"]);
    refused(&program(parts, "p.set(1, 2.5);"), &["expected an `int`, found a `float`"]);
    refused(&program(parts, "p.set(1, 2) [3:1];"), &["the minimum latency 3 exceeds the maximum 1"]);
    refused(&program(parts, "p.set(1, 2) [1.5:2];"), &["expected an `int`, found a `float`"]);
}

#[test]
fn messages_are_sent_to_portals_by_filters() {
    refused(&program("add Take() to p; p.set(1, 2);", ""), &["a message cannot be sent here"]);
    refused(
        &program("add Take() to p;", "int q; q.set(1, 2);"),
        &["cannot send a message to a value that is not a portal"],
    );
    refused(&program("add Take() to p;", "q.set(1, 2);"), &["cannot find variable `q`"]);
}

#[test]
fn portals_send_to_one_filter() {
    refused(&program("add Take() to n;", ""), &["`n` is not a portal"]);
    refused(
        &program("add Identity<int>() to p; add Take();", ""),
        &["this portal sends to `Take`, not to this stream"],
    );
    refused(&program("portal<Main> q; add Take();", ""), &["expected a filter, found `Main`"]);
    refused(&program("portal<Tike> q; add Take();", ""), &["cannot find filter `Tike`"]);
}

#[test]
fn handlers_can_be_called_like_functions() {
    let program = accepted(
        "void->void filter Main { int n; work { set(iter()); println(n); } handler set(int k) { n = k; } }",
    );
    let filter = crate::common::filter_of(&program, "Main");
    assert_eq!((filter.functions.len(), filter.handlers.len()), (1, 1));
    assert_eq!(filter.functions, filter.handlers);
}
