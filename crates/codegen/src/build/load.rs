//! Loaded programs. All unsafe code of this crate stands here.
//!
//! **What must hold.** The library was made from text that this crate wrote. Its functions touch the state
//! block they are given, and what its pointers lead to: items of queues between the places that the
//! state says, and of buffers as far as the plan has measured. Who calls them sees to it that these are
//! that large ([`run`](crate::run)); the generated code checks every index that it has not proven.

use super::fiber::Fiber;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::c_void;
use std::path::Path;
use thalweg_lang::flat::{ChannelId, NodeId};

/// Eight words: the unit in which memory is given to programs, so that it is aligned.
pub(crate) type Block = [u64; 8];

/// As `struct env`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) host: *mut c_void,
    pub(crate) print: Option<Print>,
    pub(crate) out: *mut c_void,
    pub(crate) node: u32,
    pub(crate) which: u32,
    pub(crate) site: u32,
    pub(crate) unused: u32,
    pub(crate) firing: i64,
    pub(crate) args: [i64; 2],
    pub(crate) wait: Option<Wait>,
    pub(crate) more: Option<More>,
    pub(crate) done: i64,
    pub(crate) fiber: *const c_void,
    pub(crate) mail: *mut Mail,
    pub(crate) nodes: i64,
    pub(crate) send: Option<Send>,
    pub(crate) take: Option<Take>,
    pub(crate) ask: Option<Ask>,
}

impl Env {
    /// Whether the last call has been stopped, and has not failed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.site == u32::MAX - 1
    }
}

/// As `struct mail`.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Mail {
    /// The firing before which the next letter is to be handled.
    pub(crate) due: i64,
    /// How often a node that hears messages has fired.
    pub(crate) fired: i64,
}

impl Mail {
    /// Of a node without letters, before it has fired.
    pub(crate) const NONE: Mail = Mail { due: i64::MAX, fired: 0 };
}

/// As `struct queue`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) items: *mut c_void,
    pub(crate) read: i64,
    pub(crate) written: i64,
    pub(crate) mask: i64,
}

type Print = unsafe extern "C" fn(*mut c_void, u32, u32, u32, *const i32) -> i32;
pub(super) type Wait = unsafe extern "C" fn(*mut Env, u32, i64, i64);
type More = unsafe extern "C" fn(*mut Env, *mut Queue, i64) -> i32;
type Send = unsafe extern "C" fn(*mut Env, u32, u32, u32, i64, i32, *const i32) -> i32;
type Ask = unsafe extern "C" fn(*mut Env) -> i32;
type Take = unsafe extern "C" fn(*mut Env, u32, i64, *mut u32) -> *const i32;
type Fired = unsafe extern "C" fn(*mut c_void, u32) -> i64;
type Size = unsafe extern "C" fn() -> i64;
type Begin = unsafe extern "C" fn(*mut c_void);
type Steady = unsafe extern "C" fn(*mut c_void, u32, i64) -> i32;
pub(super) type Fire = unsafe extern "C" fn(*mut c_void, u32, i64) -> i32;
type Steps = unsafe extern "C" fn(*mut c_void, u32, u32, i64) -> i32;
type Firings = unsafe extern "C" fn(*mut c_void, u32, i64, i64) -> i32;
type Turns = unsafe extern "C" fn(*mut c_void, u32, u32, i64, i64, *mut i64) -> i32;
type SetApart = unsafe extern "C" fn(*mut c_void, u32, i64);
type Seek = unsafe extern "C" fn(*mut c_void, i64);
type Join = unsafe extern "C" fn(*mut c_void, *const c_void, u32);

/// A loaded program.
#[derive(Debug)]
pub(crate) struct Library {
    size: Size,
    begin: Begin,
    steady: Steady,
    fire: Fire,
    turns: Turns,
    fired: Fired,
    set_apart: SetApart,
    join: Join,
    /// None where nothing is fused.
    parts: Option<Parts>,
    /// Unloaded last.
    _library: libloading::Library,
}

/// The steps of a fused region by themselves.
#[derive(Debug)]
struct Parts {
    steps: Steps,
    firings: Firings,
    seek: Seek,
}

impl Library {
    /// Loads a program.
    pub(crate) fn open(path: &Path) -> Result<Library, String> {
        let said = |error: libloading::Error| format!("{}: {error}", path.display());
        // SAFETY: the library has no initialisers of its own: it is plain C with constant tables.
        let library = unsafe { libloading::Library::new(path) }.map_err(said)?;
        // SAFETY: these are the types that the text gives its functions (`emit::program`).
        let (size, begin, steady, fire, turns, fired, set_apart, join) = unsafe {
            (
                *library.get::<Size>(b"thalweg_size\0").map_err(said)?,
                *library.get::<Begin>(b"thalweg_begin\0").map_err(said)?,
                *library.get::<Steady>(b"thalweg_steady\0").map_err(said)?,
                *library.get::<Fire>(b"thalweg_fire\0").map_err(said)?,
                *library.get::<Turns>(b"thalweg_turns\0").map_err(said)?,
                *library.get::<Fired>(b"thalweg_fired\0").map_err(said)?,
                *library.get::<SetApart>(b"thalweg_apart\0").map_err(said)?,
                *library.get::<Join>(b"thalweg_join\0").map_err(said)?,
            )
        };
        // SAFETY: as above (`emit::parts`).
        let parts = unsafe { Parts::find(&library) };
        Ok(Library { size, begin, steady, fire, turns, fired, set_apart, join, parts, _library: library })
    }
}

impl Parts {
    /// The functions of a program's steps, if it has them.
    ///
    /// # Safety
    /// Functions of these names have these types.
    unsafe fn find(library: &libloading::Library) -> Option<Parts> {
        // SAFETY: the caller knows the types.
        unsafe {
            Some(Parts {
                steps: *library.get::<Steps>(b"thalweg_steps\0").ok()?,
                firings: *library.get::<Firings>(b"thalweg_firings\0").ok()?,
                seek: *library.get::<Seek>(b"thalweg_seek\0").ok()?,
            })
        }
    }
}

/// What prints on behalf of a program.
pub(crate) trait Host {
    /// Prints by a format of a node's code; `args` gives so many scalars. Whether it could.
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool;

    /// Makes room in a queue for so many items more; whether it could.
    fn more(&mut self, channel: usize, queue: &mut Queue, items: u64) -> bool;

    /// Sends a message; `args` gives so many scalars, and `mail` is all nodes'. Whether it could.
    fn send(&mut self, sent: Sent, args: &dyn Fn(usize) -> Vec<i32>, mail: &mut [Mail]) -> bool;

    /// A node's next letter before a firing, if there is one: for which handler, and what it is given. It stays
    /// where it is until the next call.
    fn take(&mut self, node: u32, firing: u64, mail: &mut [Mail]) -> Option<(u32, &[i32])>;

    /// Whether the program is to be stopped where it is.
    fn stops(&mut self) -> bool;
}

/// A message: which of those that a node's code sends, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) node: u32,
    pub(crate) which: u32,
    pub(crate) message: u32,
    pub(crate) firing: u64,
    pub(crate) latency: i32,
}

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

/// Firings that may wait in their middle, by node, of a program's state: each node's on a stack of its own, with
/// a state of its own in which only what that node keeps means anything. So they may go from one
/// thread to another, and from one state to another.
#[derive(Default)]
pub(crate) struct Fibers<'a> {
    all: HashMap<u32, Apart<'a>>,
}

/// One node's firings.
struct Apart<'a> {
    fiber: Fiber,
    state: State<'a>,
}

impl<'a> Fibers<'a> {
    /// Those of some nodes, which are not here any more.
    pub(crate) fn of(&mut self, nodes: &[NodeId]) -> Fibers<'a> {
        let all = nodes.iter().filter_map(|node| Some((node.0, self.all.remove(&node.0)?)));
        Fibers { all: all.collect() }
    }

    /// Takes others in.
    pub(crate) fn extend(&mut self, others: Fibers<'a>) {
        self.all.extend(others.all);
    }
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
        // SAFETY: the state is one of this library's, and nobody else has it.
        unsafe { (self.library.fired)(self.memory.as_mut_ptr().cast(), node) as u64 }
    }

    /// Fires a node of dynamic rates so many times at the most: what came of it, and how often it has fired.
    pub(crate) fn flow(&mut self, node: u32, n: u64, host: &mut dyn Host) -> (Flowed, u64) {
        let done = self.fire(node, n, host);
        let fired = self.env().done as u64;
        (if done { Flowed::Rests } else { Flowed::Failed }, fired)
    }

    /// The same of one that may wait in its middle, on a stack of so many bytes, which moves items through those
    /// channels; where it waits, its firing goes on now, and then others, as many as were asked for when it
    /// began.
    pub(crate) fn flow_apart(
        &mut self,
        node: u32,
        n: u64,
        (fibers, stack, channels): (&mut Fibers<'a>, usize, &[ChannelId]),
        host: &mut dyn Host,
    ) -> Result<(Flowed, u64), String> {
        let Apart { fiber, state } = match fibers.all.entry(node) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let fiber = Fiber::new(self.library.fire, node, stack)?;
                entry.insert(Apart { fiber, state: self.fork() })
            }
        };
        for channel in channels {
            state.queues()[channel.0 as usize] = self.queues()[channel.0 as usize];
        }
        if !fiber.waits() {
            state.join(self, node);
        }
        // All nodes' mail is wherever somebody fires.
        std::mem::swap(&mut self.mail, &mut state.mail);
        let mut came = None;
        state.call(host, |state| {
            // SAFETY: as above; the fiber's stack outlives the call, and the state is the one that it has
            // been resumed with before, since it is the fiber's own. Its queues of these channels are this
            // state's, which uses none meanwhile.
            came = Some(unsafe { fiber.resume(state, n as i64) });
            0
        });
        std::mem::swap(&mut self.mail, &mut state.mail);
        for channel in channels {
            self.queues()[channel.0 as usize] = state.queues()[channel.0 as usize];
        }
        if !fiber.waits() {
            self.join(state, node);
        }
        if let Some((Flowed::Failed, _)) = came {
            let (env, theirs) = (self.env(), state.env());
            (env.node, env.which, env.site) = (theirs.node, theirs.which, theirs.site);
            (env.firing, env.args) = (theirs.firing, theirs.args);
        }
        came.ok_or_else(|| "it was not called".into())
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
        env.print = Some(print);
        env.wait = Some(super::fiber::wait);
        env.more = Some(more);
        (env.mail, env.nodes) = (mail, nodes);
        env.send = Some(send);
        env.take = Some(take);
        env.ask = Some(ask);
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

/// The most memory that is lent for reading, and for writing.
pub(crate) const LENDERS: usize = 4;

/// Memory in which buffers stand during a call: which buffer, and where. What is empty is not lent.
#[derive(Default)]
pub(crate) struct Lent<'a> {
    /// Nothing is written there.
    pub(crate) read: [(usize, &'a [u8]); LENDERS],
    pub(crate) written: [(usize, &'a mut [u8]); LENDERS],
}

/// Memory that programs read and write, seen as bytes from here.
#[derive(Default, Debug)]
pub(crate) struct Memory {
    blocks: Vec<Block>,
}

impl Memory {
    /// So many bytes of zeros.
    pub(crate) fn new(bytes: usize) -> Memory {
        Memory { blocks: vec![[0; 8]; bytes.div_ceil(size_of::<Block>()) + 1] }
    }

    /// Makes it as long as a new one of so many bytes; what is in it stays.
    pub(crate) fn grow(&mut self, bytes: usize) {
        self.blocks.resize(bytes.div_ceil(size_of::<Block>()) + 1, [0; 8]);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: words are bytes, and the slice is as long as they are.
        unsafe {
            std::slice::from_raw_parts(self.blocks.as_ptr().cast(), self.blocks.len() * size_of::<Block>())
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let bytes = self.blocks.len() * size_of::<Block>();
        // SAFETY: as above, and any bytes are words.
        unsafe { std::slice::from_raw_parts_mut(self.blocks.as_mut_ptr().cast(), bytes) }
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.blocks.as_mut_ptr().cast()
    }

    /// Where a byte of it is.
    pub(crate) fn pointer_at(&mut self, at: usize) -> *mut u8 {
        self.bytes_mut()[at..].as_mut_ptr()
    }
}

/// What the program calls to print.
///
/// # Safety
/// `host` is what [`State::call`] has put into the environment, and `args` leads to as many scalars as the
/// format has.
unsafe extern "C" fn print(host: *mut c_void, node: u32, which: u32, format: u32, args: *const i32) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and we are inside of that call.
    let host = unsafe { &mut *host.cast::<&mut dyn Host>() };
    let read = |count: usize| {
        // SAFETY: the program has put as many scalars there as the format has.
        unsafe { std::slice::from_raw_parts(args, count) }.to_vec()
    };
    i32::from(!host.print(node, which, format, &read))
}

/// What the program calls where a queue has no room.
///
/// # Safety
/// The environment is a state's, and the queue one of those that come right after it.
unsafe extern "C" fn more(env: *mut Env, queue: *mut Queue, items: i64) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and we are inside of that call.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    let channel = (queue.addr() - env.addr() - size_of::<Env>()) / size_of::<Queue>();
    // SAFETY: the program, which is the only one to have the queue, waits for us.
    i32::from(!host.more(channel, unsafe { &mut *queue }, items as u64))
}

/// What the program calls to send a message; not 0 where that cannot be.
///
/// # Safety
/// The environment is a state's in a call, and `args` leads to as many scalars as the message has.
unsafe extern "C" fn send(
    env: *mut Env,
    node: u32,
    which: u32,
    message: u32,
    firing: i64,
    latency: i32,
    args: *const i32,
) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and we are inside of that call.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    // SAFETY: [`State::call`] has put the state's mail there, which the program, that waits for us, alone uses.
    let mail = unsafe { mail_of(env) };
    let read = |count: usize| {
        // SAFETY: the program has put as many scalars there as the message has.
        unsafe { std::slice::from_raw_parts(args, count) }.to_vec()
    };
    let sent = Sent { node, which, message, firing: firing as u64, latency };
    i32::from(!host.send(sent, &read, mail))
}

/// What the program calls for a node's next letter.
///
/// # Safety
/// The environment is a state's in a call, and `handler` leads to a number.
unsafe extern "C" fn take(env: *mut Env, node: u32, firing: i64, handler: *mut u32) -> *const i32 {
    // SAFETY: as above.
    let (host, mail) = unsafe { (&mut *(*env).host.cast::<&mut dyn Host>(), mail_of(env)) };
    match host.take(node, firing as u64, mail) {
        None => std::ptr::null(),
        Some((which, args)) => {
            // SAFETY: the caller vouches for it.
            unsafe { *handler = which };
            // Not null, even where it is empty.
            args.as_ptr()
        }
    }
}

/// The mail of a state in a call.
///
/// # Safety
/// The environment is that state's, and nobody else looks at its mail meanwhile.
unsafe fn mail_of<'m>(env: *mut Env) -> &'m mut [Mail] {
    // SAFETY: [`State::call`] has put it there, with its length; where it is empty the pointer is aligned.
    unsafe { std::slice::from_raw_parts_mut((*env).mail, (*env).nodes as usize) }
}

/// What the program calls to ask whether it is to be stopped.
///
/// # Safety
/// The environment is a state's in a call.
unsafe extern "C" fn ask(env: *mut Env) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and we are inside of that call.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    i32::from(host.stops())
}
