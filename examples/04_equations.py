"""The equations of a planar arm, as a textbook prints them.

The robot is built from symbols; the same program that would be compiled is printed instead.
Writes 04_equations.png beside this file, or to the path given.
"""

import sys
from pathlib import Path

import matplotlib
import sympy

import hinge

matplotlib.use("Agg")
import matplotlib.pyplot as plt

arm = hinge.samples.planar_2r(symbols=True)
H, gravity, bias = (arm.equations(name) for name in ("mass_matrix", "gravity_force", "bias_force"))
coriolis = (bias - gravity).applyfunc(sympy.simplify)

names = {symbol: sympy.Symbol(symbol.name.replace("qdot", r"\dot{q}_")) for symbol in coriolis.free_symbols}
lines = ["The mass matrix"]
lines += [f"$H_{{{i + 1}{j + 1}}} = {sympy.latex(H[i, j])}$" for i, j in ((0, 0), (0, 1), (1, 1))]
lines += ["Coriolis and centrifugal forces"]
lines += [f"$C_{{{i + 1}}} = {sympy.latex(coriolis[i].subs(names))}$" for i in range(2)]
lines += ["Gravity"]
lines += [f"$G_{{{i + 1}}} = {sympy.latex(gravity[i])}$" for i in range(2)]

figure = plt.figure(figsize=(6.2, 0.5 * len(lines)))
for k, line in enumerate(lines):
    title = not line.startswith("$")
    figure.text(0.03 if title else 0.06, 1 - (k + 0.6) / len(lines), line, fontsize=13 if title else 12, va="center",
                weight="bold" if title else "normal")  # fmt: skip

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".png")
figure.savefig(target, dpi=110)
print(f"{len(lines) - 3} equations of {arm.name}: {target.name}")
