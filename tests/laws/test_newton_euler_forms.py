"""The other forms of Newton's and Euler's equations give what the first ones of each kind give."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, random_body, random_place, seeds
from yardsticks import assert_close

import hinge
from hinge.dynamics import ALGORITHMS
from hinge.model import Builder

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

TERMS = ("armature", "damping", "friction", "stiffness")
TREE = ("revolute", "prismatic", "helical", "continuous", "prismatic", "revolute", "revolute")
FIRST = {"inverse_dynamics": "newton_euler", "mass_matrix": "composite", "forward_dynamics": "composite"}
GENERAL = {  # these cover every joint
    "inverse_dynamics": ("turney", "newton_euler_base", "newton_euler_orin"),
    "mass_matrix": ("composite_base", "strobe", "strobe_symmetric", "jacobians"),
    "forward_dynamics": ("articulated_base", "articulated_static", "strobe", "conjugate_gradient"),
}
LINKED = {"inverse_dynamics": ("luh",), "mass_matrix": (), "forward_dynamics": ("nasser",)}  # these, joints of links


def forms(*tables):
    return pytest.mark.parametrize(
        ("name", "method"),
        [(name, method) for table in tables for name, methods in table.items() for method in methods],
    )


def linked(rng, parents, kinds=TREE):
    """A robot of links on joints of one freedom, each with a rotor, damping, friction and a spring."""
    builder, names = Builder("links"), ["base"]
    builder.link("base")
    for k, (parent, kind) in enumerate(zip(parents, kinds, strict=False), start=1):
        builder.link(f"link{k}", **random_body(rng))
        R, p = random_place(rng)
        more = {"pitch": 0.2} if kind == "helical" else {}
        builder.joint(f"joint{k}", kind, names[parent], f"link{k}", p, R, rng.normal(size=3), armature=rng.uniform(),
                      damping=rng.uniform(), friction=rng.uniform(), stiffness=rng.uniform(), **more)  # fmt: skip
        names.append(f"link{k}")
    builder.frame("tip", names[-1], rng.normal(size=3))
    return hinge.Robot(builder.build())


@cache
def links_of(shape):
    parents = {"arm": (0, 1, 2, 3, 4, 5), "tree": (0, 1, 1, 0, 2, 3, 5), "two roots": (0, 0)}[shape]
    return linked(np.random.default_rng(7), parents)


def wrenches(rng, robot):
    return {name: rng.normal(size=6) for name in (*robot.body_names, "tip")}


def agrees(robot, name, method, given, **options):
    """A form against the first of its kind; where equations are solved, to within what their condition lets through."""
    call = getattr(robot, name)
    want, got = call(*given, method=FIRST[name], **options), call(*given, method=method, **options)
    scale = 10.0
    if name == "forward_dynamics":
        scale *= np.max(np.linalg.cond(robot.mass_matrix(given[0])))
    assert_close(got, want, 1e-13, scale * max(1.0, np.max(np.abs(want), initial=0.0)))
    assert_close(got, want, 1e-10)


def options_of(rng, robot, name):
    yield {"joint_terms": TERMS}
    if name != "mass_matrix":
        yield {}
        yield {"external": wrenches(rng, robot)}
        yield {"base_motion": tuple(rng.normal(size=(2, 6)))}


def state_for(name, q, qd, last):
    return (q,) if name == "mass_matrix" else (q, qd, last)


@pytest.mark.sampled(3)
@forms(GENERAL)
@families
@given(seed=seeds)
@law(2)
def test_on_every_joint_a_form_agrees_with_the_first(name, method, family, seed):
    robot, rng, q, qd, last = drawn(family, seed)
    why = ALGORITHMS[name][method].refuses(robot.model)
    if why:
        assert "mimic" in family
        assert method in ("articulated_base", "articulated_static")
        assert why.endswith("follows another")
        return
    for options in options_of(rng, robot, name):
        agrees(robot, name, method, state_for(name, q, qd, last), **options)


@pytest.mark.sampled(5)
@forms(GENERAL, LINKED)
@pytest.mark.parametrize("shape", ["arm", "tree", "two roots"])
@given(seed=seeds)
@law(2)
def test_on_links_with_springs_and_rotors_a_form_agrees_with_the_first(name, method, shape, seed):
    robot, rng = links_of(shape), np.random.default_rng(seed)
    q, qd = robot.random_state(rng, 2)
    for options in options_of(rng, robot, name):
        agrees(robot, name, method, state_for(name, q, qd, rng.normal(size=qd.shape)), **options)


@forms(GENERAL, LINKED)
def test_where_numbers_vary_a_form_agrees_with_the_first(name, method):
    robot = links_of("tree").vary("link2.mass", "link3.com", "joint4.placement", "gravity")
    rng = np.random.default_rng(3)
    q, qd = robot.random_state(rng, 2)
    nominal = robot.mass_matrix(q)
    given = {"link2.mass": 1.7, "link3.com": [0.1, -0.2, 0.3], "gravity": [1.0, 2.0, -9.0]}
    call, state = getattr(robot, name), state_for(name, q, qd, rng.normal(size=qd.shape))
    want, got = call(*state, method=FIRST[name], parameters=given), call(*state, method=method, parameters=given)
    assert_close(got, want, 1e-11)
    assert np.max(np.abs(robot.mass_matrix(q, parameters=given) - nominal)) > 0.01  # and it does vary


@pytest.mark.parametrize("method", ["turney", "newton_euler_base", "newton_euler_orin"])
def test_with_driven_joints_joint_forces_are_those_of_newton_euler(method):
    rng = np.random.default_rng(3)
    robot = links_of("tree").prescribe("joint2", "joint4")
    q, qd = robot.random_state(rng, 2)
    agrees(robot, "inverse_dynamics", method, (q, qd, rng.normal(size=qd.shape)), prescribed=rng.normal(size=(3, 2)))


@families
@given(seed=seeds)
@law(2)
def test_bias_forces_by_turney_are_those_of_newton_euler(family, seed):
    robot, rng, q, qd, _ = drawn(family, seed)
    options = {"external": wrenches(rng, robot), "base_motion": tuple(rng.normal(size=(2, 6)))}
    want = robot.bias_force(q, qd, method="newton_euler", **options)
    assert_close(robot.bias_force(q, qd, method="turney", **options), want, 1e-12)


# conjugate gradients where they have nothing to do


def test_conjugate_gradients_take_no_step_where_nothing_is_left():
    robot = hinge.samples.chain(np.random.default_rng(1), 4).with_gravity([0.0, 0.0, 0.0])
    q, none = robot.neutral(), np.zeros(4)
    qdd, status = robot.forward_dynamics(q, none, none, method="conjugate_gradient", return_status=True)
    assert not np.any(qdd)
    assert status == hinge.Status.OK


def test_conjugate_gradients_may_arrive_early():
    """Three slides across each other: the mass matrix is a multiple of the identity, and one step does it."""
    robot = hinge.samples.chain(np.random.default_rng(1), 1, "cartesian_3")
    tau = np.vstack([np.eye(3), [1.0, 2.0, 3.0], [1e-200, 0.0, 0.0]])
    still = np.zeros((5, 3))
    qdd, status = robot.forward_dynamics(still, still, tau, method="conjugate_gradient", return_status=True)
    assert_close(qdd, robot.forward_dynamics(still, still, tau), 1e-14)
    assert np.all(status == hinge.Status.OK)


def test_conjugate_gradients_do_not_hide_what_is_not_a_number():
    robot = hinge.samples.chain(np.random.default_rng(1), 3)
    tau = np.array([[0.0, np.nan, 0.0], [0.0, 0.0, 1.0]])
    rest = np.zeros((2, 3))
    qdd, status = robot.forward_dynamics(rest, rest, tau, method="conjugate_gradient", return_status=True)
    assert np.all(np.isnan(qdd[0]))
    assert np.all(np.isfinite(qdd[1]))
    assert status.tolist() == [hinge.Status.NONFINITE, hinge.Status.OK]


def test_conjugate_gradients_stay_exact_on_a_long_arm():
    """Conjugate to the last direction only, they lose all digits at this length."""
    rng = np.random.default_rng(2)
    robot = hinge.samples.chain(rng, 14)
    q, qd = robot.random_state(rng, 1)
    agrees(robot, "forward_dynamics", "conjugate_gradient", (q, qd, rng.normal(size=(1, 14))))
