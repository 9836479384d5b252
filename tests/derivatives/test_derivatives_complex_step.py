"""Derivatives of dynamics against complex steps, f(x + ih) = f + ih f': exact to rounding, and no rule of ours in it.

For what other libraries lack: screws, universal joints, joints that follow others. A dictionary of Python's own
functions runs the plain algorithm on complex numbers.
"""

import cmath
import operator

import numpy as np
import pytest
from machines import grown, near, state
from slopes_by_graph import by_recursion

from hinge.graph import Expr, Graph, live
from hinge.graph.arrays import symbols

STEP = 1e-200
ARITHMETIC = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg,
    "sin": cmath.sin, "cos": cmath.cos, "min": lambda a, b: min(a, b, key=lambda x: x.real),
    "less": lambda a, b: complex(complex(a).real < complex(b).real), "select": lambda c, a, b: a if c.real else b,
}  # fmt: skip
ROBOTS = {
    "screws": lambda: grown(30, ("helical", "prismatic", "helical", "revolute"), (0, 1, 2, 2)),
    "universal": lambda: grown(31, ("universal", "helical", "universal", "prismatic"), (0, 1, 2, 1)),
    "angles": lambda: grown(32, ("planar", "spherical_angles", "planar_outer", "cylindrical")),
    "followers": lambda: grown(33, ("helical", "universal", "revolute", "prismatic", "helical"), (0, 1, 2, 1, 3),
                               mimic={3: ("joint1", -1.3, 0.2), 5: ("joint4", 2.0, 0.0)}),
}  # fmt: skip


def stepped(robot, name, *rows, **said):
    """The slopes of a call by each of its numbers; velocities have to be rates of coordinates."""
    graph, x = Graph(), np.concatenate(rows)
    nodes = [[graph.input(key, k) for k in range(len(row))] for key, row in zip("abc", rows, strict=True)]
    made = list(np.asarray(getattr(robot, name)(*map(symbols, nodes), **said), dtype=object).ravel())
    order, inputs, columns = live(made), [*nodes[0], *nodes[1], *nodes[2]], []
    for k in range(len(x)):
        at = x.astype(complex)
        at[k] += STEP * 1j
        value = dict(zip(inputs, at.tolist(), strict=True))
        for node in order:
            if node not in value:
                value[node] = ARITHMETIC[node.op](*(value[a] if type(a) is Expr else complex(a) for a in node.args))
        columns.append([value[e].imag / STEP if type(e) is Expr else 0.0 for e in made])
    return np.array(columns).T


@pytest.mark.parametrize("which", ROBOTS)
def test_slopes_are_those_of_complex_steps(which):
    robot = ROBOTS[which]()
    q, qd, qdd, tau = state(robot, 34)
    made = by_recursion(robot, "inverse_dynamics", q, qd, qdd, backend="interpret")
    near(made, stepped(robot, "inverse_dynamics", q, qd, qdd, method="newton_euler"), 1e-13)
    made = by_recursion(robot, "forward_dynamics", q, qd, tau, backend="interpret")
    near(made, stepped(robot, "forward_dynamics", q, qd, tau, method="composite"), 1e-12)
