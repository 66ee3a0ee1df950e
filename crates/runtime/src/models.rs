//! loom models of the protocols.
