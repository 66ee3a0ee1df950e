//! What a program calls: to print, for room in a queue, for messages, and to ask whether it is stopped.

use super::abi::{Env, Mail, Queue};
use std::ffi::c_void;

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

/// What the program calls to print.
///
/// # Safety
/// `host` is what [`State::call`](super::State::call) has put into the environment, and `args` leads to as many scalars as the
/// format has.
pub(super) unsafe extern "C" fn print(
    host: *mut c_void,
    node: u32,
    which: u32,
    format: u32,
    args: *const i32,
) -> i32 {
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
pub(super) unsafe extern "C" fn more(env: *mut Env, queue: *mut Queue, items: i64) -> i32 {
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
pub(super) unsafe extern "C" fn send(
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
    // SAFETY: [`State::call`](super::State::call) has put the state's mail there, which the program, that waits for us, alone uses.
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
pub(super) unsafe extern "C" fn take(env: *mut Env, node: u32, firing: i64, handler: *mut u32) -> *const i32 {
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
    // SAFETY: [`State::call`](super::State::call) has put it there, with its length; where it is empty the pointer is aligned.
    unsafe { std::slice::from_raw_parts_mut((*env).mail, (*env).nodes as usize) }
}

/// What the program calls to ask whether it is to be stopped.
///
/// # Safety
/// The environment is a state's in a call.
pub(super) unsafe extern "C" fn ask(env: *mut Env) -> i32 {
    // SAFETY: the host lives until the call into the program returns, and we are inside of that call.
    let host = unsafe { &mut *(*env).host.cast::<&mut dyn Host>() };
    i32::from(host.stops())
}
