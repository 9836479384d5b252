"""The doctor on every real robot of example-robot-data: its proofs hold, and its repairs leave nothing to repair."""

from functools import cache

import numpy as np
import pytest
from real_robots import FILES, REFUSED, UNSOLVABLE, WELDED, few
from sweeps import swept

import hinge
from hinge.checking.proofs import draw, positive_definite, prove
from hinge.checking.repairs import EXAMINED

pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
pytest.importorskip("mujoco", reason="MuJoCo is not installed")
if not FILES:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

READ = [file for file in FILES if file not in REFUSED]
MUJOCO_REFUSES = {  # what it says of 25 files
    "inertia must have positive eigenvalues": 13,
    "inertia must satisfy A + B >= C": 6,
    "mass and inertia of moving bodies must be larger than mjMINVAL": 5,
    "has inertia and no mass, which MuJoCo leaves out": 1,
}

pytestmark = pytest.mark.usefixtures("plain_interpreter")


@cache
def proofs(file):
    return {proof.name: proof for proof in prove(hinge.load(FILES[file]), FILES[file].read_bytes(), states=3)}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file", swept(READ, few))
def test_the_proofs_hold(file):
    made = proofs(file)
    failed = [name for name, proof in made.items() if proof.passed is False]
    assert failed == (["positive definite"] if file in UNSOLVABLE else [])
    if file in WELDED:
        assert {proof.detail for proof in made.values()} == {"nothing moves."}
        return
    skipped = {name for name, proof in made.items() if proof.passed is None} - {"agrees with MuJoCo"}
    assert skipped == ({"machine code", "forward undoes inverse"} if file in UNSOLVABLE else {"machine code"})
    assert made["agrees with Pinocchio"].worst < 1e-10


@pytest.mark.sweep
def test_mujoco_is_compared_where_it_reads_the_file():
    moving = [proofs(file)["agrees with MuJoCo"] for file in READ if file not in WELDED]
    why = [proof.detail for proof in moving if proof.passed is None]
    assert {words: sum(words in detail for detail in why) for words in MUJOCO_REFUSES} == MUJOCO_REFUSES
    assert len(why) == sum(MUJOCO_REFUSES.values())
    assert sum(proof.passed is True for proof in moving) == len(moving) - len(why)


@pytest.mark.parametrize("file", ["panda_description/urdf/panda.urdf", "go2_description/urdf/go2.urdf"])
def test_a_floating_base_is_compared_with_pinocchio(file):
    robot = hinge.load(FILES[file], base="floating")
    made = {p.name: p for p in prove(robot, FILES[file].read_text(), states=3)}
    assert made["agrees with Pinocchio"].passed
    assert made["agrees with MuJoCo"].detail == "MuJoCo reads a URDF with a fixed base."


def test_another_robot_does_not_agree():
    """One link heavier by a millionth is found by both."""
    file = FILES["ur_description/urdf/ur5_robot.urdf"]
    text = file.read_text()
    assert 'mass value="8.393"' in text
    made = {p.name: p.outcome for p in prove(hinge.load(text.replace('value="8.393"', 'value="8.3930084"')), text)}
    assert (made["agrees with Pinocchio"], made["agrees with MuJoCo"]) == ("failed", "failed")


@pytest.mark.parametrize("axis", ["0 0 1", "0 1 0"])
def test_a_planar_joint_is_compared_where_its_normal_is_read(axis):
    text = FILES["ur_description/urdf/ur5_robot.urdf"].read_text()
    before, joint, after = text.partition('name="elbow_joint" type="revolute"')
    moved = before + joint.replace("revolute", "planar") + after.replace('axis xyz="0 1 0"', f'axis xyz="{axis}"', 1)
    made = {p.name: p for p in prove(hinge.load(moved), moved, states=2)}
    if axis == "0 0 1":
        assert made["agrees with Pinocchio"].passed
    else:
        why = "joint 'elbow_joint' is planar, and Pinocchio reads it with the normal z."
        assert (made["agrees with Pinocchio"].passed, made["agrees with Pinocchio"].detail) == (None, why)
    assert made["agrees with MuJoCo"].passed is None
    assert made["agrees with MuJoCo"].detail.startswith("they have no joint 'elbow_joint'. Did you mean 'elbow_joint_T")


@pytest.mark.parametrize("file", swept(READ, few))
def test_a_repaired_robot_is_sound(file):
    robot = hinge.load(FILES[file])
    mended, changes = hinge.repair(robot)
    told = [finding for finding in robot.report if finding.code in EXAMINED]
    assert bool(changes) == bool(told)
    assert [f for f in mended.report if f.code in EXAMINED] == []
    assert list(mended.report) == [f for f in robot.report if f.code not in EXAMINED]
    again, more = hinge.repair(mended)
    assert again is mended
    assert len(more) == 0
    if mended.nv:
        assert positive_definite(draw(mended, 3))[0] > 1e-9
    assert mended.mass == pytest.approx(robot.mass, rel=1e-12)
    if not changes:
        assert mended is robot


def test_repairs_change_little():
    """Of a robot that is moved by its legs, a link of a gram is mended: the mass matrix is the same but for it."""
    robot = hinge.load(FILES["pr2_description/urdf/pr2.urdf"])
    mended, changes = hinge.repair(robot)
    q, _ = robot.random_state(np.random.default_rng(0), 3)
    was, now = robot.mass_matrix(q), mended.mass_matrix(q)
    assert len(changes) == 2
    assert 0.0 < np.abs(was - now).max() < 0.01


def test_tags_of_other_programs_do_not_matter():
    """A prefix that nothing declares, mimic, shapes and materials are not handed over."""
    text = FILES["panda_description/urdf/panda.urdf"].read_text()
    text = text.replace("</robot>", '<gazebo:sensor ros:name="a" name="b"/></robot>')
    made = {p.name: p.outcome for p in prove(hinge.load(text), text, states=2)}
    assert (made["agrees with Pinocchio"], made["agrees with MuJoCo"]) == ("passed", "passed")
