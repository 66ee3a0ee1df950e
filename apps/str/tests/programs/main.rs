//! The programs, run with the interpreter, give what they must.

mod ciphers;
mod codes;
mod events;
mod run;
mod shape;
mod signals;
mod sorts;
mod transforms;
mod video;
