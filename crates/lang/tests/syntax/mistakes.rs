//! Common mistakes and their messages: each mistake is one error.

use crate::support::errors;

/// A program with `code` in the `work` of a filter.
fn in_work(code: &str) -> String {
    format!(
        "int->int filter F {{\n    work pop 1 push 1 {{\n        {code}\n        push(pop());\n    }}\n}}\n"
    )
}

/// Asserts the number of errors of a text, and compares them with the snapshot.
#[track_caller]
fn check(name: &str, mistakes: usize, text: &str) {
    let errors = errors(text);
    insta::assert_snapshot!(name, errors);
    assert_eq!(errors.matches("Error: ").count(), mistakes, "{errors}");
}

macro_rules! mistakes {
    ($wrap:expr; $($name:ident $count:literal $text:literal)*) => {
        $(#[test]
        fn $name() {
            let wrap: fn(&str) -> String = $wrap;
            check(stringify!($name), $count, &wrap($text));
        })*
    };
}

mistakes! { in_work;
    semicolon_missing 1 "int x = 1"
    semicolon_missing_within_a_line 1 "x = 1 y = 2; z = 3;"
    operator_that_does_not_exist 1 "x &= 3;"
    digits_missing_around_a_point 2 "float y = .5 + 1.;"
    switch_is_reserved 1 "switch (x) {\n case 1: y = 2; break;\n default: y = 3;\n }"
    assignment_as_condition 1 "if (a = b) push(1);"
    assignment_as_value 1 "a = b += 3;"
    condition_without_parentheses 1 "if x > 3 { push(2); } else { push(4); }"
    condition_half_in_parentheses 1 "while x > 3) { push(2); }"
    commas_in_for 1 "for (int i = 0, i < 3, i++) { push(i); }"
    length_behind_the_name 1 "float z[10]; z[3] = 2;"
    signs_before_signs 3 "x = - -3; y = !!a; z = - ++a;"
    casts_before_casts 2 "q = (int)(float)x; r = -(int)x;"
    step_of_a_signed_value 1 "z = -x++;"
    step_of_a_value 2 "3++; ++f();"
    assignment_to_a_value 1 "f(x) = 3;"
    statement_without_effect 2 "x == 3; y;"
    words_misspelt_in_statements 6
        "whlie (x < 3) { x++; braek; }\n If (x) { y(); } esle { z(); }\n fro (int i = 0; i < 3; i++) { contineu; }"
    push_without_parentheses 1 "push 3;"
    pop_without_parentheses 1 "x = pop + 1;"
    list_assigned 1 "int[3] a; a = {1, {2}, 3};"
    list_as_argument 3 "p.gain(c, {1, 2}); x = f({3, {4}}, 5); push({1, 2});"
    argument_missing 1 "x = f(1, , 2);"
    comma_at_the_end 1 "x = f(1, 2, );"
    parenthesis_missing 2 "x = (1 + 2; y = f(3;"
    bracket_missing 1 "x[3 = 2;"
    latency_of_one_number 1 "p.f(1)[3];"
    latency_with_a_star 1 "p.g() [2:*];"
    strange_characters 2 "x = a @ b; y = $$$;"
    string_without_end 1 "x = \"abc; y = 1;"
    character_without_end 1 "x = 'a; y = 1;"
    character_of_two 2 "x = 'ab'; y = '';"
    escape_that_does_not_exist 2 "x = '\\q'; y = \"\\u12\";"
    else_without_if 1 "if (x) y(); z(); else y = 2;"
    brace_missing_at_the_end 1 "if (x) { y = 1; "
    brace_too_many 1 "} y = 2;"
    choice_without_colon 1 "y = x ? 1;"
    keyword_as_name 1 "int float = 3;"
    keyword_as_value 1 "x = duplicate + 1;"
    plus_sign 1 "x = +3;"
    star_as_value 1 "x = *;"
    arrow_as_operator 1 "x = y->z;"
    components_of_vectors 2 "x = float2(1); y = float3(1, 2, 3, 4);"
    part_of_a_value 2 "y = f()[3]; z = pop().x;"
}

mistakes! { str::to_string;
    semicolons_missing_in_a_pipeline 2
        "int->int splitjoin S {\n    split roundrobin(1,1)\n    add A()\n    add B();\n    join roundrobin;\n}\n"
    stream_unknown 2 "int->int splitjoin S {\n    split all;\n    add =;\n    join roundrobin;\n}\n"
    star_as_weight 1 "int->int splitjoin S { split roundrobin(*); }"
    weights_of_duplicate 1 "int->int splitjoin S { split duplicate(2); }"
    name_of_an_anonymous_stream 1 "int->int pipeline P { add int->int filter X(int n) { work { } } }"
    types_missing 1 "filter F { work pop 1 push 1 { push(pop()); } }"
    arrow_missing 1 "float float filter F { work { } }"
    word_misspelt 1 "int->int fliter F { work { x = 1; } }\nint->int filter G { work { } }\n"
    words_misspelt_in_streams 9
        "int->int splitjoin S {\n    splt duplicate;\n    Add A();\n    addd B() to p;\n    add piepline { add C(); }\n    \
         adds Identity<int>();\n    ADD int->int filter { work { } }\n    join roundrobbin(1, 2);\n    enqueu 3;\n    jion roundrobin;\n}\n"
    words_misspelt_in_filters 7
        "int->int statefull filter F {\n    inti { x = 1; }\n    wrok pup 1 psuh 1 peke 2 { }\n    prewrok pop 1 { }\n}\n"
    words_misspelt_at_the_top 4 "strcut S { int a; }\nstatc { int b; }\nhepler H { int f() { retrun 1; } }\n"
    commas_between_rates 1 "int->int filter F { work pop 1, push 1 { } }"
    rate_missing 1 "int->int filter F { work push pop 1 { x = 1; } }"
    rate_twice 1 "int->int filter F { work push [1, 2] pop 1 push 3 { } }"
    range_without_end 1 "int->int filter F { work push [1, 2 pop 3 { x = 1; } }"
    range_of_one_bound 1 "int->int filter F { work push [1] pop 3 { x = 1; } }"
    star_in_an_operation 1 "int->int filter F { work pop * push *+1 { x = 1; } }"
    statement_outside_code 1 "int->int filter F {\n    x = 3;\n    y.z += 4;\n    int w;\n    work { }\n}\n"
    statement_among_globals 1 "static { int x; x = 3; }"
    function_without_parentheses 1 "int->int filter F { int f { return 1; } work { } }"
    function_outside_filters 1 "int f(int x) { return x; }\nint->int filter F { work { } }\n"
    parameter_without_a_name 2 "int->int filter F(int, int b) { int x = ; }\n"
    work_in_a_pipeline 1 "int->int pipeline P { work pop 1 push 1 { push(pop()); } add A; }"
    brace_missing_before_a_stream 1
        "void->void pipeline P {\n    for (;;) {\n        add A();\n}\nint->int filter F { work { } }\n"
    brace_missing_before_work 1 "int->int filter F {\n    init {\n        x = 1;\n    work { }\n}\n"
    brace_missing_in_a_filter 1 "int->int filter F {\n    int x;\nint->int filter G { work { } }\n"
    brace_that_closes_nothing 1 "struct S { int a; } }\nstruct T { int b; }\n"
    value_in_a_structure 1 "struct S { int a = 3; }"
    semicolon_missing_in_a_structure 1 "struct S { int a }"
    second_init_of_a_block 1 "static { init { } init { } }"
    lines_for_the_preprocessor 1 "#include \"x.h\"\n#define Y 1\nint->int filter F { work { } }\n"
    comment_without_end 1 "int->int filter F {\n    work { /* x\n"
    file_that_ends_early 1 "int->int filter F { work pop 1 push 1 { if (x) { push("
    something_else 1 "while (true) { x = 1; }\nint->int filter F { work { } }\n"
    word_alone 1 "x"
}

#[test]
fn nested_too_deeply() {
    check("nested_too_deeply", 1, &in_work(&format!("x =\n{}1;", "(\n".repeat(300))));
}

#[test]
fn expression_too_long() {
    check("expression_too_long", 1, &in_work(&format!("x = y{};", "\n .z".repeat(600))));
}
