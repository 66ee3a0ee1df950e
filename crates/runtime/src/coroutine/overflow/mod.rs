//! The report of a stack that overflows or cannot be unwound: the program aborts with a line that names the process.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::arm;

/// Does nothing: on this system an overflow is reported as the system and `std` report it.
#[cfg(not(target_os = "linux"))]
pub(super) fn arm() {}

/// Ends the program: the coroutine `name` waits, and cannot be unwound.
pub(super) fn stranded(name: &str) -> ! {
    use std::io::Write;
    let why = "its run is over or it can reach no live node, and it cannot be unwound (panic = \"abort\"?)";
    // The program aborts whether or not the line can be written.
    let _ = writeln!(std::io::stderr(), "process `{name}` still waits: {why}");
    std::process::abort()
}
