"""The page in the browser: a robot with a slider for each coordinate, or a trajectory that plays.

    page = hinge.view(robot)        # opens the browser, and goes on
    page.show(q)
    hinge.view(trajectory).wait()   # until Ctrl-C

The page is served from this machine with all it needs, so it works without a network.
"""

from __future__ import annotations

import socket
import threading
import webbrowser
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np

from hinge.arguments import Array, real
from hinge.errors import SizeError, ViewError
from hinge.model.states import labels
from hinge.robot import Robot
from hinge.sim import Trajectory
from hinge.spatial.linear3 import Vec3
from hinge.spatial.rotation import shortest_turn
from hinge.viewing.figure import MARKS, Figure, wxyz
from hinge.viewing.gate import watched
from hinge.viewing.reel import body_poses, floor_of, forces_drawn, one_rollout, playable, terrain

RATE = 30.0  # pictures a second
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "5")
FREE = np.pi  # how far a slider goes where a joint has no limit, in rad or m


def view(thing: Robot | Trajectory, port: int = 8080, ghost: Any = None, browser: bool = True,
         host: str = "localhost") -> Page:  # fmt: skip
    """Look at a robot or a trajectory in the browser: gives the `Page`, which is served until it is closed.

    A robot gets a slider for each coordinate, within its limits; a trajectory gets a clock. `ghost` is a second
    configuration q (nq), drawn through. `port` 0 takes any that is free; without `browser` none is opened. `host` is
    the address to serve on: "0.0.0.0" opens the page to every machine that can reach this one, and whoever has it
    can move what it shows.

    >>> page = hinge.view(hinge.samples.planar_2r(), port=0, browser=False)
    >>> page.show([0.3, 0.5])
    >>> page.close()
    """
    page = Page(thing, port, host)
    if ghost is not None:
        page.ghost(ghost)
    if browser:
        webbrowser.open(page.address)
    return page


class Page:
    """What a browser shows. `show` moves the robot, `ghost` draws a second state, `arrows` draws forces."""

    def __init__(self, thing: Robot | Trajectory, port: int = 8080, host: str = "localhost"):
        if not isinstance(thing, Robot | Trajectory):
            raise SizeError(f"view takes a robot or a trajectory; a {type(thing).__name__} was given.\n"
                            "  hinge.load(path) reads a robot, hinge.open(path) a trajectory.")  # fmt: skip
        self.trajectory = thing if isinstance(thing, Trajectory) else None
        self.robot = thing if isinstance(thing, Robot) else thing.robot
        if self.trajectory is not None:
            playable(self.trajectory)  # before anything is served
        self.server = _served(host, port, self.robot.name)
        self.address = f"http://{host}:{self.server.get_port()}"
        self.server.scene.set_up_direction("+z")
        self.figure = Figure(self.server.scene, self.robot, "robot")
        self._ghost: Figure | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self.controls: dict[str, Any] = {}  # sliders and switches by name; setting .value is as moving them
        self._furnish()
        if self.trajectory is None:
            self._sliders()
        else:
            self._clock(self.trajectory)

    def show(self, q: Any, tau: Any = None) -> None:
        """Move the robot to q (nq); `tau` (nv) are joint forces, drawn as arrows where that is switched on."""
        q = self._shaped("show: q", q, self.robot.nq)
        tau = None if tau is None else self._shaped("show: tau", tau, self.robot.nv)
        self._stand(q, tau)

    def _stand(self, q: Array, tau: Array | None, *pushes: tuple[Array, Array]) -> None:
        with self._lock, self.server.atomic():
            self.figure.stand(q, tau, *pushes)

    def ghost(self, q: Any) -> None:
        """Draw the robot a second time, through, at q (nq)."""
        q = self._shaped("ghost: q", q, self.robot.nq)
        with self._lock:
            if self._ghost is None:
                self._ghost = Figure(self.server.scene, self.robot, "ghost", ghost=True)
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
        with self._lock:
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
        with redirect_stdout(StringIO()):
            self.server.stop()

    # what the page has on it

    def _furnish(self) -> None:
        """Ground, camera, and switches for what is drawn."""
        size, gui = self.figure.size, self.server.gui
        where = body_poses(self.robot, self.q if self.trajectory is None else one_rollout(self.trajectory, 0)[0][0])
        land = terrain(self.trajectory)
        for part in land:
            corners, faces = part.vertices.astype(np.float32), part.faces.astype(np.uint32)
            self.server.scene.add_mesh_simple("/terrain", corners, faces, color=part.color, side="double")
        point, normal = floor_of(self.robot, self.trajectory, self.figure.parts + land, where[None])
        self.server.scene.add_grid("/ground", width=8 * size, height=8 * size, cell_size=size / 5, section_size=size,
                                   position=point, wxyz=wxyz(np.array(shortest_turn(Vec3(normal)))))  # fmt: skip
        middle = where[min(1, self.robot.model.count) :, :3, 3].mean(axis=0)
        self.server.initial_camera.position = tuple(middle + size * np.array([0.9, -1.0, 0.6]))
        self.server.initial_camera.look_at = tuple(middle)
        touches = self.trajectory is not None and self.trajectory.course is not None
        with gui.add_folder("Show"):
            for mark in MARKS if touches else MARKS[:-1]:
                self._switch(gui, mark, mark == MARKS[-1])
        if self.figure.left:
            lines = "\n".join(f"- {line}" for line in self.figure.left[:8])
            gui.add_markdown(f"**Drawn from masses, or left out**\n\n{lines}")

    def _switch(self, gui: Any, mark: str, on: bool) -> None:
        box = self.controls[mark] = gui.add_checkbox(mark, initial_value=on)
        if on:
            self.figure.mark(mark, on)

        @box.on_update
        def _(_: Any) -> None:
            with self._lock:
                self.figure.mark(mark, box.value)

    def _sliders(self) -> None:
        gui, names = self.server.gui, labels(self.robot.model)[0]
        low, high = _ranges(self.robot.limits)
        with gui.add_folder("Joints"):
            sliders = [
                gui.add_slider(name, min=a, max=b, step=(b - a) / 500, initial_value=float(np.clip(x, a, b)))
                for name, a, b, x in zip(names, low, high, self.q, strict=True)
            ]

        self.controls |= dict(zip(names, sliders, strict=True))

        def moved(_: Any) -> None:
            said = [_within(s.value, a, b, x) for s, a, b, x in zip(sliders, low, high, self.q, strict=True)]
            self.show(_normal(self.robot, np.array(said)))

        for slider in sliders:
            slider.on_update(moved)
        back = gui.add_button("Neutral")

        @back.on_click
        def _(_: Any) -> None:
            for slider, x, a, b in zip(sliders, self.robot.neutral(), low, high, strict=True):
                slider.value = float(np.clip(x, a, b))

    def _clock(self, run: Trajectory) -> None:
        gui = self.server.gui
        q, tau, t, forces = self._played(run, 0)
        count = int(np.prod(run.status.shape))
        first, last = float(t[0]), float(max(t[-1], t[0] + 1e-9))
        with gui.add_folder("Time"):
            play = gui.add_checkbox("Play", initial_value=False)
            at = gui.add_slider(
                "t (s)", min=first, max=last, step=max((last - first) / 1000, 1e-9), initial_value=first
            )
            speed = gui.add_dropdown("Speed", SPEEDS, initial_value="1")
            which = gui.add_slider("Rollout", min=0, max=max(count - 1, 1), step=1, initial_value=0, visible=count > 1)

        self.controls |= {"play": play, "t": at, "speed": speed, "rollout": which}

        def now() -> float:
            return _within(at.value, first, last, first)

        def shown(_: Any = None) -> None:
            k = min(int(np.searchsorted(t, now())), len(t) - 1)  # one that failed stays where it was
            self._stand(q[k], None if tau is None else tau[k], (forces[0][k], forces[1][k]))

        @which.on_update
        def _(_: Any) -> None:
            nonlocal q, tau, t, forces
            q, tau, t, forces = self._played(run, int(_within(which.value, 0, count - 1, 0)))
            shown()

        at.on_update(shown)
        shown()

        def playing() -> None:
            while not self._stopped.wait(1.0 / RATE):
                if play.value:
                    later = now() + (float(speed.value) if speed.value in SPEEDS else 1.0) / RATE
                    at.value = first if later > last else later

        threading.Thread(target=playing, daemon=True).start()

    def _played(self, run: Trajectory, k: int) -> tuple[Array, Array | None, Array, tuple[Array, Array]]:
        """States of a rollout, and the forces of its contacts as arrows; rows in which it is lost come last."""
        return *one_rollout(run, k), forces_drawn(run, k, self.figure.size)


def _served(host: str, port: int, label: str) -> Any:
    """A server on that port, or a refusal that says what to do."""
    try:
        import viser
    except ImportError:
        raise ViewError("looking at robots needs the package viser.\n  pip install hinge[view]") from None
    if not host:
        what = "host is empty, which would open the page to every machine that can reach this one."
        raise ViewError(f'{what}\n  Write "localhost" for this one alone, or "0.0.0.0" if all of them may use it.')
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, OverflowError) as wrong:
            why = getattr(wrong, "strerror", None) or wrong
            raise ViewError(
                f"port {port} of {host} cannot be used: {why}.\n  Give another port, or 0 for any."
            ) from None
        port = probe.getsockname()[1]
    with watched(host), redirect_stdout(StringIO()):  # it prints a box with its address, however quiet it is to be
        return viser.ViserServer(host=host, port=port, label=f"hinge: {label}", verbose=False)


def _ranges(limits: Any) -> tuple[list[float], list[float]]:
    low = np.where(np.isfinite(limits.lower), limits.lower, -FREE)
    high = np.where(np.isfinite(limits.upper), limits.upper, FREE)
    return low.tolist(), np.maximum(high, low + 1e-6).tolist()


def _within(value: float, low: float, high: float, otherwise: float) -> float:
    """A number from the page, which may say anything, within limits; `otherwise` in the place of NaN."""
    return min(max(value, low), high) if value == value else otherwise


def _normal(robot: Robot, q: Array) -> Array:
    """Coordinates that are a position: where sliders make a quaternion without length, its joint is neutral."""
    for i in robot.model.leaders:
        at, _ = robot.model.slices[i]
        if not all(x > 0.0 for x in robot.model.joint[i].positive(q[at].tolist())):
            q[at] = robot.model.neutral(i)
    return q
