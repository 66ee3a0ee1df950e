//! A pool of recycled buffers. A buffer returns to its pool when its last owner drops it.
//!
//! A fresh mebibyte costs hundreds of page faults, which take several per cent of the time to compress it. A recycled
//! one costs none. The pool never holds more buffers than were alive at once, so it does not raise the memory bound
//! of the run.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};

/// A stack of idle buffers.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    idle: Mutex<Vec<Vec<u8>>>,
}

impl Pool {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// An empty buffer with room for `capacity` bytes.
    pub fn take(self: &Arc<Self>, capacity: usize) -> Buffer {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut bytes = idle.unwrap_or_default();
        bytes.reserve(capacity);
        Buffer { bytes, pool: Some(Arc::clone(self)) }
    }
}

/// A byte vector that returns to its pool when it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    pool: Option<Arc<Pool>>,
}

impl Buffer {
    /// Takes an empty buffer with room for `capacity` bytes from the same pool.
    pub fn take_another(&self, capacity: usize) -> Buffer {
        match &self.pool {
            Some(pool) => pool.take(capacity),
            None => Buffer { bytes: Vec::with_capacity(capacity), pool: None },
        }
    }
}

impl Deref for Buffer {
    type Target = Vec<u8>;

    fn deref(&self) -> &Vec<u8> {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            let mut bytes = std::mem::take(&mut self.bytes);
            bytes.clear();
            pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_buffer_is_reused_empty() {
        let pool = Pool::new();
        let mut first = pool.take(100);
        first.extend_from_slice(b"old");
        let address = first.as_ptr();
        drop(first);
        let second = pool.take(100);
        assert_eq!(second.as_ptr(), address);
        assert!(second.is_empty());
    }
}
