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
fn exactly_one_stream_is_the_program() {
    let main = "void->void pipeline Main { add Make(); add Take(); }";
    accepted(&format!("{main} {PARTS}"));
    refused(PARTS, &["no stream of the program is `void->void`"]);
    refused(
        &format!("{main} {PARTS} {}", main.replace("Main", "Other")),
        &["there are two streams that could be the program"],
    );
    refused(
        &format!("{} {PARTS}", main.replace("Main", "Main(int n)")),
        &["the program itself has parameters"],
    );
    accepted("void->void filter Main { work { println(1); } }");
}

#[test]
fn what_is_inside_takes_or_gives_something() {
    refused(
        "void->void pipeline Main { add void->void filter { work { } }; }",
        &["a stream inside another takes or gives something"],
    );
    refused("void->void pipeline Main { add Main(); }", &["`Main` takes nothing and gives nothing"]);
}

#[test]
fn statements_stand_in_their_composites() {
    accepted(&program(
        "int->int splitjoin Test { split roundrobin(1, 2); add Pass(1); add Pass(2); join roundrobin; }",
    ));
    refused(
        &program("int->int pipeline Test { add Pass(1); split duplicate; }"),
        &["`split` cannot stand here"],
    );
    refused(&program("int->int pipeline Test { body Pass(1); }"), &["`body` cannot stand here"]);
    refused(
        &program("int->int splitjoin Test { split duplicate; add Pass(1); enqueue 1; join roundrobin; }"),
        &["`enqueue` cannot stand here"],
    );
    refused(
        &program(
            "int->int feedbackloop Test { join roundrobin; body Pass(1); add Pass(2); loop Pass(3); split roundrobin; enqueue 0; }",
        ),
        &["`add` cannot stand here"],
    );
}

#[test]
fn splits_and_joins_are_there_once_on_every_way() {
    accepted(&program(
        "int->int splitjoin Test { if (true) split duplicate; else split roundrobin; add Pass(1); join roundrobin; }",
    ));
    refused(
        &program("int->int splitjoin Test { split duplicate; add Pass(1); }"),
        &["a splitjoin without `join`"],
    );
    hinted(
        &program("int->int splitjoin Test { split duplicate; add Pass(1); }"),
        "write `join roundrobin(1, 1);` in it",
    );
    refused(
        &program(
            "int->int splitjoin Test { split duplicate; add Pass(1); join roundrobin; join roundrobin; }",
        ),
        &["a splitjoin has one `join`"],
    );
    refused(
        &program("int->int splitjoin Test { if (true) split duplicate; add Pass(1); join roundrobin; }"),
        &["a splitjoin needs a `split` on every way through it"],
    );
    refused(
        &program(
            "int->int splitjoin Test { if (true) return; split duplicate; add Pass(1); join roundrobin; }",
        ),
        &[
            "a splitjoin needs a `split` on every way through it",
            "a splitjoin needs a `join` on every way through it",
        ],
    );
}

#[test]
fn loops_have_all_four_parts() {
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
    refused(&test("roundrobin(1.5)", "roundrobin"), &["an `int` is wanted here, not a `float`"]);
    refused(&test("duplicate", "roundrobin(-1)"), &["a weight cannot be negative"]);
    refused(&test("duplicate", "duplicate"), &["`join` cannot duplicate"]);
}

#[test]
fn streams_get_arguments_of_their_parameters_types() {
    accepted(&program("int->int pipeline Test { for (int i = 0; i < 3; i++) add Pass(i); }"));
    refused(&program("int->int pipeline Test { add Pass(); }"), &["`Pass` takes 1 argument, not 0"]);
    refused(
        &program("int->int pipeline Test { add Pass(1.5); }"),
        &["an `int` is wanted here, not a `float`"],
    );
    refused(&program("int->int pipeline Test { add Pass<int>(1); }"), &["`Pass` takes no type"]);
    refused(&program("int->int pipeline Test { add Past(1); }"), &["there is no stream `Past`"]);
}

#[test]
fn streams_of_the_language_carry_a_type() {
    accepted(
        "void->void pipeline Main { add FileReader<float>(\"in\"); add Identity<float>(); add FileWriter<float>(\"out\"); }",
    );
    refused(
        "void->void pipeline Main { add FileReader<float>(1); }",
        &["a `String` is wanted here, not an `int`"],
    );
    refused(
        "void->void pipeline Main { add FileReader<float>(); }",
        &["`FileReader` takes 1 argument, not 0"],
    );
    refused("void->void pipeline Main { add Identity<void>(); }", &["nothing can be kept in a `void`"]);
    accepted(&program("int->int pipeline Test { add Identity(); add Pass(1); }"));
    refused(
        "void->void pipeline Main { add FileReader(\"in\"); add Identity(); add FileWriter(\"out\"); }",
        &["`FileReader` of which type?", "`Identity` of which type?", "`FileWriter` of which type?"],
    );
}

#[test]
fn enqueued_items_are_of_the_loops_type() {
    let loops = |types: &str, body: &str, value: &str| {
        format!(
            "void->void pipeline Main {{ add Loop(); add FileWriter<float>(\"out\"); }}
             float->float filter Pass() {{ work pop 1 push 1 {{ push(pop()); }} }}
             {types} feedbackloop Loop {{ join roundrobin(0, 1); body {body}; loop Identity<float>(); split duplicate; enqueue {value}; for (int i = 0; i < 2; i++) enqueue i; }}"
        )
    };
    accepted(&loops("void->float", "Pass()", "1"));
    refused(&loops("void->float", "Pass()", "2i"), &["a `float` is wanted here, not a `complex`"]);
}

#[test]
fn enqueued_items_are_converted_wherever_they_stand() {
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
