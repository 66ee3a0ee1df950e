//! Loops of other systems in this process: libraries that `bench/peers/build.sh` builds from `bench/peers/each`.

use super::executor::Executor;
use crate::peers::external;
use std::ffi::{CStr, c_char, c_int, c_long, c_void};

/// The function that a library exports: see `bench/peers/each/each.h`.
type Each = unsafe extern "C" fn(*const c_char, c_long, c_long, Body, *mut c_void) -> c_int;
type Body = unsafe extern "C" fn(*mut c_void, c_long);

/// A library's loop with one of its schedules.
///
/// It is never unloaded: its threads outlive the loops.
pub struct Library {
    each: Each,
    schedule: &'static CStr,
    threads: c_long,
}

impl Library {
    /// A schedule of the library `name`.
    ///
    /// # Errors
    /// The library was not built, does not load, or has no such schedule.
    pub fn load(name: &str, schedule: &'static CStr, threads: usize) -> Result<Library, String> {
        let path = external::library(name).ok_or_else(|| format!("{name}: not built"))?;
        let said = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: what runs when the libraries load is the initialisers of OpenMP and of oneTBB, which expect to be loaded so.
        let library = unsafe { libloading::Library::new(&path) }.map_err(said)?;
        // SAFETY: both libraries define the function with these parameters (`each.h`).
        let each = *unsafe { library.get::<Each>(c"each") }.map_err(said)?;
        std::mem::forget(library);
        let library = Library { each, schedule, threads: threads as c_long };
        match library.call(0, &|_| ()) {
            0 => Ok(library),
            _ => Err(format!("{name}: no schedule {schedule:?}")),
        }
    }

    fn call<F: Fn(usize) + Sync>(&self, count: usize, body: &F) -> c_int {
        /// Calls the closure behind `context`. A panic ends the process, since it cannot cross the function in C.
        ///
        /// # Safety
        /// `context` is a closure of this type, and lives until the call returns.
        unsafe extern "C" fn one<F: Fn(usize)>(context: *mut c_void, at: c_long) {
            // SAFETY: by the function's own contract.
            let body = unsafe { &*context.cast::<F>() };
            body(at as usize);
        }
        let context = std::ptr::from_ref(body).cast_mut().cast();
        // SAFETY: the name ends in a zero, and `context` is a closure of the type that `one` expects: several threads may share a closure that is `Sync`.
        // It lives until the function returns, which is after all calls.
        unsafe { (self.each)(self.schedule.as_ptr(), self.threads, count as c_long, one::<F>, context) }
    }
}

// SAFETY: `each.h` states that the function calls its body once for each number, and returns after all calls.
unsafe impl Executor for Library {
    fn each(&self, count: usize, body: impl Fn(usize) + Sync + Send) {
        assert_eq!(self.call(count, &body), 0, "the library had the schedule when it was loaded");
    }
}
