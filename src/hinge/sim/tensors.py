"""Rollouts of arrays of other libraries, torch's and JAX's: gradients flow through them.

A rollout is a function of those of its arrays that are such, and its gradient is that of `pulled`, by the numbers of
coordinates. What becomes of a function is up to the library: calls/libraries.py says who takes it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.calls.libraries import library_module
from hinge.errors import NotCovered
from hinge.robot import Robot
from hinge.status import OK, Status

OWN = {"q0": 1, "qd0": 1, "tau": 1, "taus": 2, "external": 1, "base_motion": 1, "prescribed": 1,
       "ctrl": 2}  # axes of one rollout  # fmt: skip
STARTS = ("q0", "qd0", "tau", "taus", "parameters")  # what says how many rollouts there are
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
SECOND = "rollout: gradients go once through it, and only back.\n  Take them of robot.step, one step after the other."
Place = tuple[str, Any]  # the name of what is given, and which of several arrays it is
Shape = tuple[int, ...]


def rolled(
    robot: Robot, given: Mapping[str, Any], rows: int, rollout: Callable[..., Any], there: Callable[..., Any]
) -> tuple[Any, ...] | None:
    """States and a status in arrays of another library, where some are given.

    `rollout` takes NumPy's, and `there` a library's on a GPU: the library, the rollouts' axes, and arrays by name.
    """
    takes = library_module(*given.values())
    if takes is None:
        return None
    flat = {(name, key): x for name, one in given.items()
            for key, x in (one.items() if isinstance(one, Mapping) else [(None, one)])}  # fmt: skip
    moving = {place: x for place, x in flat.items() if library_module(x) is not None}
    still = {place: x for place, x in flat.items() if place not in moving}
    sizes: dict[Any, int] = {one.name: len(one.shape) for one in robot.target.vary}
    own = {place: sizes.get(place[1], 0) if place[0] == "parameters" else OWN.get(place[0]) for place in flat}
    own |= {place: np.ndim(x) for place, x in flat.items() if place[0] == "ctrl" and np.ndim(x) < 2}  # held
    batch = np.broadcast_shapes(
        *(np.shape(x)[: np.ndim(x) - (own[place] or 0)] for place, x in flat.items() if place[0] in STARTS)
    )
    shapes = {}
    for place, x in moving.items():  # what a policy is given serves all, unless it has the rollouts' axes first
        n, each = own[place], len(batch) if np.shape(x)[: len(batch)] == batch else 0
        lead = each if n is None else np.ndim(x) - n
        shapes[place] = (tuple(x.shape[:lead]), tuple(x.shape[lead:]))
    results = (*batch, rows, robot.nq), (*batch, rows, robot.nv)
    return takes.differentiable(Rolled(rollout, there, still, shapes, batch, results), list(moving.values()))


@dataclass(eq=False)
class Rolled:
    """A rollout as a function of some of its arrays, each with its `shapes`: the rollouts' axes, and those of one.

    To others it is a function of whole arrays; axes before these are more rollouts.
    """

    rollout: Callable[..., Any]
    there: Callable[..., Any]
    still: Mapping[Place, Any]
    shapes: Mapping[Place, tuple[Shape, Shape]]
    batch: Shape
    results: tuple[Shape, ...]
    status: bool = True
    last: Any = field(default=None, repr=False)  # arrays, and the run they gave

    @property
    def axes(self) -> Shape:
        return tuple(len(lead) + len(own) for lead, own in self.shapes.values())

    def run(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """States and a status."""
        made = self.taken(arrays, ())
        kind = _kind(arrays)
        return made.q.astype(kind), made.qd.astype(kind), made.status

    def taken(self, arrays: Sequence[Array], more: Shape) -> Any:
        """The rollout of these arrays with `more` axes in front, which may be the last one there was."""
        ahead = [a.shape[: a.ndim - n] for a, n in zip(arrays, self.axes, strict=True)]
        front = np.broadcast_shapes(more, *ahead)
        last = self.last
        if last is not None and last[0] == front and all(map(np.array_equal, last[1], arrays)):
            return last[2]
        given = self._named(self._in_front(arrays, front, np.broadcast_to))
        run = self.rollout(**{
            name: list(one.values()) if isinstance(one, dict) and 0 in one else one for name, one in given.items()
        })  # fmt: skip
        self.last = front, [np.array(a) for a in arrays], run
        return run

    def run_on(self, library: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """States and a status, of arrays on a GPU."""
        made: tuple[Any, ...] = self.taken_on(library, arrays, ())
        return made

    def taken_on(self, library: Any, arrays: Sequence[Any], more: Shape) -> Any:
        """The rollout of arrays on a GPU, which may be the last one there was: nobody looks at their numbers."""
        ahead = [a.shape[: a.ndim - n] for a, n in zip(arrays, self.axes, strict=True)]
        front, held = np.broadcast_shapes(more, *ahead), [library.stamp(a) for a in arrays]
        if self.last is not None and self.last[:2] == (front, held):
            return self.last[3]
        given = self._named(self._in_front(arrays, front, partial(_copied, library)))
        run = self.there(library, (*front, *self.batch), given)
        self.last = front, held, arrays, run
        return run

    def _named(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """All that a rollout is given, by name: an array, or arrays by their names or numbers."""
        given: dict[str, Any] = {}
        for (name, key), x in sorted([*zip(self.shapes, arrays, strict=True), *self.still.items()], key=_number):
            if key is None:
                given[name] = x
            else:
                given.setdefault(name, {})[key] = x
        return given

    def _in_front(self, arrays: Sequence[Any], front: Shape, broadcast: Callable[..., Any]) -> list[Any]:
        """The arrays with axes in front of the rollouts'."""
        if not front:
            return list(arrays)
        made = []
        for a, ((name, _), (lead, own)) in zip(arrays, self.shapes.items(), strict=True):
            whole = broadcast(a, (*front, *lead, *own))
            steps = (1,) if name == "ctrl" and len(own) == 1 else ()  # what is held has a row for all steps
            whole = whole.reshape(*front, *[1] * (len(self.batch) - len(lead)), *lead, *steps, *own)
            made.append(whole if name in OWN or name == "parameters" else broadcast(whole, (*front, *self.batch, *own)))
        return made

    def vjp(self, by: Sequence[int]) -> Pulled:
        """The function that takes weights of states besides, and gives the gradients by these of the arrays."""
        return Pulled(self, tuple(by))

    def jvp(self, by: Sequence[int]) -> Any:
        raise NotCovered(SECOND)


@dataclass(eq=False)
class Pulled:
    """The gradients of a rollout by some of its arrays, as a function of all of them and of weights of its states."""

    rolled: Rolled
    by: tuple[int, ...]
    status: bool = False

    @property
    def axes(self) -> Shape:
        return (*self.rolled.axes, *map(len, self.rolled.results))

    @property
    def results(self) -> tuple[Shape, ...]:
        shapes = list(self.rolled.shapes.values())
        return tuple(shapes[k][0] + shapes[k][1] for k in self.by)

    def run(self, arrays: Sequence[Array]) -> tuple[Array, ...]:
        """The gradients."""
        found = self._found(arrays, self.rolled.taken, np.broadcast_to)
        return tuple(x.astype(_kind(arrays)) for x in found)

    def run_on(self, library: Any, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The gradients, of arrays on a GPU."""
        return tuple(self._found(arrays, partial(self.rolled.taken_on, library), partial(_copied, library)))

    def _found(self, arrays: Sequence[Any], taken: Callable[..., Any], broadcast: Callable[..., Any]) -> Iterator[Any]:
        *arrays, dq, dqd = arrays
        more = [w.shape[: w.ndim - len(shape)] for w, shape in zip((dq, dqd), self.rolled.results, strict=True)]
        front = np.broadcast_shapes(*more)
        made = taken(arrays, front)
        weights = [broadcast(w, x.shape) for w, x in ((dq, made.q), (dqd, made.qd))]
        places = list(self.rolled.shapes)
        names = list(dict.fromkeys(places[k][0] for k in self.by))
        found, status = made.pulled(*weights, by=names, flat=True, return_status=True)
        _warn_not_smooth(status)
        ahead = made.q.shape[: made.q.ndim - len(self.rolled.results[0])]
        for k, shape in zip(self.by, self.results, strict=True):
            name, key = places[k]
            slope = found[name] if key is None else found[name][key]
            shared = tuple(range(len(ahead), slope.ndim - len(shape)))  # axes of rollouts that it does not have
            yield slope.sum(shared) if shared else slope

    def vjp(self, by: Sequence[int]) -> Any:
        raise NotCovered(SECOND)

    jvp = vjp


def _warn_not_smooth(status: Any) -> None:
    """Warn of gradients that are not those of the rollout: there is no status to return with them."""
    wrong = status != OK
    if wrong.any():
        first = next(i for i, x in enumerate(wrong.reshape(-1)) if x)
        name = Status(int(status.reshape(-1)[first])).name
        warnings.warn(
            f"gradients of {int(wrong.sum())} of {math.prod(status.shape)} rollouts have a status, {name} for rollout "
            f"{first}: they are those of one side of a contact law, or of one share of a load.\n  Give contacts "
            "compliance, or a start where they slide or part; `pulled(…, return_status=True)` gives each status.",
            stacklevel=2,
        )


def _number(one: tuple[Place, Any]) -> int:
    """Which of several arrays it is."""
    key = one[0][1]
    return key if isinstance(key, int) else 0


def _copied(library: Any, array: Any, shape: Shape) -> Any:
    """An array on a GPU, broadcast."""
    return library.rows(array, shape, library.kind(array).dtype) if tuple(array.shape) != shape else array


def _kind(arrays: Sequence[Array]) -> np.dtype[Any]:
    return SINGLE if all(a.dtype == SINGLE for a in arrays) else DOUBLE
