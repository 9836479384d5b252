"""What the texts claim of costs, each with what it comes to here, and whether it holds.

Source: silver1981, sections 1.2 and 1.4; featherstone1987, sections 4.2, 5.2, 8.2.1, 8.3.3, 8.3.4, 8.4.1, 8.4.2 and
8.4.3; turney1981, section 8; nasser1990, chapter 1. Counts are of general arms. As written is what the texts' authors
had; traced is what is left when a program shares what is equal and multiplies by no zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from hinge.backends.count import Cost, count
from hinge.counting.approximation import approximate
from hinge.counting.measure import arm, cost, like, polynomial
from hinge.counting.polynomials import Polynomial
from hinge.counting.published import SIX, published, written
from hinge.counting.sheets import Sheet
from hinge.counting.units import Symbols, better, figures, units, whole_matrices
from hinge.dynamics.located import located
from hinge.dynamics.place import At
from hinge.dynamics.registry import ALGORITHMS
from hinge.dynamics.solve import LDL
from hinge.formulations.absolute import composite_base, newton_euler_base
from hinge.formulations.strobe import still
from hinge.graph import Graph, Input, order
from hinge.model import Builder
from hinge.robot import Robot
from hinge.robot.loading import samples

LENGTHS = range(2, 21)
MEASURED = 12  # joints up to which costs are measured; beyond, they are those of the polynomials
MUL, ADD, BOTH, WEIGHED = "multiplications", "additions", "both", "4 mul + add"
MEASURES: dict[str, Callable[[Cost], int]] = {
    MUL: lambda one: one.mul,
    ADD: lambda one: one.add,
    BOTH: lambda one: one.mul + one.add,
    WEIGHED: lambda one: 4 * one.mul + one.add,
}
BASE = "in base coordinates"  # forward dynamics by composite bodies, which is nobody's method
PAIRS = (
    ("forward_dynamics", "articulated", "composite"),
    ("forward_dynamics", "articulated", "composite_turney"),
    ("forward_dynamics", "nasser", "strobe"),
    ("forward_dynamics", "nasser", "composite"),
    ("forward_dynamics", "nasser", "composite_turney"),
    ("forward_dynamics", "nasser", "conjugate_gradient"),
    ("mass_matrix", "composite_base", "composite"),
    ("mass_matrix", "composite_base", "jacobians"),
    ("mass_matrix", "strobe_symmetric", "jacobians"),
    ("inverse_dynamics", "hollerbach", "euler_lagrange"),
    ("inverse_dynamics", "luh", "euler_lagrange"),
    ("inverse_dynamics", "turney", "euler_lagrange"),
    ("inverse_dynamics", "gibbs_appell", "uicker_kahn"),
)


# ---- who is cheaper, and from when on


def forward_in_base(model: Any, q: Any, qd: Any, tau: Any, external: Any, base_motion: Any) -> Any:
    """Forward dynamics by composite bodies all in base coordinates; axes and inertias are transformed once for both."""
    C = model.generalised_forces(newton_euler_base(model, q, qd, still(model), external, base_motion))
    H = LDL(composite_base(model, q), model.joint_label())
    return H.solve([t - c for t, c in zip(model.generalised_forces(tau), C, strict=True)]), H.pivots


@cache
def of(name: str, method: str, n: int) -> Cost:
    """What a method costs on a general arm of n joints."""
    if method == BASE:
        made = like("forward_dynamics", "composite", function=forward_in_base)
        return count(made.trace(arm(n).target.traced, contract=False))
    if n <= MEASURED:
        return cost(name, method, n)
    mul, add = (polynomial(name, method, part) for part in ("mul", "add"))
    assert mul is not None, f"the multiplications of {method} are no polynomial"
    assert add is not None, f"the additions of {method} are no polynomial"
    return Cost(mul=int(mul(n)), add=int(add(n)))


def forward(method: str, n: int, measure: str) -> int:
    return MEASURES[measure](of("forward_dynamics", method, n))


def first(name: str, cheaper: str, dearer: str, measure: str) -> int | None:
    """The least number of joints from which on a method costs less than another; None where it never does."""
    size, found = MEASURES[measure], None
    for n in reversed(LENGTHS):
        if size(of(name, cheaper, n)) >= size(of(name, dearer, n)):
            return found
        found = n
    return found


def printed_first(measure: str) -> int:
    """The least number of joints for which articulated bodies cost less, as featherstone1987, Table 8-6 prints it."""
    table = [one for one in published()["count"] if one.get("at") == "Table 8-6" and one["call"] == "forward_dynamics"]
    rows = {one["method"]: one for one in table}
    printed = {m: [Polynomial.read(rows[m][part]) for part in ("mul", "add")] for m in ("articulated", "composite")}
    sizes = {n: [MEASURES[measure](Cost(mul=int(a(n)), add=int(b(n)))) for a, b in printed.values()] for n in LENGTHS}
    return next(n for n in LENGTHS if sizes[n][0] < sizes[n][1])


def crossings() -> Sheet:
    """From how many joints on one method costs less than another, by each measure."""
    rows = []
    for name, cheaper, dearer in PAIRS:
        found = [first(name, cheaper, dearer, measure) for measure in MEASURES]
        rows.append((cheaper, dearer, *("never" if n is None else str(n) for n in found)))
    note = f"Looked for between {LENGTHS[0]} and {LENGTHS[-1]} joints."
    title = "From how many joints on the first costs less than the second"
    return Sheet(title, ("the first", "the second", *MEASURES), tuple(rows), (note,), 2)


# ---- the claims


class Claim(NamedTuple):
    """What is claimed, where, what it comes to here, and whether that is so."""

    says: str
    at: str
    here: str
    holds: str


CLAIMS: list[Callable[[], Claim]] = []


def claim(says: str, at: str) -> Callable[[Callable[[], tuple[str, str]]], Callable[[], Claim]]:
    """Keep a function that finds what a claim comes to."""

    def keep(check: Callable[[], tuple[str, str]]) -> Callable[[], Claim]:
        def made() -> Claim:
            return Claim(says, at, *check())

        CLAIMS.append(made)
        return made

    return keep


def claimed() -> Sheet:
    columns = ("what is claimed", "where", "what it comes to here", "does it hold")
    return Sheet("What the texts claim", columns, tuple(check() for check in CLAIMS), words=4)


def operations(method: str) -> tuple[int, int]:
    """Operations of inverse dynamics with six joints: as written, and traced."""
    plain = written("inverse_dynamics", method)
    assert plain is not None
    return MEASURES[BOTH](plain), MEASURES[BOTH](cost("inverse_dynamics", method, SIX))


def times(dearer: str, cheaper: str) -> tuple[float, float]:
    """How many times as many operations the first has: as written, and traced."""
    a, b = operations(dearer), operations(cheaper)
    return a[0] / b[0], a[1] / b[1]


def _compared(dearer: str, cheaper: str) -> str:
    return "{:.1f} as written, {:.1f} traced".format(*times(dearer, cheaper))


@claim("the direct form takes well over 100,000 operations at n = 6", "silver1981 1.2")
def direct() -> tuple[str, str]:
    return "{:,} as written, {:,} traced".format(*operations("uicker_kahn_direct")), "yes, as written"


@claim("the 4×4 recursion is about 15 times better", "silver1981 1.4")
def recursion() -> tuple[str, str]:
    return _compared("uicker_kahn_direct", "hollerbach_4x4"), "even better, as written"


@claim("and takes about 5 times the operations of Luh", "silver1981 1.4")
def recursion_and_luh() -> tuple[str, str]:
    return _compared("hollerbach_4x4", "luh"), "nearly, as written"


@claim("3×3 matrices save a further factor of 2", "silver1981 1.4")
def smaller_matrices() -> tuple[str, str]:
    return _compared("hollerbach_4x4", "hollerbach"), "nearly, as written; traced, nothing"


@claim("which leaves a factor of 2½ to Luh", "silver1981 1.4")
def smaller_matrices_and_luh() -> tuple[str, str]:
    return _compared("hollerbach", "luh"), "yes, as written"


@claim("Newton-Euler is about 100 times faster than Uicker and Kahn", "featherstone1987 4.2")
def newton_euler_and_lagrange() -> tuple[str, str]:
    return _compared("uicker_kahn_direct", "luh"), "nearly, as written"


def dearest(inverse: str, measure: str) -> float:
    """The most that the cheaper way to forward dynamics costs in units of inverse dynamics."""
    best = {n: min(forward(m, n, measure) for m in ("articulated", "composite")) for n in LENGTHS}
    return max(best[n] / MEASURES[measure](of("inverse_dynamics", inverse, n)) for n in LENGTHS)


@claim("forward takes up to 2.3 times inverse dynamics", "featherstone1987 8.4.2")
def forward_and_inverse() -> tuple[str, str]:
    parts = [f"{dearest(method, m):.2f} ({method}, {m})" for method in ("newton_euler", "turney") for m in (MUL, ADD)]
    return ", ".join(parts), "yes; a little more by turney's additions"


@claim("articulated bodies beat composite bodies for n > 9", "featherstone1987 8.4.2")
def articulated_and_composite() -> tuple[str, str]:
    here = [f"{first('forward_dynamics', 'articulated', 'composite', m)} ({m})" for m in MEASURES]
    there = [f"{printed_first(m)} ({m})" for m in MEASURES]
    says = f"from n = {', '.join(here)}; by the text's own counts from {', '.join(there)}"
    return says, "by the text's multiplications only; ours cross sooner"


def share_saved(measure: str) -> float:
    return 1.0 - forward("articulated", SIX, measure) / forward("articulated_base", SIX, measure)


@claim("link coordinates save articulated bodies about 10 %", "featherstone1987 8.4.1")
def link_coordinates() -> tuple[str, str]:
    return ", ".join(f"{share_saved(m):.0%} of {m}" for m in (MUL, ADD)), "no: a third"


@claim("composite bodies in base coordinates are cheaper for n > 16", "featherstone1987 8.4.1")
def base_coordinates() -> tuple[str, str]:
    return f"from n = {first('mass_matrix', 'composite_base', 'composite', MUL)} (multiplications)", "nearly"


@claim("but forward dynamics with them never beats articulated bodies", "featherstone1987 8.4.1")
def base_and_articulated() -> tuple[str, str]:
    least = min(forward(BASE, n, m) / forward("articulated", n, m) for n in LENGTHS for m in (MUL, ADD))
    return f"at least {least:.2f} times as many, n = {LENGTHS[0]} … {LENGTHS[-1]}", "yes"


def time_at_six() -> float:
    return cost("inverse_dynamics", "newton_euler", SIX).time(mul=10e-6, add=2e-6, trig=200e-6, overhead=1e-6)


@claim("Newton-Euler takes less than 12 ms at n = 6, on a machine of its day", "featherstone1987 8.4.2")
def in_milliseconds() -> tuple[str, str]:
    return f"{1e3 * time_at_six():.1f} ms", "yes"


@claim("special arms and approximations save a factor of 2 or more", "featherstone1987 8.4.3")
def special_arms() -> tuple[str, str]:
    puma, general = samples.puma560(), operations("turney")[1]
    cheaper, near = approximate(puma, within=0.05)
    exact, about = (general / MEASURES[BOTH](robot.cost("inverse_dynamics")) for robot in (puma, cheaper))
    return f"Puma 560: {exact:.1f} exactly, {about:.1f} with errors up to {near.error:.1%}", "yes, both together"


@claim("Lagrange is cheaper when all coefficients C are wanted", "turney1981, section 8")
def all_coefficients() -> tuple[str, str]:
    sizes = [MEASURES[BOTH](of("coriolis_coefficients", m, SIX)) for m in ("differentiation", "strobe")]
    return "{:,} by differentiation, {:,} by strobing".format(*sizes), "yes"


@claim("the sweep is cheaper than Walker and Orin's methods", "nasser1990, section 1")
def sweep() -> tuple[str, str]:
    orin = {"strobe": "1 and 2", "composite": "3", "conjugate_gradient": "4"}
    parts = [f"{number}: from n = {first('forward_dynamics', 'nasser', m, MUL)} ({MUL}), "
             f"{first('forward_dynamics', 'nasser', m, ADD)} ({ADD})" for m, number in orin.items()]  # fmt: skip
    return "; ".join(parts), "for long arms"


# ---- single operations


def factor_saved(operation: str, before: str, after: str, times: int = 1) -> float:
    """By how much one way to move a quantity is better than another, a multiplication worth four additions."""
    ways = {"matrices": whole_matrices(), "general": units(Symbols.rigid), "screw": units(Symbols.screw)}
    return better(figures(ways[before][operation].ours), figures(ways[after][operation].ours), times)


@claim("two screws cost 80 % or less of a general transform", "featherstone1987 8.2.1")
def two_screws() -> tuple[str, str]:
    shares = {one: 1.0 / factor_saved(one, "general", "screw", 2) for one in ("vector", "articulated", "rigid")}
    return ", ".join(f"{share:.0%} ({one})" for one, share in shares.items()), "nearly for vectors, yes for inertias"


@claim("symmetry saves about 20 % when inertias are moved", "featherstone1987 8.3.3")
def symmetry() -> tuple[str, str]:
    parts = [f"{1.0 - 1.0 / factor_saved(one, 'matrices', 'general'):.0%} ({one})" for one in whole_matrices()]
    return ", ".join(parts), "yes"


@claim("a screw moves a vector at less than half the cost of a general transform", "featherstone1987 8.3.4")
def one_screw() -> tuple[str, str]:
    return f"{1.0 / factor_saved('vector', 'general', 'screw'):.0%}", "yes"


@claim("and a rigid inertia with 19 multiplications and 18 additions", "featherstone1987 8.3.4")
def rigid_through_a_screw() -> tuple[str, str]:
    done = figures(units(Symbols.screw)["rigid"].ours)
    return f"{done.mul} multiplications and {done.add} additions", "even better"


# ---- which coordinates, bases and loops


@claim("Newton-Euler is substantially cheaper in link coordinates", "featherstone1987 8.4.1")
def newton_euler_in_links() -> tuple[str, str]:
    sizes = [of("inverse_dynamics", m, SIX) for m in ("newton_euler", "newton_euler_base")]
    parts = [f"{1.0 - MEASURES[m](sizes[0]) / MEASURES[m](sizes[1]):.0%} of {m}" for m in (MUL, ADD)]
    return f"saves {', '.join(parts)}", "yes"


def pushed_in_base(n: int, measure: str) -> tuple[int, int]:
    """Articulated bodies with a force on every link that is given in base coordinates: in link and in base ones."""
    robot = arm(n)
    names = At(robot.body_names, "base")
    made = located(ALGORITHMS["forward_dynamics"]["articulated"], {"external": names})
    links = count(made.trace(robot.target.traced, frozenset({"external"}), contract=False))
    base = of("forward_dynamics", "articulated_base", n)
    return MEASURES[measure](links), MEASURES[measure](Cost(mul=base.mul, add=base.add + 6 * n))


@claim("forces on the links, given in base coordinates, can make link coordinates dearer", "featherstone1987 8.4.1")
def forces_on_links() -> tuple[str, str]:
    here = {m: pushed_in_base(SIX, m) for m in (MUL, ADD)}
    return ", ".join(f"{a:,} against {b:,} {m}" for m, (a, b) in here.items()), "no: they stay cheaper"


@cache
def adrift(n: int) -> Robot:
    """A general arm of n joints on a body that floats."""
    builder = Builder("craft")
    builder.link("craft", mass=5.0, com=(0.1, 0.2, 0.3), inertia=((2.0, 0.1, 0.2), (0.1, 3.0, 0.3), (0.2, 0.3, 4.0)))
    return Robot(builder.build(base="floating")).attach(arm(n), at="craft", prefix="arm_")


def articulated_share(robot: Robot) -> float:
    """What articulated bodies cost in units of composite ones."""
    sizes = [MEASURES[BOTH](robot.cost("forward_dynamics", method=m)) for m in ("articulated", "composite")]
    return sizes[0] / sizes[1]


@claim("a floating base favours articulated bodies", "featherstone1987 8.4.2")
def floating() -> tuple[str, str]:
    fixed, free = articulated_share(arm(SIX)), articulated_share(adrift(SIX))
    return f"{fixed:.2f} of composite bodies on a fixed base, {free:.2f} on a floating one", "yes"


@claim("kinematic loops are to their detriment", "featherstone1987 8.4.2")
def with_loops() -> tuple[str, str]:
    parts = []
    for robot in (samples.four_bar(), samples.five_bar()):
        sizes = [MEASURES[BOTH](robot.cost("loop_dynamics", method=m)) for m in ("articulated", "mass_matrix")]
        parts.append(f"{robot.name}: {sizes[0] / sizes[1]:.1f} times the mass matrix")
    return ", ".join(parts), "yes"


# ---- the mass matrix by inverse dynamics


def solving(n: int) -> Cost:
    """What it takes to solve n symmetric equations."""
    graph = Graph()
    H = [[graph.input("H", n * max(i, j) + min(i, j)) for j in range(n)] for i in range(n)]
    made = LDL(H, str).solve([graph.input("b", k) for k in range(n)])
    return count(order([Input("H", n * n), Input("b", n)], [("x", (n,), made)], False))


@claim("the mass matrix by inverse dynamics is cheaper without what cancels", "featherstone1987 5.2")
def without_what_cancels() -> tuple[str, str]:
    differences = SIX * MEASURES[BOTH](of("inverse_dynamics", "newton_euler", SIX))
    return f"{MEASURES[BOTH](of('mass_matrix', 'strobe', SIX)):,} against {differences:,} by differences", "yes"


@claim("solving the equations counts for little at n = 6, or even 12", "featherstone1987 5.2")
def solving_is_little() -> tuple[str, str]:
    shares = {n: MEASURES[BOTH](solving(n)) / forward("composite", n, BOTH) for n in (SIX, 12)}
    return ", ".join(f"{share:.0%} at n = {n}" for n, share in shares.items()), "at 6; at 12 it is a sixth"


@claim("for small n most goes into H by inverse dynamics, or into C beside composite bodies", "featherstone1987 5.2")
def most_of_it() -> tuple[str, str]:
    C = MEASURES[BOTH](of("bias_force", "newton_euler", SIX))
    sizes = {m: MEASURES[BOTH](of("mass_matrix", m, SIX)) for m in ("strobe", "composite")}
    return ", ".join(f"H {size:,} by {m}" for m, size in sizes.items()) + f", C {C:,}", "yes"


@claim("conjugate gradients are dearer than composite bodies but for very large n", "featherstone1987 5.2")
def conjugate_gradients() -> tuple[str, str]:
    parts = {n: forward("conjugate_gradient", n, BOTH) / forward("composite", n, BOTH) for n in (SIX, 12)}
    return ", ".join(f"{times:.1f} times at n = {n}" for n, times in parts.items()), "yes"
