"""What plays runs on a page: a clock that shows each figure where its rollout is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hinge.arguments import Array
from hinge.viewing.cast import Take, traced
from hinge.viewing.figure import Figure

RATE = 30.0  # pictures a second
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")
TURNS = 400  # points of a trail, at most


class _Part(NamedTuple):
    """A rollout and all that is drawn of it: poses (T, B, 4, 4), forces (T, n, 3) twice, ways (m, T, 3)."""

    take: Take
    poses: Array
    forces: tuple[Array, Array]
    ways: Array

    @classmethod
    def of(cls, take: Take, size: float, trails: Sequence[str]) -> _Part:
        return cls(take, take.bodies(), take.forces(size), take.paths(trails))

    def shown(self, figure: Figure, t: float) -> None:
        """Put a figure where it is at a time; one that failed stays where it was good last."""
        take = self.take
        k = min(int(np.searchsorted(take.t, t)), len(take.t) - 1)
        way = np.unique(np.linspace(0, k, min(k + 1, TURNS)).round().astype(int))
        tau = None if take.tau is None else take.tau[k]
        figure.stand(take.q[k], tau, (self.forces[0][k], self.forces[1][k]), self.ways[:, way], self.poses[k])


class Clock:
    """The clock of a page; `choose` gives the rollout of a number, of which there are `count`, where one is shown."""

    def __init__(
        self,
        gui: Any,
        figures: list[Figure],
        cast: list[Take],
        trails: Sequence[str] | bool,
        lock: Any,
        choose: Callable[[int], Take],
        count: int,
    ) -> None:
        self.figures, self.lock, self.stopped = figures, lock, threading.Event()
        self.names = [traced("view", take.robot, trails or True) for take in cast]
        self.parts = [_Part.of(*one) for one in zip(cast, (f.size for f in figures), self.names, strict=True)]
        self.first = min(float(take.t[0]) for take in cast)
        self.last = max(self.first + 1e-9, *(float(take.t[-1]) for take in cast))
        with gui.add_folder("Time"):
            self.play = gui.add_checkbox("Play", initial_value=False)
            step = max((self.last - self.first) / 1000, 1e-9)
            self.at = gui.add_slider("t [s]", min=self.first, max=self.last, step=step, initial_value=self.first)
            self.speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
            first, chosen = cast[0].rollout, len(cast) == 1 and count > 1
            which = gui.add_slider("Rollout", min=0, max=max(count - 1, 1), step=1, initial_value=first, visible=chosen)
        self.controls = {"play": self.play, "t": self.at, "speed": self.speed, "rollout": which}

        @which.on_update
        def _(_: Any) -> None:
            number = int(min(max(which.value, 0), count - 1)) if which.value == which.value else 0
            self.parts[0] = _Part.of(choose(number), self.figures[0].size, self.names[0])
            self.show()

        self.at.on_update(lambda _: self.show())
        self.show()
        threading.Thread(target=self._run, daemon=True).start()

    def now(self) -> float:
        """The time that is shown, in s: within the run, whatever a page says."""
        return min(max(self.at.value, self.first), self.last) if self.at.value == self.at.value else self.first

    def show(self) -> None:
        """Put all figures where they are now."""
        with self.lock():
            for part, figure in zip(self.parts, self.figures, strict=True):
                part.shown(figure, self.now())

    def _run(self) -> None:
        while not self.stopped.wait(1.0 / RATE):
            if self.play.value:
                speed = float(self.speed.value) if self.speed.value in SPEEDS else 1.0
                later = self.now() + speed / RATE
                self.at.value = self.first if later > self.last else later
