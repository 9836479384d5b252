"""Robots, states and ways to run that the tests of kernels share."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass

import numpy as np

import hinge
from hinge.model import Builder, Joint
from hinge.spatial import Motion, MotionSpace, Vec3, slide, turn

Z = Vec3((0.0, 0.0, 1.0))


def tree():
    return hinge.samples.random_tree(np.random.default_rng(4), 4)


def _arm(name):
    builder = Builder(name)
    builder.link("base", 3.0, (0.1, 0.0, 0.2), np.diag([0.2, 0.3, 0.25]))
    for k in (1, 2, 3):
        builder.link(f"link{k}", 1.0 + k, (0.1 * k, 0.05, -0.1), np.diag([0.02, 0.03, 0.025]) * k)
    return builder


def follower():
    """A robot whose third joint follows its first."""
    builder = _arm("follower")
    builder.joint("first", "revolute", "base", "link1", (0.1, 0, 0), axis=(0, 0, 1), lower=-2, upper=2)
    builder.joint("second", "prismatic", "link1", "link2", (0.3, 0, 0), axis=(0, 1, 0))
    builder.joint("third", "revolute", "link2", "link3", (0.2, 0, 0), axis=(1, 0, 0), mimic=("first", -1.5, 0.2))
    return hinge.Robot(builder.build())


def floating():
    """A robot with a free base, a ball joint and a hinge."""
    builder = _arm("floating")
    builder.joint("ball", "spherical", "base", "link1", (0.1, 0, 0))
    builder.joint("hinge", "revolute", "link1", "link2", (0.3, 0, 0), axis=(0, 1, 0), armature=0.1)
    builder.joint("weld", "fixed", "link2", "link3", (0.2, 0, 0))
    return hinge.Robot(builder.build(base="floating"))


def point_mass_arm():
    """A massless upper arm and a point mass at the end of the lower one: singular where the arm is straight."""
    builder = Builder("straight")
    builder.link("base")
    builder.link("upper")
    builder.link("lower", 1.0, (1.0, 0.0, 0.0))
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, -1, 0))
    builder.joint("elbow", "revolute", "upper", "lower", (1.0, 0.0, 0.0), axis=(0, -1, 0))
    return hinge.Robot(builder.build())


def user_joint(pitch):
    """A class a user could write. Whatever the pitch, its name and its fields are the same."""

    @dataclass(frozen=True)
    class Twist(Joint):
        nq, nv = 1, 1

        def transform(self, q):
            return turn(Z, q[0]) @ slide(Z, pitch * q[0])

        def axes(self, q):
            return MotionSpace((Motion(Z, Vec3((0.0, 0.0, pitch))),))

    Twist.kind = "twist"  # given late, so that the class stays out of the registry
    return Twist()


def with_joint(joint):
    """A two-joint robot that begins with that joint."""
    builder = _arm("own")
    builder.joint("first", joint, "base", "link1", (0.1, 0.2, 0.3))
    builder.joint("second", "revolute", "link1", "link2", (0.3, 0, 0), axis=(0, 1, 0))
    builder.joint("weld", "fixed", "link2", "link3")
    return hinge.Robot(builder.build())


ROBOTS = {
    "planar": hinge.samples.planar_2r,
    "puma": hinge.samples.puma560,
    "tree": tree,
    "follower": follower,
    "floating": floating,
}


def states(robot, n, seed=0, dtype=np.float64):
    """Random q, qd, and something the size of qd."""
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, n)
    return tuple(np.ascontiguousarray(x, dtype) for x in (q, qd, rng.normal(size=qd.shape)))


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def python(code, *args, timeout=120, **environment):
    """Run code, or a script at a path, in a new interpreter; the finished process, its text read."""
    what = ["-c", code] if isinstance(code, str) else [str(code)]
    command = [sys.executable, "-X", "faulthandler", *what, *map(str, args)]
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": path, **environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)  # it, and what it forked
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)
