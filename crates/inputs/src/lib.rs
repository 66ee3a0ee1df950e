//! Texts as programs read them: decompressed if they are gzip, and without a byte order mark.
//!
//! ```
//! use std::io::Read;
//! use thalweg_inputs::Content;
//!
//! let mut text = String::new();
//! Content::from("\u{feff}1 2\n".as_bytes()).open()?.read_to_string(&mut text)?;
//! assert_eq!(text, "1 2\n");
//! # Ok::<(), std::io::Error>(())
//! ```

mod content;
mod gzip;
mod mark;

pub use content::{Content, Opened};
pub use mark::WithoutMark;
