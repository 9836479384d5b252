"""Arguments of a wrong type get an error of hinge's own, which says what to give."""

import numpy as np
import pytest

import hinge
from hinge.model import JOINTS


@pytest.mark.parametrize("source", [None, 3, ["a"], {}, 1.5, object()])
def test_check_says_what_it_takes(source):
    with pytest.raises(hinge.SizeError, match="Give a path, the text of a robot file, or a robot"):
        hinge.check(source)


@pytest.mark.parametrize("certify", [False, True])
def test_check_takes_a_robot_too(certify):
    text = '<robot name="r"><link name="a"><inertial><mass value="-1"/></inertial></link><link name="b"/></robot>'
    assert hinge.check(text).exit_code == 2
    arm = hinge.samples.puma560()
    found = hinge.check(arm, certify=certify)
    assert found.robot is arm
    assert found.file == arm.name
    assert {f.code for f in arm.report} <= {f.code for f in found.findings}
    assert bool(found.proofs) == certify
    assert all(proof.passed is not False for proof in found.proofs)
    with pytest.raises(hinge.UnknownName, match="base is for loading"):
        hinge.check(arm, base="floating")


@pytest.mark.parametrize("names", [(["shoulder"],), (None,), (3,), (("shoulder", "elbow"),), ({},)])
def test_prescribe_takes_names(names):
    with pytest.raises(hinge.HingeError, match=r"is no name of a joint\. Give names one by one"):
        hinge.samples.planar_2r().prescribe(*names)


@pytest.mark.parametrize("part", [3, "x", 1.5, {0}])
def test_prescribe_takes_lists_of_velocities(part):
    with pytest.raises(hinge.HingeError, match=r"prescribe: shoulder=.* is no list"):
        hinge.samples.planar_2r().prescribe(shoulder=part)


ROTATIONS = [(np.float64(0.1), 0.0, 0.0), (0.1, 0.0, 0.0), np.array([0.1, 0, 0]), [0.1, 0, 0], "abc", 3, np.eye(2),
             None, (np.eye(3),), np.zeros((3, 3)), [[1, 0], [0, 1]], {}]  # fmt: skip


@pytest.mark.parametrize("rotation", ROTATIONS, ids=repr)
@pytest.mark.parametrize("where", ["rotation", "child_rotation"])
def test_a_rotation_is_three_by_three(rotation, where):
    for kind in JOINTS:
        builder = hinge.Builder("a")
        builder.link("w")
        builder.link("c", 1.0)
        with pytest.raises(hinge.ModelError) as wrong:
            builder.joint("j", kind, "w", "c", axis=(0, 1, 0), **{where: rotation})
        assert wrong.value.code in ("rotation", "number", "parameter"), kind
    with pytest.raises(hinge.ModelError):
        builder.frame("f", "w", rotation=rotation)
