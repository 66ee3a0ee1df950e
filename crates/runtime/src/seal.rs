//! What keeps the traits of this crate from being implemented, and their machinery from being
//! called, by other crates.
//!
//! The traits of ports are public because kernels are generic over them, and have methods that are
//! sound only as the engine calls them. Code elsewhere may name a port's type by a trait's bounds,
//! but has no value of it: ports come from `attach` alone, which asks for an [`EngineOnly`].

/// Implemented by this crate's types only.
pub trait Sealed {}

/// Shows that this crate calls: no other can make one.
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
