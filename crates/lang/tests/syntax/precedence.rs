//! Precedence and associativity, which differ from those of C.

use crate::support::tree;
use thalweg_lang::ast::{StmtKind, StreamBody};

/// Parses an expression and prints it with all parentheses.
fn read(expression: &str) -> String {
    let program = tree(&format!("void->void pipeline P {{ x = {expression}; }}"));
    let StreamBody::Composite(_, block) = &program.streams[0].body else { panic!("a pipeline") };
    let StmtKind::Assign(_, None, value) = &block.stmts[0].kind else { panic!("an assignment") };
    value.to_string()
}

#[track_caller]
fn check(expression: &str, expected: &str) {
    assert_eq!(read(expression), expected);
}

#[test]
fn operators_of_a_level_associate_to_the_left() {
    let levels: [&[&str]; 7] = [
        &["||"],
        &["&&"],
        &["|", "&", "^"],
        &["==", "!="],
        &["<", "<=", ">", ">="],
        &["+", "-"],
        &["*", "/", "%", "<<", ">>"],
    ];
    for level in levels {
        for first in level {
            for second in level {
                check(&format!("a {first} b {second} c"), &format!("((a {first} b) {second} c)"));
            }
        }
    }
    for (at, looser) in levels.iter().enumerate() {
        for tighter in &levels[at + 1..] {
            for (loose, tight) in looser.iter().flat_map(|l| tighter.iter().map(move |t| (l, t))) {
                check(&format!("a {loose} b {tight} c"), &format!("(a {loose} (b {tight} c))"));
                check(&format!("a {tight} b {loose} c"), &format!("((a {tight} b) {loose} c)"));
            }
        }
    }
}

#[test]
fn bit_operations_share_a_level() {
    check("1|2&4", "((1 | 2) & 4)");
}

#[test]
fn bit_operations_are_looser_than_comparisons() {
    check("a & b == c", "(a & (b == c))");
}

#[test]
fn shifts_multiply() {
    check("1<<2+1", "((1 << 2) + 1)");
    check("1+2<<3", "(1 + (2 << 3))");
}

#[test]
fn choices_associate_to_the_right() {
    check("a ? b : c ? d : e", "(a ? b : (c ? d : e))");
    check("a ? b ? c : d : e", "(a ? (b ? c : d) : e)");
    check("a || b ? c : d + 1", "((a || b) ? c : (d + 1))");
}

#[test]
fn casts_bind_tighter_than_operators() {
    check("(int) a * b", "(((int) a) * b)");
    check("(float) -a + b", "(((float) (-a)) + b)");
    check("(int) a++", "((int) (a++))");
}

#[test]
fn signs_belong_to_one_value() {
    check("-a * b", "((-a) * b)");
    check("-a.b[1]", "(-a.b[1])");
    check("!a == b", "((!a) == b)");
    check("~a & b", "((~a) & b)");
    check("~~-a", "(~(~(-a)))");
    check("!-a", "(!(-a))");
    check("a - -b", "(a - (-b))");
    check("a+++b", "((a++) + b)");
}

#[test]
fn arrays_have_their_first_length_outside() {
    let program = tree("void->void pipeline P { float[2][3] x; }");
    let StreamBody::Composite(_, block) = &program.streams[0].body else { panic!("a pipeline") };
    let StmtKind::Declare(variables) = &block.stmts[0].kind else { panic!("a declaration") };
    let thalweg_lang::ast::TypeKind::Array(element, length) = &variables[0].ty.kind else {
        panic!("an array")
    };
    assert_eq!((element.to_string().as_str(), length.to_string().as_str()), ("float[3]", "2"));
}
