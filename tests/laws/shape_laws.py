"""The laws of shape types, each a function of one with its sizes; `sized` makes one of any kind."""

import tempfile

import numpy as np

import hinge
from hinge.model.moments import of_triangles, surface
from hinge.model.shapes import SHAPES, Shape

FINE, NEAR = 300, 3e-4  # sides of what is round, and how far their corners are from round, as a share
AREA = 0.01  # Thomsen's formula for an ellipsoid


def sized(kind, seed=0):
    """One of random sizes."""
    rng = np.random.default_rng([seed, *kind.encode()])
    return SHAPES[kind](*rng.uniform(0.2, 1.0, len(SHAPES[kind].sizes())).tolist())


def directions(n=100):
    d = np.random.default_rng(1).normal(size=(n, 3))
    return np.concatenate([d, np.eye(3), -np.eye(3)])


def holds_what_its_triangles_hold(shape):
    """Mass, centre and inertia are those of the drawing, by integrals over its tetrahedra."""
    drawn, solid = of_triangles(*shape.triangles(FINE), np.zeros(3), True), shape.solid()
    size = solid.content * shape.reach**2
    assert abs(drawn.content / solid.content - 1.0) < NEAR  # positive: triangles are seen from outside
    np.testing.assert_allclose(drawn.center, solid.center, atol=NEAR * shape.reach)
    np.testing.assert_allclose(drawn.inertia, solid.inertia, atol=NEAR * size)


def shell_is_its_surface(shape):
    """The same of the surface. An ellipsoid's is MuJoCo's layer, thinner where it bends more: its area is compared."""
    drawn, shell = surface(*shape.triangles(FINE)), shape.shell()
    even = shape.kind != "ellipsoid"
    assert abs(drawn.content / shell.content - 1.0) < (NEAR if even else AREA)
    if even:
        np.testing.assert_allclose(drawn.center, shell.center, atol=NEAR * shape.reach)
        np.testing.assert_allclose(drawn.inertia, shell.inertia, atol=NEAR * shell.content * shape.reach**2)


def support_is_the_farthest_vertex(shape):
    """No vertex of the drawing is farther in a direction than the support, and the farthest is as far."""
    vertices, d = shape.triangles(FINE)[0], directions()
    far, drawn = (shape.support(d) * d).sum(axis=1), (d @ vertices.T).max(axis=1)
    slack = NEAR * shape.reach * np.linalg.norm(d, axis=1)
    assert (drawn <= far + 1e-12 * slack / NEAR).all()
    assert (far <= drawn + slack).all()


def support_scales_and_batches(shape):
    """It does not depend on the length of a direction, and is the same for one and for many."""
    d = directions(20)
    np.testing.assert_allclose(shape.support(7.0 * d), shape.support(d), atol=1e-15)
    np.testing.assert_array_equal(shape.support(d.reshape(2, 13, 3)).reshape(-1, 3), shape.support(d))
    for one in d:
        np.testing.assert_allclose(shape.support(one), shape.support(one[None])[0], atol=1e-15)


def reach_holds_it(shape):
    """Nothing is farther from the origin than its reach, and something is as far."""
    far = np.linalg.norm(shape.triangles(FINE)[0], axis=1).max()
    assert far <= shape.reach * (1.0 + 1e-12)
    assert far >= shape.reach * (1.0 - NEAR)


def comes_back_from_every_format_that_spells_it(shape):
    """Written and read, its sizes are the same to the last bit; a format without a word for it says so."""
    builder = hinge.Builder("one")
    size = tuple(getattr(shape, name) for name in shape.sizes())
    at = {"xyz": (0.1, 0.2, 0.3), "rotation": ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))}
    builder.link("base")
    builder.link("body", 1.0, inertia=np.eye(3), shapes=[Shape("visual", shape.kind, size, **at)])
    builder.joint("hinge", "revolute", "base", "body", axis=(0.0, 0.0, 1.0), lower=-1.0, upper=1.0)
    robot = hinge.Robot(builder.build())
    for format, suffix in (("urdf", ".urdf"), ("mjcf", ".xml")):
        with tempfile.TemporaryDirectory() as folder:
            report = hinge.write(robot, f"{folder}/one{suffix}")
            read = hinge.load(f"{folder}/one{suffix}").model.shapes.get("body", ())
        if getattr(shape, format):
            assert [(one.role, one.geometry, one.xyz) for one in read] == [("visual", shape, at["xyz"])]
            np.testing.assert_allclose(read[0].rotation, at["rotation"], atol=1e-15)
        else:
            assert not read
            assert "shape" in [finding.code for finding in report]


LAWS = (holds_what_its_triangles_hold, shell_is_its_surface, support_is_the_farthest_vertex, support_scales_and_batches,
        reach_holds_it, comes_back_from_every_format_that_spells_it)  # fmt: skip
