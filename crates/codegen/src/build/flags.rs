//! Flags of the C compiler, for generated code and for the hand-written code that it is measured against.

/// Flags that keep the interpreter's bits: integers wrap, and no operations are contracted.
/// (`-fno-trapping-math` must not be set: GCC 12 then computes -0.0 for `(float)(int)-0.3f`.) `-fno-tree-ter`
/// leaves expressions where they are written: substituted into their only use, all operands of a sum would be
/// in registers at once.
pub const FLAGS: &[&str] = &[
    "-std=gnu11",
    "-O3",
    "-march=native",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-strict-aliasing",
    "-fno-tree-ter",
    "-fPIC",
];
