"""The derivatives of a call by the recursion it has, and by differentiating its graph along every velocity."""

import numpy as np

from hinge.graph import Expr, Graph, along, units
from hinge.graph.arrays import symbols
from hinge.graph.scalars import evaluated


def by_recursion(robot, name, q, qd, x, **said):
    """(…, nv, 3 nv): what the recursion for the derivatives of the call gives."""
    return robot.target.evaluate(f"{name}_derivatives", (q, qd, x), (), **said)[0]


def by_graph(robot, name, q, qd, x, **said):
    """(nv, 3 nv): how the call's result changes along `integrate`, and with its second and third argument."""
    graph, model = Graph(), robot.model
    nodes = [[graph.input(key, k) for k in range(len(row))] for key, row in (("q", q), ("qd", qd), ("x", x))]
    made = list(np.asarray(getattr(robot, name)(*map(symbols, nodes), **said), dtype=object).ravel())
    made = [e.item() if isinstance(e, np.ndarray) else e for e in made]
    known = dict(zip([*nodes[0], *nodes[1], *nodes[2]], np.concatenate([q, qd, x]).tolist(), strict=True))
    ways = [
        dict(zip(at, model.joint[i].rate(at, unit), strict=True))
        for i in model.leaders
        for at in [nodes[0][model.slices[i][0]]]
        for unit in units(model.joint[i].nv)
    ]
    ways += [{node: 1.0} for part in nodes[1:] for node in part]
    moving = [{node: r for node, r in way.items() if type(r) is Expr or r} for way in ways]
    return np.array([evaluated(along(made, way), known) for way in moving], float).T
