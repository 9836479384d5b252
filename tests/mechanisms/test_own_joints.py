"""Joint classes of a user's own: good ones work everywhere, bad ones are named with the law they break."""

from dataclasses import dataclass

import numpy as np
import pytest
from machines import grown, near, random_body, refused, state, stiffness

import hinge
from hinge.graph import cos, sin
from hinge.model import JOINTS
from hinge.spatial import ZERO, Motion, MotionSpace, Rigid, Transform, Vec3, slide, turn
from hinge.spatial.linear3 import Mat3

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

X, Y, Z = (Vec3(tuple(row)) for row in np.eye(3).tolist())
HINT = "\n  See the page on joint types of your own."


class Cam(hinge.Joint):
    """Turns about z and is lifted on the way; given its kind late, so that it stays out of the registry."""

    nq, nv, axes_vary = 1, 1, True

    def transform(self, q):
        return slide(Z, 0.2 * sin(2.0 * q[0])) @ turn(Z, q[0])

    def axes(self, q):
        return MotionSpace((Motion(Z, Z * (0.4 * cos(2.0 * q[0]))),))


Cam.kind = "cam"


@dataclass(frozen=True)
class Crank(hinge.Joint):
    """Two crossed hinges at a distance: `reach` apart, the second about the turned y axis."""

    reach: float = 0.3
    nq, nv, axes_vary = 2, 2, True

    def transform(self, q):
        return turn(Y, q[1]) @ slide(X, self.reach) @ turn(Z, q[0])

    def axes(self, q):
        c, s = cos(q[1]), sin(q[1])
        return MotionSpace((Motion(Vec3((-s, 0.0, c)), Vec3((0.0, self.reach, 0.0))), Motion(Y)))


Crank.kind = "crank"


def put(joint, name="own"):
    builder = hinge.Builder(name)
    builder.link("base")
    builder.link("body", **random_body(np.random.default_rng(0)))
    builder.joint("pivot", joint, "base", "body")
    return hinge.Robot(builder.build())


def broken(**methods):
    """A cam with something changed: attributes, or methods."""
    return type("Broken", (Cam,), {"kind": "broken", **methods})


# good ones


@pytest.mark.parametrize("joint", [Cam(), Crank(0.4)], ids=["cam", "crank"])
def test_a_joint_of_ones_own_works_in_trees_by_every_method(joint):
    hinge.check_joint(joint)
    robot = grown(210, ("revolute", joint, "revolute", joint), (0, 1, 2, 1))
    q, qd, qdd, tau = state(robot, 211, 3)
    force = robot.inverse_dynamics(q, qd, qdd)
    for method in ("articulated", "composite"):
        near(robot.forward_dynamics(q, qd, force, method=method), qdd, 1e-14, stiffness(robot, q))
    known = np.arange(robot.nv) % 2
    made = [robot.hybrid_dynamics(q, qd, tau, qdd, known, method=m)[1] for m in ("articulated", "composite")]
    near(made[0], made[1], 1e-14, stiffness(robot, q))
    C = robot.coriolis_matrix(q, qd)
    near(np.einsum("nij,nj->ni", C, qd) + robot.gravity_force(q), robot.bias_force(q, qd), 1e-11, 50.0)


def test_it_equals_its_chain_of_hinges():
    """The crank is two hinges, a reach apart."""
    robot = put(Crank(0.4))
    builder = hinge.Builder("chain")
    for name, body in (("base", {}), ("web", {}), ("body", random_body(np.random.default_rng(0)))):
        builder.link(name, **body)
    builder.joint("first", "revolute", "base", "web", axis=(0, 0, 1))
    builder.joint("second", "revolute", "web", "body", (0.4, 0, 0), axis=(0, 1, 0))
    chain = hinge.Robot(builder.build())
    q, qd, qdd, _ = state(robot, 212)
    near(robot.inverse_dynamics(q, qd, qdd), chain.inverse_dynamics(q, qd, qdd), 1e-12, 10.0)


def test_it_can_be_driven_locked_and_followed():
    robot = grown(213, (Cam(), "revolute", "prismatic"), mimic={3: ("joint1", 0.5, 0.0)})
    q, qd, qdd, _ = state(robot, 214)
    tau = robot.inverse_dynamics(q, qd, qdd)
    for method in ("articulated", "composite"):
        near(robot.forward_dynamics(q, qd, tau, method=method), qdd, 1e-14, stiffness(robot, q))
    plain = grown(213, (Cam(), "revolute", "prismatic"))
    q, qd, qdd, _ = state(plain, 215)
    driven = plain.prescribe("joint1")
    made = driven.inverse_dynamics(q[1:], qd[1:], qdd[1:], prescribed=(q[:1], qd[:1], qdd[:1]))
    near(made, plain.inverse_dynamics(q, qd, qdd)[1:], 1e-12, 50.0)
    near(plain.lock({"joint1": q[0]}).pose(q[1:], "link3"), plain.pose(q, "link3"), 1e-13, 3.0)


def test_a_class_with_a_kind_is_in_the_registry_and_can_be_named():
    class Named(Cam):
        kind = "cam_of_a_test"

    assert JOINTS["cam_of_a_test"] is Named
    robot = put("cam_of_a_test")
    near(robot.inverse_dynamics([0.3], [1.0], [2.0]), put(Cam()).inverse_dynamics([0.3], [1.0], [2.0]), 0.0)


# bad ones

LAWS = {
    "axes that are not the motion": (
        {"axes": lambda self, q: MotionSpace((Motion(Z, Z * (0.3 * cos(2.0 * q[0]))),))},
        "axes(q) @ qd is not the motion of transform(q) when q changes at rate(q, qd)",
    ),
    "axes of the wrong sign": (
        {"axes": lambda self, q: MotionSpace((Motion(-Z, Z * (0.4 * cos(2.0 * q[0]))),))},
        "axes(q) @ qd is not the motion of transform(q) when q changes at rate(q, qd)",
    ),
    "axes in the inner frame": (
        {"transform": lambda self, q: turn(X, q[0]) @ turn(Z, 0.5),
         "axes": lambda self, q: MotionSpace((Motion(Y),)), "axes_vary": False},
        "axes(q) @ qd is not the motion of transform(q) when q changes at rate(q, qd)",
    ),
    "axes that vary in silence": (
        {"axes_vary": False}, "axes change with q, but axes_rate says otherwise: set axes_vary = True",
    ),
    "a rate of the axes that is wrong": (
        {"axes_rate": lambda self, q, qd: MotionSpace((Motion(ZERO, Z * sin(2.0 * q[0])),))},
        "axes change with q, but axes_rate says otherwise: set axes_vary = True",
    ),
    "an integral that goes too far": (
        {"integrate": lambda self, q, v: [q[0] + 2.0 * v[0]]}, "integrate(q, v) does not begin at rate(q, v)",
    ),
    "an integral that stands still": (
        {"integrate": lambda self, q, v: list(q)}, "integrate(q, v) does not begin at rate(q, v)",
    ),
    "a difference that is not the inverse": (
        {"difference": lambda self, q0, q1: [q0[0] - q1[0]]}, "difference(q, integrate(q, v)) is not v",
    ),
    "a rest of the wrong size": ({"neutral": lambda self: [0.0, 0.0]}, "neutral() has 2 entries, nq is 1"),
    "more velocities than axes": ({"nv": 2}, "axes(q) has 1 columns, nv is 2"),
    "a rate of the wrong size": (
        {"rate": lambda self, q, qd: [qd[0], 0.0]}, "rate(q, qd) has 2 entries, nq is 1",
    ),
    "a turn that is no rotation": (
        {"transform": lambda self, q: Transform(Rigid(Mat3((1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)), ZERO)),
         "axes": lambda self, q: MotionSpace((Motion(),)), "axes_vary": False},
        "transform(q) does not turn by a rotation",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LAWS)
def test_a_class_that_breaks_a_law_is_refused_with_the_law(case):
    methods, law = LAWS[case]
    joint = broken(**methods)()
    wanted = f"joint type 'broken' breaks a law of joints: {law}.{HINT}"
    assert refused(hinge.ModelError, hinge.check_joint, joint) == wanted
    assert refused(hinge.ModelError, put, joint) == wanted


def test_a_class_that_breaks_a_law_is_refused_each_time_and_by_name_too():
    cls = broken(axes_vary=False)
    for kind in (cls(), cls(), "broken"):
        assert "axes change with q" in refused(hinge.ModelError, put, kind)


def test_a_class_that_cannot_be_evaluated_says_why():
    joint = broken(transform=lambda self, q: q.missing)()
    assert refused(hinge.ModelError, put, joint) == (
        "joint type 'broken' cannot be evaluated: AttributeError: 'list' object has no attribute 'missing'.\n"
        "  Its methods have to work on plain numbers too."
    )
    unfinished = type("Unfinished", (hinge.Joint,), {"kind": "unfinished", "nq": 1, "nv": 1})()
    assert refused(hinge.ModelError, put, unfinished).startswith("joint type 'unfinished' cannot be evaluated: ")


def test_the_error_has_a_code_and_the_place_in_the_file():
    with pytest.raises(hinge.ModelError) as caught:
        put(broken(nv=2)())
    assert caught.value.code == "joint-law"
    assert caught.value.hint == HINT.strip()


def test_a_class_is_checked_once_when_it_is_first_used():
    called = []
    cls = type("Counted", (Cam,), {"kind": "counted", "neutral": lambda self: called.append(1) or [0.0]})
    put(cls())
    first = len(called)
    put(cls())
    assert first >= 1
    assert len(called) == first
