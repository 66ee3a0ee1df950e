//! The models beside exact Markov chains, recorded simulations of ciw, the errata's numbers and a simulation of our own.

mod ciw;
mod domain;
mod errata;
mod markov;
mod pipelines;
mod ranges;
mod simulation;
mod validation;

/// Asserts that `found` is within a share of `expected`.
#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "found {found}, expected {expected}");
}
