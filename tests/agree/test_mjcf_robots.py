"""Every MJCF file of the packages gymnasium and dm_control, against MuJoCo.

Names, masses, centres and inertias body by body, reference configuration, limits, poses of bodies and sites,
keyframes, mass matrix, bias force and forward dynamics.
"""

import sysconfig
from pathlib import Path

import numpy as np
import pytest
from mujoco_pair import compared, mujoco
from sweeps import swept

ROOT = Path(sysconfig.get_path("purelib"))
FILES = [
    str(path.relative_to(ROOT).as_posix())
    for p in ("gymnasium", "dm_control")
    for path in sorted((ROOT / p).rglob("*.xml"))
]
AGREES = 1e-9
AXES = 1e-7  # of an inertia: where MuJoCo stops to turn a mesh to its axes
NO_ROBOTS = {"schema.xml", "attribute_test_schema.xml"}  # <element>, which describes MJCF
ROBOTS = [file for file in FILES if Path(file).name not in NO_ROBOTS]


def quick(file):
    return file.startswith("gymnasium")


@pytest.mark.sampled(7)
@pytest.mark.skipif(not FILES, reason="neither gymnasium nor dm_control is installed")
@pytest.mark.parametrize("file", swept(ROBOTS, quick))
def test_a_file_means_the_same_robot(file):
    path = ROOT / file
    try:
        meshes = mujoco.MjModel.from_xml_path(str(path)).nmesh
    except ValueError as error:
        pytest.skip(f"MuJoCo cannot load it: {error}")
    compared(path, AGREES, AXES if meshes else None, packages=[ROOT / "dm_control" / "suite"])  # a dog has meshes there


@pytest.mark.parametrize(("turned", "left"), [(5e-7, 0.0), (2e-7, 2e-7)])
def test_mujoco_stops_turning_a_mesh_to_its_axes(turned, left):
    """Why inertias of meshes are compared to AXES: below that, MuJoCo leaves what is off the diagonal."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)], float)
    corners = corners @ [[1, turned, 0], [-turned, 1, 0], [0, 0, 1]]
    mesh = f'<mesh name="box" vertex="{" ".join(map(str, corners.ravel()))}"/>'
    body = '<body><freejoint/><geom type="mesh" mesh="box"/></body>'
    text = f"<mujoco><asset>{mesh}</asset><worldbody>{body}</worldbody></mujoco>"
    found = 2 * mujoco.MjModel.from_xml_string(text).body_iquat[1, 3]
    np.testing.assert_allclose(turned - found, left, atol=1e-8)  # vertices are in single precision
