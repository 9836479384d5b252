"""Equations: every algorithm as SymPy writes it gives the numbers that the interpreter gives."""

import math
import pickle
import warnings

import numpy as np
import pytest
from sweeps import swept

import hinge
from hinge.dynamics import ALGORITHMS
from hinge.dynamics.registry import PLACE
from hinge.export import equations as paper

sympy = pytest.importorskip("sympy")

KINDS = {
    "hinge and slide": ("revolute", "prismatic"),
    "balls": ("spherical",),
    "free": ("free", "revolute"),
    "plane and screw": ("planar", "helical"),
    "two at once": ("universal", "cylindrical"),
}


def valued(x, known):
    """The value of an expression, each part that it shares computed once."""
    functions = {
        "Add": lambda *a: math.fsum(a), "Mul": lambda *a: math.prod(a), "Pow": lambda a, b: a**b, "sin": math.sin,
        "cos": math.cos, "atan2": math.atan2, "Max": max, "Min": min, "StrictLessThan": lambda a, b: a < b,
        "Unequality": lambda a, b: a != b, "ExprCondPair": lambda a, c: (a, c),
        "ITE": lambda c, a, b: a if c else b, "Not": lambda a: not a, "And": lambda *a: all(a), "Or": lambda *a: any(a),
        "Piecewise": lambda *pairs: next(a for a, c in pairs if c),
    }  # fmt: skip
    done = {}

    def value(e):
        if id(e) not in done:
            if e.is_Symbol:
                done[id(e)] = known[e.name]
            elif not e.args:
                done[id(e)] = bool(e) if e is sympy.true or e is sympy.false else float(e)
            else:
                done[id(e)] = functions[type(e).__name__](*map(value, e.args))
        return done[id(e)]

    return value(x)


def entries(result):
    if isinstance(result, sympy.NDimArray):
        return list(sympy.flatten(result.tolist()))
    return list(result) if isinstance(result, sympy.MatrixBase) else [result]


def numbered(robot, name, at):
    """A program, a state for it, the value of each symbol, and what the interpreter makes of it."""
    program, names = paper._named(robot.target, robot.target.traced, name, None, at, {})
    algorithm, rng = next(iter(ALGORITHMS[name].values())), np.random.default_rng(1)
    known, rows = {}, []
    for one in program.inputs:
        q = one.size == robot.nq and one.name in ("q", "q0", "q1")
        row = robot.random_state(rng, 1)[0][0] if q else rng.normal(size=one.size)
        row = np.arange(one.size) % 2.0 if one.name == "known" else row
        known |= dict(zip(names[one.name], row.tolist(), strict=True))
        rows.append(row)
    outs = [np.empty((1, len(output.entries))) for output in program.outputs]
    hinge.backends.interpret.run(program, [row[None] for row in rows], outs)
    return algorithm, known, [out[0] for out in outs]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("kinds", swept(KINDS, {"hinge and slide", "balls"}.__contains__))
@pytest.mark.parametrize("name", ALGORITHMS)
def test_equations_give_the_numbers_of_the_program(name, kinds):
    robot = hinge.samples.random_tree(np.random.default_rng(2), 2, KINDS[kinds])
    first = next(iter(ALGORITHMS[name].values()))
    if all(a.refuses(robot.model) for a in ALGORITHMS[name].values()):
        with pytest.raises(hinge.NotCovered):
            robot.equations(name)
        return
    at = ("link2", "link1")[: sum(quantity is PLACE for quantity in first.inputs.values())]
    _, known, wanted = numbered(robot, name, at)
    for simplify in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = robot.equations(name, at=at, simplify=simplify)
        made = made if isinstance(made, tuple) else (made,)
        for result, numbers in zip(made, wanted, strict=True):
            got = [valued(e, known) for e in entries(result)]
            np.testing.assert_allclose(got, numbers, rtol=0, atol=1e-10 * max(1.0, np.abs(numbers).max()))


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "hybrid_dynamics"])
def test_definitions_give_the_numbers_of_the_program(name):
    robot = hinge.samples.chain(np.random.default_rng(0), 6)
    _, known, wanted = numbered(robot, name, "")
    defined, made = robot.equations(name, shared=True)
    assert len(defined) > 50
    for symbol, value in defined:
        assert symbol.name not in known
        known[symbol.name] = valued(value, known)
    made = made if isinstance(made, tuple) else (made,)
    for result, numbers in zip(made, wanted, strict=True):
        got = [valued(e, known) for e in entries(result)]
        np.testing.assert_allclose(got, numbers, rtol=0, atol=1e-10 * np.abs(numbers).max())
        assert sum(len(str(e)) for e in entries(result)) < 20_000


def test_shapes_are_those_of_the_call():
    arm = hinge.samples.planar_2r()
    assert arm.equations("mass_matrix").shape == (2, 2)
    assert arm.equations("gravity_force").shape == (2, 1)
    assert arm.equations("pose", at="hand").shape == (4, 4)
    assert arm.equations("kinetic_energy").is_Add
    tau, qdd = arm.equations("hybrid_dynamics")
    assert tau.shape == qdd.shape == (2, 1)
    assert arm.equations("jacobian", at="hand", frame="aligned") != arm.equations("jacobian", at="hand", frame="body")


def test_an_arm_of_six_hinges_has_equations_that_say_how_long_they_are():
    arm = hinge.samples.chain(np.random.default_rng(0), 6)
    with pytest.warns(UserWarning, match=r"has [\d,]+ parts when it is written out.*shared=True"):
        made = arm.equations("inverse_dynamics")
    assert made.shape == (6, 1)


# ---- names


def names_in(x):
    return {s.name for s in x.free_symbols}


def test_coordinates_are_called_after_their_joints():
    arm = hinge.samples.planar_2r()
    assert names_in(arm.equations("kinetic_energy")) == {"q_elbow", "qdot_shoulder", "qdot_elbow"}
    assert sympy.latex(sympy.Symbol("qdot_elbow")) == r"\dot{q}_{elbow}"
    tau = arm.equations("inverse_dynamics")
    assert {"qddot_shoulder", "qddot_elbow"} <= names_in(tau)
    assert names_in(hinge.samples.puma560().equations("gravity_force")) == {"q2", "q3", "q4", "q5"}


def test_a_joint_with_several_coordinates_numbers_them():
    ball = hinge.samples.random_tree(np.random.default_rng(2), 1, ("spherical",))
    assert names_in(ball.equations("kinetic_energy")) == {f"qdot1_{k}" for k in range(3)}


def test_names_that_only_differ_in_signs_stay_apart():
    builder = hinge.Builder("odd")
    builder.link("base")
    for k, (name, parent) in enumerate((("a b", "base"), ("a-b", "link0"), ("a_b_2", "link1"))):
        builder.link(f"link{k}", 1.0, (0.1, 0, 0))
        builder.joint(name, "revolute", parent, f"link{k}", (1, 0, 0))
    energy = hinge.Robot(builder.build()).equations("kinetic_energy")
    assert {n for n in names_in(energy) if n.startswith("qdot")} == {"qdot_a_b", "qdot_a_b_2", "qdot_a_b_2_2"}


def test_varied_numbers_are_symbols():
    arm = hinge.samples.planar_2r().vary("upper.mass", "lower.com", "lower.inertia", "gravity")
    V = arm.equations("potential_energy")
    assert {"m_upper", "c_lower_x", "c_lower_z", "g_x", "g_y", "g_z"} <= names_in(V)
    assert arm.equations("mass_matrix")[1, 1].coeff(sympy.Symbol("I_lower_yy")) == 1
    q = sympy.symbols("q_shoulder q_elbow")
    values = {"m_upper": 1, "c_lower_x": 0.5, "c_lower_y": 0, "c_lower_z": 0, "g_x": 0, "g_y": 0, "g_z": -9.81}
    plain = hinge.samples.planar_2r().equations("potential_energy")
    assert sympy.simplify(V.subs(values) - plain).subs(dict.fromkeys(q, 0.3)) == pytest.approx(0.0, abs=1e-14)


def test_damping_is_in_where_it_is_asked_for():
    builder = hinge.Builder("damped")
    builder.link("base")
    builder.link("rod", sympy.Symbol("m"), (sympy.Symbol("l"), 0, 0))
    builder.joint("joint1", "revolute", "base", "rod", damping=sympy.Symbol("b"), armature=sympy.Symbol("J"))
    robot = hinge.Robot(builder.build())
    qd, qdd, m, l, b, J = sympy.symbols("qdot1 qddot1 m l b J")
    assert robot.equations("inverse_dynamics")[0] == qdd * (J + l**2 * m)
    assert robot.equations("inverse_dynamics", joint_terms=("armature", "damping"))[0] == b * qd + qdd * (J + l**2 * m)


# ---- robots built from symbols


SYMBOLS = {"l1": 0.7, "l2": 0.6, "lc1": 0.3, "lc2": 0.4, "m1": 2.0, "m2": 1.5, "I1": 0.02, "I2": 0.01, "g": 9.81}


def test_a_robot_of_symbols_computes_with_their_values():
    arm = hinge.samples.planar_2r(symbols=True)
    fixed = arm.with_values(SYMBOLS)
    q, qd = fixed.random_state(np.random.default_rng(0), 5)
    x = np.ones((5, 2))
    assert arm.model.symbols == tuple(sorted(SYMBOLS))
    for name in ("inverse_dynamics", "forward_dynamics"):
        got = getattr(arm, name)(q, qd, x, parameters=SYMBOLS)
        np.testing.assert_allclose(got, getattr(fixed, name)(q, qd, x), rtol=1e-12)
    masses = np.linspace(1.0, 2.0, 5)
    many = arm.inverse_dynamics(q, qd, x, parameters=SYMBOLS | {"m2": masses})
    for k, m in enumerate(masses):
        one = arm.with_values(SYMBOLS | {"m2": m})
        np.testing.assert_allclose(many[k], one.inverse_dynamics(q[k], qd[k], x[k]), rtol=1e-12)


def test_machine_code_of_a_robot_of_symbols_agrees_and_is_kept_apart():
    q = np.array([0.3, -0.4])
    heavy, light = (hinge.samples.planar_2r(symbols=True).with_values({"m1": m}) for m in (2.0, 1.0))
    rest = {k: x for k, x in SYMBOLS.items() if k != "m1"}
    for arm in (heavy, light):
        compiled = arm.gravity_force(q, parameters=rest, backend="llvm")
        np.testing.assert_allclose(compiled, arm.gravity_force(q, parameters=rest), rtol=1e-14)
    assert heavy.gravity_force(q, parameters=rest)[0] != light.gravity_force(q, parameters=rest)[0]


def test_a_robot_of_symbols_goes_through_pickle_and_edits():
    arm = hinge.samples.planar_2r(symbols=True)
    again = pickle.loads(pickle.dumps(arm))
    assert again.equations("mass_matrix") == arm.equations("mass_matrix")
    assert arm.lock({"joint2": 0.0}).equations("mass_matrix").shape == (1, 1)
    both = arm.attach(arm.with_values({"g": 9.81}), at="hand", prefix="second_")
    assert both.nv == 4
    assert both.model.symbols == arm.model.symbols
    assert arm.mass == sum(sympy.symbols("m1 m2"))


def test_loads_frames_and_gravity_of_symbols_on_an_arm_of_numbers():
    m, x, y, g = sympy.symbols("m x y g")
    plain = hinge.samples.planar_2r()
    arm = plain.with_payload("hand", m, (x, 0, y), sympy.zeros(3, 3)).with_gravity((0, 0, -g))
    assert arm.model.symbols == ("g", "m", "x", "y")
    values = {"m": 0.5, "x": 0.1, "y": 0.2, "g": 1.62}
    wanted = plain.with_payload("hand", 0.5, (0.1, 0, 0.2)).with_gravity((0, 0, -1.62))
    q, v, a = [0.3, 0.4], [1.0, -2.0], [0.5, 0.6]
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a, parameters=values), wanted.inverse_dynamics(q, v, a))
    T = sympy.eye(4)
    T[:3, 3] = sympy.Matrix([x, 0, 0])
    for placement in ((x, 0, 0), T):
        tip = plain.with_frame("tip", "hand", placement)
        np.testing.assert_allclose(
            tip.with_values({"x": 0.25}).pose(q, "tip"), plain.with_frame("tip", "hand", (0.25, 0, 0)).pose(q, "tip")
        )


def test_a_table_of_symbols_has_the_kinematics_of_its_convention():
    a, alpha, d, theta = sympy.symbols("a alpha d theta")
    q = sympy.Symbol("q1")
    row = [{"a": a, "alpha": alpha, "d": d, "theta": theta, "mass": 1.0}]
    c, s, ca, sa = sympy.cos(q + theta), sympy.sin(q + theta), sympy.cos(alpha), sympy.sin(alpha)
    classic = sympy.Matrix([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
    modified = sympy.Matrix([[c, -s, 0, a], [s * ca, c * ca, -sa, -d * sa], [s * sa, c * sa, ca, d * ca], [0, 0, 0, 1]])
    for convention, wanted in (("classic", classic), ("modified", modified)):
        made = hinge.dh(row, convention).equations("pose", at="tool")
        assert (made - wanted).applyfunc(sympy.simplify) == sympy.zeros(4, 4)


def test_a_quarter_turn_leaves_no_dust():
    l = sympy.Symbol("l")
    arm = hinge.dh([{"a": l, "alpha": sympy.pi / 2, "d": l}, {"a": l, "mass": 1.0}])
    assert not any(number.is_Float for number in arm.equations("pose", at="tool").atoms(sympy.Number))


def test_what_symbols_may_do():
    x, y = sympy.symbols("x y")
    given = {
        x / y: 0.5, x**3: 8.0, sympy.sqrt(x * y): math.sqrt(8.0), x**-2: 0.25, sympy.tan(x): math.tan(2.0),
        sympy.sin(x) * sympy.cos(y): math.sin(2.0) * math.cos(4.0), x**sympy.Rational(3, 2): 2.0**1.5,
        sympy.Rational(1, 3) * x + 1: 5.0 / 3.0, 1 / sympy.sqrt(x): 2.0**-0.5,
    }  # fmt: skip
    for mass, value in given.items():
        arm = hinge.dh([{"a": 1.0, "mass": mass}])
        known = {name: v for name, v in (("x", 2.0), ("y", 4.0)) if name in arm.model.symbols}
        assert arm.with_values(known).mass == pytest.approx(value, rel=1e-15)
        assert arm.mass_matrix([0.0], parameters=known)[0, 0] == pytest.approx(value, rel=1e-15)


def test_cost_and_listing_of_a_robot_of_symbols():
    arm = hinge.samples.planar_2r(symbols=True)
    assert 0 < arm.cost("mass_matrix").mul < 20
    assert "parameters[" in arm.source("mass_matrix", "listing")
