"""Environments can be copied and controllers pickled, and both then do what they did before."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import hinge
from hinge.control import laws


def controllers():
    """Each factory of hinge.control whose law can be pickled, with a law of it."""
    arm = hinge.samples.puma560()
    pose = arm.pose(np.full(6, 0.3), "link6")
    return {
        "pd": hinge.control.pd(arm, np.ones(6)),
        "pd for each rollout": hinge.control.pd(arm, np.ones((3, 6)), kp=np.full((3, 1), 20.0)),
        "computed_torque": hinge.control.computed_torque(arm, np.ones(6), kd=3.0),
        "posture": hinge.control.posture(arm, np.ones(6)),
        "saturate": hinge.control.saturate(arm, hinge.control.pd(arm, np.ones(6)), 5.0),
        "reach": hinge.control.reach(arm, pose, "link6"),
        "resolved_acceleration": hinge.control.resolved_acceleration(arm, pose, "link6"),
        "operational_space": hinge.control.operational_space(arm, pose, "link6"),
        "impedance": hinge.control.impedance(arm, pose, "link6", 50.0, 10.0),
    }


LAWS = controllers()


def test_every_factory_of_laws_is_tried():
    given = {name for name in hinge.control.__all__ if hasattr(getattr(hinge.control, name), "__wrapped__")}
    assert given == {name.split(" ")[0] for name in LAWS}
    assert all(isinstance(law, laws.Controller) for law in LAWS.values())


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy])
def test_a_copied_controller_gives_the_same_forces(name, copied):
    law, again = LAWS[name], copied(LAWS[name])
    rng = np.random.default_rng(0)
    q, qd = 0.3 * rng.normal(size=(2, 3, 6))
    assert np.array_equal(law(0.2, q, qd), again(0.2, q, qd))
    for word in ("inputs", "knots", "status"):
        assert hasattr(law, word) == hasattr(again, word)


def test_a_copied_controller_runs_as_the_first():
    arm = hinge.samples.planar_2r()
    law = hinge.control.computed_torque(arm, [0.1, 0.2])
    runs = [hinge.simulate(arm, 0.05, control=one).q for one in (law, pickle.loads(pickle.dumps(law)))]
    assert np.array_equal(*runs)


@pytest.mark.parametrize("name", ["cart-pole-swing-up", "panda-reach"])
def test_a_copied_environment_goes_on_by_itself(name):
    envs = pytest.importorskip("hinge.envs")
    env = envs.make(name, 3)
    env.reset(seed=0)
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (4, *env.action_space.shape)).astype(np.float32)
    env.step(actions[0])
    other = copy.deepcopy(env)
    after = [env.step(action)[:3] for action in actions[1:]]
    copied = [other.step(action)[:3] for action in actions[1:]]  # the first one has gone on: it has not moved this one
    for mine, its in zip(after, copied, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(mine, its, strict=True))


@pytest.mark.parametrize("word", ["abc", "0", "-2", "1.5"])
def test_a_number_of_threads_that_is_none_is_refused(word):
    code = "import hinge; hinge.samples.planar_2r().mass_matrix([0, 0])"
    env = os.environ | {"HINGE_THREADS": word}
    ran = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=120)
    assert ran.returncode != 0
    assert f"HINGE_THREADS={word!r} is not a number of threads. Give 1 or more" in ran.stderr
