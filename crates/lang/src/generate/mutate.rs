//! Texts that are almost programs.
