"""A robot that was edited runs as itself, whatever is in memory or on disk."""

import dataclasses

import numpy as np
import pytest

import hinge
from hinge.backends import cache
from hinge.backends.kernel import Kernel, Memo, kernel_of
from hinge.calls.poses import poses

BODY = """<body name="a" pos="0 0 1" gravcomp="0"><joint name="j" axis="0 1 0" damping="0.3" stiffness="2" springref="0"
 armature="0.01"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/><body name="b" pos=".4 0 0"><joint name="k"
 axis="0 1 0"/><geom type="sphere" size=".06"/><site name="tip" pos=".1 0 0"/></body></body>"""
TENDON = '<fixed name="t" stiffness="3"><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed>'
DRIVES = """<position joint="j" kp="20" kv="1" ctrlrange="-1 1" forcerange="-5 5"/><motor tendon="t" gear="2"/>
<general site="tip" gear="0 0 1 0 0 0"/>"""
FILE = f"""<mujoco><option timestep="0.002"/><worldbody>{BODY}</worldbody><tendon>{TENDON}</tendon>
<actuator>{DRIVES}</actuator></mujoco>"""
EDITS = {
    "damping": ('damping="0.3"', 'damping="3"'),
    "stiffness": ('stiffness="2"', 'stiffness="9"'),
    "springref": ('springref="0"', 'springref="40"'),
    "armature": ('armature="0.01"', 'armature="0.2"'),
    "gravcomp": ('gravcomp="0"', 'gravcomp="1"'),
    "kp": ('kp="20"', 'kp="60"'),
    "kv": ('kv="1"', 'kv="4"'),
    "gear": ('gear="2"', 'gear="5"'),
    "ctrlrange": ('ctrlrange="-1 1"', 'ctrlrange="-.1 .1"'),
    "forcerange": ('forcerange="-5 5"', 'forcerange="-1 1"'),
    "tendon": ('coef="-2"', 'coef="1"'),
    "site": ('pos=".1 0 0"', 'pos=".3 0 0"'),
}


def end(text, **options):
    robot = hinge.load(text)
    q, qd, status = hinge.rollout(robot, [0.1, 0.2], [0.0, 0.0], 100, 2e-3, physics="file", ctrl=[0.5, 0.3, 4.0])
    assert status == hinge.Status.OK
    return np.concatenate([q[-1], qd[-1]])


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """Where the edited robots end, each without a cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINGE_CACHE_DIR", "")
        return {name: end(FILE.replace(*edit)) for name, edit in {"": ("", ""), **EDITS}.items()}


@pytest.mark.parametrize("name", EDITS)
def test_an_edited_file_is_another_robot(cold, ends, name):
    assert np.abs(ends[name] - ends[""]).max() > 1e-4
    np.testing.assert_array_equal(end(FILE), ends[""])
    np.testing.assert_array_equal(end(FILE.replace(*EDITS[name])), ends[name])


def test_a_force_at_a_frame_that_moved_is_another_force(cold):
    arm = hinge.samples.planar_2r()
    made = []
    for x in (0.1, 0.6):
        robot = arm.with_frame("tool", "hand", [x, 0.0, 0.0])
        q, _, _ = hinge.rollout(robot, [0.1, 0.2], [0.0, 0.0], 50, 1e-3, external={"tool": [0, 0, 0, 0, 0, 20.0]})
        made.append(q[-1])
    assert np.abs(made[0] - made[1]).max() > 1e-4


def test_another_ground_is_another_question():
    robot = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot
    q = [1.0, 0, 0, 0, 0, 0, 0.5]
    for ground in (-1.0, -2.0, ((0, 0, 1), -3.0), (np.array([0, 0, 2.0]), -8.0), 0.45):
        height = ground if np.isscalar(ground) else ground[1] / np.linalg.norm(ground[0])
        np.testing.assert_allclose(robot.distances(q, ground=ground).distance, [0.4 - height])
        assert robot.collides(q, ground=ground) == (height > 0.4)


def test_pairs_that_are_left_out_are_another_question():
    scene = hinge.Scene().body("a", "sphere", 0.1, 1.0).body("b", "sphere", 0.1, 1.0)
    robot, q = scene.robot, [1.0, 0, 0, 0, 0, 0, 0.5, 1.0, 0, 0, 0, 0, 0, 0.55]
    assert robot.collides(q, ground=0.0)
    assert not robot.collides(q, ground=0.0, exclude=[("a", "b")])
    assert robot.distances(q, ground=0.0).pairs != robot.distances(q, ground=0.0, exclude=[("a", "b")]).pairs


CALLS = {
    "distances": lambda r: r.distances(r.neutral(), ground=-1.0),
    "collides": lambda r: r.collides(r.neutral(), ground=-1.0),
    "contact_system": lambda r: r.contact_system(r.neutral(), np.zeros(6), np.zeros(6), [TOUCH]),
    "friction_step": lambda r: r.friction_step(r.neutral(), np.zeros(6), np.zeros(6), [TOUCH], 1e-3),
    "contact_kernel": lambda r: r.contact_kernel([TOUCH])(r.neutral(), np.zeros(6), np.zeros(6)),
    "contact_step": lambda r: r.contact_step(r.neutral()[None], np.zeros((1, 6)), np.zeros((1, 6)), 1e-3, ground=-1.0),
    "poses": lambda r: poses(r.target, r.neutral(), ["ball"]),
    "derivatives": lambda r: r.inverse_dynamics_derivatives(r.neutral(), np.zeros(6), np.zeros(6)),
    "constrained": lambda r: HELD.setdefault(r, hinge.constrain(r, lambda q, t: np.eye(6)[5:])).forward(
        r.neutral(), np.zeros(6), np.zeros(6)
    ),
}
HELD = {}  # constrained robots, which have kernels of their own
TOUCH = hinge.Contact("ball", (0, 0, 0), normal=(0, 0, 1))


@pytest.mark.parametrize("name", CALLS)
def test_the_back_end_that_is_the_default_now_is_taken(name, monkeypatch):
    """A kernel that was made while another back end was the default is not the one that is run."""
    robot, made = hinge.Scene().body("ball", "sphere", 0.1, 1.0).robot, []
    init = Kernel.__init__
    monkeypatch.setattr(Kernel, "__init__", lambda self, plan, backend: made.append(self) or init(self, plan, backend))
    for backend in ("llvm", "interpret"):
        made.clear()
        monkeypatch.setenv("HINGE_BACKEND", backend)
        CALLS[name](robot)
        assert {one.backend for one in made} == {backend}


# stores


def test_a_store_is_not_continued_by_a_robot_with_other_actuators(tmp_path):
    place = tmp_path / "run.zarr"
    hinge.simulate(hinge.load(FILE), t=0.02, physics="file", file=place)
    with pytest.raises(hinge.TrajectoryError, match="another robot"):
        hinge.simulate(hinge.load(FILE.replace(*EDITS["gear"])), t=0.02, physics="file", file=place, append=True)
    assert hinge.simulate(hinge.load(FILE), t=0.02, physics="file", file=place, append=True).t[-1] == 0.04


def test_a_sweep_is_not_resumed_by_a_robot_with_other_actuators(tmp_path):
    place, how = tmp_path / "sweep.zarr", {"t": 0.02, "physics": "file", "rollouts": 4, "method": "semi_implicit"}
    how["initial"] = {"q": hinge.sweeps.uniform(-0.1, 0.1)}
    hinge.sweep(hinge.load(FILE), store=place, **how)
    hinge.sweep(hinge.load(FILE), store=place, resume=True, **how)
    with pytest.raises(hinge.SweepError, match="digest"):
        hinge.sweep(hinge.load(FILE.replace(*EDITS["gear"])), store=place, resume=True, **how)


# HINGE_CACHE=verify


def test_verify_finds_a_key_in_memory_that_is_too_short(monkeypatch):
    monkeypatch.setenv("HINGE_CACHE", "verify")
    memo, arms = Memo(), [hinge.samples.pendulum(1), hinge.samples.pendulum(1, 2.0)]
    plans = [arm.kernel("gravity_force").plan for arm in (arms[0], arms[0], arms[1])]
    first = kernel_of(dataclasses.replace(plans[0], source="too short", memo=memo))
    assert kernel_of(dataclasses.replace(plans[1], source="too short", memo=memo)) is first
    kernel_of(dataclasses.replace(plans[0], source="other", memo=memo))
    with pytest.raises(hinge.HingeError, match=r"HINGE_CACHE=verify: the source 'other' leads .* another program"):
        kernel_of(dataclasses.replace(plans[2], source="other", memo=memo))


def test_verify_finds_a_key_on_disk_that_is_too_short(cold, monkeypatch):
    pendulum = lambda length: hinge.samples.pendulum(1, length).kernel("gravity_force")
    right = pendulum(2.0)(np.array([0.3]))
    for kept in cold.iterdir():
        kept.unlink()
    pendulum(1.0)(np.array([0.3]))
    monkeypatch.setattr("hinge.backends.kernel.digest_of", lambda source: "the same for all")
    pendulum(1.0)(np.array([0.3]))
    assert pendulum(2.0)(np.array([0.3])) != right  # such a key is wrong
    monkeypatch.setenv("HINGE_CACHE", "verify")
    pendulum(1.0)(np.array([0.3]))
    with pytest.raises(hinge.HingeError, match="leads to another program on disk"):
        pendulum(2.0)(np.array([0.3]))


def test_the_code_of_one_program_is_shared_by_robots_that_differ_in_what_it_does_not_use(cold):
    arm = hinge.samples.planar_2r()
    for robot in (arm, hinge.Robot(arm.model), arm.with_frame("tool", "hand", [0.1, 0.0, 0.0])):
        robot.inverse_dynamics([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    assert len(cache.entries()) == 1
