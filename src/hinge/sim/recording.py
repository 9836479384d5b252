"""What is recorded of a run: the names of states, events, and what pictures and files need of a trajectory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, get_args

from hinge.arguments import Array
from hinge.robot import Robot
from hinge.typing import AnyArray, Statuses, Term

Recorded = Literal["q", "qd", "tau"]
FIELDS: tuple[Recorded, ...] = get_args(Recorded)


class Event(NamedTuple):
    """A place where an event function changed sign: which function, which rollout, when, and the state."""

    which: int
    rollout: tuple[int, ...]
    t: float
    q: Array
    qd: Array


class Recording(Protocol):
    """States in time, as `Trajectory` has them: for modules that it uses itself."""

    @property
    def robot(self) -> Robot: ...
    @property
    def t(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def states(self) -> Mapping[str, Any]: ...
    @property
    def status(self) -> Statuses: ...
    @property
    def failed(self) -> Any: ...
    @property
    def method(self) -> str: ...
    @property
    def events(self) -> tuple[Event, ...]: ...
    @property
    def info(self) -> dict[str, Any]: ...
    @property
    def lost(self) -> Array | None: ...
    @property
    def parameters(self) -> Mapping[str, AnyArray] | None: ...
    @property
    def joint_terms(self) -> Sequence[Term]: ...
    @property
    def final(self) -> tuple[Array, Array]: ...
    def energy(self) -> Array: ...
    def __len__(self) -> int: ...
