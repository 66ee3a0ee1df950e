//! Changes that must not change what a program prints and writes.
