"""The regressor is linear algebra for inverse dynamics: laws on every kind of robot."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, seeds
from yardsticks import assert_close

import hinge
from hinge.identify import parameter_names, parameters, pseudo_inertia, with_parameters

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

TERMS = ("armature", "damping", "friction", "stiffness")


@families
@given(seed=seeds)
@law(3)
def test_regressor_times_any_parameters_is_the_inverse_dynamics_of_the_robot_that_has_them(family, seed):
    robot, rng, q, qd, qdd = drawn(family, seed)
    Y = robot.regressor(q, qd, qdd, joint_terms=TERMS)
    for values in (parameters(robot, TERMS), rng.normal(size=Y.shape[1])):
        other = with_parameters(robot, values, TERMS)
        tau = other.inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
        assert_close(Y @ values, tau, 1e-13, np.linalg.norm(np.abs(Y) @ np.abs(values)))
        assert_close(parameters(other, TERMS), values, 1e-13)


@families
def test_names_columns_and_numbers_go_together(family):
    robot, _, q, qd, qdd = drawn(family, 0)
    for terms in ((), ("damping",), TERMS):
        names = parameter_names(robot, terms)
        assert len(set(names)) == len(names) == len(parameters(robot, terms))
        assert robot.regressor(q, qd, qdd, joint_terms=terms).shape == (robot.nv, len(names))
        joints = len(names) - 10 * robot.model.count
        assert joints == len(terms) * sum(joint.nv for joint in robot.model.joint)


def test_the_base_may_move():
    robot, rng, q, qd, qdd = drawn("tree", 1)
    base = tuple(rng.normal(size=(2, 6)))
    Y = robot.regressor(q, qd, qdd, base_motion=base)
    assert_close(Y @ parameters(robot), robot.inverse_dynamics(q, qd, qdd, base_motion=base), 1e-13)


def test_a_column_has_the_sense_its_name_says():
    """A pendulum that hangs at zero: raised by a quarter turn, gravity pulls on its first moment along z or x."""
    robot = hinge.samples.pendulum(1)
    for q, pulled in ((0.0, "rod1.mx"), (np.pi / 2, "rod1.mz")):
        Y = dict(zip(parameter_names(robot), robot.regressor([q], [3.0], [2.0])[0], strict=True))
        assert {name for name, x in Y.items() if abs(x) > 1e-12} == {pulled, "rod1.Iyy", "joint1.armature"}
        assert abs(Y[pulled]) == pytest.approx(9.81)
        assert Y["rod1.Iyy"] == Y["joint1.armature"] == 2.0


def test_terms_that_are_zero_are_told_apart_in_compiled_code():
    """Columns depend on which terms are in, even where the numbers of the terms are the same."""
    robot = hinge.samples.planar_2r()
    state = ([0.1, 0.2], [0.3, -0.4], [0.5, 0.6])
    keys = {robot.kernel("regressor", backend="llvm", joint_terms=(term,)).plan.source_digest for term in TERMS}
    assert len(keys) == 4
    last = [robot.regressor(*state, joint_terms=(term,))[:, 20:] for term in TERMS]
    want = ([0.5, 0.6], [0.3, -0.4], [1.0, -1.0], [0.1, 0.2])
    for got, wanted in zip(last, want, strict=True):
        assert np.array_equal(got, np.diag(wanted))


def test_compiled_and_interpreted_regressors_are_the_same():
    robot = hinge.samples.puma560()
    rng = np.random.default_rng(3)
    q, qd, qdd = rng.normal(size=(3, 7, 6))
    Y = robot.regressor(q, qd, qdd, joint_terms=TERMS, backend="llvm")
    assert_close(Y, robot.regressor(q, qd, qdd, joint_terms=TERMS, backend="interpret"), 1e-14)
    Y[:] = np.nan  # what is always zero is written too, wherever it goes
    again = robot.regressor(q, qd, qdd, joint_terms=TERMS, backend="llvm", out=Y)
    assert again is Y
    assert np.all(np.isfinite(Y))
    one = robot.regressor(q[3], qd[3], qdd[3], joint_terms=TERMS, backend="llvm")
    assert np.array_equal(one, Y[3])


@families
def test_pseudo_inertias_of_real_bodies_are_positive_definite(family):
    robot = drawn(family, 2)[0]
    n = robot.model.count
    ten = parameters(robot)[: 10 * n].reshape(n, 10)
    P = pseudo_inertia(ten)
    assert np.all(np.linalg.eigvalsh(P) > 0.0)
    second = np.trace(P[:, :3, :3], axis1=1, axis2=2)[:, None, None] * np.eye(3) - P[:, :3, :3]
    assert_close(second[:, 0, 0], ten[:, 4], 1e-12)  # I = tr(Σ) 1 - Σ
    assert_close(second[:, 1, 2], ten[:, 7], 1e-12)


def test_a_robot_of_symbols_has_no_numbers_yet():
    robot = hinge.samples.planar_2r(symbols=True)
    with pytest.raises(hinge.NotCovered, match="built from symbols"):
        parameters(robot)
    made = robot.regressor([0.1, 0.2], [0.3, 0.4], [0.5, 0.6], parameters=dict.fromkeys(robot.model.symbols, 1.0))
    assert np.all(np.isfinite(made))


def test_frames_of_links_are_the_users_own():
    """Moving a link's frame moves its parameters and columns, and no joint force."""
    robot, _, q, qd, qdd = drawn("square", 0)
    i, name = 1, robot.body_names[0]
    frame = robot.model.frames[name]
    turned = frame.then(frame.R, type(frame.p)((0.3, -0.2, 0.1)))
    moved = hinge.Robot(replace(robot.model, frames={**robot.model.frames, name: turned}))
    assert not np.allclose(parameters(moved)[:10], parameters(robot)[:10])
    assert_close(moved.regressor(q, qd, qdd) @ parameters(moved), robot.inverse_dynamics(q, qd, qdd), 1e-13)
    assert i == robot.model.frames[name].body
