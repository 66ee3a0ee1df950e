//! Layers: a place for each box along the direction of the data.

/// The length of the longest path to each of `count` places along `edges`. Where a cycle leaves no place without a
/// predecessor, a place that an earlier one reaches goes next.
pub(super) fn longest_paths(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut after: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut missing = vec![0_usize; count];
    for (from, to) in edges {
        after[*from].push(*to);
        missing[*to] += 1;
    }
    let mut layers = vec![0; count];
    let mut placed = vec![false; count];
    let mut ready: Vec<usize> = (0..count).filter(|place| missing[*place] == 0).rev().collect();
    let (mut reached, mut unseen) = (std::collections::VecDeque::new(), 0);
    loop {
        let next = ready.pop().or_else(|| reached.pop_front());
        let next = next.or_else(|| {
            while unseen < count && placed[unseen] {
                unseen += 1;
            }
            (unseen < count).then_some(unseen)
        });
        let Some(place) = next else { return layers };
        if std::mem::replace(&mut placed[place], true) {
            continue;
        }
        for to in &after[place] {
            if placed[*to] {
                continue;
            }
            layers[*to] = layers[*to].max(layers[place] + 1);
            missing[*to] -= 1;
            if missing[*to] == 0 { ready.push(*to) } else { reached.push_back(*to) }
        }
    }
}

/// The edges that close a cycle: `first` says which to prefer, and a search in depth finds the others.
pub(super) fn back_edges(count: usize, edges: &[(usize, usize)], first: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut back: Vec<bool> = (0..edges.len()).map(&first).collect();
    let mut after: Vec<Vec<(usize, usize)>> = vec![Vec::new(); count];
    let mut has_before = vec![false; count];
    for (edge, (from, to)) in edges.iter().enumerate().filter(|(edge, _)| !first(*edge)) {
        after[*from].push((*to, edge));
        has_before[*to] = true;
    }
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut state = vec![State::New; count];
    let roots = (0..count).filter(|place| !has_before[*place]).chain(0..count);
    for root in roots.collect::<Vec<_>>() {
        if state[root] != State::New {
            continue;
        }
        state[root] = State::Open;
        let mut path = vec![(root, 0)];
        while let Some((place, next)) = path.last_mut() {
            let Some((to, edge)) = after[*place].get(*next).copied() else {
                state[*place] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            match state[to] {
                State::New => {
                    state[to] = State::Open;
                    path.push((to, 0));
                }
                State::Open => back[edge] = true,
                State::Done => {}
            }
        }
    }
    back
}

/// A layer for each of `count` places, behind those of its predecessors, with at most `width` places in one layer.
pub(super) fn bounded(count: usize, edges: &[(usize, usize)], width: usize) -> Vec<usize> {
    let lengths = longest_paths(count, edges);
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|place| (lengths[*place], *place));
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    edges.iter().for_each(|(from, to)| before[*to].push(*from));
    let (mut layers, mut sizes) = (vec![0; count], Vec::<usize>::new());
    for place in order {
        let mut layer = before[place].iter().map(|from| layers[*from] + 1).max().unwrap_or(0);
        while sizes.get(layer).is_some_and(|size| *size >= width) {
            layer += 1;
        }
        if sizes.len() <= layer {
            sizes.resize(layer + 1, 0);
        }
        sizes[layer] += 1;
        layers[place] = layer;
    }
    pull_sources(edges, &before, &mut layers, &mut sizes, width);
    layers
}

/// Moves sources to the layer before their first consumers, where there is room.
fn pull_sources(
    edges: &[(usize, usize)],
    before: &[Vec<usize>],
    layers: &mut [usize],
    sizes: &mut [usize],
    width: usize,
) {
    for place in 0..layers.len() {
        if !before[place].is_empty() {
            continue;
        }
        let first = edges.iter().filter(|(from, _)| *from == place).map(|(_, to)| layers[*to]).min();
        let Some(layer) = first.and_then(|first| first.checked_sub(1)) else { continue };
        if layer > layers[place] && sizes[layer] < width {
            sizes[layers[place]] -= 1;
            sizes[layer] += 1;
            layers[place] = layer;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lead_to_later_layers() {
        let edges = [(0, 1), (1, 2), (0, 2), (3, 2)];
        assert_eq!(longest_paths(4, &edges), [0, 1, 2, 0]);
        assert_eq!(bounded(4, &edges, 9), [0, 1, 2, 1]);
        assert_eq!(bounded(4, &[(0, 1), (0, 2), (0, 3)], 2), [0, 1, 1, 2]);
    }

    #[test]
    fn cycles_end() {
        let edges = [(0, 1), (1, 2), (2, 1), (2, 3)];
        assert_eq!(back_edges(4, &edges, |_| false), [false, false, true, false]);
        assert_eq!(back_edges(4, &edges, |edge| edge == 1), [false, true, false, false]);
        assert_eq!(longest_paths(4, &edges), [0, 1, 2, 3]);
        assert_eq!(longest_paths(2, &[(0, 1), (1, 0)]), [0, 1]);
    }
}
