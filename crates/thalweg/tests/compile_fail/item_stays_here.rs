//! Items go from thread to thread.

use std::rc::Rc;

fn main() {
    let _ = thalweg::from_iter((0..3).map(Rc::new));
}
