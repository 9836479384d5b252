"""The page in the browser: a robot with sliders, or runs that play.

    page = hinge.view(robot)        # opens the browser, and goes on
    page.show(q)
    hinge.view(trajectory).wait()   # until Ctrl-C

The page is served from this machine with all it needs, so it works without a network.
"""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from hinge.arguments import Array, real
from hinge.errors import SizeError, one_of
from hinge.robot import Robot
from hinge.sim import Rollout, Trajectory
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import shortest_turn
from hinge.sweeps import Sweep
from hinge.viewing.cast import LAYOUTS, Runs, Take, places, takes, traced
from hinge.viewing.clock import Clock
from hinge.viewing.figure import Figure, wxyz
from hinge.viewing.gate import served
from hinge.viewing.marks import MARKS
from hinge.viewing.posing import held
from hinge.viewing.reel import floor_of, terrain, watched
from hinge.viewing.sliders import Sliders

LENS = np.radians(40.0)  # the camera's angle of view, from top to bottom
FROM = np.array([0.75, -0.9, 0.5])  # where the camera is, seen from what it looks at
LOOKED = 60  # states of a run that are looked at to see how far it reaches
Thing = Robot | Runs


def view(
    thing: Thing,
    port: int = 8080,
    ghost: Any = None,
    browser: bool = True,
    host: str = "localhost",
    rollout: int | Sequence[int] = 0,
    layout: str = "grid",
    trails: Sequence[str] | bool = (),
) -> Page:
    """Look at a robot or at runs in the browser: gives the `Page`, which is served until it is closed.

    A robot gets sliders, in folders by limb and within its limits; a trajectory, a rollout, a sweep, or a list of runs
    gets a clock. Of each run the `rollout` is shown, or several: side by side, or with `layout` "ghosts" one through
    the other. `trails` are links and frames whose ways are drawn, True for the ends of all limbs. `ghost` is a second
    configuration q (nq), drawn through. `port` 0 takes any that is free; without `browser` none is opened. `host` is
    the address to serve on: "0.0.0.0" opens the page to every machine that can reach this one, and whoever has it
    can move what it shows.

    >>> page = hinge.view(hinge.samples.planar_2r(), port=0, browser=False)
    >>> page.show([0.3, 0.5])
    >>> page.close()
    """
    page = Page(thing, port, host, rollout, layout, trails)
    if ghost is not None:
        page.ghost(ghost)
    if browser:
        webbrowser.open(page.address)
    return page


class Page:
    """What a browser shows. `show` moves the robot, `ghost` draws a second state, `arrows` draws forces."""

    def __init__(
        self,
        thing: Thing,
        port: int = 8080,
        host: str = "localhost",
        rollout: int | Sequence[int] = 0,
        layout: str = "grid",
        trails: Sequence[str] | bool = (),
    ):
        one_of("layout", layout, LAYOUTS)
        if not isinstance(thing, Robot | Trajectory | Rollout | Sweep | list | tuple):
            raise SizeError(f"view takes a robot or a trajectory; a {type(thing).__name__} was given.\n"
                            "  hinge.load(path) reads a robot, hinge.open(path) a trajectory.")  # fmt: skip
        cast = [] if isinstance(thing, Robot) else takes("view", thing, rollout)  # before anything is served
        robots = [thing] if isinstance(thing, Robot) else [take.robot for take in cast]
        for robot in robots:
            traced("view", robot, trails)
        self.robot, self.trajectory = robots[0], cast[0].run if cast else None
        self.server = served(host, port, self.robot.name)
        self.address = f"http://{host}:{self.server.get_port()}"
        self.server.scene.set_up_direction("+z")
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        self.server.gui.main_panel.dock_right()  # beside what is seen, not over it
        self._guard = threading.Lock()
        self._stopped = threading.Event()
        self.controls: dict[str, Any] = {}  # sliders and switches by name; setting .value is as moving them
        self.figures = self._placed(robots, cast, layout)
        self.figure = self.figures[0]
        self._ghost: Figure | None = None
        tabs = self.server.gui.add_tab_group()
        with tabs.add_tab("Pose" if isinstance(thing, Robot) else "Run"):
            self._move(thing, cast, trails)
        with tabs.add_tab("Show"):
            self._furnish(cast, bool(trails))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """While this holds, what changes is the business of one, and is shown at once."""
        with self._guard, self.server.atomic():
            yield

    def show(self, q: Any, tau: Any = None) -> None:
        """Move the robot to q (nq); `tau` (nv) are joint forces, drawn as arrows where that is switched on."""
        q = self._shaped("show: q", q, self.robot.nq)
        tau = None if tau is None else self._shaped("show: tau", tau, self.robot.nv)
        with self._lock():
            self.figure.stand(q, tau)
            if self._sliders is not None:
                self._sliders.put(q)

    def _pose(self, q: Array) -> None:
        """Move the robot as sliders say; the forces that are drawn are those that hold it."""
        rows = held(self.robot, q) if "forces" in self.figure.shown else []
        with self._lock():
            self.figure.stand(q, np.array([row.force for row in rows]) if rows else None)

    def ghost(self, q: Any) -> None:
        """Draw the robot a second time, through, at q (nq)."""
        q = self._shaped("ghost: q", q, self.robot.nq)
        with self._lock():
            if self._ghost is None:
                self._ghost = Figure(self.server.scene, self.robot, "ghost", True, self.figure)
            self._ghost.stand(q)

    def _shaped(self, what: str, given: Any, size: int) -> Array:
        made = real(what, given).astype(float)
        if made.shape != (size,):
            raise SizeError(f"{what} has shape {made.shape}; robot {self.robot.name!r} wants ({size},).")
        return made

    def arrows(self, points: Any, vectors: Any, name: str = "contacts") -> None:
        """Draw arrows from points (n, 3) along vectors (n, 3), in m and base coordinates: forces at contacts, say."""
        from_, along = (real(f"arrows: {what}", x, (3,)) for what, x in (("points", points), ("vectors", vectors)))
        if from_.ndim != 2 or from_.shape != along.shape:
            raise SizeError(
                f"arrows: points has shape {from_.shape} and vectors {along.shape}; both have to be (n, 3)."
            )
        with self._lock():
            self.figure.arrows(name, from_, along)

    @property
    def q(self) -> Array:
        """Where the robot stands, (nq)."""
        return self.figure.q

    def wait(self) -> None:
        """Serve until Ctrl-C."""
        try:
            while not self._stopped.wait(0.5):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        self._stopped.set()
        if self._clock is not None:
            self._clock.stopped.set()
        with redirect_stdout(StringIO()):
            self.server.stop()

    # what the page has on it

    def _move(self, thing: Thing, cast: list[Take], trails: Sequence[str] | bool) -> None:
        """What moves the robot: sliders, or a clock."""
        self._clock = self._sliders = None
        if isinstance(thing, Robot):
            self._sliders = Sliders(self.server.gui, thing, self.controls, self._pose)
            return
        count = thing.rollouts if isinstance(thing, Sweep) else cast[0].run.status.size
        self._clock = Clock(
            self.server.gui, self.figures, cast, trails, self._lock, lambda k: takes("view", thing, k)[0], count
        )
        self.controls |= self._clock.controls

    def _placed(self, robots: list[Robot], cast: list[Take], layout: str) -> list[Figure]:
        """A figure for each robot, where it has room."""
        figures: list[Figure] = []
        for k, robot in enumerate(robots):
            alike = next((one for one in figures if one.robot is robot), None)
            name, through = "robot" if k == 0 else f"robot {k + 1}", layout == "ghosts" and k > 0
            figures.append(Figure(self.server.scene, robot, name, through, alike))
        if len(figures) > 1:
            reach = []
            for figure, take in zip(figures, cast, strict=True):
                where = take.bodies(np.unique(np.linspace(0, len(take.t) - 1, LOOKED).astype(int)))
                reach.append(watched(figure.parts, where, LOOKED / 10)[1])
            up = floor_of(robots[0], cast[0].run, figures[0].parts, where).normal
            for figure, place in zip(figures, places(layout, len(figures), max(reach), up), strict=True):
                figure.place = figure.root.position = place
        return figures

    def _furnish(self, cast: list[Take], trails: bool) -> None:
        """Ground, camera, and switches for what is drawn."""
        size, gui, scene = self.figure.size, self.server.gui, self.server.scene
        runs: list[Trajectory | None] = [take.run for take in cast] if cast else [None]
        for figure, run in zip(self.figures, runs, strict=True):
            for part in terrain(run):
                corners, faces = part.vertices.astype(np.float32), part.faces.astype(np.uint32)
                scene.add_mesh_simple(f"/{figure.name}/terrain", corners, faces, color=part.color, side="double")
        self.server.initial_camera.fov = LENS
        radius = self._aim(self.server.initial_camera)
        fit = self.controls["fit"] = gui.add_button("Fit the camera", hint="Look at all that is shown.")
        fit.on_click(lambda event: self._aim(event.client.camera))
        where = self.figure.poses[None]
        point, normal = floor_of(self.robot, runs[0], self.figure.parts + terrain(runs[0]), where)
        scene.add_grid(
            "/ground",
            width=8 * radius,
            height=8 * radius,
            cell_size=size / 5,
            section_size=size,
            position=point,
            wxyz=wxyz(np.array(shortest_turn(Vec3(normal)))),
        )
        absent = {
            "trails": not cast,
            "contact forces": all(run is None or run.course is None for run in runs),
            "frame names": not self.figure.own_frames(),
        }
        for mark in MARKS:
            if not absent.get(mark):
                self._switch(mark, mark == "contact forces" or (mark == "trails" and trails))
        left = list(dict.fromkeys(line for figure in self.figures for line in figure.left))
        if left:
            lines = "\n".join(f"- {line}" for line in left[:8])
            gui.add_markdown(f"**Drawn from masses, or left out**\n\n{lines}")

    def _aim(self, camera: Any) -> float:
        """Have all that is shown in a camera; gives how far from its middle something is, in m."""
        seen = [watched(figure.parts, figure.poses[None], 1.0) for figure in self.figures]
        middles = np.array([at[0] + figure.place for figure, (at, _) in zip(self.figures, seen, strict=True)])
        middle = middles.mean(axis=0)
        radius = max(float(np.linalg.norm(at - middle)) + r for at, (_, r) in zip(middles, seen, strict=True))
        camera.position = tuple(middle + radius / np.sin(LENS / 2) * FROM / np.linalg.norm(FROM))
        camera.look_at = tuple(middle)
        return radius

    def _switch(self, mark: str, on: bool) -> None:
        box = self.controls[mark] = self.server.gui.add_checkbox(mark, initial_value=on)

        def switched(_: Any = None) -> None:
            with self._lock():
                for figure in self.figures:
                    figure.mark(mark, box.value)

        if on:
            switched()
        box.on_update(switched)
