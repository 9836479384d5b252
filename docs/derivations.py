"""Writes docs/derivations.md: three mechanisms from energy to equations, every formula printed from hinge's results.

    python docs/derivations.py > docs/derivations.md

Lagrange's equations are made from the energies by SymPy, and have to be what inverse dynamics gives.
"""

import re
import sys

import numpy as np
import sympy
from sympy.physics.vector import dynamicsymbols

import hinge

T = dynamicsymbols._t
COLUMN = {"mat_str": "bmatrix", "mat_delim": ""}


def motion(names):
    """Coordinates, rates and accelerations as functions of time."""
    q = dynamicsymbols(names)
    return q, [x.diff(T) for x in q], [x.diff(T, 2) for x in q]


def formula(left, right):
    return f"$${left} = {hinge.latex(right, **COLUMN)}$$\n"


def energies(robot, q, qd):
    """The two energies, and what they become in Lagrange's equations."""
    kinetic, potential = robot.kinetic_energy(q, qd), robot.potential_energy(q)
    L = kinetic - potential
    derived = sympy.Matrix([L.diff(v).diff(T) - L.diff(x) for x, v in zip(q, qd, strict=True)])
    return kinetic, potential, derived


def check(what, made, wanted):
    """Two results are the same, whatever the symbols are."""
    free = sorted(
        made.atoms(sympy.Derivative) | wanted.atoms(sympy.Derivative), key=lambda x: (-x.derivative_count, str(x))
    )
    free += sorted(made.atoms(sympy.core.function.AppliedUndef) | made.free_symbols - {T}, key=str)
    rng = np.random.default_rng(0)
    off = (made - wanted).subs([(x, rng.uniform(0.5, 1.5)) for x in free])
    if max(abs(x) for x in off) > 1e-12:
        raise SystemExit(f"{what} do not agree")


def section(title, words, robot, q, qd, qdd):
    """A tree: energies, mass matrix, Christoffel symbols, and the equations of motion."""
    kinetic, potential, derived = energies(robot, q, qd)
    forces = robot.inverse_dynamics(q, qd, qdd)
    check("inverse dynamics and Lagrange's equations", derived, forces)
    symbols, names = robot.christoffel(q), [re.sub(r"^q_\{(\d)\}$", r"\1", hinge.latex(x)) for x in q]
    kept = [(i, j, k) for i in range(len(q)) for j in range(len(q)) for k in range(j + 1) if symbols[i, j, k] != 0]
    return "\n".join([
        f"## {title}\n", words, "Kinetic and potential energy:\n", formula("T", kinetic), formula("V", potential),
        "The mass matrix, the Hessian of $T$ in the velocities:\n", formula("M", robot.mass_matrix(q)),
        "Its Christoffel symbols of the first kind, those that are not zero and one of each equal two:\n",
        *(formula(rf"\Gamma_{{{names[i]} {names[j]} {names[k]}}}", symbols[i, j, k]) for i, j, k in kept),
        "Lagrange's equations\n"
        r"$\frac{d}{dt} \frac{\partial L}{\partial \dot q} - \frac{\partial L}{\partial q} = \tau$, which are"
        "\n"
        r"$M \ddot q + \Gamma(\dot q, \dot q) + \partial V / \partial q = \tau$:" + "\n",
        *(formula(rf"\tau_{{{name}}}", force) for name, force in zip(names, forces, strict=True)),
    ])  # fmt: skip


def planar_arm():
    words = """```python
import hinge

robot = hinge.samples.planar_2r(symbols=True)
```

Two links in a vertical plane. The first angle is counted from the horizontal, the second from the first link; link $i$
has length $l_i$, mass $m_i$, its centre of mass at $l_{ci}$, and inertia $I_i$ about it.
"""
    return section("A planar arm", words, hinge.samples.planar_2r(symbols=True), *motion("q1 q2"))


CART = """import hinge
from sympy import symbols

m_c, m_p, l, g = symbols("m_c m_p l g")
builder = hinge.Builder("cart_pole", gravity=(0, 0, -g))
builder.link("ground")
builder.link("cart", m_c)
builder.link("pole", m_p, com=(0, 0, l))
builder.joint("x", "prismatic", "ground", "cart", axis=(1, 0, 0))
builder.joint("theta", "continuous", "cart", "pole", axis=(0, 1, 0))
robot = hinge.Robot(builder.build())
"""


def cart_pole():
    made = {}
    exec(CART, made)
    words = f"""```python
{CART}```

A cart of mass $m_c$ on a rail, and a mass $m_p$ at the end of a rod of length $l$ that stands upright at $\\theta = 0$.
"""
    return section("A cart-pole", words, made["robot"], *motion("x theta"))


DISC = """import hinge
import numpy as np
from sympy import symbols

m, I, J, R = symbols("m I J R")
builder = hinge.Builder("disc")
for link in ("ground", "slide", "stage", "fork"):
    builder.link(link)
builder.link("disc", m, inertia=[[I, 0, 0], [0, J, 0], [0, 0, I]])
builder.joint("x", "prismatic", "ground", "slide", axis=(1, 0, 0))
builder.joint("y", "prismatic", "slide", "stage", axis=(0, 1, 0))
builder.joint("theta", "continuous", "stage", "fork", (0, 0, R), axis=(0, 0, 1))
builder.joint("phi", "continuous", "fork", "disc", axis=(0, 1, 0))
robot = hinge.Robot(builder.build())


def rolling(q, t, at):
    J, R = at("disc").J, at("disc").p[2]  # the point of the disc on the ground does not move
    return np.stack([J[3] - R * J[1], J[4] + R * J[0]])


disc = hinge.constrain(robot, rolling)
"""


def rolling_disc():
    made = {}
    exec(DISC, made)
    robot, disc = made["robot"], made["disc"]
    q, qd, _ = motion("x y theta phi")
    eta, tau = dynamicsymbols("theta phi"), sympy.symbols("tau_x tau_y tau_theta tau_phi")
    eta = [one.diff(T) for one in eta]
    kinetic = robot.kinetic_energy(q, qd)
    rates = disc.reduced(q, eta, tau).applyfunc(sympy.simplify)
    S, M, v = disc.basis(q), robot.mass_matrix(q), disc.velocity(q, eta)
    P = (S * (S.T * M * S).inv() * S.T * M).applyfunc(sympy.trigsimp)
    check("projections by basis and by constraints", disc.projection(q), P)
    check("motion by the constraint connection and in pseudo-velocities", disc.geometric(q, v, tau)[2:, :], rates)
    words = f"""## A rolling disc

```python
{DISC}```

A disc of radius $R$ stays upright and rolls without slipping: $x, y$ is where it touches the ground, $\\theta$ its
heading and $\\phi$ how far it has rolled. Its inertia is $J$ about its axle and $I$ about a diameter.
"""
    return "\n".join([
        words, "The energy that changes:\n", formula("T", kinetic),
        "The constraints $A \\dot q = 0$, and the velocities they allow, $\\dot q = S \\eta$:\n",
        formula("A", disc.matrix(q)[0]), formula("S", S),
        "with the pseudo-velocities\n", formula(r"\eta", sympy.Matrix(eta)),
        "The projection on these velocities that is orthogonal by the mass matrix:\n", formula("P", P),
        "Equations of motion, by pseudo-velocities and by the constraint connection "
        r"$\tilde\nabla_{\dot q} \dot q = P M^{-1} \tau$ alike:" + "\n",
        formula(r"\ddot\theta", rates[0]), formula(r"\ddot\phi", rates[1]),
    ])  # fmt: skip


HEAD = """# Derivations: three mechanisms from energy to equations

Three mechanisms from energy to equations. Every formula on this page is printed from what hinge gives for SymPy's
symbols; `docs/derivations.py` writes the page, makes Lagrange's equations from the energies besides, and sees that they
agree.
"""


def page():
    return "\n".join([HEAD, planar_arm(), cart_pole(), rolling_disc()])


if __name__ == "__main__":
    sys.stdout.write(page())
