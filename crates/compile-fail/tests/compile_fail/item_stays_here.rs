//! Items are sent between threads, so they must be `Send`.

use std::rc::Rc;

fn main() {
    let _ = thalweg::from_iter((0..3).map(Rc::new));
}
