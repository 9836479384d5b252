"""Robots to try things on: textbook arms, and random chains and trees for tests.

`hinge.samples` offers these as robots.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hinge.model.build import Builder
from hinge.model.joints import JOINTS, OnLine
from hinge.model.model import Model
from hinge.model.shapes import Shape
from hinge.model.symbols import named

Looks = dict[str, tuple[Shape, ...]]


def pendulum(n: int = 1, length: float = 1.0, mass: float = 1.0) -> Model:
    """n uniform rods hanging from each other; q = 0 hangs straight down, and each turns about its y axis."""
    builder = Builder(f"pendulum{n}")
    builder.link("base")
    for k in range(1, n + 1):
        bar = mass * length**2 / 12
        builder.link(f"rod{k}", mass, (0, 0, -length / 2), np.diag([bar, bar, 0.0]))
        parent, xyz = (f"rod{k - 1}", (0, 0, -length)) if k > 1 else ("base", (0, 0, 0))
        builder.joint(f"joint{k}", "continuous", parent, f"rod{k}", xyz, axis=(0, 1, 0))
    return builder.build()


def planar_2r(length: float = 1.0, mass: float = 1.0, symbols: bool = False) -> Model:
    """The textbook arm: two uniform rods in the vertical xz plane, angles from the horizontal, upward positive.

    With `symbols` its numbers are SymPy's: lengths l1 and l2, distances lc1 and lc2 of the centres of mass, masses m1
    and m2, inertias I1 and I2 about them, and g.
    """
    if symbols:
        return _symbolic_2r()
    builder = Builder("planar_2r")
    builder.link("base")
    bar = mass * length**2 / 12
    for k, parent, x in ((1, "base", 0.0), (2, "upper", length)):
        name = ("upper", "lower")[k - 1]
        builder.link(name, mass, (length / 2, 0, 0), np.diag([0.0, bar, bar]))
        builder.joint(("shoulder", "elbow")[k - 1], "revolute", parent, name, (x, 0, 0), axis=(0, -1, 0))
    builder.frame("hand", "lower", (length, 0, 0))
    return builder.build()


def _symbolic_2r() -> Model:
    builder = Builder("planar_2r", (0, 0, -named("g")))
    builder.link("base")
    parent, x = "base", 0.0
    for k, name in ((1, "upper"), (2, "lower")):
        l, lc, m, I = (named(f"{letter}{k}") for letter in ("l", "lc", "m", "I"))
        builder.link(name, m, (lc, 0, 0), [[0, 0, 0], [0, I, 0], [0, 0, I]])
        builder.joint(f"joint{k}", "revolute", parent, name, (x, 0, 0), axis=(0, -1, 0))
        parent, x = name, l
    builder.frame("hand", "lower", (x, 0, 0))
    return builder.build()


def puma560() -> Model:
    """The Puma 560: the arm most of the literature computes with.

    Kinematics in the classic convention; masses, centres of mass and inertias as measured by Armstrong, Khatib and
    Burdick (1986) and tabulated in link frames by Corke; armature is the motors' inertia times gear ratio squared.

    What no body has in that table was completed, such that no joint force is another. Of link 1 it has (0, 0.35, 0)
    kg m² and no mass: here it has 13 kg on its axis and 0.2 kg m² across it. Of link 3 it has (0.066, 0.086, 0.0125),
    two of which sum to less than the third: 0.005 kg m² across the axis of joint 3 was taken for it from link 2, which
    has (0.13, 0.524, 0.539) there.
    """
    from hinge.formats import dh

    half = math.pi / 2
    # alpha, a, d, mass, centre of mass, principal inertias, motor inertia, gear ratio, damping at the motor, limits
    table = [
        (half, 0.0, 0.0, 13.0, (0, 0, 0), (0.2, 0.35, 0.2), 200e-6, 62.6111, 1.48e-3, (-160, 160)),
        (0.0, 0.4318, 0.0, 17.4, (-0.3638, 0.006, 0.2275), (0.125, 0.519, 0.539),
         200e-6, 107.815, 0.817e-3, (-110, 110)),
        (-half, 0.0203, 0.15005, 4.8, (-0.0203, -0.0141, 0.070), (0.071, 0.086, 0.0175),
         200e-6, 53.7063, 1.38e-3, (-135, 135)),
        (half, 0.0, 0.4318, 0.82, (0, 0.019, 0), (1.8e-3, 1.3e-3, 1.8e-3), 33e-6, 76.0364, 71.2e-6, (-266, 266)),
        (-half, 0.0, 0.0, 0.34, (0, 0, 0), (0.3e-3, 0.4e-3, 0.3e-3), 33e-6, 71.923, 82.6e-6, (-100, 100)),
        (0.0, 0.0, 0.0, 0.09, (0, 0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3), 33e-6, 76.686, 36.7e-6, (-266, 266)),
    ]  # fmt: skip
    rows = [
        {"alpha": alpha, "a": a, "d": d, "mass": mass, "com": com, "inertia": np.diag(inertia),
         "armature": motor * gear**2, "damping": viscous * gear**2, "limits": tuple(np.deg2rad(limits))}
        for alpha, a, d, mass, com, inertia, motor, gear, viscous, limits in table
    ]  # fmt: skip
    looks = [
        ("base", "cylinder", (0.1, 0.6), (0, 0, -0.4), "z", 1),
        ("link1", "cylinder", (0.1, 0.2), (0, 0, 0), "y", 0),
        ("link1", "cylinder", (0.08, 0.25), (0, 0, 0.045), "z", 1),
        ("link2", "box", (0.62, 0.16, 0.1), (-0.2, 0, 0.22), "z", 0),
        ("link3", "box", (0.13, 0.09, 0.42), (-0.02, 0.03, 0.13), "z", 1),
        ("link4", "cylinder", (0.045, 0.1), (0, -0.05, 0), "y", 0),
        ("link5", "cylinder", (0.04, 0.08), (0, 0, 0), "y", 1),
        ("link6", "cylinder", (0.025, 0.05), (0, 0, 0.055), "z", 0),
    ]  # fmt: skip
    return replace(dh.read(rows, "classic", name="puma560").build(), shapes=_looks(looks))


def _looks(table: Sequence[tuple[str, str, tuple[float, ...], tuple[float, ...], str, int]]) -> Looks:
    """Shapes to look at: link, kind, sizes, centre, the axis a cylinder is along, and whether it is dark."""
    along = {"z": ((1, 0, 0), (0, 1, 0), (0, 0, 1)), "y": ((1, 0, 0), (0, 0, 1), (0, -1, 0))}
    tints = (0.92, 0.93, 0.94, 1.0), (0.35, 0.38, 0.42, 1.0)
    made: dict[str, tuple[Shape, ...]] = {}
    for link, kind, size, xyz, axis, dark in table:
        shape = Shape("visual", kind, size, xyz=xyz, rotation=along[axis], rgba=tints[dark])
        made[link] = (*made.get(link, ()), shape)
    return made


def panda() -> Model:
    """The arm of the Franka Emika Panda, without a hand; the frame "tool" is its flange.

    Kinematics in the modified convention and limits as the maker states them; masses, centres of mass and inertias as
    identified by Gaz, Cognetti, Oliva, Robuffo Giordano and De Luca (2019).
    """
    from hinge.formats import dh

    half = math.pi / 2
    # alpha, a, d, mass, centre of mass, inertia xx, xy, xz, yy, yz, zz, limits of position, velocity and effort
    table = [
        (0.0, 0.0, 0.333, 4.970684, (0.003875, 0.002081, -0.04762),
         (0.70337, -0.000139, 0.006772, 0.70661, 0.019169, 0.009117), (-2.8973, 2.8973), 2.175, 87.0),
        (-half, 0.0, 0.0, 0.646926, (-0.003141, -0.02872, 0.003495),
         (0.007962, -0.003925, 0.010254, 0.02811, 0.000704, 0.025995), (-1.7628, 1.7628), 2.175, 87.0),
        (half, 0.0, 0.316, 3.228604, (0.027518, 0.039252, -0.066502),
         (0.037242, -0.004761, -0.011396, 0.036155, -0.012805, 0.01083), (-2.8973, 2.8973), 2.175, 87.0),
        (half, 0.0825, 0.0, 3.587895, (-0.05317, 0.104419, 0.027454),
         (0.025853, 0.007796, -0.001332, 0.019552, 0.008641, 0.028323), (-3.0718, -0.0698), 2.175, 87.0),
        (-half, -0.0825, 0.384, 1.225946, (-0.011953, 0.041065, -0.038437),
         (0.035549, -0.002117, -0.004037, 0.029474, 0.000229, 0.008627), (-2.8973, 2.8973), 2.61, 12.0),
        (half, 0.0, 0.0, 1.666555, (0.060149, -0.014117, -0.010517),
         (0.001964, 0.000109, -0.001158, 0.004354, 0.000341, 0.005433), (-0.0175, 3.7525), 2.61, 12.0),
        (half, 0.088, 0.0, 0.735522, (0.010517, -0.004252, 0.061597),
         (0.012516, -0.000428, -0.001196, 0.010027, -0.000741, 0.004815), (-2.8973, 2.8973), 2.61, 12.0),
    ]  # fmt: skip
    rows = [
        {"alpha": alpha, "a": a, "d": d, "mass": mass, "com": com,
         "inertia": np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), "limits": limits, "velocity": velocity,
         "effort": effort}
        for alpha, a, d, mass, com, (xx, xy, xz, yy, yz, zz), limits, velocity, effort in table
    ]  # fmt: skip
    flange = np.eye(4)
    flange[2, 3] = 0.107
    looks = [
        ("base", "cylinder", (0.08, 0.14), (0, 0, 0.07), "z", 1),
        ("link1", "cylinder", (0.06, 0.17), (0, 0, -0.1), "z", 0),
        ("link2", "cylinder", (0.065, 0.14), (0, 0, 0), "z", 1),
        ("link2", "cylinder", (0.06, 0.16), (0, -0.11, 0), "y", 0),
        ("link3", "cylinder", (0.06, 0.1), (0, 0, -0.08), "z", 0),
        ("link3", "box", (0.14, 0.1, 0.08), (0.04, 0, 0), "z", 0),
        ("link4", "cylinder", (0.06, 0.13), (0, 0, 0), "z", 1),
        ("link4", "box", (0.14, 0.08, 0.1), (-0.04, 0, 0), "z", 0),
        ("link5", "cylinder", (0.055, 0.34), (0, 0, -0.2), "z", 0),
        ("link6", "cylinder", (0.05, 0.12), (0, 0, 0), "z", 1),
        ("link6", "box", (0.1, 0.09, 0.08), (0.05, 0, 0), "z", 0),
        ("link7", "cylinder", (0.045, 0.07), (0, 0, 0.07), "z", 1),
    ]  # fmt: skip
    return replace(dh.read(rows, "modified", tool=flange, name="panda").build(), shapes=_looks(looks))


def _random_body(rng: np.random.Generator) -> dict[str, object]:
    """A physical body: the inertia of a cloud of points.

    Sums are NumPy's own, so that a sample is the same robot on every machine: a library for linear algebra takes them
    in the order its processor likes best.
    """
    points = rng.normal(size=(8, 3)) * 0.2 * rng.uniform(0.5, 1.5, 3)
    weights = rng.uniform(0.2, 1.0, 8)
    com = np.array([(weights * x).sum() for x in points.T]) / weights.sum()
    spread = points - com
    inertia = sum(w * ((p * p).sum() * np.eye(3) - np.outer(p, p)) for w, p in zip(weights, spread, strict=True))
    return {"mass": float(weights.sum()), "com": com, "inertia": inertia}


def _random_rotation(rng: np.random.Generator) -> np.ndarray:
    w, x, y, z = (q := rng.normal(size=4)) / math.sqrt(sum(q * q))
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def chain(rng: np.random.Generator, n: int, kind: str = "revolute") -> Model:
    """A chain of n joints of one kind with general placements, axes and inertias."""
    return _grown(rng, f"chain{n}", list(range(n)), [kind] * n, rotors=False)


def random_tree(rng: np.random.Generator, n: int, kinds: tuple[str, ...] | None = None) -> Model:
    """A tree of n bodies with general placements and inertias; joints are drawn from every kind, or from `kinds`."""
    moving = kinds or tuple(k for k, joint in JOINTS.items() if joint.nv and joint.__module__.startswith("hinge."))
    parents = [int(rng.integers(max(0, k - 3), k + 1)) for k in range(n)]
    return _grown(rng, f"tree{n}", parents, [str(rng.choice(moving)) for _ in range(n)])


def _grown(rng: np.random.Generator, name: str, parents: list[int], kinds: list[str], rotors: bool = True) -> Model:
    builder = Builder(name)
    builder.link("base")
    names = ["base"]
    for k, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        builder.link(f"link{k}", **_random_body(rng))  # type: ignore[arg-type]
        parameters: dict[str, Any] = {"pitch": float(rng.uniform(-0.2, 0.2))} if kind == "helical" else {}
        if kind == "rolling":
            parameters = {"radius": float(rng.uniform(0.2, 0.5))}
        place, turn, axis = rng.normal(size=3) * 0.3, _random_rotation(rng), rng.normal(size=3)
        rotor = float(rng.uniform(0.0, 0.1)) if rotors and k % 3 == 0 else 0.0
        builder.joint(f"joint{k}", kind, names[parent], f"link{k}", place, turn,
                      axis if issubclass(JOINTS[kind], OnLine) else None, armature=rotor, **parameters)  # fmt: skip
        names.append(f"link{k}")
    return builder.build()
