"""What an MJCF file says of contacts, tendons and actuators and cannot be, is refused by name and line."""

import pytest

import hinge

BODIES = """<body name="a"><joint name="j"/><geom name="g" size=".1"/><site name="s"/>
 <body name="b"><joint name="ball" type="ball"/><geom name="h" size=".1"/></body></body>"""


def loaded(after, bodies=BODIES):
    return hinge.load(f"<mujoco><worldbody>{bodies}</worldbody>\n\n{after}</mujoco>")


def geom(said):
    return f'<worldbody><body><joint/><geom name="foot" size=".1" {said}/></body></worldbody>'


ROPE = '<tendon><fixed name="t"><joint joint="j" coef="1"/></fixed></tendon>'
FAULTS = {
    "friction": ("geom 'foot' has friction=\"-.1\", below 0.", geom('friction="-.1"'), "Write zero or more."),
    "rolling": ("geom 'foot' has friction=\"1 1 -1\", below 0.", geom('friction="1 1 -1"'), "Write zero or more."),
    "solref": ("geom 'foot' has solref=\"1 2 3\": 3 values.", geom('solref="1 2 3"'), "Write at most 2 numbers."),
    "solimp": ("geom 'foot' has solimp=\"1 2 3 4 5 6\": 6 values.", geom('solimp="1 2 3 4 5 6"'),
               "Write at most 5 numbers."),
    "condim": ("geom 'foot' has condim 2.", geom('condim="2"'), "Write one of 1, 3, 4, 6."),
    "pair": ("<pair> speaks of geom 'G', which does not exist.",
             '<contact><pair geom1="g" geom2="G"/></contact>', "Known: 'g', 'h'."),
    "exclude": ("<exclude> speaks of body 'c', which does not exist.",
                '<contact><exclude body1="a" body2="c"/></contact>', "Known: 'a', 'b', 'world'."),
    "exclude word": ("<exclude> has an attribute 'body3', which MJCF does not know.",
                     '<contact><exclude body1="a" body3="c"/></contact>', "Did you mean 'body2' or 'body1'?"),
    "tendon": ("fixed 't' speaks of joint 'jj', which does not exist.", ROPE.replace('"j"', '"jj"'),
               "Did you mean 'j'?"),
    "tendon over a ball": ("fixed 't' runs over joint 'ball', which has several coordinates.",
                           ROPE.replace('"j"', '"ball"'), "Only hinges and slides can be in a fixed tendon."),
    "springlength": ("fixed 't' has springlength '2 1'.", ROPE.replace('"t"', '"t" springlength="2 1"'),
                     "Write a length, or a lower and an upper one."),
    "range": ("fixed 't' has range=\"2 1\".", ROPE.replace('"t"', '"t" range="2 1"'), "Write the lower end first."),
    "equality": ("<joint> speaks of joint 'k', which does not exist.",
                 '<equality><joint joint1="k"/></equality>', "Known: 'ball', 'j'."),
    "weld": ("weld 'w' speaks of body 'c', which does not exist.",
             '<equality><weld name="w" body1="c"/></equality>', "Known: 'a', 'b', 'world'."),
    "joint": ("motor 'm' speaks of joint 'k', which does not exist.",
              '<actuator><motor name="m" joint="k"/></actuator>', "Known: 'ball', 'j'."),
    "rope": ("motor 'm' speaks of tendon 'k', which does not exist.",
             f'{ROPE}<actuator><motor name="m" tendon="k"/></actuator>', "Known: 't'."),
    "site": ("motor 'm' speaks of site 'k', which does not exist.",
             '<actuator><motor name="m" site="k"/></actuator>', "Known: 's'."),
    "nothing": ("motor 'm' drives nothing.", '<actuator><motor name="m"/></actuator>',
                'Write joint="…", or what else it drives.'),
    "word": ("<motor> has an attribute 'ctrlrang', which MJCF does not know.",
             '<actuator><motor joint="j" ctrlrang="0 1"/></actuator>', "Did you mean 'ctrlrange'?"),
    "gaintype": ("<general> has gaintype=\"afine\".", '<actuator><general joint="j" gaintype="afine"/></actuator>',
                 "Did you mean 'affine' or 'fixed'?"),
    "ctrlrange": ("motor 'm' has ctrlrange=\"2 1\".",
                  '<actuator><motor name="m" joint="j" ctrlrange="2 1"/></actuator>', "Write the lower end first."),
    "kv": ("<position> has kv=\"-1\", below 0.", '<actuator><position joint="j" kv="-1"/></actuator>',
           "Write zero or more."),
    "both": ("<position> has both kv and dampratio.",
             '<actuator><position joint="j" kv="1" dampratio="1"/></actuator>', "Keep one."),
    "inherited": ("<position> has inheritrange, and joint 'j' has no range.",
                  '<actuator><position joint="j" inheritrange="1"/></actuator>', "Write ctrlrange."),
    "gear": ("<motor> has gear=\"1 2 3 4 5 6 7\": 7 values.",
             '<actuator><motor joint="j" gear="1 2 3 4 5 6 7"/></actuator>', "Write at most 6 numbers."),
    "timestep": ("<option> has a timestep or an impratio that is not above 0.", '<option timestep="0"/>',
                 "Write a number above 0."),
    "cone": ("<option> has cone=\"round\".", '<option cone="round"/>', "Known: 'elliptic', 'pyramidal'."),
}  # fmt: skip
CODES = {"friction": "friction", "rolling": "friction", "solref": "number", "condim": "condim", "pair": "unknown-geom",
         "tendon": "unknown-joint", "range": "limits", "rope": "unknown-tendon", "site": "unknown-site",
         "weld": "unknown-body", "kv": "actuator", "timestep": "option", "springlength": "tendon"}  # fmt: skip


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_is_refused(what):
    message, part, hint = FAULTS[what]
    with pytest.raises(hinge.ModelError) as caught:
        loaded(part)
    assert str(caught.value) == f"line 4: {message}\n  {hint}"
    assert caught.value.code == CODES.get(what, caught.value.code)


LEFT_OUT = {
    "spatial": '<tendon><spatial name="rope" stiffness="1"><site site="s"/><site site="s2"/></spatial></tendon>',
    "muscle": '<actuator><muscle joint="j"/></actuator>',
    "integrator": '<actuator><intvelocity joint="j"/></actuator>',
    "filter": '<actuator><position joint="j" timeconst=".1"/></actuator>',
    "user": '<actuator><general joint="j" gaintype="user"/></actuator>',
    "adhesion": '<actuator><adhesion body="a" gain="1"/></actuator>',
    "crank": '<actuator><motor cranksite="s" slidersite="s2" cranklength="1"/></actuator>',
    "refsite": '<actuator><motor site="s" refsite="s2"/></actuator>',
    "ball": '<actuator><motor joint="ball" gear="1 2 3"/></actuator>',
    "delay": '<actuator><motor joint="j" delay=".1" nsample="3"/></actuator>',
    "orientation": '<actuator><orientation joint="ball"/></actuator>',
    "override": '<option><flag override="enable"/></option>',
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_is_not_modelled_is_a_finding(what):
    robot = loaded(LEFT_OUT[what])
    found = [finding for finding in robot.report if finding.code == "left-out"]
    assert [(finding.severity, finding.where.line) for finding in found] == [("note", 4)]
    assert not any(one.active for one in robot.model.physics.actuators)
    assert len(robot.actuation.names) == {"orientation": 3}.get(what, "<actuator>" in LEFT_OUT[what])


@pytest.mark.parametrize(
    ("part", "said"),
    [("geom", 'adhesion="1"'), ("geom", 'surfacevel="0 0 1"'), ("joint", 'springyield="1"')],
)
def test_what_a_shape_or_joint_says_and_hinge_does_not_model_is_a_finding(part, said):
    (finding,) = loaded("", BODIES.replace(f"<{part} ", f"<{part} {said} ", 1)).report
    assert (finding.code, finding.where.line) == ("left-out", 1)
    assert f"it has {said.split('=')[0]};" in finding.what
