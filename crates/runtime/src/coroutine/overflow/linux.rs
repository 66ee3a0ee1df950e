//! The handler of the signal that an access to a guard page raises.
//!
//! If a coroutine runs on the thread, and the address lies in its guard page, the handler names its process and aborts.
//! It passes all other faults to the handler that was installed before, such as that of `std`, which reports the
//! overflow of a thread's own stack.
//!
//! The handler runs on an alternate stack (`sigaltstack`), since the stack that overflowed has no room. `std` makes one
//! for its threads; [`arm`] makes one for other threads.
//!
//! # What the handler may access
//!
//! It interrupts any code of its thread, which may hold any lock: it neither allocates nor locks.
//!
//! | data | why it is valid |
//! |---|---|
//! | `CURRENT` of [`fiber`](crate::coroutine::fiber), and the header | its own thread's; the header is complete before `CURRENT` refers to it |
//! | `Handler::before` | set before this handler is installed |
//!
//! # Order of installation
//!
//! `install` reads the previous handler, stores it in `before`, and then installs this one. Otherwise a fault between
//! the two calls would find no handler to pass on to.

use crate::coroutine::fiber::{Header, current};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::{Once, OnceLock};

/// Prepares this thread, and once the process, for the report of overflows. Called before a coroutine begins on the
/// thread.
pub(in crate::coroutine) fn arm() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| [&SEGV, &BUS].into_iter().for_each(Handler::install));
    ALTERNATE.with(Alternate::make);
}

/// A signal that a fault raises.
struct Handler {
    signal: c_int,
    /// The action before `install`.
    before: OnceLock<libc::sigaction>,
}

static SEGV: Handler = Handler { signal: libc::SIGSEGV, before: OnceLock::new() };
static BUS: Handler = Handler { signal: libc::SIGBUS, before: OnceLock::new() };

impl Handler {
    /// Installs the handler, once. If the system refuses, overflows are reported as before.
    fn install(&'static self) {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: with a null action the call only writes the present action to `before`, which has room for it.
        if unsafe { libc::sigaction(self.signal, std::ptr::null(), before.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: the call has succeeded, so it has written the action.
        let _ = self.before.set(unsafe { before.assume_init() });
        // SAFETY: all zero is a valid `sigaction`. `on_fault` has the signature that `SA_SIGINFO` requires, lives for
        // ever, and calls only functions that are safe in a signal handler.
        unsafe {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_fault as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(self.signal, &ours, std::ptr::null_mut());
        }
    }

    /// Handles a fault as the action before `install` would have.
    ///
    /// # Safety
    /// The caller is the handler of this signal, and passes its own arguments.
    unsafe fn pass_on(&self, info: *mut libc::siginfo_t, context: *mut c_void) {
        let before = self.before.get().filter(|before| before.sa_sigaction > libc::SIG_IGN);
        let Some(before) = before else {
            // The default action ends the program when the instruction faults again, after this handler has returned.
            // SAFETY: `signal` is async-signal-safe.
            unsafe { libc::signal(self.signal, libc::SIG_DFL) };
            return;
        };
        // SAFETY: the address was the signal's handler, as it is neither the default nor to ignore; its flags say which
        // of the two signatures it has. The arguments are valid by this function's contract.
        unsafe {
            if before.sa_flags & libc::SA_SIGINFO == 0 {
                let handler: extern "C" fn(c_int) = std::mem::transmute(before.sa_sigaction);
                handler(self.signal);
            } else {
                let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(before.sa_sigaction);
                handler(self.signal, info, context);
            }
        }
    }
}

/// The handler. It may neither allocate nor lock.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid `info` to a handler with `SA_SIGINFO`, and both signals have an address.
    let address = unsafe { (*info).si_addr() }.addr();
    if let Some(header) = current().filter(|header| header.guard_contains(address)) {
        report(header);
    }
    let handler = if signal == libc::SIGBUS { &BUS } else { &SEGV };
    // SAFETY: this is the handler of `signal`, and these are its arguments.
    unsafe { handler.pass_on(info, context) };
}

/// Names the process whose stack has overflowed, and aborts.
fn report(header: &Header) -> ! {
    let mut digits = [0; 20];
    let bytes = decimal(header.bytes(), &mut digits);
    let words = [
        b"\nprocess `",
        header.name().as_bytes(),
        b"` has overflowed its stack of ",
        bytes,
        b" bytes\nhelp: give it more with `kernel(...).stack(bytes).coroutine(...)`\n",
    ];
    for word in words {
        // SAFETY: `write` is async-signal-safe, and `word` is a valid slice.
        unsafe { libc::write(libc::STDERR_FILENO, word.as_ptr().cast(), word.len()) };
    }
    std::process::abort()
}

/// The decimal digits of a number, without allocation: 20 suffice for 64 bits.
fn decimal(mut number: usize, digits: &mut [u8; 20]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &digits[at..];
        }
    }
}

thread_local! {
    static ALTERNATE: Alternate = const { Alternate { made: Cell::new(None) } };
}

/// Bytes of an alternate stack that is made here.
const BYTES: usize = 64 << 10;

/// A thread's alternate stack. Unmapped when the thread ends, if it was made here.
struct Alternate {
    /// `None` before the first coroutine begins on the thread. Otherwise the lowest address of the stack that was made
    /// here; null if the thread had one, or the system has refused one.
    made: Cell<Option<*mut c_void>>,
}

impl Alternate {
    /// Makes the stack, at the first call on a thread that has none.
    fn make(&self) {
        if self.made.get().is_none() {
            let made = if has_alternate_stack() { std::ptr::null_mut() } else { make_alternate_stack() };
            self.made.set(Some(made));
        }
    }
}

/// Whether this thread has an alternate stack.
fn has_alternate_stack() -> bool {
    let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: with a null new stack the call only writes the present one to `stack`, which has room for it; if it
    // fails, `stack` is all zero, which is a valid `stack_t`.
    unsafe {
        libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr());
        stack.assume_init().ss_flags & libc::SS_DISABLE == 0
    }
}

/// Makes an alternate stack for this thread, and returns its lowest address. Null if the system refuses the memory: an
/// overflow then ends the program without a report.
fn make_alternate_stack() -> *mut c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    // SAFETY: a new mapping replaces no other. Only signal handlers of this thread use it, until `drop` removes it.
    unsafe {
        let low = libc::mmap(std::ptr::null_mut(), BYTES, access, flags, -1, 0);
        if low == libc::MAP_FAILED {
            return std::ptr::null_mut();
        }
        libc::sigaltstack(&libc::stack_t { ss_sp: low, ss_flags: 0, ss_size: BYTES }, std::ptr::null_mut());
        low
    }
}

impl Drop for Alternate {
    fn drop(&mut self) {
        let Some(low) = self.made.take().filter(|low| !low.is_null()) else { return };
        // SAFETY: `make_alternate_stack` has mapped `BYTES` bytes at `low`. After the first call no handler of this
        // thread uses them, and none runs on them now, since a thread ends outside handlers.
        unsafe {
            let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            libc::sigaltstack(&none, std::ptr::null_mut());
            libc::munmap(low, BYTES);
        }
    }
}
