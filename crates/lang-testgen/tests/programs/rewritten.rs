//! Rewrites that preserve the meaning of a program.

use crate::cases::{Finding, equal, for_each};
use crate::run::{ITERATIONS, Run, compiled_text, execute, run};
use thalweg_lang_testgen::rewrite::{Rewrite, renamed};
use thalweg_lang_testgen::{Choices, Options, Program};

/// Whether the rewrite changes the graph of filters.
fn adds_nodes(rewrite: Rewrite) -> bool {
    matches!(rewrite, Rewrite::Surround | Rewrite::Identities)
}

fn check_rewrite(rewrite: Rewrite) {
    // `random()` depends on the number of its filter.
    let options = Options { random: !adds_nodes(rewrite), ..Options::default() };
    for_each(12, &options, |program, seed| {
        let other = rewrite.apply(program, &mut Choices::seeded(seed));
        compare(program, &other.to_string(), adds_nodes(rewrite))
    });
}

/// Checks that the rewritten program behaves the same: firing by firing if the rewrite adds no nodes. With more
/// nodes, the initialisation may advance further, and the last steady state of a dynamic region may differ.
fn compare(program: &Program, other: &str, adds_nodes: bool) -> Finding {
    let first = run(program, ITERATIONS)?;
    let compiled = compiled_text(other).map_err(|why| format!("{why}\n{other}"))?;
    let second = execute(&compiled, &program.inputs, ITERATIONS);
    let result = match (&first.end, &second.end) {
        (Ok(_), Ok(_)) if adds_nodes => alike(&first, &second),
        _ => equal("the rewritten program", &second, &first),
    };
    result.map_err(|why| format!("{why}\n{other}"))
}

/// For the lines of each filter and for each file, one run's output is a prefix of the other's.
fn alike(first: &Run, second: &Run) -> Finding {
    let (lines, others) = (first.by_filter(), second.by_filter());
    let prefix = lines.iter().find(|(filter, lines)| {
        others.get(*filter).is_some_and(|others| lines.iter().zip(others).any(|(line, other)| line != other))
    });
    let file = first.files.iter().find(|(name, bytes)| {
        let count = bytes.len().min(second.files[*name].len()).saturating_sub(1);
        bytes[..count] != second.files[*name][..count]
    });
    match (prefix, file) {
        (None, None) => Ok(()),
        (Some((filter, lines)), _) => Err(format!("{filter} prints {lines:?} and {:?}", others[filter])),
        (_, Some((name, _))) => Err(format!("{name} has a different prefix")),
    }
}

#[test]
fn wrapping_preserves_meaning() {
    check_rewrite(Rewrite::Wrap);
}

#[test]
fn surrounding_preserves_meaning() {
    check_rewrite(Rewrite::Surround);
}

#[test]
fn adding_identities_preserves_meaning() {
    check_rewrite(Rewrite::Identities);
}

#[test]
fn nesting_preserves_meaning() {
    check_rewrite(Rewrite::Nest);
}

#[test]
fn naming_filters_preserves_meaning() {
    check_rewrite(Rewrite::Names);
}

#[test]
fn inlined_parameters_preserve_meaning() {
    check_rewrite(Rewrite::Inline);
}

#[test]
fn unrolled_loops_preserve_meaning() {
    check_rewrite(Rewrite::Unroll);
}

#[test]
fn default_weights_preserve_meaning() {
    check_rewrite(Rewrite::Weights);
}

#[test]
fn renaming_identifiers_preserves_meaning() {
    for_each(12, &Options::default(), |program, _| compare(program, &renamed(&program.to_string()), false));
}

#[test]
fn several_rewrites_preserve_meaning() {
    let options = Options { random: false, ..Options::default() };
    for_each(12, &options, |program, seed| {
        let mut choices = Choices::seeded(seed);
        let rewrites = [(); 4].map(|()| *choices.pick(&Rewrite::ALL));
        let mut other = program.clone();
        // Each rewrite is applied once: applied twice, it would declare the same names twice.
        for (at, rewrite) in rewrites.iter().enumerate() {
            if !rewrites[..at].contains(rewrite) {
                other = rewrite.apply(&other, &mut choices);
            }
        }
        compare(program, &other.to_string(), rewrites.into_iter().any(adds_nodes))
    });
}
