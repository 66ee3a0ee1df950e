//! One program for each construct of the language: a snapshot of its printed tree, which parses to the same tree.

use crate::support::{tree, without_places};

fn check(name: &str, text: &str) {
    let program = tree(text);
    let printed = program.to_string();
    insta::assert_snapshot!(name, printed);
    let again = tree(&printed);
    assert_eq!(without_places(&again), without_places(&program));
}

macro_rules! constructs {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), include_str!(concat!("programs/", stringify!($name), ".str")));
        })*
    };
}

constructs! {
    comments names numbers texts arrows
    structs statics natives streams filters rates
    statements declarations assignments expressions
    composites splitjoins feedbackloops portals semicolons
}
