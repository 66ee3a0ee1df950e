//! A region's plan: what the other files of this folder decide.

use super::ends::End;
use super::scale::{FAR, MOST, bytes_of, scale};
use super::{Actor, BEYOND, Border, Buffer, Facts, FusedKernel, Pack, Round, Step, View};
use crate::unrolled::Block;
use thalweg_lang::flat::ChannelId;

/// How a region is run.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Plan {
    pub(crate) actors: Vec<Actor>,
    pub(crate) buffers: Vec<Buffer>,
    /// The number of buffers of earlier parts.
    pub(crate) first: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) kernels: Vec<FusedKernel>,
    /// Where items enter from other parts, and leave to them.
    pub(crate) inputs: Vec<Border>,
    pub(crate) outputs: Vec<Border>,
    /// The most steady states in a call.
    pub(crate) scale: u64,
    /// By channel: its view; `None` for channels that carry nothing.
    pub(crate) views: Vec<Option<View>>,
    /// How far each access reaches in its buffer.
    pub(crate) ends: Vec<End>,
    /// Channels to the region's nodes that may hold items between steady states, in order.
    pub(crate) holding: Vec<ChannelId>,
    /// Groups of actors that run in lanes.
    pub(crate) blocks: Vec<Block>,
    /// Buffers without memory: those inside blocks and kernels.
    pub(crate) inner: Vec<usize>,
}

impl Plan {
    /// Whether an actor fires on its own.
    pub(crate) fn acts(&self, actor: usize) -> bool {
        fn fires(rounds: &[Round], actor: usize) -> bool {
            rounds.iter().any(|round| match round {
                Round::Fire(other, _) => *other == actor,
                Round::Repeat(_, inner) | Round::AtOnce(_, inner) => fires(inner, actor),
            })
        }
        self.steps.iter().any(|step| match step {
            Step::All(other) => *other == actor,
            Step::Rounds(rounds) => fires(rounds, actor),
            Step::Unrolled(_) | Step::Pack(_) | Step::Fused(_) => false,
        })
    }

    /// The vectors of memory that blocks need.
    pub(crate) fn vectors(&self) -> u32 {
        self.blocks.iter().map(|block| block.vectors).max().unwrap_or(0)
    }

    /// The steady states that are done together, with this many lanes.
    pub(crate) fn multiple(&self, lanes: usize) -> u64 {
        let multiple =
            |block: &Block| if block.across.is_some() { 1 } else { u64::from(block.beside) * lanes as u64 };
        self.blocks.iter().map(multiple).max().unwrap_or(lanes as u64)
    }

    /// Sets the length of calls and the sizes of buffers for blocks with this many lanes.
    pub(crate) fn with_blocks(&mut self, facts: &Facts<'_>, lanes: u64) {
        if self.blocks.is_empty() {
            return;
        }
        let beside = self.blocks.iter().map(|block| u64::from(block.beside)).max().unwrap_or(1);
        let kept = |at: &usize| !self.inner.contains(at);
        let each = bytes_of((0..self.buffers.len()).filter(kept).map(|at| &self.buffers[at]));
        let most = if self.streams(facts) { (FAR / each).clamp(1, MOST) } else { scale(each) };
        self.scale = most.max(lanes * beside);
        self.scale -= self.scale % (lanes * beside);
        measure(self);
    }

    /// Whether everything is one step: input is read once and output is written once, so no cache has to hold
    /// items from one step to the next.
    fn streams(&self, facts: &Facts<'_>) -> bool {
        let is_end =
            |step: &&Step| matches!(step, Step::All(actor) if facts.is_end(self.actors[*actor].node));
        self.steps.iter().filter(|step| !is_end(step)).count() == 1
    }

    /// Whether a channel's items are accessed in the queue outside.
    pub(crate) fn is_direct(&self, channel: ChannelId) -> bool {
        self.inputs.iter().chain(&self.outputs).any(|border| border.channel == channel && border.direct)
    }
}

impl Step {
    /// Its units in one steady state: an actor's firings, those of a pack or kernel, one round, or one
    /// block.
    pub(crate) fn times(&self, plan: &Plan) -> u64 {
        match self {
            Step::All(actor) => plan.actors[*actor].firings,
            Step::Pack(pack) => plan.packs[*pack].firings,
            Step::Fused(kernel) => plan.kernels[*kernel].firings,
            Step::Rounds(_) | Step::Unrolled(_) => 1,
        }
    }

    /// Its actors.
    pub(crate) fn actors(&self, plan: &Plan) -> Vec<usize> {
        fn inside(rounds: &[Round], all: &mut Vec<usize>) {
            for round in rounds {
                match round {
                    Round::Fire(actor, _) if all.contains(actor) => {}
                    Round::Fire(actor, _) => all.push(*actor),
                    Round::Repeat(_, inner) | Round::AtOnce(_, inner) => inside(inner, all),
                }
            }
        }
        let mut all = Vec::new();
        match self {
            Step::All(actor) => all.push(*actor),
            Step::Pack(pack) => all.extend(&plan.packs[*pack].actors),
            Step::Fused(kernel) => all.extend(&plan.kernels[*kernel].actors),
            Step::Unrolled(block) => all.extend(&plan.blocks[*block].actors),
            Step::Rounds(rounds) => inside(rounds, &mut all),
        }
        all
    }
}

/// Computes the sizes of buffers.
pub(super) fn measure(plan: &mut Plan) {
    let sides = |actor: &Actor| {
        let ports = actor.inputs.iter().chain(&actor.outputs);
        ports.map(|port| End::new(port, actor.firings)).collect::<Vec<_>>()
    };
    let borders = plan.inputs.iter().chain(&plan.outputs).map(|border| End::new(&border.port, border.items));
    plan.ends = plan.actors.iter().flat_map(sides).chain(borders).collect();
    let sizes = sizes(plan, plan.scale);
    for (buffer, size) in plan.buffers.iter_mut().zip(sizes) {
        buffer.size = size;
    }
}

/// The sizes of buffers, in items, where this many steady states are done at once.
pub(crate) fn sizes(plan: &Plan, scale: u64) -> Vec<u64> {
    let scale = scale as i64;
    let mut sizes: Vec<i64> =
        plan.buffers.iter().map(|buffer| buffer.keep + buffer.advance * scale).collect();
    for end in &plan.ends {
        sizes[end.buffer] = sizes[end.buffer].max(end.after(scale));
    }
    plan.inner.iter().for_each(|inner| sizes[*inner] = 0);
    sizes.into_iter().map(|size| size.max(0) as u64 + BEYOND).collect()
}
