"""Second derivatives are differences of first ones; where they are not symmetric, what is left is the bracket."""

import numpy as np
import pytest
from differences import ROUNDED, inputs, near, positions, rates, slots
from mechanisms_of_all_sorts import mechanism
from sweeps import swept
from test_every_algorithm import NAMES, covers

from hinge.dynamics.registry import POSITION, required_inputs

pytestmark = pytest.mark.usefixtures("plain_interpreter")
HEAVY = {"connection", "christoffel", "coriolis_matrix", "coriolis_coefficients", "regressor", "inverse_mass_matrix"}
QUICK = {"gravity_force", "kinetic_energy", "pose", "difference"}
ELSEWHERE = HEAVY | ROUNDED  # damped answers are in test_damped_answers
SINGLE = [name for name in NAMES if not any(positions(name)) and not name.startswith("loop_") and name not in ELSEWHERE]
small = pytest.mark.parametrize("name", swept(SINGLE, QUICK.__contains__))


def brackets(robot):
    """[j, k]: the velocity that is the bracket of velocities j and k."""
    made, model = np.zeros((robot.nv,) * 3), robot.model
    for i in model.leaders:
        at, joint = model.slices[i][1], model.joint[i]
        for j, x in enumerate(np.eye(joint.nv).tolist()):
            for k, y in enumerate(np.eye(joint.nv).tolist()):
                made[at.start + j, at.start + k, at] = joint.bracket(x, y)
    return made


@small
@pytest.mark.parametrize("which", ["mixed"])
def test_second_derivatives_are_rates_of_first_ones(which, name):
    robot, more = mechanism(which)
    rng = np.random.default_rng(list(name.encode()))
    if not covers(robot, name) or len(positions(name)) > 1:
        return
    given = inputs(robot, rng, name)
    first = robot.derivatives(name, *given.values(), **more)
    second = robot.second_derivatives(name, *given.values(), **more)
    weights = rng.normal(size=first[0].shape[:-1])
    along = [rng.normal(size=one.shape[-1:]) for one in first]
    shaped = [t.reshape(np.shape(given[one])) if required_inputs(name)[one] is not POSITION else t
              for one, t in zip(slots(name), along, strict=True)]  # fmt: skip
    hessian = robot.second_derivatives(name, *given.values(), weights=weights, **more)
    product = robot.second_derivatives(name, *given.values(), weights=weights, along=shaped, **more)
    for a, one in enumerate(slots(name)):
        for b, other in enumerate(slots(name)):
            near(second[a][b], _rate(robot, name, given, one, other), 1e-8)
            near(hessian[a][b], np.tensordot(weights, second[a][b], weights.ndim), 1e-10)
            if other == one == "q":  # [i, j, k] - [i, k, j] is the derivative of i along the bracket of k and j
                skew = second[a][b] - np.swapaxes(second[a][b], -1, -2)
                near(skew, np.einsum("...l,kjl->...jk", first[a], brackets(robot)), 1e-10)
            elif not {one, other} & {"q", "q0", "q1"}:
                near(second[a][b], np.swapaxes(second[b][a], -1, -2), 1e-10)
        near(product[a].ravel(), sum(hessian[a][b] @ t for b, t in enumerate(along)), 1e-10)


def _rate(robot, name, given, one, other):
    """The rate along `other` of the derivative by `one`."""
    x = np.asarray(given[other], float)

    def at(t):
        moved = (robot.integrate(x, t * np.eye(robot.nv)) if required_inputs(name)[other] is POSITION
                 else x + t * np.eye(x.size).reshape(-1, *x.shape))  # fmt: skip
        return robot.derivatives(name, *(given | {other: moved}).values(), by=one)[0]

    return np.moveaxis(rates(robot, at)[0], 0, -1)


@pytest.mark.parametrize("which", ["mixed", pytest.param("coupled", marks=pytest.mark.sweep)])
def test_a_short_step_is_the_linear_motion(which):
    """Displacements are seen from a position that moves on, which brackets account for."""
    robot, h = mechanism(which)[0], 1e-7
    rng = np.random.default_rng(11)
    q, qd = (x[0] for x in robot.random_state(rng, 1))
    tau = rng.normal(size=robot.nv)
    A, B = robot.linearize(q, qd, tau)
    after, pushed = robot.linearize(q, qd, tau, h)
    near((after - np.eye(2 * robot.nv)) / h, A, 1e-6)
    near(pushed / h, B, 1e-6)
