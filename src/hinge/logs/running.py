"""An algorithm on every row of a log, a chunk at a time.

Which algorithms there are is the registry's to say: those that take q, qd, qdd, tau and a frame, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, choose
from hinge.errors import LogError, NotCovered, did_you_mean
from hinge.logs.columns import CARRIED, FIELDS, entries, matched, result_columns, result_names
from hinge.logs.sinks import Sink
from hinge.logs.tables import Array, open_log
from hinge.robot import Robot

MEMORY = 2 << 20  # bytes of the inputs and results of a chunk
MOST = 65536  # rows of a chunk


def runnable() -> list[str]:
    """The algorithms that a log has all inputs of.

    >>> "inverse_dynamics" in hinge.logs.runnable(), "integrate" in hinge.logs.runnable()
    (True, False)
    """
    return [name for name, methods in ALGORITHMS.items() if _fields(next(iter(methods.values()))) is not None]


def _fields(algorithm: Algorithm) -> list[str] | None:
    """The inputs it takes from a log; None where a log has not all of them."""
    needed = {name: q for name, q in algorithm.inputs.items() if q.absent is None and q is not PLACE}
    return list(needed) if set(needed) <= set(FIELDS) else None


def run(robot: Robot, name: str, source: str | os.PathLike[str], target: str | os.PathLike[str], at: str = "",
        method: str | None = None, joint_terms: Sequence[str] = ("armature",), backend: str | None = None,
        chunk: int | None = None, progress: Callable[[float, int], None] | None = None) -> int:  # fmt: skip
    """Compute `name` for every row of the log `source` and write the log `target`; gives the number of rows.

    What is about a frame takes `at`, its name. `progress` is called with the share that is done and the rows so far.
    What was computed before a fault, or before Ctrl-C, is in the target, and it can be read.

    >>> import os, tempfile
    >>> folder, arm = tempfile.mkdtemp(), hinge.samples.planar_2r()
    >>> np.savez(os.path.join(folder, "log.npz"), q=np.zeros((3, 2)))
    >>> hinge.logs.run(arm, "gravity_force", os.path.join(folder, "log.npz"), os.path.join(folder, "out.npz"))
    3
    """
    algorithm = choose(robot.model, name, method)
    fields = _fields(algorithm)
    if fields is None:
        lacks = [one for one in algorithm.inputs if one not in FIELDS]
        raise NotCovered(
            f"{name} takes {', '.join(lacks)}, which a log has no columns for.\n  {did_you_mean(name, runnable())}"
        )
    if algorithm.asks_for_a_frame and not at:
        raise LogError(f"{name} is about a frame, and none was named.", did_you_mean("", robot.model.frames))
    if at:
        robot.model.frame(at)
    log = open_log(source)
    whole = [field for field in fields if log.wide.get(field) == len(entries(robot, field))]
    inside = matched(robot, [field for field in fields if field not in whole], log.columns, log.path)
    carried = [column for column in CARRIED if column in log.columns and column not in log.wide]
    called = result_names(algorithm)
    results = result_columns(robot, {called[key]: quantity for key, quantity in algorithm.returns.items()})
    wanted = list(dict.fromkeys([*carried, *whole, *(column for one in inside.values() for column in one)]))
    width = len(wanted) + sum(log.wide.values()) + sum(map(len, results.values()))
    rows = chunk or max(1, min(MEMORY // (8 * width), MOST, log.rows))
    options: dict[str, Any] = {"method": method, "backend": backend, "joint_terms": tuple(joint_terms)}
    arguments = [at] if algorithm.asks_for_a_frame else []

    def results_of(table: dict[str, Array]) -> dict[str, Array]:
        given = [table[f] if f in whole else np.stack([table[c] for c in inside[f]], axis=-1) for f in fields]
        made = getattr(robot, name)(*given, *arguments, **options)
        return dict(zip(called.values(), made if isinstance(made, tuple) else (made,), strict=True))

    with Sink(target, dict.fromkeys(carried, None) | results, rows) as sink:  # type: ignore[operator]
        for table, share in log.chunks(wanted, rows):
            sink.add({column: table[column] for column in carried} | results_of(table))
            if progress is not None:
                progress(share, sink.rows)
    return sink.rows
