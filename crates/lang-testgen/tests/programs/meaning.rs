//! Properties of each random program.

use crate::cases::{Finding, equal, for_each};
use crate::run::{ITERATIONS, Run, compiled, compiled_text, execute, run};
use thalweg_lang::{Sources, parse};
use thalweg_lang_testgen::{Options, from_seed};

#[test]
fn a_seed_determines_the_program() {
    for seed in 0..50 {
        assert_eq!(from_seed(seed).to_string(), from_seed(seed).to_string());
    }
}

#[test]
fn random_programs_are_deterministic() {
    for_each(50, &Options::default(), |program, _| {
        let compiled = compiled(program)?;
        let first = execute(&compiled, &program.inputs, ITERATIONS);
        first.end.as_ref().map_err(|why| format!("the program fails: {why}"))?;
        equal("a second run", &execute(&compiled, &program.inputs, ITERATIONS), &first)
    });
}

#[test]
fn printed_trees_parse_to_the_same_program() {
    for_each(30, &Options::default(), |program, _| {
        let (tree, _) = parse(&Sources::of("program.str", program.to_string()));
        let printed = tree.to_string();
        let again = parse(&Sources::of("printed.str", printed.clone())).0.to_string();
        if printed != again {
            return Err(format!("the printed text parses to another program:\n{again}"));
        }
        let reprinted = execute(&compiled_text(&printed)?, &program.inputs, ITERATIONS);
        equal("the tree's text", &reprinted, &run(program, ITERATIONS)?)
    });
}

#[test]
fn fewer_iterations_print_a_prefix() {
    for_each(20, &Options::default(), |program, _| {
        let compiled = compiled(program)?;
        let [few, many] = [2, ITERATIONS].map(|count| execute(&compiled, &program.inputs, count));
        if !program.dynamic && !many.printed.starts_with(&few.printed) {
            return Err(format!("not a prefix of {}\n{}", many.printed, few.printed));
        }
        is_prefix(&few, &many)
    });
}

/// The lines of each filter, and each file without its last byte (bits may fill it up), are prefixes.
fn is_prefix(few: &Run, many: &Run) -> Finding {
    let (few_lines, many_lines) = (few.by_filter(), many.by_filter());
    for (filter, lines) in few_lines {
        if !many_lines.get(filter).is_some_and(|all| all.starts_with(&lines)) {
            return Err(format!("{filter} prints other lines: {lines:?}, {:?}", many_lines.get(filter)));
        }
    }
    for (name, bytes) in &few.files {
        let whole = &bytes[..bytes.len().saturating_sub(1)];
        if !many.files.get(name).is_some_and(|all| all.starts_with(whole)) {
            return Err(format!("{name} has a different prefix"));
        }
    }
    Ok(())
}

#[test]
fn faults_stop_random_programs() {
    let options = Options { fault: true, files: false, dynamic: false, ..Options::default() };
    for_each(10, &options, |program, _| match run(program, ITERATIONS)?.end {
        Err(why) if why.contains("in firing") => Ok(()),
        other => Err(format!("the program does not fail: {other:?}")),
    });
}
