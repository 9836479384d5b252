"""The words of MJCF that hinge knows are those of MuJoCo, and a word that nobody knows is refused everywhere."""

import mujoco
import pytest

import hinge
from hinge.formats.mjcf.words import ATTRIBUTES, CHILDREN, SPOKEN

OLD = {  # words of earlier versions, and one that all actuators are given
    "option": {"apirate", "collision", "mpr_iterations", "mpr_tolerance"},
    "damper": {"ctrllimited"},
}


def grammar():
    """The attributes of each element of MuJoCo's schema, by its path; a line goes on with more attributes."""
    made, path = {}, []
    for line in mujoco.mj_printSchema(False, True).splitlines():
        start, tag, rest = line[: len(line) - len(line.lstrip())], *(line.split(maxsplit=1) + ["", ""])[:2]
        if rest.startswith("(") and rest[2:3] == ")":
            path = [*path[: len(start) // 3], tag]
            made["/".join(path)] = set(rest[3:].split())
        elif tag:
            made["/".join(path)] |= set(line.split())
    return made


GRAMMAR = grammar()
PLACES = [path.split("/", 1)[1] for path in GRAMMAR if path.count("/") >= 1 and path.split("/")[1] in CHILDREN]


@pytest.mark.parametrize("place", PLACES)
def test_hinge_knows_the_words_of_mujoco(place):
    *around, tag = place.split("/")
    words = SPOKEN.get("/".join([*around[-1:], tag]), ATTRIBUTES.get(tag))
    if words is not None and around:
        assert words - OLD.get(tag, set()) == GRAMMAR[f"mujoco/{place}"]
    if around and len(around) == 1 and tag != "plugin":
        assert tag in CHILDREN[around[0]]


LINES = {
    "option": '<option timestep="0.01"><flag contact="enable"/></option>',
    "contact": '<contact><exclude body1="a" body2="b"/><pair geom1="g" geom2="h"/></contact>',
    "tendon": '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed><spatial><site site="s"/><site site="r"/>'
    '<pulley divisor="2"/><site site="s"/><geom geom="g"/><site site="r"/></spatial></tendon>',
    "equality": '<equality><connect body1="a" anchor="0 0 0"/><weld body1="a"/><joint joint1="j"/><tendon tendon1="t"/>'
    "</equality>",
    "actuator": '<actuator><motor joint="j"/><position joint="j" kp="2"/><general tendon="t"/></actuator>',
}
BODY = '<body name="{}"><joint name="{}" axis="0 1 0"/><geom name="{}" size=".1"/><site name="{}" pos="0 0 .3"/></body>'
WORLD = f"<worldbody>{BODY.format('a', 'j', 'g', 's')}{BODY.format('b', 'k', 'h', 'r')}</worldbody>"


def file(*sections):
    return f"<mujoco>{WORLD}{''.join(sections)}</mujoco>"


def misspelled(text):
    """The text with each of its elements and attributes misspelled in turn, but for the section itself."""
    for k, mark in enumerate(text):
        if mark == "<" and text[k + 1] != "/" and k:
            tag = text[k + 1 :].split()[0].split(">")[0].split("/")[0]
            yield text[: k + 1] + tag + "zz" + text[k + 1 + len(tag) :].replace(f"</{tag}>", f"</{tag}zz>", 1)
        elif mark == "=":
            yield text[:k] + "zz" + text[k:]


def test_the_file_is_right_where_nothing_is_misspelled():
    assert hinge.load(file(*LINES.values())).nv == mujoco.MjModel.from_xml_string(file(*LINES.values())).nv


@pytest.mark.parametrize("section", LINES)
def test_a_misspelled_word_is_refused(section):
    others = [line for name, line in LINES.items() if name != section]
    for wrong in misspelled(LINES[section]):
        with pytest.raises(hinge.ModelError) as caught:
            hinge.load(file(wrong, *others))
        assert caught.value.code in ("unknown-attribute", "unknown-element"), wrong
        assert caught.value.hint
