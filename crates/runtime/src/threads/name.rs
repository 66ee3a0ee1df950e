//! The name of a thread, as the system's tools show it. For diagnosis only: errors are ignored.

/// Names this thread for the system's tools. The name is cached per thread, so a repeated call makes no system call.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn name_thread(name: &str) {
    use std::cell::Cell;
    const BYTES: usize = 15; // Linux keeps no more
    thread_local!(static NAME: Cell<([u8; BYTES], usize)> = const { Cell::new(([0; BYTES], 0)) });
    let (mut bytes, length) = ([0; BYTES], name.len().min(BYTES));
    bytes[..length].copy_from_slice(&name.as_bytes()[..length]);
    if NAME.try_with(|now| now.replace((bytes, length)) != (bytes, length)) != Ok(false)
        && let Ok(name) = std::ffi::CString::new(&bytes[..length])
    {
        // SAFETY: `name` ends with a zero, and the call keeps no pointer to it. A refusal has no effect.
        unsafe { libc::prctl(libc::PR_SET_NAME, name.as_ptr()) };
    }
}

/// No effect on this system.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub(crate) fn name_thread(_name: &str) {}
