//! Stacks carved out of one mapping for each pool.
//!
//! ```text
//!   low                                          high
//!   | guard | stack 0 ... head | guard | stack 1 ... head | ...
//! ```
//!
//! Nothing of it is there before it is touched. A guard page is a mark in the page table where the
//! kernel knows `MADV_GUARD_INSTALL` (Linux 6.13), and the mapping stays one. Elsewhere it is a page
//! without access, which splits the mapping: two mappings for each stack, of the 65,530 that a
//! process usually may have.

use super::HEAD;
use crate::coroutine::fiber::Header;
use crate::error::Error;
use corosensei::stack::StackPointer;
use corosensei::stack::valgrind::ValgrindStackRegistration;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// `libc` does not name it yet.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// How guard pages are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guards {
    /// Marks in the page table.
    Marks,
    /// Mappings of their own.
    Mappings,
}

/// Stacks of one size.
#[derive(Debug)]
pub(crate) struct Pool {
    low: usize,
    /// Bytes of a stack, its guard aside.
    bytes: usize,
    page: usize,
    count: usize,
    free: Mutex<Free>,
}

/// Free stacks.
#[derive(Debug, Default)]
struct Free {
    /// Free stacks that were used before.
    returned: Vec<u32>,
    /// How many were had at all.
    fresh: u32,
}

impl Pool {
    /// `count` stacks of at least `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Stacks`] where the system has no room for them.
    pub(crate) fn new(count: usize, bytes: usize) -> Result<Pool, Error> {
        Pool::guarded(count, bytes, Guards::Marks)
    }

    fn guarded(count: usize, bytes: usize, guards: Guards) -> Result<Pool, Error> {
        let page = page();
        let bytes = bytes.next_multiple_of(page);
        let refused = |made: usize, guards: Guards, cause: io::Error| Error::Stacks {
            count,
            bytes,
            made,
            cause,
            split: guards == Guards::Mappings,
        };
        let all = (bytes + page).checked_mul(count).ok_or(io::ErrorKind::OutOfMemory.into());
        let low = all.and_then(map).map_err(|cause| refused(0, Guards::Marks, cause))?;
        let pool = Pool { low, bytes, page, count, free: Mutex::default() };
        pool.guard(guards).map_err(|(made, guards, cause)| refused(made, guards, cause))?;
        Ok(pool)
    }

    /// Makes all guards, the wanted way or, where the kernel does not know it, the other.
    fn guard(&self, mut guards: Guards) -> Result<(), (usize, Guards, io::Error)> {
        for index in 0..self.count {
            let low = self.low_of(index);
            if guards == Guards::Marks {
                match mark(low, self.page) {
                    Err(cause) if cause.raw_os_error() == Some(libc::EINVAL) => guards = Guards::Mappings,
                    made => made.map_err(|cause| (index, guards, cause))?,
                }
            }
            if guards == Guards::Mappings {
                split(low, self.page).map_err(|cause| (index, guards, cause))?;
            }
        }
        Ok(())
    }

    /// The low end of a stack's guard.
    fn low_of(&self, index: usize) -> usize {
        self.low + index * (self.bytes + self.page)
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free stack.
    pub(crate) fn take(self: &Arc<Self>) -> Stack {
        let mut free = self.free();
        let index = free.returned.pop().unwrap_or_else(|| {
            free.fresh += 1;
            free.fresh - 1
        }) as usize;
        assert!(index < self.count, "more stacks are wanted than were asked for");
        let base = StackPointer::new(self.low_of(index + 1) - HEAD).expect("a mapping is not at 0");
        let low = self.low_of(index) + self.page;
        let known = ValgrindStackRegistration::new(low as *mut u8, base.get() - low);
        Stack { base, pool: self.clone(), _known: known }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: the mapping is this pool's, and every stack in use holds the pool.
        unsafe { libc::munmap(self.low as *mut _, self.count * (self.bytes + self.page)) };
    }
}

/// One stack of a pool.
#[derive(Debug)]
pub(crate) struct Stack {
    base: StackPointer,
    pool: Arc<Pool>,
    /// Valgrind knows it as a stack. Outside of Valgrind that is a few instructions without effect.
    _known: ValgrindStackRegistration,
}

impl Stack {
    fn index(&self) -> usize {
        (self.base.get() - self.pool.low) / (self.pool.bytes + self.pool.page)
    }

    /// Where the header lies.
    pub(crate) fn head(&self) -> NonNull<Header> {
        NonNull::new(self.base.get() as *mut Header).expect("a mapping is not at 0")
    }

    /// The addresses of the guard.
    pub(crate) fn guard(&self) -> std::ops::Range<usize> {
        let low = self.pool.low_of(self.index());
        low..low + self.pool.page
    }

    /// Bytes that were asked for.
    pub(crate) fn bytes(&self) -> usize {
        self.pool.bytes
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        let index = self.index() as u32;
        self.pool.free().returned.push(index);
    }
}

// SAFETY: below `base` lie, at least, the least bytes of a stack less those of the header, and below
// them a guard page; no other code has them as long as this lives.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.guard().start).expect("a mapping is not at 0")
    }
}

fn page() -> usize {
    // SAFETY: `sysconf` has no conditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).ok().filter(|page| page.is_power_of_two()).unwrap_or(4096)
}

/// Room that nothing is promised of before it is touched.
fn map(bytes: usize) -> io::Result<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a new mapping, wherever the system likes.
    let low = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if low == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // A large page would be there at the first touch of any of the stacks in it. Kernels without
    // large pages refuse, and need not be told.
    // SAFETY: the mapping is ours.
    unsafe { libc::madvise(low, bytes, libc::MADV_NOHUGEPAGE) };
    Ok(low as usize)
}

fn mark(low: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: the page is of our mapping, and no coroutine has the stack yet.
    match unsafe { libc::madvise(low as *mut _, bytes, MADV_GUARD_INSTALL) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn split(low: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: as in `mark`.
    match unsafe { libc::mprotect(low as *mut _, bytes, libc::PROT_NONE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use corosensei::stack::Stack as _;

    fn pool(count: usize, bytes: usize, guards: Guards) -> Arc<Pool> {
        Arc::new(Pool::guarded(count, bytes, guards).unwrap())
    }

    #[test]
    fn stacks_are_apart_and_of_the_size_that_was_asked_for() {
        for guards in [Guards::Marks, Guards::Mappings] {
            let pool = pool(70, 20_000, guards);
            let stacks: Vec<Stack> = (0..70).map(|_| pool.take()).collect();
            for (number, stack) in stacks.iter().enumerate() {
                let (low, high) = (stack.guard().end, stack.base().get());
                assert_eq!((stack.index(), stack.bytes()), (number, 20_480));
                assert_eq!(high + HEAD, low + 20_480);
                assert_eq!(high % 64, 0);
                // All of the range is mapped, and no other code uses it.
                // SAFETY: this is the stack's memory, and no coroutine has it.
                let bytes = unsafe { std::slice::from_raw_parts_mut(low as *mut u8, high - low) };
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.fill(1);
            }
        }
    }

    #[test]
    fn the_latest_given_back_is_taken_first() {
        let pool = pool(3, 16_384, Guards::Marks);
        let (first, second) = (pool.take(), pool.take());
        drop(first);
        drop(second);
        let again = [pool.take(), pool.take(), pool.take()];
        assert_eq!(again.each_ref().map(Stack::index), [1, 0, 2]);
    }

    /// Where each guard splits the mapping, the limit is an error that says so. In a process of its
    /// own, which has no mapping left meanwhile.
    #[test]
    fn too_many_mappings_are_an_error() {
        const CHILD: &str = "THALWEG_MAPPINGS";
        if std::env::var_os(CHILD).is_none() {
            let name = "coroutine::stack::linux::tests::too_many_mappings_are_an_error";
            let mut child = std::process::Command::new(std::env::current_exe().unwrap());
            let output = child.args(["--exact", name]).env(CHILD, "1").output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && text.contains("1 passed"), "{text}");
            return;
        }
        let most = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
        let count = most.trim().parse::<usize>().unwrap() / 2 + 10;
        let error = Pool::guarded(count, 16_384, Guards::Mappings).unwrap_err();
        let Error::Stacks { made, split: true, .. } = error else { panic!("{error}") };
        assert!(made > count / 2 && made < count, "{made} of {count}");
        let text = error.to_string();
        assert!(text.contains("raise vm.max_map_count") && text.contains(&count.to_string()), "{text}");
    }

    #[test]
    fn too_much_is_an_error() {
        for count in [usize::MAX / 4096, 1 << 36] {
            let error = Pool::new(count, 65_536).unwrap_err();
            assert!(matches!(error, Error::Stacks { made: 0, split: false, .. }), "{error}");
            assert!(error.to_string().contains("Address space"), "{error}");
        }
    }
}
