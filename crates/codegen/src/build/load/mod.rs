//! Loaded programs. Nearly all unsafe code of this crate stands here; the rest is in [`fiber`](super::fiber).
//!
//! **What must hold.** The library was made from text that this crate wrote. Its functions touch the state
//! block they are given, and what its pointers lead to: items of queues between the places that the
//! state says, and of buffers as far as the plan has measured. Who calls them sees to it that these are
//! that large ([`run`](crate::run)); the generated code checks every index that it has not proven.

mod abi;
mod fibers;
mod host;
mod library;
mod memory;

pub(super) use abi::Fire;
pub(crate) use abi::{Block, Env, Mail, Queue};
pub(crate) use fibers::Fibers;
pub(crate) use host::{Host, Sent};
pub(crate) use library::Library;
use library::Parts;
pub(crate) use memory::{LENDERS, Lent, Memory, Pieces};
use std::ffi::c_void;

/// What came of firings at dynamic rates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Flowed {
    /// It failed, as [`State::failure`] tells.
    Failed,
    /// It has come to an end, or to a firing that cannot begin.
    Rests,
    /// It waits in the middle of a firing until so many items are there.
    Waits(u64),
}

/// What came of turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Turned {
    /// It failed, as [`State::failure`] tells.
    Failed,
    /// All is done.
    Done,
    /// This region may go on, which others must do; so many batches have been done before.
    At(usize, u64),
}

/// A program's state: a block of memory that it knows the insides of.
pub(crate) struct State<'a> {
    library: &'a Library,
    memory: Vec<Block>,
    queues: usize,
    /// By node; none where there are no messages.
    mail: Vec<Mail>,
}

impl<'a> State<'a> {
    /// A state before anything runs, for a graph with so many queues.
    pub(crate) fn new(library: &'a Library, queues: usize) -> State<'a> {
        // SAFETY: it takes nothing and gives a constant.
        let size = unsafe { (library.size)() } as usize;
        let mut memory = vec![[0; 8]; size.div_ceil(size_of::<Block>())];
        // SAFETY: the block is as large as the program says, and aligned for all it holds.
        unsafe { (library.begin)(memory.as_mut_ptr().cast()) };
        State { library, memory, queues: queues.max(1), mail: Vec::new() }
    }

    /// With mail for so many nodes.
    pub(crate) fn with_mail(mut self, nodes: usize) -> State<'a> {
        self.mail = vec![Mail::NONE; nodes];
        self
    }

    /// Runs steady states of a part; false where it failed, as [`State::failure`] tells.
    pub(crate) fn steady(&mut self, part: u32, n: u64, host: &mut dyn Host) -> bool {
        let steady = self.library.steady;
        self.call(host, |state| {
            // SAFETY: the state is one of this library's, and its buffers are as large as `n` needs: the
            // caller has measured them, those in lent memory too, which the program only reads where it is
            // lent for that. Nobody else uses that memory before it is given back.
            unsafe { steady(state, part, n as i64) }
        })
    }

    /// Does something while some buffers stand in memory that is lent.
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

    /// Fires a node so many times; false where it failed.
    pub(crate) fn fire(&mut self, node: u32, n: u64, host: &mut dyn Host) -> bool {
        let fire = self.library.fire;
        self.call(host, |state| {
            // SAFETY: the state is one of this library's, and its queues have the items and the room that
            // so many firings need: the caller has looked.
            unsafe { fire(state, node, n as i64) }
        })
    }

    /// Does so many batches of the regions from one up to another, the sources so many steady states each time;
    /// after the first batch from the first region on.
    pub(crate) fn turns(
        &mut self,
        (from, to): (usize, usize),
        n: u64,
        turns: u64,
        host: &mut dyn Host,
    ) -> Turned {
        let (call, mut at, mut came) = (self.library.turns, [0; 2], 0);
        self.call(host, |state| {
            // SAFETY: the state is one of this library's; the program looks for items and room itself.
            came = unsafe { call(state, from as u32, to as u32, n as i64, turns as i64, at.as_mut_ptr()) };
            i32::from(came == 1)
        });
        match came {
            0 => Turned::Done,
            1 => Turned::Failed,
            _ => Turned::At(at[0] as usize, at[1] as u64),
        }
    }

    /// Says that a node waits for so many items on a stack of its own; 0 where it does not.
    pub(crate) fn set_apart(&mut self, node: u32, items: u64) {
        // SAFETY: the state is one of this library's, and nobody else has it.
        unsafe { (self.library.set_apart)(self.memory.as_mut_ptr().cast(), node, items as i64) };
    }

    /// How often a node has fired here.
    pub(crate) fn fired(&mut self, node: u32) -> u64 {
        self.firings_of(node).map_or(0, |fired| *fired as u64)
    }

    /// Says how often a node has fired.
    pub(crate) fn set_fired(&mut self, node: u32, fired: u64) {
        if let Some(place) = self.firings_of(node) {
            *place = fired as i64;
        }
    }

    /// Where the firings of a node are counted, if they are.
    fn firings_of(&mut self, node: u32) -> Option<&mut i64> {
        // SAFETY: the state is one of this library's, and nobody else has it; what is given back is a place
        // in it, or null.
        unsafe { (self.library.fired)(self.memory.as_mut_ptr().cast(), node).as_mut() }
    }

    /// Fires a node of dynamic rates so many times at the most: what came of it, and how often it has fired.
    pub(crate) fn flow(&mut self, node: u32, n: u64, host: &mut dyn Host) -> (Flowed, u64) {
        let done = self.fire(node, n, host);
        let fired = self.env().done as u64;
        (if done { Flowed::Rests } else { Flowed::Failed }, fired)
    }
    /// Runs steady states of the steps from one up to another; false where one of them failed.
    pub(crate) fn steps(&mut self, steps: std::ops::Range<usize>, n: u64, host: &mut dyn Host) -> bool {
        let call = self.parts().steps;
        self.call(host, |state| {
            // SAFETY: as for `steady`.
            unsafe { call(state, steps.start as u32, steps.end as u32, n as i64) }
        })
    }

    /// Does those firings of a step's actor; false where one of them failed.
    pub(crate) fn firings(
        &mut self,
        step: usize,
        firings: std::ops::Range<u64>,
        host: &mut dyn Host,
    ) -> bool {
        let call = self.parts().firings;
        self.call(host, |state| {
            // SAFETY: as for `steady`.
            unsafe { call(state, step as u32, firings.start as i64, firings.end as i64) }
        })
    }

    /// Says that so many steady states have been done.
    pub(crate) fn seek(&mut self, n: u64) {
        let seek = self.parts().seek;
        // SAFETY: the state is one of this library's.
        unsafe { seek(self.memory.as_mut_ptr().cast(), n as i64) }
    }

    /// Takes over what a node keeps from another state of this program.
    pub(crate) fn join(&mut self, from: &State<'_>, node: u32) {
        assert!(std::ptr::eq(self.library, from.library), "states of two programs");
        let join = self.library.join;
        // SAFETY: both states are of this library.
        unsafe { join(self.memory.as_mut_ptr().cast(), from.memory.as_ptr().cast(), node) }
    }

    /// Whether regions wait until there is enough for many firings at once, where turns are taken in generated code.
    pub(crate) fn set_patient(&mut self, patient: bool) {
        self.env().patient = u32::from(patient);
    }

    /// Another state that keeps the same, with places of its own for buffers. Its queues are not to be used.
    pub(crate) fn fork(&self) -> State<'a> {
        let (memory, mail) = (self.memory.clone(), self.mail.clone());
        let mut fork = State { library: self.library, memory, queues: self.queues, mail };
        fork.queues().iter_mut().for_each(|queue| queue.items = std::ptr::null_mut());
        fork
    }

    /// Whether steps can be done by themselves.
    pub(crate) fn has_steps(&self) -> bool {
        self.library.parts.is_some()
    }

    fn parts(&self) -> &'a Parts {
        self.library.parts.as_ref().expect("a program of fused regions")
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
        (env.mail, env.nodes) = (mail, nodes);
        env.send = Some(host::send);
        env.take = Some(host::take);
        env.ask = Some(host::ask);
        let done = f(self.memory.as_mut_ptr().cast()) == 0;
        self.env().host = std::ptr::null_mut();
        done
    }

    fn env(&mut self) -> &mut Env {
        // SAFETY: the state begins with its `struct env`, of which every bit pattern that the program
        // writes is one of `Env`'s, and nobody else has the block.
        unsafe { &mut *self.memory.as_mut_ptr().cast::<Env>() }
    }

    /// What went wrong last.
    pub(crate) fn failure(&mut self) -> &Env {
        self.env()
    }

    /// The queues, by channel.
    pub(crate) fn queues(&mut self) -> &mut [Queue] {
        let queues = self.queues;
        // SAFETY: the queues come right after the environment, as many as the graph has channels and one at
        // least; both structures have the alignment of a pointer, so nothing is between them.
        unsafe {
            let first = self.memory.as_mut_ptr().cast::<u8>().add(size_of::<Env>());
            std::slice::from_raw_parts_mut(first.cast::<Queue>(), queues)
        }
    }

    /// Says where a buffer is; where it was.
    pub(crate) fn set_buffer(&mut self, at: usize, items: *mut u8) -> *mut u8 {
        let offset = size_of::<Env>() + self.queues * size_of::<Queue>() + at * size_of::<*mut u8>();
        assert!(offset + size_of::<*mut u8>() <= self.memory.len() * size_of::<Block>());
        // SAFETY: the buffers come right after the queues, one pointer each, and this one is inside.
        unsafe {
            let buffer = self.memory.as_mut_ptr().cast::<u8>().add(offset).cast::<*mut u8>();
            std::mem::replace(&mut *buffer, items)
        }
    }
}
