"""An algorithm on every row of a log, a chunk at a time.

Which algorithms there are is the registry's to say: those that take q, qd, qdd, tau and a frame, and nothing else.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from hinge import files
from hinge.dynamics.registry import ALGORITHMS, PLACE, Algorithm, choose, default
from hinge.errors import LogError, NotCovered, did_you_mean
from hinge.logs.columns import CARRIED, FIELDS, matched, result_columns, result_names
from hinge.logs.sinks import Sink
from hinge.logs.tables import Array, chunks_of, open_log
from hinge.robot import Robot

MEMORY = 2 << 20  # bytes of the inputs and results of a chunk
MOST = 65536  # rows of a chunk


def runnable() -> list[str]:
    """The algorithms that a log has all inputs of.

    >>> "inverse_dynamics" in hinge.logs.runnable(), "integrate" in hinge.logs.runnable()
    (True, False)
    """
    return [name for name in ALGORITHMS if _fields(default(name)) is not None]


def _fields(algorithm: Algorithm) -> list[str] | None:
    """The inputs it takes from a log; None where a log has not all of them."""
    needed = {name: q for name, q in algorithm.inputs.items() if q.absent is None and q is not PLACE}
    frames = [q for q in algorithm.inputs.values() if q is PLACE]
    return list(needed) if set(needed) <= set(FIELDS) and len(frames) < 2 else None


def run(robot: Robot, name: str, source: str | os.PathLike[str], target: str | os.PathLike[str], at: str = "",
        method: str | None = None, joint_terms: Sequence[str] = ("armature",), backend: str | None = None,
        chunk: int | None = None, progress: Callable[[float, int], None] | None = None) -> int:  # fmt: skip
    """Compute `name` for every row of the log `source` and write the log `target`; gives the number of rows.

    What is about a frame takes `at`, its name. `progress` is called with the share that is done and the rows so far.
    What was computed before a fault, or before Ctrl-C, is in the target and can be read; where a log was there already
    that stays, and what was computed is beside it, where the error says.

    >>> import os, tempfile
    >>> folder, arm = tempfile.mkdtemp(), hinge.samples.planar_2r()
    >>> np.savez(os.path.join(folder, "log.npz"), q=np.zeros((3, 2)))
    >>> hinge.logs.run(arm, "gravity_force", os.path.join(folder, "log.npz"), os.path.join(folder, "out.npz"))
    3
    """
    if chunk is not None and chunk < 1:
        raise LogError(f"chunk={chunk} is no number of rows.", "Give 1 or more, or none.")
    algorithm, fields = _asked(robot, name, method, at)
    if files.same(source, target):
        raise LogError(f"{target} is the log that is read, and would be lost.", "Write to another file.")
    log = open_log(source)
    inside = matched(robot, fields, log)
    carried = [column for column in CARRIED if column in log.columns and column not in log.wide]
    called = result_names(algorithm)
    names: dict[str, list[str] | None] = dict.fromkeys(carried)
    names |= result_columns(robot, {called[key]: quantity for key, quantity in algorithm.returns.items()})
    wanted = list(dict.fromkeys([*carried, *itertools.chain(*inside.values())]))
    width = sum(log.wide.get(column, 1) for column in wanted) + sum(len(columns or [""]) for columns in names.values())
    rows = chunk or max(1, min(MEMORY // (8 * width), MOST, log.rows))
    call = partial(getattr(robot.target, name), method=method, backend=backend, joint_terms=tuple(joint_terms))
    frame = [at] if algorithm.asks_for_a_frame else []
    with Sink(target, names, rows) as sink:
        for table, share in chunks_of(log, wanted, rows):
            made = call(*(joined(table, inside[field]) for field in fields), *frame)
            results = zip(called.values(), made if isinstance(made, tuple) else (made,), strict=True)
            sink.add({column: table[column] for column in carried} | dict(results))
            if progress is not None:
                progress(share, sink.rows)
    return sink.rows


def _asked(robot: Robot, name: str, method: str | None, at: str) -> tuple[Algorithm, list[str]]:
    """The algorithm and the inputs it takes from a log; refused where it wants more, or a frame that was not named."""
    algorithm = choose(robot.model, name, method)
    fields = _fields(algorithm)
    if fields is None:
        lacks = ", ".join(one for one in algorithm.inputs if one not in FIELDS)
        hint = did_you_mean(name, runnable())
        raise NotCovered(f"{name} takes {lacks}, which a log has no columns for.\n  {hint}")
    if algorithm.asks_for_a_frame and not at:
        raise LogError(f"{name} is about a frame, and at= names none.", did_you_mean("", robot.model.frames))
    if at:
        robot.model.frame(at)
    return algorithm, fields


def joined(table: dict[str, Array], columns: Sequence[str]) -> Array:
    """Columns side by side, or the one array that has them all."""
    parts = [table[column] for column in columns]
    return parts[0] if parts[0].ndim == 2 else np.stack(parts, axis=-1)
