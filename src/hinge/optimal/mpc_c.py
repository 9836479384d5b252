"""A controller that plans again and again, as C: the programs of a plan, and the few lines that call them in turn."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from hinge.backends import c
from hinge.backends.statements import braced
from hinge.errors import one_of
from hinge.export.c_files import about, sizes
from hinge.graph import Program
from hinge.optimal.ddp import LEAST, WEIGHT
from hinge.optimal.iteration import SAID, TOLD, Layout
from hinge.optimal.iteration import program as iteration
from hinge.optimal.plan import VERDICT, WHEN, programs, widths
from hinge.optimal.problem import Problem

WORDS = {
    "standing": "A plan from nothing: the robot stands where it is.",
    "shifted": "A plan moved on to the time and the state that are measured.",
    "ddp": "An iteration of differential dynamic programming.",
    "judged": "What an iteration was worth.",
    "answered": "The joint forces that a plan asks for, in the state that is measured.",
    "when": ", ".join(WHEN),
    "said": ", ".join(SAID),
    "told": ", ".join(TOLD),
    "verdict": ", ".join(VERDICT),
    "measured q": "coordinates (m, rad)",
    "measured qd": "velocities (m/s, rad/s)",
    "q": "coordinates (m, rad), a row a stage",
    "qd": "velocities (m/s, rad/s), a row a stage",
    "u": "forces of the driven joints (N, N m), a row a stage",
    "gains": "how these answer to displacements of the state, a row a stage",
    "multipliers": "of constraints, a row a stage",
    "multiplied": "new multipliers",
    "parameters": "numbers of the robot",
    "tau": "joint forces (N, N m)",
}
ABOUT = (
    "An array holds one state, or a row for each stage of a plan. Nothing is allocated; all that is kept between calls is in",
    "a plan. No array may overlap an output.",
)


def c_code(problem: Problem, layout: Layout, scalar: str) -> str:
    """The functions ROBOT_mpc_plan and ROBOT_mpc_force, with all they need, in one text."""
    one_of("scalar", scalar, c.REALS)
    real, target = c.REALS[scalar], problem.robot.target
    prefix = c.identifier(target.name)
    made = {name: make() for name, make in programs(problem, layout).items()} | {"ddp": iteration(problem, layout)}
    routines = {name: _routine(prefix, name, one, problem) for name, one in made.items()}
    head = c.header(prefix, about(target, ABOUT), sizes(target.model), list(routines.values()), real)
    return "\n".join(
        [head, c.code(list(routines.values()), real), *_calls(prefix, real.name, problem, layout, routines)]
    )


def _routine(prefix: str, name: str, program: Program, problem: Problem) -> c.Routine:
    """A program with the words of a header; what a problem is given has names that nothing else has."""

    def array(of: str, size: int) -> c.Array:
        words = f"given: {of!r}" if of in problem.given else WORDS[of.removeprefix("new ")]
        return c.Array(_called(of, problem), size, words)

    taken = tuple(array(one.name, one.size) for one in program.inputs)
    gives = tuple(array(one.name, prod(one.shape)) for one in program.outputs)
    return c.Routine(f"{prefix}_{name}", program, taken, gives, WORDS[name])


def _called(name: str, problem: Problem) -> str:
    return f"given_{name}" if name in problem.given else c.identifier(name)


def _calls(prefix: str, real: str, problem: Problem, layout: Layout, routines: Mapping[str, c.Routine]) -> list[str]:
    """What is kept between calls, a function that plans again, and one that asks the plan for forces."""
    N, rows = problem.horizon, widths(problem, layout) | {"gains": problem.nu * 2 * problem.robot.nv}
    length = {name: (N + (name not in ("u", "gains"))) * width for name, width in rows.items()}
    fields = [f"    {real} {', '.join(f'{side}{name}[{n}]' for side in ('', 'now_', 'new_'))};" for name, n in length.items()]
    own = {"when": len(WHEN), "said": len(SAID), "told": len(TOLD), "verdict": len(VERDICT)}
    struct = ["typedef struct {", "    int begun;", *(f"    {real} {name}[{n}];" for name, n in own.items()), *fields,
              f"}} {prefix}_plan;", ""]  # fmt: skip
    outside = [a for a in layout.outside.inputs() if a.name in problem.given or a.name == "parameters"]
    given = [_called(one.name, problem) for one in outside]

    def call(name: str, side: str) -> str:
        """A call of a program on rows of the plan: those it takes are of that side, those it gives of the next."""
        one, parts = routines[name], []
        for k, array in enumerate((*one.inputs, *one.outputs)):
            gives = k >= len(one.inputs)
            at = array.name.removeprefix("new_") if array.name != "multiplied" else "multipliers"
            if at in length:
                where = {"": "now_", "now_": "new_"}[side] if gives else side
                parts.append(f"plan->{where}{at}")
            else:
                parts.append({"measured_q": "q", "measured_qd": "qd", "tau": "tau"}.get(at, at if at in given else f"plan->{at}"))
            if k in one.program.streams:
                width = max(1, array.size)
                parts.append(str(length[at] // width if at in length else N + 1))
        return f"{one.name}({', '.join(parts)});"

    def copied(to: str, source: str, names: list[str]) -> list[str]:
        return [f"    for (k = 0; k < {length[n]}; k++) plan->{to}{n}[k] = plan->{source}{n}[k];" for n in names]

    at = {name: f"plan->verdict[{k}] != 0" for k, name in enumerate(VERDICT)}
    path = [name for name in rows if name not in ("gains", "multipliers")]
    extra, said = VERDICT.index("extra"), SAID.index("extra")
    taken = f"{prefix}_plan *plan, {real} t, const {real} *q, const {real} *qd"
    more = "".join(f", const {real} *{name}" for name in given)
    numbers = ", const {real} *parameters".format(real=real) if "parameters" in given else ""
    plan = braced(f"int {prefix}_mpc_plan({taken}{more}, int iterations)", [
        "const int first = !plan->begun || t < plan->said[0];",
        "int k, n, good = 0, status = 0;",
        "plan->when[0] = t;",
        "if (first) {",
        f"    plan->said[1] = {LEAST!r};",
        f"    plan->said[2] = {WEIGHT!r};",
        f"    {call('standing', '')}",
        "} else {",
        f"    {call('shifted', '')}",
        "}",
        "plan->begun = 1;",
        "plan->said[0] = t;",
        "for (n = 0; n < iterations; n++) {",
        f"    {call('ddp', 'now_')}",
        f"    {call('judged', '')}",
        f"    if ({at['taken']}) {{", *("    " + line for line in copied("now_", "new_", path)), "    }",
        *([f"    if ({at['priced']}) {{", *("    " + line for line in copied("now_", "new_", ["multipliers"])), "    }"]
          if "multipliers" in rows else []),
        f"    if ({at['good']}) {{", *("    " + line for line in copied("now_", "new_", ["gains"])), "        good = 1;", "    }",
        f"    plan->said[{said}] = plan->verdict[{extra}];",
        f"    status = good ? 0 : (int)plan->verdict[{VERDICT.index('status')}];",
        f"    if ({at['done']}) break;",
        "}",
        "if (good || first) {", *copied("", "now_", [n for n in rows if n != "gains"]), "    plan->when[1] = t;", "}",
        "if (good) {", *copied("", "now_", ["gains"]), "}",
        "return status;",
    ])  # fmt: skip
    force = braced(f"void {prefix}_mpc_force({taken}{numbers}, {real} *tau)", [
        "plan->when[0] = t;",
        call("answered", ""),
    ])  # fmt: skip
    return ["/* What is kept between calls; all zero before the first. */", *struct,
            "/* Plan again from the state that is measured at time t, by at most so many iterations. The first time, and where t\n"
            " * is before the last one's, from nothing: give it a hundred. 0 where a better plan was found, else why not. */",
            plan, "/* The joint forces that the plan asks for at time t, in the state that is measured then. */", force]  # fmt: skip
