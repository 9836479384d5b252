"""A controller that plans again and again, as C: the programs of a plan, and the few lines that call them in turn."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from string import Template

from hinge.backends import c
from hinge.errors import one_of
from hinge.export.c_files import about, sizes
from hinge.graph import Program
from hinge.optimal.ddp import LEAST
from hinge.optimal.iteration import SAID, TOLD, Layout
from hinge.optimal.iteration import program as iteration
from hinge.optimal.plan import VERDICT, WEIGHT, WHEN, programs, widths
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
RECORDS = {"multiplied": "multipliers"} | {f"new_{name}": name for name in ("q", "qd", "u", "multipliers", "gains")}
ABOUT = (
    "An array holds one state, or a row for each stage of a plan. Nothing is allocated, and all that is kept between",
    "calls is in a plan. No array may overlap an output.",
)
CALLS = """
/* What is kept between calls; all zero before the first. */
typedef struct {
    int begun;
$fields
} $plan;

static void ${robot}_copy($real *to, const $real *from, int n)
{
    int k;
    for (k = 0; k < n; k++) to[k] = from[k];
}

/* Plan again from the state that is measured at time t, by at most so many iterations: 0 where a better plan was found,
 * else why the last one is kept. The first time, and where t is before the last one's, a plan is made from nothing:
 * give that a hundred. */
int ${robot}_mpc_plan($plan *plan, $real t, const $real *q, const $real *qd$given, int iterations)
{
    const int first = !plan->begun || t < plan->said[0];
    int n, good = 0, status = 0;
    plan->when[0] = t;
    if (first) {
        plan->said[1] = $least;
        plan->said[2] = $weight;
        $standing
    } else {
        $shifted
    }
    plan->begun = 1;
    plan->said[0] = t;
    for (n = 0; n < iterations; n++) {
        $ddp
        $judged
        if (plan->verdict[$at_taken] != 0) {
            $take_path
        }
        if (plan->verdict[$at_priced] != 0) {
            $take_multipliers
        }
        if (plan->verdict[$at_good] != 0) {
            $take_gains
            good = 1;
        }
        plan->said[1] = plan->verdict[$at_extra];
        status = good ? 0 : (int)plan->verdict[$at_status];
        if (plan->verdict[$at_done] != 0) break;
    }
    if (good || first) {
        $keep_path
        $keep_multipliers
        plan->when[1] = t;
    }
    if (good) {
        $keep_gains
    }
    return status;
}

/* The joint forces that the plan asks for at time t, in the state that is measured then. */
void ${robot}_mpc_force($plan *plan, $real t, const $real *q, const $real *qd$parameters, $real *tau)
{
    plan->when[0] = t;
    $answered
}
"""


def c_code(problem: Problem, layout: Layout, scalar: str) -> str:
    """The functions ROBOT_mpc_plan and ROBOT_mpc_force, with all they need, in one text."""
    one_of("scalar", scalar, c.REALS)
    real, target = c.REALS[scalar], problem.robot.target
    robot = c.identifier(target.name)
    made = {name: make() for name, make in programs(problem, layout).items()} | {"ddp": iteration(problem, layout)}
    routines = {name: _routine(f"{robot}_{name}", WORDS[name], one, problem) for name, one in made.items()}
    head = c.header(robot, about(target, ABOUT), sizes(target.model), list(routines.values()), real)
    given = [_called(one.name, problem) for one in layout.outside.inputs()]
    takes = [f", const {real.name} *{name}" for name in given]
    rows = _Rows(robot, problem, layout)
    text = Template(CALLS).substitute(
        {f"at_{name}": k for k, name in enumerate(VERDICT)} | rows.copies()
        | {name: rows.call(one, given) for name, one in routines.items()},
        robot=robot, plan=f"{robot}_plan", real=real.name, fields=rows.fields(real.name), given="".join(takes),
        parameters="".join(one for one, name in zip(takes, given, strict=True) if name == "parameters"),
        least=real.constant(LEAST), weight=real.constant(WEIGHT),
    )  # fmt: skip
    return "\n".join([head, c.code(list(routines.values()), real), text])


def _routine(name: str, words: str, program: Program, problem: Problem) -> c.Routine:
    """A program with the words of a header."""

    def array(of: str, size: int) -> c.Array:
        said = f"given: {of}" if of in problem.given else WORDS[of.removeprefix("new ")]
        return c.Array(_called(of, problem), size, said)

    taken = tuple(array(one.name, one.size) for one in program.inputs)
    gives = tuple(array(one.name, prod(one.shape)) for one in program.outputs)
    return c.Routine(name, program, taken, gives, words)


def _called(name: str, problem: Problem) -> str:
    """The name of an array in C; what a problem is given has names that nothing else has."""
    return f"given_{name}" if name in problem.given else c.identifier(name)


class _Rows:
    """Arrays of a plan in C: `q` and the like are kept, `now_q` is on the way to a better one, `new_q` may be it."""

    def __init__(self, robot: str, problem: Problem, layout: Layout):
        self.robot, self.stages = robot, problem.horizon + 1
        self.widths = widths(problem, layout) | {"gains": problem.nu * 2 * problem.robot.nv}
        self.rows = {name: self.stages - (name in ("u", "gains")) for name in self.widths}

    def fields(self, real: str) -> str:
        own = {"when": len(WHEN), "said": len(SAID), "told": len(TOLD), "verdict": len(VERDICT)}
        sides = {f"{side}{name}": self.size(name) for name in self.widths for side in ("", "now_", "new_")}
        return "\n".join(f"    {real} {name}[{n}];" for name, n in (own | sides).items())

    def size(self, name: str) -> int:
        return self.rows[name] * self.widths[name]

    def copies(self) -> dict[str, str]:
        """The statements that take what is new for now, and keep what is now."""
        parts = {"path": ("q", "qd", "u"), "multipliers": ("multipliers",), "gains": ("gains",)}
        sides = {"take": ("now_", "new_", " " * 12), "keep": ("", "now_", " " * 8)}
        return {
            f"{verb}_{part}": f"\n{margin}".join(
                f"{self.robot}_copy(plan->{to}{name}, plan->{source}{name}, {self.size(name)});"
                for name in names
                if name in self.widths
            )
            for part, names in parts.items()
            for verb, (to, source, margin) in sides.items()
        }

    def call(self, one: c.Routine, given: Sequence[str]) -> str:
        """A call of a program: an iteration goes from what is now to what is new, others from what is kept to now."""
        before, after = ("now_", "new_") if one.name.endswith("_ddp") else ("", "now_")
        outer, parts = {"measured_q": "q", "measured_qd": "qd", "tau": "tau"} | {n: n for n in given}, list[str]()
        for k, array in enumerate((*one.inputs, *one.outputs)):
            name = RECORDS.get(array.name, array.name)
            side = after if k >= len(one.inputs) else before
            parts.append(f"plan->{side}{name}" if name in self.widths else outer.get(name, f"plan->{name}"))
            parts += [str(self.rows.get(name, self.stages))] * (k in one.program.streams)
        return f"{one.name}({', '.join(parts)});"
