"""Derivatives by masses, centres, inertias, placements, gravity, friction and gears, against differences."""

import numpy as np
import pytest
from differences import ROUNDED, inputs, near, positions, rates
from mechanisms_of_all_sorts import mechanism
from sweeps import swept
from test_every_algorithm import NAMES, covers

from hinge.geometry import se3

pytestmark = pytest.mark.usefixtures("plain_interpreter")
BY_NUMBERS = [name for name in NAMES if name not in ROUNDED]  # those are in test_damped_answers
QUICK = {"inverse_dynamics", "mass_matrix", "pose", "potential_energy"}
TERMS = ("armature", "damping", "friction", "stiffness")
UNITS = np.eye(3)
SHEARS = np.array([UNITS[:, [i]] @ UNITS[[j]] + UNITS[:, [j]] @ UNITS[[i]] for i in range(3) for j in range(i + 1)])


def varied():
    """A small tree whose numbers vary: those of a link that has another after it, and of a joint and a follower."""
    robot, _ = mechanism("mixed")
    model = robot.model
    (follower,) = (model.joint_name[i] for i in model.follows)
    single = next(model.joint_name[i] for i in model.leaders if model.joint[i].nv == 1)
    link = model.body_name[1]
    names = [f"{link}.{field}" for field in ("mass", "com", "inertia")] + ["gravity", f"{follower}.ratio"]
    names += [f"{single}.{field}" for field in ("placement", "armature", "damping", "friction", "stiffness")]
    values = {one.name: one.nominal(model) for one in robot.vary(*names).target.vary}
    values |= {
        name: np.asarray(0.3) for name in names if name.endswith(("armature", "damping", "friction", "stiffness"))
    }
    return robot.vary(*names), values


ROBOT, VALUES = varied()


def curves(name):
    """Ways in which a number can change and still be one: functions of t, and their rates."""
    value = VALUES[name]
    if name.endswith("placement"):
        return [(lambda t, e=e: value @ se3.exp(t * e), value @ se3.hat(e)) for e in np.eye(6)]
    units = SHEARS if name.endswith("inertia") else np.eye(value.size).reshape(-1, *value.shape)
    return [(lambda t, e=e: value + t * e, e) for e in units]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", swept(BY_NUMBERS, QUICK.__contains__))
def test_derivatives_by_numbers_of_the_robot(name):
    if not covers(ROBOT, name):
        return
    rng = np.random.default_rng(list(name.encode()))
    given = inputs(ROBOT, rng, name)
    more = {"joint_terms": TERMS} if "dynamics" in name or name == "step" else {}
    made = ROBOT.derivatives(name, *given.values(), by=tuple(VALUES), parameters=VALUES, **more)
    results = made if len(positions(name)) > 1 else [made]
    weights = [rng.normal(size=parts[0].shape[:-1]) for parts in results]
    cotangent = tuple(weights) if len(results) > 1 else weights[0]
    pulled = ROBOT.vjp(name, tuple(given.values()), cotangent, by=tuple(VALUES), parameters=VALUES, **more)
    for k, one in enumerate(VALUES):
        for at, rate in curves(one):
            f = lambda t, at=at, one=one: getattr(ROBOT, name)(
                *given.values(), parameters=VALUES | {one: at(t)}, **more
            )
            wanted = rates(ROBOT, f, positions(name), 3e-3, parameters=VALUES)
            for parts, want in zip(results, wanted, strict=True):
                near(parts[k] @ rate.ravel(), want, 1e-9)
            total = sum(np.sum(w * want) for w, want in zip(weights, wanted, strict=True))
            near(
                np.sum(pulled[k] * rate),
                total,
                1e-9,
                max(1.0, *(np.abs(w).max() for w in wanted)),
            )
