//! The error for a feedback loop without a schedule.

use super::{node_error, plural};
use crate::Diagnostic;
use crate::flat::{ChannelId, Flat};

/// The error for a loop in which nodes wait for each other. `needed` is the number of initial items on its feedback
/// channel that suffices, if one does.
pub(super) fn too_few(flat: &Flat, feedback: ChannelId, needed: Option<u64>) -> Diagnostic {
    let channel = flat.channel(feedback);
    let (joiner, there) = (channel.to().0, channel.link().initial() as u64);
    let name = flat.node(joiner).name().trim_end_matches(".join");
    let are = if there == 1 { "is" } else { "are" };
    let count = if there == 0 {
        "no items are enqueued".to_owned()
    } else {
        format!("{there} item{} {are} enqueued", plural(there.into()))
    };
    let message = match needed {
        Some(needed) => {
            format!("the feedback loop `{name}` waits for itself: {count}, and it needs {needed}")
        }
        None => format!(
            "the feedback loop `{name}` waits for itself: {count}, and loops around or inside it lack items too"
        ),
    };
    let hint = match needed {
        Some(needed) => {
            let more = needed - there;
            format!("enqueue {more} {}item{}", if there > 0 { "more " } else { "" }, plural(more.into()))
        }
        None => "enqueue as many items as the joiner pops from the loop before the first item returns".into(),
    };
    node_error(flat, joiner, message).label("this loop").hint(hint)
}
