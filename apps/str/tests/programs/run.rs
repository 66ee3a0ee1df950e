//! Runs a program with the interpreter.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use thalweg_lang::interpret::{Options, Stop, Surroundings, interpret};
use thalweg_lang::{Diagnostic, Sources, compile};
use thalweg_str::{Item, Memory, Program};

/// The output of the program `name` for this whole input, with some constants changed.
pub(crate) fn run<I: Item, O: Item>(name: &str, changes: &[(&str, String)], input: &[I]) -> Vec<O> {
    let memory = Memory::new().with(format!("{name}.in"), input);
    let printed = execute(name, changes, memory.clone(), None);
    assert_eq!(printed, "");
    memory.items(&format!("{name}.out")).expect("the program writes items of this type")
}

/// The text that a program without input prints in `iterations` steady states.
pub(crate) fn printed_by(name: &str, iterations: u64) -> String {
    execute(name, &[], Memory::new(), Some(iterations))
}

fn execute(name: &str, changes: &[(&str, String)], mut memory: Memory, iterations: Option<u64>) -> String {
    let changes: Vec<(&str, &str)> = changes.iter().map(|(name, value)| (*name, &**value)).collect();
    let sources = Program::named(name).expect("a program").sources(&changes).expect("its constants");
    let compiled = compile(&sources).unwrap_or_else(|errors| panic!("{}", rendered(&sources, &errors)));
    let out = SharedBuffer::default();
    let around = Surroundings {
        files: &mut memory,
        out: Box::new(out.clone()),
        interrupted: Box::new(|| false),
        progress: &mut |_| {},
    };
    match interpret(&Arc::new(compiled), Options { iterations, repeat_input: false }, around) {
        Ok(_) => String::from_utf8(std::mem::take(&mut out.0.lock().unwrap())).expect("text"),
        Err(Stop::Fault(fault)) => panic!("{}", rendered(&sources, &[*fault])),
        Err(stop) => panic!("{stop:?}"),
    }
}

fn rendered(sources: &Sources, errors: &[Diagnostic]) -> String {
    errors.iter().map(|error| error.render(sources, false)).collect()
}

#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Asserts that there are as many numbers as expected, at least one, and that each is within the tolerance.
pub(crate) fn assert_close(actual: &[f32], expected: &[f64], tolerance: f64) {
    assert!(!actual.is_empty(), "no output");
    assert_eq!(actual.len(), expected.len());
    let error = |at: &usize| (f64::from(actual[*at]) - expected[*at]).abs();
    let worst = (0..actual.len()).max_by(|a, b| error(a).total_cmp(&error(b))).unwrap_or(0);
    assert!(error(&worst) <= tolerance, "item {worst} is {}, expected {}", actual[worst], expected[worst]);
}
