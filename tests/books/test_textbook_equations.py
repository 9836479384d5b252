"""The equations textbooks print, derived by hand from the energies with Lagrange's equations, and what hinge prints.

Nothing of hinge is used on the side of the book: positions by trigonometry, energies from them, and SymPy's own
derivatives. Equality is SymPy's simplify; and what is printed is as short as the book's.
"""

import pytest

import hinge

sympy = pytest.importorskip("sympy")
cos, sin, symbols = sympy.cos, sympy.sin, sympy.symbols

t = sympy.Symbol("t")
l1, l2, lc1, lc2, m1, m2, I1, I2, g = symbols("l1 l2 lc1 lc2 m1 m2 I1 I2 g")


def lagrange(kinetic, potential, n):
    """The forces d/dt ∂L/∂q̇ - ∂L/∂q, in the symbols hinge uses, from energies that are functions of q, q̇."""
    q, qd, qdd = (symbols(f"{letter}1:{n + 1}") for letter in ("q", "qdot", "qddot"))
    path = [sympy.Function(f"f{k}")(t) for k in range(n)]
    moving = {old: new for k in range(n) for old, new in ((q[k], path[k]), (qd[k], path[k].diff(t)))}
    L = kinetic(q, qd) - potential(q)
    forces = []
    for k in range(n):
        rate = sympy.diff(L, qd[k]).subs(moving, simultaneous=True).diff(t)
        force = rate - sympy.diff(L, q[k]).subs(moving, simultaneous=True)
        for j in range(n):
            force = force.subs(path[j].diff(t, 2), qdd[j])
        for j in range(n):
            force = force.subs(path[j].diff(t), qd[j])
        forces.append(force.subs({path[j]: q[j] for j in range(n)}))
    return forces, qdd


def planar_energies():
    """Two links in a vertical plane: centres of mass by trigonometry, angles from the horizontal."""

    def speeds(q, qd):
        x1, y1 = lc1 * cos(q[0]), lc1 * sin(q[0])
        x2, y2 = l1 * cos(q[0]) + lc2 * cos(q[0] + q[1]), l1 * sin(q[0]) + lc2 * sin(q[0] + q[1])
        return [
            [sum(sympy.diff(x, a) * v for a, v in zip(q, qd, strict=True)) for x in p] for p in ((x1, y1), (x2, y2))
        ]

    def kinetic(q, qd):
        (a, b), (c, d) = speeds(q, qd)
        turning = I1 * qd[0] ** 2 + I2 * (qd[0] + qd[1]) ** 2
        return (m1 * (a**2 + b**2) + m2 * (c**2 + d**2) + turning) / 2

    def potential(q):
        return g * (m1 * lc1 * sin(q[0]) + m2 * (l1 * sin(q[0]) + lc2 * sin(q[0] + q[1])))

    return kinetic, potential


def by_table():
    """The same arm from a Denavit-Hartenberg table, its frames at the ends of the links."""
    rows = [
        {"a": l, "mass": m, "com": (lc - l, 0, 0), "inertia": [[0, 0, 0], [0, 0, 0], [0, 0, I]]}
        for l, lc, m, I in ((l1, lc1, m1, I1), (l2, lc2, m2, I2))
    ]
    return hinge.dh(rows, gravity=(0, -g, 0))


ARMS = {"sample": lambda: hinge.samples.planar_2r(symbols=True), "table": by_table}
arms = pytest.mark.parametrize("arm", [make() for make in ARMS.values()], ids=ARMS)


def same(ours, book):  # the difference is a polynomial in sines and cosines
    return sympy.trigsimp(sympy.expand(sympy.expand_trig(ours - book))) == 0


@pytest.mark.sampled(1)
@arms
def test_the_arm_obeys_lagrange(arm):
    forces, qdd = lagrange(*planar_energies(), 2)
    tau = arm.equations("inverse_dynamics")
    H = arm.equations("mass_matrix")
    for i in range(2):
        assert same(tau[i], forces[i])
        for j in range(2):
            assert same(H[i, j], sympy.diff(forces[i], qdd[j]))


@arms
def test_the_arm_prints_the_book(arm):
    q1, q2, v1, v2, a1, a2 = symbols("q1 q2 qdot1 qdot2 qddot1 qddot2")
    H11 = I1 + I2 + m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q2))
    H = arm.equations("mass_matrix")
    assert H[0, 0] == H11  # the very form
    assert H[1, 1] == I2 + m2 * lc2**2
    assert H[0, 1] == H[1, 0] == I2 + m2 * lc2 * (lc2 + l1 * cos(q2))
    assert arm.equations("coriolis_matrix")[0, 1] == -m2 * l1 * lc2 * sin(q2) * (v1 + v2)
    tau = arm.equations("inverse_dynamics")
    assert tau[1] == H[1, 0] * a1 + H[1, 1] * a2 + m2 * l1 * lc2 * sin(q2) * v1**2 + m2 * g * lc2 * cos(q1 + q2)
    assert str(H[0, 0]) == "I1 + I2 + lc1**2*m1 + m2*(l1**2 + 2*l1*lc2*cos(q2) + lc2**2)"


@arms
@pytest.mark.parametrize(
    ("name", "most"),
    [("mass_matrix", 30), ("inverse_dynamics", 72), ("gravity_force", 17), ("potential_energy", 12),
     ("kinetic_energy", 38), ("coriolis_matrix", 18)],
)  # fmt: skip
def test_what_is_printed_is_short(arm, name, most):
    assert sympy.count_ops(arm.equations(name)) <= most


@arms
def test_the_hand_is_where_the_book_says(arm):
    q1, q2 = symbols("q1 q2")
    hand = arm.equations("pose", at="hand" if "hand" in arm.model.frames else "tool")
    x = l1 * cos(q1) + l2 * cos(q1 + q2)
    up = 2 if arm.name == "planar_2r" else 1
    assert hand[0, 3] == x
    assert hand[up, 3] == x.subs({q1: q1 - sympy.pi / 2}) == l1 * sin(q1) + l2 * sin(q1 + q2)


def test_forward_dynamics_undo_lagrange():
    """Rational functions of the symbols: put in for the accelerations, they give back the forces."""
    arm = hinge.samples.planar_2r(symbols=True)
    forces, qdd = lagrange(*planar_energies(), 2)
    tau = symbols("tau1 tau2")
    solved = dict(zip(qdd, arm.equations("forward_dynamics"), strict=True))
    numbers = dict(
        zip((l1, l2, lc1, lc2, m1, m2, I1, I2, g), (1.1, 0.9, 0.4, 0.5, 2, 1.5, 0.1, 0.2, 9.81), strict=True)
    )
    state = dict(zip(symbols("q1 q2 qdot1 qdot2 tau1 tau2"), (0.3, -0.7, 1.1, -0.4, 2.0, 1.0), strict=True))
    for force, wanted in zip(forces, tau, strict=True):
        assert force.subs(solved).subs(numbers | state) == pytest.approx(state[wanted], abs=1e-12)


# ---- the cart and the pole


M, m, l, I = symbols("M m l I")


@pytest.fixture(scope="module")
def cart_pole():
    """A cart on rails along x and a pole that stands up at q2 = 0; its angle is about the y axis."""
    builder = hinge.Builder("cart_pole", (0, 0, -g))
    builder.link("rails")
    builder.link("cart", M)
    builder.link("pole", m, (0, 0, l), [[0, 0, 0], [0, I, 0], [0, 0, 0]])
    builder.joint("joint1", "prismatic", "rails", "cart", axis=(1, 0, 0))
    builder.joint("joint2", "continuous", "cart", "pole", axis=(0, 1, 0))
    return hinge.Robot(builder.build())


def test_the_cart_and_pole_obey_lagrange(cart_pole):
    def kinetic(q, qd):
        x, z = q[0] + l * sin(q[1]), l * cos(q[1])
        vx, vz = (sum(sympy.diff(p, a) * v for a, v in zip(q, qd, strict=True)) for p in (x, z))
        return (M * qd[0] ** 2 + m * (vx**2 + vz**2) + I * qd[1] ** 2) / 2

    forces, _ = lagrange(kinetic, lambda q: m * g * l * cos(q[1]), 2)
    tau = cart_pole.equations("inverse_dynamics")
    assert all(same(ours, book) for ours, book in zip(tau, forces, strict=True))


def test_the_cart_and_pole_print_the_book(cart_pole):
    q2, v2, a1, a2 = symbols("q2 qdot2 qddot1 qddot2")
    force, couple = cart_pole.equations("inverse_dynamics")
    assert force == (M + m) * a1 + m * l * cos(q2) * a2 - m * l * sin(q2) * v2**2
    assert couple == m * l * cos(q2) * a1 + (I + m * l**2) * a2 - m * g * l * sin(q2)


# ---- the anthropomorphic arm: a turn about the vertical, and two hinges that share a direction


def test_the_anthropomorphic_arm_prints_the_book():
    a2, a3, r2, r3 = symbols("a2 a3 r2 r3")
    M2, M3, X3, Y3 = symbols("m2 m3 X3 Y3")
    arm = hinge.dh([
        {"d": 1, "alpha": sympy.pi / 2},
        {"a": a2, "mass": M2, "com": (r2 - a2, 0, 0)},
        {"a": a3, "mass": M3, "com": (r3 - a3, 0, 0), "inertia": sympy.diag(X3, Y3, 0)},
    ], gravity=(0, 0, -g))  # fmt: skip
    q2, q3 = symbols("q2 q3")
    H = arm.equations("mass_matrix")
    book = M2 * r2**2 * cos(q2) ** 2 + M3 * (a2 * cos(q2) + r3 * cos(q2 + q3)) ** 2
    book += X3 * sin(q2 + q3) ** 2 + Y3 * cos(q2 + q3) ** 2
    assert sympy.expand(H[0, 0] - book) == 0  # no identity needed: the very sums of angles
    assert H[0, 1] == H[0, 2] == 0
    assert sympy.count_ops(H[0, 0]) <= 40
    assert sympy.count_ops(arm.equations("inverse_dynamics")) <= 260


# ---- three links: sums of three angles are gathered too


def test_a_planar_arm_of_three_links_has_sums_of_angles():
    lengths, masses = symbols("l1:4"), symbols("m1:4")
    rows = [{"a": a, "mass": mass} for a, mass in zip(lengths, masses, strict=True)]  # points at the ends
    arm = hinge.dh(rows, gravity=(0, -g, 0))
    q = symbols("q1:4")
    heights = [sum(lengths[j] * sin(sum(q[: j + 1])) for j in range(k + 1)) for k in range(3)]
    book = g * sum(mass * y for mass, y in zip(masses, heights, strict=True))
    V = arm.equations("potential_energy")
    assert V.atoms(sin) == {sin(q[0]), sin(q[0] + q[1]), sin(q[0] + q[1] + q[2])}
    assert sympy.expand(V - book) == 0
    assert arm.equations("mass_matrix").atoms(cos) == {cos(q[1]), cos(q[2]), cos(q[1] + q[2])}
