//! StreamIt's parser on arbitrary text: it ends, without a panic, and what it read without errors prints as
//! text that is read as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_lang::{Sources, parse};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let sources = Sources::of("fuzz.str", text);
    let (program, errors) = parse(&sources);
    for error in &errors {
        // Panics where it does not lie in the text.
        let _ = sources.text(error.span);
    }
    if errors.is_empty() {
        let printed = program.to_string();
        let (again, errors) = parse(&Sources::of("printed.str", printed.clone()));
        assert_eq!(errors, Vec::new(), "{printed}");
        assert_eq!(again.to_string(), printed);
    }
});
