"""What a reader gets: the symbols that were given, one determinant, exact constants, and LaTeX that can be printed."""

import itertools
import pickle
import re

import numpy as np
import pytest
import sympy
from sympy.physics.vector import dynamicsymbols

import hinge
from hinge.backends.symbolic import number
from hinge.dynamics import ALGORITHMS

pi, sqrt, Rational, Symbol, symbols = sympy.pi, sympy.sqrt, sympy.Rational, sympy.Symbol, sympy.symbols
STATE = [symbols(f"{letter}1:3") for letter in ("q", "qdot", "qddot", "tau")]
VALUES = {name: 0.3 + 0.17 * k for k, name in enumerate(("I1", "I2", "g", "l1", "l2", "lc1", "lc2", "m1", "m2"))}


def pendulum(mass, length=1, damping=0.0):
    builder = hinge.Builder("pendulum", gravity=(0, 0, -Symbol("g")))
    builder.link("base")
    builder.link("bob", mass, (length, 0, 0))
    builder.joint("joint1", "continuous", "base", "bob", axis=(0, 1, 0), damping=damping)
    return hinge.Robot(builder.build())


def spatial(n):
    """An arm of n hinges, each at a right angle to the one before, with a point of mass on each link."""
    masses, lengths = symbols(f"m1:{n + 1}"), symbols(f"a1:{n + 1}")
    return hinge.dh([{"a": a, "alpha": pi / 2, "mass": m} for a, m in zip(lengths, masses, strict=True)])


# ---- symbols come back as they were given


@pytest.mark.parametrize("assumptions", [{}, {"positive": True}, {"real": True}])
def test_a_symbol_comes_back_with_its_assumptions(assumptions):
    m, l = symbols("m l", **assumptions)
    arm = pendulum(m, l)
    q, v = Symbol("q1", **assumptions), Symbol("w", **assumptions)
    for made in (
        arm.equations("mass_matrix")[0],
        arm.mass_matrix([q])[0],
        pickle.loads(pickle.dumps(arm)).mass_matrix([q])[0],
    ):
        assert made == m * l**2
        assert sympy.diff(made, m) == l**2
    assert arm.mass == m
    assert sympy.diff(arm.kinetic_energy([q], [v]), v) == m * l**2 * v
    defined, H = arm.equations("mass_matrix", shared=True)
    assert (H.free_symbols | {s for _, x in defined for s in x.free_symbols}) == {m, l}


def test_robots_of_one_name_and_unlike_assumptions_stay_apart():
    plain, positive = Symbol("m"), Symbol("m", positive=True)
    for m in (plain, positive, plain):
        assert pendulum(m).equations("mass_matrix")[0] == m
    with pytest.raises(hinge.ModelError) as caught:
        pendulum(plain, positive)
    assert str(caught.value) == (
        "robot 'pendulum': two symbols are called 'm', with unlike assumptions.\n"
        "  Give one of them another name, or both the same assumptions."
    )
    with pytest.raises(hinge.NotCovered, match="two symbols are called 'm', with unlike assumptions"):
        pendulum(positive).gravity_force([plain])
    assert pendulum(plain).gravity_force([plain])[0] == -plain * Symbol("g") * sympy.cos(plain)


def test_symbols_are_keys():
    m, l, g = Symbol("m", positive=True), Symbol("l", nonnegative=True), Symbol("g")
    arm = pendulum(m, l)
    by_symbol = {m: 2.0, l: Rational(1, 2), g: 9.81}
    by_name = {"m": 2.0, "l": 0.5, "g": 9.81}
    for keys in (by_symbol, by_name, {m: 2.0, "l": 0.5, "g": 9.81}):
        assert arm.gravity_force([0.3], parameters=keys) == pytest.approx(arm.gravity_force([0.3], parameters=by_name))
        assert arm.with_values(keys).mass_matrix([0.3])[0, 0] == pytest.approx(0.5)
    many = arm.mass_matrix([0.3], parameters=by_symbol | {m: np.array([1.0, 2.0])})
    assert many[:, 0, 0] == pytest.approx([0.25, 0.5])
    run = hinge.simulate(arm, t=0.01, q0=[0.1], parameters=by_symbol)
    assert run.q == pytest.approx(hinge.simulate(arm, t=0.01, q0=[0.1], parameters=by_name).q)
    for call in (arm.with_values, lambda keys: arm.mass_matrix([0.3], parameters=keys)):
        with pytest.raises(hinge.UnknownName, match="'m3'"):
            call({Symbol("m3"): 1.0})
        with pytest.raises(hinge.UnknownName, match="'m' is given twice, by unlike keys"):
            call({m: 1.0, "m": 2.0})


# ---- as a textbook has it


@pytest.mark.parametrize("method", ["luh", "silver", "gibbs_appell"])
def test_older_equation_sets_have_the_form_of_the_first(method):
    for arm in (hinge.samples.planar_2r(symbols=True), hinge.samples.planar_2r().vary("lower.mass")):
        assert arm.equations("inverse_dynamics", method=method) == arm.equations("inverse_dynamics")


def test_a_link_that_may_have_no_mass_is_still_computed():
    """What is written down for masses in general is not what runs: there a mass may be zero."""
    arm = hinge.samples.planar_2r(symbols=True)
    values = VALUES | {"m1": 0.0}
    state = [0.3, -0.4], [1.0, 2.0], [0.5, -0.6]
    assert arm.inverse_dynamics(*state, parameters=values, method="luh") == pytest.approx(
        arm.inverse_dynamics(*state, parameters=values)
    )


def planar(n):
    """An arm of n parallel hinges, with a point of mass at the end of each link."""
    return hinge.dh([{"a": a, "mass": m} for a, m in zip(symbols(f"a1:{n + 1}"), symbols(f"m1:{n + 1}"), strict=True)])


def has_fractions(x):
    return any(p.exp.is_negative for p in x.atoms(sympy.Pow))


@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_mass_matrix"])
@pytest.mark.parametrize("arm", [hinge.samples.planar_2r(symbols=True), planar(3)], ids=["2", "3"])
def test_solutions_stand_over_one_determinant(name, arm):
    """Nothing above or below has fractions, and what is below is the determinant but for a constant factor."""
    H, made = arm.equations("mass_matrix"), arm.equations(name)
    rng, used = np.random.default_rng(0), sorted(made.free_symbols | H.free_symbols, key=str)
    fixed = {s: rng.uniform(0.5, 1.5) for s in used if not s.name.startswith("q")}
    below = {sympy.fraction(x)[1] for x in made}
    for x in made:
        assert not any(map(has_fractions, sympy.fraction(x)))
    for y in below:
        ratios = [float((H.det() / y).subs(fixed | {s: rng.uniform(-3.0, 3.0) for s in used if s not in fixed}))
                  for _ in range(3)]  # fmt: skip
        assert ratios == pytest.approx([ratios[0]] * 3, rel=1e-9)
    assert len({factor for y in below for factor in sympy.Mul.make_args(y) if factor.has(sympy.cos, sympy.sin)}) == 1


def test_solutions_solve():
    """By SymPy's own linear algebra, at a state."""
    for arm in (hinge.samples.planar_2r(symbols=True), planar(3), spatial(3)):
        qdd, H, C = (arm.equations(name) for name in ("forward_dynamics", "mass_matrix", "bias_force"))
        used = sorted(qdd.free_symbols | H.free_symbols | C.free_symbols, key=str)
        at = dict(zip(used, np.random.default_rng(0).uniform(0.5, 1.5, len(used)), strict=True))
        H, C, qdd = (np.array(x.subs(at), float) for x in (H, C, qdd))
        tau = np.array([at.get(Symbol(f"tau{k + 1}"), 0.0) for k in range(arm.nv)])
        assert H @ qdd[:, 0] + C[:, 0] == pytest.approx(tau, abs=1e-9)
        inverse = arm.equations("inverse_mass_matrix").subs(at)
        assert np.array(inverse, float) == pytest.approx(np.linalg.inv(H), rel=1e-9)


def test_what_is_not_coupled_has_a_denominator_of_its_own():
    """A cart with a pole on it, on a cart across: the mass across is a fraction alone."""
    M, m, l, I = symbols("M m l I")
    builder = hinge.Builder("crane")
    for link, mass in (("rail", 0.0), ("bridge", M), ("cart", M)):
        builder.link(link, mass)
    builder.link("pole", m, (0, 0, l), sympy.diag(I, I, 0))
    builder.joint("joint1", "prismatic", "rail", "bridge", axis=(0, 1, 0))
    builder.joint("joint2", "prismatic", "bridge", "cart", axis=(1, 0, 0))
    builder.joint("joint3", "continuous", "cart", "pole", axis=(0, 1, 0))
    inverse = hinge.Robot(builder.build()).equations("inverse_mass_matrix")
    assert inverse[0, 0] == 1 / (2 * M + m)
    assert inverse[0, 1] == inverse[0, 2] == 0


def test_the_cart_and_pole_are_printed_as_in_the_book():
    M, m, l, g = symbols("M m l g", positive=True)
    builder = hinge.Builder("cart_pole", (0, 0, -g))
    builder.link("rail")
    builder.link("cart", M)
    builder.link("pole", m, (0, 0, l))
    builder.joint("joint1", "prismatic", "rail", "cart", axis=(1, 0, 0))
    builder.joint("joint2", "continuous", "cart", "pole", axis=(0, 1, 0))
    qdd = hinge.Robot(builder.build()).equations("forward_dynamics")
    q, v, F, T = symbols("q2 qdot2 tau1 tau2")
    s, c = sympy.sin(q), sympy.cos(q)
    assert qdd[0] == (F * l - T * c - g * l * m * s * c + l**2 * m * v**2 * s) / (l * (M + m * s**2))


def test_squares_are_written_as_squares():
    arm = hinge.samples.planar_2r(symbols=True)
    v1, v2, I2 = symbols("qdot1 qdot2 I2")
    assert arm.equations("kinetic_energy").coeff(I2) == (v1 + v2) ** 2 / 2


GIVEN = {
    "inverse_dynamics": (0, 1, 2), "forward_dynamics": (0, 1, 3), "mass_matrix": (0,), "coriolis_matrix": (0, 1),
    "gravity_force": (0,), "kinetic_energy": (0, 1), "potential_energy": (0,), "inverse_mass_matrix": (0,),
    "christoffel": (0,), "connection": (0,),
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
def test_calls_on_symbols_are_collected_as_equations_are(name):
    assert name in ALGORITHMS
    for arm in (hinge.samples.planar_2r(symbols=True), spatial(2)):
        assert getattr(arm, name)(*(STATE[k] for k in GIVEN[name])) == arm.equations(name)


def test_functions_of_time_are_collected_too():
    arm = hinge.samples.planar_2r(symbols=True)
    q = dynamicsymbols("q1 q2")
    given = q, [x.diff() for x in q], [x.diff().diff() for x in q]
    named = dict(zip(itertools.chain(*given), itertools.chain(*STATE[:3]), strict=True))
    assert arm.inverse_dynamics(*given).xreplace(named) == arm.equations("inverse_dynamics")


# ---- constants


@pytest.mark.parametrize(
    "exact", [Rational(1, 3), Rational(22, 7), Rational(-5, 17), Rational(1, 4913), Rational(7, 12), pi / 2, -pi / 7,
              5 * pi / 180, pi**2 / 9, sqrt(2) / 2, -sqrt(3) / 2, sqrt(6) / 4, Rational(0), Rational(12)],
)  # fmt: skip
def test_exact_constants_come_out_exact(exact):
    assert number(float(exact)) == exact
    assert number(float(exact) * (1 + 5e-16)) == exact  # which arithmetic may have done to it
    l = Symbol("l", positive=True)
    if exact > 0:
        assert pendulum(exact, l).equations("mass_matrix")[0] == exact * l**2
        assert pendulum(l, exact).equations("gravity_force")[0].coeff(l) == -exact * Symbol("g") * sympy.cos(
            Symbol("q1")
        )


@pytest.mark.parametrize("decimal", [9.81, 0.0203, 0.4318, 2.3125, 0.5625, 14.715, 1e-7, 123456.789])
def test_decimals_stay_decimals(decimal):
    made = number(decimal)
    assert made.is_Float
    assert float(made) == decimal
    assert str(number(decimal * (1 + 4e-16))) == str(made)


def test_what_was_measured_is_not_read_as_something_exact():
    for x in np.random.default_rng(0).uniform(0.0, 10.0, 20_000):
        assert number(x).is_Float


def test_quarter_turns_of_angles_that_are_symbols():
    t, q = Symbol("t"), Symbol("q1")
    for k, (s, c) in enumerate([(0, 1), (1, 0), (0, -1), (-1, 0), (0, 1)]):
        pose = hinge.dh([{"a": 1, "theta": t + k * pi / 2, "mass": 1}]).equations("pose", at="tool")
        angle = q + t
        assert pose[0, 3] == c * sympy.cos(angle) - s * sympy.sin(angle)
    pose = hinge.dh([{"a": 1, "theta": t + pi / 7, "mass": 1}]).equations("pose", at="tool")
    assert pose[0, 3] == sympy.cos(q + t + pi / 7)


def test_states_that_are_exact_stay_exact():
    arm = hinge.samples.planar_2r(symbols=True)
    a, l1, l2, I2, lc2, m2 = symbols("a l1 l2 I2 lc2 m2")
    assert arm.pose([pi / 2, a], "hand")[2, 3] == l1 + l2 * sympy.cos(a)
    for angle in (pi / 5, Rational(1, 3), sympy.Integer(2)):
        assert arm.mass_matrix([0, angle])[0, 1] == I2 + lc2 * m2 * (l1 * sympy.cos(angle) + lc2)
    assert arm.kinetic_energy([0, a], [0, pi]) == pi**2 * (I2 + lc2**2 * m2) / 2
    assert arm.potential_energy([0, Rational(1, 3)]).atoms(sympy.Float) == set()


# ---- on the page


def test_digits_round_what_is_printed():
    arm = hinge.samples.puma560()
    plain, rounded = arm.equations("gravity_force"), arm.equations("gravity_force", digits=3)
    known = dict.fromkeys(plain.free_symbols, 0.3)
    assert sorted(map(float, rounded.atoms(sympy.Float)))[-1] == 37.2
    assert np.array(rounded.subs(known), float) == pytest.approx(np.array(plain.subs(known), float), rel=1e-2)
    assert rounded != plain
    defined, tau = arm.equations("inverse_dynamics", shared=True, digits=2)
    for x in (*rounded, *tau, *(value for _, value in defined)):
        assert all(float(f) == float(f"{float(f):.{3 if x in rounded else 2}g}") for f in x.atoms(sympy.Float))
    assert hinge.samples.planar_2r().equations("mass_matrix", digits=1)[1, 1] == Rational(1, 3)  # no decimal
    for bad in (0, -1, 2.5, True, "3"):
        with pytest.raises(
            hinge.SizeError, match=re.escape(f"digits={bad!r} is not known. Give a whole number from 1")
        ):
            arm.equations("gravity_force", digits=bad)


def test_latex_of_an_arm_of_symbols():
    arm = hinge.samples.planar_2r(symbols=True)
    c2, l12 = (
        r"\cos{\left(q_{2} \right)}",
        r"I_{2} + l_{c2} m_{2} \left(l_{1} \cos{\left(q_{2} \right)} + l_{c2}\right)",
    )
    square = rf"\left(l_{{1}}^{{2}} + 2 l_{{1}} l_{{c2}} {c2} + l_{{c2}}^{{2}}\right)"
    assert arm.source("mass_matrix", "latex").splitlines() == [
        r"\begin{align*}",
        rf"H_{{11}} &= I_{{1}} + I_{{2}} + l_{{c1}}^{{2}} m_{{1}} + m_{{2}} {square} \\",
        rf"H_{{12}} &= {l12} \\",
        rf"H_{{21}} &= {l12} \\",
        r"H_{22} &= I_{2} + l_{c2}^{2} m_{2}",
        r"\end{align*}",
    ]
    tau, qdd = arm.source("inverse_dynamics", "latex"), arm.source("forward_dynamics", "latex")
    assert [line.split(" &= ")[0] for line in tau.splitlines()[1:-1]] == [r"\tau_{1}", r"\tau_{2}"]
    assert [line.split(" &= ")[0] for line in qdd.splitlines()[1:-1]] == [r"\ddot{q}_{1}", r"\ddot{q}_{2}"]
    assert arm.source("potential_energy", "latex").startswith("\\begin{align*}\nV &= ")


def test_latex_of_names():
    mu, Ixy, lc, length, m_c = (Symbol(name, positive=True) for name in ("mu", "Ixy", "lc", "length", "m_c"))
    inertia = sympy.Matrix([[1, Ixy, 0], [Ixy, 1, 0], [0, 0, 1]])
    builder = hinge.Builder("odd")
    builder.link("base")
    builder.link("rod", mu, (lc, length, 0), inertia)
    builder.joint("joint1", "continuous", "base", "rod", axis=(1, 1, 0), armature=m_c)
    text = hinge.Robot(builder.build()).source("mass_matrix", "latex")
    assert {r"\mu", "I_{xy}", "l_{c}", "length", "m_{c}"} <= set(
        re.findall(r"\\mu|I_\{xy\}|l_\{c\}|length|m_\{c\}", text)
    )


def test_latex_of_long_equations_has_no_loose_signs_or_numbers():
    arm = hinge.samples.chain(np.random.default_rng(0), 6)
    text = arm.source("inverse_dynamics", "latex")
    assert text.count(" &= ") > 100
    assert not re.search(r"\\left\(-1\\right\)|-1 |\(-\d|\\cdot (?!10)|[a-z}] \d|- -|\+ -|1\.0 ", text)
    assert not re.search(r"&= \\left\(|\+ \\left\([^()]*\\right\) (\\\\|\+|-)", text)  # no sums within a sum
