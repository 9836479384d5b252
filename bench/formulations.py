"""Counts and times every formulation, and writes docs/formulations.md's tables and its picture.

    python bench/formulations.py            print the tables
    python bench/formulations.py --write    also write them into the page, and draw docs/formulations.svg

Times are of a general arm of six joints, in batches of 4,096 states on one core, in double precision; rounds go from
method to method and the fastest of each is kept, because machines are noisy.
"""

from __future__ import annotations

import platform
import sys
import time
from pathlib import Path

import numpy as np
from against_pinocchio import processor

import hinge
from hinge.counting import published, table
from hinge.counting.claims import claimed, crossings, of
from hinge.counting.measure import COUNTED, arm, cost
from hinge.counting.sheets import Sheet
from hinge.robot import ALGORITHMS

PAGE = Path(__file__).parents[1] / "docs" / "formulations.md"
PICTURE = PAGE.with_suffix(".svg")
STATES, ROUNDS, SIX = 4096, 40, 6
# in the order they were found: year, who, method
STORY = (
    ("1965", "Uicker, Kahn", "inverse_dynamics", "uicker_kahn_direct"),
    ("1975", "its sums in a better order", "inverse_dynamics", "uicker_kahn"),
    ("1979", "Orin and others", "inverse_dynamics", "newton_euler_orin"),
    ("1980", "Luh, Walker and Paul", "inverse_dynamics", "luh"),
    ("1980", "Hollerbach, 4×4", "inverse_dynamics", "hollerbach_4x4"),
    ("1980", "Hollerbach, 3×3", "inverse_dynamics", "hollerbach"),
    ("1981", "Silver", "inverse_dynamics", "silver"),
    ("1981", "Turney, Mudge and Lee: Gibbs and Appell", "inverse_dynamics", "gibbs_appell"),
    ("1981", "Turney, Mudge and Lee", "inverse_dynamics", "turney"),
    ("1981", "the same: strobing", "mass_matrix", "strobe"),
    ("1982", "Walker and Orin 2", "mass_matrix", "strobe_symmetric"),
    ("1982", "Walker and Orin 2", "forward_dynamics", "strobe"),
    ("1982", "Walker and Orin 3", "mass_matrix", "composite"),
    ("1982", "Walker and Orin 3", "forward_dynamics", "composite"),
    ("1982", "Walker and Orin 4", "forward_dynamics", "conjugate_gradient"),
    ("1983", "Featherstone", "forward_dynamics", "articulated"),
    ("1987", "Featherstone, all in base coordinates", "inverse_dynamics", "newton_euler_base"),
    ("1987", "the same", "mass_matrix", "composite_base"),
    ("1987", "the same", "forward_dynamics", "articulated_base"),
    ("1987", "Featherstone", "inverse_dynamics", "newton_euler"),
    ("1987", "Featherstone, at rest", "forward_dynamics", "articulated_static"),
    ("1990", "Nasser", "forward_dynamics", "nasser"),
    ("", "by definition", "mass_matrix", "jacobians"),
    ("", "by differentiation", "inverse_dynamics", "euler_lagrange"),
    ("now", "composite, with Turney's bias force", "forward_dynamics", "composite_turney"),
)


def times() -> dict[tuple[str, str], float]:
    """Nanoseconds a state of each method."""
    hinge.set_threads(1)
    robot, rng = arm(SIX), np.random.default_rng(0)
    q, x, y = (rng.uniform(-1, 1, (STATES, SIX)) for _ in range(3))
    calls = {}
    for _, _, name, method in STORY:
        kernel = robot.kernel(name, method)
        given = (q,) if name == "mass_matrix" else (q, x, y)
        out = kernel(*given)
        calls[name, method] = lambda kernel=kernel, given=given, out=out: kernel(*given, out=out)
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for key, call in calls.items():
            start = time.perf_counter()
            call()
            best[key] = min(best[key], time.perf_counter() - start)
    return {key: seconds / STATES * 1e9 for key, seconds in best.items()}


def story(took: dict[tuple[str, str], float]) -> Sheet:
    """The methods in the order they were found."""
    rows = []
    for year, who, name, method in STORY:
        here, plain = cost(name, method, SIX), published.written(name, method)
        as_written = f"{plain.mul + plain.add:,}" if plain else ""
        rows.append(
            (year, who, name, f"`{method}`", as_written, f"{here.mul + here.add:,}", f"{took[name, method]:.0f}")
        )
    columns = ("year", "who", "what", "method=", "as written", "traced", "ns a state")
    note = (f"Multiplications and additions on a general arm of six joints. Times: one core of {processor()}, batches of "
            f"{STATES:,} states, Python {platform.python_version()}, NumPy {np.__version__}.")  # fmt: skip
    return Sheet("The methods in the order they were found", columns, tuple(rows), (note,), 4)


def put(text: str, name: str, content: str) -> str:
    """The page with what stands between two marks replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{content}{end}{rest.split(end)[1]}"


def blocks() -> dict[str, str]:
    """The parts of the page that are counted."""
    made = {"claims": claimed().markdown(), "crossings": crossings().markdown(), "totals": published.totals().markdown(),
            "polynomials": published.all_methods().markdown()}  # fmt: skip
    shown = {claimed().title, crossings().title, published.totals().title, published.all_methods().title}
    rest = [sheet for sheet in table.sheets() if sheet.title not in shown]
    return made | {"tables": "\n".join(f"### {sheet.title}\n\n{sheet.markdown()}" for sheet in rest)}


def main() -> None:
    made = {"story": story(times()).markdown()} | blocks()
    for text in made.values():
        print(text)
    if "--write" in sys.argv:
        page = PAGE.read_text(encoding="utf-8")
        for name, text in made.items():
            page = put(page, name, text)
        PAGE.write_text(page, encoding="utf-8")
        draw()


# ---- the picture

STRONG = {"turney": "#c1272d", "newton_euler": "#e08214", "composite": "#1b7837", "composite_base": "#7fbf7b",
          "articulated": "#2166ac", "composite_turney": "#c1272d", "nasser": "#7b5ea7", "luh": "#8c6d31"}  # fmt: skip
SAME = {"silver": "luh", "hollerbach_4x4": "hollerbach"}  # drawn once, named together
CROSSINGS = (
    ("forward_dynamics", "articulated", "composite_turney"),
    ("forward_dynamics", "articulated", "composite"),
    ("forward_dynamics", "nasser", "composite"),
    ("mass_matrix", "composite_base", "composite"),
    ("inverse_dynamics", "luh", "euler_lagrange"),
)


def draw() -> None:
    """Cost against the number of joints, all formulations."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    lengths = range(2, 21)
    figure, panels = plt.subplots(1, 3, figsize=(13.5, 6.6), sharey=True)
    for panel, name in zip(panels, COUNTED, strict=True):
        ends = []
        for method in ALGORITHMS[name]:
            if method in (*SAME, "cluster", "composite_llt"):
                continue
            size = [of(name, method, n).mul + of(name, method, n).add for n in lengths]
            colour, strong = STRONG.get(method, "#9a9a9a"), method in STRONG
            panel.plot(lengths, size, color=colour, lw=2.2 if strong else 1.1, zorder=3 if strong else 2)
            also = [other for other, one in SAME.items() if one == method]
            ends.append((size[-1], ", ".join([method, *also]), colour, strong))
        _label(panel, ends)
        _mark(panel, name)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlim(2, 20)
        panel.set_ylim(20, 1e6)
        panel.set_xticks([2, 3, 4, 6, 8, 10, 12, 16, 20], labels=["2", "3", "4", "6", "8", "10", "12", "16", "20"])
        panel.minorticks_off()
        panel.grid(True, color="#e6e6e6", lw=0.6)
        panel.set_title(name.replace("_", " "), loc="left", fontsize=12, fontweight="bold")
        panel.set_xlabel("joints of a general arm")
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    panels[0].set_ylabel("multiplications and additions for one state, traced")
    figure.subplots_adjust(left=0.055, right=0.885, wspace=0.52, top=0.94, bottom=0.085)
    figure.savefig(PICTURE, metadata={"Date": None})
    figure.savefig(PICTURE.with_suffix(".png"), dpi=110) if "--png" in sys.argv else None


def _label(panel: object, ends: list[tuple[int, str, str, bool]]) -> None:
    """Names at the right ends of the lines, moved apart where they would touch."""
    at = -np.inf
    for y, text, colour, strong in sorted(ends):
        at = max(np.log10(y), at + 0.115)
        panel.annotate(text, (20, y), xytext=(20 * 1.06, 10**at), textcoords="data", color=colour, va="center",
                       fontsize=8.5, fontweight="bold" if strong else "normal", annotation_clip=False,
                       arrowprops={"arrowstyle": "-", "color": colour, "lw": 0.5, "shrinkA": 0, "shrinkB": 0})  # fmt: skip


def _mark(panel: object, name: str) -> None:
    """Circles where one method becomes cheaper than another."""
    from hinge.counting.claims import first

    for call, cheaper, dearer in CROSSINGS:
        if call != name:
            continue
        n, mul = (first(name, cheaper, dearer, measure) for measure in ("both", "multiplications"))
        if n is None:
            continue
        y = of(name, cheaper, n).mul + of(name, cheaper, n).add
        panel.plot([n], [y], "o", ms=7, mfc="white", mec="#222222", mew=1.2, zorder=5)
        text = f"n = {n}" + (f" (mul: {mul})" if mul != n else "")
        panel.annotate(text, (n, y), xytext=(-4, 14), textcoords="offset points", ha="right", fontsize=8, color="#222222",
                       arrowprops={"arrowstyle": "-", "color": "#222222", "lw": 0.5, "shrinkB": 4}, zorder=6)  # fmt: skip


if __name__ == "__main__":
    main()
