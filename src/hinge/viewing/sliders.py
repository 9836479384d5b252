"""What poses a robot on a page: a folder of sliders for each limb, a filter, and what the joints hold."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import numpy as np

from hinge.arguments import Array
from hinge.model.coasting import FREE
from hinge.robot import Robot
from hinge.viewing.limbs import Limb, limbs
from hinge.viewing.posing import Handle, Held, configuration, handles, held, values

STEPS = 500  # of a slider


class Sliders:
    """The sliders of a robot in `gui`; `moved` is called with the configuration they make.

    `controls` gets them by name: a joint's, and of a base "base x" to "base yaw".
    """

    def __init__(self, gui: Any, robot: Robot, controls: dict[str, Any], moved: Callable[[Array], None]) -> None:
        self.robot, self.model, self.moved = robot, robot.model, moved
        self.handles = handles(robot.model)
        self.names = [handle.name(robot.model) for handle in self.handles]
        self.at = self._start()
        self.quiet = False  # while sliders are set, and not moved
        self.sliders: dict[str, Any] = {}
        self.folders: list[tuple[Any, Limb, Any]] = []
        find = controls["filter"] = gui.add_text("filter", "", hint="Words that names of joints or limbs have to have.")
        hold = controls["gravity torques"] = gui.add_checkbox("gravity torques", initial_value=not robot.loops)
        for limb in limbs(robot.model):
            self._folder(gui, limb)
        controls |= self.sliders
        back = controls["neutral"] = gui.add_button("Neutral")
        find.on_update(lambda _: self.filter(find.value))
        hold.on_update(lambda _: self.tell(hold.value))
        back.on_click(lambda _: self._back())
        self.hold = hold
        self.tell(hold.value)

    @property
    def q(self) -> Array:
        """The configuration that the sliders stand at, (nq)."""
        return configuration(self.model, self.at)

    def put(self, q: Array) -> None:
        """Have the sliders stand at a configuration (nq), which is told but moves nothing."""
        self.at, self.quiet = values(self.model, q), True
        for name, handle, x in zip(self.names, self.handles, self.at, strict=True):
            self.sliders[name].value = handle.within(float(x), handle.low)
        self.quiet = False
        self.tell(self.hold.value)

    def filter(self, words: str) -> None:
        """Leave only the sliders whose names, with their limb's, have all of these words."""
        wanted = words.lower().split()
        for folder, limb, _ in self.folders:
            shown = False
            for handle, name in zip(self.handles, self.names, strict=True):
                if handle.body in limb.joints:
                    fits = all(word in f"{limb.name} {name}".lower() for word in wanted)
                    self.sliders[name].visible = fits
                    shown |= fits
            folder.visible = shown

    def tell(self, on: bool) -> None:
        """Write what the joints hold below the sliders of their limbs, or nothing."""
        rows = held(self.robot, self.q) if on else []
        for _, limb, text in self.folders:
            own = [row for row in rows if row.body in limb.joints and self.model.joint[row.body].nv < FREE]
            text.visible = bool(own)
            if own:
                text.content = table(own, dict(zip(limb.joints, limb.labels, strict=True)))

    def _start(self) -> Array:
        start = values(self.model, self.robot.neutral())
        return np.array([float(np.clip(x, one.low, one.high)) for x, one in zip(start, self.handles, strict=True)])

    def _folder(self, gui: Any, limb: Limb) -> None:
        called = dict(zip(limb.joints, limb.labels, strict=True))
        folder = gui.add_folder(limb.name)
        with folder:
            for k, (handle, name) in enumerate(zip(self.handles, self.names, strict=True)):
                if handle.body in limb.joints:
                    self.sliders[name] = self._slider(gui, k, handle, name, called[handle.body])
            text = gui.add_html("", visible=False)
        self.folders.append((folder, limb, text))

    def _slider(self, gui: Any, k: int, handle: Handle, name: str, called: str) -> Any:
        label = " ".join(filter(None, [called if not handle.of or handle.of.startswith("[") else "", handle.of]))
        unit = f" [{handle.unit}]" if handle.unit else ""
        hint = f"{name}: {handle.low:.4g} to {handle.high:.4g} {handle.unit}"
        slider = gui.add_slider(
            label + unit,
            min=handle.low,
            max=handle.high,
            step=(handle.high - handle.low) / STEPS,
            initial_value=float(self.at[k]),
            hint=hint,
        )

        @slider.on_update
        def _(_: Any) -> None:
            if self.quiet:
                return
            self.at[k] = handle.within(slider.value, self.at[k])
            self.moved(self.q)
            if self.hold.value:
                self.tell(True)

        return slider

    def _back(self) -> None:
        self.put(configuration(self.model, self._start()))
        self.moved(self.q)


def table(rows: list[Held], called: dict[int, str]) -> str:
    """What joints hold, as a table with a bar for the share of the limit, which is red where that is passed."""
    lines = []
    for row in rows:
        share = "" if row.share is None else f"{100 * row.share:.0f} %"
        full = 0.0 if row.share is None else min(row.share, 1.0)
        color = "#d62728" if row.share is not None and row.share > 1.0 else "#ff7f0e"
        bar = f'<div style="width:{60 * full:.0f}px;height:6px;background:{color};border-radius:3px"></div>'
        name = html.escape(called[row.body] + row.of)
        force = row.force if abs(row.force) > 1e-9 else 0.0
        cells = (name, f"{force:.3g} {row.unit}", share, bar)
        columns = zip(("left", "right", "right", "left"), cells, strict=True)
        line = "".join(f'<td style="text-align:{side};padding:0 4px">{cell}</td>' for side, cell in columns)
        lines.append(f"<tr>{line}</tr>")
    style = "font-size:0.75em;opacity:0.85;padding:0 0.5em 0.5em"
    return f'<div style="{style}">Held against gravity, of the limit<table>{"".join(lines)}</table></div>'
