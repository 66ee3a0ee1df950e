//! Machines: read from folders like those of Linux, read from and printed as text, their hierarchy, and their costs.

mod fixtures;
mod here;
mod levels;
mod limits;
mod measure;
mod text;
