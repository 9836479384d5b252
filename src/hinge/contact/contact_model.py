"""What may touch in a simulation, and by which law: pairs of shapes that are found anew in every step, or contacts that
are given.

    touch = contact_model(robot.target, contacts="file", ground=Ground(friction=0.8), law="rigid")
    slots = touch.found(model, q)

It is data: two that are equal make the same step.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from hinge.arguments import Array, finite, number
from hinge.calls.call import Call
from hinge.calls.target import Target
from hinge.contact.collision import collide, tangent_of
from hinge.contact.collision_pairs import DEFAULT, FilePair, Pairs, afloat, collision_shapes, file_pairs, ordered
from hinge.contact.collision_shapes import CollisionShape, column, half_space, placed
from hinge.contact.contact_kinematics import Touch as Meeting
from hinge.contact.contacts import Contact
from hinge.contact.dynamics import checked
from hinge.contact.law import ContactLaw, PairSurfaces
from hinge.contact.laws import LAWS, NoContact
from hinge.contact.laws.soft_parameters import Weights
from hinge.contact.slots import Slots, Touch
from hinge.dynamics.kinematics import poses
from hinge.dynamics.registry import POSITION, Algorithm, Quantity, unregistered
from hinge.errors import NotCovered, SizeError, UnknownName, did_you_mean, one_of
from hinge.graph import Scalar, less, maximum, repeat, select
from hinge.integrators.steps import PerJoint
from hinge.model import Model, unmoved
from hinge.model.file_physics import Surface, Touching, mixed
from hinge.model.height_fields import HeightField, Heights
from hinge.model.shapes import Mesh, Shape
from hinge.model.vary import Parameter, varied
from hinge.spatial import Motion, Vec3
from hinge.spatial.rotation import shortest_turn
from hinge.typing import AnyArray

MOST_POINTS = {"sphere": 1, "ellipsoid": 1, "capsule": 2}  # that such a shape has with any other; else:
POINTS = 4
ON_TERRAIN, TERRAIN_ROOM = 16, 64  # the most contacts of a shape that there is room for, and of all of them
THICK = 1.0  # m: how far terrain goes down below its lowest point
NO_CONTACT = NoContact()
NO_WEIGHT = ("gravity", "velocity", "effort", "damping", "stiffness", "rest")  # fields that no contact law depends on


@dataclass(frozen=True)
class Ground:
    """What bodies stand on: a half-space with its height (m) along a normal, or terrain, and what its surface does.

    `heights` (rows, columns) above that height (m), rows along y, are terrain over a rectangle about the origin with
    edges `size` (x, y) in m. `friction` is that of sliding, or of sliding, spinning and rolling (m); a shape whose file
    states friction has the greater of the two. `compliance` is in m/N.

    >>> hinge.Ground(friction=0.8).height
    0.0
    >>> hinge.Ground(heights=[[0.0, 0.1], [0.2, 0.3]], size=(4.0, 4.0)).heights.step
    (4.0, 4.0)
    """

    height: float = 0.0
    normal: tuple[float, ...] = (0.0, 0.0, 1.0)
    friction: float | tuple[float, ...] = 1.0
    restitution: float = 0.0
    compliance: float = 0.0
    heights: Any = None
    size: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        n = finite("Ground: normal", self.normal).astype(float)
        if n.shape != (3,) or not n.any():
            raise SizeError(f"Ground: normal is {self.normal!r}. Give a direction of three numbers.")
        for name in ("height", "restitution", "compliance"):
            object.__setattr__(self, name, number(f"Ground: {name}", getattr(self, name)) + 0.0)  # no -0.0
        mu = finite("Ground: friction", self.friction).astype(float).reshape(-1)
        if mu.size not in (1, 3) or (mu < 0.0).any():
            raise SizeError(f"Ground: friction is {self.friction!r}. Give one number from 0 up, or three.")
        if not 0.0 <= self.restitution <= 1.0 or not self.compliance >= 0.0:
            raise SizeError(
                f"Ground: restitution is {self.restitution!r} and compliance {self.compliance!r}.\n"
                "  Give a restitution from 0 to 1, and a compliance from 0 up."
            )
        object.__setattr__(self, "normal", tuple(map(float, n / np.linalg.norm(n))))
        if (self.heights is None) != (self.size is None) or (self.size is not None and n[:2].any()):
            raise SizeError("Ground: terrain has heights, a size, and a normal along z. Give both, and no normal.")
        if self.size is not None and not isinstance(self.heights, Heights):
            rows = finite("Ground: heights", self.heights)
            object.__setattr__(self, "heights", Heights(rows, self.size, THICK - float(rows.min(initial=0.0))))
            object.__setattr__(self, "size", self.heights.size)
        object.__setattr__(self, "friction", tuple(map(float, mu)) if mu.size == 3 else float(mu[0]))

    @property
    def surface(self) -> Surface:
        mu = self.friction if isinstance(self.friction, tuple) else (self.friction, 0.0, 0.0)
        condim = 6 if mu[2] else 4 if mu[1] else 3 if mu[0] else 1
        return Surface(friction=mu, condim=condim)


@dataclass(frozen=True)
class ContactModel:
    """What may touch: shapes on links, in pairs, or contacts that are given; the law, and room for how many."""

    law: ContactLaw = NO_CONTACT
    room: int = 0
    contacts: tuple[Contact, ...] = ()
    ground: Ground | None = None
    shapes: tuple[tuple[str, Shape], ...] = ()  # after the ground, where there is one
    rows: tuple[tuple[int, int], ...] = ()
    within: tuple[float, ...] = ()  # m: the gaps below which pairs are contacts
    names: tuple[tuple[str, str], ...] = ()  # of the links of pairs, as the normal leads
    hulls: str = ""  # a digest of the points of meshes
    surfaces: tuple[Parameter, ...] = ()  # friction and restitution that are given
    whole: bool = False  # with limits, dry friction and equalities of a file
    sides: bool = False  # terrain has the inner edges that MuJoCo finds

    def surfaced(self, numbers: Sequence[Scalar]) -> ContactModel:
        """The same with numbers in the places of its surfaces; of a pair that has two of them the greater."""
        pairs = self.law.pairs
        given: list[dict[str, Scalar]] = [{} for _ in pairs]
        for one, x in zip(self.surfaces, numbers, strict=True):
            for k in self._pairs_of(one):
                given[k][one.field] = maximum(given[k][one.field], x) if one.field in given[k] else x
        made: Any = tuple(pair.surfaced(own) if own else pair for pair, own in zip(pairs, given, strict=True))
        law: Any = self.law
        return replace(self, law=replace(law, pairs=made))

    def weighed(self, target: Target, numbers: Sequence[Scalar]) -> ContactModel:
        """The same with the varied numbers of a robot as inputs: how much bodies give way is computed from these."""
        if not self.active or all(one.field in NO_WEIGHT for one in target.vary):
            return self
        model = varied(unmoved(target.model), target.vary, numbers)
        weights = Weights(model, self.law.of_file)
        pushes = [_weight(weights, names) for names in self.names]
        return replace(self, law=self.law.weighed(model, weights, pushes, self.whole))

    def _pairs_of(self, surface: Parameter) -> list[int]:
        """The pairs that a surface is of: those of a link, or with what stands still."""
        if surface.owner:
            return [k for k, names in enumerate(self.names) if surface.owner in names]
        return [k for k, pair in enumerate(self.law.pairs) if 0 in (pair.first, pair.second)]

    def with_surfaces(self, surfaces: Sequence[Parameter]) -> ContactModel:
        """The same, of which these surfaces are given; refuses what there is no contact of."""
        made = replace(self, surfaces=tuple(surfaces))
        for one in surfaces:
            if one.field not in self.law.surface_fields:
                raise NotCovered(
                    f"parameter {one.name!r}: the {self.law.name} law knows no {one.field}. Use law='rigid'."
                )
            if not made._pairs_of(one):
                whose = f"link {one.owner!r} can touch nothing" if one.owner else "nothing can touch what stands still"
                links = dict.fromkeys(name for names in self.names for name in names)
                raise UnknownName(f"parameter {one.name!r}: {whose}. {did_you_mean(one.owner, links)}")
        return made

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    @property
    def active(self) -> bool:
        """Whether a contact law acts; without one nothing can touch."""
        return self.law.finds_contacts

    @cached_property
    def links(self) -> tuple[str, ...]:
        """The links that may touch, in the order in which pairs name them; what does not move is none."""
        bodies = [(pair.first, pair.second) for pair in self.law.pairs]
        named = [one for both in zip(self.names, bodies, strict=True) for one in zip(*both, strict=True)]
        return tuple(dict.fromkeys(link for link, body in named if body))

    def found(self, model: Model, q: PerJoint, like: Scalar, slopes: bool = False) -> Slots:
        """The contacts of a configuration; with `slopes` they have derivatives."""
        slots, (R, r) = Slots(self.room, like), poses(model, q)
        if self.contacts:
            still = [Motion()] * len(R)
            for k, contact in enumerate(self.contacts):
                at = Meeting(model, contact, contact.numbers, (R, r), still)
                point, within = at.at - at.n * (0.5 * at.gap), self.within[k]
                slots.add(less(at.gap, within), Touch(float(k), at.gap, point, at.n, tangent_of(at.n, None)))
        else:
            collide(self.pairs(model), R, r, slots, like, slopes)
        return slots

    def depth(self, model: Model, q: PerJoint) -> list[Scalar]:
        """Of the contact that is deepest for the size of its shapes: how deep as a share of that, its pair, and its
        depth (m)."""
        like = next(x for row in q for x in row)
        slots, shapes = self.found(model, q, like), self.pairs(model).shapes
        size = column([min(shapes[i].reach for i in row) for row in self.rows], range(len(self.rows)))

        def deeper(k: Scalar, *now: Scalar) -> list[Scalar]:
            touch = slots[k]
            share = select(less(k, slots.count - 0.5), -touch.gap / size(touch.pair), 0.0)
            more = less(now[0], share)
            return [select(more, x, y) for x, y in zip((share, touch.pair, -touch.gap), now, strict=True)]

        return list(repeat(self.room, [0.0 * like] * 3, deeper))

    def pairs(self, model: Model) -> Pairs:
        """The pairs of shapes."""
        made = [] if self.ground is None else [_stood_on(self.ground)]
        return Pairs((*made, *(placed(model, link, shape) for link, shape in self.shapes)), self.rows, self.within,
                     self.sides)  # fmt: skip


NOTHING = ContactModel()  # that can touch


def deep_starts(target: Target, touch: ContactModel, q: Array, further: Sequence[Array] = ()) -> AnyArray:
    """Return in which states q (n, nq) something is so deep in something else that no step can have led there.

    `further` are the rows of varied numbers.
    The rigid law has no answer to such a state; a warning names the deepest. Other laws push shapes apart.
    """
    deepest = touch.law.deepest_start
    if not len(q) or not touch.rows or deepest == math.inf:
        return np.zeros(len(q), bool)
    share, pair, depth = Call.outside_registry(target, (_depth_algorithm, touch)).kernel(q, *further).T
    worst = int(np.argmax(share))
    if share[worst] > deepest:
        shapes = touch.pairs(target.model).shapes
        one, other = (f"the {shapes[i].geometry.kind} on {shapes[i].name!r}" for i in touch.rows[int(pair[worst])])
        where = f"q0 of rollout {worst}" if len(q) > 1 else "q0"
        warnings.warn(
            f"{where}: {other} is {depth[worst]:.3g} m deep in {one}; such a rollout has the status REFUSED.\n"
            "  Start them apart, push them apart by short runs with law='soft', or leave the pair out.",
            stacklevel=5,
        )
    return share > deepest


def _depth_algorithm(touch: ContactModel) -> Algorithm:
    gives = {"deepest": Quantity("share, pair, depth", lambda m: (3,))}
    return unregistered("depth", touch.depth, {"q": POSITION}, gives)


def _stood_on(ground: Ground) -> CollisionShape:
    if ground.heights is not None:
        field = HeightField(ground.heights)
        return CollisionShape("ground", field, 0, np.eye(3), np.array([0, 0, ground.height]), np.zeros(3), field.reach)
    return half_space(np.array(ground.normal), ground.height, np.array(shortest_turn(Vec3(ground.normal))))


def contact_model(target: Target, contacts: Any, ground: Any, law: str, whole: bool = False,
                  surfaces: Sequence[Parameter] = ()) -> ContactModel:  # fmt: skip
    """What may touch: `contacts` is None, "file", "self" or a list of `Contact`, `ground` None, a height or a `Ground`.

    With "file" it is the pairs that an MJCF file says; of any other robot its links with the world. With "self" its
    links touch each other too, but neighbours and those that overlap at the reference configuration. With a ground all
    links touch that. With `whole` limits, dry friction and equalities of the file are in the soft law too. `surfaces`
    are friction and restitution that are given.
    """
    one_of("law", law, LAWS)
    if contacts is None and ground is None and not whole:
        if surfaces:
            raise SizeError(
                f"parameter {surfaces[0].name!r} is of contacts, and there are none. Give ground= or contacts=."
            )
        return NOTHING
    made: Callable[..., ContactModel] = _shaped
    if isinstance(contacts, str):
        one_of("contacts", contacts, ("file", "self"))
    elif contacts is not None and not isinstance(contacts, Sequence):
        raise SizeError(f'contacts is {contacts!r}. Give None, "file", "self", or a list of hinge.Contact.')
    elif contacts is not None:
        contacts, made = checked(target, contacts), _given
    if made is _shaped and not whole:
        refuse_shapeless(target, "ground=" if contacts is None else f"contacts={contacts!r}")
    words = contacts, _ground(ground), LAWS[law], whole
    return target.memo(_built, made, target, words, tuple(surfaces))


def _built(
    build: Callable[..., ContactModel], target: Target, words: tuple[Any, ...], surfaces: tuple[Parameter, ...]
) -> ContactModel:
    return build(target.model, *words).with_surfaces(surfaces)


def refuse_shapeless(target: Target, given: str) -> None:
    """Raise where a robot has no collision shape that moves, so that nothing can touch anything."""
    if not any(one.body for one in collision_shapes(target.model)):
        raise NotCovered(
            f"{given} has no effect: no moving link of robot {target.name!r} has a collision shape.\n"
            "  Give its links shapes: <collision> in a URDF file, geoms in an MJCF file, or shapes= of Builder.link."
        )


def _ground(given: Any) -> Ground | None:
    if given is None or isinstance(given, Ground):
        return given
    if isinstance(given, int | float | np.number) and not isinstance(given, bool) and np.isfinite(given):
        return Ground(float(given))
    raise SizeError(f"ground is {given!r}. Give None, a height in m, or a hinge.Ground.")


def _given(
    model: Model, contacts: tuple[Contact, ...], ground: Ground | None, law: type[ContactLaw], whole: bool
) -> ContactModel:
    """Contacts that were given, each a pair of its own."""
    if ground is not None:
        raise NotCovered(
            "contacts are given one by one, and so is a ground. Give one of them, or contacts of the ground."
        )
    for k, contact in enumerate(contacts):
        if contact.face is not None:
            raise NotCovered(
                f"contacts[{k}], {contact}, is on a face that ends, and the list of a run has endless planes.\n"
                '  Give contacts="self", which finds contacts in every step, use hinge.simulate_contacts, or take the '
                "face away with dataclasses.replace(contact, face=None)."
            )
    weights, pairs = Weights(model, law.of_file), []
    for contact in contacts:
        (second, first), mu = contact.bodies(model), contact.friction
        touching = Touching(condim=3 if mu else 1, friction=(mu, mu, 0.0, 0.0, 0.0))
        links = (contact.body, contact.other)
        weight = _weight(weights, links)
        pairs.append(PairSurfaces(first, second, touching, contact.restitution, contact.compliance, weight))
    names = tuple((contact.other or "world", contact.body) for contact in contacts)
    made = law.of(model, weights, pairs, whole)
    return ContactModel(made, len(contacts), contacts, within=(0.0,) * len(contacts), names=names, whole=whole)


def _shaped(
    model: Model, contacts: str | None, ground: Ground | None, law: type[ContactLaw], whole: bool
) -> ContactModel:
    """Pairs of shapes."""
    placed_shapes = collision_shapes(model)
    stated = any(one.shape.surface is not None for one in placed_shapes)
    pairs: list[tuple[int, int, Touching]] = []
    shift = 0 if ground is None else 1
    if ground is not None:
        pairs += [(0, k + 1, _on(ground) if one.surface == DEFAULT else mixed(ground.surface, one.surface))
                  for k, one in enumerate(placed_shapes) if one.body]  # fmt: skip
    number = {id(one.shape): k + shift for k, one in enumerate(placed_shapes)}
    if (contacts == "file" and stated) or contacts == "self":
        listed = file_pairs(model)
        if not stated:
            listed = [pair for pair in listed if not _made_to_overlap(model, pair)]
        pairs += [(number[id(pair.first.shape)], number[id(pair.second.shape)], pair.touching) for pair in listed]
    elif contacts == "file":
        pairs += [(number[id(a.shape)], number[id(b.shape)], Touching()) for a in placed_shapes if not a.body
                  for b in placed_shapes if b.body]  # fmt: skip
    made = [] if ground is None else [_stood_on(ground)]
    made += [placed(model, one.link, one.shape) for one in placed_shapes]
    weights, told, rows = Weights(model, law.of_file), [], []
    for i, j, touching in pairs:
        a, b = ordered(made, i, j)
        e, soft = (ground.restitution, ground.compliance) if ground is not None and a == 0 else (0.0, 0.0)
        weight = _weight(weights, (made[a].name, made[b].name))
        told.append(PairSurfaces(made[a].body, made[b].body, touching, e, soft, weight))
        rows.append((a, b))
    within = tuple(pair.touching.margin if law.of_file else 0.0 for pair in told)
    met = [(made[a], made[b]) for a, b in rows]
    points = sum(min(MOST_POINTS.get(one.geometry.kind, POINTS) for one in both) for both in met if not _field(both))
    terrain = sum(min(field.triangles_under(both[1].reach), ON_TERRAIN) for both in met if (field := _field(both)))
    room = max(1, min(points, POINTS * len(made)) + min(terrain, TERRAIN_ROOM))
    names = tuple((made[a].name, made[b].name) for a, b in rows)
    shapes = tuple((one.link, one.shape) for one in placed_shapes)
    return ContactModel(
        law.of(model, weights, told, whole),
        room,
        (),
        ground,
        shapes,
        tuple(rows),
        within,
        names,
        _hulls(made),
        whole=whole,
        sides=law.of_file and contacts == "file" and (ground is None or ground.heights is None),
    )


def _field(pair: tuple[CollisionShape, CollisionShape]) -> Heights | None:
    """The heights of a pair whose first shape is terrain."""
    geometry = pair[0].geometry
    return geometry.heights if isinstance(geometry, HeightField) else None


def _on(ground: Ground) -> Touching:
    return mixed(ground.surface, ground.surface)


def _made_to_overlap(model: Model, pair: FilePair) -> bool:
    """Whether two shapes of one machine overlap at the reference configuration."""
    if afloat(model, pair.first.body) != afloat(model, pair.second.body):
        return False
    q = [list(model.neutral(i)) if i else [] for i in range(len(model.parent))]
    R, r = poses(model, q)
    made = [placed(model, one.link, one.shape) for one in (pair.first, pair.second)]
    slots = Slots(POINTS, 0.0)
    collide(Pairs(tuple(made), (ordered(made, 0, 1),), (0.0,)), R, r, slots, 0.0)
    return bool(slots.found > 0.0)


def _weight(weights: Weights, links: Sequence[str | None]) -> tuple[Scalar, Scalar]:
    """How much what two links are part of gives way."""
    known = [weights.link(link) for link in links if link not in (None, "ground", "world")]
    return sum(a for a, _ in known), sum(b for _, b in known)


def _hulls(shapes: Sequence[CollisionShape]) -> str:
    """A digest of what meshes are, which their files may say differently another time."""
    points = [one.geometry.corners for one in shapes if isinstance(one.geometry, Mesh)]
    return hashlib.sha256(b"".join(x.tobytes() for x in points)).hexdigest() if points else ""
