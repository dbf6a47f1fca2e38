"""When a drone that flies steps is stuck."""

from __future__ import annotations

from wayword.policy.steps.progress import NO_NEARER, STILL, Progress


def test_standing_still_is_being_stuck() -> None:
    progress = Progress()
    for _ in range(STILL - 1):
        progress.moved(0.01, 0.01)
    assert not progress.stuck
    progress.moved(-0.3, 0.0)  # turned
    for _ in range(STILL):
        assert not progress.stuck
        progress.moved(0.0, 0.0)
    assert progress.stuck
    progress.give_up()
    assert not progress.stuck


def test_so_is_moving_and_coming_no_nearer() -> None:
    progress = Progress()
    progress.has_left(1.0)
    for k in range(NO_NEARER):
        assert not progress.stuck
        progress.moved(0.0, 0.1)
        progress.has_left(0.96 if k % 2 else 1.1)  # 4 cm are no progress
    assert progress.stuck
    progress.begin()
    assert not progress.stuck


def test_a_slow_drone_that_gets_on_is_not_stuck() -> None:
    progress = Progress()
    for k in range(100):  # 3 cm in a decision: 6 cm/s
        progress.moved(0.0, 0.03)
        progress.has_left(5.0 - 0.03 * k)
        assert not progress.stuck


def test_a_longer_way_round_is_begun_anew_but_not_for_ever() -> None:
    progress = Progress()
    progress.has_left(1.5)
    # The gap is closed: the way round is 2.9 m, and 0.1 m shorter at every decision; 1.5 m would come too late.
    for k in range(2 * NO_NEARER):
        progress.has_left(2.9 - 0.1 * k)
        assert not progress.stuck
    progress.begin()
    for k in range(3 * NO_NEARER):  # to and fro between two ways
        progress.has_left(2.9 if k % 2 else 1.5)
    assert progress.stuck
