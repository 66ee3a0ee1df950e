//! Callbacks of a program: to print, to grow a queue, for messages, and to ask whether to stop.

use super::abi::{Env, Inbox, Queue};
use std::ffi::c_void;

/// The engine's side of the callbacks.
pub(crate) trait Host {
    /// Prints by a format of a node's code; `args` reads the given number of scalars. Returns whether it
    /// succeeded.
    fn print(&mut self, node: u32, which: u32, format: u32, args: &dyn Fn(usize) -> Vec<i32>) -> bool;

    /// The number of queues of the program.
    fn queues(&self) -> usize;

    /// Makes room for further items in the queue of a channel.
    fn more(&mut self, channel: usize, queues: &mut [Queue], items: u64) -> Room;

    /// Sends a message; `args` reads the given number of scalars, `inboxes` has the inbox headers of all nodes.
    /// Returns whether it succeeded.
    fn send(&mut self, sent: Sent, args: &dyn Fn(usize) -> Vec<i32>, inboxes: &mut [Inbox]) -> bool;

    /// Takes a node's next message that is due before a firing: its handler and arguments. They stay in place
    /// until the next call.
    fn take(&mut self, node: u32, firing: u64, inboxes: &mut [Inbox]) -> Option<(u32, &[i32])>;

    /// Whether the program is to stop where it is.
    fn stops(&mut self) -> bool;
}

/// The answer to a request for room.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Room {
    Granted,
    /// Granted, for the firing that requests it and no other in this call.
    Last,
    Refused,
}

/// A message that is sent: its index among those of a node's code, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    pub(crate) node: u32,
    pub(crate) which: u32,
    pub(crate) message: u32,
    pub(crate) firing: u64,
    pub(crate) latency: i32,
}

/// Called by the program to print.
///
/// # Safety
/// `host` is what [`State::call`](super::State::call) has put into the environment, and `args` points to as
/// many scalars as the format has.
pub(super) unsafe extern "C" fn print(
    host: *mut c_void,
    node: u32,
    which: u32,
    format: u32,
    args: *const i32,
) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and that call is running.
    let host = unsafe { &mut *host.cast::<&mut dyn Host>() };
    let read = |count: usize| {
        // SAFETY: the program has put as many scalars there as the format has.
        unsafe { std::slice::from_raw_parts(args, count) }.to_vec()
    };
    i32::from(!host.print(node, which, format, &read))
}

/// Called by the program where a queue has no room.
///
/// # Safety
/// The environment is a state's in a call, the host's queues come right after it, and the queue is one of them.
pub(super) unsafe extern "C" fn more(env: *mut Env, queue: *mut Queue, items: i64) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and that call is running.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    let channel = (queue.addr() - env.addr() - size_of::<Env>()) / size_of::<Queue>();
    // SAFETY: the queues follow the environment without padding, and only the program uses them, which waits for this
    // function.
    let queues = unsafe { std::slice::from_raw_parts_mut(env.add(1).cast::<Queue>(), host.queues()) };
    let room = host.more(channel, queues, items as u64);
    // SAFETY: the environment is that of a call, which waits for this function.
    unsafe { (*env).full |= i64::from(room == Room::Last) };
    i32::from(room == Room::Refused)
}

/// Called by the program to send a message; returns a non-zero value on failure.
///
/// # Safety
/// The environment is a state's in a call, and `args` points to as many scalars as the message has.
pub(super) unsafe extern "C" fn send(
    env: *mut Env,
    node: u32,
    which: u32,
    message: u32,
    firing: i64,
    latency: i32,
    args: *const i32,
) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and that call is running.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    // SAFETY: [`State::call`](super::State::call) has put the state's inboxes there; only the program uses
    // them, and it waits for this function.
    let inboxes = unsafe { inboxes_of(env) };
    let read = |count: usize| {
        // SAFETY: the program has put as many scalars there as the message has.
        unsafe { std::slice::from_raw_parts(args, count) }.to_vec()
    };
    let sent = Sent { node, which, message, firing: firing as u64, latency };
    i32::from(!host.send(sent, &read, inboxes))
}

/// Called by the program for a node's next message; returns null if none is due.
///
/// # Safety
/// The environment is a state's in a call, and `handler` points to a number.
pub(super) unsafe extern "C" fn take(env: *mut Env, node: u32, firing: i64, handler: *mut u32) -> *const i32 {
    // SAFETY: as in `send`, for the host and for the inboxes.
    let (host, inboxes) = unsafe { (&mut *(*env).host.cast::<&mut dyn Host>(), inboxes_of(env)) };
    match host.take(node, firing as u64, inboxes) {
        None => std::ptr::null(),
        Some((which, args)) => {
            // SAFETY: `handler` points to a number, as the caller vouches.
            unsafe { *handler = which };
            // Not null, even for an empty slice.
            args.as_ptr()
        }
    }
}

/// The inbox headers of a state in a call.
///
/// # Safety
/// The environment is that state's, and nothing else accesses its inboxes meanwhile.
unsafe fn inboxes_of<'m>(env: *mut Env) -> &'m mut [Inbox] {
    // SAFETY: [`State::call`](super::State::call) has put pointer and length there; the pointer of an empty
    // vector is aligned too.
    unsafe { std::slice::from_raw_parts_mut((*env).mail, (*env).nodes as usize) }
}

/// Called by the program to ask whether it is to stop.
///
/// # Safety
/// The environment is a state's in a call.
pub(super) unsafe extern "C" fn ask(env: *mut Env) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and that call is running.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    i32::from(host.stops())
}
