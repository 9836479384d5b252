"""Motions along paths, excitations and polynomials in many pieces: traced they are what they are on numbers."""

import numpy as np
import pytest

import hinge
from hinge.backends import interpret
from hinge.graph import Graph, Input, order
from hinge.graph.arrays import Symbols, symbols
from hinge.motion.pieces import Pieces

ARM = hinge.samples.planar_2r()
FREE = hinge.samples.random_tree(np.random.default_rng(4), 4)
RNG = np.random.default_rng(7)


def line(robot, q0, q1):
    v = robot.difference(q0, q1)

    def path(s):
        return robot.integrate(q0, np.multiply.outer(s, v)), np.tile(v, (len(s), 1)), np.zeros((len(s), robot.nv))

    return path


def straight(s):
    return np.outer(s, [1.0, 0.5]), np.ones((len(s), 1)) * [1.0, 0.5], np.zeros((len(s), 2))


QUINTIC = hinge.motion.quintic(ARM, [0.0, 0.1], [1.0, -0.7], duration=1.0)
POINTS = np.cumsum(RNG.normal(size=(30, 2)), axis=0)
MOTIONS = {
    "optimal along a motion": lambda: hinge.time_optimal(ARM, QUINTIC, effort=[40.0, 12.0]),
    "optimal along a path": lambda: hinge.time_optimal(ARM, straight, velocity=[1.0, 0.8], effort=[40.0, 12.0]),
    "part of the way": lambda: hinge.time_optimal(ARM, straight, effort=[40.0, 12.0], over=(0.2, 0.7), start=0.3),
    "few points": lambda: hinge.time_optimal(ARM, straight, effort=[40.0, 12.0], points=4),
    "uniform": lambda: hinge.time_uniform(ARM, QUINTIC, duration=3.0, effort=[40.0, 12.0]),
    "with quaternions": lambda: hinge.time_optimal(
        FREE, line(FREE, *FREE.random_state(np.random.default_rng(1), 2)[0]), velocity=1.0, effort=np.inf, points=32
    ),
    "excitation": lambda: hinge.identify.excite(ARM, duration=5.0, speed=2.0, tries=1),
    "many pieces": lambda: hinge.motion.cubic_spline(ARM, POINTS, np.linspace(0.0, 6.0, 30)),
    "eight pieces": lambda: hinge.motion.cubic_spline(ARM, POINTS[:9], np.linspace(0.0, 6.0, 9)),
    "a few pieces": lambda: hinge.motion.quintic_spline(ARM, POINTS[:4], [0.0, 1.0, 1.5, 4.0]),
}


def traced_at(motion, times):
    graph = Graph()
    parts = motion(symbols(graph.input("t", 0)))
    outputs = [(f"x{k}", x.shape, x.ravel().tolist()) for k, x in enumerate(map(symbols, parts))]
    program = order([Input("t", 1)], outputs)
    made = [np.empty((len(times), np.prod(shape, dtype=int))) for _, shape, _ in outputs]
    interpret.run(program, [times[:, None]], made)
    return made


@pytest.mark.parametrize("name", MOTIONS)
def test_a_traced_motion_is_the_motion(name):
    motion = MOTIONS[name]()
    T = motion.duration
    inner = getattr(motion, "times", None) if hasattr(motion, "grid") else getattr(motion, "path", motion)
    knots = np.asarray(getattr(inner, "knots", inner if isinstance(inner, np.ndarray) else [0.0, T]))
    times = np.concatenate([RNG.uniform(0.0, T, 300), RNG.uniform(-T, 2 * T, 30), [0.0, T, -1e-9, T + 1e-9], knots])
    for made, wanted in zip(traced_at(motion, times), motion(times), strict=True):
        np.testing.assert_allclose(made, wanted, rtol=1e-11, atol=1e-11 * max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 15, 16, 17, 100])
def test_pieces_are_found_at_their_ends_and_between(count):
    starts = np.cumsum(RNG.uniform(0.0, 1.0, count).round(1))  # some begin when others do
    pieces = Pieces(starts, np.arange(count) + 0.0, RNG.normal(size=(count, 2, 3)), np.full(count, 3.0))
    times = np.concatenate([starts, np.nextafter(starts, -np.inf), RNG.uniform(-1.0, starts[-1] + 1.0, 50)])
    for made, wanted in zip(traced_at(pieces.at, times), pieces.at(times), strict=True):
        assert np.array_equal(made, wanted.reshape(len(times), -1))
    two = pieces.at(symbols([Graph().input("t", 0)] * 2))
    assert [x.shape for x in two] == [(2,), (2, 2, 3), (2,)]


def test_a_method_takes_several_states_of_symbols():
    graph = Graph()
    q = symbols([[graph.input("q", 2 * j + k) for k in range(2)] for j in range(3)])
    made = ARM.inverse_dynamics(q, np.ones(2), np.zeros(2))
    assert isinstance(made, Symbols)
    assert made.shape == (3, 2)
    at, out = RNG.normal(size=(3, 2)), np.empty((1, 6))
    interpret.run(order([Input("q", 6)], [("tau", (3, 2), made.ravel().tolist())]), [at.reshape(1, 6)], [out])
    np.testing.assert_allclose(out.reshape(3, 2), ARM.inverse_dynamics(at, np.ones(2), np.zeros(2)), atol=1e-12)


@pytest.mark.parametrize("name", ["optimal along a motion", "excitation", "many pieces"])
def test_a_controller_of_such_a_motion_is_a_kernel(name):
    motion = MOTIONS[name]()
    control = hinge.control.computed_torque(ARM, motion)
    t, q, qd = RNG.uniform(-0.5, motion.duration + 0.5, 40), RNG.normal(size=(40, 2)), RNG.normal(size=(40, 2))
    wanted = np.array([control(*x) for x in zip(t, q, qd, strict=True)])
    kernel = hinge.control.compiled(ARM, control)
    np.testing.assert_allclose(kernel(t, q, qd), wanted, rtol=1e-10, atol=1e-10 * np.abs(wanted).max())
