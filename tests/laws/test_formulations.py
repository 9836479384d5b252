"""The older equation sets are the same function of the motion as Newton and Euler's, and their coefficients add up."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, law, plain_families, random_place, seeds

import hinge
from hinge.model import Builder
from hinge.robot import ALGORITHMS

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

OTHERS = ("hinge.formulations", "hinge.dynamics.turney", "hinge.dynamics.resolved_motion")  # other sets of equations

INVERSE = ALGORITHMS["inverse_dynamics"]
METHODS = [m for m, a in INVERSE.items() if a.function.__module__.startswith(OTHERS)]
OLD = ("uicker_kahn_direct", "uicker_kahn", "hollerbach", "hollerbach_4x4", "gibbs_appell", "silver", "euler_lagrange")
TERMS = ("armature", "damping", "friction", "stiffness")
TOL = 1e-10


def same(a, b, tol=TOL):
    """Assert that two arrays agree, relative to the larger's size."""
    np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1e-3, np.max(np.abs(b), initial=0.0)))


def random_arm(rng, kinds, parents=None):
    """Links on joints of those kinds, each with rotor, damping, friction and a spring."""
    builder, names = Builder("arm"), ["base"]
    builder.link("base")
    for k, kind in enumerate(kinds, start=1):
        points, weights = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.2, 1.0, 6)
        com = weights @ points / weights.sum()
        spread = points - com
        inertia = sum(w * (p @ p * np.eye(3) - np.outer(p, p)) for w, p in zip(weights, spread, strict=True))
        builder.link(f"link{k}", weights.sum(), com, inertia)
        R, p = random_place(rng)
        more = {"pitch": 0.3} if kind == "helical" else {}
        builder.joint(f"joint{k}", kind, names[parents[k - 1] if parents else -1], f"link{k}", p, R, rng.normal(size=3),
                      armature=rng.uniform(), damping=rng.uniform(), friction=rng.uniform(), stiffness=rng.uniform(),
                      **more)  # fmt: skip
        names.append(f"link{k}")
    return hinge.Robot(builder.build())


ARMS = {
    "turning": lambda rng: random_arm(rng, ["revolute"] * 4),
    "sliding": lambda rng: random_arm(rng, ["prismatic"] * 3),
    "mixed": lambda rng: random_arm(rng, ["revolute", "prismatic", "continuous", "prismatic"]),
    "screws": lambda rng: random_arm(rng, ["helical", "revolute", "helical"]),
    "tree": lambda rng: random_arm(
        rng, ["revolute", "prismatic", "revolute", "continuous", "helical"], [0, 1, 1, 0, 2]
    ),
    "nothing": lambda rng: random_arm(rng, []),
    "massless": lambda rng: hinge.samples.puma560(),
}


@cache
def arm_of(name):
    return ARMS[name](np.random.default_rng(11))


def state(robot, seed):
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, 2)
    return rng, q, qd, rng.normal(size=qd.shape)


def covered(robot, method, *inputs):
    """Skip where the method says that it does not cover the robot, or takes no such input."""
    why = INVERSE[method].refuses(robot.model)
    if why and method not in OLD:
        pytest.skip(why)
    missing = [name for name in inputs if name not in INVERSE[method].inputs]
    if missing:
        pytest.skip(f"{method} takes no {missing[0]}")


def test_every_formulation_is_tried_here():
    assert set(OLD) <= set(METHODS)


@pytest.mark.sampled(25)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ARMS)
@law(2)
@given(seed=seeds)
def test_the_joint_forces_are_those_of_newton_and_euler(name, method, seed):
    robot = arm_of(name)
    covered(robot, method)
    _, *motion = state(robot, seed)
    same(robot.inverse_dynamics(*motion, method=method), robot.inverse_dynamics(*motion, method="newton_euler"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["mixed", "tree"])
@law(2)
@given(seed=seeds)
def test_with_forces_on_the_bodies_and_what_the_joints_take(name, method, seed):
    robot = arm_of(name)
    covered(robot, method, "external")
    rng, *motion = state(robot, seed)
    loads = {body: rng.normal(size=6) for body in robot.body_names[1::2]}
    old, new = (robot.inverse_dynamics(*motion, external=loads, joint_terms=TERMS, method=m)
                for m in (method, "newton_euler"))  # fmt: skip
    same(old, new)


MOVED = [m for m in METHODS if "base_motion" in INVERSE[m].inputs]


@pytest.mark.parametrize("method", MOVED)
@pytest.mark.parametrize("name", ["mixed", "tree"])
@law(2)
@given(seed=seeds)
def test_on_a_base_that_moves(name, method, seed):
    robot = arm_of(name)
    covered(robot, method)
    rng, *motion = state(robot, seed)
    base = rng.normal(size=6), rng.normal(size=6)
    old, new = (robot.inverse_dynamics(*motion, base_motion=base, method=m) for m in (method, "newton_euler"))
    same(old, new)


@pytest.mark.parametrize("method", METHODS)
def test_where_joints_follow_others(method):
    robot, _, q, qd, qdd = drawn("mimic", 1)
    assert robot.model.follows
    covered(robot, method)
    same(robot.inverse_dynamics(q, qd, qdd, method=method), robot.inverse_dynamics(q, qd, qdd, method="newton_euler"))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("mass", [0.0, 1.7])
def test_where_a_mass_is_an_input_and_may_be_nothing(method, mass):
    covered(arm_of("mixed"), method)
    robot = arm_of("mixed").vary("link2.mass", "link2.com", "link4.inertia", "gravity")
    rng, *motion = state(robot, 5)
    inertia = rng.normal(size=(3, 3))
    numbers = {"link2.mass": mass, "link2.com": rng.normal(size=3), "link4.inertia": inertia @ inertia.T,
               "gravity": rng.normal(size=3)}  # fmt: skip
    old, new = (robot.inverse_dynamics(*motion, parameters=numbers, method=m) for m in (method, "newton_euler"))
    assert np.all(np.isfinite(new))
    same(old, new)


@plain_families
@law(3)
@given(seed=seeds)
def test_lagranges_equation_as_it_stands_takes_any_joint_whose_velocities_are_rates(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    loads = {robot.body_names[-1]: rng.normal(size=6)}
    old, new = (
        robot.inverse_dynamics(q, qd, qdd, external=loads, method=m) for m in ("euler_lagrange", "newton_euler")
    )
    same(old, new)


# Coriolis coefficients


@plain_families
@pytest.mark.parametrize("method", ["differentiation", "strobe"])
@law(3)
@given(seed=seeds)
def test_coefficients_times_rates_are_the_velocity_forces(family, method, seed):
    robot, _, q, qd, _ = drawn(family, seed)
    G = robot.coriolis_coefficients(q, method=method)
    assert G.shape == (robot.nv,) * 3
    same(G, G.swapaxes(1, 2), 1e-14)
    same(np.einsum("ijk,j,k->i", G, qd, qd), robot.bias_force(q, qd) - robot.gravity_force(q))
    same(np.einsum("ijk,k->ij", G, qd), robot.coriolis_matrix(q, qd))


@plain_families
@law(3)
@given(seed=seeds)
def test_strobing_and_differentiation_give_the_same_coefficients(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    same(*(robot.coriolis_coefficients(q, method=m) for m in ("strobe", "differentiation")))


def test_gravity_and_springs_are_not_in_the_coefficients():
    robot, (q, _) = arm_of("mixed"), arm_of("mixed").random_state(np.random.default_rng(0), 1)
    for method in ("differentiation", "strobe"):
        plain = robot.coriolis_coefficients(q, method=method)
        same(plain, robot.with_gravity((1.0, 2.0, 3.0)).coriolis_coefficients(q, method=method), 1e-14)
        same(plain, robot.coriolis_coefficients(q, method=method, joint_terms=TERMS), 1e-14)


def test_both_rates_set_to_one_is_not_yet_a_coefficient():
    """Section 8 of turney1981 forgets the two squares, which are there as well."""
    robot, q = arm_of("turning"), np.full(4, 0.4)
    G, pair = robot.coriolis_coefficients(q), np.array([1.0, 1.0, 0.0, 0.0])
    both = robot.bias_force(q, pair) - robot.gravity_force(q)
    same(both, G[:, 0, 0] + G[:, 1, 1] + 2 * G[:, 0, 1])
    assert np.max(np.abs(both - 2 * G[:, 0, 1])) > 1e-3


# forces by their parts


@pytest.mark.parametrize("family", ["tree", "every kind", "mimic", "floating"])
@law(3)
@given(seed=seeds)
def test_the_parts_add_up(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    loads = {robot.body_names[-1]: rng.normal(size=6)}
    parts = robot.force_parts(q, qd, qdd, external=loads)
    assert len(parts) == 5
    same(sum(parts), robot.inverse_dynamics(q, qd, qdd, external=loads))


@pytest.mark.parametrize("name", ["mixed", "tree"])
@law(2)
@given(seed=seeds)
def test_each_part_is_what_it_is_called(name, seed):
    robot = arm_of(name)
    rng, q, qd, qdd = state(robot, seed)
    loads = {"link3": rng.normal(size=6)}
    inertial, coriolis, centrifugal, gravity, load = robot.force_parts(q, qd, qdd, external=loads, joint_terms=TERMS)
    G = robot.coriolis_coefficients(q)
    squares = np.einsum("sijj,sj->si", G, qd**2)
    same(inertial, np.einsum("sij,sj->si", robot.mass_matrix(q), qdd))
    same(centrifugal, squares)
    same(coriolis, np.einsum("sijk,sj,sk->si", G, qd, qd) - squares)
    same(gravity, robot.gravity_force(q))
    lifted = np.einsum("sij,i->sj", robot.jacobian(q, "link3"), loads["link3"])
    resisted = robot.inverse_dynamics(q, qd, qdd, joint_terms=TERMS) - robot.inverse_dynamics(q, qd, qdd)
    same(load, resisted - lifted)


def test_one_rate_alone_makes_no_coriolis_force():
    robot = arm_of("turning")
    _, coriolis, centrifugal, _, _ = robot.force_parts([0.3] * 4, [0.0, 2.0, 0.0, 0.0], [0.0] * 4)
    assert np.max(np.abs(coriolis)) < 1e-14
    assert np.max(np.abs(centrifugal)) > 1e-2


# Gauss


def gauss(robot, q, qd, qdd, tau):
    """What Gauss says is least: half the mass times the square of what each body's acceleration is beyond free motion.

    Of the terms that do not change with qdd some are left out; what is left is Gibbs' function less tau · qdd.
    """
    model, total = robot.model, -tau @ qdd
    for i, name in enumerate(robot.body_names, start=1):
        frame = model.frames[name]
        m, I = model.inertia[i].m, np.reshape(model.inertia[i].about_com.full(), (3, 3))
        R = np.reshape(frame.R, (3, 3))
        c, I = R.T @ (np.array(model.inertia[i].com) - np.array(frame.p)), R.T @ I @ R
        a = robot.acceleration(q, qd, qdd, name, kind="classical")
        w, wd, fall = robot.velocity(q, qd, name)[:3], a[:3], robot.pose(q, name)[:3, :3].T @ model.gravity
        beyond = a[3:] + np.cross(wd, c) + np.cross(w, np.cross(w, c)) - fall
        total += m * beyond @ beyond / 2 + wd @ I @ wd / 2 + wd @ np.cross(w, I @ w)
        total += sum(model.armature(i)) * qdd[i - 1] ** 2 / 2
    return total


@pytest.mark.parametrize("name", ["turning", "mixed", "tree"])
def test_the_true_acceleration_is_the_least_of_gauss(name):
    robot = arm_of(name)
    rng, q, qd, tau = (x[0] if np.ndim(x) == 2 else x for x in state(robot, 3))
    qdd = robot.forward_dynamics(q, qd, tau)
    least = gauss(robot, q, qd, qdd, tau)
    for _ in range(5):
        step = rng.normal(size=robot.nv) * 0.1
        more = gauss(robot, q, qd, qdd + step, tau) - least
        assert more > 0
        np.testing.assert_allclose(more, step @ robot.mass_matrix(q) @ step / 2, rtol=1e-8)
