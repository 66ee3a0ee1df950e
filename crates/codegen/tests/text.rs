//! The C text of small programs, and refusals.

mod common;

use common::compiled;
use thalweg_codegen::{Level, Refusal, source};

/// The part of a program's text that is not common to all programs.
fn own(text: &str, level: Level) -> String {
    let text = source(&compiled(text), level).unwrap();
    let begin = text.find("\nstruct kept_").unwrap();
    let end = text.find("\nstruct state {").unwrap();
    text[begin..end].to_owned()
}

#[test]
fn state_becomes_a_variable() {
    insta::assert_snapshot!(own(
        "void->void pipeline Main { add Count(); add Show(); }
         void->int filter Count() { int n; work push 1 { push(n++); } }
         int->void filter Show() { work pop 1 { println(pop()); } }",
        Level::Fused
    ));
}

#[test]
fn constants_are_folded() {
    insta::assert_snapshot!(own(
        "void->void pipeline Main { add FileReader<float>(\"in\"); add Scale(3, true); add FileWriter<float>(\"out\"); }
         float->float filter Scale(int k, boolean twice) { float[2] by; init { by[0] = 0.5; by[1] = k; }
            work pop 2 push 2 { for (int i = 0; i < 2; i++) if (twice) push(pop() * by[i] * 2); else push(pop()); } }",
        Level::Fused
    ));
}

#[test]
fn a_splitter_becomes_arithmetic() {
    insta::assert_snapshot!(own(
        "void->void pipeline Main { add FileReader<int>(\"in\"); add Both(); add FileWriter<int>(\"out\"); }
         int->int splitjoin Both { split roundrobin(1, 2); add Negate(); add Sum(); join roundrobin; }
         int->int filter Negate() { work pop 1 push 1 { push(-pop()); } }
         int->int filter Sum() { work pop 2 push 1 { push(pop() + pop()); } }",
        Level::Fused
    ));
}

/// A filter whose first firing has come to the limit of queues stops there, like one whose later firing has.
#[test]
fn the_limit_of_queues_stops_a_filter_after_its_first_firing() {
    let program = |(pushes, when): (&str, &str)| {
        format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\"); add Many(); add Few(); add FileWriter<int>(\"out\"); }}
            int->int filter Many() {{ prework pop 1 push * {{ int k = pop(); for (int i = 0; i < k; i++) push(i); }}
                work pop 1 push {pushes} {{ int x = pop(); {when} push(x); }} }}
            int->int filter Few() {{ work pop * push 1 {{ push(pop()); }} }}"
        )
    };
    for (work, check) in [
        (("[0, 1]", "if (x > 0)"), "fired > 0 && !state->env.full"),
        (("1", ""), "fired == 0 || state->env.full"),
    ] {
        let text = source(&compiled(&program(work)), Level::Fused).unwrap();
        assert!(text.contains(check), "{work:?}: no `{check}`");
    }
}

#[test]
fn refusals_have_a_reason() {
    let program = "void->void pipeline Main { add Source(); add Show(); }
        void->int filter Source() { work push 1 { push(1); } }
        int->void filter Show() { work pop 1 { string s = \"\"; s = s + pop(); println(s); } }";
    let refusal = source(&compiled(program), Level::Fused).unwrap_err();
    let Refusal::Unable(why) = refusal else { panic!("{refusal}") };
    assert_eq!(why, "`Main.Show`: unsupported local variable of string or portal type");
}

/// A C compiler takes more than linear time for as many statements as there are filters in one function.
#[test]
fn no_function_grows_with_the_number_of_filters() {
    let program = |filters: u32| {
        format!(
            "void->void pipeline Main {{ add FileReader<int>(\"in\");
                for (int i = 0; i < {filters}; i++) add int->int filter {{ work pop 1 push 1 {{ push(pop()); }} }};
                add FileWriter<int>(\"out\"); }}"
        )
    };
    let longest = |filters| {
        let text = source(&compiled(&program(filters)), Level::Vectors).unwrap();
        let functions = text.split("\n}").filter(|function| !function.contains("struct state {"));
        functions.map(|function| function.lines().count()).max()
    };
    assert_eq!(longest(300), longest(600));
}
