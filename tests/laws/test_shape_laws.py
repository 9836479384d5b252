"""Every shape type keeps the laws of shapes; what MuJoCo weighs and draws is what ours weigh and reach."""

import numpy as np
import pytest
from shape_laws import LAWS, sized

from hinge.model.shapes import SHAPES, Mesh

KINDS = [kind for kind, shape in SHAPES.items() if shape.sizes()]


@pytest.mark.sampled(18)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_shape_keeps_the_laws(kind, law):
    for seed in range(3):
        law(sized(kind, seed))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if SHAPES[kind].mjcf])
def test_mujoco_weighs_it_alike_and_reaches_as_far(kind):
    mujoco = pytest.importorskip("mujoco")
    shape = sized(kind)
    size = " ".join(map(str, shape.mjcf_size))
    m = mujoco.MjModel.from_xml_string(f'<mujoco><worldbody><body><joint/><geom type="{shape.mjcf}" size="{size}" '
                                       'density="1"/></body></worldbody></mujoco>')  # fmt: skip
    solid = shape.solid()
    assert m.body_mass[1] == pytest.approx(solid.content, rel=1e-12)
    np.testing.assert_allclose(np.sort(m.body_inertia[1]), np.sort(np.diag(solid.inertia)), rtol=1e-12)
    box = shape.support(np.eye(3)).diagonal()
    np.testing.assert_allclose(m.geom_aabb[0, 3:], box, rtol=1e-12)


def test_a_mesh_is_drawn_and_touches_by_its_hull(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    ring = trimesh.creation.annulus(0.1, 0.2, 0.3)
    ring.export(tmp_path / "ring.stl")
    mesh = Mesh(str(tmp_path / "ring.stl"), (2.0, 1.0, 1.0))
    vertices, faces = mesh.triangles()
    assert trimesh.Trimesh(vertices, faces).volume == pytest.approx(2.0 * ring.volume)
    d = np.random.default_rng(0).normal(size=(50, 3))
    np.testing.assert_allclose((mesh.support(d) * d).sum(axis=1), (d @ vertices.T).max(axis=1), atol=1e-12)
    assert mesh.reach == pytest.approx(np.linalg.norm(vertices, axis=1).max())
