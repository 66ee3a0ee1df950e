//! An H.264 encoder's network with its feedback loops (sections 5.2.2 and 5.3.1, Figures 6, 7 and 10).
//!
//! What is encoded is a number; what a stage does is work for its time, and a checksum of all it has seen. The way of
//! the messages is that of an encoder:
//!
//! ```text
//!              rows of frame n
//!   source ──┬───────────────────────────────┐
//!            ▼   vectors     prediction      ▼
//!           ME* ─────────▶ MC* ───────────▶  P* ───▶ T ───▶ Q ───▶ EC ───▶ the result
//!            ▲              ▲                ▲ └──┐         │
//!            │              │     neighbours │    ▼         ▼
//!            │              │                └── IT ◀────── IQ
//!            │  frame n - 1 │                     ▼
//!            └──────────────┴────────────────── filter ───▶ picture
//! ```
//!
//! Each stage with a star is a hub and its workers, as in scatter-gather (Figure 4): the hub sends every worker an equal part and
//! waits for all. There are three ways back: from the filter the reconstructed frame to ME and MC, which need it for the
//! next one; from IT the reconstructed row to P, which predicts the row below from it. The first frame has nothing
//! before it: ME and MC do nothing for it, and P predicts each of its rows from the one above. In later frames P chooses
//! between the two predictions by what it sees. Somebody looks at the reconstructed picture, or the engine would find out that nobody
//! needs the last one, and not make it.
//!
//! What the paper says and what it does not:
//! - It got the stages' times from a profile of x264 that it does not print. It does say that P, MC and ME use "more than 50 %" of
//!   the processor together, and shows that 8 processors encode up to 2.8 times as fast as one, which it puts down to
//!   the dependencies. [`Stage::per_mille`] is a table of ours: an encoder's usual
//!   order of costs (motion search first, then the choice of modes and entropy coding), 58 % for those three, and the
//!   rest such that whole frames through this network allow [`H264::limit`] = 2.76 on 8 processors.
//! - It does not say whether messages are frames or parts of them. Here a frame goes in `rows` messages; 1 means whole
//!   frames, which is what [`H264::limit`] is about. With more rows ME works on one row while T, Q and so on
//!   work on the one before, and more processors are of use.
//! - Its workers run from 1 to 512 for each stage, its frames are 30, of about a second of work each: [`H264::default`] is 30
//!   frames in one message each and 8 workers a stage, and any amount of work.

mod network;
mod reference;

use crate::Job;
use crate::job::fold;
use crate::layered::part;

/// The stages of the encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Reads the frame.
    Source,
    /// Motion estimation: where in the reference frame each part was.
    Me,
    /// Motion compensation: a prediction from the reference frame, by those vectors.
    Mc,
    /// Chooses the prediction, and takes it from the frame.
    P,
    /// Transform.
    T,
    /// Quantisation.
    Q,
    /// Entropy coding; the last stage.
    Ec,
    /// Inverse quantisation.
    Iq,
    /// Inverse transform, and the prediction added again.
    It,
    /// The deblocking filter.
    Filter,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 10] = {
        use Stage::*;
        [Source, Me, Mc, P, T, Q, Ec, Iq, It, Filter]
    };

    /// The stage's part of the work for a frame that has one before it, in thousandths.
    pub fn per_mille(self) -> u64 {
        match self {
            Stage::Source => 20,
            Stage::Me => 340,
            Stage::Mc => 80,
            Stage::P => 160,
            Stage::T => 70,
            Stage::Q => 60,
            Stage::Ec => 110,
            Stage::Iq => 45,
            Stage::It => 65,
            Stage::Filter => 50,
        }
    }

    /// Whether workers share what it does.
    pub fn parallel(self) -> bool {
        matches!(self, Stage::Me | Stage::Mc | Stage::P)
    }

    /// Whether the next frame has to wait for it: those that do not are before or behind the loop.
    fn in_loop(self) -> bool {
        !matches!(self, Stage::Source | Stage::Ec)
    }
}

/// What is encoded, and how it is divided.
#[derive(Clone, Copy, Debug)]
pub struct H264 {
    /// Frames, the first of which stands for itself.
    pub frames: u64,
    /// Messages that a frame goes in.
    pub rows: u64,
    /// Workers of each parallel stage.
    pub workers: usize,
}

impl Default for H264 {
    fn default() -> Self {
        H264 { frames: 30, rows: 1, workers: 8 }
    }
}

impl H264 {
    /// What a stage does for a row, where a frame is so much work.
    fn share(&self, stage: Stage, frame: u64) -> u64 {
        frame * stage.per_mille() / 1000 / self.rows
    }

    /// Work for all frames, where one that has another before it is `frame`.
    ///
    /// ```
    /// use thalweg_kpn::H264;
    ///
    /// let size = H264 { frames: 3, ..H264::default() };
    /// assert_eq!(size.work(1000), 580 + 1000 + 1000); // the first has no motion
    /// ```
    pub fn work(&self, frame: u64) -> u64 {
        let of = |stages: &[Stage]| self.rows * stages.iter().map(|s| self.share(*s, frame)).sum::<u64>();
        self.frames * of(&Stage::ALL) - self.frames.min(1) * of(&[Stage::Me, Stage::Mc])
    }

    /// How many times as fast as one any number of processors can encode a long film whose frames
    /// go whole (`rows` = 1): a frame's way round the loop is the time between two, and of it the workers can share only
    /// their part. Communication is not counted.
    ///
    /// ```
    /// use thalweg_kpn::H264;
    ///
    /// let limits = [1, 2, 4, 8].map(|processors| (100.0 * H264 { workers: 64, ..H264::default() }.limit(processors)).round());
    /// assert_eq!(limits, [100.0, 172.0, 230.0, 276.0]);
    /// ```
    pub fn limit(&self, processors: usize) -> f64 {
        let sum = |stages: &dyn Fn(Stage) -> bool| {
            Stage::ALL.into_iter().filter(|s| stages(*s)).map(Stage::per_mille).sum::<u64>() as f64 / 1000.0
        };
        let shared = sum(&Stage::parallel);
        let alone = sum(&|stage| stage.in_loop() && !stage.parallel());
        let round = alone + shared / processors.min(self.workers) as f64;
        1.0 / round.max(1.0 / processors as f64)
    }
}

/// The encoder's network over frames of `frame` units of work. `work` is given how many units to do, and a number to make
/// another from.
///
/// # Panics
/// Without rows or workers.
pub fn h264(size: H264, frame: u64, work: impl FnMut(u64, u64) -> u64 + Clone + Send + 'static) -> Job {
    assert!(size.rows > 0 && size.workers > 0, "a frame has rows, and somebody must do the work");
    let result = network::build(size, frame, work.clone());
    Job::new(result, move || reference::encode(size, frame, work))
}

/// What a stage has seen so far: by it order matters, and everything before.
struct Step<W> {
    work: W,
    share: u64,
    seen: u64,
}

impl<W: FnMut(u64, u64) -> u64> Step<W> {
    fn new(size: H264, stage: Stage, frame: u64, work: W) -> Self {
        Step { work, share: size.share(stage, frame), seen: 0 }
    }

    /// Works on a message and says what comes of it.
    fn run(&mut self, message: u64) -> u64 {
        let made = (self.work)(self.share, message);
        self.note(made)
    }

    fn note(&mut self, made: u64) -> u64 {
        self.seen = fold(self.seen, made);
        self.seen
    }
}

/// What one of `workers` workers of a stage makes of a message.
fn worked(
    work: &mut impl FnMut(u64, u64) -> u64,
    share: u64,
    message: u64,
    worker: usize,
    workers: usize,
) -> u64 {
    work(part(share, workers, worker), fold(message, worker as u64))
}

/// What P predicts a row from: its neighbours in this frame, or the frame before where there is one and it looks better.
fn chosen(frame: u64, neighbours: u64, inter: u64) -> u64 {
    if frame == 0 || inter.is_multiple_of(8) { neighbours } else { inter }
}
