//! The lock of standard output stays on its thread; `std::io::stdout()` itself may go to any.

use std::io::Write;

fn main() {
    let mut out = std::io::stdout().lock();
    thalweg::from_iter(0..10u64).for_each(move |n| writeln!(out, "{n}")).run().unwrap();
}
