//! Mutated programs: the compiler neither panics nor takes long, and errors have valid locations.

use crate::cases::seeds;
use std::time::{Duration, Instant};
use thalweg_lang::elaborate::Limits;
use thalweg_lang::{Diagnostic, Sources, Span, compile_within};
use thalweg_lang_testgen::mutate::mutated;
use thalweg_lang_testgen::{Choices, Options, generate};

/// Small limits of elaboration, which is not what these tests check.
fn limits() -> Limits {
    Limits { steps: 200_000, words: 1 << 23, streams: 2000, ..Limits::default() }
}

/// The time limit of one compilation; generous enough for a loaded machine and an unoptimised build.
const LONG: Duration = Duration::from_secs(20);

fn check(text: &str) {
    let sources = Sources::of("mutated.str", text);
    let begun = Instant::now();
    let errors = compile_within(&sources, &limits()).err().unwrap_or_default();
    for error in &errors {
        check_place(error.span, text);
        error.others.iter().for_each(|(span, _)| check_place(*span, text));
        assert!(error.render(&sources, false).contains("mutated.str"), "{error:?}");
        assert!(!error.message.is_empty());
    }
    check_count(&errors);
    let taken = begun.elapsed();
    assert!(taken < LONG, "compiling took {taken:?}");
}

fn check_place(span: Span, text: &str) {
    assert!(span.file() == 0 && span.start() <= span.end(), "{span:?}");
    assert!(
        text.get(span.start() as usize..span.end() as usize).is_some(),
        "{span:?} in {} bytes",
        text.len()
    );
}

fn check_count(errors: &[Diagnostic]) {
    assert!(errors.len() <= 1000, "{} errors", errors.len());
}

#[test]
fn mutated_programs_are_rejected_without_panic() {
    let options = Options { depth: 2, ..Options::default() };
    for seed in seeds(100) {
        let mut choices = Choices::seeded(seed);
        let [text, other] =
            [(); 2].map(|()| generate(&mut Choices::seeded(choices.below(u32::MAX).into()), &options));
        let (text, other) = (text.to_string(), other.to_string());
        for _ in 0..4 {
            let text = mutated(&text, &other, &mut choices);
            let checked = std::panic::catch_unwind(|| check(&text));
            if checked.is_err() {
                panic!("THALWEG_SEED={seed}: of the text\n{text}");
            }
        }
    }
}
