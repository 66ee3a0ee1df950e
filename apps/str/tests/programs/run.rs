//! Running a program.

use std::fmt::Display;
use thalweg_str::{Item, Memory, Program};

/// What the program `name`, with constants changed, makes of items to the end of its input.
pub(crate) fn run<I: Item, O: Item>(name: &str, changes: &[(&str, String)], input: &[I]) -> Vec<O> {
    let memory = Memory::new().with(format!("{name}.in"), input);
    interpret(name, changes, &memory, None);
    memory.items(&format!("{name}.out")).expect("the program has written items of this type")
}
