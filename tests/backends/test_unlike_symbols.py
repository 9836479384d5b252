"""Two quantities never have one symbol, whatever joints and links are called."""

import numpy as np
import pytest

import hinge
from hinge.export.equations import symbol_names
from hinge.export.programs import traced

sympy = pytest.importorskip("sympy")
JOINTS = ("universal", "revolute", "spherical", "free", "prismatic", "planar")
NAMES = ("s", "s_1", "s_1_2", "s-1", "joint1", "1", "joint_1", "s 1", "S", "s.0", "s_0", "s_2")


def robot_of(seed):
    """A chain whose joints and links are named to be confused, and some of whose numbers vary."""
    rng = np.random.default_rng(seed)
    builder, before = hinge.Builder("confused"), "w"
    builder.link("w")
    joints, links = rng.permutation(NAMES)[:5].tolist(), [f"a{x}b" for x in rng.permutation(NAMES)[:5]]
    for joint, link in zip(joints, links, strict=True):
        builder.link(link, 1.0, com=(0.1, 0.2, 0.3), inertia=np.diag([0.1, 0.2, 0.3]))
        builder.joint(joint, str(rng.choice(JOINTS)), before, link, (0, 0, 1.0))
        before = link
    numbers = [f"{link}.{what}" for link in links for what in ("mass", "com", "inertia")]
    return hinge.Robot(builder.build()).vary(*numbers, *(f"{joint}.damping" for joint in joints))


@pytest.mark.parametrize("seed", range(12))
def test_every_entry_has_a_symbol_of_its_own(seed):
    robot = robot_of(seed)
    program = traced(robot.target, robot.target.traced, "inverse_dynamics", None, "", {"joint_terms": ("damping",)})
    names = symbol_names(robot.target, program)
    several = [n for array in names.values() for n in array]
    symmetric = 3 * 5  # the inertia of each link has three pairs of equal entries
    assert len(set(map(str, several))) == len(several) - symmetric


def test_three_coordinates_are_three_symbols_and_two_masses_two():
    builder = hinge.Builder("x")
    builder.link("w")
    builder.link("a-b", 1.0, com=(0.1, 0.2, 0.3), inertia=np.diag([0.1, 0.2, 0.3]))
    builder.link("a_b", 2.0, com=(0.1, 0, 0.3), inertia=np.diag([0.1, 0.2, 0.3]))
    builder.joint("s", "universal", "w", "a-b")
    builder.joint("s_1", "revolute", "a-b", "a_b", (0, 0, 1.0), axis=(0, 1, 0))
    made = hinge.Robot(builder.build()).vary("a-b.mass", "a_b.mass").equations("gravity_force")
    assert {str(s) for s in made.free_symbols} == {"q_s_0", "q_s_1", "q_s_1_2", "m_a_b", "m_a_b_2"}


@pytest.mark.parametrize("language", ["c", "listing", "latex"])
def test_what_is_about_two_frames_is_not_written_for_one(language):
    arm = hinge.samples.planar_2r()
    with pytest.raises(hinge.UnknownName, match="cross_inertia is about 2 frames, a and b; 1 is named"):
        arm.source("cross_inertia", language, at="hand")
    with pytest.raises(hinge.UnknownName, match="cross_inertia is about 2 frames"):
        arm.equations("cross_inertia", at="hand")
