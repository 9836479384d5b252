"""Load, write, load keeps every field of the model and of the file's physics, or the report names what is lost.

The fields are found by reflection, so that a new one is held to the law, too.
"""

import os
import sysconfig
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from mjcf_made import Made
from sweeps import swept

import hinge
from hinge.model.file_physics import FilePhysics, Surface
from hinge.model.model import JointData, Model

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

PACKAGES = Path(sysconfig.get_path("purelib"))
URDF = PACKAGES / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
ROBOTS = Path(os.environ.get("HINGE_ROBOTS", Path(__file__).parents[3] / "shared" / "robots"))
SAMPLES = ("planar_2r", "puma560", "panda", "go2", "four_bar", "stewart_platform", "slider_crank")
NOT_OF_THE_ROBOT = {"report", "file", "written", "seats", "given", "where", "terms"}
BY_NAME = {"frames", "links", "shapes", "follows", "loops", "extras", "physics"}  # compared below
SOURCES = {"file", "heights"}  # of a shape: where it was read from
BODIES = {"parent", "placement", "inertia", "body_name", "joint", "joint_name", "data"}  # by joint, and as poses


def same(a, b):
    """Whether a value came back, up to rounding; lists may have become longer."""
    if isinstance(a, float | int) and not isinstance(a, bool):
        return isinstance(b, float | int) and bool(np.isclose(a, b, rtol=1e-8, atol=1e-8))
    if isinstance(a, Surface) or isinstance(b, Surface):
        a, b = a or Surface(), b or Surface()
    if is_dataclass(a):
        return type(a) is type(b) and all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a)
                                          if f.name not in NOT_OF_THE_ROBOT)  # fmt: skip
    if isinstance(a, dict):
        return all(not x or (key in b and same(x, b[key])) for key, x in a.items())
    if isinstance(a, list | tuple):
        return len(a) <= len(b) and all(map(same, a, b))
    return a == b


def losses(model, again):
    """Yield (field, the names that have it) of all that did not come back."""
    for field in fields(Model):
        ours, theirs = getattr(model, field.name), getattr(again, field.name)
        if field.name in NOT_OF_THE_ROBOT | BODIES | BY_NAME:
            continue
        if not same(ours, theirs):
            yield field.name, [model.name]
    for field in fields(FilePhysics):
        if not same(getattr(model.physics, field.name), getattr(again.physics, field.name)):
            yield "physics" if field.name == "options" else "extras", [model.name]
    numbers = {name: k for k, name in enumerate(again.joint_name)}
    for i, name in enumerate(model.joint_name):
        if name not in numbers:
            yield "joint", [name]
        elif i:
            data, other = model.data[i], again.data[numbers[name]]
            usual = JointData.unsaid(model.joint[i])
            for field in fields(JointData):
                if field.name in ("where", "reference", "rest"):
                    continue
                ours, theirs = (getattr(one, field.name) or getattr(usual, field.name) for one in (data, other))
                if not same(ours, theirs):
                    yield field.name, [name]
            if not same(list(model.neutral(i)), list(again.neutral(numbers[name]))):
                yield "reference", [name]
        if named_follow(model, i) != (named_follow(again, numbers[name]) if name in numbers else None):
            yield "follows", [name]
    for link in model.shapes:
        ours, theirs = (sorted(map(fields_of, one.shapes.get(link, ())), key=order) for one in (model, again))
        if link in again.links and not (len(ours) == len(theirs) and same(ours, theirs)):
            yield "shapes", [link]
    for link, said in model.links.items():
        if link not in again.links or not all(map(alike, said, again.links[link])):
            yield "links", [link, model.name]
    written = {one.name for one in (*again.loops, *again.physics.equalities)}
    for loop in model.loops:
        if loop.name not in written:
            yield "loop", [loop.name]
    for frame in model.frames.keys() - again.frames.keys():
        yield "frames", [frame, model.name]


def alike(a, b):
    """Whether numbers of a link came back, beside the largest of them."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.allclose(a, b, rtol=0.0, atol=1e-8 * np.abs(a).max(initial=1e-3))


def fields_of(shape):
    """What a shape says, without where it was read from."""
    return {field.name: getattr(shape, field.name) for field in fields(shape) if field.name not in SOURCES}


def order(shape):
    """A key that rounding does not change."""
    numbers = np.round([*shape["size"], *shape["xyz"], *np.ravel(shape["rotation"])], 6) + 0.0
    return shape["role"], shape["kind"], shape["name"], numbers.tolist()


def named_follow(model, i):
    """The joint that a joint follows, with ratio and offset."""
    one = model.follows.get(i)
    return one and (model.joint_name[one.leader], one.ratio, one.offset)


def check(robot, folder, suffix):
    try:
        report = hinge.write(robot, folder / f"written{suffix}")
    except hinge.NotCovered:
        return  # not written, and said so
    again = hinge.load(folder / f"written{suffix}")
    for field, names in losses(robot.model, again.model):
        said = {finding.code for finding in report if any(repr(name) in finding.what for name in names)}
        of_robot = names == [robot.name]
        assert field in said if of_robot else said, f"{field} of {names[0]} is lost, and the report has {report}"


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_come_back_or_the_report_says_so(name, suffix, tmp_path):
    check(getattr(hinge.samples, name)(), tmp_path, suffix)


FILES = {str(path.relative_to(URDF)): path for path in sorted(URDF.rglob("*.urdf"))}
FILES |= {str(path.relative_to(ROBOTS)): path for path in sorted(ROBOTS.rglob("*.xml"))}
for package in ("gymnasium", "dm_control"):
    FILES |= {str(path.relative_to(PACKAGES)): path for path in sorted((PACKAGES / package).rglob("*.xml"))}
FEW = {"ur_description/urdf/ur5_robot.urdf", "panda_description/urdf/panda.urdf", "robotiq_2f85/2f85.xml",
       "unitree_go2/go2.xml", "gymnasium/envs/mujoco/assets/ant.xml", "dm_control/suite/manipulator.xml",
       "dm_control/suite/swimmer.xml", "bitcraze_crazyflie_2/cf2.xml"}  # fmt: skip


@pytest.mark.parametrize("file", swept(FILES, lambda file: file in FEW))
@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".toml"])
def test_files_come_back_or_the_report_says_so(file, suffix, tmp_path):
    try:
        robot = hinge.load(FILES[file])
    except hinge.ModelError as why:
        pytest.skip(f"hinge refuses the file: {why}")
    check(robot, tmp_path, suffix)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_files_made_at_random_come_back_or_the_report_says_so(seed, suffix, tmp_path):
    check(hinge.load(Made(seed).text()), tmp_path, suffix)


def test_a_writer_that_forgets_a_field_is_found_out(tmp_path, monkeypatch):
    """The law is kept by a comparison, not by care: a writer that drops the damping of joints says so."""
    monkeypatch.setattr("hinge.formats.write.mjcf._Writer.uniform", lambda self, part, key: None)
    joint = '<joint name="j" damping="2"/>'
    robot = hinge.load(f'<mujoco><worldbody><body>{joint}<geom size=".1"/></body></worldbody></mujoco>')
    (finding,) = hinge.write(robot, tmp_path / "w.xml")
    assert (finding.severity, finding.code) == ("warning", "damping")
    assert "'j'" in finding.what
