//! What moves between processes: the share that one process has of a batch.

use std::any::Any;

use postcard::ser_flavors::Size;
use serde::Serialize;
use serde::de::DeserializeOwned;

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
    /// In this process, as they are, with the bytes of their encoding if these were counted.
    Here(Box<dyn Any + Send>, usize),
    /// To another process, encoded.
    Encoded(Vec<u8>),
    /// From another process, in the buffer in which they came.
    Received(Box<dyn AsRef<[u8]> + Send>),
}

impl Body {
    /// The body of a piece that stays in this process or goes to another.
    pub fn new<T: Serialize + Send + 'static>(items: T, place: Place) -> Result<Body, Damaged> {
        let cannot = |_| Damaged("cannot be encoded");
        Ok(match place {
            Place::Here => Body::Here(Box::new(items), 0),
            Place::Counted => {
                let bytes = encoded_len(&items).map_err(cannot)?;
                Body::Here(Box::new(items), bytes)
            }
            Place::There => Body::Encoded(postcard::to_stdvec(&items).map_err(cannot)?),
        })
    }

    /// The items.
    pub fn into_items<T: DeserializeOwned + 'static>(self) -> Result<T, Damaged> {
        let bytes: &[u8] = match &self {
            Body::Here(..) => return self.into_any().ok_or(Damaged("has items of another type")),
            Body::Encoded(bytes) => bytes,
            Body::Received(bytes) => (**bytes).as_ref(),
        };
        postcard::from_bytes(bytes).map_err(|_| Damaged("cannot be decoded"))
    }

    fn into_any<T: 'static>(self) -> Option<T> {
        match self {
            Body::Here(items, _) => items.downcast().ok().map(|items| *items),
            Body::Encoded(_) | Body::Received(_) => None,
        }
    }

    /// The encoding; empty in this process.
    pub fn encoded(&self) -> &[u8] {
        match self {
            Body::Here(..) => &[],
            Body::Encoded(bytes) => bytes,
            Body::Received(bytes) => (**bytes).as_ref(),
        }
    }

    /// The bytes of the encoding; 0 if they were not counted.
    pub fn bytes(&self) -> usize {
        match self {
            Body::Here(_, bytes) => *bytes,
            Body::Encoded(_) | Body::Received(_) => self.encoded_len(),
        }
    }

    /// The length of the encoding.
    pub fn encoded_len(&self) -> usize {
        self.encoded().len()
    }
}

/// The bytes of an encoding.
pub(crate) fn encoded_len<T: Serialize>(value: &T) -> postcard::Result<usize> {
    postcard::serialize_with_flavor(value, Size::default())
}

/// What is wrong with the items of a piece.
#[derive(Debug)]
pub(crate) struct Damaged(pub &'static str);
