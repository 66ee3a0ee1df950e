//! Spans of syntax elements, and programs of several files.

use thalweg_lang::ast::{StmtKind, StreamBody};
use thalweg_lang::{Sources, parse};

const TEXT: &str = "int->int filter F(int N) { work pop 1 push 1 { x = (a + b) * c[2].d; } }\n";

#[test]
fn spans_cover_what_was_read() {
    let sources = Sources::of("test.str", TEXT);
    let (program, _) = parse(&sources);
    let stream = &program.streams[0];
    assert_eq!(sources.text(stream.span), TEXT.trim_end());
    assert_eq!(sources.text(stream.params[0].ty.span), "int");
    let StreamBody::Filter(filter) = &stream.body else { panic!("a filter") };
    let work = &filter.works[0];
    assert_eq!(sources.text(work.body.span), "{ x = (a + b) * c[2].d; }");
    assert_eq!(sources.text(work.span), "work pop 1 push 1 { x = (a + b) * c[2].d; }");
    let stmt = &work.body.stmts[0];
    assert_eq!(sources.text(stmt.span), "x = (a + b) * c[2].d;");
    let StmtKind::Assign(_, _, value) = &stmt.kind else { panic!("an assignment") };
    assert_eq!(sources.text(value.span), "(a + b) * c[2].d");
    let thalweg_lang::ast::ExprKind::Binary(first, rest) = &value.kind else { panic!("a product") };
    let operands = std::iter::once(&**first).chain(rest.iter().map(|(_, operand)| operand));
    assert_eq!(operands.map(|operand| sources.text(operand.span)).collect::<Vec<_>>(), ["a", "b", "c[2].d"]);
}

#[test]
fn files_are_one_program() {
    let mut sources = Sources::of("first.str", "struct S { int a; }");
    sources.add("second.str", TEXT);
    sources.add("third.str", "struct T { int }");
    let (program, errors) = parse(&sources);
    assert_eq!((program.structs.len(), program.streams.len()), (2, 1));
    assert_eq!((program.streams[0].span.file(), errors.len(), errors[0].span.file()), (1, 1, 2));
}

#[test]
fn recovery_keeps_the_valid_parts() {
    let text =
        "int->int filter A { int x = ; work { y = 1 +; z = 2; } }\nvoid->void pipeline B { add A(; }\n";
    let (program, errors) = parse(&Sources::of("test.str", text));
    assert_eq!((program.streams.len(), errors.len()), (2, 3));
    let StreamBody::Filter(filter) = &program.streams[0].body else { panic!("a filter") };
    assert_eq!((filter.fields.len(), filter.works[0].body.stmts.len()), (1, 2));
}
