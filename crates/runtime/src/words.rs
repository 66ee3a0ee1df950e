//! What happens outside of all activations, and must be told of by somebody who has the graph: word of it
//! is left with the run, and the workers see to it.

use crate::error::Error;
use crate::net::{Net, Signals};
use crate::process::{channel, sends};
use crate::sync::{AtomicBool, Mutex, Ordering, fence, lock};
use thalweg_graph::NodeId;

/// A word.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Word {
    /// A foreign future has woken the process.
    Woken(NodeId),
    /// An end of the process, or a message lent to it, was dropped where nobody could tell.
    Dropped(NodeId),
    /// An end of the process was dropped there, and by a panic; an operation says which.
    Torn(NodeId, u64),
}

/// Those that nobody has seen to.
#[derive(Debug)]
pub(crate) struct Words {
    list: Mutex<Vec<Word>>,
    any: AtomicBool,
}

impl Words {
    pub(crate) fn new() -> Words {
        Words { list: Mutex::new(Vec::new()), any: AtomicBool::new(false) }
    }

    #[inline]
    fn are_there(&self) -> bool {
        self.any.load(Ordering::Relaxed)
    }

    fn take(&self) -> Vec<Word> {
        let any = self.any.swap(false, Ordering::AcqRel);
        if any { std::mem::take(&mut *lock(&self.list)) } else { Vec::new() }
    }
}

impl Signals {
    /// Leaves word of something; from any thread, whenever.
    ///
    /// The list is a change, and so this is the changer's side of the protocol in `sleep`: a worker
    /// looks at the list where it looks at the nodes.
    pub(crate) fn leave_word(&self, word: Word) {
        lock(&self.words.list).push(word);
        self.words.any.store(true, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with `Sleep::announce`
        if self.sleep.any_asleep() {
            self.sleep.wake_one();
        }
    }
}

impl Net<'_> {
    /// Sees to what word was left of: makes claimable whom it concerns.
    #[inline]
    pub(crate) fn take_words(&self) {
        if self.words.are_there() {
            self.hear();
        }
    }

    #[cold]
    fn hear(&self) {
        for word in self.words.take() {
            match word {
                Word::Woken(node) => self.woken(node),
                Word::Dropped(node) => self.dropped(node),
                Word::Torn(node, operation) => self.fail_torn(node, operation),
            }
        }
    }

    fn woken(&self, node: NodeId) {
        self.nodes[node.index()].state.alert.store(true, Ordering::Release);
        if self.ready.is_told() {
            fence(Ordering::SeqCst); // pairs with that of who has just run it: see `ready`
            self.tell_outside(node);
        }
    }

    fn dropped(&self, node: NodeId) {
        // In this order: who has failed is done after the run is stopped.
        if self.nodes[node.index()].state.is_done() && !self.stopped() {
            self.end_ends(node);
        }
        self.ends_were_dropped(node);
        self.changed_outside(node);
    }

    /// Ends of the process were dropped. As where a node ends, whoever is at the other end of a channel
    /// must look, whatever it waits for.
    pub(crate) fn ends_were_dropped(&self, node: NodeId) {
        self.alert_peers(node);
        if self.is_end(node) && !self.is_live_end(node) {
            self.not_wanted(node);
        }
    }

    /// Ends of a process that has ended are of no use any more, wherever they are: their streams end,
    /// and nobody will read. But not while a message of the channel is still lent out.
    ///
    /// A cancelled node's streams stay open: see [`useful`](crate::useful).
    pub(crate) fn end_ends(&self, node: NodeId) {
        if !self.nodes[node.index()].state.is_cancelled() {
            self.outputs(node).iter().for_each(|channel| self.meter(*channel).end());
        }
        let inputs = self.inputs(node).iter().filter(|channel| !self.meter(**channel).gone());
        let unused = inputs.filter(|channel| !self.rings[channel.index()].is_lent());
        unused.for_each(|channel| self.meter(*channel).leave());
    }

    #[cold]
    fn fail_torn(&self, node: NodeId, operation: u64) {
        let end = self.end_name(operation);
        let message = format!("a panic outside of it dropped {end}: an end is for its own process alone");
        self.fail(Error::Panic { node: self.graph.node(node).name.to_string(), message });
    }

    /// The end that an operation is of, for a message.
    pub(crate) fn end_name(&self, operation: u64) -> String {
        let side = if sends(operation) { "sending" } else { "receiving" };
        format!("the {side} end of channel `{}`", self.graph.channel_name(channel(operation)))
    }
}
