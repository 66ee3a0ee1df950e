//! What moves between processes: the share that one process has of a batch.

use std::any::{Any, type_name};
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use postcard::ser_flavors::{Flavor, Size};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::chain::message;
use crate::ticket::Ticket;

/// The items of a batch that go to one process, from one process.
pub(crate) struct Piece {
    pub ticket: Ticket,
    /// The batch is the last of its part.
    pub last: bool,
    /// Another piece of the same process follows, with more items of the batch.
    pub more: bool,
    /// The process that made the piece: the receiver puts those of a batch into this order.
    pub from: u32,
    pub to: u32,
    pub body: Body,
}

/// Where the items of a piece go.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// To another process.
    There,
    /// To this one.
    Here,
    /// To this one, and a budget must know their bytes.
    Counted,
}

/// The items of a piece.
pub(crate) enum Body {
    /// No item.
    Empty,
    /// In this process, as they are, with the bytes of their encoding if these were counted.
    Here(Kept, usize),
    /// To another process, encoded.
    Encoded(Vec<u8>),
    /// From another process, in the buffer in which they came.
    Received(Box<dyn AsRef<[u8]> + Send>),
}

/// Items of any type. If one panics when it is dropped here, then that is caught: many pieces may be dropped at once, and a
/// second panic would end the process.
pub(crate) struct Kept(Option<Box<dyn Any + Send>>);

impl Kept {
    fn new<T: Send + 'static>(items: T) -> Kept {
        Kept(Some(Box::new(items)))
    }

    fn into_items<T: 'static>(mut self) -> Option<T> {
        self.0.take()?.downcast().ok().map(|items| *items)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let items = self.0.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(items))) {
            CAUGHT.set(Some(message(&*panic).to_owned()));
        }
    }
}

thread_local! {
    static CAUGHT: Cell<Option<String>> = const { Cell::new(None) };
}

/// What an item has said, once, that panicked when a piece was dropped in this thread.
pub(crate) fn caught() -> Option<String> {
    CAUGHT.take()
}

impl Body {
    /// The body of a piece that stays in this process or goes to another.
    pub fn new<T: Serialize + Send + 'static>(items: T, place: Place) -> Result<Body, Damaged> {
        let cannot = |_| Damaged::of::<T>("cannot be encoded");
        Ok(match place {
            Place::Here => Body::Here(Kept::new(items), 0),
            Place::Counted => {
                let bytes = encoded_len(&items).map_err(cannot)?;
                Body::Here(Kept::new(items), bytes)
            }
            Place::There => {
                let bytes = Encoding(Vec::with_capacity(LEAST_ROOM));
                Body::Encoded(postcard::serialize_with_flavor(&items, bytes).map_err(cannot)?)
            }
        })
    }

    /// The items.
    pub fn into_items<T: DeserializeOwned + 'static>(self) -> Result<T, Damaged> {
        let bytes: &[u8] = match &self {
            Body::Empty => &[],
            Body::Here(..) => return self.into_any().ok_or(Damaged::of::<T>("has items of another type")),
            Body::Encoded(bytes) => bytes,
            Body::Received(bytes) => (**bytes).as_ref(),
        };
        postcard::from_bytes(bytes).map_err(|_| Damaged::of::<T>("cannot be decoded"))
    }

    fn into_any<T: 'static>(self) -> Option<T> {
        match self {
            Body::Here(items, _) => items.into_items(),
            Body::Empty | Body::Encoded(_) | Body::Received(_) => None,
        }
    }

    /// The encoding, which has a byte at least; nothing in this process or without items.
    pub fn encoded(&self) -> &[u8] {
        match self {
            Body::Empty | Body::Here(..) => &[],
            Body::Encoded(bytes) => bytes,
            Body::Received(bytes) => (**bytes).as_ref(),
        }
    }

    /// The bytes of the encoding; 0 if they were not counted.
    pub fn bytes(&self) -> usize {
        match self {
            Body::Here(_, bytes) => *bytes,
            Body::Empty | Body::Encoded(_) | Body::Received(_) => self.encoded_len(),
        }
    }

    /// The length of the encoding.
    pub fn encoded_len(&self) -> usize {
        self.encoded().len()
    }
}

/// Bytes that an encoding has room for at first.
const LEAST_ROOM: usize = 64;

/// Collects an encoding. Most calls add a number, of a few bytes: a call of `memcpy` for each takes longer than a loop.
struct Encoding(Vec<u8>);

impl Flavor for Encoding {
    type Output = Vec<u8>;

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        match bytes.len() <= 5 {
            true => bytes.iter().for_each(|byte| self.0.push(*byte)),
            false => self.0.extend_from_slice(bytes),
        }
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// The bytes of an encoding.
pub(crate) fn encoded_len<T: Serialize>(value: &T) -> postcard::Result<usize> {
    postcard::serialize_with_flavor(value, Size::default())
}

/// What is wrong with the items of a piece.
#[derive(Debug)]
pub(crate) struct Damaged {
    what: &'static str,
    type_name: &'static str,
}

impl Damaged {
    pub fn of<T>(what: &'static str) -> Damaged {
        Damaged { what, type_name: type_name::<T>() }
    }
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a piece {} ({})", self.what, self.type_name)
    }
}
