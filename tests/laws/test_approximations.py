"""Approximated robots: the error is what is said, bodies stay possible, and nothing is changed without being told."""

import numpy as np
import pytest

import hinge
from hinge.counting.approximation import _matrix

ROBOTS = {
    "puma560": hinge.samples.puma560,
    "chain": lambda: hinge.samples.chain(np.random.default_rng(2), 5),
    "tree": lambda: hinge.samples.random_tree(np.random.default_rng(3), 5, ("revolute", "prismatic", "spherical")),
}


def states(robot, n=64, seed=5):
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, n)
    return q, qd, rng.normal(size=qd.shape)


def errors(robot, other, given):
    exact, near = (one.inverse_dynamics(*given, backend="interpret") for one in (robot, other))
    return np.abs(near - exact).max(axis=0) / np.abs(exact).max(axis=0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("within", [0.003, 0.05])
@pytest.mark.parametrize("name", ROBOTS)
def test_the_error_is_the_one_that_is_made(name, within):
    robot = ROBOTS[name]()
    given = states(robot)
    cheaper, what = hinge.approximate(robot, within, states=given)
    np.testing.assert_allclose(errors(robot, cheaper, given), what.errors, rtol=1e-6, atol=1e-12)
    assert what.error <= within
    assert what.after == {call: cheaper.cost(call) for call in what.after}
    assert all(saved >= 0.0 for saved in what.saved.values())


@pytest.mark.sweep
def test_more_error_saves_more_operations():
    robot = hinge.samples.puma560()
    saved = [hinge.approximate(robot, within)[1].saved["inverse_dynamics"] for within in (0.0, 0.002, 0.02, 0.1)]
    assert saved == sorted(saved)
    assert saved[0] == 0.0
    assert saved[2] > 0.15


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", ROBOTS)
def test_bodies_stay_possible_and_keep_their_mass(name):
    robot = ROBOTS[name]()
    cheaper, _ = hinge.approximate(robot, 0.05)
    for old, new in zip(robot.model.inertia[1:], cheaper.model.inertia[1:], strict=True):
        assert new.m == old.m
        least = np.linalg.eigvalsh(_matrix(new))[0]
        assert least >= min(0.0, np.linalg.eigvalsh(_matrix(old))[0]) - 1e-9
    q, _, _ = states(robot, 8)
    assert np.all(np.linalg.eigvalsh(cheaper.mass_matrix(q, backend="interpret")) > 0.0)


def test_forward_dynamics_of_the_approximated_robot_undoes_its_inverse_dynamics():
    cheaper, _ = hinge.approximate(ROBOTS["puma560"](), 0.05)
    q, qd, qdd = states(cheaper)
    tau = cheaper.inverse_dynamics(q, qd, qdd, backend="interpret")
    np.testing.assert_allclose(cheaper.forward_dynamics(q, qd, tau, backend="interpret"), qdd, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("drop", "words"), [("products", {"product"}), ("com", {"first moment"})])
def test_only_what_is_asked_for_is_dropped(drop, words):
    _, what = hinge.approximate(ROBOTS["puma560"](), 0.05, drop=drop)
    said = " ".join(change.what for change in what.changes)
    kinds = {word for word in ("product", "first moment", "second moment") if word in said}
    assert kinds == words
    assert all(change.code == "approximated" for change in what.changes)


def test_nothing_to_drop_gives_the_robot_itself():
    robot = hinge.samples.pendulum(2)
    same, what = hinge.approximate(robot, 0.0)
    assert same is robot
    assert what.error == 0.0
    assert str(what).startswith("0 changes; joint forces differ by up to 0.00% of their largest.")


def test_the_report_says_what_was_changed():
    _, what = hinge.approximate(ROBOTS["puma560"](), 0.003)
    said = ["link 'link5': no second moment z.", "link 'link6': no second moments x, y."]
    assert [change.what for change in what.changes] == said
    assert "inverse_dynamics: from 226 / 199 to" in str(what)


def test_names_that_vary_still_vary():
    robot = ROBOTS["puma560"]().vary("gravity")
    cheaper, _ = hinge.approximate(robot, 0.02)
    none = cheaper.gravity_force(np.zeros(6), parameters={"gravity": [0.0, 0.0, 0.0]}, backend="interpret")
    np.testing.assert_allclose(none, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"drop": "product"}, hinge.UnknownName,
         "approximate has nothing called 'product' to drop. Did you mean 'products'"),
        ({"within": 1.5}, hinge.ModelError, "within is 1.5.\n  Give a share of the joint forces, such as 0.01."),
        ({"within": -0.1}, hinge.ModelError, "within is -0.1."),
        ({"states": (np.zeros(6), np.zeros(6))}, hinge.SizeError,
         "approximate: states has 2 entries, not q, qd and qdd."),
        ({"states": (np.zeros(6), np.zeros(5), np.zeros(6))}, hinge.SizeError,
         "approximate: qd has shape (5,), robot 'puma560' needs (…, 6)."),
    ],
)  # fmt: skip
def test_bad_questions_are_answered(options, error, says):
    with pytest.raises(error) as caught:
        hinge.approximate(hinge.samples.puma560(), **options)
    assert str(caught.value).startswith(says)


def test_a_driven_robot_is_refused_by_joint_name():
    with pytest.raises(hinge.NotCovered, match="joint 'shoulder' is driven"):
        hinge.approximate(hinge.samples.planar_2r().prescribe("shoulder"))
