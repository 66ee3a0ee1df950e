//! Streams that begin a graph of their own.

use crate::{Graph, Stream};

/// A stream of the items of an iterator, in a graph of its own: see [`Graph::source`]. An iterator that may wait for long,
/// for a socket or a person, keeps a worker from other nodes meanwhile, unless the source is [blocking](Stream::blocking).
pub fn from_iter<'env, S>(items: S) -> Stream<'env, S::Item>
where
    S: IntoIterator,
    S::IntoIter: Send + 'env,
    S::Item: Send + 'env,
{
    Graph::new().source(items)
}

/// A stream of an iterator that may fail, in a graph of its own: see [`Graph::try_source`].
pub fn from_try_iter<'env, S, T, E>(items: S) -> Stream<'env, T>
where
    S: IntoIterator<Item = Result<T, E>>,
    S::IntoIter: Send + 'env,
    T: Send + 'env,
    E: Into<Box<dyn std::error::Error + Send + Sync>> + 'env,
{
    Graph::new().try_source(items)
}
