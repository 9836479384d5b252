"""Every algorithm of the registry has derivatives, which differences confirm, on trees of all joints and on loops."""

import numpy as np
import pytest
from differences import ROUNDED, by_differences, inputs, near, positions, slots
from mechanisms_of_all_sorts import MAKERS, mechanism
from sweeps import swept

from hinge.errors import NotCovered
from hinge.robot import ALGORITHMS

pytestmark = pytest.mark.usefixtures("plain_interpreter")
QUICK = {"mixed", "four_bar"}
NAMES = [name for name in ALGORITHMS if not name.endswith("_derivatives")]
robots = pytest.mark.parametrize("which", swept(MAKERS, QUICK.__contains__))
algorithms = pytest.mark.parametrize("name", NAMES)


def covers(robot, name):
    return not all(one.reason(robot.model) for one in ALGORITHMS[name].values())


def rolls(robot):
    return not all(joint.holonomic for joint in robot.model.joint)


@pytest.mark.sampled(7)
@robots
@algorithms
def test_derivatives_are_differences_and_products_with_them(which, name):
    robot, more = mechanism(which)
    rng = np.random.default_rng(list(f"{which} {name}".encode()))
    if not covers(robot, name) or (
        robot.nv > 20 and name not in ("loop_gap", "loop_jacobian", "loop_bias", "loop_dynamics")
    ):
        return  # a large robot is there for its loops
    given = inputs(robot, rng, name)
    if any(positions(name)) and rolls(robot):
        with pytest.raises(NotCovered, match="do not change by its velocities alone"):
            robot.derivatives(name, *given.values(), **more)
        return
    *made, status = robot.derivatives(name, *given.values(), return_status=True, **more)
    results = made if len(positions(name)) > 1 else [made]
    assert status == getattr(robot, name)(*given.values(), return_status=True, **more)[-1]
    for k, one in enumerate(slots(name)):
        for parts, want in zip(results, by_differences(robot, name, given, one, **more), strict=True):
            near(parts[k], want, 1e-8 if name in ROUNDED else 1e-9)

    # along tangents, and back from weights
    tangents = [rng.normal(size=parts.shape[-1:]) for parts in results[0]]
    shaped = [t.reshape(np.shape(given[one])) if t.shape != (robot.nv,) else t
              for one, t in zip(slots(name), tangents, strict=True)]  # fmt: skip
    moved = robot.jvp(name, tuple(given.values()), dict(zip(slots(name), shaped, strict=True)), **more)
    moved = moved if len(results) > 1 else (moved,)
    weights = [rng.normal(size=one.shape) for one in moved]
    pulled = robot.vjp(name, tuple(given.values()), tuple(weights) if len(results) > 1 else weights[0], **more)
    for one, parts in zip(moved, results, strict=True):
        near(one, sum(J @ t for J, t in zip(parts, tangents, strict=True)), 1e-10)
    for k, one in enumerate(pulled):
        near(one.ravel(), sum(np.tensordot(w, parts[k], w.ndim) for w, parts in zip(weights, results, strict=True)),
             1e-10)  # fmt: skip
