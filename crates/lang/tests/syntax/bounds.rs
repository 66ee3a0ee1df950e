//! Limits of depth and length: exceeding one is an error, on a small stack and in linear time.

use thalweg_lang::parser::{MAX_DEPTH, MAX_ERRORS, MAX_HEIGHT};
use thalweg_lang::{Sources, parse};

/// The messages of a text's errors.
fn messages(text: String) -> Vec<String> {
    parse(&Sources::of("test.str", text)).1.into_iter().map(|error| error.message).collect()
}

fn in_work(code: String) -> String {
    format!("int->int filter F {{ work pop 1 push 1 {{ {code} }} }}")
}

#[test]
fn all_nesting_is_bounded() {
    let times = 20_000;
    let openings = [
        "(",
        "{",
        "~",
        "!",
        "x = (",
        "x = f(",
        "x = a[",
        "x = -(",
        "x = (int) (",
        "if (x) ",
        "while (1) ",
        "do ",
        "for (;;) ",
        "add pipeline { ",
        "add splitjoin { ",
        "x = a ? ",
        "x = a ? b : ",
        "x = y = ",
        "if (x) y(); else ",
        "int x = {",
        "int[",
        "x[",
        "p.f(",
        "push(",
        "peek(",
        "add A(",
        "else ",
        "x = !",
        "x = - ",
        "x = (int) ",
        "add filter { work { ",
        "add filter { int f() { ",
    ];
    for opening in openings {
        for text in [opening.repeat(times), format!("x = {}", opening.repeat(times))] {
            let messages = messages(in_work(text));
            assert!(!messages.is_empty() && messages.len() <= MAX_ERRORS, "{opening}");
        }
    }
}

#[test]
fn nesting_up_to_the_bound_is_read() {
    let nested = |times: usize| in_work(format!("{}{}", "{".repeat(times), "}".repeat(times)));
    let most = MAX_DEPTH as usize - 1;
    assert_eq!(messages(nested(most)), Vec::<String>::new());
    assert_eq!(messages(nested(most + 1)), ["this is nested too deeply"]);
}

#[test]
fn chains_up_to_the_bound_are_read() {
    for (first, next) in [("x", "[1]"), ("x", ".y")] {
        let chain = |times: usize| in_work(format!("y = {first}{};", next.repeat(times)));
        let most = MAX_HEIGHT as usize - 1;
        assert_eq!(messages(chain(most)), Vec::<String>::new(), "{next}");
        assert_eq!(messages(chain(MAX_HEIGHT as usize + 1)), ["this expression is too long"], "{next}");
    }
}

#[test]
fn what_is_not_nested_has_no_bound() {
    for (first, next) in [
        ("y = x", " + 1"),
        ("y = 1", " * 2 - 3"),
        ("y = a", " && b || c"),
        ("if (x) y++", "; else if (x) y++"),
    ] {
        assert_eq!(
            messages(in_work(format!("{first}{};", next.repeat(20_000)))),
            Vec::<String>::new(),
            "{next}"
        );
    }
    // The right operand nests, and so does an `if` in braces.
    for (next, end) in [("1 + (x * ", ")"), ("if (x) y++; else { ", "}")] {
        let nested = |times| in_work(format!("y = {}x{};", next.repeat(times), end.repeat(times)));
        let code = |times| {
            if end == ")" {
                nested(times)
            } else {
                in_work(format!("{}{}", next.repeat(times), end.repeat(times)))
            }
        };
        let most = MAX_DEPTH as usize / 2 - 1;
        assert_eq!(messages(code(most)), Vec::<String>::new(), "{next}");
        assert_eq!(messages(code(2 * most)), ["this is nested too deeply"], "{next}");
    }
}

#[test]
fn long_types_are_not_copied_to_many_variables() {
    let ty = format!("int[{}1]", "1 + ".repeat(400));
    let found = messages(in_work(format!("{ty} {};", vec!["x"; 10_000].join(", "))));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("this type has more than"), "{found:?}");
}

#[test]
fn errors_are_counted() {
    assert_eq!(messages(in_work("x = ; ".repeat(1000))).len(), MAX_ERRORS);
    assert_eq!(messages("\u{1} ".repeat(1000)).len(), MAX_ERRORS);
}

#[test]
fn time_is_linear() {
    let texts = [
        in_work("x = a[1] + f(2, 3) * 4; ".repeat(20_000)),
        in_work("x = ; } ".repeat(20_000)),
        "int->int filter F { ".repeat(20_000),
        "\u{1}".repeat(300_000),
        "/*".repeat(200_000),
        "// x\n/**/".repeat(100_000),
        " ".repeat(1_000_000),
        "a".repeat(1_000_000),
        "1".repeat(1_000_000),
        "\"\n".repeat(200_000),
        "a -> ".repeat(100_000),
        format!("x = {}", "f(".repeat(200_000)),
        in_work("int a[1][".repeat(50_000)),
    ];
    let start = std::time::Instant::now();
    for text in texts {
        messages(text);
    }
    // Linear time is a fraction of a second, quadratic time would be minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn unmatched_closing_brackets_are_skipped() {
    for stray in [")", "]", ",", ":", "}", ";", "?", ".", "="] {
        for text in
            [in_work(format!("\n{stray}\n").repeat(50)), format!("int->int filter F {{\n{stray}\n{stray} }}")]
        {
            assert!(messages(text).len() <= MAX_ERRORS);
        }
    }
}
