"""`sweep`: ask, answer what is missing, and say what came of it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hinge import arguments
from hinge.errors import SweepError
from hinge.files import unwritten
from hinge.sim.rollout_states import Rollout
from hinge.status import Status
from hinge.sweeps import workers as crew
from hinge.sweeps.asking import asked
from hinge.sweeps.progress import Progress
from hinge.sweeps.question import Question
from hinge.sweeps.zarr_store import Store, created, names, package
from hinge.typing import Statuses


class Failure(NamedTuple):
    """A rollout that failed: its number, how, and the numbers it was given, by name."""

    rollout: int
    status: Status
    given: dict[str, Any]


class Problem(NamedTuple):
    """Rollouts that are missing, from the first to the last, and why."""

    first: int
    last: int
    why: str


@dataclass(frozen=True)
class Sweep:
    """A sweep: what was asked, and where the answers are."""

    question: Question
    stored: Store = field(repr=False)
    problems: tuple[Problem, ...] = ()
    stopped: str = ""  # why it ended before its time

    @property
    def store(self) -> str:
        """The folder."""
        return str(self.stored.path)

    @property
    def rollouts(self) -> int:
        """How many rollouts there are."""
        return self.stored.total

    @property
    def done(self) -> int:
        """How many of them are in the store."""
        return self.rollouts - sum(len(self.stored.rollouts(chunk)) for chunk in self.stored.missing())

    @property
    def complete(self) -> bool:
        """Whether all of them are."""
        return not self.stored.missing()

    @property
    def hash(self) -> str | None:
        """The hash of all that is kept; None until it is complete."""
        return self.stored.hash()

    @property
    def failed(self) -> int:
        """How many rollouts have a status other than OK."""
        return int(sum(np.count_nonzero(status) for _, status in self._statuses()))

    def failures(self, most: int = 20) -> list[Failure]:
        """The first so many rollouts that failed, with the numbers they were given."""
        made: list[Failure] = []
        for first, status in self._statuses():
            rows = np.flatnonzero(status)[: most - len(made)]
            drawn = self.question.drawn(first + rows) if len(rows) else {}
            made += [
                Failure(int(first + row), Status(int(status[row])), {name: x[n].tolist() for name, x in drawn.items()})
                for n, row in enumerate(rows)
            ]
            if len(made) >= most:
                break
        return made

    def _statuses(self) -> Iterator[tuple[int, Statuses]]:
        """The statuses of each chunk that is there, and its first rollout."""
        for chunk in range(self.stored.chunks):
            if self.stored.has(chunk):
                yield int(self.stored.rollouts(chunk)[0]), self.stored.statuses(chunk)

    def open(self) -> Any:
        """The store as an `xarray.Dataset`, which reads what is used of it."""
        return package("xarray").open_zarr(self.store, consolidated=False)

    def again(self, k: int) -> Rollout:
        """Rollout number k once more, every step of it: q (steps + 1, nq), qd (steps + 1, nv), status ()."""
        return self.question.again(k)

    def verify(self) -> list[int]:
        """Read everything, and give the numbers of the chunks that are not what was written; they count as missing."""
        return self.stored.damaged()

    def __repr__(self) -> str:
        failed, shown = self.failed, self.failures(5)
        lines = [f"<Sweep of {self.question.robot.name!r}: {self.done} of {self.rollouts} rollouts in {self.store}>"]
        lines += [f"  {failed} failed:"] if failed else []
        for one in shown:
            given = ", ".join(f"{name} = {_numbers(x)}" for name, x in one.given.items())
            lines.append(f"    rollout {one.rollout} {one.status.name}, {given}")
        lines += ["    …"] if failed > len(shown) else []
        lines += [f"  rollouts {one.first} to {one.last} are missing: {one.why}" for one in self.problems[:5]]
        return "\n".join(lines)


def sweep(robot: Any, parameters: Mapping[str, Any] | None = None, initial: Mapping[str, Any] | None = None,
          control: Any = None, t: float = 1.0, *, store: str | os.PathLike[str], rollouts: int | None = None,
          seed: int = 0, step: float = 1e-3, method: str = "rk4", keep: Sequence[str] = ("final",), record: int = 1,
          inputs: Sequence[Any] = (), chunk: int | None = None, resume: bool = False, client: Any = None,
          workers: int = 0, progress: bool | None = None, **options: Any) -> Sweep:  # fmt: skip
    """Run any number of rollouts of t seconds that differ in their numbers, and keep what is wanted of them in a store.

    `parameters` are numbers of the robot by the names of `robot.vary`, `initial` has "q" and "qd" or "q_JOINT" and
    "qd_JOINT", `control` is joint forces or a function (t, q, qd, *inputs) that can be traced: each a number or an
    array for all, or a spread of `hinge.sweeps`: uniform, normal, latin, grid, table. There are `rollouts` at each
    point of the grids. `keep` has "final", "extremes" and "trajectory", every `record` steps. `store` is a Zarr folder,
    gone on with where `resume` is true. It runs in this process, on local `workers`, or on those of a Dask `client`.
    Other options are those of `hinge.rollout`.

    >>> import tempfile
    >>> arm = hinge.samples.planar_2r()
    >>> made = hinge.sweep(
    ...     arm,
    ...     parameters={"upper.mass": hinge.sweeps.uniform(0.5, 2.0)},
    ...     initial={"q_elbow": hinge.sweeps.grid([0.0, 0.5, 1.0])},
    ...     t=0.1,
    ...     rollouts=10,
    ...     store=tempfile.mkdtemp() + "/arm.zarr",
    ... )
    >>> made.rollouts, made.complete, made.failed
    (30, True, 0)
    """
    question = asked(
        robot, parameters, initial, control, t, rollouts, seed, step, method, keep, record, inputs, chunk, options
    )
    if client is not None and workers:
        raise SweepError("client= and workers= were both given.", "A client has workers of its own: leave workers out.")
    count = arguments.count("workers", workers, 0)
    there = _opened(Path(store), question, client is not None, resume)
    problems, stopped = _computed(there, question, client, count, progress)
    made = Sweep(question, there, problems, stopped)
    if made.complete:
        there.tidy()
    if stopped or problems:
        why = stopped or f"{len(problems)} chunks could not be computed, the first because: {problems[0].why}"
        hint = f"What was computed is in {there.path}; resume=True goes on from there."
        warnings.warn(f"the sweep is not complete: {why}\n  {hint}", stacklevel=2)
    return made


def _opened(place: Path, question: Question, elsewhere: bool, resume: bool) -> Store:
    """The store of a question, new or gone on with; workers `elsewhere` may have a GPU that this machine lacks."""
    tried = question.on_a_processor() if elsewhere else question
    asks = question.as_data() | {"program": tried.program_hash()}
    if os.path.lexists(place) and not _empty(place):
        there = Store(place)
        _refuse_another(there, asks, resume)
        lost = set(names(question)) - there.names
        if lost:
            raise SweepError(
                f"{place} has lost its array {sorted(lost)[0]!r}.",
                "Restore it from a copy, or sweep into another store.",
            )
        return there
    try:
        created(place, question, asks)
    except OSError as problem:
        raise SweepError(*unwritten(place, problem)) from problem
    return Store(place)


def _computed(
    there: Store, question: Question, client: Any, count: int, progress: bool | None
) -> tuple[tuple[Problem, ...], str]:
    """Compute what is missing. Gives the problems that there were, and why it stopped early, or nothing."""
    missing, problems, stopped = there.missing(), list[Problem](), ""
    with ExitStack() as stack, Progress(there.total, there.total - _count(there, missing), progress) as bar:
        if client is None and count and missing:
            client = stack.enter_context(crew.local(count))
        if client is None:
            outcomes = crew.here(question, there, missing)
        else:
            outcomes = crew.on_cluster(client, question, there, missing)
        try:
            for one in outcomes:
                k = there.rollouts(one.chunk)
                if not one.why:
                    bar.add(len(k), one.failed)
                    continue
                problems.append(Problem(int(k[0]), int(k[-1]), one.why))
                if one.ends:
                    stopped = one.why
                    break
        except KeyboardInterrupt:
            stopped = "interrupted"
    return tuple(problems), stopped


def _numbers(given: Any) -> str:
    return f"[{', '.join(map(_numbers, given))}]" if isinstance(given, list) else f"{given:.6g}"


def _empty(place: Path) -> bool:
    return place.is_dir() and not any(place.iterdir())


def _count(store: Store, chunks: Sequence[int]) -> int:
    return sum(len(store.rollouts(chunk)) for chunk in chunks)


def _refuse_another(there: Store, asks: Mapping[str, Any], resume: bool) -> None:
    """Raise where a store must not be gone on with."""
    program = there.question.get("program"), asks["program"]
    differences = list(_differences({**there.question, "program": ""}, {**asks, "program": ""}))
    if program[0] != program[1] and not differences:
        differences = ["the robot, its controller or what else acts is another, by whatever name"]
    if differences:
        raise SweepError(
            f"{there.path} answers another question:\n    " + "\n    ".join(differences),
            "Give another store, or ask the same.",
        )
    if not resume:
        done = there.total - _count(there, there.missing())
        raise SweepError(
            f"{there.path} holds this sweep already, {done} of {there.total} rollouts.",
            "With resume=True what is missing is computed.",
        )


def _differences(theirs: Any, ours: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    """Where two questions differ, by name."""
    if isinstance(theirs, Mapping) and isinstance(ours, Mapping) and len(names) < 2:
        for key in {**ours, **theirs}:
            yield from _differences(theirs.get(key), ours.get(key), (*names, key))
    elif theirs != ours:
        yield f"{'.'.join(names)} is {_shown(theirs)} there, and {_shown(ours)} here"


def _shown(said: Any) -> str:
    """A part of a question in words."""
    if said is None:
        return "not given"
    if isinstance(said, Mapping) and len(said) == 1:
        ((word, numbers),) = said.items()
        return f"{word}({', '.join(map(_shown, numbers)) if isinstance(numbers, list) else _shown(numbers)})"
    text = str(said)
    return text if len(text) <= 60 else f"{text[:60]}…"
