//! Stacks carved out of one mapping for each pool.
//!
//! ```text
//!   low                                          high
//!   | guard | stack 0 ... head | guard | stack 1 ... head | ...
//! ```
//!
//! The system maps a page when it is first touched. If the kernel has `MADV_GUARD_INSTALL` (Linux 6.13), a guard page
//! is a mark in the page table, and the pool is one mapping. Otherwise it is a page without access, which splits the
//! mapping: two mappings for each stack, of the 65,530 that a process usually may have.

use super::HEAD;
use crate::coroutine::fiber::Header;
use crate::error::Error;
use corosensei::stack::StackPointer;
use corosensei::stack::valgrind::ValgrindStackRegistration;
use std::io;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// From the kernel's headers: `libc` does not have it yet.
const MADV_GUARD_INSTALL: libc::c_int = 102;

/// How guard pages are made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Guards {
    /// Marks in the page table.
    Marks,
    /// Mappings of their own.
    Mappings,
}

/// A pool of stacks of one size.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The lowest address of the mapping.
    low: usize,
    /// Bytes of a stack with its header, without its guard page. A multiple of `page`.
    bytes: usize,
    /// Bytes of a page.
    page: usize,
    count: usize,
    free: Mutex<Free>,
}

/// The free stacks, by index: those in `returned`, and those from `fresh` on.
#[derive(Debug, Default)]
struct Free {
    /// Stacks that were used before, the one returned last at the end.
    returned: Vec<u32>,
    /// The first stack that was never used.
    fresh: u32,
}

impl Pool {
    /// `count` stacks of at least `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::Stacks`] if the system refuses the memory.
    pub(crate) fn new(count: usize, bytes: usize) -> Result<Pool, Error> {
        Pool::guarded(count, bytes, Guards::Marks)
    }

    /// [`Pool::new`] with guard pages made in this way, if the kernel allows it.
    fn guarded(count: usize, bytes: usize, guards: Guards) -> Result<Pool, Error> {
        let page = page();
        // The mapping's length. A size that does not fit into the address space is refused like one that the system
        // refuses: wrapped arithmetic would make stacks of few bytes, without a guard page below them.
        let rounded = bytes.checked_next_multiple_of(page).filter(|bytes| *bytes <= isize::MAX as usize);
        let all = rounded.and_then(|bytes| bytes.checked_add(page)?.checked_mul(count));
        let bytes = rounded.unwrap_or(bytes);
        let refused = |made: usize, guards: Guards, cause: io::Error| Error::Stacks {
            count,
            bytes,
            made,
            cause,
            split: guards == Guards::Mappings,
        };
        let all = all.ok_or(io::ErrorKind::OutOfMemory.into());
        let low = all.and_then(map).map_err(|cause| refused(0, Guards::Marks, cause))?;
        let pool = Pool { low, bytes, page, count, free: Mutex::default() };
        pool.guard(guards).map_err(|(made, guards, cause)| refused(made, guards, cause))?;
        Ok(pool)
    }

    /// Makes all guard pages as `guards` says, or as mappings if the kernel does not have marks.
    ///
    /// # Errors
    /// The number of guard pages made, the way in which the next one was refused, and the cause.
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

    /// The lowest address of a stack's guard page.
    fn low_of(&self, index: usize) -> usize {
        self.low + index * (self.bytes + self.page)
    }

    fn free(&self) -> MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a free stack. The caller takes no more than `count` at a time.
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
        // SAFETY: this pool has made the mapping, of this length. Each `Stack` keeps the pool alive, so none is in use.
        unsafe { libc::munmap(self.low as *mut _, self.count * (self.bytes + self.page)) };
    }
}

/// One stack of a pool, in use until it is dropped.
#[derive(Debug)]
pub(crate) struct Stack {
    /// The address of the header, from which the coroutine's frames grow down.
    base: StackPointer,
    pool: Arc<Pool>,
    /// Tells Valgrind that this is a stack. Without Valgrind that is a few instructions without effect.
    _known: ValgrindStackRegistration,
}

impl Stack {
    fn index(&self) -> usize {
        (self.base.get() - self.pool.low) / (self.pool.bytes + self.pool.page)
    }

    /// The place of the header: the highest [`HEAD`] bytes.
    pub(crate) fn head(&self) -> NonNull<Header> {
        NonNull::new(self.base.get() as *mut Header).expect("a mapping is not at 0")
    }

    /// The addresses of the guard page.
    pub(crate) fn guard(&self) -> std::ops::Range<usize> {
        let low = self.pool.low_of(self.index());
        low..low + self.pool.page
    }

    /// The size of the stack in bytes.
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

// SAFETY: `base` is a multiple of 64: it lies `HEAD` bytes below the end of a page. From there down to the guard page
// lie `bytes - HEAD` bytes, at least `LEAST - HEAD`. No other code accesses them or the guard page while this value
// lives: its index is in no list of free stacks, and it keeps the mapping alive.
unsafe impl corosensei::stack::Stack for Stack {
    fn base(&self) -> StackPointer {
        self.base
    }

    fn limit(&self) -> StackPointer {
        StackPointer::new(self.guard().start).expect("a mapping is not at 0")
    }
}

/// Bytes of a page.
fn page() -> usize {
    // SAFETY: `sysconf` has no preconditions.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).ok().filter(|page| page.is_power_of_two()).unwrap_or(4096)
}

/// Maps memory for which the system reserves nothing until it is touched. Returns its lowest address.
fn map(bytes: usize) -> io::Result<usize> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK;
    // SAFETY: a new mapping at an address that the system chooses replaces no other.
    let low = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
    if low == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // A huge page would be mapped as a whole at the first touch of any stack in it. The result is ignored, since
    // kernels without huge pages refuse. SAFETY: the range is the mapping made above, whose contents no code uses yet.
    unsafe { libc::madvise(low, bytes, libc::MADV_NOHUGEPAGE) };
    Ok(low as usize)
}

/// Makes a guard page by a mark in the page table.
fn mark(low: usize, bytes: usize) -> io::Result<()> {
    // SAFETY: the page belongs to the mapping of a pool that is being made, so no coroutine has its stack yet.
    match unsafe { libc::madvise(low as *mut _, bytes, MADV_GUARD_INSTALL) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Makes a guard page by a mapping without access.
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
    fn stacks_do_not_overlap_and_have_the_requested_size() {
        for guards in [Guards::Marks, Guards::Mappings] {
            let pool = pool(70, 20_000, guards);
            let stacks: Vec<Stack> = (0..70).map(|_| pool.take()).collect();
            for (number, stack) in stacks.iter().enumerate() {
                let (low, high) = (stack.guard().end, stack.base().get());
                assert_eq!((stack.index(), stack.bytes()), (number, 20_480));
                assert_eq!(high + HEAD, low + 20_480);
                assert_eq!(high % 64, 0);
                // The whole range can be written, and is still zero: no other stack overlaps it. SAFETY: the range is
                // the stack's memory below its header, which `stacks` keeps, and no coroutine uses it.
                let bytes = unsafe { std::slice::from_raw_parts_mut(low as *mut u8, high - low) };
                assert!(bytes.iter().all(|byte| *byte == 0));
                bytes.fill(1);
            }
        }
    }

    #[test]
    fn the_stack_returned_last_is_taken_first() {
        let pool = pool(3, 16_384, Guards::Marks);
        let (first, second) = (pool.take(), pool.take());
        drop(first);
        drop(second);
        let again = [pool.take(), pool.take(), pool.take()];
        assert_eq!(again.each_ref().map(Stack::index), [1, 0, 2]);
    }

    /// If each guard page splits the mapping, the limit on mappings is an error that names it. In a child process,
    /// since the test uses up all mappings.
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
        let text = format!("{error:?}");
        assert!(text.contains("raise vm.max_map_count") && text.contains(&count.to_string()), "{text}");
    }

    #[test]
    fn too_much_is_an_error() {
        let large = [
            usize::MAX,
            usize::MAX - 1,
            usize::MAX - 4095,
            usize::MAX - 4096,
            usize::MAX / 2 + 1,
            usize::MAX / 2,
        ];
        let many = [(usize::MAX / 4096, 65_536), (1 << 36, 65_536)];
        for (count, bytes) in large.map(|bytes| (1, bytes)).into_iter().chain(many) {
            let error = Pool::new(count, bytes).unwrap_err();
            assert!(matches!(error, Error::Stacks { made: 0, split: false, .. }), "{error}");
            assert!(error.help().unwrap().contains("address space"), "{error:?}");
        }
    }
}
