//! Seals: other crates can neither implement the traits of this crate nor call their hidden methods.
//!
//! The traits of ports are public because kernels are generic over them, and have methods that are
//! sound only as the engine calls them. Code in other crates can name a port's type by a trait's bounds,
//! but cannot have a value of it.
//!
//! Invariant: ports are made by `attach` alone, which takes an [`EngineOnly`], and this crate alone can make one.

/// Implemented by this crate's types only.
pub trait Sealed {}

/// A token that proves that the caller is this crate.
#[derive(Clone, Copy, Debug)]
pub struct EngineOnly(pub(crate) ());

impl<T: Sealed> Sealed for Vec<T> {}

macro_rules! tuples {
    ($($T:ident)*) => {
        impl<$($T: Sealed),*> Sealed for ($($T,)*) {}
    };
}

tuples!();
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
