//! Parses arbitrary text: the parser terminates without a panic, and a program without errors prints as text that
//! parses to the same program.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_lang::{Sources, parse};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let sources = Sources::of("fuzz.str", text);
    let (program, errors) = parse(&sources);
    for error in &errors {
        // Panics if the span is not in the text.
        let _ = sources.text(error.span);
    }
    if errors.is_empty() {
        let printed = program.to_string();
        let (again, errors) = parse(&Sources::of("printed.str", printed.clone()));
        assert_eq!(errors, Vec::new(), "{printed}");
        assert_eq!(again.to_string(), printed);
    }
});
