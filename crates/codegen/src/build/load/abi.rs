//! The interface of generated code and the engine: structures and functions, as declared in the C of `emit`.

use std::ffi::c_void;

/// Eight 64-bit words: the unit in which memory of programs is allocated, so that it is aligned.
pub(crate) type Block = [u64; 8];

/// `struct env` of the C text.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Env {
    pub(crate) host: *mut c_void,
    pub(crate) print: Option<Print>,
    pub(crate) out: *mut c_void,
    pub(crate) node: u32,
    pub(crate) which: u32,
    pub(crate) site: u32,
    pub(crate) patient: u32,
    pub(crate) firing: i64,
    pub(crate) args: [i64; 2],
    pub(crate) wait: Option<Wait>,
    pub(crate) more: Option<More>,
    pub(crate) done: i64,
    pub(crate) fiber: *const c_void,
    pub(crate) full: i64,
    pub(crate) mail: *mut Inbox,
    pub(crate) nodes: i64,
    pub(crate) send: Option<Send>,
    pub(crate) take: Option<Take>,
    pub(crate) ask: Option<Ask>,
}

impl Env {
    /// Whether the last call was stopped by request, rather than by a failure.
    pub(crate) fn is_stopped(&self) -> bool {
        self.site == u32::MAX - 1
    }
}

/// `struct mail` of the C text: the header of a node's inbox.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Inbox {
    /// The firing before which the next message is to be handled.
    pub(crate) due: i64,
    /// How often a node that receives messages has fired.
    pub(crate) fired: i64,
}

impl Inbox {
    /// The header of an empty inbox, before the node's first firing.
    pub(crate) const NONE: Inbox = Inbox { due: i64::MAX, fired: 0 };
}

/// `struct queue` of the C text.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queue {
    pub(crate) items: *mut c_void,
    pub(crate) read: i64,
    pub(crate) written: i64,
    pub(crate) mask: i64,
}

pub(super) type Print = unsafe extern "C" fn(*mut c_void, u32, u32, u32, *const i32) -> i32;
pub(super) type Wait = unsafe extern "C" fn(*mut Env, u32, i64, i64);
pub(super) type More = unsafe extern "C" fn(*mut Env, *mut Queue, i64) -> i32;
pub(super) type Send = unsafe extern "C" fn(*mut Env, u32, u32, u32, i64, i32, *const i32) -> i32;
pub(super) type Ask = unsafe extern "C" fn(*mut Env) -> i32;
pub(super) type Take = unsafe extern "C" fn(*mut Env, u32, i64, *mut u32) -> *const i32;
pub(super) type Fired = unsafe extern "C" fn(*mut c_void, u32) -> *mut i64;
pub(super) type Size = unsafe extern "C" fn() -> i64;
pub(super) type Begin = unsafe extern "C" fn(*mut c_void);
pub(super) type Steady = unsafe extern "C" fn(*mut c_void, u32, i64) -> i32;
pub(in crate::build) type Fire = unsafe extern "C" fn(*mut c_void, u32, i64) -> i32;
pub(super) type Steps = unsafe extern "C" fn(*mut c_void, u32, u32, i64) -> i32;
pub(super) type Firings = unsafe extern "C" fn(*mut c_void, u32, i64, i64) -> i32;
pub(super) type Batches = unsafe extern "C" fn(*mut c_void, u32, u32, i64, i64, *mut i64) -> i32;
pub(super) type SetApart = unsafe extern "C" fn(*mut c_void, u32, i64);
pub(super) type Seek = unsafe extern "C" fn(*mut c_void, i64);
pub(super) type Join = unsafe extern "C" fn(*mut c_void, *const c_void, u32);
