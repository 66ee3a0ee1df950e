//! A stack that overflows, or cannot be unwound, ends the program with a line that names the process.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
pub(super) use linux::arm;

/// Overflows are the system's to report here.
#[cfg(not(target_os = "linux"))]
pub(super) fn arm() {}

/// Ends the program: the coroutine `name` waits, and cannot be unwound.
pub(super) fn stranded(name: &str) -> ! {
    use std::io::Write;
    let why = "its run is over or it can reach no live node, and it cannot be unwound (panic = \"abort\"?)";
    // Whether it can be written or not, there is no way on.
    let _ = writeln!(std::io::stderr(), "process `{name}` still waits: {why}");
    std::process::abort()
}
