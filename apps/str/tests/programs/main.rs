//! The programs, run with the interpreter, have the expected results.

mod ciphers;
mod codes;
mod events;
mod run;
mod signals;
mod sorts;
mod sources;
mod transforms;
mod video;
