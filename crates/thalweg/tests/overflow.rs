//! A stack overflow aborts the program with a message that names the process. Each case runs in a child process: this
//! test program, started with the name of one test.
#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use thalweg::{Graph, Options, input, output};

/// The environment variable that is set in a child.
const CHILD: &str = "THALWEG_OVERFLOWS";
const ABORTED: i32 = 6;

/// Uses at least 256 bytes of stack for each level, and returns.
#[inline(never)]
fn deep(levels: u64) -> u64 {
    let place = std::hint::black_box([levels; 32]);
    if levels == 0 { 0 } else { deep(levels - 1) + place[(levels % 32) as usize] / levels.max(1) }
}

/// Whether this process is the child.
fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the test `name` in a child process.
fn child(name: &str) -> Output {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    let path = format!("overflow::{name}");
    command.args(["--exact", &path, "--nocapture", "--test-threads=1"]).env(CHILD, "1");
    command.output().unwrap()
}

/// A network in which the coroutine `greedy` recurses `levels` deep, on a stack of `bytes` or of the default size.
fn run(levels: u64, bytes: Option<usize>, options: &Options) -> u64 {
    let graph = Graph::new();
    let numbers = graph.coroutine("modest", (), output("out"), |(), mut tx| {
        (0..10).for_each(|i: u64| tx.send(i));
    });
    let kernel = graph.kernel("greedy", input("in", numbers), output("out"));
    let kernel = if let Some(bytes) = bytes { kernel.stack(bytes) } else { kernel };
    let sums = kernel.coroutine(move |rx, mut tx| {
        rx.for_each(|i| tx.send(if i == 5 { deep(levels) } else { 1 }));
    });
    sums.start_with(options).unwrap().sum()
}

#[test]
fn an_overflow_names_the_process() {
    if is_child() {
        run(1_000_000, None, &Options::new().threads(2));
        unreachable!("the stack overflowed");
    }
    let output = child("an_overflow_names_the_process");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORTED), "{error}");
    assert!(error.contains("process `greedy` has overflowed its stack of 65536 bytes"), "{error}");
}

#[test]
fn an_overflow_on_a_thread_of_its_own_names_the_process() {
    if is_child() {
        run(1_000_000, Some(100_000), &Options::new().thread_per_node());
        unreachable!("the stack overflowed");
    }
    let output = child("an_overflow_on_a_thread_of_its_own_names_the_process");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORTED), "{error}");
    assert!(error.contains("process `greedy` has overflowed its stack of 102400 bytes"), "{error}");
}

#[test]
fn a_larger_stack_does_not_overflow() {
    assert_eq!(run(5_000, Some(8 << 20), &Options::new().threads(2)), 9 + 5_000);
}

/// `std` still reports overflows of thread stacks.
#[test]
fn a_thread_that_overflows_is_still_reported() {
    if is_child() {
        run(1, None, &Options::new().threads(1));
        std::hint::black_box(deep(100_000_000));
        unreachable!("the stack overflowed");
    }
    let output = child("a_thread_that_overflows_is_still_reported");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(ABORTED), "{error}");
    assert!(error.contains("has overflowed its stack") && !error.contains("process `"), "{error}");
}

/// A panic prints its backtrace on the coroutine's stack, which has room for it.
#[test]
fn a_panic_with_its_backtrace_fits() {
    if is_child() {
        let graph = Graph::new();
        graph.coroutine("panics", (), (), |(), ()| {
            let nothing: Option<u8> = std::hint::black_box(None);
            nothing.expect("something");
        });
        let error = graph.run().unwrap_err().to_string();
        assert!(error.contains("node `panics` panicked: something"), "{error}");
        return;
    }
    for backtrace in ["0", "1", "full"] {
        let program = std::env::current_exe().unwrap();
        let arguments = ["--exact", "overflow::a_panic_with_its_backtrace_fits", "--nocapture"];
        let mut command = Command::new(program);
        let output =
            command.args(arguments).env(CHILD, "1").env("RUST_BACKTRACE", backtrace).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        // A path that names no test succeeds, too.
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "no such test");
    }
}
