//! Changes that mean nothing.

use crate::cases::{Finding, equal, for_each};
use crate::run::{ITERATIONS, compiled_text, execute, run};
use thalweg_lang::generate::rewrite::{Rewrite, renamed};
use thalweg_lang::generate::{Choices, Options, Program};

/// What rewriting does not change: the numbers of filters, on which `random()` depends.
fn unnumbered() -> Options {
    Options { random: false, ..Options::default() }
}

fn means_the_same(rewrite: Rewrite) {
    for_each(12, &unnumbered(), |program, seed| {
        let other = rewrite.apply(program, &mut Choices::seeded(seed));
        compare(program, &other.to_string())
    });
}

/// The filters do the same; in which order they do it may differ.
fn compare(program: &Program, other: &str) -> Finding {
    let first = run(program, ITERATIONS)?;
    let second = execute(&compiled_text(other).map_err(|why| format!("{why}\n{other}"))?, &program.inputs, ITERATIONS);
    let ends = (first.end.as_ref().map(|_| ()), second.end.as_ref().map(|_| ()));
    if first.by_filter() == second.by_filter() && first.files == second.files && ends.0 == ends.1 {
        return Ok(());
    }
    equal("rewritten", &second, &first).map_err(|why| format!("{why}\n{other}"))
}

#[test]
fn wrapping_means_nothing() {
    means_the_same(Rewrite::Wrap);
}

#[test]
fn surrounding_means_nothing() {
    means_the_same(Rewrite::Surround);
}

#[test]
fn identities_mean_nothing() {
    means_the_same(Rewrite::Identities);
}

#[test]
fn nesting_means_nothing() {
    means_the_same(Rewrite::Nest);
}

#[test]
fn whether_filters_have_names_means_nothing() {
    means_the_same(Rewrite::Names);
}

#[test]
fn parameters_may_be_written_out() {
    means_the_same(Rewrite::Inline);
}

#[test]
fn loops_and_recursion_may_be_written_out() {
    means_the_same(Rewrite::Unroll);
}

#[test]
fn weights_may_be_left_out() {
    means_the_same(Rewrite::Weights);
}

#[test]
fn other_names_mean_nothing() {
    for_each(12, &Options::default(), |program, _| compare(program, &renamed(&program.to_string())));
}

#[test]
fn several_changes_mean_nothing() {
    for_each(12, &unnumbered(), |program, seed| {
        let mut choices = Choices::seeded(seed);
        let rewrites = [(); 4].map(|()| *choices.pick(&Rewrite::ALL));
        let mut other = program.clone();
        // Written out once only: what is written out twice would have the same names twice.
        for (at, rewrite) in rewrites.iter().enumerate().filter(|(at, rewrite)| !rewrites[..*at].contains(rewrite)) {
            let _ = at;
            other = rewrite.apply(&other, &mut choices);
        }
        compare(program, &other.to_string())
    });
}
