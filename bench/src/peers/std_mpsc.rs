//! The standard library's `mpsc::sync_channel`, a thread per stage.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::link::Link;

/// The standard library's channels.
pub struct StdMpsc;

impl Link for StdMpsc {
    type Sender<T: Send> = SyncSender<T>;
    type Receiver<T: Send> = Receiver<T>;

    fn bounded<T: Send>(capacity: usize) -> (SyncSender<T>, Receiver<T>) {
        sync_channel(capacity)
    }
    fn send<T: Send>(to: &SyncSender<T>, item: T) -> bool {
        to.send(item).is_ok()
    }
    fn receive<T: Send>(from: &Receiver<T>) -> Option<T> {
        from.recv().ok()
    }
}
