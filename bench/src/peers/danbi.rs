//! Programs of DANBI in the natural forms of rayon and oneTBB.

use std::ffi::{c_long, c_void};
use std::sync::{Mutex, OnceLock};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use thalweg_danbi::merge_sort::merge_slices;
use thalweg_danbi::{Image, rg};

use super::external;

/// rayon with a pool of its own.
pub struct Rayon(ThreadPool);

impl Rayon {
    /// A pool of this number of threads.
    pub fn new(threads: usize) -> Rayon {
        Rayon(ThreadPoolBuilder::new().num_threads(threads).build().expect("the system can start threads"))
    }

    /// Blurs images, each by one thread.
    pub fn blur(&self, images: &[Image], parameters: &rg::Parameters) -> Vec<Image> {
        self.0.install(|| images.par_iter().map(|image| rg::blur(image, parameters)).collect())
    }

    /// Sorts keys as Cilk's program does: both halves of the keys at once, and both halves of a merge.
    pub fn sort(&self, keys: &[u32], piece: usize) -> Vec<u32> {
        let (mut keys, mut room) = (keys.to_vec(), vec![0; keys.len()]);
        self.0.install(|| sort(&mut keys, &mut room, piece, false));
        keys
    }

    /// rayon's own stable sort, which is a merge sort too.
    pub fn par_sort(&self, keys: &[u32]) -> Vec<u32> {
        let mut keys = keys.to_vec();
        self.0.install(|| keys.par_sort());
        keys
    }
}

/// Sorts keys in place, or into the room if they are to `move` there.
fn sort(keys: &mut [u32], room: &mut [u32], piece: usize, moves: bool) {
    if keys.len() <= piece {
        keys.sort_unstable();
        if moves {
            room.copy_from_slice(keys);
        }
        return;
    }
    let middle = keys.len() / 2;
    let ((a, b), (room_a, room_b)) = (keys.split_at_mut(middle), room.split_at_mut(middle));
    rayon::join(|| sort(a, room_a, piece, !moves), || sort(b, room_b, piece, !moves));
    match moves {
        true => merge(a, b, room, piece),
        false => merge(room_a, room_b, keys, piece),
    }
}

/// Merges sorted keys: the two halves of the result at once, down to pieces.
fn merge(left: &[u32], right: &[u32], all: &mut [u32], piece: usize) {
    if all.len() <= piece {
        let (i, j) = merge_slices(all, left, right);
        let rest = &mut all[i + j..];
        let at = left.len() - i;
        rest[..at].copy_from_slice(&left[i..]);
        rest[at..].copy_from_slice(&right[j..]);
        return;
    }
    let middle = all.len() / 2;
    let from = lefts(left, right, middle);
    let ((a, b), (c, d)) = (left.split_at(from), right.split_at(middle - from));
    let (first, second) = all.split_at_mut(middle);
    rayon::join(|| merge(a, c, first, piece), || merge(b, d, second, piece));
}

/// The number of keys of the left among the first `count` of both.
fn lefts(left: &[u32], right: &[u32], count: usize) -> usize {
    let (mut low, mut high) = (count.saturating_sub(right.len()), count.min(left.len()));
    while low < high {
        let middle = (low + high) / 2;
        if left[middle] <= right[count - middle - 1] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// `danbi_pipeline` of `danbi.h`.
type Pipeline = unsafe extern "C" fn(c_long, c_long, Stage, Stage, *mut c_void);
type Stage = unsafe extern "C" fn(*mut c_void, c_long);

/// `danbi_merge_sort` of `danbi.h`.
type MergeSort = unsafe extern "C" fn(c_long, c_long, *mut u32, *mut u32, c_long);

/// oneTBB, in a library that this process loads.
#[derive(Clone, Copy)]
pub struct Tbb {
    pipeline: Pipeline,
    merge_sort: MergeSort,
    threads: c_long,
}

impl Tbb {
    /// The library, if `bench/peers/build.sh` has built it.
    ///
    /// # Errors
    /// It does not load.
    pub fn load(threads: usize) -> Result<Option<Tbb>, String> {
        static LOADED: OnceLock<Result<Option<(Pipeline, MergeSort)>, String>> = OnceLock::new();
        let functions = LOADED.get_or_init(functions).clone()?;
        let tbb = |(pipeline, merge_sort)| Tbb { pipeline, merge_sort, threads: threads as c_long };
        Ok(functions.map(tbb))
    }

    /// Blurs images in a pipeline: a filter that counts, a parallel one that blurs, and one that collects in order.
    pub fn blur(&self, images: &[Image], parameters: &rg::Parameters) -> Vec<Image> {
        let job = Blur {
            images,
            parameters,
            blurred: images.iter().map(|_| Mutex::new(None)).collect(),
            all: Mutex::new(Vec::with_capacity(images.len())),
        };
        let context = std::ptr::from_ref(&job).cast_mut().cast();
        // SAFETY: both functions expect a `Blur`, which may be shared and lives until the call returns, which is after all theirs.
        unsafe { (self.pipeline)(self.threads, images.len() as c_long, Blur::blur, Blur::collect, context) };
        job.all.into_inner().expect("a panic has ended the process")
    }

    /// Sorts keys as [`Rayon::sort`] does.
    pub fn sort(&self, keys: &[u32], piece: usize) -> Vec<u32> {
        let (mut keys, mut room) = (keys.to_vec(), vec![0; keys.len()]);
        let (piece, count) = (piece as c_long, keys.len() as c_long);
        // SAFETY: both places have `count` keys, and nothing else accesses them until the call returns.
        unsafe { (self.merge_sort)(self.threads, piece, keys.as_mut_ptr(), room.as_mut_ptr(), count) };
        keys
    }
}

/// The functions of the library, which is never unloaded: its threads outlive the calls.
fn functions() -> Result<Option<(Pipeline, MergeSort)>, String> {
    let Some(path) = external::library("tbb-danbi") else { return Ok(None) };
    let said = |error: libloading::Error| format!("{}: {error}", path.display());
    // SAFETY: what runs when the library loads is the initialisers of oneTBB, which expect to be loaded so.
    let library = unsafe { libloading::Library::new(&path) }.map_err(said)?;
    // SAFETY: the library defines the functions with these parameters (`danbi.h`).
    let functions = unsafe {
        let pipeline = *library.get::<Pipeline>(c"danbi_pipeline").map_err(said)?;
        (pipeline, *library.get::<MergeSort>(c"danbi_merge_sort").map_err(said)?)
    };
    std::mem::forget(library);
    Ok(Some(functions))
}

/// The images of a pipeline.
struct Blur<'a> {
    images: &'a [Image],
    parameters: &'a rg::Parameters,
    /// The images between the two filters.
    blurred: Vec<Mutex<Option<Image>>>,
    all: Mutex<Vec<Image>>,
}

impl Blur<'_> {
    /// The parallel filter. A panic ends the process, since it cannot cross the function in C++.
    ///
    /// # Safety
    /// `context` is a `Blur` that lives until the call returns.
    unsafe extern "C" fn blur(context: *mut c_void, at: c_long) {
        // SAFETY: by the function's own contract.
        let job = unsafe { &*context.cast::<Blur<'_>>() };
        let at = at as usize;
        *job.blurred[at].lock().expect("no other call has panicked") =
            Some(rg::blur(&job.images[at], job.parameters));
    }

    /// The last filter, in order.
    ///
    /// # Safety
    /// As that of [`Blur::blur`].
    unsafe extern "C" fn collect(context: *mut c_void, at: c_long) {
        // SAFETY: by the function's own contract.
        let job = unsafe { &*context.cast::<Blur<'_>>() };
        let image = job.blurred[at as usize].lock().expect("no other call has panicked").take();
        job.all.lock().expect("no other call has panicked").push(image.expect("it was blurred before"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thalweg_danbi::merge_sort;

    #[test]
    fn joins_sort() {
        let rayon = Rayon::new(2);
        for count in [0, 1, 2, 63, 64, 1000, 4099] {
            let keys: Vec<u32> = (0..count).map(|i: u32| i.wrapping_mul(2_654_435_761) % 500).collect();
            let sorted = merge_sort::sequential(&keys);
            assert_eq!(rayon.sort(&keys, 64), sorted, "{count} keys");
            assert_eq!(rayon.par_sort(&keys), sorted);
            // Nothing to compare with where the library was not built.
            if let Some(tbb) = Tbb::load(2).unwrap() {
                assert_eq!(tbb.sort(&keys, 64), sorted, "{count} keys");
            }
        }
    }

    #[test]
    fn images_are_those_of_the_sequential_program() {
        let (images, parameters) = (rg::input(0.0, 1), rg::Parameters::default());
        let blurred = rg::sequential(&images, &parameters);
        assert_eq!(Rayon::new(2).blur(&images, &parameters), blurred);
        if let Some(tbb) = Tbb::load(2).unwrap() {
            assert_eq!(tbb.blur(&images, &parameters), blurred);
        }
    }
}
