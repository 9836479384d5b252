"""Whatever an MJCF file holds, it gives a robot or an error of hinge's own.

Files are made up or real, and then spoilt: attributes dropped, renamed or filled with junk, elements moved, repeated,
renamed or removed, texts cut. Where MuJoCo reads a spoilt file as well, both must see the same coordinates.
"""

import sysconfig
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mjcf_made import Made
from robots import law, seeds

import hinge
from hinge.errors import HingeError

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")

JUNK = ("", " ", "nan", "inf", "-1", "0", "1", "1e308", "1e-320", "1e999", "1kg", "1 2", "1 2 3", "0 0 0 0",
        "1 2 3 4 5 6", "1,2,3", "true", "auto", "mesh", "free", "main", "none", "0x10", "१", "é", "x" * 3000,
        "../x.xml", "/", "~")  # fmt: skip
TAGS = ("body", "joint", "freejoint", "geom", "site", "frame", "replicate", "attach", "inertial", "include",
        "composite", "default", "mesh", "model", "worldbody", "compiler", "option", "key", "camera", "foo")  # fmt: skip
WORDS = ("name", "class", "childclass", "pos", "quat", "euler", "zaxis", "axis", "range", "limited", "ref", "type",
         "size", "mass", "density", "fromto", "mesh", "count", "sep", "offset", "prefix", "body", "model", "file",
         "armature", "damping", "stiffness", "springdamper", "align", "scale", "gear", "joint", "qpos", "gravcomp",
         "group",
         "fullinertia", "diaginertia", "angle", "eulerseq", "boundmass", "settotalmass", "gravity", "foo")  # fmt: skip


def spoil(root, rng, times):
    """Change a tree of elements here and there."""
    for _ in range(times):
        elements = [e for e in root.iter() if e is not root]
        if not elements:
            return
        element = elements[rng.integers(len(elements))]
        names = list(element.attrib)
        attribute = names[rng.integers(len(names))] if names else "name"
        parents = [e for e in root.iter() if element in list(e)]
        change = rng.integers(8)
        if change == 0:
            element.attrib.pop(attribute, None)
        elif change == 1 and names:
            element.set(str(rng.choice(WORDS)), element.attrib.pop(attribute))
        elif change in (2, 3):
            element.set(attribute, JUNK[rng.integers(len(JUNK))])
        elif change == 4:
            element.set(str(rng.choice(WORDS)), JUNK[rng.integers(len(JUNK))])
        elif change == 5:
            element.tag = str(rng.choice(TAGS))
        elif change == 6:
            parents[0].remove(element)
        else:  # move it, or a copy
            inside = set(element.iter())
            elsewhere = [e for e in root.iter() if e not in inside]
            elsewhere[rng.integers(len(elsewhere))].append(element)
            if rng.random() < 0.7:
                parents[0].remove(element)


def read(text, **options):
    """The robot of a text, or None where hinge says why there is none; anything else fails."""
    try:
        robot = hinge.load(text, **options)
    except HingeError:
        return None
    assert robot.neutral().shape == (robot.nq,)
    assert str(robot.report)
    return robot


def same_coordinates(text):
    """Read a text; where both readers make a robot of it, compare what moves."""
    robot = read(text)
    if robot is None:  # and MuJoCo is not asked, which some of these files would keep for ever
        return
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except ValueError:
        return
    assert (robot.nq, robot.nv) == (model.nq, model.nv)
    assert robot.mass == pytest.approx(sum(model.body_mass[model.body_weldid != 0]), rel=1e-6, abs=1e-12)


@law(250)
@given(seeds, st.integers(1, 4))
def test_a_spoilt_file_is_a_robot_or_an_error(seed, times):
    made = Made(seed, bodies=3)
    spoil(made.root, np.random.default_rng(seed), times)
    same_coordinates(made.text())


REAL = sorted(Path(sysconfig.get_path("purelib"), "gymnasium", "envs", "mujoco", "assets").glob("*.xml"))


@pytest.mark.skipif(not REAL, reason="gymnasium is not installed")
@law(150)
@given(seeds, st.integers(1, 4))
def test_a_spoilt_real_file_is_a_robot_or_an_error(seed, times):
    rng = np.random.default_rng(seed)
    root = ET.parse(REAL[rng.integers(len(REAL))]).getroot()
    spoil(root, rng, times)
    same_coordinates(ET.tostring(root, encoding="unicode"))


@law(150)
@given(seeds, st.binary(max_size=3))
def test_a_text_with_a_part_cut_out_or_overwritten_is_a_robot_or_an_error(seed, part):
    rng = np.random.default_rng(seed)
    data = Made(seed, bodies=1).text().encode()
    low, high = sorted(rng.integers(0, len(data), 2))
    high = high if rng.random() < 0.5 else low + len(part)
    text = (data[:low] + part + data[high:]).decode("utf-8", "replace")
    if "<" in text:
        read(text)
