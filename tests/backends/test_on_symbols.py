"""Calls with SymPy's symbols in the place of numbers: SymPy's objects, equal to what numbers give."""

import numpy as np
import pytest
import sympy
from sympy.physics.vector import dynamicsymbols

import hinge
from hinge.backends.polynomial import Ring
from hinge.geometry import inertias, screws, se3, spaces

A, B = sympy.symbols("a b")
VALUES = {name: 0.3 + 0.17 * k for k, name in enumerate(("I1", "I2", "g", "l1", "l2", "lc1", "lc2", "m1", "m2"))}
Q = (0.4, -0.9)

pytestmark = pytest.mark.usefixtures("plain_interpreter")


def arms():
    symbolic = hinge.samples.planar_2r(symbols=True)
    return symbolic, symbolic.with_values(VALUES)


def put(made, values=()):
    """SymPy's object with numbers for its symbols."""
    known = {**VALUES, "a": Q[0], "b": Q[1], **dict(values)}
    entries = np.array(made.tolist() if hasattr(made, "tolist") else made, dtype=object)
    numbers = [float(sympy.sympify(x).subs({s: known[s.name] for s in sympy.sympify(x).free_symbols}))
               for x in entries.reshape(-1)]  # fmt: skip
    return np.array(numbers).reshape(entries.shape)


CALLS = {
    "mass_matrix": lambda r, q: r.mass_matrix(q),
    "christoffel": lambda r, q: r.christoffel(q),
    "christoffel by differentiation": lambda r, q: r.christoffel(q, method="differentiation"),
    "connection": lambda r, q: r.connection(q),
    "inner_product": lambda r, q: r.inner_product(q, [1.0, 2.0], q),
    "inverse_dynamics": lambda r, q: r.inverse_dynamics(q, [1.0, 2.0], [3.0, q[0]]),
    "potential_energy": lambda r, q: r.potential_energy(q),
    "pose": lambda r, q: r.pose(q, "hand"),
    "jacobian": lambda r, q: r.jacobian(q, "hand", frame="base"),
    "covariant_derivative": lambda r, q: r.covariant_derivative(
        lambda q: [np.sin(q[1]), 1.0], lambda q: [q[0] * q[1], np.cos(q[0])])(q),
    "gradient": lambda r, q: r.gradient()(q),
    "gradient of a function": lambda r, q: r.gradient(lambda q: q[0] * np.sin(q[1]))(q),
    "branch pose": lambda r, q: r.exponentials("hand").pose(q),
    "branch poses": lambda r, q: r.exponentials("hand").poses(q),
    "branch jacobian": lambda r, q: r.exponentials("hand").jacobian(q, "body"),
    "branch jacobians": lambda r, q: r.exponentials("hand").jacobians(q),
    "branch pull_back": lambda r, q: r.exponentials("hand").pull_back(q, np.arange(12.0).reshape(2, 6)),
    "branch coordinates": lambda r, q: r.exponentials("hand", [0.1, 0.2]).coordinates(q),
    "branch twists": lambda r, q: r.exponentials("hand").twists,
    "branch reference": lambda r, q: r.exponentials("hand").reference,
}  # fmt: skip


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_symbolic_robot_gives_on_symbols_what_numbers_give(call):
    symbolic, numeric = arms()
    made, wanted = call(symbolic, sympy.Matrix([A, B])), np.asarray(call(numeric, Q))
    assert isinstance(made, sympy.Basic | sympy.MatrixBase | sympy.NDimArray)
    assert np.squeeze(put(made)) == pytest.approx(np.squeeze(wanted), rel=1e-12, abs=1e-12)
    if wanted.ndim > 1:
        assert tuple(made.shape) == wanted.shape


@pytest.mark.parametrize("call", [CALLS[k] for k in ("christoffel", "pose", "covariant_derivative", "branch pose")])
def test_a_robot_of_numbers_takes_symbols_too(call):
    robot = hinge.samples.planar_2r()
    assert put(call(robot, [A, B])).ravel() == pytest.approx(np.ravel(call(robot, Q)), rel=1e-12, abs=1e-12)


def test_results_are_as_a_textbook_has_them():
    arm = hinge.samples.planar_2r(symbols=True)
    l1, l2, lc2, m2 = sympy.symbols("l1 l2 lc2 m2")
    assert arm.christoffel([A, B])[1, 0, 0] == l1 * lc2 * m2 * sympy.sin(B)
    assert arm.exponentials("hand").pose([A, B])[2, 3] == l1 * sympy.sin(A) + l2 * sympy.sin(A + B)
    q2 = sympy.Symbol("q2")
    assert arm.christoffel([A, q2]) == arm.equations("christoffel")


def test_functions_of_time_and_assumptions_come_back_as_they_were():
    arm = hinge.samples.planar_2r(symbols=True)
    q = dynamicsymbols("q1 q2")
    kinetic = arm.kinetic_energy(q, [x.diff() for x in q])
    assert kinetic.atoms(sympy.Derivative) == {x.diff() for x in q}
    real = sympy.Symbol("a", real=True)
    assert real in arm.pose([real, B], "hand").free_symbols
    with pytest.raises(hinge.NotCovered, match="two symbols are called 'a'"):
        arm.mass_matrix([A, real])


def test_the_exponential_on_symbols_is_rodrigues_formula():
    t = sympy.Symbol("t")
    assert se3.exp([0, 0, t, 0, 0, 0])[:2, :2] == sympy.Matrix(
        [[sympy.cos(t), -sympy.sin(t)], [sympy.sin(t), sympy.cos(t)]]
    )
    twist = sympy.Matrix(sympy.symbols("w1:4 v1:4"))
    numbers = dict(zip([s.name for s in twist], (0.3, -0.5, 0.2, 1.0, 2.0, -1.0), strict=True))
    made = se3.exp(twist)
    assert not made.has(sympy.Piecewise)
    assert put(made, numbers) == pytest.approx(se3.exp(list(numbers.values())), abs=1e-14)
    back = se3.log(made)
    assert put(back, numbers)[:, 0] == pytest.approx(list(numbers.values()), abs=1e-13)
    assert se3.log(se3.exp([0, 0, t, 0, 0, 0]))[2] == sympy.atan2(sympy.sin(t), sympy.cos(t))
    assert se3.exp([0, 0, 0, t, 0, 0])[0, 3] == t


def test_displacements_screws_and_inertias_on_symbols():
    t, m, c = sympy.symbols("t m c")
    g = se3.exp([0, 0, t, 1, 0, 0])
    here, numbers = {"t": 0.7, "m": 2.0, "c": 0.3}, se3.exp([0, 0, 0.7, 1, 0, 0])
    for function in (se3.adjoint, se3.coadjoint, se3.inverse, se3.vee):
        assert put(function(g), here) == pytest.approx(np.reshape(function(numbers), function(g).shape), abs=1e-14)
    assert put(se3.displace(g, [1, 2, 3, t, 5, 6]), here)[:, 0] == pytest.approx(
        se3.displace(numbers, [1, 2, 3, 0.7, 5, 6])
    )
    t = sympy.Symbol("t", positive=True)
    screw = screws.of_twist([0, 0, t, 0, 0, c])
    assert (screw.pitch, screw.direction[2]) == (c / t, 1)
    assert screws.of_twist([0, 0, 0, 0, 0, t]).pitch == sympy.oo
    assert screws.twist(screw)[5] == c
    I = inertias.spatial(m, [c, 0, 0], sympy.eye(3))
    assert I[1, 1] == 1 + m * c**2
    mass, com, about = inertias.parts(I)
    assert (mass, com[0], about) == (m, c, sympy.eye(3))


def disc():
    m, R, I, J = sympy.symbols("m R I J")
    builder = hinge.Builder("disc")
    for link in ("ground", "slide", "stage", "fork"):
        builder.link(link)
    builder.link("disc", m, inertia=[[I, 0, 0], [0, J, 0], [0, 0, I]])
    builder.joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0))
    builder.joint("y", "prismatic", "slide", "stage", axis=(0, 1, 0))
    builder.joint("theta", "continuous", "stage", "fork", (0, 0, R), axis=(0, 0, 1))
    builder.joint("phi", "continuous", "fork", "disc", axis=(0, 1, 0))
    return hinge.Robot(builder.build())


def rolling(q, t, at):
    J, R = at("disc").J, at("disc").p[2]
    return np.stack([J[3] - R * J[1], J[4] + R * J[0]])


def test_a_constrained_symbolic_robot_gives_on_symbols_what_numbers_give():
    robot = disc()
    known = {"m": 1.3, "R": 0.6, "I": 0.4, "J": 0.7}
    held, numbers = hinge.constrain(robot, rolling), hinge.constrain(robot.with_values(known), rolling)
    assert held.independent == numbers.independent == [2, 3]
    q, eta, tau = sympy.symbols("x y theta phi"), sympy.symbols("eta1 eta2"), sympy.symbols("tau1:5")
    at = {"q": (0.1, 0.2, 0.5, 0.9), "eta": (1.1, -0.8), "tau": (0.3, 0.5, -0.2, 0.9)}
    known |= dict(zip(map(str, (*q, *eta, *tau)), sum(at.values(), ()), strict=True))
    qd = numbers.velocity(at["q"], at["eta"])
    for made, wanted in (
        (held.matrix(q)[0], numbers.matrix(at["q"])[0]),
        (held.basis(q), numbers.basis(at["q"])),
        (held.projection(q), numbers.projection(at["q"])),
        (held.connection(q), numbers.connection(at["q"])),
        (held.velocity(q, eta), qd[:, None]),
        (held.reduced(q, eta, tau), numbers.reduced(at["q"], at["eta"], at["tau"])[:, None]),
        (held.forward(q, held.velocity(q, eta), tau)[1], numbers.forward(at["q"], qd, at["tau"])[1][:, None]),
        (held.geometric(q, held.velocity(q, eta), tau), numbers.geometric(at["q"], qd, at["tau"])[:, None]),
        (held.projected(lambda q: [q[0], 1.0, q[2], 0.0])(q),
         numbers.projected(lambda q: [q[0], 1.0, q[2], 0.0])(at["q"])[:, None]),
    ):  # fmt: skip
        assert not made.has(sympy.Piecewise)
        assert put(made, known) == pytest.approx(wanted, rel=1e-11, abs=1e-12)
    with pytest.raises(hinge.NotCovered, match="I, J, R, m have no value"):
        held.forward(at["q"], qd, at["tau"])
    with pytest.raises(hinge.NotCovered, match="inverse takes numbers"):
        held.inverse(q, q, q)


def test_a_sine_beside_a_squared_one_is_kept():
    """s (1 - c²) is s³, not s²."""
    ring = Ring()
    angle = ring.power("input", "q", 0)
    s, c = ring.turned("sin", angle), ring.turned("cos", angle)
    made = ring.gathered(ring.add(s, ring.mul(s, ring.mul(c, c)), -1.0))
    assert made == {((ring.number("sin", *ring.generators[next(iter(s))[0][0]].of), 3),): 1.0}


@pytest.mark.parametrize("ask", [
    lambda q: spaces.complement(sympy.Matrix([1, 0, 0, 0, 0, A])), lambda q: spaces.dyad([A] * 6, [1] * 6),
    lambda q: se3.nearest(A * sympy.eye(4)), lambda q: inertias.principal_screws(A * sympy.eye(6)),
    lambda q: hinge.samples.planar_2r().geodesic(q, q), lambda q: hinge.from_twists([[0, 0, 1, 0, A, 0]], np.eye(4)),
], ids=["complement", "dyad", "nearest", "principal_screws", "geodesic", "from_twists"])  # fmt: skip
def test_what_is_numbers_only_refuses_symbols(ask):
    with pytest.raises(hinge.NotCovered, match="takes numbers, and was given symbols"):
        ask([A, B])


def test_what_does_not_go_with_symbols_is_refused_by_name():
    arm = hinge.samples.planar_2r(symbols=True)
    with pytest.raises(hinge.NotCovered, match="mass_matrix: parameters= is for numbers"):
        arm.mass_matrix([A, B], parameters={"m1": 1.0})
    with pytest.raises(hinge.SizeError, match=r"mass_matrix: q of symbols has shape \(3,\); it has to be \(2,\)"):
        arm.mass_matrix([A, B, A])
    with pytest.raises(hinge.SizeError, match="gamma is not among the functions that can be read"):
        arm.mass_matrix([sympy.gamma(A), B])
    with pytest.raises(hinge.NotCovered, match="length: nothing covers robot 'planar_2r': its I1, I2"):
        arm.length(lambda t: [t, t])
    with pytest.raises(hinge.SizeError, match="the symbol 'I1' of robot 'planar_2r' has no value"):
        arm.gradient()([0.1, 0.2])
    assert arm.gradient()([0.1, 0.2], parameters=VALUES) == pytest.approx(arms()[1].gradient()([0.1, 0.2]))
