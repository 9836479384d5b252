"""Re-framing: the same robot with its body frames moved to where the arithmetic is cheapest.

Every joint with a line gets that line as its z axis. The x axis of a body is put on the common perpendicular between
its own line and that of the child which carries most, so that the transform to that child is a screw about x and a
screw about z: Denavit and Hartenberg's scheme, featherstone1987 8.2.1, carried over to trees. A body without such a
child turns its x axis towards its centre of mass. Bodies on other joints keep their frames. The move is constant and
made once; frames by name are carried along, so every result stays in the user's frames.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from hinge.model.joints import X_AXIS, Y_AXIS, Z_AXIS
from hinge.model.model import Frame, Model
from hinge.spatial.inertia import RigidInertia
from hinge.spatial.linear3 import IDENTITY, ZERO, Mat3, Sym3, Vec3, cross3, dot3
from hinge.spatial.rotation import snapped_circle, snapped_rotation
from hinge.spatial.transform import Factor, Rigid, Screw, Transform

LONG = 10.0  # a perpendicular whose foot is this many link lengths away says that the lines are all but parallel
DUST = 1e-14  # relative size of what rounding leaves where zero is meant


def reframe(model: Model) -> Model:
    """The model in cheap frames. Joint coordinates, forces and named frames mean what they meant."""
    seat = _seats(model)
    joint, placement, inertia = list(model.joint), list(model.placement), list(model.inertia)
    for i, p in model.outward():
        joint[i] = model.joint[i].on_z() or model.joint[i]
        R, r = relative(seat[p], _standing(model, i), seat[i])
        lined = model.joint[i].line is not None
        placement[i] = Transform(*_factors(R, r)) if p and lined else Transform(Rigid(snapped_rotation(R).T, r))
        inertia[i] = moved(model.inertia[i], seat[i])
    frames = {name: Frame(f.body, *seen_from(seat[f.body], f.R, f.p)) for name, f in model.frames.items()}
    return replace(
        model, joint=tuple(joint), placement=tuple(placement), inertia=tuple(inertia), frames=frames, seats=tuple(seat)
    )


def unmoved(model: Model) -> Model:
    """The model in the frames it was given in, ready for tracing: what is made of symbols has no cheapest frame."""
    return replace(model, seats=((IDENTITY, ZERO),) * len(model.parent))


Seat = tuple[Mat3, Vec3]  # the axes and origin of a body's new frame, in its old one


def _standing(model: Model, i: int) -> Seat:
    """Where body i's old frame stands in its parent's old frame when its joint is at rest."""
    return model.placement[i].pose()


def seen_from(seat: Seat, R: Mat3, p: Vec3) -> Seat:
    """Axes and origin given in the old frame, in the new."""
    return seat[0].T.times(R), seat[0].T @ (p - seat[1])


def _placed(at: Seat, seat: Seat) -> Seat:
    """Axes and origin given in a frame that stands at `at`, in the frame outside."""
    return at[0].times(seat[0]), at[1] + at[0] @ seat[1]


def relative(parent: Seat, at: Seat, child: Seat) -> Seat:
    """Where the child's new frame stands in the parent's new frame."""
    return seen_from(parent, *_placed(at, child))


def moved(inertia: RigidInertia, seat: Seat) -> RigidInertia:
    R, p = seat
    if R == IDENTITY and p == ZERO:
        return inertia
    moved = Transform(Rigid(R, -(R.T @ p))).T @ inertia
    reach = max(map(abs, p))
    h_dust = DUST * (max(map(abs, inertia.h)) + abs(inertia.m) * reach)
    I_dust = DUST * (max(map(abs, inertia.I)) + reach * (h_dust / DUST))
    return RigidInertia(moved.m, Vec3(_dusted(moved.h, h_dust)), Sym3(_dusted(moved.I, I_dust)))


def _dusted(values: tuple[float, ...], dust: float) -> Iterator[float]:
    return (0.0 if abs(x) <= dust else x for x in values)


# where the frames go


def _seats(model: Model) -> list[Seat]:
    """A new frame for each body, outward from the base, which keeps its own."""
    heir = _heirs(model)
    seats: list[Seat] = [(IDENTITY, ZERO)] * len(model.parent)
    for i, p in model.outward():
        axis = model.joint[i].line
        if axis is None:
            continue
        at = _standing(model, i)
        plain = _plain_seat(model, i, axis, seen_from(at, *seats[p]), p == 0)
        c = heir[i]
        if c:
            stands = _standing(model, c)
            line = stands[0] @ (model.joint[c].line or axis)
            seats[i] = _towards_line(axis, plain, line, stands[1])
        else:
            seats[i] = _towards_mass(axis, plain, model.inertia[i])
    return seats


def _heirs(model: Model) -> list[int]:
    """For each body the child with a line that carries most, or 0."""
    carried = [1] * len(model.parent)
    heir = [0] * len(model.parent)
    for i, p in model.inward():
        carried[p] += carried[i]
        if model.joint[i].line is not None and (not heir[p] or carried[i] >= carried[heir[p]]):
            heir[p] = i
    return heir


def _basis(z: Vec3, towards: Vec3) -> Mat3 | None:
    """Right-handed axes with the given z and x as close to `towards` as can be; None where that says nothing."""
    x = towards - z * dot3(z, towards)
    length = math.sqrt(dot3(x, x))
    if length <= 1e-12 * math.sqrt(dot3(towards, towards)) or length == 0.0:
        return None
    x = x * (1.0 / length)
    y = cross3(z, x)
    return snapped_rotation(Mat3(e for row in zip(x, y, z, strict=True) for e in row))


def _first_basis(z: Vec3, *towards: Vec3) -> Mat3:
    made = (_basis(z, t) for t in (*towards, X_AXIS, Y_AXIS))
    return next(b for b in made if b is not None)


def _plain_seat(model: Model, i: int, z: Vec3, parent: Seat, rooted: bool) -> Seat:
    """The seat that asks least of the transform from the parent: at the foot of the perpendicular from its z axis."""
    if rooted:  # the base's own transform is constant, and gravity without a y component is cheaper
        down = parent[0] @ Vec3(model.gravity)
        return _first_basis(z, down, parent[0].column(0)), ZERO
    foot, x = _perpendicular(parent[0].column(2), parent[1], z, ZERO)
    return _first_basis(z, x, parent[0].column(0)), z * dot3(z, foot)


def _perpendicular(z0: Vec3, o0: Vec3, z1: Vec3, o1: Vec3) -> tuple[Vec3, Vec3]:
    """The foot on line 1 of the common perpendicular from line 0, and its direction; parallel lines: through o0."""
    n, between = cross3(z0, z1), o1 - o0
    nn = dot3(n, n)
    if nn > 1e-22:
        t = dot3(cross3(z0, between), n) / -nn
        if abs(t) <= LONG * max(math.sqrt(dot3(between, between)), 1e-3):
            return o1 + z1 * t, n
    t = -dot3(between, z1)
    foot = o1 + z1 * t
    return foot, foot - o0


def _towards_line(z: Vec3, plain: Seat, line: Vec3, through: Vec3) -> Seat:
    """x on the perpendicular to another line."""
    foot, x = _perpendicular(line, through, z, ZERO)
    n = cross3(z, line)
    if dot3(n, n) <= 1e-22:  # parallel: any perpendicular will do, so keep the origin
        across = (through - plain[1]) - z * dot3(z, through - plain[1])
        small = max(map(abs, across)) <= 1e-12 * max(1e-3, *map(abs, through))
        return (plain[0] if small else _first_basis(z, across)), plain[1]
    return _first_basis(z, x), z * dot3(z, foot)


def _towards_mass(z: Vec3, plain: Seat, inertia: RigidInertia) -> Seat:
    """The cheaper of the plain seat and those with the centre of mass below the origin or on the x axis."""
    if inertia.m == 0.0:
        return plain
    com = inertia.com
    foot, basis = z * dot3(z, com), _basis(z, com) or plain[0]
    choices = [(plain[0], plain[1]), (plain[0], foot), (basis, plain[1]), (basis, foot)]
    return min(choices, key=lambda seat: _cost_of_inertia(moved(inertia, seat)) + 2 * (seat[1] != plain[1]))


def _cost_of_inertia(I: RigidInertia) -> int:
    return 2 * sum(x != 0.0 for x in I.h) + sum(x != 0.0 for x in I.I[3:])


# what the transforms become


def _factors(R: Mat3, p: Vec3) -> list[Factor]:
    """The cheaper of a general transform and screws about z, x and z that stands for axes R and origin p."""
    general: list[Factor] = [Rigid(snapped_rotation(R).T, p)]
    three = screws(R, p)
    if three is None or _cost(general) < _cost(three[:2]) + 2 * (three[2].shift != 0.0):
        return general
    return [s for s in three if s.shift != 0.0 or s.s != 0.0 or s.c != 1.0]


def screws(R: Mat3, p: Vec3) -> list[Screw] | None:
    """Screws about z, x and z whose product stands at axes R and origin p: theta, alpha and the two lengths each."""
    z1 = R.column(2)
    sine = math.hypot(z1[0], z1[1])
    dust = DUST * 10 * max(1e-3, *map(abs, p))
    if sine < DUST:
        z1, sine = Vec3((0.0, 0.0, math.copysign(1.0, z1[2]))), 0.0
        flat = math.hypot(p[0], p[1])
        n = Vec3((p[0] / flat, p[1] / flat, 0.0)) if flat > dust else X_AXIS
    else:
        n = Vec3((-z1[1] / sine, z1[0] / sine, 0.0))  # z × z1
        if n[0] < 0.0 and abs(n[1]) < DUST:  # the x axis itself rather than its opposite
            n, sine = -n, -sine
    b = cross3(Z_AXIS, n)
    a = dot3(p, n)
    d1 = -dot3(p, b) / sine if sine else p[2] * z1[2]
    d0 = p[2] - d1 * z1[2]
    if abs(d1) > LONG * max(map(abs, (*p, 1e-3))):
        return None
    first = Screw(2, _angle(n[0], n[1]), _short(d0, dust))
    second = Screw(0, _angle(z1[2], sine), _short(a, dust))
    left, _ = Transform(first, second).pose()
    last = left.T.times(R)
    return [first, second, Screw(2, _angle(last[0], last[3]), _short(d1, dust))]


def _angle(c: float, s: float) -> float:
    c, s = snapped_circle(c, s)
    return math.atan2(s, c)


def _short(x: float, dust: float) -> float:
    return 0.0 if abs(x) <= dust else x


def _cost(factors: list[Screw] | list[Factor]) -> int:
    """Multiplications to take a motion through."""
    total = 0
    for f in factors:
        if isinstance(f, Screw):
            total += 8 * (f.s not in (0.0, 1.0, -1.0)) + 2 * (f.shift != 0.0)
        elif isinstance(f, Rigid):
            total += 2 * sum(e not in (0.0, 1.0, -1.0) for e in f.E) + 2 * sum(e != 0.0 for e in f.r)
    return total
