//! Arbitrary text as a machine: reading it terminates without a panic, and a machine that is read reads back as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_machine::Machine;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(machine) = Machine::read(&String::from_utf8_lossy(bytes)) {
        assert_eq!(Machine::read(&machine.to_string()).as_ref(), Ok(&machine));
        assert!(!machine.levels().is_empty() && machine.threads() >= 1);
    }
});
