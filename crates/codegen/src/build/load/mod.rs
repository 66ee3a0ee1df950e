//! Loaded programs. Nearly all unsafe code of this crate is here; the rest is in [`fiber`](super::fiber).
//!
//! **What must hold.** The library was compiled from text that this crate generated, in this run or in one whose library
//! this user has kept (`trust.rs`). Its functions access
//! only the state block that they are passed, and what its pointers lead to: items of queues between the
//! positions in the state, and buffers up to the sizes that the plan has computed. The callers ensure that
//! queues and buffers are that large ([`run`](crate::run)); the generated code checks every index that is not
//! proven to be in range.

mod abi;
mod fibers;
mod host;
mod library;
mod memory;

pub(super) use abi::Fire;
pub(crate) use abi::{Block, Env, Inbox, Queue};
pub(crate) use fibers::Fibers;
pub(crate) use host::{Host, Room, Sent};
pub(crate) use library::Library;
use library::Parts;
pub(crate) use memory::{Address, LENDERS, Lent, Memory};
use std::ffi::c_void;

/// The result of firings at dynamic rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flowed {
    /// It failed; see [`State::failure`].
    Failed,
    /// The firings are done, or the next one cannot begin.
    Rests,
    /// A firing waits until this many items are in its queue.
    Waits(u64),
}

/// The result of [`State::batches`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BatchesEnd {
    /// It failed; see [`State::failure`].
    Failed,
    /// All batches are done.
    Done,
    /// This region can continue, but the caller must run it; this many batches were done before.
    At(usize, u64),
}

/// A program's state: a block of memory, with a layout known to the program.
pub(crate) struct State<'a> {
    library: &'a Library,
    memory: Vec<Block>,
    queues: usize,
    /// Inbox headers by node; empty where there are no messages.
    mail: Vec<Inbox>,
}

impl<'a> State<'a> {
    /// The initial state of a graph with this many queues.
    pub(crate) fn new(library: &'a Library, queues: usize) -> State<'a> {
        // SAFETY: the function takes no arguments and returns a constant.
        let size = unsafe { (library.size)() } as usize;
        let mut memory = vec![[0; 8]; size.div_ceil(size_of::<Block>())];
        // SAFETY: the block is as large as the program requires, and aligned for all it holds.
        unsafe { (library.begin)(memory.as_mut_ptr().cast()) };
        State { library, memory, queues: queues.max(1), mail: Vec::new() }
    }

    /// Adds inbox headers for this many nodes.
    pub(crate) fn with_mail(mut self, nodes: usize) -> State<'a> {
        self.mail = vec![Inbox::NONE; nodes];
        self
    }

    /// Runs steady states of a part; returns false where it failed, see [`State::failure`].
    pub(crate) fn steady(&mut self, part: u32, n: u64, host: &mut dyn Host) -> bool {
        let steady = self.library.steady;
        self.call(host, |state| {
            // SAFETY: the state is one of this library's, and its buffers are as large as `n` needs: the
            // caller has computed their sizes, including those in lent memory. The program only reads memory
            // that is lent for reading. Nothing else uses that memory before the loan ends.
            unsafe { steady(state, part, n as i64) }
        })
    }

    /// Calls `f` while some buffers are in lent memory.
    pub(crate) fn lend<R>(&mut self, lent: Lent<'_>, f: impl FnOnce(&mut State<'a>) -> R) -> R {
        let Lent { read, mut written } = lent;
        let mut own = [(0, std::ptr::null_mut()); 2 * LENDERS];
        let read = read.iter().map(|(at, memory)| (*at, memory.as_ptr().cast_mut(), memory.len()));
        let written = written.iter_mut().map(|(at, memory)| (*at, memory.as_mut_ptr(), memory.len()));
        for ((at, memory, _), own) in read.chain(written).filter(|(_, _, bytes)| *bytes > 0).zip(&mut own) {
            *own = (at, self.set_buffer(at, memory));
        }
        let done = f(self);
        for (at, memory) in own.into_iter().filter(|(_, memory)| !memory.is_null()) {
            self.set_buffer(at, memory);
        }
        done
    }

    /// Fires a node `n` times; returns false where it failed.
    pub(crate) fn fire(&mut self, node: u32, n: u64, host: &mut dyn Host) -> bool {
        let fire = self.library.fire;
        self.call(host, |state| {
            // SAFETY: the state is one of this library's, and its queues have the items and the room for `n`
            // firings: the caller has checked that.
            unsafe { fire(state, node, n as i64) }
        })
    }

    /// Does this many batches of the regions `from..to`; in each batch the sources do `n` steady states.
    /// Batches after the first begin with the first region.
    pub(crate) fn batches(
        &mut self,
        (from, to): (usize, usize),
        n: u64,
        batches: u64,
        host: &mut dyn Host,
    ) -> BatchesEnd {
        let (call, mut at, mut came) = (self.library.batches, [0; 2], 0);
        self.call(host, |state| {
            // SAFETY: the state is one of this library's; the program itself checks for items and room.
            came = unsafe { call(state, from as u32, to as u32, n as i64, batches as i64, at.as_mut_ptr()) };
            i32::from(came == 1)
        });
        match came {
            0 => BatchesEnd::Done,
            1 => BatchesEnd::Failed,
            _ => BatchesEnd::At(at[0] as usize, at[1] as u64),
        }
    }

    /// Records that a node waits for this many items on a stack of its own; 0 where it does not.
    pub(crate) fn set_apart(&mut self, node: u32, items: u64) {
        // SAFETY: the state is one of this library's, and this is the only reference to it.
        unsafe { (self.library.set_apart)(self.memory.as_mut_ptr().cast(), node, items as i64) };
    }

    /// How often a node has fired in this state.
    pub(crate) fn fired(&mut self, node: u32) -> u64 {
        self.firings_of(node).map_or(0, |fired| *fired as u64)
    }

    /// Sets how often a node has fired.
    pub(crate) fn set_fired(&mut self, node: u32, fired: u64) {
        if let Some(place) = self.firings_of(node) {
            *place = fired as i64;
        }
    }

    /// The counter of a node's firings, if it has one.
    fn firings_of(&mut self, node: u32) -> Option<&mut i64> {
        // SAFETY: the state is one of this library's, and this is the only reference to it; the function
        // returns a pointer into it, or null.
        unsafe { (self.library.fired)(self.memory.as_mut_ptr().cast(), node).as_mut() }
    }

    /// Fires a node of dynamic rates up to `n` times; returns the result, and the number of firings.
    pub(crate) fn flow(&mut self, node: u32, n: u64, host: &mut dyn Host) -> (Flowed, u64) {
        let done = self.fire(node, n, host);
        let fired = self.env().done as u64;
        (if done { Flowed::Rests } else { Flowed::Failed }, fired)
    }

    /// Runs steady states of a range of steps; returns false where one of them failed.
    pub(crate) fn steps(&mut self, steps: std::ops::Range<usize>, n: u64, host: &mut dyn Host) -> bool {
        let call = self.parts().steps;
        self.call(host, |state| {
            // SAFETY: as in `steady`.
            unsafe { call(state, steps.start as u32, steps.end as u32, n as i64) }
        })
    }

    /// Does a range of firings of a step's actor; returns false where one of them failed.
    pub(crate) fn firings(
        &mut self,
        step: usize,
        firings: std::ops::Range<u64>,
        host: &mut dyn Host,
    ) -> bool {
        let call = self.parts().firings;
        self.call(host, |state| {
            // SAFETY: as in `steady`.
            unsafe { call(state, step as u32, firings.start as i64, firings.end as i64) }
        })
    }

    /// Sets the number of steady states that have been done.
    pub(crate) fn seek(&mut self, n: u64) {
        let seek = self.parts().seek;
        // SAFETY: the state is one of this library's.
        unsafe { seek(self.memory.as_mut_ptr().cast(), n as i64) }
    }

    /// Copies the data of a node from another state of this program.
    pub(crate) fn join(&mut self, from: &State<'_>, node: u32) {
        assert!(std::ptr::eq(self.library, from.library), "the states belong to different programs");
        let join = self.library.join;
        // SAFETY: both states are of this library.
        unsafe { join(self.memory.as_mut_ptr().cast(), from.memory.as_ptr().cast(), node) }
    }

    /// Sets whether regions wait until their input is enough for many firings at once, where generated code
    /// schedules them.
    pub(crate) fn set_patient(&mut self, patient: bool) {
        self.env().patient = u32::from(patient);
    }

    /// A copy of this state with no buffers of its own yet. Its queues must not be used.
    pub(crate) fn fork(&self) -> State<'a> {
        let (memory, mail) = (self.memory.clone(), self.mail.clone());
        let mut fork = State { library: self.library, memory, queues: self.queues, mail };
        fork.queues().iter_mut().for_each(|queue| queue.items = std::ptr::null_mut());
        fork
    }

    /// Whether the program exports functions of single steps.
    pub(crate) fn has_steps(&self) -> bool {
        self.library.parts.is_some()
    }

    fn parts(&self) -> &'a Parts {
        self.library.parts.as_ref().expect("the program has fused regions")
    }

    fn call(&mut self, host: &mut dyn Host, f: impl FnOnce(*mut c_void) -> i32) -> bool {
        let mut host: &mut dyn Host = host;
        let host: *mut &mut dyn Host = &raw mut host;
        let (mail, nodes) = (self.mail.as_mut_ptr(), self.mail.len() as i64);
        let env = self.env();
        env.host = host.cast();
        env.print = Some(host::print);
        env.wait = Some(super::fiber::wait);
        env.more = Some(host::more);
        (env.mail, env.nodes, env.full) = (mail, nodes, 0);
        env.send = Some(host::send);
        env.take = Some(host::take);
        env.ask = Some(host::ask);
        let done = f(self.memory.as_mut_ptr().cast()) == 0;
        self.env().host = std::ptr::null_mut();
        done
    }

    fn env(&mut self) -> &mut Env {
        // SAFETY: the state begins with its `struct env`; every bit pattern that the program writes there is
        // a valid `Env`, and this is the only reference to the block.
        unsafe { &mut *self.memory.as_mut_ptr().cast::<Env>() }
    }

    /// The environment, which describes the last failure.
    pub(crate) fn failure(&mut self) -> &Env {
        self.env()
    }

    /// The queues, by channel.
    pub(crate) fn queues(&mut self) -> &mut [Queue] {
        let queues = self.queues;
        // SAFETY: the queues follow the environment, one for each channel of the graph and at least one; both
        // structures have the alignment of a pointer, so there is no padding between them.
        unsafe {
            let first = self.memory.as_mut_ptr().cast::<u8>().add(size_of::<Env>());
            std::slice::from_raw_parts_mut(first.cast::<Queue>(), queues)
        }
    }

    /// Sets the address of a buffer; returns the old one.
    pub(crate) fn set_buffer(&mut self, at: usize, items: *mut u8) -> *mut u8 {
        let offset = size_of::<Env>() + self.queues * size_of::<Queue>() + at * size_of::<*mut u8>();
        assert!(offset + size_of::<*mut u8>() <= self.memory.len() * size_of::<Block>());
        // SAFETY: the buffers' pointers follow the queues, and this one is inside the block, as checked
        // above.
        unsafe {
            let buffer = self.memory.as_mut_ptr().cast::<u8>().add(offset).cast::<*mut u8>();
            std::mem::replace(&mut *buffer, items)
        }
    }
}
