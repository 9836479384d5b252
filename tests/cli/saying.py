"""A robot file, and the command line in words."""

from click.testing import CliRunner

from hinge.cli import main

LAMP = """<robot name="lamp">
  <link name="foot"/>
  <link name="stem"><inertial><origin xyz="0 0 0.2"/><mass value="1.5"/>
    <inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="head"><inertial><mass value="0.5"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="continuous"><parent link="foot"/><child link="stem"/><axis xyz="0 0 1"/></joint>
  <joint name="nod" type="revolute"><parent link="stem"/><child link="head"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" effort="3" velocity="2"/></joint>
</robot>"""


def said(*words, stdin=None):
    """What came of it: exit_code, stdout, stderr, and both as output."""
    return CliRunner().invoke(main, [str(word) for word in words], input=stdin, catch_exceptions=False)


def refused(*words, code=2):
    """The message of a command that has to fail, without the word Error."""
    ended = said(*words)
    assert ended.exit_code == code, ended.output
    assert ended.stdout == ""
    return ended.stderr.rpartition("Error: ")[2]
