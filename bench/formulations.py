"""Every formulation on a general arm of six joints: what it counts and what it takes.

    python bench/formulations.py            print the table with times
    python bench/formulations.py --write    also keep it, and write it into the docs
    python bench/formulations.py --counts   write what is counted into docs/formulations.md, and draw its picture

Times are of batches of 4,096 states on one core, in double precision.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import figures
import numpy as np
from measuring import fastest

import hinge
from hinge.counting import published, table
from hinge.counting.claims import claimed, crossings, first, of, printed_first
from hinge.counting.measure import COUNTED, arm, cost, polynomial
from hinge.robot import ALGORITHMS

PAGE = Path(__file__).parents[1] / "docs" / "formulations.md"
PICTURE = PAGE.with_suffix(".svg")
STATES, ROUNDS, SIX = 4096, 40, 6
# in the order they were found: year, who, method
STORY = (
    ("1965", "Uicker, Kahn", "inverse_dynamics", "uicker_kahn_direct"),
    ("1979", "Orin and others", "inverse_dynamics", "newton_euler_orin"),
    ("1980", "Luh, Walker and Paul", "inverse_dynamics", "luh"),
    ("1980", "Hollerbach, 4×4", "inverse_dynamics", "hollerbach_4x4"),
    ("1980", "Hollerbach, 3×3", "inverse_dynamics", "hollerbach"),
    ("1981", "Silver", "inverse_dynamics", "silver"),
    ("1981", "Uicker's, in a better order (Turney, Mudge and Lee)", "inverse_dynamics", "uicker_kahn"),
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
        calls[name, method] = partial(kernel, *given, out=kernel(*given))
    return {key: seconds / STATES * 1e9 for key, seconds in fastest(calls, ROUNDS).items()}


def measured() -> dict[str, Any]:
    """The methods in the order they were found."""
    took, rows = times(), [["year", "who", "what", "method=", "as written", "traced", "ns a state"]]
    for year, who, name, method in STORY:
        here, plain = cost(name, method, SIX), published.written(name, method)
        as_written = f"{plain.mul + plain.add:,}" if plain else ""
        rows.append(
            [year, who, name, f"`{method}`", as_written, f"{here.mul + here.add:,}", f"{took[name, method]:.0f}"]
        )
    return {"story": rows}


def put(text: str, name: str, content: str) -> str:
    """The page with what stands between two marks replaced."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return f"{before}{begin}\n{content}{end}{rest.split(end)[1]}"


def blocks() -> dict[str, str]:
    """The parts of the page that are counted."""
    shown = {"claims": claimed(), "crossings": crossings(), "totals": published.totals(),
             "polynomials": published.all_methods()}  # fmt: skip
    titles = {sheet.title for sheet in shown.values()}
    rest = [sheet for sheet in table.sheets() if sheet.title not in titles]
    made = {name: sheet.markdown() for name, sheet in shown.items()}
    return made | {"tables": "\n".join(f"### {sheet.title}\n\n{sheet.markdown()}" for sheet in rest)}


def write_counts() -> None:
    """Write what is counted into the page, and draw it."""
    page = PAGE.read_text(encoding="utf-8")
    for name, text in blocks().items():
        page = put(page, name, text)
    PAGE.write_text(page, encoding="utf-8")
    draw()


# ---- the picture

GREY, INK = "#8f8f8f", "#222222"
STRONG = {"turney": "#c1272d", "newton_euler": "#e08214", "luh": "#8c6d31", "composite": "#1b7837",
          "composite_base": "#5aae61", "articulated": "#2166ac", "composite_turney": "#c1272d",
          "nasser": "#7b5ea7"}  # fmt: skip
SAME = {"silver": "luh", "hollerbach_4x4": "hollerbach"}  # drawn once, named together
LEFT_OUT = (*SAME, "cluster", "composite_llt")  # the last two are variants of articulated and composite
ENDS = range(2, 21)
LIMITS = {"inverse_dynamics": (28, 60_000), "mass_matrix": (10, 2_000), "forward_dynamics": (55, 5_000)}
CROSSINGS = {
    "inverse_dynamics": [("turney", "euler_lagrange"), ("luh", "euler_lagrange"), ("gibbs_appell", "uicker_kahn")],
    "mass_matrix": [("composite_base", "jacobians"), ("composite_base", "composite")],
    "forward_dynamics": [("nasser", "strobe"), ("articulated", "composite"), ("articulated", "composite_turney"),
                         ("nasser", "composite")],
}  # fmt: skip


def draw() -> None:
    """Operations a joint against the number of joints, all formulations, and where they cross."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {"font.family": "DejaVu Sans", "font.size": 9, "svg.fonttype": "path", "svg.hashsalt": "hinge"}
    figure, panels = plt.subplots(1, 3, figsize=(14, 7))
    for panel, name in zip(panels, COUNTED, strict=True):
        panel.set(yscale="log", xlim=(2, 20), ylim=LIMITS[name], xlabel="joints of a general arm")
        ends = []
        for method, known in ALGORITHMS[name].items():
            if method not in LEFT_OUT and not known.closes:
                ends.append(_line(panel, name, method))
        _name(panel, ends)
        _cross(panel, name)
        panel.set_xticks(range(2, 21, 2))
        panel.grid(True, color="#ececec", lw=0.6)
        panel.tick_params(which="both", length=0, colors="#555555")
        panel.set_title(name.replace("_", " "), loc="left", fontsize=12.5, fontweight="bold", color=INK)
        for side in ("top", "right", "left"):
            panel.spines[side].set_visible(False)
    panels[0].set_ylabel("multiplications and additions a joint, traced", color=INK)
    figure.subplots_adjust(left=0.05, right=0.9, wspace=0.52, top=0.945, bottom=0.215)
    figure.savefig(PICTURE, metadata={"Date": None})
    if "--png" in sys.argv:
        figure.savefig(PICTURE.with_suffix(".png"), dpi=110)


def size(name: str, method: str, n: int) -> float:
    """Operations a joint."""
    return (of(name, method, n).mul + of(name, method, n).add) / n


def _line(panel: Any, name: str, method: str) -> tuple[float, str, str]:
    """Draw a method; gives where its line ends, its name and its colour."""
    whole = all(polynomial(name, method, part) for part in ("mul", "add"))  # else it is only measured
    lengths = [n for n in ENDS if whole or n <= 12]
    sizes, colour, strong = [size(name, method, n) for n in lengths], STRONG.get(method, GREY), method in STRONG
    panel.plot(
        lengths, sizes, color=colour, lw=2.3 if strong else 1.1, zorder=3 if strong else 2, solid_capstyle="round"
    )
    also = [other for other, one in SAME.items() if one == method]
    if lengths[-1] < ENDS[-1]:
        panel.annotate(method, (lengths[-1], sizes[-1]), (3, 3), textcoords="offset points", color=colour, fontsize=8)
        return np.nan, "", ""
    return sizes[-1], "\n".join([method, *also]), colour


def _name(panel: Any, ends: list[tuple[float, str, str]]) -> None:
    """Names at the right ends of the lines, moved apart where they would touch."""
    low, high = np.log10(panel.get_ylim())
    ends = sorted(end for end in ends if end[1])
    at = [(np.log10(y) - low) / (high - low) for y, _, _ in ends]
    tall = [0.034 * (1 + text.count("\n")) for _, text, _ in ends]
    placed = list(at)
    for _ in range(400):
        for k in range(len(placed) - 1):
            short = (tall[k] + tall[k + 1]) / 2 - (placed[k + 1] - placed[k])
            if short > 0:
                placed[k], placed[k + 1] = placed[k] - short / 2, placed[k + 1] + short / 2
    for (_, text, colour), y, place in zip(ends, at, placed, strict=True):
        panel.plot([1.0, 1.035], [y, place], transform=panel.transAxes, color=colour, lw=0.7, clip_on=False)
        panel.text(1.045, place, text, transform=panel.transAxes, color=colour, va="center", fontsize=8.5,
                   linespacing=1.1, fontweight="normal" if colour == GREY else "bold")  # fmt: skip


def _cross(panel: Any, name: str) -> None:
    """Numbered circles where one method becomes cheaper than another, and by which measure that is so."""
    lines = ["where one becomes cheaper, by both together (multiplications, additions):"]
    for number, (cheaper, dearer) in enumerate(CROSSINGS[name], start=1):
        both, mul, add = (first(name, cheaper, dearer, measure) for measure in ("both", "multiplications", "additions"))
        if both is None:
            continue
        y = size(name, cheaper, both)
        panel.plot([both], [y], "o", ms=11, mfc="white", mec=INK, mew=0.9, zorder=5)
        panel.text(both, y, str(number), ha="center", va="center_baseline", fontsize=8, color=INK, zorder=6)
        lines.append(f"{number}  {cheaper} below {dearer}: n ≥ {both} ({mul}, {add or 'never'})")
        if (cheaper, dearer) == ("articulated", "composite"):
            lines[-1] += f"; print of 1987: {printed_first('multiplications')}, by mul"
    panel.text(
        0.0, -0.125, "\n".join(lines), transform=panel.transAxes, va="top", fontsize=8, color=INK, linespacing=1.45
    )


if __name__ == "__main__":
    write_counts() if "--counts" in sys.argv else figures.main(__file__, measured, ())
