//! Pictures of streams.
