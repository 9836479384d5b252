"""What cannot be: masses and inertias that no real body has. Every robot is examined here while it is built.

What could be and is odd is in sense.py, which takes longer and is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from hinge.errors import Where
from hinge.model.report import Finding
from hinge.model.symbols import unknown
from hinge.spatial.inertia import RigidInertia

SLACK = 1e-9  # relative; a file's own rounding is not a finding
POINT = 1e-12  # m²: mass within a micrometre is a point, and what is written there is the rounding of a zero


class Felt(Protocol):
    """What a joint has to say of how hard it is to move."""

    @property
    def armature(self) -> tuple[float, ...]: ...
    @property
    def where(self) -> Where: ...


class Tree(Protocol):
    """Bodies with the joints that carry them: a model, or one that is being built."""

    @property
    def parent(self) -> Sequence[int]: ...
    @property
    def inertia(self) -> Sequence[RigidInertia]: ...
    @property
    def joint_name(self) -> Sequence[str]: ...
    @property
    def data(self) -> Sequence[Felt]: ...


def examine_link(name: str, mass: float, inertia: np.ndarray, where: Where) -> list[Finding]:
    """Findings on one link's mass and rotational inertia about its centre of mass."""
    made: list[Finding] = []
    scale = float(np.max(np.abs(inertia)))
    if mass < 0.0:
        made.append(
            Finding("error", "negative-mass", f"link {name!r} has mass {mass:g} kg.", "Masses are positive.", where)
        )
    if mass == 0.0 and scale > 0.0:
        made.append(Finding("warning", "inertia-without-mass", f"link {name!r} has inertia but no mass.",
                            "Give it a mass, or leave the inertia out.", where))  # fmt: skip
    if scale <= POINT * abs(mass):
        return made
    if np.max(np.abs(inertia - inertia.T)) > SLACK * scale:
        made.append(Finding("error", "asymmetric-inertia", f"link {name!r} has an inertia that is not symmetric.",
                            "Write each product of inertia once.", where))  # fmt: skip
    diagonal = np.count_nonzero(inertia) <= 3 and np.all(np.diag(inertia) != 0.0)
    symmetric = (inertia + inertia.T) / 2
    least, middle, most = sorted(np.diag(inertia)) if diagonal else np.linalg.eigvalsh(symmetric)
    shown = (
        x if abs(x) > SLACK * scale else 0.0 for x in (least, middle, most)
    )  # and not what rounding left of a zero
    values = "(" + ", ".join(f"{x:.3g}" for x in shown) + ") kg m²"
    if least < -SLACK * scale:
        made.append(Finding("error", "negative-inertia", f"link {name!r} has principal inertias {values}.",
                            "All three must be positive.", where))  # fmt: skip
    elif least + middle < most * (1 - SLACK):
        made.append(Finding("warning", "triangle", f"link {name!r} has principal inertias {values}: "
                            "no body has two that sum to less than the third.",
                            f"Raise the two smaller ones until they sum to {most:.3g}.", where))  # fmt: skip
    return made


def examine_joints(tree: Tree, leader: Mapping[int, int]) -> list[Finding]:
    """Findings on joints that move nothing, neither themselves nor by those that follow them."""
    idle: list[int] = []
    below = [inertia.m for inertia in tree.inertia]
    for i in range(len(below) - 1, 0, -1):
        carried = (below[i], *tree.inertia[i].I, *tree.data[i].armature)
        if not unknown(carried) and below[i] <= 0.0 and not any(carried[1:]):
            idle.append(i)
        below[tree.parent[i]] += below[i]
    busy = {leader[i] for i in leader if i not in idle}
    return [
        Finding("warning", "massless", f"joint {tree.joint_name[i]!r} moves nothing that has mass.",
                "Forward dynamics needs a mass, an inertia or an armature there.", tree.data[i].where)
        for i in idle
        if i not in leader and i not in busy
    ]  # fmt: skip
