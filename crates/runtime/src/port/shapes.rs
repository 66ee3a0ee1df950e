//! The shapes that the ports on one side of a node have together: [`One`] port, a tuple, or a vector; and what applies a
//! port's method to all ports of a shape, whichever it is.
//!
//! [`Inputs`](super::inputs::Inputs) and [`Outputs`](super::outputs::Outputs) state each method once, as a macro's text in
//! which a shape is a token: `one`, `many`, or `[0 1 2]` for a tuple of three. These macros expand to code for the shape:
//!
//! | macro | one port | tuple | vector |
//! |---|---|---|---|
//! | `each!` runs a statement for each port | the statement | one statement a port | a loop |
//! | `map!` makes a value of each port, and of these the shape's value | the value | a tuple | a vector |
//! | `pick!` evaluates an expression for the port of an index | the expression | a `match` | an index |
//!
//! A statement of `each!` may `return` from the method. The word `of` takes a port from `self`, and `in` a cursor from the
//! cursors: the cursor of a single port stands alone, so that its kernel gets the cursor, not a tuple of one.

use crate::seal::Sealed;

/// A node's only port on one side.
#[derive(Debug)]
pub struct One<P>(pub(crate) P);

impl<P> Sealed for One<P> {}

/// The cursors of a vector of ports: a slice whose cursors cannot be moved out, so its length stays that of the ports.
#[derive(Debug)]
pub struct Many<C>(pub(crate) Box<[C]>);

impl<C> std::ops::Deref for Many<C> {
    type Target = [C];

    fn deref(&self) -> &[C] {
        &self.0
    }
}

impl<C> std::ops::DerefMut for Many<C> {
    fn deref_mut(&mut self) -> &mut [C] {
        &mut self.0
    }
}

/// A reference of the kind that the first word names.
macro_rules! borrow {
    (ref $($place:tt)*) => { &$($place)* };
    (mut $($place:tt)*) => { &mut $($place)* };
}

/// An iterator over references of the kind that the first word names.
macro_rules! iterate {
    (ref $list:ident) => {
        $list.iter()
    };
    (mut $list:ident) => {
        $list.iter_mut()
    };
}

macro_rules! each {
    (one; $at:tt, $a:tt of $ka:tt $pa:ident => $do:expr) => {{
        let ($at, $a) = (0, borrow!($ka $pa.0));
        $do;
    }};
    (one; $at:tt, $a:tt in $ka:tt $pa:ident => $do:expr) => {{
        let ($at, $a) = (0, borrow!($ka *$pa));
        $do;
    }};
    (one; $at:tt, $a:tt of $ka:tt $pa:ident, $b:tt in $kb:tt $pb:ident => $do:expr) => {{
        let ($at, $a, $b) = (0, borrow!($ka $pa.0), borrow!($kb *$pb));
        $do;
    }};
    (many; $at:tt, $a:tt $word:tt $ka:tt $pa:ident => $do:expr) => {
        for ($at, $a) in iterate!($ka $pa).enumerate() {
            $do;
        }
    };
    (many; $at:tt, $a:tt $word:tt $ka:tt $pa:ident, $b:tt in $kb:tt $pb:ident => $do:expr) => {
        for ($at, ($a, $b)) in iterate!($ka $pa).zip(iterate!($kb $pb)).enumerate() {
            $do;
        }
    };
    ([$($i:tt)*]; $at:tt, $a:tt $word:tt $ka:tt $pa:ident => $do:expr) => {$({
        let ($at, $a) = ($i, borrow!($ka $pa.$i));
        $do;
    })*};
    ([$($i:tt)*]; $at:tt, $a:tt $word:tt $ka:tt $pa:ident, $b:tt in $kb:tt $pb:ident => $do:expr) => {$({
        let ($at, $a, $b) = ($i, borrow!($ka $pa.$i), borrow!($kb $pb.$i));
        $do;
    })*};
}

/// `map!(shape value; ..)`: `value` is `ports`, `cursors` or `ends` (of the channels, and glances), which have shapes of
/// their own, or `list`, for numbers by port.
macro_rules! map {
    (one ports; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {{
        let ($at, $port) = (0, borrow!($kind $ports.0));
        One($do)
    }};
    (one list; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {{
        let ($at, $port) = (0, borrow!($kind $ports.0));
        [$do]
    }};
    (one $value:tt; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {{
        let ($at, $port) = (0, borrow!($kind $ports.0));
        $do
    }};
    (many cursors; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {
        Many(iterate!($kind $ports).enumerate().map(|($at, $port)| $do).collect())
    };
    (many $value:tt; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {
        iterate!($kind $ports).enumerate().map(|($at, $port)| $do).collect()
    };
    ([$($i:tt)*] list; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {
        [$({
            let ($at, $port) = ($i, borrow!($kind $ports.$i));
            $do
        }),*]
    };
    ([$($i:tt)*] $value:tt; $at:tt, $port:tt of $kind:tt $ports:ident => $do:expr) => {
        ($({
            let ($at, $port) = ($i, borrow!($kind $ports.$i));
            $do
        },)*)
    };
}

macro_rules! pick {
    (one; $at:ident, $a:tt of $ka:tt $pa:ident $(, $b:tt in $kb:tt $pb:ident)? => $do:expr) => {{
        let $a = borrow!($ka $pa.0);
        $(let $b = borrow!($kb *$pb);)?
        $do
    }};
    (one; $at:ident, $a:tt in $ka:tt $pa:ident => $do:expr) => {{
        let $a = borrow!($ka *$pa);
        $do
    }};
    (many; $at:ident, $a:tt $word:tt $ka:tt $pa:ident $(, $b:tt in $kb:tt $pb:ident)? => $do:expr) => {{
        let $a = borrow!($ka $pa[$at]);
        $(let $b = borrow!($kb $pb[$at]);)?
        $do
    }};
    ([$($i:tt)*]; $at:ident, $a:tt $word:tt $ka:tt $pa:ident => $do:expr) => {
        match $at {
            $($i => { let $a = borrow!($ka $pa.$i); $do })*
            _ => unreachable!("the node has no such port"),
        }
    };
    ([$($i:tt)*]; $at:ident, $a:tt $word:tt $ka:tt $pa:ident, $b:tt in $kb:tt $pb:ident => $do:expr) => {
        match $at {
            $($i => { let ($a, $b) = (borrow!($ka $pa.$i), borrow!($kb $pb.$i)); $do })*
            _ => unreachable!("the node has no such port"),
        }
    };
}

pub(crate) use {borrow, each, iterate, map, pick};
