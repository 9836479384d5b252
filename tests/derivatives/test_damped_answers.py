"""Derivatives of answers that are damped near singular poses, which bend too much for differences of doubles."""

import mpmath
import numpy as np
import pytest
from differences import ROUNDED, inputs
from sixty_digits import DIGITS, off, rate, run
from test_varied_numbers import ROBOT, VALUES

from hinge.dynamics.place import Place
from hinge.dynamics.registry import POSITION, choose, required_inputs
from hinge.dynamics.slopes import Slope

pytestmark = [pytest.mark.usefixtures("plain_interpreter"), pytest.mark.parametrize("name", sorted(ROUNDED))]
STATE = {"resolved_rate": ("q", "twist"), "resolved_acceleration": ("q", "qd", "acceleration")}
EXACT = 1e-14  # constants of programs are doubles that were multiplied already
CONDITION = 1 / (1e-3 * 0.02**2)  # of the matrix that says how near to singular a pose is, where it is so altogether
WEIGHTS = np.arange(1.0, 1.0 + ROBOT.nv)


def program(name, *slopes):
    """An algorithm's program on the varied robot, or that of its derivatives."""
    target = ROBOT.target
    return choose(target.traced, name).trace(target.traced, vary=target.vary, slopes=slopes, contract=False)


def numbers(name):
    """Random inputs as calls take them, and as programs do, weights among them."""
    given = inputs(ROBOT, np.random.default_rng(list(name.encode())), name)
    flat = {one: np.ravel(x).tolist() for one, x in given.items() if one != "at"}
    flat["parameters"] = [x for value in VALUES.values() for x in np.ravel(value).tolist()]
    flat["at"] = Place.row(ROBOT.target.traced, given["at"])
    return given, flat | {f"weight of {name}": WEIGHTS.tolist()}


def rates(name, flat, by, tangent):
    """How fast inputs change along a tangent: those of positions from velocities, parameters all together."""
    made, left, model = {}, iter(tangent), ROBOT.model
    for one in by:
        if one not in VALUES and required_inputs(name)[one] is POSITION:
            v = [next(left) for _ in range(model.nv)]
            with mpmath.workdps(DIGITS):
                q = [mpmath.mpf(x) for x in flat[one]]
                joints = [(model.joint[i], *model.slices[i]) for i in model.leaders]
                made[one] = [x for joint, at, moving in joints for x in joint.rate(q[at], v[moving])]
        else:
            size = VALUES[one].size if one in VALUES else len(flat[one])
            made.setdefault("parameters" if one in VALUES else one, []).extend(next(left) for _ in range(size))
    return made


@pytest.mark.sampled(1)
def test_derivatives_are_rates(name):
    given, flat = numbers(name)
    by = (*STATE[name], *VALUES)
    (columns,) = run(program(name, Slope("columns", by)), flat)
    pulled = run(program(name, Slope("pulled", by)), flat)
    for tangent in np.random.default_rng(1).normal(size=(3, columns.shape[-1])):
        along = rates(name, flat, by, tangent.tolist())
        assert off(columns @ tangent, rate(program(name), flat, along)) < EXACT
    assert off(np.concatenate([x.ravel() for x in pulled]), WEIGHTS @ columns) < EXACT
    doubles = ROBOT.derivatives(name, *given.values(), by=by, parameters=VALUES)
    assert off(np.concatenate(doubles, axis=-1), columns) < 1e-12


@pytest.mark.sweep
def test_second_derivatives_are_rates_of_first_ones(name):
    given, flat = numbers(name)
    by, columns = STATE[name], Slope("columns", STATE[name])
    (second,) = run(program(name, columns, columns), flat)
    hessian = run(program(name, Slope("pulled", by), columns), flat)
    tangent = np.random.default_rng(2).normal(size=second.shape[-1])
    assert off(second @ tangent, rate(program(name, columns), flat, rates(name, flat, by, tangent.tolist()))) < EXACT
    assert off(np.concatenate(hessian), np.tensordot(WEIGHTS, second, 1)) < EXACT
    doubles = ROBOT.second_derivatives(name, *given.values(), by=by, weights=WEIGHTS, parameters=VALUES)
    assert off(np.block([list(row) for row in doubles]), np.concatenate(hessian)) < 4 * np.finfo(float).eps * CONDITION
