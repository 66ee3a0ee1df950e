//! Standard streams that were closed when the process was started, as by `<&-` or `>&-`.
//!
//! Before `main`, Rust's standard library opens `/dev/null` in place of a closed stream, so that no other file gets its
//! number. Input would then seem empty, and output would be lost without an error. So they are examined before that.

use std::io;

/// Fails if standard input was closed.
pub(super) fn check_stdin() -> io::Result<()> {
    check(at_start::stdin_was_closed(), "standard input is closed")
}

/// Fails if standard output was closed.
pub(super) fn check_stdout() -> io::Result<()> {
    check(at_start::stdout_was_closed(), "standard output is closed")
}

fn check(was_closed: bool, message: &str) -> io::Result<()> {
    if was_closed { Err(io::Error::other(message)) } else { Ok(()) }
}

#[cfg(unix)]
mod at_start {
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio::{stdin, stdout};

    static STDIN: AtomicBool = AtomicBool::new(false);
    static STDOUT: AtomicBool = AtomicBool::new(false);

    /// Runs before the standard library is initialised: it makes system calls, and writes to statics, and needs nothing
    /// else.
    #[ctor::ctor(unsafe)]
    fn examine() {
        STDIN.store(fcntl_getfd(stdin()) == Err(Errno::BADF), Ordering::Relaxed);
        STDOUT.store(fcntl_getfd(stdout()) == Err(Errno::BADF), Ordering::Relaxed);
    }

    pub(super) fn stdin_was_closed() -> bool {
        STDIN.load(Ordering::Relaxed)
    }

    pub(super) fn stdout_was_closed() -> bool {
        STDOUT.load(Ordering::Relaxed)
    }
}

#[cfg(not(unix))]
mod at_start {
    pub(super) fn stdin_was_closed() -> bool {
        false
    }

    pub(super) fn stdout_was_closed() -> bool {
        false
    }
}
