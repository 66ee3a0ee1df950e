//! The CPUs that a thread may use, to be read and set. On systems other than Linux they are not known, and setting them has
//! no effect.

#[cfg(target_os = "linux")]
use libc::c_ulong as Word;
#[cfg(not(target_os = "linux"))]
use u32 as Word;

/// The CPUs that a mask has room for: as many as glibc's.
const MAX_CPUS: usize = 1024;

const BITS: usize = Word::BITS as usize;

/// Bit `n % BITS` of word `n / BITS` is CPU `n`: the kernel's form.
type Mask = [Word; MAX_CPUS / BITS];

/// The CPUs that a thread may use; `None` if the system does not report them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Affinity(Option<Mask>);

impl Affinity {
    /// The CPUs that the calling thread may use.
    pub(super) fn here() -> Affinity {
        Affinity(read())
    }

    /// One CPU, by the number that the system has for it.
    pub(super) fn of(cpu: u32) -> Affinity {
        let cpu = cpu as usize;
        let mut only: Mask = [0; _];
        Affinity((cpu < MAX_CPUS).then(|| {
            only[cpu / BITS] = 1 << (cpu % BITS);
            only
        }))
    }

    /// Whether the CPUs are known: the system may not report them.
    pub(super) fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// The number of CPUs; 0 if they are not known.
    pub(super) fn count(&self) -> usize {
        self.0.iter().flatten().map(|word| word.count_ones() as usize).sum()
    }

    /// The numbers of the CPUs, ascending; none if they are not known.
    pub(super) fn cpus(&self) -> Vec<u32> {
        let Some(mask) = self.0 else { return Vec::new() };
        (0..MAX_CPUS).filter(|cpu| mask[cpu / BITS] >> (cpu % BITS) & 1 == 1).map(|cpu| cpu as u32).collect()
    }

    /// Restricts the calling thread to these CPUs. Returns whether the system has done so.
    pub(super) fn adopt(&self) -> bool {
        self.0.as_ref().is_some_and(set)
    }
}

#[cfg(target_os = "linux")]
fn read() -> Option<Mask> {
    let mut mask: Mask = [0; _];
    // SAFETY: the pointer is valid for writes of the size that the call gets; any bits are a valid mask. 0 is this thread.
    let failed = unsafe { libc::sched_getaffinity(0, size_of::<Mask>(), mask.as_mut_ptr().cast()) } != 0;
    (!failed).then_some(mask)
}

#[cfg(target_os = "linux")]
fn set(mask: &Mask) -> bool {
    // SAFETY: the pointer is valid for reads of the size that the call gets. 0 is the calling thread.
    unsafe { libc::sched_setaffinity(0, size_of::<Mask>(), mask.as_ptr().cast()) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn read() -> Option<Mask> {
    None
}

#[cfg(not(target_os = "linux"))]
fn set(_mask: &Mask) -> bool {
    false
}
