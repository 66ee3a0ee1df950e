//! What the C compiler is told, of generated code and of the hand-written code that it is measured against.

/// Flags that keep the interpreter's bits: integers wrap, and nothing is contracted. (That operations do not
/// trap must not be said: GCC 12 then makes -0.0 of `(float)(int)-0.3f`.) Expressions stay where they are
/// written: put together at their only use, all operands of a sum would be in registers at once.
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
