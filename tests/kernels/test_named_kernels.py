"""Kernels of names that calls give: nothing is compiled for one that is used a few times, and the bits never differ."""

import numpy as np
import pytest
from kernel_cases import same_bits

import hinge
from hinge.backends.kernel import FEW, SEVERAL

TREE = hinge.samples.random_tree(np.random.default_rng(0), 6)
NUMBERS = pytest.mark.parametrize("number", [np.float64, np.float32])


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """How many kernels have been compiled."""
    monkeypatch.setenv("HINGE_CACHE_DIR", str(tmp_path))
    return lambda: len(list(tmp_path.glob("*.kernel")))


@pytest.mark.sampled(1)
@NUMBERS
def test_a_name_that_is_used_a_few_times_is_not_compiled_for(compiled, number):
    robot = hinge.Robot(TREE.model)
    q = robot.random_state(np.random.default_rng(2), 1)[0][0].astype(number)
    first = {name: robot.pose(q, name) for name in robot.frame_names}
    for name in list(first) * (SEVERAL - 1):
        assert same_bits(robot.pose(q, name), first[name])
    assert compiled() == 0
    for name, T in first.items():
        again = robot.pose(q, name)
        with_status, status = robot.pose(q, name, return_status=True)
        assert again.dtype == number
        assert same_bits(T, again)
        assert same_bits(T, with_status)
        assert status == hinge.Status.OK
    assert compiled() == len({(f.body, f.R, f.p) for f in map(robot.model.frame, robot.frame_names)})


@pytest.mark.sampled(1)
@NUMBERS
def test_forces_are_like_frames(compiled, number):
    robot, rng = hinge.Robot(TREE.model), np.random.default_rng(3)
    q, qd = (x.astype(number) for x in robot.random_state(rng, 3))
    push = {name: rng.normal(size=(3, 6)).astype(number) for name in robot.body_names[2:4]}
    for frame in ("body", "base"):
        before = compiled()
        for _ in range(SEVERAL):
            first = robot.forward_dynamics(q, qd, qd, external=push, external_frame=frame)
        assert compiled() == before
        again = robot.forward_dynamics(q, qd, qd, external=push, external_frame=frame)
        assert compiled() == before + 1
        assert again.dtype == number
        assert same_bits(first, again)


def test_many_states_are_worth_it_at_once(compiled):
    robot = hinge.Robot(TREE.model)
    q = robot.random_state(np.random.default_rng(4), FEW + 1)[0]
    robot.pose(q[1:], robot.body_names[-1])
    assert compiled() == 0
    robot.pose(q, robot.body_names[-2])
    assert compiled() == 1


def test_what_was_compiled_by_another_process_is_used_at_once(compiled, monkeypatch):
    q, name = TREE.random_state(np.random.default_rng(5), 1)[0][0], TREE.body_names[-1]
    want = hinge.Robot(TREE.model).pose(q, name)
    out = np.empty((4, 4))
    hinge.Robot(TREE.model).kernel("pose", at=name).bind(q, out)()
    assert compiled() == 1
    monkeypatch.setattr("hinge.calls.call.Call.trace", None)  # nothing is traced
    assert same_bits(hinge.Robot(TREE.model).pose(q, name), want)
    assert same_bits(out, want)


def test_frames_that_stand_apart_have_kernels_of_their_own(compiled):
    near, far = (TREE.with_frame("tool", TREE.body_names[-1], [x, 0.0, 0.0]) for x in (0.1, 0.2))
    q = TREE.random_state(np.random.default_rng(6), 2 * FEW)[0]
    apart = far.pose(q, "tool") - near.pose(q, "tool")
    assert compiled() == 2
    assert np.linalg.norm(apart[:, :3, 3], axis=1) == pytest.approx(0.1)
