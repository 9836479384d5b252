"""Jexp6 and Jlog6: how exponential and logarithm of displacements change, Pinocchio's with angular first."""

import numpy as np
import pytest
from differences import near

import hinge
from hinge.geometry import se3

pytestmark = pytest.mark.usefixtures("plain_interpreter")
SIZES = (0.0, 1e-9, 1e-4, 0.03, 0.0317, 0.1, 1.0, 3.0, np.pi - 1e-6)


def twists(size, count=5):
    """Random twists with that turn."""
    rng = np.random.default_rng(int(size * 1e6))
    axis = rng.normal(size=(count, 3))
    return np.concatenate([size * axis / np.linalg.norm(axis, axis=1)[:, None], rng.normal(size=(count, 3))], axis=1)


@pytest.mark.parametrize("size", SIZES)
def test_they_are_pinocchios(size):
    pin = pytest.importorskip("pinocchio")
    swap = np.r_[3:6, 0:3]
    for twist, ours, back in zip(xs := twists(size), se3.Jexp6(xs), se3.Jlog6(se3.exp(xs)), strict=True):
        theirs = pin.Jexp6(pin.Motion(twist[swap]))
        near(ours, theirs[np.ix_(swap, swap)], 1e-9 if size < 0.1 else 1e-12)  # their series are shorter
        near(back, pin.Jlog6(pin.SE3(se3.exp(twist)))[np.ix_(swap, swap)], 1e-8)


@pytest.mark.parametrize("size", SIZES)
def test_the_one_undoes_the_other(size):
    x = twists(size)
    near(se3.Jlog6(se3.exp(x)) @ se3.Jexp6(x), np.broadcast_to(np.eye(6), (5, 6, 6)), 1e-12 if size < 3.0 else 1e-8)


@pytest.mark.parametrize("size", SIZES)
def test_they_are_the_derivatives_of_integrate_and_difference(size):
    """A free joint moves by the exponential of its velocity."""
    body = hinge.samples.random_tree(np.random.default_rng(0), 1, ("free",))
    q0 = body.random_state(np.random.default_rng(1), 5)[0]
    x = twists(size)
    _, dv = body.derivatives("integrate", q0, x)
    near(dv, se3.Jexp6(x), 1e-12)
    _, dq1 = body.derivatives("difference", q0, body.integrate(q0, x))
    near(dq1, se3.Jlog6(se3.exp(x)), 1e-12 if size < 3.0 else 1e-8)


@pytest.mark.parametrize("size", SIZES[:-1])
def test_small_changes_are_what_they_say(size):
    h = 1e-3
    for x in twists(size, 2):
        ahead, behind = (se3.log(se3.inverse(se3.exp(x)) @ se3.exp(x + s * h * np.eye(6))) for s in (1, -1))
        near((ahead - behind).T / (2 * h), se3.Jexp6(x), 1e-6)


def test_they_run_on_symbols_and_refuse_what_is_no_pose():
    x = twists(1.0)[0]
    made = hinge.jacobian(lambda t: se3.Jexp6(t)[0])(x)
    h = 1e-5
    want = np.stack([(se3.Jexp6(x + e)[0] - se3.Jexp6(x - e)[0]) / (2 * h) for e in h * np.eye(6)], axis=-1)
    near(made, want, 1e-9)
    with pytest.raises(hinge.GeometryError, match="Jlog6"):
        se3.Jlog6(2.0 * np.eye(4))


def test_they_are_formulas_on_paper():
    sympy = pytest.importorskip("sympy")
    names = sympy.symbols("a:6", real=True)
    at = dict(zip(names, twists(1.0)[1].tolist(), strict=True))
    made = se3.Jexp6(names)
    assert not made.has(sympy.Piecewise)
    near(np.array(made.subs(at), float), se3.Jexp6(twists(1.0)[1]), 1e-12)
