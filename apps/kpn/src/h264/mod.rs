//! The network of an H.264 encoder with its feedback loops (sections 5.2.2 and 5.3.1, Figures 6, 7 and 10).
//!
//! The messages are numbers. A stage does an amount of work that takes its time, and computes a checksum of all
//! messages it has received. The messages take the paths of an encoder:
//!
//! ```text
//!              rows of frame n
//!   source ──┬───────────────────────────────┐
//!            ▼   vectors     prediction      ▼
//!           ME* ─────────▶ MC* ───────────▶  P* ───▶ T ───▶ Q ───▶ EC ───▶ result
//!            ▲              ▲                ▲ └──┐         │
//!            │              │     neighbours │    ▼         ▼
//!            │              │                └── IT ◀────── IQ
//!            │  frame n - 1 │                     ▼
//!            └──────────────┴────────────────── filter ───▶ picture
//! ```
//!
//! A stage with a star is a hub with workers, as in scatter-gather (Figure 4): the hub sends an equal part to every
//! worker and waits for all answers. There are three feedback channels. The filter sends the reconstructed frame to ME
//! and to MC, which need it for the next frame. IT sends the reconstructed row to P, which predicts the row below from
//! it. The first frame has no predecessor: ME and MC do no work for it, and P predicts each row from the row above.
//! In later frames P chooses between the two predictions by the message. The process `picture` consumes the
//! reconstructed frames. Without it no node would need the last one, and the engine would not compute it.
//!
//! Where the paper leaves details open:
//! - It takes the times of the stages from a profile of x264 that it does not print. It states that P, MC and ME use
//!   "more than 50 %" of the processor together, and shows that 8 processors encode up to 2.8 times as fast as one,
//!   which it attributes to the dependencies. [`Stage::per_mille`] is our table: the usual order of costs of an encoder
//!   (motion search first, then the choice of modes and entropy coding), 58 % for those three, and the other costs such
//!   that whole frames through this network allow [`H264::limit`] = 2.76 on 8 processors.
//! - It does not say whether a message is a frame or a part of one. Here a frame takes `rows` messages. [`H264::limit`]
//!   holds for 1, whole frames. With more rows, ME works on one row while T, Q and so on work on the row before, so more
//!   processors are of use.
//! - It has from 1 to 512 workers for each stage, and 30 frames of about a second of work. [`H264::default`] has 30
//!   frames of one message, and 8 workers for each stage. The work for a frame is a parameter of [`h264()`].

mod network;
mod reference;

use crate::Job;
use crate::job::fold;
use crate::layered::part_of;

/// The stages of the encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    /// Reads the frame.
    Source,
    /// Motion estimation: finds the motion vectors relative to the reference frame.
    Me,
    /// Motion compensation: predicts the frame from the reference frame and the motion vectors.
    Mc,
    /// Prediction: chooses a prediction and subtracts it from the frame.
    P,
    /// Transform.
    T,
    /// Quantisation.
    Q,
    /// Entropy coding, the last stage.
    Ec,
    /// Inverse quantisation.
    Iq,
    /// Inverse transform, after which the prediction is added again.
    It,
    /// The deblocking filter.
    Filter,
}

impl Stage {
    /// All stages.
    pub const ALL: [Stage; 10] = {
        use Stage::*;
        [Source, Me, Mc, P, T, Q, Ec, Iq, It, Filter]
    };

    /// The stage's part of the work for a frame, in thousandths. (The first frame takes less.)
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

    /// Whether the stage has workers.
    pub fn parallel(self) -> bool {
        matches!(self, Stage::Me | Stage::Mc | Stage::P)
    }

    /// Whether the stage is in the feedback loop, so that the next frame waits for it.
    fn in_loop(self) -> bool {
        !matches!(self, Stage::Source | Stage::Ec)
    }
}

/// The size of the workload.
#[derive(Clone, Copy, Debug)]
pub struct H264 {
    /// Frames. The first one is encoded without motion search.
    pub frames: u64,
    /// Messages for each frame.
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
    /// The work of a stage for a row, if a frame takes `frame` units of work.
    fn share(&self, stage: Stage, frame: u64) -> u64 {
        frame * stage.per_mille() / 1000 / self.rows
    }

    /// The work for all frames, if each but the first takes `frame` units of work.
    ///
    /// ```
    /// use thalweg_kpn::H264;
    ///
    /// let size = H264 { frames: 3, ..H264::default() };
    /// assert_eq!(size.work(1000), 580 + 1000 + 1000); // no motion search in the first frame
    /// ```
    pub fn work(&self, frame: u64) -> u64 {
        let of = |stages: &[Stage]| self.rows * stages.iter().map(|s| self.share(*s, frame)).sum::<u64>();
        self.frames * of(&Stage::ALL) - self.frames.min(1) * of(&[Stage::Me, Stage::Mc])
    }

    /// The upper bound of the speed-up on `processors` processors for many whole frames (`rows` = 1). The time between
    /// two frames is the time of one round through the feedback loop, of which only the parallel stages can be shared
    /// by workers. Communication is not counted.
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
        let serial = sum(&|stage| stage.in_loop() && !stage.parallel());
        let round = serial + shared / processors.min(self.workers) as f64;
        1.0 / round.max(1.0 / processors as f64)
    }
}

/// The network of the encoder, for frames of `frame` units of work. `work(units, message)` does that many units of work
/// and returns a number that depends on `message`.
///
/// # Panics
/// If the number of rows or of workers is 0.
pub fn h264(size: H264, frame: u64, work: impl FnMut(u64, u64) -> u64 + Clone + Send + 'static) -> Job {
    assert!(size.rows > 0 && size.workers > 0, "at least one row and one worker are needed");
    let result = network::build(size, frame, work.clone());
    Job::new(result, move || reference::encode(size, frame, work))
}

/// The state of a stage. Its checksum depends on all messages so far and on their order.
struct StageState<W> {
    work: W,
    /// The work for a row.
    share: u64,
    /// The checksum of all results so far.
    checksum: u64,
}

impl<W: FnMut(u64, u64) -> u64> StageState<W> {
    fn new(size: H264, stage: Stage, frame: u64, work: W) -> Self {
        StageState { work, share: size.share(stage, frame), checksum: 0 }
    }

    /// Does the work for a message. Returns the new checksum.
    fn run(&mut self, message: u64) -> u64 {
        let result = (self.work)(self.share, message);
        self.add(result)
    }

    /// Adds a result to the checksum and returns it.
    fn add(&mut self, result: u64) -> u64 {
        self.checksum = fold(self.checksum, result);
        self.checksum
    }
}

/// The result of worker number `worker` of `workers` for a message.
fn worker_result(
    work: &mut impl FnMut(u64, u64) -> u64,
    share: u64,
    message: u64,
    worker: usize,
    workers: usize,
) -> u64 {
    work(part_of(share, workers, worker), fold(message, worker as u64))
}

/// The prediction that P chooses for a row: from its neighbours in the frame, or by motion compensation (`inter`), if
/// there is a previous frame and the number says so.
fn choose_prediction(frame: u64, neighbours: u64, inter: u64) -> u64 {
    if frame == 0 || inter.is_multiple_of(8) { neighbours } else { inter }
}
