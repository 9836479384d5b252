"""Words that URDF does not have are findings with their line and a suggestion; those of other programs are quiet."""

import pytest

import hinge

LINES = {
    "robot": '<robot name="r">',
    "base": '<link name="a"/>',
    "link": '<link name="b">',
    "inertial": '<inertial><origin xyz="1 0 0"/><mass value="1"/>',
    "inertia": '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>',
    "shape": '<collision><geometry><mesh filename="m.stl" scale="2 2 2"/></geometry></collision></link>',
    "joint": '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>',
    "origin": '<origin xyz="0 0 1" rpy="0 0 0"/><axis xyz="0 1 0"/>',
    "limit": '<limit lower="-1" upper="2" effort="1" velocity="1"/>',
    "dynamics": '<dynamics damping="0.1" friction="0.2"/>',
    "mimic": "</joint>",
    "end": "</robot>",
}
MISSPELLED = [  # line, what is right, what is written, the word that is not known
    ("inertial", "<origin", "<orign", "orign"),
    ("origin", "xyz", "xzy", "xzy"),
    ("limit", "upper", "uper", "uper"),
    ("dynamics", "<dynamics", "<dynamic", "dynamic"),
    ("dynamics", "damping", "dampening", "dampening"),
    ("shape", "scale", "scal", "scal"),
    ("shape", "collision", "colision", "colision"),
    ("shape", "<mesh", "<msh", "msh"),
    ("joint", 'type="revolute"', 'type="revolute" axs="1 0 0"', "axs"),
    ("robot", "name", "nam", "nam"),
]


def text(line="", right="", written=""):
    return "\n".join(said.replace(right, written) if key == line else said for key, said in LINES.items())


def unknown(report):
    return [finding for finding in report if finding.code.startswith("unknown-")]


@pytest.mark.parametrize(("line", "right", "written", "word"), MISSPELLED)
def test_a_misspelled_word_is_a_finding_with_its_line_and_a_suggestion(line, right, written, word):
    finding = unknown(hinge.check(text(line, right, written)).findings)[0]
    assert (finding.severity, finding.where.line) == ("warning", 1 + list(LINES).index(line))
    assert repr(word) in finding.what or f"<{word}>" in finding.what
    assert "Did you mean" in finding.fix or "Known" in finding.fix
    with pytest.raises(hinge.ModelError) as caught:
        hinge.load(text(line, right, written), strict=True)
    assert caught.value.code.startswith("unknown-")


EXTENSIONS = [
    ("robot", '"r">', '"r" xmlns:drake="x" xmlns="y"><gazebo reference="a"><any thing="1"/></gazebo>'),
    ("base", "<link", '<transmission name="t"><x/></transmission><ros2_control name="c"/><sensor name="s"/><link'),
    ("base", "<link", '<mujoco><compiler meshdir="x"/></mujoco><drake:joint name="x"/><link'),
    ("link", '<link name="b">', '<link name="b" drake:x="1"><contact><lateral_friction value="1"/></contact>'),
    ("limit", "/>", ' drake:acceleration="1"/><drake:ellipsoid a="1"/>'),
]  # fmt: skip


@pytest.mark.parametrize(("line", "right", "written"), EXTENSIONS)
def test_words_of_other_programs_are_quiet(line, right, written):
    assert not unknown(hinge.load(text(line, right, written)).report)


def test_nothing_is_said_of_what_urdf_has():
    assert not unknown(hinge.load(text()).report)


def test_a_link_named_world_may_be_implied():
    robot = hinge.load(text("joint", 'link="a"', 'link="world"').replace('<link name="a"/>', ""))
    assert [finding.where.line for finding in robot.report if finding.code == "implied-world"] == [7]
    assert robot.nv == 1
