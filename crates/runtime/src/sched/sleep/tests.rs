use super::*;

/// Nothing else would end a firing that waits for another node: no sleeper has a timeout.
#[test]
fn a_narrow_run_without_a_looker_wakes_a_worker_beyond_its_width() {
    let sleep = Sleep::new(3);
    sleep.begin_unseated(3..3);
    sleep.announce(1, false);
    sleep.announce(2, false);
    sleep.set_width(1);
    assert!(!sleep.has_excess() && sleep.is_unwatched());
    assert!(sleep.wants_waking() && sleep.wake_one());
    assert!(sleep.withdraw(2) && sleep.has_excess());
    // It stands down, and would become the looker when it commits.
    assert!(sleep.stand_down(2, true, false) && !sleep.has_excess());
    assert!(!sleep.stand_down(0, false, false), "the last one stays");
}

#[test]
fn a_run_is_widened_once() {
    let sleep = Sleep::new(2);
    sleep.begin_unseated(2..2);
    sleep.widen();
    assert!(!sleep.was_widened(), "it had its full width");
    sleep.set_width(1);
    sleep.widen();
    assert!(sleep.was_widened() && !sleep.was_widened());
    assert!(!sleep.has_excess());
}
