"""A method of a robot called with symbols becomes part of their graph, and means what it means with numbers."""

import numpy as np
import pytest

import hinge
from hinge import SizeError
from hinge.backends import interpret
from hinge.graph import Graph, Input, order
from hinge.graph.arrays import Symbols, symbols

ROBOT = hinge.samples.random_tree(np.random.default_rng(4), 5)
TIP, MIDDLE = ROBOT.body_names[-1], ROBOT.body_names[2]
CALLS = {
    "inverse_dynamics": lambda r, q, v: r.inverse_dynamics(q, v, 2.0 * v),
    "numbers among symbols": lambda r, q, v: r.inverse_dynamics(q, np.ones(r.nv), v),
    "forward_dynamics": lambda r, q, v: r.forward_dynamics(q, v, np.sin(v)),
    "a method": lambda r, q, v: r.inverse_dynamics(q, v, v, method="newton_euler_base"),
    "joint terms": lambda r, q, v: r.bias_force(q, v, joint_terms=("damping",)),
    "a push": lambda r, q, v: r.inverse_dynamics(q, v, v, external={TIP: np.arange(6.0)}, external_frame="base"),
    "a push of symbols": lambda r, q, v: r.bias_force(q, v, external={TIP: np.sin(v[0]) * np.ones(6)}),
    "pushes": lambda r, q, v: r.bias_force(q, v, external={TIP: np.sin(v[0]) * np.ones(6), MIDDLE: np.ones(6)}),
    "mass_matrix": lambda r, q, v: r.mass_matrix(q),
    "pose": lambda r, q, v: r.pose(q, TIP),
    "jacobian": lambda r, q, v: r.jacobian(q, TIP, frame="aligned"),
    "difference": lambda r, q, v: r.difference(q, r.neutral()),
    "integrate": lambda r, q, v: r.integrate(r.neutral(), v),
    "kinetic_energy": lambda r, q, v: r.kinetic_energy(q, v),
    "one in another": lambda r, q, v: r.inverse_dynamics(q, v, r.forward_dynamics(q, v, v)),
    "resolved_rate": lambda r, q, v: r.resolved_rate(q, np.ones(6), TIP, posture=v, damping=0.1),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CALLS)
def test_it_means_the_same(name):
    call, graph, rng = CALLS[name], Graph(), np.random.default_rng(0)
    q = symbols([graph.input("q", k) for k in range(ROBOT.nq)])
    v = symbols([graph.input("v", k) for k in range(ROBOT.nv)])
    made = call(ROBOT, q, v)
    assert isinstance(made, Symbols)
    at, speed = ROBOT.random_state(rng, 4)
    out = np.empty((4, made.size))
    program = order([Input("q", ROBOT.nq), Input("v", ROBOT.nv)], [("made", made.shape, made.ravel().tolist())])
    interpret.run(program, [at, speed], [out])
    wanted = np.array([call(ROBOT, at[k], speed[k]) for k in range(4)])
    assert made.shape == wanted.shape[1:]
    np.testing.assert_allclose(out, wanted.reshape(4, -1), rtol=0, atol=1e-11 * max(1.0, np.abs(wanted).max()))


def test_numbers_of_the_robot_may_be_symbols():
    arm, graph, rng = hinge.samples.planar_2r().vary("lower.mass", "gravity"), Graph(), np.random.default_rng(2)
    q, m = symbols([graph.input("q", k) for k in range(2)]), symbols(graph.input("m", 0))
    made = arm.gravity_force(q, parameters={"lower.mass": m, "gravity": [0.0, 0.0, -1.62]})
    at, mass, out = rng.normal(size=(4, 2)), rng.uniform(1.0, 2.0, (4, 1)), np.empty((4, 2))
    interpret.run(order([Input("q", 2), Input("m", 1)], [("made", (2,), made.tolist())]), [at, mass], [out])
    wanted = arm.gravity_force(at, parameters={"lower.mass": mass[:, 0], "gravity": [0.0, 0.0, -1.62]})
    np.testing.assert_allclose(out, wanted, rtol=0, atol=1e-14)


def test_several_results_come_as_several_arrays():
    graph = Graph()
    v = symbols([graph.input("v", k) for k in range(ROBOT.nv)])
    made = ROBOT.hybrid_dynamics(ROBOT.neutral(), v, v, v, np.ones(ROBOT.nv))
    assert [x.shape for x in made] == [(ROBOT.nv,)] * 2


def test_frames_that_are_not_asked_for_cost_nothing():
    """The weights that choose a frame are numbers, and what they do not choose is not computed."""
    arm, graph = hinge.samples.chain(np.random.default_rng(0), 6), Graph()
    q = symbols([graph.input("q", k) for k in range(6)])
    near, far = (
        order([Input("q", 6)], [("p", (4, 4), arm.pose(q, name).ravel().tolist())]).operations
        for name in (arm.body_names[0], arm.body_names[-1])
    )
    assert near < far / 4


def test_symbols_of_a_wrong_size_and_arrays_to_write_to_are_refused():
    q = symbols([Graph().input("q", 0)])
    with pytest.raises(SizeError, match="gravity_force: out= cannot hold symbols"):
        ROBOT.gravity_force(q, out=np.empty(ROBOT.nv))
    with pytest.raises(SizeError, match=r"gravity_force: q has shape \(1,\); traced, with robot .* it is one state"):
        ROBOT.gravity_force(q)
