"""MJCF, MuJoCo's robot files, into a Builder.

    words.py      the words MJCF has
    settings.py   compiler settings, default classes, orientations
    document.py   a file with its includes, assets and attached models
    tree.py       bodies one after another, frames and repetitions worked out
    mesh.py       mass and inertia of meshes
    mass.py       the mass of a body
    physics.py    contacts, constraints, tendons and options; actuators.py actuators
    read.py       bodies into links, joints, frames and shapes
    other_sections.py  everything else: kept, or refused

Where MuJoCo's documentation leaves a choice open, MuJoCo 4 itself was asked; the tests compare with it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from hinge.errors import ModelError, Where
from hinge.formats.mjcf import other_sections as kept
from hinge.formats.mjcf.actuators import Actuators, groups_off
from hinge.formats.mjcf.document import Document, Folder, open_document
from hinge.formats.mjcf.physics import Names, Speaker, contacts, equalities, options, pair_names, tendons
from hinge.formats.mjcf.read import Reader
from hinge.formats.mjcf.tree import Body, Scope, bodies
from hinge.formats.xml import no_collection
from hinge.model.build import EARTH, Builder
from hinge.model.file_physics import FilePhysics


def read(text: str | bytes, file: str = "", folder: str | None = None, packages: Sequence[str] = (),
         floating: bool = False) -> Builder:  # fmt: skip
    """The robot an MJCF text describes.

    `file` names it in messages. Includes, attached models and meshes are looked for in `folder`, where the file lies,
    and in the `packages` folders. `floating` frees the one body that is fixed to the world.
    """
    document = open_document(text, file, Folder.of(folder, packages))
    given = document.root.attributes.get("model", "").strip()
    builder = Builder(given or os.path.splitext(os.path.basename(file))[0] or "robot", EARTH, file)
    builder.gravity = kept.gravity(document, EARTH)
    kept.refuse_unmodelled(document)
    with no_collection():
        found = list(bodies(document))
        names = Names.of(found)
        reader = Reader(builder, names.known)
        reader.afloat = _loose(found, builder) if floating else None
        scopes = {(id(b.scope.document), b.scope.prefix): b.scope for b in found}
        for scope in scopes.values():
            reader.paired |= pair_names(scope.document, scope.prefix)
            reader.referenced |= {scope.prefix + name for name in kept.bodies_named(scope.document)}
            for what, known in reader.added.items():
                for joint, value in kept.added(scope.document, what, scope.prefix):
                    known[joint] = known.get(joint, 0.0) + value
        for part in {id(scope.document): scope.document for scope in scopes.values()}.values():
            if part is not document:
                kept.attached(part, document, builder)
        for body in found:
            reader.body(body)
        reader.build(document.settings)
        kept.sections(document, builder)
        kept.of_bodies(found, builder)
        kept.keyframes(document, reader.layout, builder)
        made = _physics(document, list(scopes.values()), names, reader)
        builder.physics = replace(made, excludes=(*made.excludes, *kept.on_mocap(found)))
    return builder


def _physics(document: Document, scopes: Sequence[Scope], names: Names, reader: Reader) -> FilePhysics:
    """What the file says besides the tree: its own part, and then that of the models it attaches."""
    builder, off = reader.builder, groups_off(list(document.sections("option")))
    made = FilePhysics(options(document, builder))
    for scope in scopes:
        main = scope.document is document and not scope.prefix
        speaker = Speaker(scope.document, scope.prefix, main, names, builder)
        damping = dict(kept.added(scope.document, "damping", scope.prefix, "tendon"))
        ropes = tendons(speaker, reader.rests, damping)
        excludes, pairs = contacts(speaker)
        ranges = {one.name: one.range for one in ropes}
        made = replace(
            made,
            actuators=(*made.actuators, *Actuators(speaker, reader.scalar, ranges, off).read()),
            tendons=(*made.tendons, *ropes),
            equalities=(*made.equalities, *equalities(speaker)),
            excludes=(*made.excludes, *excludes),
            pairs=(*made.pairs, *pairs),
        )
    return replace(made, left_out=tuple(dict.fromkeys(builder.left_out)))


def _loose(found: Sequence[Body], builder: Builder) -> Body:
    """The body that floats when the base of the robot is to: the only one in the world, and without joints."""
    top = [body for body in found if body.parent is found[0]]
    if len(top) == 1 and not top[0].joints:
        return top[0]
    why = f"the world holds {len(top)} bodies" if len(top) != 1 else f"{top[0].element} has a joint of its own"
    raise ModelError("base", f'base="floating" needs one body that is fixed to the world, but {why}.',
                     "Leave base= out: the file says itself what floats.", Where(builder.file))  # fmt: skip


__all__ = ["read"]
