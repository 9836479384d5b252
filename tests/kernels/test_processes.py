"""Robots that travel: pickled, copied, forked and spawned."""

import copy
import os
import pickle

import pytest
from kernel_cases import ROBOTS, python, same_bits, states

import hinge


@pytest.mark.parametrize("again", [lambda r: pickle.loads(pickle.dumps(r)), copy.deepcopy, copy.copy],
                         ids=["pickle", "deepcopy", "copy"])  # fmt: skip
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_that_was_copied_is_the_same_robot(name, again):
    robot = ROBOTS[name]()
    q, qd, x = states(robot, 3)
    want = robot.forward_dynamics(q, qd, x)  # it has machine code by now
    robot.inverse_dynamics(q[0], qd[0], x[0])
    other = again(robot)
    assert other is not robot
    assert type(other) is hinge.Robot
    for what in ("name", "nq", "nv", "joint_names", "body_names", "mass"):
        assert getattr(other, what) == getattr(robot, what)
    assert other.model.digest == robot.model.digest
    assert [list(limit) for limit in other.limits] == [list(limit) for limit in robot.limits]
    assert list(other.report) == list(robot.report)
    assert list(other.model.frames) == list(robot.model.frames)
    assert same_bits(other.forward_dynamics(q, qd, x), want)
    assert same_bits(other.inverse_dynamics(q[0], qd[0], x[0]), robot.inverse_dynamics(q[0], qd[0], x[0]))
    tip = robot.body_names[-1]
    assert same_bits(other.pose(q, tip), robot.pose(q, tip))


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_every_protocol_pickles_a_robot(protocol):
    robot = ROBOTS["follower"]()
    other = pickle.loads(pickle.dumps(robot, protocol))
    q, qd, x = (s[0] for s in states(robot, 1))
    assert same_bits(other.inverse_dynamics(q, qd, x), robot.inverse_dynamics(q, qd, x))


def test_a_copy_shares_no_kernel_with_the_robot():
    robot = ROBOTS["planar"]()
    robot.gravity_force([0.1, 0.2])
    other = copy.deepcopy(robot)
    assert other.kernel("gravity_force") is not robot.kernel("gravity_force")


FORKED = """
import os, sys
import numpy as np, hinge
hinge.set_threads(3)
arm = hinge.samples.puma560()
rng = np.random.default_rng(0)
q, qd = arm.random_state(rng, 60_000)
x = rng.normal(size=qd.shape)
want = arm.forward_dynamics(q, qd, x) if sys.argv[1] == "warm" else None  # the pool has threads now
for _ in range(3):
    answer, told = os.pipe()
    child = os.fork()
    if child == 0:
        made = arm.forward_dynamics(q, qd, x)
        grandchild = os.fork()
        if grandchild == 0:
            same = arm.forward_dynamics(q, qd, x).tobytes() == made.tobytes()
            os._exit(0 if same else 1)
        ended = os.waitpid(grandchild, 0)[1]
        import hashlib
        os.write(told, hashlib.sha256(made.tobytes()).digest())
        os._exit(ended)
    os.close(told)
    digest = os.read(answer, 100)
    ended = os.waitpid(child, 0)[1]
    print(ended, digest.hex())
made = arm.forward_dynamics(q, qd, x)
import hashlib
print(0, hashlib.sha256(made.tobytes()).hexdigest())
"""


@pytest.mark.sampled(1)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.parametrize("state", ["warm", "cold"])
def test_a_forked_child_computes_a_large_batch(state):
    ran = python(FORKED, state)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert len(lines) == 4
    assert len(set(lines)) == 1
    assert lines[0].startswith("0 ")


SPREAD = """
import multiprocessing, sys
import numpy as np, hinge
from kernel_cases import ROBOTS, states

def work(job):
    robot, given = job
    return robot.forward_dynamics(*given)

if __name__ == "__main__":
    jobs = [(robot(), states(robot(), 2000)) for robot in ROBOTS.values()]
    hinge.set_threads(2)
    want = [work(job) for job in jobs]
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        made = pool.map(work, jobs, chunksize=1)
    print([a.tobytes() == b.tobytes() for a, b in zip(made, want, strict=True)])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_a_robot_can_be_sent_to_other_processes(tmp_path, way):
    if way == "fork" and not hasattr(os, "fork"):
        pytest.skip("this system does not fork")
    script = tmp_path / "spread.py"  # a spawned process reads it again
    script.write_text(SPREAD)
    ran = python(script, way)
    assert (ran.returncode, ran.stderr, ran.stdout) == (0, "", f"{[True] * len(ROBOTS)}\n")
