"""An attribute of MJCF with a blank value: a number that is not there, for MuJoCo and for hinge."""

import numpy as np
import pytest

import hinge
from hinge.formats.mjcf.words import ATTRIBUTES, NUMBERS

mujoco = pytest.importorskip("mujoco")
ARM = """<mujoco><compiler {compiler}/>
<default><geom rgba="1 0 0 1" density="500"/><joint armature="0.5" damping="2" axis="0 1 0"/></default>
<worldbody><body name="b" {body}><joint name="j" {joint}/><geom type="capsule" size="0.1 0.2" {geom}/></body>
</worldbody></mujoco>"""
PLACES = ("compiler", "body", "joint", "geom")
CASES = [(tag, name) for tag in PLACES for name in sorted(NUMBERS & ATTRIBUTES[tag] - {"size"})]


def arm(tag, name, value):
    return ARM.format(**{place: f'{name}="{value}"' if place == tag else "" for place in PLACES})


@pytest.mark.sampled(49)
@pytest.mark.parametrize("blank", ["", "  "])
@pytest.mark.parametrize(("tag", "name"), CASES)
def test_a_blank_number_is_what_it_is_without_it(tag, name, blank):
    theirs = mujoco.MjModel.from_xml_string(arm(tag, name, blank))
    ours, without = (hinge.load(text) for text in (arm(tag, name, blank), ARM.format(**dict.fromkeys(PLACES, ""))))
    assert ours.mass == without.mass == pytest.approx(theirs.body_mass.sum(), rel=1e-12)
    assert ours.model.data == tuple(without.model.data)
    np.testing.assert_array_equal(*(robot.mass_matrix([0.3], backend="interpret") for robot in (ours, without)))


@pytest.mark.parametrize(
    ("tag", "name"), [("joint", "type"), ("joint", "limited"), ("geom", "class"), ("body", "mocap")]
)
def test_a_blank_word_is_refused_by_both(tag, name):
    with pytest.raises(ValueError, match="XML Error"):
        mujoco.MjModel.from_xml_string(arm(tag, name, ""))
    with pytest.raises(hinge.ModelError):
        hinge.load(arm(tag, name, ""))
