"""Laws of joints, for every joint type there is: a class that joins the registry is tried here unasked."""

import math

import numpy as np
import pytest
from hypothesis import given
from robots import KINDS, law, random_body, random_joint, random_position, seeds
from yardsticks import assert_close, derivative, matrix3

import hinge
from hinge.graph import Graph, evaluated
from hinge.model import JOINTS
from hinge.model.joint_constraints import rates_of
from hinge.sim.setup import unit

every_kind = pytest.mark.parametrize("kind", KINDS)
every_holonomic_kind = pytest.mark.parametrize("kind", [kind for kind, joint in KINDS.items() if joint.holonomic])


def drawn_joint(kind, seed):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, kind)
    return joint, rng, random_position(rng, joint), rng.normal(size=joint.nv).tolist()


def pose(joint, q):
    R, p = joint.transform(list(q)).pose()
    return matrix3(R), np.array(p, float)


def assert_same_place(joint, q0, q1, tolerance):
    (R0, p0), (R1, p1) = pose(joint, q0), pose(joint, q1)
    assert_close(R0, R1, tolerance)
    assert_close(p0, p1, tolerance, 1.0 + np.max(np.abs(p1)))


def turning(joint, q, v):
    """The parts of v that turn, as one number: how far the outer frame turns in unit time."""
    return np.linalg.norm((joint.axes(list(q)) @ list(v)).ang)


def test_every_moving_joint_type_of_the_registry_is_tried():
    ours = {kind: joint for kind, joint in JOINTS.items() if joint.__module__.startswith("hinge.")}  # pages make others
    assert {kind for kind, joint in ours.items() if joint.nv} == set(KINDS)
    assert any(joint.axes_vary for joint in KINDS.values())


@every_kind
@given(seed=seeds)
@law(8)
def test_the_axes_are_the_rate_of_the_transform(kind, seed):
    joint, _, q, qd = drawn_joint(kind, seed)
    rate = np.array(joint.rate(q, qd), float)
    R, _ = pose(joint, q)
    spun = R.T @ derivative(lambda t: pose(joint, q + t * rate)[0])
    moved = R.T @ derivative(lambda t: pose(joint, q + t * rate)[1])
    assert_close(spun, -spun.T, 1e-10)  # a rotation stays one
    seen = [spun[2, 1], spun[0, 2], spun[1, 0], *moved]
    assert_close(list(joint.axes(q) @ qd), seen, 1e-10)


@every_kind
@given(seed=seeds)
@law(8)
def test_the_rate_of_the_axes_is_the_rate_of_the_axes(kind, seed):
    joint, _, q, qd = drawn_joint(kind, seed)
    rate = np.array(joint.rate(q, qd), float)
    columns = lambda at: np.array([list(s) for s in joint.axes(list(at))])
    found = derivative(lambda t: columns(q + t * rate))
    assert_close([list(s) for s in joint.axes_rate(q, qd)], found, 1e-10)
    assert_close(list(joint.bias(q, qd)), np.array(qd) @ found, 1e-10)


@every_kind
@given(seed=seeds)
@law(4)
def test_the_axes_are_independent(kind, seed):
    joint, _, q, _ = drawn_joint(kind, seed)
    columns = np.array([list(s) for s in joint.axes(q)])
    assert columns.shape == (joint.nv, 6)
    assert np.linalg.svd(columns)[1][-1] > 1e-3


@every_kind
@given(seed=seeds)
@law(8)
def test_difference_undoes_integrate(kind, seed):
    joint, _, q, v = drawn_joint(kind, seed)
    far = max(turning(joint, q, v), 1e-12)
    # any distance, but turns of less than half a circle: beyond that another way is shorter
    for turn in (1e-9, 1e-3, math.sqrt(1e-3), 1.0, 3.0, math.pi - 1e-6):
        step = [x * turn / far for x in v] if far > 1e-6 else v
        back = joint.difference(q, joint.integrate(q, step))
        # coordinates of size pi are added and subtracted; turns of all but pi are told from their sine, which loses
        # nothing, while the shift of a free joint is multiplied by up to pi
        assert_close(back, step, 1e-14, math.pi)


@every_holonomic_kind
@given(seed=seeds)
@law(8)
def test_integrate_undoes_difference(kind, seed):
    joint, rng, q0, _ = drawn_joint(kind, seed)
    q1 = random_position(rng, joint)
    assert_same_place(joint, joint.integrate(q0, joint.difference(q0, q1)), q1, 1e-13)


@every_holonomic_kind
@given(seed=seeds)
@law(8)
def test_a_turn_of_many_circles_leads_where_its_short_form_leads(kind, seed):
    joint, _, q, v = drawn_joint(kind, seed)
    for length in (4.0, 2 * math.pi - 1e-7, 2 * math.pi, 2 * math.pi + 1e-3, 50.0):
        step = [x * length / np.linalg.norm(v) for x in v]
        there = joint.integrate(q, step)
        short = joint.difference(q, there)
        assert_same_place(joint, joint.integrate(q, short), there, 1e-12)  # fifty radians, and metres, in


@every_kind
@given(seed=seeds)
@law(8)
def test_the_smallest_steps_keep_all_their_digits(kind, seed):
    joint, _, _, v = drawn_joint(kind, seed)
    rest = joint.neutral()
    for size in (1e-9, 1e-30, 1e-100):
        step = [x * size for x in v]
        assert_close(np.array(joint.difference(rest, joint.integrate(rest, step))) / size, v, 1e-14)


@every_kind
@given(seed=seeds)
@law(8)
def test_integrate_begins_along_the_rate(kind, seed):
    joint, _, q, qd = drawn_joint(kind, seed)
    found = derivative(lambda t: joint.integrate(q, [t * x for x in qd]))
    assert_close(found, joint.rate(q, qd), 1e-10)


@every_kind
@given(seed=seeds)
@law(8)
def test_two_half_steps_lead_where_one_step_leads(kind, seed):
    joint, _, q, qd = drawn_joint(kind, seed)
    half = joint.integrate(q, [0.5 * x for x in qd])
    assert_same_place(joint, joint.integrate(half, [0.5 * x for x in qd]), joint.integrate(q, qd), 1e-14)


@every_kind
@given(seed=seeds)
@law(2)
def test_at_rest_the_frames_coincide(kind, seed):
    joint, _, _, _ = drawn_joint(kind, seed)
    R, p = pose(joint, joint.neutral())
    assert len(joint.neutral()) == joint.nq
    np.testing.assert_array_equal(R, np.eye(3))
    np.testing.assert_array_equal(p, np.zeros(3))


@pytest.mark.parametrize("kind", [kind for kind, joint in KINDS.items() if not joint.rates_are_velocities])
@given(seed=seeds)
@law(6)
def test_a_quaternion_of_any_length_or_sign_is_read_as_its_direction(kind, seed):
    joint, rng, q, v = drawn_joint(kind, seed)
    q1 = random_position(rng, joint)
    for factor in (-1.0, 1e-8, 3.0, 1e8):
        scaled = [x * factor for x in q[:4]] + q[4:]
        assert_same_place(joint, scaled, q, 1e-14)
        assert_same_place(joint, joint.integrate(scaled, v), joint.integrate(q, v), 1e-14)
        assert_close(joint.difference(scaled, q1), joint.difference(q, q1), 1e-13)
        length = np.linalg.norm(joint.integrate(scaled, v)[:4])
        assert abs(length - 1.0) < 4e-15


@given(seed=seeds)
@law(10)
def test_a_continuous_joint_differs_by_the_short_way_round(seed):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, "continuous")
    for turns in (0, 1, -2, 100):
        q0, q1 = rng.uniform(-math.pi, math.pi, 2)
        q1 = float(q1 + 2 * math.pi * turns)
        (d,) = joint.difference([q0], [q1])
        assert -math.pi < d <= math.pi
        assert_close(math.remainder(q1 - q0 - d, 2 * math.pi), 0.0, 1e-15, 1.0 + abs(q1))
        (plain,) = random_joint(rng, "revolute").difference([q0], [q1])
        assert plain == q1 - q0


def test_half_a_circle_is_plus_pi_for_a_continuous_joint():
    joint = random_joint(np.random.default_rng(0), "continuous")
    assert joint.difference([0.0], [math.pi]) == [math.pi]
    assert joint.difference([-math.pi / 2], [math.pi / 2]) == [math.pi]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", [lambda x: -x, lambda x: 0.3 - x, lambda x: 2.0 * x], ids=["-x", "c - x", "2 x"])
def test_axes_change_alike_whatever_coordinates_are_made_of(kind, form):
    # a node may simplify across what it is made of: cos(-x) is cos(x), and -x is nowhere to be seen
    rng = np.random.default_rng(3)
    joint, graph = random_joint(rng, kind), Graph()
    x = [graph.input("x", k) for k in range(joint.nq)]
    at, rate = random_position(rng, joint), rng.normal(size=joint.nq).tolist()
    flat = lambda q: [e for motion in rates_of(joint.axes, q, rate) for e in motion]
    made = evaluated(flat([form(e) for e in x]), dict(zip(x, at, strict=True)))
    np.testing.assert_allclose(made, flat([form(e) for e in at]), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", [kind for kind, joint in KINDS.items() if joint.nq != joint.nv])
def test_each_start_of_many_is_normalized_as_it_is_alone(kind):
    rng = np.random.default_rng(3)
    builder = hinge.Builder(kind)
    builder.link("base")
    builder.link("body", **random_body(rng))
    builder.joint("joint", random_joint(rng, kind), "base", "body")
    robot = hinge.Robot(builder.build())
    joint = robot.model.joint[1]
    exact = np.array([joint.normal(random_position(rng, joint)) for _ in range(7)])
    rounded = exact * (1.0 + 1e-3 * rng.normal(size=exact.shape))
    many = unit(robot, np.vstack([exact, rounded, np.zeros((1, joint.nq))]))
    np.testing.assert_array_equal(many[:7], exact)
    np.testing.assert_array_equal(many[7:14], [joint.normal(row) for row in rounded.tolist()])
    assert np.isnan(many[14]).all()
