"""What the laws measure with: any algorithm on any model, derivatives, tolerances, 6×6 matrices."""

from functools import cache
from itertools import product

import numpy as np
from robots import random_body

from hinge.backends import interpret
from hinge.dynamics import choose
from hinge.dynamics.place import Place
from hinge.dynamics.registry import EXTERNAL, PLACE, POSITION
from hinge.graph import Graph, Input, along, jacobian, order
from hinge.loops.kinematics import open_tree
from hinge.model.samples import pendulum
from hinge.robot import ALGORITHMS
from hinge.spatial import ArticulatedInertia, Force, Mat3, Motion, RigidInertia, Sym3, Vec3

TREE = pendulum(1)  # what closes loops has nothing to do there

# every algorithm of the registry, in any model's own frames


def every_call():
    """(name, method, options) for each algorithm, each of its methods, and each choice of its options."""
    for name, methods in ALGORITHMS.items():
        for method, algorithm in methods.items():
            if len(algorithm.returns) > 1 or algorithm.refuses(TREE) == open_tree(TREE):  # in tests/mechanisms
                continue
            for choice in product(*algorithm.options.values()):
                yield name, method, dict(zip(algorithm.options, choice, strict=True))


def computed(model, name, method, options, given):
    """The result of an algorithm traced on this very model; `given` has arrays, frames by name, wrenches by name.

    What may be left out, and is, is zero.
    """
    algorithm = ALGORITHMS[name][method]
    arrays = []
    for key, quantity in algorithm.inputs.items():
        if quantity is PLACE:
            arrays.append(np.array(Place.row(model, given[key])))
        elif quantity is EXTERNAL:
            total = [Force()] * len(model.parent)
            for link, wrench in given.get(key, {}).items():
                at = model.frame(link)
                total[at.body] += at.transform.T @ Force(Vec3(wrench[:3]), Vec3(wrench[3:]))
            arrays.append(np.array([list(f) for f in total]).reshape(1, -1))
        else:
            left_out = quantity.absent is not None and key not in given
            arrays.append((np.zeros(quantity.size(model)) if left_out else np.asarray(given[key])).reshape(1, -1))
    program = _traced(model, name, method, tuple(options.items()))
    out = np.empty((1, algorithm.result.size(model)))
    interpret.run(program, arrays, [out])
    return out.reshape(algorithm.result.shape(model))


@cache
def _traced(model, name, method, options):
    algorithm = ALGORITHMS[name][method]
    return algorithm.trace(model, frozenset(algorithm.inputs), dict(options))


def arguments(rng, robot, name, method):
    """Random values for everything an algorithm takes."""
    given = {}
    for key, quantity in ALGORITHMS[name][method].inputs.items():
        if quantity is PLACE:
            given[key] = str(rng.choice(list(robot.model.frames)))
        elif quantity is EXTERNAL:
            given[key] = {link: rng.normal(size=6) for link in (*robot.body_names, "tip")}
        elif quantity is POSITION:
            given[key] = robot.random_state(rng, 1)[0][0]
        else:
            given[key] = rng.normal(size=quantity.shape(robot.model))
    return given


# derivatives: of graphs, exact, and by differences


def programmed(entries, **sizes):
    """The program of nodes over inputs of the given sizes."""
    return order([Input(name, n) for name, n in sizes.items()], [("made", (len(entries),), entries)])


def run(program, *arrays):
    """What a program makes of one state, by the plain interpreter."""
    out = np.empty((1, len(program.outputs[0].entries)))
    interpret.run(program, [np.asarray(x, float)[None] for x in arrays], [out])
    return out[0]


def nodes_of(model, name):
    """The nodes of q, qd and qdd, and an algorithm's entries over them."""
    graph, algorithm = Graph(), choose(model, name)
    sizes = {"q": model.nq, "qd": model.nv, "qdd": model.nv}
    nodes = {key: [graph.input(key, k) for k in range(n)] for key, n in sizes.items()}
    seen = {
        key: quantity.take(model, nodes[key]) if key in nodes else quantity.absent(model)
        for key, quantity in algorithm.inputs.items()
    }
    made = algorithm.function(model, **seen)
    return nodes, list(algorithm.result.give(model, made)) if algorithm.result.shape(model) else [made]


@cache
def _derivatives(model, name, by):
    nodes, entries = nodes_of(model, name)
    if by == "motion":
        rates = dict(zip(nodes["qd"], nodes["qdd"], strict=True))
        for i in model.leaders:
            at, v = model.slices[i]
            rates.update(zip(nodes["q"][at], model.joint[i].rate(nodes["q"][at], nodes["qd"][v]), strict=True))
        made = along(entries, rates)
    else:
        made = [entry for row in jacobian(entries, nodes[by]) for entry in row]
    return programmed(made, q=model.nq, qd=model.nv, qdd=model.nv)


def rate_along_motion(robot, name, q, qd, qdd=None):
    """The rate of an algorithm's result as q moves with qd and qd with qdd: exact, by differentiating its graph."""
    made = run(_derivatives(robot.model, name, "motion"), q, qd, np.zeros(robot.nv) if qdd is None else qdd)
    return made.reshape(choose(robot.model, name).result.shape(robot.model))


def derivative_by(robot, name, by, q, qd, qdd):
    """The derivative of an algorithm's joint forces by "qd" or "qdd", a column a velocity: exact, from its graph."""
    return run(_derivatives(robot.model, name, by), q, qd, qdd).reshape(robot.nv, robot.nv)


def derivative(f, h=1e-3):
    """df/dt at t = 0 by central differences of sixth order.

    What is left out is h⁶/140 of the seventh derivative, and rounding adds 2e-16/h of f: both stay near 1e-11 for
    what turns at up to twenty radians a second, so a relative tolerance of 1e-9 leaves two digits to spare.
    """
    weights = ((1, 3 / 4), (2, -3 / 20), (3, 1 / 60))
    return sum(w / h * (np.asarray(f(k * h), float) - np.asarray(f(-k * h), float)) for k, w in weights)


# yardsticks


def assert_close(got, want, rel=1e-9, scale=1.0):
    """Equal to `rel` of the largest entry, or of `scale` where that is larger."""
    got, want = np.asarray(got, float), np.asarray(want, float)
    assert got.shape == want.shape
    size = max(scale, np.max(np.abs(want), initial=0.0))
    np.testing.assert_allclose(got, want, rtol=0, atol=rel * size)


def matrix3(m):
    return np.array(tuple(m), float).reshape(3, 3)


def skew3(v):
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


# spatial vectors and inertias, and the matrices they stand for

UNITS = [Motion(Vec3(e[:3]), Vec3(e[3:])) for e in np.eye(6).tolist()]


def array(x):
    return np.array(list(x), float)


def vector(rng, kind):
    v = rng.normal(size=6).tolist()
    return kind(Vec3(v[:3]), Vec3(v[3:]))


def as_matrix(linear):
    """The 6×6 matrix of a map on motions, column by column."""
    return np.array([array(linear(m)) for m in UNITS]).T


def matrix_of(I):
    return np.array((I.articulated() if isinstance(I, RigidInertia) else I).matrix(), float)


def rigid_inertia(rng):
    body = random_body(rng)
    return RigidInertia.at_com(float(body["mass"]), Vec3(body["com"].tolist()), body["inertia"].tolist())


def articulated_inertia(rng):
    A = rng.normal(size=(6, 6))
    A = A @ A.T
    sym = lambda B: Sym3((B[0, 0], B[1, 1], B[2, 2], B[1, 2], B[0, 2], B[0, 1]))
    return ArticulatedInertia(sym(A[:3, :3]), Mat3(A[:3, 3:].ravel().tolist()), sym(A[3:, 3:]))
