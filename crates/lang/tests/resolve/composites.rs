//! Pipelines, split-joins and feedback loops.

use crate::common::{accepted, hinted, refused};

const PARTS: &str = "
    void->int filter Make() { work push 1 { push(1); } }
    int->int filter Pass(int n) { work pop 1 push 1 { push(pop() + n); } }
    int->void filter Take() { work pop 1 { println(pop()); } }";

fn program(middle: &str) -> String {
    format!("void->void pipeline Main {{ add Make(); add Test(); add Take(); }} {PARTS} {middle}")
}

#[test]
fn a_program_has_one_entry_point() {
    let main = "void->void pipeline Main { add Make(); add Take(); }";
    accepted(&format!("{main} {PARTS}"));
    refused(PARTS, &["the program has no `void->void` stream"]);
    refused(
        &format!("{main} {PARTS} {}", main.replace("Main", "Other")),
        &["the program has two `void->void` streams"],
    );
    refused(
        &format!("{} {PARTS}", main.replace("Main", "Main(int n)")),
        &["the entry point of a program cannot have parameters"],
    );
    accepted("void->void filter Main { work { println(1); } }");
}

#[test]
fn inner_streams_have_an_input_or_an_output() {
    refused(
        "void->void pipeline Main { add void->void filter { work { } }; }",
        &["a stream inside another cannot be `void->void`"],
    );
    refused("void->void pipeline Main { add Main(); }", &["`Main` has no input and no output"]);
}

#[test]
fn composites_accept_only_their_statements() {
    accepted(&program(
        "int->int splitjoin Test { split roundrobin(1, 2); add Pass(1); add Pass(2); join roundrobin; }",
    ));
    refused(
        &program("int->int pipeline Test { add Pass(1); split duplicate; }"),
        &["`split` is not allowed here"],
    );
    refused(&program("int->int pipeline Test { body Pass(1); }"), &["`body` is not allowed here"]);
    refused(
        &program("int->int splitjoin Test { split duplicate; add Pass(1); enqueue 1; join roundrobin; }"),
        &["`enqueue` is not allowed here"],
    );
    refused(
        &program(
            "int->int feedbackloop Test { join roundrobin; body Pass(1); add Pass(2); loop Pass(3); split roundrobin; enqueue 0; }",
        ),
        &["`add` is not allowed here"],
    );
}

#[test]
fn every_path_has_one_split_and_one_join() {
    accepted(&program(
        "int->int splitjoin Test { if (true) split duplicate; else split roundrobin; add Pass(1); join roundrobin; }",
    ));
    refused(
        &program("int->int splitjoin Test { split duplicate; add Pass(1); }"),
        &["a splitjoin without `join`"],
    );
    hinted(
        &program("int->int splitjoin Test { split duplicate; add Pass(1); }"),
        "add `join roundrobin(1, 1);`",
    );
    refused(
        &program(
            "int->int splitjoin Test { split duplicate; add Pass(1); join roundrobin; join roundrobin; }",
        ),
        &["duplicate `join` in a splitjoin"],
    );
    refused(
        &program("int->int splitjoin Test { if (true) split duplicate; add Pass(1); join roundrobin; }"),
        &["a splitjoin needs a `split` on every path through it"],
    );
    refused(
        &program(
            "int->int splitjoin Test { if (true) return; split duplicate; add Pass(1); join roundrobin; }",
        ),
        &[
            "a splitjoin needs a `split` on every path through it",
            "a splitjoin needs a `join` on every path through it",
        ],
    );
}

#[test]
fn feedback_loops_need_four_parts() {
    let parts = ["join roundrobin;", "body Pass(1);", "loop Pass(2);", "split roundrobin;"];
    let test =
        |parts: &[&str]| program(&format!("int->int feedbackloop Test {{ {} enqueue 1; }}", parts.concat()));
    accepted(&test(&parts));
    refused(&test(&parts[1..]), &["a feedbackloop without `join`"]);
    refused(&test(&[parts[0], parts[2], parts[3]]), &["a feedbackloop without `body`"]);
    refused(&test(&[parts[0], parts[1], parts[3]]), &["a feedbackloop without `loop`"]);
    refused(&test(&parts[..3]), &["a feedbackloop without `split`"]);
}

#[test]
fn weights_are_integers_that_are_not_negative() {
    let test = |split: &str, join: &str| {
        program(&format!(
            "int->int splitjoin Test {{ split {split}; add Pass(1); add Pass(2); join {join}; }}"
        ))
    };
    accepted(&test("duplicate()", "roundrobin(0, 2)"));
    refused(&test("roundrobin(1.5)", "roundrobin"), &["expected an `int`, found a `float`"]);
    refused(&test("duplicate", "roundrobin(-1)"), &["a weight cannot be negative"]);
    refused(&test("duplicate", "duplicate"), &["`join` cannot duplicate"]);
}

#[test]
fn stream_arguments_match_parameter_types() {
    accepted(&program("int->int pipeline Test { for (int i = 0; i < 3; i++) add Pass(i); }"));
    refused(&program("int->int pipeline Test { add Pass(); }"), &["`Pass` takes 1 argument, found 0"]);
    refused(&program("int->int pipeline Test { add Pass(1.5); }"), &["expected an `int`, found a `float`"]);
    refused(&program("int->int pipeline Test { add Pass<int>(1); }"), &["`Pass` takes no type argument"]);
    refused(&program("int->int pipeline Test { add Past(1); }"), &["cannot find stream `Past`"]);
}

#[test]
fn built_in_streams_need_an_item_type() {
    accepted(
        "void->void pipeline Main { add FileReader<float>(\"in\"); add Identity<float>(); add FileWriter<float>(\"out\"); }",
    );
    refused(
        "void->void pipeline Main { add FileReader<float>(1); }",
        &["expected a `String`, found an `int`"],
    );
    refused(
        "void->void pipeline Main { add FileReader<float>(); }",
        &["`FileReader` takes 1 argument, found 0"],
    );
    // The second argument of a FileWriter is a sample rate.
    accepted(
        "void->void pipeline Main { add FileReader<float>(\"in\"); add FileWriter<float>(\"out\", 2 * 8000); }",
    );
    refused(
        "void->void pipeline Main { add FileReader<float>(\"in\", 8000); add FileWriter<float>(\"out\", 1, 2); }",
        &["`FileReader` takes 1 argument, found 2", "`FileWriter` takes 2 arguments, found 3"],
    );
    refused("void->void pipeline Main { add Identity<void>(); }", &["a value cannot have type `void`"]);
    accepted(&program("int->int pipeline Test { add Identity(); add Pass(1); }"));
    refused(
        "void->void pipeline Main { add FileReader(\"in\"); add Identity(); add FileWriter(\"out\"); }",
        &[
            "missing type argument for `FileReader`",
            "missing type argument for `Identity`",
            "missing type argument for `FileWriter`",
        ],
    );
}

#[test]
fn enqueued_items_have_the_input_type_of_the_body() {
    let loops = |types: &str, body: &str, value: &str| {
        format!(
            "void->void pipeline Main {{ add Loop(); add FileWriter<float>(\"out\"); }}
             float->float filter Pass() {{ work pop 1 push 1 {{ push(pop()); }} }}
             {types} feedbackloop Loop {{ join roundrobin(0, 1); body {body}; loop Identity<float>(); split duplicate; enqueue {value}; for (int i = 0; i < 2; i++) enqueue i; }}"
        )
    };
    accepted(&loops("void->float", "Pass()", "1"));
    refused(&loops("void->float", "Pass()", "2i"), &["expected a `float`, found a `complex`"]);
}

#[test]
fn enqueued_items_are_converted_in_loops_too() {
    let program = accepted(
        "void->void pipeline Main { add Loop(); add FileWriter<float>(\"out\"); }
         void->float feedbackloop Loop {
            join roundrobin(0, 1);
            body Identity<float>();
            loop Identity<float>();
            split duplicate;
            for (int i = 0; i < 2; i++) enqueue i;
         }",
    );
    assert!(program.to_string().contains("enqueue float(i#0)"), "{program}");
}
