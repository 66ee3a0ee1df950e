//! The bodies of the engine: the groups, and the dealers before those with copies.

use super::cut::{Cut, Group};
use super::free::{Base, Dispatcher};
use super::member::Member;
use super::packet::Packet;
use crate::run::{Interrupted, Run, locked};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use thalweg::Stream;
use thalweg_lang::flat::NodeId;
use thalweg_lang::interpret::Stop;

/// A group as a node of the engine, or as two: a dispatcher, and copies.
struct Body<'a> {
    /// One member, or one for each thread: those that have no packet.
    members: Mutex<Vec<Member<'a>>>,
    /// The number of members: no more workers run the group at once, whatever a plan says.
    count: u32,
    /// For a group with copies.
    dispatcher: Option<Mutex<Dispatch>>,
    name: String,
}

/// A dispatcher at work, with the region's progress before all packets.
struct Dispatch {
    dispatcher: Dispatcher,
    base: Base,
    /// The failure of a packet, with which all later ones fail.
    failure: Option<Stop>,
}

/// All groups.
pub(super) struct Crew<'a> {
    bodies: Vec<Body<'a>>,
    /// Tells all members to stop, in the middle of firings if need be.
    pub(super) stopped: Arc<AtomicBool>,
}

impl<'a> Crew<'a> {
    /// Moves the groups' state out of the run.
    pub(super) fn new(run: &mut Run<'a>, cut: &Arc<Cut>) -> Result<Crew<'a>, Stop> {
        let (stopped, interrupted) = (Arc::default(), run.around.interrupted.clone());
        let mut bodies = Vec::new();
        for at in 0..cut.groups.len() {
            bodies.push(Body::new(run, (cut, at), (&stopped, &interrupted))?);
        }
        Ok(Crew { bodies, stopped })
    }

    /// The nodes of the engine: a chain, since each group follows all that it depends on.
    pub(super) fn chain<'t>(&'t self, mut stream: Stream<'t, Packet>) -> Stream<'t, Packet>
    where
        'a: 't,
    {
        for body in &self.bodies {
            stream = match &body.dispatcher {
                Some(dispatcher) => stream
                    .map(move |packet| locked(dispatcher).dispatch(packet))
                    .named(&format!("dispatch {}", body.name))
                    .par_map(|packet| body.work(packet))
                    .workers(body.count)
                    .named(&body.name),
                None => stream.map(|packet| body.work(packet)).named(&body.name),
            };
        }
        stream
    }

    /// By body: the node that [`Crew::chain`] makes of it, behind its dispatcher. The driver is the first node.
    pub(super) fn nodes(&self) -> Vec<NodeId> {
        let mut node = 0;
        let of = |body: &Body<'_>| {
            node += 1 + u32::from(body.dispatcher.is_some());
            NodeId(node)
        };
        self.bodies.iter().map(of).collect()
    }

    /// The number of runs that work at once.
    pub(super) fn members(&self) -> u64 {
        self.bodies.iter().map(|body| u64::from(body.count)).sum()
    }

    /// Returns the groups' state to the run. No packet is under way.
    pub(super) fn give_back(&self, run: &mut Run<'a>) {
        for body in &self.bodies {
            // Copies hold nothing that the region does not have.
            let mut members = std::mem::take(&mut *locked(&body.members));
            match (&body.dispatcher, members.pop()) {
                (Some(dispatcher), _) => locked(dispatcher).end(run),
                (None, Some(member)) => run.adopt(member.end()),
                (None, None) => {}
            }
        }
    }
}

impl<'a> Body<'a> {
    fn new(
        run: &mut Run<'a>,
        (cut, at): (&Arc<Cut>, usize),
        stops: (&Arc<AtomicBool>, &Interrupted),
    ) -> Result<Body<'a>, Stop> {
        let (native, group) = (run.native, &cut.groups[at]);
        let Group { regions, takes, .. } = group;
        let dispatcher = takes.as_ref().map(|takes| {
            let dispatcher = Dispatcher::new(run, &cut.crossing, takes);
            Mutex::new(Dispatch { dispatcher, base: run.base(regions.start), failure: None })
        });
        let mut members = Vec::new();
        for _ in 0..group.members {
            let share =
                if dispatcher.is_some() { run.copy_region(regions.start) } else { run.give_regions(regions) };
            members.push(Member::new(native, (cut.clone(), at), share, stops)?);
        }
        let all = &native.compiled.schedule.regions[regions.clone()];
        let nodes: Vec<_> = all.iter().flat_map(|region| region.nodes.iter().copied()).collect();
        let count = members.len() as u32;
        Ok(Body { members: Mutex::new(members), count, dispatcher, name: native.name_of(&nodes) })
    }

    /// Does the group's part of a packet. The engine runs no more at once than there are members.
    fn work(&self, mut packet: Packet) -> Packet {
        let member = locked(&self.members).pop();
        let mut member = member.expect("no more workers than members run a group");
        member.work(&mut packet);
        locked(&self.members).push(member);
        packet
    }
}

impl Dispatch {
    /// Packets behind a failure would have other content, so all groups skip them.
    fn dispatch(&mut self, mut packet: Packet) -> Packet {
        if self.failure.is_none() {
            self.failure.clone_from(&packet.failure);
        }
        packet.failure.clone_from(&self.failure);
        if self.failure.is_none() {
            self.dispatcher.dispatch(&mut packet);
        }
        packet
    }

    /// Sets the region's progress to that after the last packet.
    fn end(&mut self, run: &mut Run<'_>) {
        self.dispatcher.end(run, &self.base);
    }
}
