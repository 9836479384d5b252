"""Motions of the hand: on the line or circle they say, with twists that are the rates of their poses."""

import numpy as np
import pytest

import hinge
from hinge import SizeError, UnknownName
from hinge.backends import interpret
from hinge.graph import Graph, Input, order
from hinge.graph.arrays import symbols

ARM = hinge.samples.puma560()
START, END = (ARM.pose(q, "tool") for q in ([0.1, 0.5, 0.5, 0.3, 0.5, 0.2], [0.6, 0.2, 0.9, -0.4, 0.8, 1.2]))
CENTER, AXIS = np.array([0.3, 0.1, 0.6]), np.array([1.0, 2.0, -0.5])
MOTIONS = {
    "line": hinge.motion.line(START, END, 2.0),
    "line with ramps": hinge.motion.line(START, END, 2.0, law="trapezoidal"),
    "shift": hinge.motion.line(START, START + np.pad([[0.1], [0.2], [0.3]], ((0, 1), (3, 0))), 2.0),
    "circle": hinge.motion.circle(START, CENTER, AXIS, duration=3.0),
    "arc back, axes kept": hinge.motion.circle(START, CENTER, AXIS, -1.0, 3.0, turn=False),
}


@pytest.mark.parametrize("frame", ["aligned", "body", "base"])
@pytest.mark.parametrize("motion", MOTIONS.values(), ids=MOTIONS)
def test_twists_are_the_rates_of_poses_and_rates_those_of_twists(motion, frame):
    t, h = np.linspace(0.1, 1.9, 8), 1e-5
    before, here, after = motion(t - h, frame), motion(t, frame), motion(t + h, frame)
    np.testing.assert_allclose((after.twist - before.twist) / (2 * h), here.rate, rtol=0, atol=1e-7)
    rate = (after.pose - before.pose) / (2 * h)
    inverse = np.linalg.inv(here.pose)
    body, space = inverse @ rate, rate @ inverse  # zefran's hats
    w, v = here.twist[:, :3], here.twist[:, 3:]
    hat = {"body": body, "base": space, "aligned": space}[frame]
    np.testing.assert_allclose(np.stack([hat[:, 2, 1], hat[:, 0, 2], hat[:, 1, 0]], -1), w, rtol=0, atol=1e-8)
    np.testing.assert_allclose(rate[:, :3, 3] if frame == "aligned" else hat[:, :3, 3], v, rtol=0, atol=1e-8)


@pytest.mark.parametrize("motion", MOTIONS.values(), ids=MOTIONS)
def test_poses_are_poses_and_it_rests_at_both_ends(motion):
    t = np.linspace(-0.5, 3.5, 41)
    R = motion(t).pose[:, :3, :3]
    np.testing.assert_allclose(R @ np.swapaxes(R, 1, 2), np.broadcast_to(np.eye(3), R.shape), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(motion(t).pose[:, 3], np.broadcast_to([0, 0, 0, 1], (41, 4)))
    np.testing.assert_array_equal(motion(-1.0).pose, START)
    for time in (0.0, motion.duration, -1.0, 99.0):
        np.testing.assert_allclose(motion(time).twist, 0.0, rtol=0, atol=1e-14)


def test_a_line_is_straight_and_ends_where_it_is_told():
    motion = MOTIONS["line"]
    np.testing.assert_allclose(motion(2.0).pose, END, rtol=0, atol=1e-14)
    way = motion(np.linspace(0.0, 2.0, 21)).pose[:, :3, 3] - START[:3, 3]
    np.testing.assert_allclose(np.cross(way, END[:3, 3] - START[:3, 3]), 0.0, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["circle", "arc back, axes kept"])
def test_a_circle_is_round(name):
    motion, n = MOTIONS[name], AXIS / np.linalg.norm(AXIS)
    t = np.linspace(0.0, 3.0, 21)
    arm = motion(t).pose[:, :3, 3] - CENTER
    np.testing.assert_allclose(arm @ n, arm[0] @ n, rtol=0, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(arm, axis=1), np.linalg.norm(arm[0]), rtol=0, atol=1e-14)
    turned = motion(t).pose[:, :3, :3] @ START[:3, :3].T
    if name == "circle":
        np.testing.assert_allclose(motion(3.0).pose, START, rtol=0, atol=1e-14)
        np.testing.assert_allclose((turned @ arm[0][:, None])[..., 0], arm, rtol=0, atol=1e-14)
    else:
        np.testing.assert_allclose(turned, np.broadcast_to(np.eye(3), turned.shape), rtol=0, atol=1e-14)
        assert arm[0] @ arm[-1] - (arm[0] @ n) ** 2 == pytest.approx(np.cos(1.0) * np.sum(np.cross(n, arm[0]) ** 2))


@pytest.mark.parametrize("motion", MOTIONS.values(), ids=MOTIONS)
def test_traced_it_is_the_same_for_the_hand(motion):
    graph, t = Graph(), np.linspace(-0.2, 3.2, 33)
    made = [x for frame in ("aligned", "body", "base") for x in motion(symbols(graph.input("t", 0)), frame)]
    outputs = [(str(k), x.shape, np.asarray(x).ravel().tolist()) for k, x in enumerate(made)]
    outs = [np.empty((len(t), x.size)) for x in made]
    interpret.run(order([Input("t", 1)], outputs), [t[:, None]], outs)
    wanted = [x for frame in ("aligned", "body", "base") for x in motion(t, frame)]
    for got, want in zip(outs, wanted, strict=True):
        np.testing.assert_allclose(got, want.reshape(got.shape), rtol=0, atol=1e-13)


def test_the_shortest_within_limits():
    motion = hinge.motion.line(START, END, speed=0.5, turning=100.0)
    t = np.linspace(0.0, motion.duration, 20001)
    assert np.linalg.norm(motion(t).twist[:, 3:], axis=1).max() == pytest.approx(0.5, rel=1e-9)
    slower = hinge.motion.line(START, END, speed=100.0, turning=0.5)
    assert np.linalg.norm(slower(t).twist[:, :3], axis=1).max() <= 0.5 + 1e-9
    around = hinge.motion.circle(START, CENTER, AXIS, speed=0.2, law="trapezoidal")
    t = np.linspace(0.0, around.duration, 20001)
    assert np.linalg.norm(around(t).twist[:, 3:], axis=1).max() == pytest.approx(0.2, rel=1e-9)
    assert around(t).pose.shape == (20001, 4, 4)


@pytest.mark.parametrize(
    ("make", "kind", "said"),
    [
        (lambda m: m.line(np.eye(3), END, 1.0), SizeError, r"start has shape \(3, 3\); it has to end in \(4, 4\)"),
        (lambda m: m.line(START, 2.0 * END, 1.0), SizeError, "end is no pose: .* have to be a rotation"),
        (lambda m: m.line(START, END), SizeError, "nothing limits it. Give duration="),
        (lambda m: m.line(START, END, 0.1, speed=0.1), SizeError, "too short: the hand within its limits needs"),
        (lambda m: m.line(START, END, speed=-0.1), SizeError, "speed is -0.1; it has to be above zero"),
        (lambda m: m.line(START, END, 1.0, law="cubic"), UnknownName, "law='cubic' is not known"),
        (lambda m: m.line(START, END, 1.0)(0.5, "hand"), UnknownName, "frame='hand' is not known"),
        (lambda m: m.circle(START, CENTER, [0, 0, 0], duration=1.0), SizeError, "needs a direction to go around"),
        (lambda m: m.circle(START, [0, 0], AXIS, duration=1.0), SizeError, "center has shape"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_for_the_hand(make, kind, said):
    with pytest.raises(kind, match=said):
        make(hinge.motion)
