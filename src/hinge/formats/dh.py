"""Denavit-Hartenberg tables into a Builder.

    classic     T = Rz(theta) Tz(d) Tx(a) Rx(alpha)      joint i moves about z of frame i - 1
    modified    T = Rx(alpha) Tx(a) Rz(theta) Tz(d)      joint i moves about z of frame i

`theta` and `d` in a row are offsets; the joint's own coordinate is added to one of them. The modified convention is
that of featherstone1987 8.2.1; turney1981 and nasser1990 use the classic one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from hinge import notebook
from hinge.errors import NOWHERE, ModelError, NotCovered, Where, did_you_mean
from hinge.graph.expr import Scalar
from hinge.model import Builder, Model, reframe
from hinge.model.frames import screws
from hinge.model.joints import Helical, spelled
from hinge.model.model import JointData
from hinge.model.numbers import numbers
from hinge.model.potentials import refuse
from hinge.model.symbols import is_symbolic, unknown
from hinge.spatial.transform import Screw

DATA = ("velocity", "effort", "armature", "damping", "friction", "stiffness", "reference", "rest")  # as a joint has it
KEYS = {
    "a", "alpha", "d", "theta", "type", "pitch", "driven_by", "mass", "com", "inertia", "name", "limits", *DATA,
}  # fmt: skip


def _turn(axis: int, angle: Scalar) -> np.ndarray:
    turn = Screw(axis, angle)
    T, c, s = _unit(turn.s), turn.c, turn.s
    x, y = (axis + 1) % 3, (axis + 2) % 3
    T[x, x], T[x, y], T[y, x], T[y, y] = c, -s, s, c
    return T


def _shift(axis: int, distance: Scalar) -> np.ndarray:
    T = _unit(distance)
    T[axis, 3] = distance
    return T


def _unit(entry: Scalar) -> np.ndarray:
    """The identity, ready to take that entry: symbols do not go into an array of numbers."""
    return np.eye(4, dtype=object) * 1.0 if unknown([entry]) else np.eye(4)


def _entry(row: Mapping[str, Any], k: int, key: str) -> Scalar:
    """A length or an angle of row k, a number or a symbol."""
    return numbers(f"row {k} of the table", key, [row.get(key, 0.0)], (1,), NOWHERE)[0]


def read(rows: Sequence[Mapping[str, Any]], convention: str = "classic", base: Any = None, tool: Any = None,
         name: str = "arm", wheres: Sequence[Where] = (), **options: Any) -> Builder:  # fmt: skip
    """The arm a table describes, a row a joint. `base` and `tool` are 4×4 poses; the hand's frame is called "tool".

    `wheres` says where each row is written, and `options` are the builder's.
    """
    if convention not in ("classic", "modified"):
        raise ModelError("convention", f'convention="{convention}" is not known.', 'Give "classic" or "modified".')
    builder = Builder(name, **options)
    builder.link("base")
    before = _pose("base", base)
    link = "base"
    for k, row in enumerate(rows, start=1):
        where = wheres[k - 1] if wheres else NOWHERE
        unknown = set(row) - KEYS
        if unknown:
            word = sorted(unknown)[0]
            raise ModelError("dh-key", f"row {k} of the table has {word!r}.", did_you_mean(word, KEYS), where)
        types = spelled("dh")
        kind = types.get(row.get("type", "revolute"))
        if kind is None:
            raise ModelError("joint-type", f"row {k} of the table has type {row['type']!r}.",
                             did_you_mean(str(row["type"]), types), where)  # fmt: skip
        a, alpha, theta, d = (_entry(row, k, key) for key in ("a", "alpha", "theta", "d"))
        about_x, along_z = _shift(0, a) @ _turn(0, alpha), _turn(2, theta) @ _shift(2, d)
        inner, outer = (
            (before, along_z @ about_x) if convention == "classic" else (before @ about_x @ along_z, np.eye(4))
        )
        body = row.get("name", f"link{k}")
        lower, upper = _limits(k, row.get("limits"), where)
        parameters = {"pitch": row.get("pitch", 0.0)} if row.get("type") == "screw" else {}
        parameters |= {"driven_by": row["driven_by"]} if "driven_by" in row else {}
        builder.link(body, row.get("mass", 0.0), row.get("com", (0.0, 0.0, 0.0)), row.get("inertia"), where=where)
        builder.joint(row.get("name", f"joint{k}"), kind, link, body, inner[:3, 3], inner[:3, :3], (0, 0, 1),
                      child_xyz=outer[:3, 3], child_rotation=outer[:3, :3], lower=lower, upper=upper, where=where,
                      **{key: row[key] for key in DATA if key in row}, **parameters)  # fmt: skip
        link, before = body, np.eye(4)
    hand = _pose("tool", tool)
    builder.frame("tool", link, hand[:3, 3], hand[:3, :3])
    return builder


def _limits(k: int, given: Any, where: Where) -> tuple[Any, Any]:
    """Lower and upper limit, each a number, or a list with one for each coordinate."""
    if given is None:
        return None, None
    try:
        lower, upper = given
    except (TypeError, ValueError):
        raise ModelError("limits", f"row {k} of the table has limits {given!r}.",
                         "Give two, lower and upper; inf where there is none.", where) from None  # fmt: skip
    return lower, upper


def _pose(what: str, given: Any) -> np.ndarray:
    if is_symbolic(given) and np.shape(given) == (4, 4):  # of symbols nobody can say whether they are a rotation
        made = np.empty(16, object)
        made[:] = numbers(f"{what}=", "an entry", given, (4, 4), NOWHERE)
        return made.reshape(4, 4)
    try:
        T = np.eye(4) if given is None else np.asarray(given, float)
    except (TypeError, ValueError):
        T = np.zeros(0)
    turns = T.shape == (4, 4) and np.all(np.isfinite(T)) and np.array_equal(T[3], (0, 0, 0, 1))
    turns = turns and np.allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), atol=1e-9) and np.linalg.det(T[:3, :3]) > 0
    if not turns:
        raise ModelError(
            "pose", f"{what}= is not a pose.", "Give a 4×4 matrix [R p; 0 1] with a right-handed rotation R."
        )
    return T


class Table(NamedTuple):
    """A Denavit-Hartenberg table with the poses of its base and tool; `hinge.dh(**table._asdict())` reads it."""

    rows: list[dict[str, Any]]
    convention: str
    base: np.ndarray
    tool: np.ndarray
    gravity: tuple[float, ...]

    def _repr_html_(self) -> str:
        columns = ("name", "type", "alpha", "a", "theta", "d", "mass")
        rows = [[row.get(name, "0") for name in columns] for row in self.rows]
        shown = [[f"{x:.6g}" if isinstance(x, float) else x for x in row] for row in rows]
        return notebook.table(columns, shown, f"Denavit-Hartenberg table, {self.convention}", words=2)


def write(model: Model) -> Table:
    """The table of a serial arm, in the modified convention; its tool is the frame of the last body."""
    refuse(model, "a Denavit-Hartenberg table")
    why = _not_an_arm(model) or (f"it is made of symbols ({', '.join(model.symbols)})" if model.symbols else "")
    if why:
        raise NotCovered(f"robot {model.name!r} has no Denavit-Hartenberg table: {why}.")
    framed = reframe(model)
    rows, base = list[dict[str, Any]](), np.eye(4)
    for i, _ in model.outward():
        R, p = framed.placement[i].pose()
        x, z = (None, None) if i == 1 else _two_screws(R, p, model.joint_name[i])
        if x is None or z is None:
            base[:3, :3], base[:3, 3] = np.reshape(R, (3, 3)), p
        inertia, joint, data = framed.inertia[i], model.joint[i], model.data[i]
        com = tuple(inertia.com) if inertia.m else (0.0, 0.0, 0.0)
        about = np.reshape(inertia.about_com.full() if inertia.m else inertia.I.full(), (3, 3))
        row = {"name": model.joint_name[i], "type": joint.dh, "mass": inertia.m, "com": com, "inertia": about}
        row |= {"alpha": x.angle, "a": x.shift, "theta": z.angle, "d": z.shift} if x and z else {}
        row |= {"pitch": joint.pitch} if isinstance(joint, Helical) else {}
        row |= {"driven_by": joint.driven_by} if isinstance(joint, Helical) and joint.driven_by != "screw" else {}
        if any(map(math.isfinite, (*data.lower, *data.upper))):
            row["limits"] = _entries(data.lower), _entries(data.upper)
        unsaid = replace(JointData.unsaid(joint), reference=tuple(joint.neutral()), rest=tuple(model.neutral(i)))
        for key in DATA:
            values = getattr(data, key)
            if values and values != getattr(unsaid, key):
                row[key] = _entries(values)
        rows.append(row)
    last = framed.frames[model.body_name[-1]]
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = np.reshape(last.R, (3, 3)), last.p
    return Table(rows, "modified", base, tool, model.gravity)


def _entries(values: tuple[float, ...]) -> float | tuple[float, ...]:
    """A number where there is one entry, else all of them."""
    return values[0] if len(values) == 1 else values


def _two_screws(R: Any, p: Any, name: str) -> tuple[Screw, Screw]:
    first, x, z = screws(R, p) or (None, None, None)
    if first is None or x is None or z is None or first.shift or first.s or first.c != 1.0:
        raise NotCovered(f"joint {name!r} is all but parallel to the one before it: no table describes it well.")
    return x, z


def _not_an_arm(model: Model) -> str:
    for i, p in model.outward():
        if p != i - 1:
            return f"it branches at body {model.body_name[p]!r}"
        if i in model.follows:
            return f"joint {model.joint_name[i]!r} follows another"
        if not model.joint[i].dh:
            return f"joint {model.joint_name[i]!r} is {model.joint[i].kind}"
    return "" if model.count else "nothing moves"
