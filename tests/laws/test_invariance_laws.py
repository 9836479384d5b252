"""What must not matter: how bodies are numbered, where their frames sit, and how a force is written down."""

from dataclasses import replace
from functools import cache
from itertools import cycle

import numpy as np
import pytest
from hypothesis import given
from robots import FAMILIES, built, drawn, families, law, random_place, robot_of, seeds, square_place
from yardsticks import arguments, assert_close, computed, every_call

import hinge
from hinge.dynamics.christoffel import CUBE
from hinge.dynamics.coordinates import RATE
from hinge.dynamics.registry import (
    ACCELERATION,
    FORCE,
    JACOBIAN,
    MATRIX,
    PLACE,
    POSITION,
    REGRESSOR,
    SLOPES,
    VELOCITY,
)
from hinge.dynamics.resolved_motion import LOST, POSTURE
from hinge.identify import parameters
from hinge.model import reframe
from hinge.robot import ALGORITHMS

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

PER_VELOCITY = (VELOCITY, ACCELERATION, FORCE, POSTURE, LOST)
OTHERS = ("hinge.formulations", "hinge.dynamics.turney", "hinge.dynamics.resolved_motion")  # other sets of equations

FRAMES = ("body", "base", "aligned")
CALLS = list(every_call())
FIRST = {(name, method): options for name, method, options in reversed(CALLS)}
each_call = pytest.mark.parametrize(
    ("name", "method", "options"),
    [
        pytest.param(n, m, o, id="-".join((n, m, *o.values())), marks=[pytest.mark.sweep] if o != FIRST[n, m] else [])
        for n, m, o in CALLS
    ],
)


def size_of(robot, name, given):
    """How large the numbers are that an answer is computed from: for solutions of equations, times their condition."""
    solves = name in ("forward_dynamics", "inverse_mass_matrix")
    if name.startswith("resolved"):  # singular on most of these robots: damping is what there is to divide by
        return 10.0 * np.linalg.cond(robot.mass_matrix(given["q"])) / float(given["damping"]) ** 2
    return 10.0 * np.linalg.cond(robot.mass_matrix(given["q"])) if solves else 10.0


def tried(name, method):
    """A few robots that the method covers, the same for every algorithm."""
    for family, k in (
        ("tree", 0),
        ("every kind", 0),
        ("square", 0),
        ("square", 1),
        ("mimic", 0),
        ("floating mimic", 1),
    ):
        robot = robot_of(family, k)
        if not ALGORITHMS[name][method].refuses(robot.model):
            yield robot, np.random.default_rng(k)
    if ALGORITHMS[name][method].function.__module__.startswith(OTHERS):  # few of the above are theirs
        yield from ((linked(k), np.random.default_rng(k)) for k in (1, 2))


@cache
def linked(k):
    """A tree of hinges and slides, which are all that the older equation sets know."""
    rng = np.random.default_rng(k)
    return built(hinge.samples.random_tree(rng, 4, ("revolute", "prismatic")).model, tip=random_place(rng))


@pytest.mark.sampled(5)
@each_call
def test_re_framing_changes_no_result(name, method, options):
    for robot, rng in tried(name, method):
        given = arguments(rng, robot, name, method)
        got, want = (computed(m, name, method, options, given) for m in (cheap(robot.model), robot.model))
        assert_close(got, want, 1e-12, size_of(robot, name, given))


cheap = cache(reframe)


@cache
def altered(robot):
    """The same robot with other frames on its links, and its links and joints told in another order."""
    rng, bodies = np.random.default_rng(5), range(1, len(robot.model.parent))
    place = square_place if robot.name == "square" else random_place
    return built(robot.model, numbers=bodies[::-1], seats={i: place(rng) for i in bodies})


def places(robot, joints):
    """Where the coordinates, and where the velocities, of these joints are."""
    every = np.arange(max(robot.nq, robot.nv))
    return [np.concatenate([every[robot.coordinates(joint)[k]] for joint in joints]) for k in (0, 1)]


@pytest.mark.sampled(5)
@each_call
def test_renumbering_bodies_and_moving_their_frames_permutes_results_and_changes_none(name, method, options):
    permuted = 0
    for robot, rng in tried(name, method):
        other = altered(robot)
        algorithm, given = ALGORITHMS[name][method], arguments(rng, robot, name, method)
        # the frame of a link is the one thing that is not where it was
        given |= {key: "tip" for key, quantity in algorithm.inputs.items() if quantity is PLACE}
        if "external" in given:
            given["external"] = {"tip": rng.normal(size=6)}
        # entry k of this robot is entry q[k], or v[k], of the other
        q, v = places(other, [robot.model.joint_name[i] for i in robot.model.leaders])
        permuted += bool((np.diff(v) < 0).any())
        there = dict(given)
        for key, quantity in algorithm.inputs.items():
            at = (
                q if quantity is POSITION else v if quantity in (VELOCITY, ACCELERATION, FORCE, POSTURE, LOST) else None
            )
            if at is not None:
                there[key] = np.empty(len(at))
                there[key][at] = given[key]
        got = computed(other.model, name, method, options, there)
        if algorithm.result is MATRIX:
            got = got[np.ix_(v, v)]
        elif algorithm.result is SLOPES:
            got = got[v][:, np.concatenate([np.arange(robot.nv)[v] + k * robot.nv for k in range(3)])]
        elif algorithm.result is CUBE:
            got = got[np.ix_(v, v, v)]
        elif algorithm.result in (POSITION, RATE):
            got = got[q]
        elif algorithm.result in (VELOCITY, ACCELERATION, FORCE, JACOBIAN):
            got = got[..., v]
        want = computed(robot.model, name, method, options, given)
        if algorithm.result is REGRESSOR:  # columns belong to frames of links, which are not where they were
            got, want = got[v] @ parameters(other), want @ parameters(robot)
        assert_close(got, want, 1e-12, size_of(robot, name, given))
    assert permuted >= 2  # most of the robots have branches to swap


@pytest.mark.sampled(1)
@families
@given(seed=seeds)
@law(3)
def test_an_external_force_is_felt_through_the_transpose_of_the_jacobian(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    tau, bias = robot.inverse_dynamics(q, qd, qdd), robot.bias_force(q, qd)
    names = list(dict.fromkeys((robot.body_names[-1], "tip", robot.body_names[0])))
    # a frame with each method will do: how a force is written is settled before any method sees it
    methods = cycle(m for m, a in ALGORITHMS["forward_dynamics"].items() if not a.refuses(robot.model))
    for frame in FRAMES:
        external = {name: rng.normal(size=6) for name in names}
        felt = sum(robot.jacobian(q, name, frame=frame).T @ w for name, w in external.items())
        options = {"external": external, "external_frame": frame}
        assert_close(robot.inverse_dynamics(q, qd, qdd, **options), tau - felt, 1e-12, 10.0)
        assert_close(robot.bias_force(q, qd, **options), bias - felt, 1e-12, 10.0)
        pushed = robot.forward_dynamics(q, qd, tau - felt, method=next(methods), **options)
        assert_close(pushed, qdd, 1e-13, 10.0 * np.linalg.cond(robot.mass_matrix(q)))


@pytest.mark.parametrize("family", [f for f in FAMILIES if "floating" not in f])
@given(seed=seeds)
@law(2)
def test_a_force_on_the_base_is_felt_by_no_joint(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    pushed = robot.inverse_dynamics(q, qd, qdd, external={"base": rng.normal(size=6)})
    assert_close(pushed, robot.inverse_dynamics(q, qd, qdd), 1e-15)


@given(seed=seeds)
@law(3)
def test_joints_that_follow_are_free_joints_seen_through_the_coupling(seed):
    robot, rng, q, qd, qdd = drawn("mimic", seed)
    free = hinge.Robot(replace(robot.model, follows={}))
    G, c = robot.model.coupling, robot.model.coupling_offset
    assert free.nv == robot.nv + 3
    wide = G @ q + c
    assert_close(robot.mass_matrix(q), G.T @ free.mass_matrix(wide) @ G, 1e-13)
    want = G.T @ free.inverse_dynamics(wide, G @ qd, G @ qdd)
    assert_close(robot.inverse_dynamics(q, qd, qdd), want, 1e-13, 10.0)
    assert_close(robot.coriolis_matrix(q, qd), G.T @ free.coriolis_matrix(wide, G @ qd) @ G, 1e-13, 10.0)
    for name in ("tip", *robot.body_names):
        assert_close(robot.pose(q, name), free.pose(wide, name), 1e-14)
        for frame in FRAMES:
            assert_close(robot.jacobian(q, name, frame=frame), free.jacobian(wide, name, frame=frame) @ G, 1e-13)
            rate = free.jacobian_rate(wide, G @ qd, name, frame=frame) @ G
            assert_close(robot.jacobian_rate(q, qd, name, frame=frame), rate, 1e-13, 10.0)
    tau = rng.normal(size=robot.nv)
    answer = robot.forward_dynamics(q, qd, tau)
    assert_close(G.T @ free.inverse_dynamics(wide, G @ qd, G @ answer), tau, 1e-11, 10.0)


def test_a_joint_that_follows_a_follower_is_led_by_the_first():
    builder = hinge.Builder("gears")
    builder.link("base")
    mimics = {"third": ("second", 3.0, 0.5), "second": ("first", -2.0, 0.25), "first": None}
    for name, mimic in mimics.items():
        builder.link(name, 1.0, (0, 0, 0), np.eye(3))
        builder.joint(name, "revolute", "base", name, mimic=mimic)
    model = builder.build()
    np.testing.assert_array_equal(model.coupling, [[-6.0], [-2.0], [1.0]])
    np.testing.assert_array_equal(model.coupling_offset, [3.0 * 0.25 + 0.5, 0.25, 0.0])
