"""Derivatives through rollouts: against differences of whole rollouts, and against one step after the other."""

import pickle
from functools import partial

import numpy as np
import pytest
from sim_robots import double_pendulum, flyer, rods

import hinge
from hinge import NotCovered, SizeError, UnknownName
from hinge.sim import adjoint

STEPS, H, SMALL = 20, 1e-2, 1e-5
ONE_STEP = ("semi_implicit", "euler", "rk4", "lie_rk4")
arm = partial(rods, effort=1.0)


def geared():
    """Three rods of which the last follows the first."""
    builder = hinge.Builder("geared")
    builder.link("base")
    for k in range(3):
        builder.link(f"rod{k}", 1.0, (0.5, 0, 0), np.diag([0.01, 1 / 12, 1 / 12]))
    builder.joint("a", "revolute", "base", "rod0", axis=(0, -1, 0))
    builder.joint("b", "spherical", "rod0", "rod1", (1, 0, 0))
    builder.joint("c", "revolute", "rod1", "rod2", (1, 0, 0), axis=(0, -1, 0), mimic=("a", -0.7, 0.1))
    return hinge.Robot(builder.build())


def states(robot, count=3, seed=0):
    q, qd = robot.random_state(np.random.default_rng(seed), count)
    return q, 0.3 * qd


def policy(t, q, qd, target, gain):
    return gain * np.tanh(target - q) - 0.3 * qd + np.sin(20.0 * t)


def moved(robot, q, by):
    return robot.integrate(q, by) if robot.nq != robot.nv else np.asarray(q) + by


def apart(robot, q, other):
    return robot.difference(q, other) if robot.nq != robot.nv else other - q


def shifted(robot, given, along, size):
    """What is given, moved along a direction: positions by `integrate`."""
    if isinstance(given, dict):
        return {
            key: moved(robot, x, size * along[key]) if key == "q0" else shifted(robot, x, along[key], size)
            for key, x in given.items()
        }
    if isinstance(given, list | tuple):
        return tuple(shifted(robot, x, d, size) for x, d in zip(given, along, strict=True))
    return np.asarray(given, float) + size * along


def direction(rng, slopes):
    """A random direction of the shape of derivatives."""
    if isinstance(slopes, dict):
        return {key: direction(rng, x) for key, x in slopes.items()}
    if isinstance(slopes, tuple):
        return tuple(direction(rng, x) for x in slopes)
    return rng.normal(size=np.shape(slopes))


def dot(a, b):
    if isinstance(a, dict):
        return sum(dot(a[key], b[key]) for key in a)
    if isinstance(a, tuple):
        return sum(dot(x, y) for x, y in zip(a, b, strict=True))
    return np.sum(a * b)


def agrees(robot, given, tolerance=1e-6, steps=STEPS, seed=3, **options):
    """Derivatives along a random direction of every array, each alone, are differences of the rollouts themselves."""
    rng = np.random.default_rng(seed)
    run = hinge.rollout(robot, steps=steps, h=H, **given, **options)
    assert not run.status.any()
    dq, dqd = (rng.normal(size=run.qd.shape) for _ in range(2))
    slopes = run.pulled(dq, dqd)
    assert set(slopes) == set(given) - {"policy"}
    for name in slopes:
        along = {name: direction(rng, slopes[name])}
        near = [given | shifted(robot, {name: given[name]}, along, x) for x in (-SMALL, SMALL)]
        ends = [hinge.rollout(robot, steps=steps, h=H, **one, **options) for one in near]
        change = apart(robot, ends[0].q, ends[1].q), ends[1].qd - ends[0].qd
        wanted = (np.sum(dq * change[0]) + np.sum(dqd * change[1])) / (2 * SMALL)
        found = dot({name: slopes[name]}, along)
        size = np.sqrt(dot(slopes[name], slopes[name]) * dot(along[name], along[name]))
        assert size > 0.0
        assert abs(found - wanted) < tolerance * size, name
    return slopes


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", [*ONE_STEP, "implicit", "midpoint"])
def test_every_method_of_an_arm(method):
    robot = arm()
    q, qd = states(robot)
    taus = np.random.default_rng(1).normal(size=(3, STEPS, 2))
    slopes = agrees(
        robot, {"q0": q, "qd0": qd, "taus": taus}, method=method, joint_terms=("armature", "damping", "stiffness")
    )
    assert slopes["q0"].shape == slopes["qd0"].shape == (3, 2)
    assert slopes["taus"].shape == taus.shape


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", [*ONE_STEP, "implicit"])
@pytest.mark.parametrize("make", [flyer, geared])
def test_every_method_where_positions_are_no_vectors(make, method):
    robot = make()
    q, qd = states(robot)
    tau = np.random.default_rng(1).normal(size=(3, robot.nv))
    slopes = agrees(robot, {"q0": q, "qd0": qd, "tau": tau}, method=method)
    assert slopes["q0"].shape == (3, robot.nv)


def test_numbers_of_the_robot():
    names = ("lower.mass", "upper.com", "lower.inertia", "elbow.damping", "gravity", "elbow.placement")
    robot = arm().vary(*names)
    q, qd = states(robot)
    given = {one.name: one.nominal(robot.model) for one in robot.target.vary}
    given["lower.mass"] = np.array([0.5, 1.0, 2.0])  # one a rollout; the others serve all
    slopes = agrees(robot, {"q0": q, "qd0": qd, "parameters": given}, joint_terms=("armature", "damping"))
    assert {name: x.shape for name, x in slopes["parameters"].items()} == {n: np.shape(x) for n, x in given.items()}
    alone = agrees(robot, {"q0": q[0], "qd0": qd[0], "parameters": {"lower.mass": 2.0}})
    assert alone["parameters"]["lower.mass"].shape == ()


@pytest.mark.parametrize("method", ONE_STEP)
def test_what_a_policy_is_given(method):
    robot = arm()
    q, qd = states(robot)
    given = {"q0": q, "qd0": qd, "policy": policy, "inputs": (np.array([0.1, 0.2]), np.array([1.0, 2.0, 3.0]))}
    slopes = agrees(robot, given, method=method, t0=0.3)
    assert [x.shape for x in slopes["inputs"]] == [(2,), (3,)]


def test_forces_on_bodies_a_moving_base_and_driven_joints():
    robot = flyer()
    q, qd = states(robot)
    rng = np.random.default_rng(5)
    external = {"lower": rng.normal(size=(3, 6)), "body": rng.normal(size=6)}
    agrees(robot, {"q0": q, "qd0": qd, "external": external}, external_frame="base")
    robot = arm()
    q, qd = states(robot)
    agrees(robot, {"q0": q, "qd0": qd, "base_motion": (0.1 * rng.normal(size=(3, 6)), rng.normal(size=6))})
    driven, q, qd = arm().prescribe("shoulder"), q[:, 1:], qd[:, 1:]
    agrees(driven, {"q0": q, "qd0": qd, "prescribed": ([0.3], rng.normal(size=(3, 1)), [2.0])})


@pytest.mark.sampled(2)
@pytest.mark.parametrize("options", [{"effort": True}, {"limits": "spring"}, {"limits": "stop"},
                                     {"joint_terms": ("armature", "friction")}], ids=str)  # fmt: skip
def test_limits_and_friction(options):
    robot = arm(lower=-0.5, upper=0.5, friction=0.2)
    q, qd = np.array([[0.3, -0.3], [0.2, 0.4]]), np.array([[0.2, -3.0], [0.1, 2.0]])
    taus = 2.0 * np.random.default_rng(1).normal(size=(2, STEPS, 2))
    run = hinge.rollout(robot, q, qd, STEPS, H, taus=taus, **options)
    plain = hinge.rollout(robot, q, qd, STEPS, H, taus=taus)
    assert np.abs(run.q - plain.q).max() > 1e-3
    agrees(robot, {"q0": q, "qd0": qd, "taus": taus}, **options)


def test_forces_that_are_cut_off_have_no_say():
    robot = arm(effort=0.5)
    taus = np.tile([0.1, 3.0], (STEPS, 1))
    run = hinge.rollout(robot, [0.1, 0.2], [0.0, 0.0], STEPS, H, taus=taus, effort=True)
    slopes = run.pulled(np.ones((STEPS + 1, 2)))["taus"]
    assert (slopes[:, 1] == 0.0).all()
    assert (slopes[:-1, 0] != 0.0).all()


def test_arrays_that_serve_several_rollouts():
    robot = double_pendulum()
    q, _ = states(robot, 2)
    rng = np.random.default_rng(2)
    given = {"q0": q[:, None], "qd0": rng.normal(size=(3, 2)), "tau": rng.normal(size=2)}
    slopes = agrees(robot, given)
    assert [slopes[name].shape for name in given] == [(2, 1, 2), (3, 2), (2,)]
    alone = agrees(robot, {"q0": q[0], "qd0": np.zeros(2), "taus": rng.normal(size=(STEPS, 2))})
    assert alone["taus"].shape == (STEPS, 2)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("record", [3, 7, STEPS, 50])
@pytest.mark.parametrize("make", [arm, flyer])
def test_not_every_state_recorded(make, record, monkeypatch):
    robot = make()
    q, qd = states(robot)
    taus = np.random.default_rng(1).normal(size=(3, STEPS, robot.nv))
    given = {"taus": taus, "method": "rk4"}
    part = hinge.rollout(robot, q, qd, STEPS, H, record=record, **given)
    whole = hinge.rollout(robot, q, qd, STEPS, H, **given)
    weights = np.random.default_rng(4).normal(size=(2, *part.qd.shape))
    spread = np.zeros((2, *whole.qd.shape))
    spread[:, :, ::record] = weights
    wanted = whole.pulled(*spread)
    for room in (adjoint.ROOM, 8 * (robot.nq + robot.nv) * 3 * 5, 1):  # all steps, five, and two are run again at once
        monkeypatch.setattr(adjoint, "ROOM", room)
        found = part.pulled(*weights)
        for name in ("q0", "qd0", "taus"):
            assert np.array_equal(found[name], wanted[name]), (room, name)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", ONE_STEP)
@pytest.mark.parametrize("make", [arm, flyer, geared])
def test_it_is_one_step_after_the_other(make, method):
    robot = make()
    q, qd = states(robot)
    rng = np.random.default_rng(6)
    taus = rng.normal(size=(3, STEPS, robot.nv))
    run = hinge.rollout(robot, q, qd, STEPS, H, taus=taus, method=method)
    dq, dqd = rng.normal(size=(2, *run.qd.shape))
    slopes = run.pulled(dq, dqd)
    a, b = dq[:, -1], dqd[:, -1]
    for k in reversed(range(STEPS)):
        at = run.q[:, k], run.qd[:, k], taus[:, k], H
        a, b, forces = robot.vjp("step", at, (a, b), by=("q", "qd", "tau"), method=method)
        assert np.abs(slopes["taus"][:, k] - forces).max() < 1e-12 * (1.0 + np.abs(forces).max())
        a, b = a + dq[:, k], b + dqd[:, k]
    assert np.abs(slopes["q0"] - a).max() < 1e-12 * np.abs(a).max()
    assert np.abs(slopes["qd0"] - b).max() < 1e-12 * np.abs(b).max()


def test_by_the_numbers_of_coordinates():
    robot = flyer()
    q, qd = states(robot)
    q = 1.005 * q  # positions are brought to length one
    run = hinge.rollout(robot, q, qd, STEPS, H, method="lie_rk4")
    weights = np.random.default_rng(7).normal(size=run.q.shape)
    found = run.pulled(weights, by="q0", flat=True)["q0"]
    for k in range(robot.nq):
        step = SMALL * np.eye(robot.nq)[k]
        ends = [hinge.rollout(robot, x, qd, STEPS, H, method="lie_rk4").q for x in (q - step, q + step)]
        np.testing.assert_allclose(found[:, k], np.sum(weights * (ends[1] - ends[0]), (1, 2)) / (2 * SMALL), rtol=1e-6)
    for at in (slice(0, 4), slice(7, 11)):
        assert np.abs(np.sum(found[:, at] * q[:, at], 1)).max() < 1e-12


def test_a_robot_whose_stages_are_a_loop():
    robot = hinge.samples.chain(np.random.default_rng(0), 14)
    q, qd = states(robot, 2)
    agrees(robot, {"q0": q, "qd0": qd}, method="rk4", steps=3)


def test_forces_that_jump_within_a_step():
    def jumps(t, q, qd, strength):
        return strength * np.where(t < 0.055, 1.0, -1.0) - 0.3 * qd

    jumps.knots = (0.055, 0.057)
    given = {"q0": np.array([0.1, 0.2]), "qd0": np.zeros(2), "policy": jumps, "inputs": ([1.0, 0.5],)}
    agrees(arm(), given, method="rk4")


def agrees_along(robot, q, tau, **options):
    """Derivatives by held forces and by the start's velocity, along one that the loops or constraints allow."""
    weights = np.random.default_rng(3).normal(size=(2, STEPS + 1, robot.nv))
    free = hinge.rollout(robot, q, np.zeros(robot.nv), 1, 1e-6, tau=tau, **options).qd[-1]
    free /= np.abs(free).max()
    slopes = hinge.rollout(robot, q, free, STEPS, H, tau=tau, **options).pulled(*weights)
    for d, at in ((free, lambda x: (q, (1.0 + x) * free, tau)), (tau, lambda x: (q, free, (1.0 + x) * tau))):
        ends = [hinge.rollout(robot, *at(x)[:2], STEPS, H, tau=at(x)[2], **options) for x in (-SMALL, SMALL)]
        change = ends[1].q - ends[0].q, ends[1].qd - ends[0].qd
        found = np.dot(slopes["qd0" if d is free else "tau"], d)
        assert abs(found - np.sum(weights * change) / (2 * SMALL)) < 1e-6 * abs(found)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("loops", [None, "project", "baumgarte", "independent"])
def test_loops(loops):
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    agrees_along(robot, q, np.array([1.0, 0.2, 0.1]), loops=loops)


@pytest.mark.parametrize("loops", [None, "project"])
def test_constraints(loops):
    robot = double_pendulum()
    level = hinge.constrain(robot, lambda q, t: [q[0] + q[1] - 0.5], holonomic=True)
    agrees_along(robot, np.array([0.2, 0.3]), np.array([1.0, 0.2]), constraint=level, loops=loops)


def test_what_was_lost_has_no_derivative_and_the_others_have():
    robot = flyer()
    q, qd = states(robot)
    wild = qd.copy()
    wild[1] = 1e200
    taus = np.random.default_rng(8).normal(size=(3, STEPS, robot.nv))
    calm, run = (hinge.rollout(robot, q, v, STEPS, H, taus=taus) for v in (qd, wild))
    weights = np.ones(run.qd.shape)
    found, wanted = run.pulled(weights), calm.pulled(weights)
    for name in ("q0", "qd0", "taus"):
        assert np.isnan(found[name][1]).all()
        assert np.array_equal(found[name][[0, 2]], wanted[name][[0, 2]])
    weights[1, 1:] = 0.0  # nobody asks for what was lost
    found = run.pulled(weights)
    np.testing.assert_allclose(found["q0"][1], np.ones(robot.nv), rtol=1e-14)
    assert (found["taus"][1] == 0.0).all()


def test_no_steps_and_no_rollouts():
    robot = double_pendulum()
    none = hinge.rollout(robot, [0.1, 0.2], [0.0, 0.0], 0, H, tau=[1.0, 2.0])
    slopes = none.pulled(np.ones((1, 2)), by=("q0", "tau"))
    assert slopes["q0"].tolist() == [1.0, 1.0]
    assert slopes["tau"].tolist() == [0.0, 0.0]
    nobody = hinge.rollout(robot, np.zeros((0, 2)), np.zeros(2), STEPS, H)
    assert nobody.pulled(1.0)["q0"].shape == (0, 2)


def test_a_rollout_is_still_a_tuple():
    q, qd, status = run = hinge.rollout(double_pendulum(), [0.1, 0.2], [0.0, 0.0], STEPS, H)
    assert run.q is q
    assert run.qd is qd
    assert run.status is status
    assert list(run.pulled(1.0)) == ["q0", "qd0"]
    driven = hinge.rollout(arm(), [0.1, 0.2], [0.0, 0.0], STEPS, H, policy=lambda t, q, qd: -q)
    copied = pickle.loads(pickle.dumps(driven))
    assert np.array_equal(copied.q, driven.q)
    with pytest.raises(NotCovered, match="it is a copy"):
        copied.pulled(1.0)


def test_what_cannot_be_used_is_refused():
    run = hinge.rollout(double_pendulum(), [0.1, 0.2], [0.0, 0.0], 5, H, tau=[0.0, 0.0])
    with pytest.raises(SizeError, match=r"pulled: dq has shape \(5, 2\); give \(6, 2\), a row for each recorded state"):
        run.pulled(np.zeros((5, 2)))
    with pytest.raises(UnknownName, match=r"by 'taus' are asked for, which it was not given\. Did you mean 'tau'"):
        run.pulled(1.0, by="taus")


@pytest.mark.parametrize("names", [("joint1.rest",), ("link2.mass", "joint1.rest"), ("joint1.rest", "link2.mass")])
def test_a_number_of_no_size_has_a_derivative_of_no_size(names):
    robot, still = hinge.samples.puma560().prescribe("joint1").vary(*names), np.zeros(5)
    given = {name: 3.0 if name == "link2.mass" else np.zeros(0) for name in names}  # a driven joint has no spring
    p = ([0.3], [0.0], [0.0])
    run = hinge.rollout(robot, np.full(5, 0.1), still, 3, 0.01, prescribed=p, parameters=given)
    found = run.pulled(np.ones((4, 5)))["parameters"]
    assert found["joint1.rest"].shape == (0,)
    assert "link2.mass" not in names or found["link2.mass"] != 0.0


def test_the_midpoint_rule_refuses_driven_joints_by_name():
    robot = hinge.samples.puma560().prescribe("joint1")
    with pytest.raises(NotCovered, match="joint 'joint1' is driven"):
        hinge.rollout(robot, np.zeros(5), np.zeros(5), 3, 0.01, method="midpoint", prescribed=([0.3], [0.0], [0.0]))
