//! The programs by name.

use thalweg::Options;
use thalweg_danbi::{Program, fft2, filter_bank};

#[test]
fn every_problem_has_the_checksum_of_the_sequential_program() {
    let sums = Program::ALL.map(|program| {
        let problem = program.problem(0.0, 7);
        let (sum, report) = problem.run(&Options::new().threads(2)).expect("a run");
        assert_eq!(sum, problem.sequential(), "{}", program.name());
        assert!(problem.bytes() > 0 && report.wall() > std::time::Duration::ZERO);
        assert_ne!(sum, program.problem(0.0, 8).sequential(), "{}: the seed changes nothing", program.name());
        sum
    });
    assert!((1..sums.len()).all(|at| !sums[..at].contains(&sums[at])), "{sums:?}");
}

#[test]
fn a_problem_is_as_large_as_its_input_and_scales() {
    assert_eq!(Program::FilterBank.problem(0.001, 1).bytes(), 4 * filter_bank::input(0.001, 1).len());
    let bytes = Program::Fft2.problem(1e-5, 1).bytes() as f64;
    let meant = 1e-5 * 1e6 * f64::from(fft2::MEGABYTES);
    assert!((meant - 512.0..=meant).contains(&bytes), "{bytes} of {meant}");
}
