"""What has come to rest stays there, and what is dropped comes to rest; bodies far apart do not know of each other."""

from functools import partial

import numpy as np
import pytest
from scenes import SIZES, loose

import hinge
from hinge import Contact, Ground

simulate, rollout = (partial(function, backend="llvm") for function in (hinge.simulate, hinge.rollout))
G, UPRIGHT = 9.81, [1.0, 0.0, 0.0, 0.0]
LOWEST = {"sphere": 0.1, "capsule": 0.05, "box": 0.05, "cylinder": 0.1, "ellipsoid": 0.03}


def tower(n):
    """So many boxes on each other, a little out of line."""
    scene = hinge.Scene()
    for k in range(n):
        scene.body(f"b{k}", "box", (0.2, 0.2, 0.1), mass=1.0)
    return scene.robot, np.concatenate([[*UPRIGHT, 0.01 * (k % 2), 0, 0.05 + 0.1 * k] for k in range(n)])


@pytest.mark.sweep
@pytest.mark.parametrize(("law", "off"), [("rigid", 1e-6), ("soft", 0.02)])
def test_ten_boxes_stand_on_each_other_for_ten_seconds(law, off):
    robot, q = tower(10)
    run = simulate(robot, 10.0, q, step=4e-3, law=law, contacts="self", ground=Ground(friction=0.5), record=250)
    assert run.status == 0
    assert np.abs(run.q - q).max() < off
    assert np.abs(run.qd[-1]).max() < off


@pytest.mark.parametrize("tilt", [0.0, 0.3])
def test_a_box_at_rest_stays_there_for_ten_seconds(tilt):
    """Also on a slope that is less than its friction."""
    robot = loose("box").with_gravity((G * np.sin(tilt), 0, -G * np.cos(tilt)))
    run = simulate(robot, 10.0, [*UPRIGHT, 0, 0, 0.05], step=5e-3, ground=Ground(friction=0.5), record=100)
    assert run.status == 0
    assert np.abs(run.q - run.q[0]).max() < 1e-7  # what sticks gives way by a ten millionth of what its bodies do


def test_a_rolling_ball_does_not_gain_speed():
    qd = [0, 20.0, 0, 2.0, 0, 0]
    run = simulate(loose("sphere"), 10.0, [*UPRIGHT, 0, 0, 0.1], qd, step=5e-3, ground=Ground(friction=0.5), record=10)
    speed = np.linalg.norm(run.qd[:, 3:], axis=1)
    assert np.diff(speed).max() < 1e-12
    assert speed[-1] == pytest.approx(2.0, rel=5e-4)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [*SIZES, "mesh"])
def test_what_is_dropped_comes_to_rest(kind):
    """Four of each kind, twenty-four in all, with friction of rolling for those that would roll on."""
    rng = np.random.default_rng(2)
    u = rng.normal(size=(4, 4))
    q = np.c_[u / np.linalg.norm(u, axis=1, keepdims=True), np.zeros((4, 2)), rng.uniform(0.25, 0.4, 4)]
    ground = Ground(friction=(0.6, 0.02, 0.01))
    run = simulate(loose(kind), 6.0, q, rng.normal(size=(4, 6)), step=4e-3, ground=ground, record=25)
    assert not run.failed.any()
    assert np.abs(run.qd[:, -1]).max() < 1e-3
    assert run.q[:, -1, 6].min() > LOWEST.get(kind, 0.02) - 1e-6


@pytest.mark.sweep
@pytest.mark.parametrize(("friction", "restitution"), [(0.6, 0.0), (1.0, 1.0)])
def test_bodies_far_apart_do_not_know_of_each_other(friction, restitution):
    """What one loses in an impact is not there to lift the other, and what one gains is not taken from the other."""
    rng = np.random.default_rng(1)
    starts, ground = [], Ground(friction=friction, restitution=restitution)
    for k in range(2):
        u = rng.normal(size=(32, 4))
        at = [rng.uniform(-0.1, 0.1, (32, 2)) + 5.0 * k, rng.uniform(0.2, 0.3, (32, 1))]
        qd = np.c_[rng.normal(size=(32, 3)) * 3, rng.normal(size=(32, 3))]
        starts.append((np.hstack([u / np.linalg.norm(u, axis=1, keepdims=True), *at]), qd))
    how = {"steps": 120, "h": 2e-3, "method": "semi_implicit", "ground": ground}
    both = rollout(loose("box cylinder"), *(np.hstack(x) for x in zip(*starts, strict=True)), **how)
    for k, kind in enumerate(("box", "cylinder")):
        alone = rollout(loose(kind), *starts[k], **how)
        off = np.abs(both.q[..., 7 * k : 7 * k + 7] - alone.q).max(axis=(1, 2))
        assert np.median(off) < 1e-6
        assert np.quantile(off, 0.9) < 1e-4  # a few that land on an edge amplify the tolerance of the solver


def test_a_box_that_slides_on_its_face_meets_all_conditions():
    """In all but a few of 24,000 steps, whatever the friction; the corners' loads are indeterminate there."""
    rng = np.random.default_rng(0)
    a, n = rng.uniform(0, 2 * np.pi, 40), np.zeros(40)
    q = np.c_[np.cos(a / 2), n, n, np.sin(a / 2), n, n, n + 0.05]
    qd = np.c_[n, n, rng.normal(size=40) * 3, rng.normal(size=(40, 2)) * 2, n]
    for friction in (0.1, 0.6, 1.5):
        run = rollout(loose("box"), q, qd, 200, 2e-3, method="rk4", ground=Ground(friction=friction))
        assert (run.status != 0).sum() <= (friction > 1.0)
        assert np.abs(run.q[..., 6] - 0.05).max() < 1e-6


@pytest.mark.sweep
def test_a_cradle_that_touches_parts_as_newtons_law_says_of_all_at_once():
    """Three equal balls in touch, struck at 1 m/s by the first: each gap parts with e times the speed it closed with.

    v1 - v0 = e and v2 - v1 = 0 with the momentum kept: v = (1 - 2e, 1 + e, 1 + e) / 3. With e = 1 energy is kept too.
    """
    scene = hinge.Scene(gravity=(0, 0, 0))
    for k in range(3):
        scene.body(f"b{k}", "sphere", 0.1, mass=1.0)
    q = np.concatenate([[*UPRIGHT, x, 0, 0] for x in (-0.2, 0.0, 0.2)])
    qd = np.zeros(18)
    qd[3] = 1.0
    for e in (0.0, 0.5, 1.0):
        row = [Contact(f"b{k}", (0, 0, 0), other=f"b{k - 1}", offset=0.2 + 1e-9, other_offset=0.1, restitution=e)
               for k in (1, 2)]  # fmt: skip
        after = rollout(scene.robot, q, qd, 1, 1e-3, method="rk4", contacts=row).qd[-1, [3, 9, 15]]
        assert after == pytest.approx(np.array([1 - 2 * e, 1 + e, 1 + e]) / 3, abs=1e-6)


def test_a_deep_start_is_named_wherever_it_is():
    robot = loose("box sphere")
    q = np.tile([*UPRIGHT, 0, 0, 0.05, *UPRIGHT, 1.0, 0, 0.1], (40, 1))
    rollout(robot, q, np.zeros((40, 12)), 1, 1e-3, ground=0.0)
    q[33, 13] = 0.06
    with pytest.warns(UserWarning, match="deep in") as told:
        run = rollout(robot, q, np.zeros((40, 12)), 1, 1e-3, ground=0.0)
    assert [str(one.message) for one in told] == [
        "q0 of rollout 33: the sphere on 'sphere1' is 0.04 m deep in the plane on 'ground'; such a rollout has the "
        "status REFUSED.\n  Start them apart, push them apart by short runs with law='soft', or leave the pair out."
    ]
    assert np.flatnonzero(run.status).tolist() == [33]
    assert run.status[33] == hinge.Status.REFUSED
    assert np.isnan(run.q[33, 1:]).all()
    assert np.isfinite(np.delete(run.q, 33, axis=0)).all()
    soft = {"law": "soft", "ground": 0.0, "method": "semi_implicit"}
    rollout(robot, q, np.zeros((40, 12)), 1, 1e-3, **soft)  # which its springs push out
    q[33, 13] = -0.02
    assert not np.any(rollout(robot, q, np.zeros((40, 12)), 1, 1e-3, **soft).status)
