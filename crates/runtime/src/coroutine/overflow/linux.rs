//! The signal that the guard page of a coroutine's stack raises.
//!
//! The handler looks whether a coroutine runs on the thread, and the address is in its guard page.
//! Then it says which and aborts; anything else goes to the handler that was there before, such as
//! that of `std`, which reports the overflow of a thread's own stack.
//!
//! It runs on a stack of its own (`sigaltstack`), since there is no room on the one that overflowed.
//! Threads of `std` have one; others get one here.

use crate::coroutine::fiber::{Header, current};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::sync::{Once, OnceLock};

/// Before any coroutine begins on this thread.
pub(in crate::coroutine) fn arm() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| [&SEGV, &BUS].into_iter().for_each(Handler::install));
    ALTERNATE.with(Alternate::make);
}

/// A signal, and how it was handled before.
struct Handler {
    signal: c_int,
    before: OnceLock<libc::sigaction>,
}

static SEGV: Handler = Handler { signal: libc::SIGSEGV, before: OnceLock::new() };
static BUS: Handler = Handler { signal: libc::SIGBUS, before: OnceLock::new() };

impl Handler {
    /// Where the system refuses, an overflow is reported as it would have been.
    fn install(&'static self) {
        let mut before = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: asks, and changes nothing.
        if unsafe { libc::sigaction(self.signal, std::ptr::null(), before.as_mut_ptr()) } != 0 {
            return;
        }
        // SAFETY: the call has filled it in.
        let _ = self.before.set(unsafe { before.assume_init() });
        // SAFETY: all zero is a valid `sigaction`; the handler does what a handler may.
        unsafe {
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_fault as *const () as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(self.signal, &ours, std::ptr::null_mut());
        }
    }

    /// Does what would have been done without us.
    ///
    /// # Safety
    /// Called in a handler of the signal, with its arguments.
    unsafe fn pass_on(&self, info: *mut libc::siginfo_t, context: *mut c_void) {
        let before = self.before.get().filter(|before| before.sa_sigaction > libc::SIG_IGN);
        let Some(before) = before else {
            // The default, which ends the program when the instruction faults again.
            // SAFETY: `signal` may be called in handlers.
            unsafe { libc::signal(self.signal, libc::SIG_DFL) };
            return;
        };
        // SAFETY: it was the signal's handler, and its flags say of which kind.
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

/// Nothing here may allocate or lock: the thread may hold any lock.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the signal was raised by a fault, and so has an address.
    let address = unsafe { (*info).si_addr() }.addr();
    if let Some(header) = current().filter(|header| header.guards(address)) {
        report(header);
    }
    let handler = if signal == libc::SIGBUS { &BUS } else { &SEGV };
    // SAFETY: these are the arguments.
    unsafe { handler.pass_on(info, context) };
}

fn report(header: &Header) -> ! {
    let mut digits = [0; 20];
    let bytes = decimal(header.bytes(), &mut digits);
    let words = [
        b"\nprocess `",
        header.name().as_bytes(),
        b"` has overflowed its stack of ",
        bytes,
        b" bytes: declare it with more, `kernel(...).stack(bytes).coroutine(...)`\n",
    ];
    for word in words {
        // SAFETY: `write` may be called in handlers, and the bytes are there.
        unsafe { libc::write(libc::STDERR_FILENO, word.as_ptr().cast(), word.len()) };
    }
    std::process::abort()
}

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

/// Bytes of a handler's stack where `std` has made none.
const BYTES: usize = 64 << 10;

/// This thread's stack for handlers, if it was made here.
struct Alternate {
    /// Where it lies; null where the thread had one.
    made: Cell<Option<*mut c_void>>,
}

impl Alternate {
    fn make(&self) {
        if self.made.get().is_none() {
            self.made.set(Some(if has_one() { std::ptr::null_mut() } else { make_one() }));
        }
    }
}

fn has_one() -> bool {
    let mut stack = MaybeUninit::<libc::stack_t>::zeroed();
    // SAFETY: asks, and changes nothing; all zero is a valid `stack_t`.
    unsafe {
        libc::sigaltstack(std::ptr::null(), stack.as_mut_ptr());
        stack.assume_init().ss_flags & libc::SS_DISABLE == 0
    }
}

/// Null where there is no memory: then an overflow ends the program without a word.
fn make_one() -> *mut c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    // SAFETY: a new mapping, which is this thread's handlers' until `drop`.
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
        // SAFETY: made by `make_one`; handlers of this thread no longer use it after the first call.
        unsafe {
            let none = libc::stack_t { ss_sp: std::ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
            libc::sigaltstack(&none, std::ptr::null_mut());
            libc::munmap(low, BYTES);
        }
    }
}
