"""Base parameters: what joint forces depend on, found on numbers."""

import numpy as np
import pytest

import hinge
from hinge.identify import base_parameters, parameters, with_parameters

TERMS = ("armature", "damping", "friction")


def floating():
    free = hinge.Builder("base")
    free.link("world")
    free.link("body", 2.0, (0.1, 0.2, 0.3), np.diag([0.1, 0.2, 0.25]))
    free.joint("base", "free", "world", "body")
    return hinge.Robot(free.build()).attach(hinge.samples.planar_2r(), at="body")


def coupled():
    builder = hinge.Builder("gears")
    builder.link("ground")
    for k, parent in enumerate(("ground", "a", "b")):
        builder.link("abc"[k], 1.0, (0.1, 0.05, 0.2), np.diag([0.1, 0.12, 0.15]))
        builder.joint(f"j{k}", "revolute", parent, "abc"[k], (0.2, 0.1, 0.0), np.eye(3), np.eye(3)[k],
                      mimic=("j0", 2.0, 0.3) if k == 2 else None)  # fmt: skip
    return hinge.Robot(builder.build())


ROBOTS = {
    "planar": hinge.samples.planar_2r,
    "puma560": hinge.samples.puma560,
    "tree": lambda: hinge.samples.random_tree(np.random.default_rng(4), 5),
    "floating": floating,
    "coupled": coupled,
}
each = pytest.mark.parametrize("name", ROBOTS)


@pytest.mark.sampled(2)
@each
def test_base_regressor_times_base_parameters_is_the_joint_force(name):
    robot = ROBOTS[name]()
    base = base_parameters(robot, TERMS)
    rng = np.random.default_rng(1)
    q, qd = robot.random_state(rng, 20)
    qdd = rng.normal(size=qd.shape)
    Y = robot.regressor(q, qd, qdd, joint_terms=TERMS)
    values = rng.normal(size=Y.shape[-1])
    tau = Y @ values
    np.testing.assert_allclose(base.columns(Y) @ base.values(values), tau, rtol=0, atol=1e-11 * np.abs(tau).max())
    assert sorted(base.independent + base.dependent) == list(range(Y.shape[-1]))
    assert base.K.shape == (base.rank, len(base.dependent))


@each
def test_no_base_parameter_is_a_combination_of_the_others(name):
    robot = ROBOTS[name]()
    base = base_parameters(robot, TERMS)
    rng = np.random.default_rng(2)
    q, qd = robot.random_state(rng, 400)
    Y = robot.regressor(q, qd, rng.normal(size=qd.shape), joint_terms=TERMS)
    A = base.columns(Y).reshape(-1, base.rank) / base.scale
    size = np.linalg.svd(A, compute_uv=False)
    assert size[-1] > 1e-5 * size[0]
    whole = Y.reshape(-1, Y.shape[-1])
    whole = whole / np.maximum(np.linalg.norm(whole, axis=0), 1e-300)
    assert np.linalg.matrix_rank(whole, 1e-9) == base.rank


@pytest.mark.parametrize("n", [2, 4, 6])
def test_a_general_arm_has_seven_a_joint_less_four(n):
    """Of ten a link three join the link before; the first link is felt by one joint; two less where gravity is along
    the first axis, as on the Puma."""
    chain = hinge.samples.chain(np.random.default_rng(0), n)
    assert base_parameters(chain, joint_terms=()).rank == 7 * n - 4
    assert base_parameters(hinge.samples.puma560(), joint_terms=()).rank == 7 * 6 - 4 - 2


def test_a_planar_arm_has_the_parameters_of_the_books():
    """Two links that turn about one axis: two first moments each, in the plane, and three inertias with coupling."""
    base = base_parameters(hinge.samples.planar_2r(), joint_terms=())
    assert {name.split(".")[0] for name in base.names} == {"upper", "lower"}
    groups = base.groups()
    inertia = next(name for name in groups if name.startswith("upper.I"))
    assert groups[inertia]["lower.m"] == pytest.approx(-1.0) or groups[inertia]["lower.m"] == pytest.approx(1.0)


def test_shifting_mass_along_what_is_not_felt_changes_no_force():
    robot = hinge.samples.puma560()
    base, own = base_parameters(robot), parameters(robot)
    rng = np.random.default_rng(3)
    shift = np.zeros_like(own)
    shift[list(base.dependent)] = 0.1 * rng.normal(size=len(base.dependent))
    shift[list(base.independent)] = -base.K @ shift[list(base.dependent)]
    other = with_parameters(robot, own + shift)
    q, qd, qdd = rng.normal(size=(3, 10, 6))
    tau = robot.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(other.inverse_dynamics(q, qd, qdd), tau, rtol=0, atol=1e-11 * np.abs(tau).max())


def test_states_may_be_given_and_fewer_show_less():
    robot = hinge.samples.puma560()
    still = np.zeros((50, 6))
    q = robot.random_state(np.random.default_rng(0), 50)[0]
    at_rest = base_parameters(robot, states=(q, still, still))
    assert at_rest.rank < base_parameters(robot).rank
    assert not any(".I" in name or "armature" in name for name in at_rest.names)


def test_driven_robots_and_wrong_sizes_are_refused():
    robot = hinge.samples.planar_2r()
    with pytest.raises(hinge.NotCovered, match="driven joints"):
        base_parameters(robot.prescribe("shoulder"))
    q = np.array([[0.1, 0.2], [np.nan, 0.3]])
    with pytest.raises(hinge.SizeError, match="base_parameters: states have a number that is not finite"):
        base_parameters(robot, states=(q, q, q))
    base = base_parameters(robot)
    with pytest.raises(hinge.SizeError, match=r"parameters has shape \(3,\); its last axis has to have 22 entries"):
        base.values([1.0, 2.0, 3.0])
