"""w · (J v) = (wᵀ J) · v: rates and pulls of registered algorithms are one number, with loops and memory too."""

import numpy as np
import pytest

import hinge
from hinge.backends import interpret
from hinge.dynamics import registry
from hinge.dynamics.registry import choose
from hinge.graph import Graph, Input, along, order, pulled

STATES = 3
ROBOTS = {
    "arm": hinge.samples.puma560,
    "tree": lambda: hinge.samples.random_tree(np.random.default_rng(2), 5),
    "long": lambda: hinge.samples.chain(np.random.default_rng(3), 66),  # loops over its bodies
    "four_bar": hinge.samples.four_bar,
    "slider": hinge.samples.slider_crank,
}
CASES = [
    *(("arm", name, None) for name in ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "regressor", "step")),
    *(("tree", "forward_dynamics", method) for method in ("articulated", "composite", "cluster")),
    *(("tree", name, None) for name in ("integrate", "difference", "momentum", "hybrid_dynamics")),
    ("long", "inverse_dynamics", "newton_euler"), ("long", "forward_dynamics", "articulated"),
    ("long", "potential_energy", None),
    *((robot, name, None) for robot in ("four_bar", "slider") for name in (
        "forward_dynamics", "impulse_response", "loop_project", "loop_bias")),
    *(("four_bar", "step", method) for method in ("rk4", "implicit")),
]  # fmt: skip


def nodes(robot, name, method, monkeypatch):
    """The inputs of an algorithm and the nodes that are its outputs."""
    seen, graph = [], Graph()
    with monkeypatch.context() as patched:
        patched.setattr(registry, "order", lambda inputs, outputs, *_, **__: seen.extend((inputs, outputs)))
        patched.setattr(Graph, "let_go", lambda self: None)
        choose(robot.model, name, method).trace(robot.model, graph=graph, guard=False)
    inputs, outputs = seen
    return graph, inputs, [x for _, _, entries in outputs for x in entries]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("which", "name", "method"), CASES)
def test_rates_and_pulls_are_one_number(which, name, method, monkeypatch):
    robot, rng = ROBOTS[which](), np.random.default_rng(1)
    graph, inputs, y = nodes(robot, name, method, monkeypatch)
    if which == "long":
        assert "loop" in {op for op, _ in order(inputs, [("y", (len(y),), y)]).code}
    x = [graph.input(one.name, k) for one in inputs for k in range(one.size)]
    v, w = (rng.normal(size=(STATES, n)) for n in (len(x), len(y)))
    rates = along(y, {one: graph.input("along", k) for k, one in enumerate(x)})
    pulls = pulled(y, [graph.input("weights", k) for k in range(len(y))], x)
    q = robot.random_state(rng, STATES)[0]
    if robot.model.loops:
        q = np.array([robot.assemble(one).q for one in q])
    special = {"q": q, "q0": q, "q1": q, "h": np.full((STATES, 1), 0.01)}
    given = [special[one.name] if one.name in special else rng.uniform(0, 1, (STATES, one.size)) for one in inputs]
    Jv, wJ = np.empty((STATES, len(y))), np.empty((STATES, len(x)))
    interpret.run(order([*inputs, Input("along", len(x))], [("y", (len(y),), rates)]), [*given, v], [Jv])
    interpret.run(order([*inputs, Input("weights", len(y))], [("y", (len(x),), pulls)]), [*given, w], [wJ])
    forward, back = w * Jv, wJ * v
    assert np.abs(forward).max() > 1e-3
    off = np.abs(forward.sum(axis=1) - back.sum(axis=1)) / np.abs(forward).sum(axis=1)
    assert off.max() < 1e-10
