"""Every keyword of every public call changes the result, is refused by name, or is listed as having no effect on it.

`ROWS` has, for each call, a small one, and for each keyword two values of it and how the results differ: in any way, or
by being greater or smaller. The calls are found by walking `hinge`, the robot and the packages: a keyword without a
row is an error, and so is a row without a keyword. Rows of algorithms are made from the registry.
"""

import enum
import importlib
import inspect
import itertools
import os
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from sweeps import swept

import hinge
from hinge.dynamics.registry import ALGORITHMS, KNOWN, PLACE, POSITION, default
from hinge.model import Shape
from hinge.robot.views import MEMBERS, VIEWS

ABSENT = object()  # leaves a keyword out
PACKAGES = (
    "checking",
    "contact",
    "control",
    "counting",
    "envs",
    "export",
    "identify",
    "logs",
    "motion",
    "optimal",
    "planning",
    "sim",
    "sweeps",
    "viewing",
)
MODULES = ("hinge.geometry.se3", "hinge.geometry.screws", "hinge.geometry.inertias", "hinge.robot.samples")
CLASSES = (hinge.Builder, hinge.Scene, hinge.Trajectory, hinge.sim.Rollout)  # whose methods are public, besides Robot's
MADE = {
    "Accelerations",
    "Approximation",
    "Base",
    "Constrained",
    "ContactForces",
    "ContactRecord",
    "ContactRun",
    "ContactState",
    "ContactStep",
    "ContactSystem",
    "Diagnosis",
    "Distances",
    "Equilibrium",
    "Excitation",
    "Failure",
    "Fit",
    "FrictionForces",
    "Follower",
    "HandMotion",
    "HandPath",
    "Impact",
    "JointMotion",
    "Limit",
    "Mode",
    "MotionCheck",
    "Page",
    "Problem.sweeps",
    "ProductOfExponentials",
    "Proof",
    "Reached",
    "Regulator",
    "Rollout",
    "Rolled",
    "Solution",
    "State",
    "Status",
    "Sweep",
    "Timed",
    "Trajectory",
}  # results: hinge makes them


class Row(NamedTuple):
    """Two values of a keyword, how their results differ, and the keywords that go with both."""

    first: Any
    second: Any
    relation: str
    more: dict[str, Any]


class Same(NamedTuple):
    """Why a keyword has no effect on results; `unknown` is a value that is refused."""

    why: str
    unknown: Any = ABSENT


class Refused(NamedTuple):
    """A value that is refused, with these words, and the keywords that go with it."""

    value: Any
    said: str
    more: dict[str, Any]


def differs(first, second=ABSENT, **more):
    """Two values of a keyword with unlike results; one value beside none."""
    return Row(ABSENT, first, "differs", more) if second is ABSENT else Row(first, second, "differs", more)


def grows(first, second, **more):
    """Two values of a keyword, the second of which has the greater result."""
    return Row(first, second, "grows", more)


def refused(value, said, **more):
    return Refused(value, said, more)


NO_EFFECT = {
    "backend": Same("back ends compute the same bits", "llwm"),
    "progress": Same("a bar on the terminal"),
    "out": Same("says where the result is written"),
    "method": Same("methods of one algorithm give the same numbers", "no such method"),
    "where": Same("the line of a file that messages name"),
}
ROWS: dict[str, Any] = {}  # name: function that returns a call and the rows of its keywords


def rows_of(*names):
    def keep(make):
        ROWS.update(dict.fromkeys(names, make))
        return make

    return keep


# ---- what is public


def public():
    """The public calls, by name."""
    found = {name: getattr(hinge, name) for name in hinge.__all__}
    for name in PACKAGES:
        package = importlib.import_module(f"hinge.{name}")
        names = getattr(package, "__all__", [x for x in dir(package) if not x.startswith("_")])
        found |= {f"{name}.{x}": getattr(package, x) for x in names if x not in found}
    for name in MODULES:
        module = importlib.import_module(name)
        here = {x: f for x, f in vars(module).items() if not x.startswith("_") and getattr(f, "__module__", "") == name}
        own = getattr(module, "__all__", list(here))
        found |= {f"{name.rpartition('.')[2]}.{x}": getattr(module, x) for x in own}
    for cls in CLASSES:
        own = {x: f for x, f in vars(cls).items() if not x.startswith("_")}
        found |= {f"{cls.__name__}.{x}": f for x, f in own.items() if inspect.isfunction(f)}
    robot = hinge.samples.four_bar()
    made = {name for name in ALGORITHMS if not name.endswith("_derivatives")}
    for name in sorted({*dir(hinge.Robot), *MEMBERS} - {*made, *VIEWS}):
        if not name.startswith("_") and callable(getattr(robot, name)):
            found[f"Robot.{name}"] = getattr(robot, name)
    functions = set()
    for name in MEMBERS:
        view, called = MEMBERS[name]
        functions.add(inspect.unwrap(getattr(type(getattr(robot, view)), called, lambda: None)))
    skipped = (ModuleType, enum.EnumMeta)
    return {
        name: f
        for name, f in found.items()
        if callable(f)
        and not isinstance(f, skipped)
        and not (isinstance(f, type) and issubclass(f, BaseException))
        and name.rpartition(".")[2] not in MADE
        and f not in functions
    }


def keywords(f):
    """The keywords of a call, and `**name` where it takes others."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except ValueError:
        return set()
    named = {one.name for one in parameters if one.default is not one.empty}
    return named | {f"**{one.name}" for one in parameters if one.kind is one.VAR_KEYWORD}


# ---- how results compare


def leaves(x):
    """The numbers and words of a result, which has some, all of them finite."""
    assert x is not None, "the result is None"
    if isinstance(x, str | bytes):
        return [x]
    if isinstance(x, dict):
        return [leaf for key in x for leaf in (str(key), *leaves(x[key]))]
    if isinstance(x, tuple | list | set | frozenset):
        return [leaf for one in x for leaf in leaves(one)]
    array = np.asarray(x)
    assert array.dtype.kind in "fiub", f"the result has a {type(x).__name__}"
    array = array.astype(float)
    assert not np.isnan(array).any(), "the result has a NaN"
    return [array]


def size_of(result):
    """The numbers of a result as one vector; there are some."""
    made = [x.reshape(-1) for x in leaves(result) if isinstance(x, np.ndarray)]
    assert sum(map(len, made)), "the result has no numbers"
    return np.concatenate(made)


def check(call, word, row):
    def result(value):
        return call(**row.more, **({} if value is ABSENT else {word: value}))

    if isinstance(row, Same):
        if row.unknown is not ABSENT:
            with pytest.raises(hinge.HingeError, match=str(row.unknown)):
                call(**{word: row.unknown})
        return
    if isinstance(row, Refused):
        with pytest.raises(hinge.HingeError, match=row.said):
            result(row.value)
        return
    a, b = result(row.first), result(row.second)
    one, other = leaves(a), leaves(b)
    assert one, "the result is empty"
    assert other, "the result is empty"
    if row.relation == "grows":
        assert float(b) > float(a) + 1e-9 * (abs(float(a)) + abs(float(b))), f"{float(a):g} and {float(b):g}"
        return
    shapes = [[np.shape(x) for x in leaves] for leaves in (one, other)]
    if shapes[0] == shapes[1] and [x for x in one if isinstance(x, str)] == [x for x in other if isinstance(x, str)]:
        numbers = [size_of([np.zeros(1), *(x for x in leaves if isinstance(x, np.ndarray))]) for leaves in (one, other)]
        size = 1.0 + np.abs(numbers[0][np.isfinite(numbers[0])]).max()
        same = numbers[0] == numbers[1]
        if not (np.abs(numbers[0] - numbers[1])[~same] > 1e-9 * size).any():
            pytest.fail("the results are the same")


def check_all(name, call, rows, words):
    """Every keyword has a row that holds."""
    rows = {word: NO_EFFECT[word] for word in words if word in NO_EFFECT} | rows
    assert rows.keys() == words, f"keywords without a row: {words - rows.keys()}; rows without: {rows.keys() - words}"
    faults = []
    for word, row in rows.items():
        try:
            if word.startswith("**"):
                with pytest.raises((hinge.HingeError, TypeError), match="no_such_word"):
                    call(**{"no_such_word": 1})
            for one in row if isinstance(row, list) else [row]:
                check(call, word, one) if not word.startswith("**") else None
        except (Exception, pytest.fail.Exception) as problem:
            faults.append(f"{name}({word}=): {type(problem).__name__}: {problem}".partition("\nassert")[0])
    if faults:
        pytest.fail("\n".join(faults), pytrace=False)


@pytest.fixture(autouse=True)
def _machine_code(monkeypatch, tmp_path):
    monkeypatch.setenv("HINGE_BACKEND", "llvm")
    monkeypatch.chdir(tmp_path)


CALLS = public()
WORDED = sorted(name for name, f in CALLS.items() if keywords(f))
SLOW = {"Ground", "Robot.contact_step", "envs.VectorEnv", "optimal.Problem", "simulate_contacts"}  # a kernel a value


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", swept(WORDED, lambda name: name not in SLOW))
def test_every_keyword_acts_or_is_refused(name):
    assert name in ROWS, f"{name} has keywords without a row: {sorted(keywords(CALLS[name]))}"
    call, rows = ROWS[name]()
    words, alike = keywords(CALLS[name]), [one for one in ROWS if ROWS[one] is ROWS[name]]
    of_others = set().union(*(keywords(CALLS[one]) for one in alike)) - words
    check_all(name, call, {word: row for word, row in rows.items() if word not in of_others}, words)


def test_there_is_no_row_without_a_call():
    assert set(ROWS) - set(WORDED) == set()


# ---- algorithms of the registry

TERMS = ("armature", "damping", "friction", "stiffness")
TURNED = np.array([[0.0, -1, 0, 0.3], [1, 0, 0, 0.1], [0, 0, 1, 0.2], [0, 0, 0, 1]])


def _arm(joints=2, base="fixed"):
    """Joints about various axes with all terms and limits, and a hand."""
    builder = hinge.Builder("arm", gravity=(0.5, 0.3, -9.81))
    builder.link("base", 2.0, (0.1, 0.02, 0.05), np.diag([0.1, 0.15, 0.12]))
    axes = itertools.cycle([(0, 1, 0), (1, 0, 0), (0, 0, 1)])
    for k in range(joints):
        builder.link(f"link{k + 1}", 1.2 + k, (0.2, 0.1, 0.05), np.diag([0.02, 0.03, 0.04]))
        parent = f"link{k}" if k else "base"
        builder.joint(
            f"joint{k + 1}",
            "revolute",
            parent,
            f"link{k + 1}",
            (0.3, 0.1, 0.05),
            axis=next(axes),
            lower=-2.0,
            upper=2.0,
            velocity=3.0,
            effort=20.0,
            damping=0.2,
            friction=0.3,
            stiffness=0.4,
            armature=0.1,
        )
    builder.frame("hand", f"link{joints}", (0.3, 0.1, 0.2))
    return hinge.Robot(builder.build(base=base))


DRIVEN = """<mujoco model="driven"><worldbody><body name="a"><joint name="j" axis="0 1 0" damping="0.3" stiffness="2"/>
<geom type="capsule" fromto="0 0 0 .4 0 0" size=".05"/><body name="b" pos=".4 0 0"><joint name="k" axis="0 1 0"/>
<geom type="sphere" size=".06"/></body></body></worldbody><actuator><motor joint="j" gear="3"/>
<position joint="k" kp="5"/></actuator></mujoco>"""
arm = cache(_arm)
driven = cache(lambda: hinge.load(DRIVEN))


@cache
def four_bar():
    """A four-bar linkage whose joints have dampers and springs."""
    model = hinge.samples.four_bar().model
    data = [replace(x, damping=(0.2,) * len(x.damping), stiffness=(2.0,) * len(x.stiffness)) for x in model.data]
    return hinge.Robot(replace(model, data=tuple(data)))


puma = cache(hinge.samples.puma560)
planar = cache(hinge.samples.planar_2r)
box = cache(lambda: hinge.Scene().body("box", "box", (0.2, 0.2, 0.1), 1.5).robot)


@cache
def ball():
    """A ball that slides up and down."""
    builder = hinge.Builder("ball")
    builder.link("world")
    builder.link("ball", 1.0, (0, 0, 0), 0.01 * np.eye(3), [Shape("collision", "sphere", (0.1,))])
    builder.joint("slide", "prismatic", "world", "ball", axis=(0, 0, 1))
    return hinge.Robot(builder.build())


pair = cache(lambda: hinge.Scene().body("one", "box", (0.2, 0.2, 0.2), 1.0).body("two", "sphere", 0.1, 2.0).robot)
OF_LINK = {"articulated_bias", "articulated_inertia", "composite_inertia"}  # of a link that carries another
CLOSED = {name for name in ALGORITHMS if name.startswith("loop_")}
ROBOT_OF = {
    "control_forces": driven,
    "passive_forces": driven,
    "resolved_rate": lambda: arm(4),
    "resolved_acceleration": lambda: arm(4),
    "floating_inverse_dynamics": lambda: arm(1, "floating"),
} | dict.fromkeys(CLOSED, four_bar)
# what no terms of joints, numbers of bodies and placements enter
NO_TERMS = {
    "acceleration",
    "actuator_forces",
    "bias_acceleration",
    "center_of_mass",
    "composite_inertia",
    "control_forces",
    "christoffel",
    "coriolis_coefficients",
    "coriolis_matrix",
    "difference",
    "generalised_forces",
    "gravity_force",
    "imu",
    "integrate",
    "jacobian",
    "jacobian_rate",
    "joint_reactions",
    "joint_wrench",
    "loop_bias",
    "loop_gap",
    "loop_jacobian",
    "loop_project",
    "loop_reactions",
    "momentum",
    "passive_forces",
    "pose",
    "potential_energy",
    "rate",
    "velocity",
}


def _state(robot, name):
    """Values of the inputs of an algorithm that are no words, in order."""
    rng, made = np.random.default_rng(1), {}
    q = robot.random_state(rng, 1)[0][0]
    if robot.loops:
        q = robot.assemble(robot.neutral() + 0.1).q
    for word, quantity in default(name).inputs.items():
        if quantity.absent is not None:
            continue
        shape = quantity.shape(robot.model)
        if quantity is POSITION:
            made[word] = q + (0.1 * len(made) if robot.nq == robot.nv and not robot.loops else 0.0)
        elif quantity is PLACE:
            made[word] = "hand" if any(isinstance(x, str) for x in made.values()) or name not in OF_LINK else "link1"
        elif quantity is KNOWN:
            made[word] = np.arange(robot.nv) % 2 == 0
        else:
            made[word] = 0.1 + np.abs(rng.normal(size=shape)) * (0.01 if word == "h" else 1.0)
    return made


def _algorithm_rows(name):
    """The call of an algorithm and the rows of its keywords."""
    robot = ROBOT_OF.get(name, arm)()
    given, body = _state(robot, name), robot.model.body_name[-1]
    moved = robot.joint_names[-1]
    # `integrate` and the like take none of these numbers: what a joint is placed by enters the rest
    varied = robot.vary(f"{moved}.placement", f"{body}.mass", f"{moved}.armature")
    loaded = {"external": {body: np.arange(1.0, 7.0)}} if "external" in default(name).inputs else {}

    def call(robot=robot, **words):
        values = [words.pop(word, value) for word, value in given.items()]
        return getattr(robot, name)(*values, backend=words.pop("backend", "interpret"), **words)

    def varying(**numbers):
        made = {one.name: one.nominal(robot.model) for one in varied.target.vary} | numbers
        return {"robot": varied, "parameters": made}

    placed = varying(**{f"{moved}.placement": TURNED, f"{body}.mass": 3.0})
    q = {word: np.full_like(value, np.nan) for word, value in given.items() if not isinstance(value, str)}
    word = next(iter(q))
    rows = {
        "return_status": differs(True),
        "check": refused("values", "not finite|NaN|nan", **{word: q[word]}),
        "joint_terms": Same("terms of joints do not enter") if name in NO_TERMS or not robot.nv else differs((), TERMS),
        "regroup": Same("moves inertia across joints; results are the same to rounding, or the call refuses"),
        "parameters": Row(varying()["parameters"], placed["parameters"], "differs", {"robot": varied}),
        "prescribed": _prescribed(robot, name, given),
        "external": differs({body: np.arange(1.0, 7.0)}),
        "external_frame": [Row("body", "base", "differs", loaded), refused("hand", "external_frame='hand'", **loaded)],
        "base_motion": differs(([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.3, 0.2, 0.1, 0.4, 0.5, 0.6])),
    }
    rows |= {
        option: [differs(values[0], other) for other in values[1:]] for option, values in default(name).options.items()
    }
    if name in NO_NUMBERS:
        rows["parameters"] = Same("no number of the robot enters")
    free = {"task": "position"}
    if "metric" in default(name).options:
        rows["joint_terms"] = differs((), TERMS, metric="inertia", **free)
    rows |= {
        "posture": differs(np.array([1.0, -2.0, 0.5, 3.0]), **free),
        "damping": differs(1e-3, 0.9),
        "most": differs(0.05, 50.0),
        "lost": differs(np.array([1.0, -2.0, 0.5, 3.0]), most=0.05),
        "loop_tau": Same("four_bar has no loop joint with a motor"),
        "forces": differs(np.full(6, 2.0)),
    }
    return call, rows


NO_NUMBERS = {
    "actuator_forces",
    "difference",
    "generalised_forces",
    "integrate",
    "rate",
    "inner_product",
    "passive_forces",
    "control_forces",
}


def _prescribed(robot, name, given):
    """A motion of the first joint, which the robot's call then takes beside the others."""
    return refused(([0.1],), "prescribed")


ALGORITHM_NAMES = [name for name in ALGORITHMS if not name.endswith("_derivatives")]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_every_keyword_of_an_algorithm_acts_or_is_refused(name):
    call, rows = _algorithm_rows(name)
    robot = ROBOT_OF.get(name, arm)()
    words = keywords(getattr(robot, name))
    check_all(name, call, {word: row for word, row in rows.items() if word in words}, words)


# ---- making robots


def _numbers(robot):
    """What makes a robot: its mass, gravity, names, limits and joint forces at a state, and the gaps of its loops."""
    q = 0.3 + 0.1 * np.arange(robot.nq) if robot.nq == robot.nv else robot.neutral()
    made = [robot.name, robot.mass, robot.model.gravity, robot.joint_names, robot.frame_names, tuple(robot.limits)]
    made += [robot.loop_gap(q, backend="interpret")] if robot.loops else []
    return [
        *made,
        robot.gravity_force(q, backend="interpret"),
        robot.mass_matrix(q, backend="interpret"),
        [str(x) for x in robot.loop_names],
        [str(one) for one in robot.report],
        [list(data.damping) for data in robot.model.data],
    ]


URDF = """<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/><origin xyz="0.2 0 -.5"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="c"><inertial><mass value="1"/>
<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="2"/>
<parent link="a"/><child link="b"/></joint><joint name="k" type="continuous"><axis xyz="0 0 1"/><parent link="b"/>
<child link="c"/><mimic joint="j" multiplier="2"/></joint></robot>"""
DH = [
    {"a": 0.4, "alpha": 0.3, "theta": 0.1, "mass": 2.0, "com": (0.1, 0.0, 0.2), "inertia": np.eye(3) * 0.1},
    {"a": 0.3, "d": 0.1, "mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": np.eye(3) * 0.1},
]
TWISTS = [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.5]]
BODIES = [
    {"mass": 1.3, "com": (0.1, 0.0, 0.2), "inertia": np.eye(3) * 0.1},
    {"mass": 2.0, "com": (0.3, 0.0, 0.1), "inertia": np.eye(3) * 0.2},
]


@rows_of("load")
def _():
    return lambda source=URDF, **w: _numbers(hinge.load(source, **w)), {
        "base": differs("fixed", "floating"),
        "mimic": differs("couple", "free"),
        "gravity": differs((1.0, 2.0, 3.0)),
        "strict": refused(True, "colour", source=URDF.replace('<link name="a"/>', '<link name="a" colour="x"/>')),
        "packages": Same("where meshes are looked for; tests/formats reads files that need it"),
        "loops": refused(True, ".", source=URDF.replace('<link name="a"/>', "<link/>")),
    }


@rows_of("dh")
def _():
    return lambda **w: [_numbers(hinge.dh(DH, **w)), hinge.dh(DH, **w).pose([0.1, 0.2], "tool")], {
        "convention": differs("classic", "modified"),
        "base": differs(TURNED),
        "tool": differs(np.eye(4), TURNED),
        "gravity": differs((1.0, 2.0, 3.0)),
        "name": differs("one", "two"),
    }


@rows_of("from_twists")
def _():
    from hinge.robot.loading import from_twists

    return lambda **w: _numbers(from_twists(TWISTS, TURNED, **({"bodies": BODIES} | w))), {
        "bodies": Row(BODIES, [BODIES[1], BODIES[0]], "differs", {}),
        "references": differs([np.eye(4), TURNED], [np.eye(4), np.eye(4)]),
        "gravity": differs((1.0, 2.0, 3.0)),
        "name": differs("one", "two"),
    }


@rows_of("Builder")
def _():
    def call(**w):
        builder = hinge.Builder(**w)
        builder.link("a")
        builder.link("b", 1.0, (0.1, 0.0, 0.0), np.eye(3))
        builder.joint("j", "revolute", "a", "b")
        model = builder.build()
        return _numbers(hinge.Robot(model)), model.file

    return call, {"name": differs("x"), "gravity": differs((1.0, 2.0, 3.0)), "file": differs("a.xml", "b.xml")}


def _one_joint(kind="revolute", link=None, frame=None, build=None, **joint):
    builder = hinge.Builder("r", gravity=(1.0, 2.0, -9.0))
    builder.link("a", 2.0, (0.1, 0.2, 0.3), np.eye(3))
    builder.link("b", **({"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": np.diag([0.1, 0.2, 0.25])} | (link or {})))
    builder.link("c", 1.0, (0.1, 0.2, 0.3), np.eye(3))
    builder.joint("first", "revolute", "a", "c", axis=(0, 0, 1))
    builder.joint("j", kind, "a" if kind != "fixed" else "c", "b", **joint)
    builder.frame("f", "b", **(frame or {}))
    robot = hinge.Robot(builder.build(**(build or {})))
    q, data = robot.neutral(), robot.model.data
    return [
        _numbers(robot),
        robot.pose(q, "f"),
        q,
        [
            (d.lower, d.upper, d.velocity, d.effort, d.friction, d.stiffness, d.armature, d.rest, list(d.other.items()))
            for d in data
        ],
        [len(x) for x in robot.model.shapes.values()],
    ]


@rows_of("Builder.joint")
def _():
    return _one_joint, {
        "xyz": differs((1.0, 2.0, 3.0)),
        "rotation": differs(TURNED[:3, :3]),
        "axis": differs((0, 0, 1), (0, 1, 0)),
        "lower": differs(-1.0, upper=1.0),
        "upper": differs(1.0, lower=-1.0),
        "velocity": differs(1.0),
        "effort": differs(1.0),
        "damping": differs(1.0),
        "friction": differs(1.0),
        "stiffness": differs(1.0),
        "armature": differs(1.0),
        "child_xyz": differs((1.0, 2.0, 3.0)),
        "child_rotation": differs(TURNED[:3, :3]),
        "reference": differs(0.5),
        "rest": differs(0.5, stiffness=1.0),
        "mimic": differs(("first", 2.0, 0.1)),
        "data": differs({"a": "b"}),
        "named": Same("whether messages name it"),
        "physics": Same("what an MJCF reader says besides; tests/formats", ABSENT),
        "**parameters": Same("of the kind"),
    }


@rows_of("Builder.link")
def _():
    return lambda **w: _one_joint(link=w), {
        "mass": differs(3.0),
        "com": differs((0.3, 0.2, 0.1)),
        "inertia": differs(np.diag([0.3, 0.2, 0.2])),
        "shapes": differs([Shape("collision", "sphere", (0.1,))]),
    }


@rows_of("Builder.frame")
def _():
    return lambda **w: _one_joint(frame=w), {"xyz": differs((1.0, 2.0, 3.0)), "rotation": differs(TURNED[:3, :3])}


@rows_of("Builder.build")
def _():
    followed = {"mimic": ("first", 2.0, 0.1)}
    return lambda joint=None, **w: _one_joint(build=w, **(joint or {})), {
        "base": differs("fixed", "floating"),
        "mimic": differs("couple", "free", joint=followed),
        "strict": refused(True, "inertia", joint={"link": {"inertia": np.diag([1.0, 0.1, 0.1])}}),
        "loops": Same("closes loops that files have; tests/mechanisms"),
        "powered": Same("joints of such loops"),
    }


@rows_of("Builder.finding")
def _():
    def call(**w):
        builder = hinge.Builder("r")
        builder.finding("note", "code", "what", **w)
        builder.link("a")
        return [str(one) for one in builder.build().report]

    return call, {"fix": differs("do it")}


@rows_of("Scene.add")
def _():
    return lambda **w: hinge.Scene().add(planar(), "arm", **w).robot.pose([0.1, 0.2], "arm/hand"), {
        "placement": differs((1.0, 2.0, 3.0))
    }


def _shapes(scene):
    return [[(one.kind, list(np.ravel(one.xyz))) for one in part] for part in scene.robot.model.shapes.values()]


@rows_of("Scene.ground")
def _():
    return (
        lambda **w: (
            hinge.Scene().body("b", "sphere", 0.1, 1.0).ground(**w).robot.distances([1, 0, 0, 0, 0, 0, 2.0]).distance
        ),
        {"height": differs(0.5)},
    )


@rows_of("Scene.half_space")
def _():
    return (
        lambda **w: (
            hinge.Scene()
            .body("b", "sphere", 0.1, 1.0)
            .half_space((0, 0, 1), **w)
            .robot.distances([1, 0, 0, 0, 0, 0, 2.0])
            .distance
        ),
        {"offset": differs(0.5)},
    )


@rows_of("Scene")
def _():
    return lambda **w: hinge.Scene(**w).body("b", "sphere", 0.1, 1.0).robot.gravity_force([1, 0, 0, 0, 0, 0, 2.0]), {
        "gravity": differs((0, 0, -1.0))
    }


@rows_of("Scene.contacts")
def _():
    def call(**w):
        scene = hinge.Scene().body("b", "box", (0.2, 0.2, 0.2), 1.0).ground()
        made = scene.contacts([1, 0, 0, 0, 0, 0, 0.105], **({"within": 0.01} | w))
        return len(made), [(one.friction, one.restitution) for one in made]

    return call, {"within": differs(0.001, 0.01), "restitution": differs(0.5), "friction": differs(0.5)}


@rows_of("check")
def _():
    text = URDF.replace('ixx=".1"', 'ixx="9"')
    noted = DRIVEN.replace("</mujoco>", "<keyframe><key qpos='0 0' qvel='1 0'/></keyframe></mujoco>")
    return lambda source=text, **w: (lambda d: [d.exit_code, [str(x) for x in d.findings], len(d.proofs)])(
        hinge.check(source, **w)
    ), {"certify": differs(True, source=URDF), "strict": differs(True, source=noted), "**options": Same("of load")}


@rows_of("repair")
def _():
    robot = hinge.load(URDF.replace('ixx=".1"', 'ixx="9"').replace("<limit", '<dynamics damping="-1"/><limit'))
    return lambda **w: [str(one) for one in hinge.repair(robot, **w)[1]], {"only": differs("damping")}


@rows_of("approximate")
def _():
    q = puma().random_state(np.random.default_rng(2), 4)
    states = (q[0], q[1], np.ones((4, 6)))

    def call(**w):
        made, what = hinge.approximate(puma(), **({"states": states} | w))
        return what.error, made.inverse_dynamics(states[0][0], states[1][0], states[2][0], backend="interpret")

    return call, {
        "within": differs(1e-3, 0.1),
        "drop": differs("com", "products"),
        "states": differs(tuple(x[:1] for x in states)),
        "seed": Same("of the random states that are looked at where none are given"),
    }


@rows_of("counting.costs")
def _():
    return lambda **w: [str(x) for x in hinge.counting.costs(planar(), "mass_matrix", **w)], {
        "most": differs(3, 400000)
    }


@rows_of("constrain")
def _():
    return (
        lambda **w: (
            hinge.constrain(
                planar(), lambda q, t: [1.0 * q[0] + q[1]] if w.get("holonomic") else [[1.0, 1.0]], **w
            ).forward([0.1, -0.1], [0.3, -0.3], [1.0, 2.0])[:1]
            + (hinge.constrain(planar(), lambda q, t: [[1.0, 1.0]], independent=w.get("independent")).independent,)
        ),
        {"holonomic": Same("says what the function returns; tests/mechanisms"), "independent": differs([0], [1])},
    )


# ---- contacts


def _contact_gap(point=(0.0, 0.0, -0.1), **w):
    contact = hinge.Contact("box", point, **w)
    q = [np.sqrt(1 - 0.01), 0.1, 0, 0, 0.3, 0.1, 0.5]
    v = [0.0, 0.1, 0.0, 0.0, 0.0, 0.0]
    return [
        contact.friction,
        contact.restitution,
        contact.compliance,
        contact.name,
        [str(contact.face)],
        box().contact_system(q, v, np.zeros(6), [contact]).gap,
        box().contact_system(q, v, np.zeros(6), [contact]).F,
    ]


@rows_of("Contact")
def _():
    flat = {"normal": (0, 0, 1)}
    two = lambda **w: [str(hinge.Contact("one", (0, 0, 0.1), **({"normal": (0, 0, 1)} | w)))]
    return lambda **w: two(**w) if "other" in w else _contact_gap(**({} if "edge" in w or "rim" in w else flat) | w), {
        "normal": differs((0, 0, 1), (0, 1, 1)),
        "other": Same("the body that carries the face; tests/contact"),
        "other_point": differs((0.0, 0.0, 0.2)),
        "edge": differs((1, 0.2, 0), (1, 0.5, 0), other_edge=(0, 1, 0.1)),
        "other_edge": differs((0, 1, 0.1), (0.2, 1, 0.1), edge=(1, 0.2, 0)),
        "offset": differs(0.05),
        "restitution": differs(0.5),
        "friction": differs(0.5),
        "compliance": differs(0.1),
        "name": differs("n"),
        "other_offset": Same("the radius of `other` within `offset`; tests/contact"),
        "rim": Same("a round edge; tests/contact"),
        "other_rim": Same("a round edge; tests/contact"),
        "face": differs(((-1.0, -1.0, 0.0), (1.0, -1.0, 0.0), (0.0, 1.0, 0.0))),
    }


# ---- runs

RUN_Q, RUN_QD = np.array([0.3, -0.4]), np.array([0.5, 0.2])
BOX_Q = np.array([1.0, 0, 0, 0, 0, 0, 0.05])
LEANING = np.array([1.5, 0.0])
drive = cache(lambda: hinge.control.pd(planar(), [0.0, 0.0], kp=5.0, kd=0.5, gravity=False))


def _gains(t, q, qd, k):
    return -k * q


def _no_progress(t, q, qd):
    return q[..., 0]


def _ends(run):
    """The last state of a run, its status and how much it recorded."""
    if isinstance(run, hinge.Trajectory):
        return [*(run.states[name][..., -1, :] for name in run.states), run.status, run.t, run.notes, run.method]
    return [run.q[..., -1, :], run.qd[..., -1, :], run.status, run.q.shape]


def _run_rows(simulate):
    """The rows that `simulate` and `rollout` share; a call is ten steps of the arm where a row has no other robot."""
    force = {"external": {"hand": [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]}}
    on_box = {"robot": box(), "q0": BOX_Q - [0, 0, 0, 0, 0, 0, 0.001], "qd0": np.array([0, 0, 0, 1.0, 0, -0.5])}
    near = {"robot": pair(), "q0": np.array([1.0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.201]), "qd0": np.eye(12)[5]}
    of_file = {"robot": driven(), "physics": "file", "method": "semi_implicit"}
    fast = {"qd0": np.array([30.0, 30.0])}
    pressed = {"control" if simulate else "tau": np.array([900.0, 0.0])}
    function = {"control" if simulate else "policy": _gains}
    held = hinge.constrain(arm(), lambda q, t: [[1.0, 1.0]])
    varied = arm().vary("link2.mass")
    apart = {"robot": four_bar(), "q0": four_bar().assemble(np.full(four_bar().nq, 0.1)).q, "qd0": None}
    apart["qd0"] = four_bar().loop_project(apart["q0"], np.ones(four_bar().nv))[1] if four_bar().nv else None
    return {
        "method": [differs("euler", "rk4"), refused("rk5", "rk5")],
        "joint_terms": [differs((), TERMS), refused(("dampin",), "dampin")],
        "effort": [differs(False, True, **pressed), refused("clip", "effort is 'clip'")],
        "limits": [
            Row("ignore", "stop", "differs", fast),
            Row("ignore", "spring", "differs", {"q0": [2.1, 0.0]}),
            refused("stops", "stops"),
        ],
        "external": differs({"hand": [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]}),
        "external_frame": [
            Row("body", "base", "differs", force),
            refused("base", "external_frame= has no effect"),
            refused("hand", "external_frame='hand'", **force),
        ],
        "base_motion": differs((np.arange(6.0), np.ones(6))),
        "prescribed": [
            Row(([0.1],), ([0.3],), "differs", {"robot": arm().prescribe("joint1"), "q0": [0.3], "qd0": [0.2]}),
            refused(([0.1],), "prescribed"),
        ],
        "constraint": differs(held, q0=[0.3, -0.3], qd0=[0.2, -0.2]),
        "loops": [Row("baumgarte", "independent", "differs", apart), refused("project", "has none")],
        "loop_time": [
            Row(0.05, 5.0, "differs", apart | {"loops": "baumgarte"}),
            refused(0.1, "loop_time= has no effect"),
        ],
        "parameters": [
            Row({"link2.mass": 1.0}, {"link2.mass": 5.0}, "differs", {"robot": varied}),
            refused({"link2.mas": 1.0}, "link2.mas"),
        ],
        "inputs": [Row([1.0], [9.0], "differs", function), refused([1.0], "inputs= has no effect")],
        "t0": differs(0.0, 0.7, **({"control" if simulate else "policy": _clocked})),
        "contacts": [differs("self", **near), refused("selves", "selves", **on_box), refused("self", "has no effect")],
        "ground": [
            differs(hinge.Ground(friction=0.0), hinge.Ground(friction=1.0), **on_box),
            differs(0.0, **on_box),
            refused(True, "ground is True", **on_box),
            refused(0.0, "has no effect"),
        ],
        "law": [
            Row("rigid", "soft", "differs", on_box | {"ground": 0.0, "method": "semi_implicit"}),
            refused("soft", "law='soft' has no effect"),
        ],
        "physics": [differs("file", robot=driven(), method="semi_implicit"), refused("files", "files")],
        "ctrl": [Row([0.0, 0.0], [1.0, 2.0], "differs", of_file), refused([1.0, 2.0], "ctrl= has no effect")],
        "ignore": [
            refused(("muscle",), "ignore="),
            refused(("muscles",), "muscles", **of_file),
            Same("lets a run go on; tests/agree"),
        ],
        "record": differs(1, 5),
    }


def _clocked(t, q, qd):
    return [10.0 * t, 0.0]


@rows_of("rollout")
def _():
    def call(robot=None, q0=RUN_Q, qd0=RUN_QD, **w):
        return _ends(hinge.rollout(robot or arm(), q0, qd0, 10, 0.01, **({"joint_terms": ("armature",)} | w)))

    return call, _run_rows(False) | {
        "tau": differs([1.0, 2.0]),
        "taus": differs(np.ones((10, 2)), np.arange(20.0).reshape(10, 2)),
        "policy": [differs(drive()), refused(drive(), "one of tau, taus and policy", tau=[1.0, 2.0])],
    }


@rows_of("simulate")
def _():
    def call(robot=None, q0=RUN_Q, qd0=RUN_QD, t=0.1, step=0.01, **w):
        return _ends(hinge.simulate(robot or arm(), t, q0, qd0, step=step, **w))

    def events(**w):
        run = hinge.simulate(planar(), 0.5, [0.1, 0.0], step=0.01, **w)
        return len(run.events), [one.t for one in run.events]

    def named(file=None, **w):
        if file is not None:
            hinge.simulate(arm(), 0.1, RUN_Q, step=0.01, file=file)
        return ["files", *sorted(os.listdir())]

    def route(**w):
        special = {"events": events, "file": named}
        for word, other in special.items():
            if word in w and len(w) == 1:
                return other(**w)
        return named() if not w else call(**w)

    return route, _run_rows(True) | {
        "t": differs(0.1, 0.2),
        "q0": differs(RUN_Q, 2 * RUN_Q),
        "qd0": differs(RUN_QD, 2 * RUN_QD),
        "control": [differs([1.0, 2.0]), differs(drive()), refused("up", "control is neither")],
        "step": [differs(0.01, 0.02), refused("fast", "is not a time")],
        "fields": [differs(("q",), ("q", "qd")), refused(("qdd",), "qdd")],
        "sample": [Row(1, 5, "differs", {"control": drive()}), refused(3, "sample= has no effect")],
        "keep": [Row(1, 5, "differs", {"method": "euler"}), refused(5, "keep=5 does not go here")],
        "events": differs([lambda t, q, qd: q[0]]),
        "rtol": [
            Row(1e-2, 1e-9, "differs", {"method": "dopri5", "atol": 1e-3, "t": 1.0}),
            refused(1e-9, "rtol= does not go"),
        ],
        "atol": [
            Row(1e-2, 1e-9, "differs", {"method": "dopri5", "rtol": 1e-3, "t": 1.0}),
            refused(1e-9, "atol= does not go"),
        ],
        "file": differs("run2.zarr"),
        "append": refused(True, "append=True is about a file"),
        "overwrite": refused(True, "overwrite=True is about a file"),
    }


def test_a_file_is_gone_on_with_or_replaced():
    def run(**w):
        return len(hinge.simulate(arm(), 0.1, file="run.zarr", step=0.01, **w).t), len(hinge.open("run.zarr").t)

    assert run() == (11, 11)
    with pytest.raises(hinge.HingeError, match=r"run\.zarr"):
        run()
    assert run(overwrite=True)[1] == 11
    assert run(append=True)[1] == 21


@rows_of("simulate_contacts")
def _():
    tip = hinge.Contact("box", (0, 0, -0.05), normal=(0, 0, 1), restitution=0.2)

    def call(t=0.1, q0=BOX_Q, qd0=None, **w):
        run = hinge.simulate_contacts(box(), [tip], t, q0, qd0, **w)
        return [run.q[-1], run.qd[-1], len(run.t)]

    falling = {"q0": BOX_Q + [0, 0, 0, 0, 0, 0, 0.01], "qd0": np.array([0, 0, 0, 0, 0, -1.0])}
    return call, {
        "t": differs(0.1, 0.2),
        "q0": differs(BOX_Q, falling["q0"]),
        "qd0": differs(np.ones(6)),
        "tau": differs(np.array([0, 0, 0, 1.0, 0, 30.0])),
        "step": differs(1e-3, 2e-3),
        "restitution": differs(0.0, 0.9, **falling),
    }


@rows_of("sweep")
def _():
    uniform, count = hinge.sweeps.uniform, itertools.count()

    def call(t=0.05, **w):
        sweep = hinge.sweep(arm(), store=f"sweep{next(count)}", **({"t": t, "step": 0.01, "progress": False} | w))
        data = sweep.open()
        return [
            [str(x) for x in data.data_vars],
            *(data[x].values for x in ("status", "q_end") if x in data),
            dict(data.sizes),
        ]

    drawn = {"initial": {"q": uniform(-1.0, 1.0)}, "rollouts": 3}
    return call, {
        "parameters": differs({"link2.mass": 5.0}),
        "initial": differs({"q": [0.3, 0.4]}),
        "control": [differs([1.0, 2.0]), refused(np.ones((3, 2)), "axis before the last is time")],
        "t": differs(0.05, 0.1),
        "rollouts": differs(2, 3, initial={"q": uniform(-1.0, 1.0)}),
        "seed": Row(0, 1, "differs", drawn),
        "step": differs(0.01, 0.025, method="euler"),
        "method": [differs("rk4", "euler"), refused("rk5", "rk5")],
        "keep": differs("final", "extremes"),
        "record": differs(1, 5, keep="trajectory"),
        "inputs": [
            Row([1.0], [9.0], "differs", {"control": _gains, "initial": {"q": [0.3, 0.4]}}),
            refused([1.0], "inputs= has no effect"),
        ],
        "chunk": Same("how many rollouts go together; results have the same bits"),
        "resume": Same("computes what a store lacks; tests/sim"),
        "client": Same("where it runs"),
        "workers": Same("where it runs"),
        "**options": Same("of rollout, which has rows"),
    }


@rows_of("open")
def _():
    def call(**w):
        hinge.simulate(arm(), 0.02, file="open.zarr", step=0.01, overwrite=True)
        return hinge.open("open.zarr", **w).robot.mass

    return call, {"robot": differs(planar())}


@rows_of("Trajectory.plot")
def _():
    def call(**w):
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        figure = hinge.simulate(arm(), 0.02, RUN_Q, step=0.01).plot(**w)
        return [len(one.lines) for one in figure.axes], sorted(os.listdir())

    return call, {"path": differs("run.png"), "joints": [differs(["joint1"]), refused(["joint9"], "joint9")]}


@rows_of("Rollout.pulled")
def _():
    run = hinge.rollout(box(), BOX_Q, np.full(6, 0.1), 2, 1e-3, tau=np.ones(6))

    def call(**w):
        return list(_tuple(run.pulled(**({"dq": np.ones((3, 7 if w.get("flat") else 6))} | w))))

    return call, {
        "dq": differs(np.ones((3, 6)), 2 * np.ones((3, 6))),
        "dqd": differs(np.ones((3, 6))),
        "by": [differs("q0"), refused("q9", "q9")],
        "flat": differs(True),
        "return_status": differs(True),
    }


# ---- contact calls of a robot


def _tips(**w):
    return [hinge.Contact("box", (x, 0.02, -0.05), normal=(0, 0, 1), **w) for x in (-0.1, 0.08)]


def _acting_rows(name):
    """The rows of what acts besides joint forces, of a box with contacts."""
    force = {"box": [0.1, 0.2, 0.3, 1.0, 2.0, -3.0]}
    turned = {"external": force, "q": TURNED_BOX}
    return {
        "external": differs(force),
        "external_frame": [Row("body", "base", "differs", turned), refused("hand", "external_frame='hand'", **turned)],
        "base_motion": Same("the base of a loose box moves nothing but through contacts"),
        "parameters": [
            Row({"box.mass": 1.0}, {"box.mass": 3.0}, "differs", {"robot": box().vary("box.mass")}),
            refused({"box.mas": 1.0}, "box.mas"),
        ],
        "prescribed": refused(([0.1],), "prescribed"),
    }


TURNED_BOX = np.array([np.sqrt(0.96), 0.0, 0.2, 0.0, 0.0, 0.0, 0.05])


def _contact_call(name):
    def call(robot=None, q=BOX_Q, v=(0.0,) * 6, tau=(0.1, 0.2, 0, 2.0, 0, -3.0), tips=None, **w):
        tips = _tips(friction=0.3) if tips is None and name == "friction_step" else tips or _tips()
        method = getattr(robot or box(), name)
        if name == "impact":
            v = (0.0, 0, 0, 0.1, 0, -1.0)
        args = {"impact": (q, v, tips), "friction_step": (q, v, tau, tips, 0.01)}.get(name, (q, v, tau, tips))
        made = method(*args, **w)
        return [np.asarray(x, float) for x in made if isinstance(x, np.ndarray | np.generic)]

    return call


@rows_of("Robot.contact_system")
def _():
    call = _contact_call("contact_system")
    return call, _acting_rows("contact_system") | {
        "joint_terms": Same("a loose box has no joint terms; refused where unknown", ABSENT),
        "hold": Same("loops and constraints to keep; tests/contact"),
    }


@rows_of("Robot.contact_dynamics")
def _():
    call = _contact_call("contact_dynamics")
    return call, _acting_rows("contact_dynamics") | {
        "method": Same("methods solve one problem", "no such method"),
        "touch": differs(0.5, 1e-12, q=BOX_Q + LIFTED),
        "joint_terms": Same("a loose box has no joint terms"),
        "hold": Same("loops and constraints; tests/contact"),
    }


LIFTED = np.array([0, 0, 0, 0, 0, 0, 0.01])


@rows_of("Robot.contact_kernel")
def _():
    tip = [hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1))]
    return lambda **w: arm().contact_kernel(tip, **w)([0.1, 0.2], [0.3, 0.1], [0.0, 0.0]), {
        "joint_terms": differs((), TERMS)
    }


@rows_of("Robot.impact")
def _():
    return _contact_call("impact"), {
        "restitution": differs(0.0, 0.9),
        "touch": differs(0.5, 1e-12, q=BOX_Q + LIFTED),
        "hold": Same("loops and constraints; tests/contact"),
        "parameters": Row({"box.mass": 1.0}, {"box.mass": 3.0}, "differs", {"robot": box().vary("box.mass")}),
        "prescribed": refused(([0.1],), "prescribed"),
    }


@rows_of("Robot.friction_step")
def _():
    return _contact_call("friction_step"), _acting_rows("friction_step") | {
        "law": [differs("convex", "coulomb", v=(0, 0, 0, 1.0, 0, -0.1)), refused("coulom", "coulom")],
        "restitution": differs(0.0, 0.9, v=(0, 0, 0, 0.1, 0, -1.0)),
        "tolerance": Same("when a solver stops; results are the same within it"),
        "iterations": Same("when a solver gives up"),
    }


@rows_of("Robot.contact_step")
def _():
    sliding = np.array([0.0, 0, 0, 1.0, 0, -0.5])

    def call(robot=None, q=BOX_Q - LIFTED / 10, v=sliding, tau=None, **w):
        robot = robot or box()
        made = robot.contact_step(q, v, np.zeros(robot.nv) if tau is None else tau, 0.01, **({"ground": 0.0} | w))
        return [made.q, made.qd]

    near = {"robot": pair(), "q": np.array([1.0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.199]), "v": np.eye(12)[5]}
    return call, {
        "contacts": [differs("self", **near | {"ground": -9.0}), refused("selves", "selves")],
        "ground": [differs(0.0, -0.5), refused(True, "ground is True")],
        "law": [differs("rigid", "soft"), refused("softly", "softly")],
        "joint_terms": refused(("dampin",), "dampin"),
        "derivatives": Same("prepares the step for derivatives; the state is the same to the smoothing"),
        "parameters": differs({"friction": 0.0}, {"friction": 1.0}),
    }


@rows_of("Robot.distances", "Robot.collides")
def _():
    q = np.array([1.0, 0, 0, 0, 0, 0, 0.3, 1, 0, 0, 0, 0, 0, 0.6])

    def call(**w):
        made = pair().distances(q, **w)
        return made.distance, len(made.distance), pair().collides(q, **w)

    return call, {
        "pairs": [differs([("one", "ground")], [("one", "two")], ground=0.0), refused([("one", "tow")], "tow")],
        "ground": [differs(0.0, 0.25), refused(True, "ground is True")],
        "exclude": [differs([("one", "two")], ground=0.0), refused([("one", "tow")], "tow")],
    }


@rows_of("contact_forces")
def _():
    return lambda **w: hinge.contact_forces([[2.0, 1.0], [1.0, 2.0]], [-2.0, 1.0], **w).force, {}


@rows_of("edge_contact", "polygon_contact")
def _():
    return _patches()


@rows_of("patch_contact")
def _():
    call, rows = _patches()
    return call, rows | {"m": differs(4, 8), "axis": differs((0, 1, 1))}


def _patches():
    words = {"normal": (0, 0, 1)}
    calls = [
        lambda **w: hinge.edge_contact("a", (0, 0, 0), (1, 0, 0), **words, **w),
        lambda **w: hinge.polygon_contact("a", [(0, 0, 0), (1, 0, 0), (1, 1, 0)], **words, **w),
        lambda **w: hinge.patch_contact("a", (0, 0, 0), 0.1, **words, **w),
    ]

    def call(**w):
        made = [one.point for f in (calls if not {"m", "axis"} & w.keys() else calls[2:]) for one in f(**w)]
        return len(made), made

    return call, {"**details": Same("of Contact")}


@rows_of("impact_projection")
def _():
    def call(**w):
        return hinge.impact_projection(np.diag([1.0, 2.0, 3.0]), [1.0, -2.0, 0.5], np.eye(3)[:2], **w)

    return call, {"after": differs(np.eye(3)[:1], np.eye(3)[:2], restitution=0.5), "restitution": differs(0.0, 0.5)}


@rows_of("two_body_impact")
def _():
    ball, n = np.diag([1.0, 1, 1, 2, 2, 2]), [0.0, 0, 0, 1, 0, 0]
    return lambda **w: hinge.two_body_impact(ball, ball, n, [0.0, 0, 0, 1, 0, 0], np.zeros(6), **w).v2, {
        "restitution": differs(0.0, 1.0)
    }


@rows_of("friction_forces")
def _():
    C = np.eye(3) + 0.3 * np.eye(3)[[1, 0, 2]]
    return lambda **w: hinge.friction_forces(C, [-1.0, -2.2, 0.3], 0.5, **w).force, {
        "compliance": differs(1.0),
        "law": [differs("convex", "coulomb"), refused("coulom", "coulom")],
        "tolerance": Same("when the solver stops"),
        "iterations": Same("when the solver gives up"),
    }


@rows_of("Ground")
def _():
    def call(**w):
        q = [np.sqrt(1 - 0.01), 0.1, 0, 0, 0.3, 0.1, 0.03]
        made = box().contact_step(q, [0, 0, 0, 1.0, 0, -1.0], np.zeros(6), 1e-3, ground=hinge.Ground(**w))
        return [made.q, made.qd]

    terrain = {"heights": np.linspace(0.0, 0.2, 9).reshape(3, 3), "size": (4.0, 4.0)}
    return call, {
        "height": [differs(0.0, 0.01), refused(np.nan, "Ground: height"), refused(True, "Ground: height")],
        "normal": differs((0, 0, 1), (0, 0.1, 1)),
        "friction": differs(0.0, 1.0),
        "restitution": differs(0.0, 0.9),
        "compliance": differs(1e-4),
        "heights": [
            differs(terrain["heights"], 2 * terrain["heights"], size=(4.0, 4.0)),
            refused(terrain["heights"], "terrain has heights, a size"),
        ],
        "size": [
            Row((4.0, 4.0), (1.0, 1.0), "differs", {"heights": terrain["heights"]}),
            refused((4.0, 4.0), "terrain has heights, a size"),
        ],
    }


# ---- what else a robot does


@rows_of("Robot.attach")
def _():
    return lambda **w: (lambda r: [r.joint_names, r.pose(np.full(4, 0.1), w.get("prefix", "x_") + "hand")])(
        arm().attach(planar(), "hand", **({"prefix": "x_"} | w))
    ), {"placement": differs(TURNED), "prefix": differs("x_", "y_")}


@rows_of("Robot.lock")
def _():
    return lambda joints="joint1", **w: arm().lock([joints], **w).gravity_force([0.3]), {
        "q": differs([0.1, 0.2], [0.9, 0.2])
    }


@rows_of("Robot.close")
def _():
    def call(**w):
        made = planar().close("revolute", "base", "hand", **({"placement_a": [1.5, 0.0, 0.0], "axis": (0, 1, 0)} | w))
        return [
            made.loop_gap([0.1, 0.2]),
            [str(x) for x in made.loop_names],
            made.loop_jacobian([0.1, 0.2]),
            [one.powered for one in made.loops],
        ]

    return call, {
        "placement_a": differs([1.5, 0.0, 0.0], [1.0, 0.1, 0.0]),
        "placement_b": differs([0.1, 0.0, 0.1]),
        "name": differs("ring"),
        "powered": differs(True),
        "axis": differs((0, 1, 0), (0, 0, 1)),
        "**parameters": Same("of the kind of joint"),
    }


@rows_of("Robot.casadi")
def _():
    pytest.importorskip("casadi")
    return lambda **w: np.asarray(arm().casadi("inverse_dynamics", **w)(*STATE)), {
        "given": Same("other inputs that it takes; tests/backends"),
        "joint_terms": differs((), TERMS),
        "at": Same("the frame of what is about one; tests/backends"),
        "**options": Same("of the algorithm"),
    }


@rows_of("Robot.cost")
def _():
    def call(name="inverse_dynamics", **w):
        made = puma().cost(name, **w)
        return made.method, made.add, made.mul

    return call, {
        "method": [
            differs("newton_euler", "turney") if "turney" in ALGORITHMS["inverse_dynamics"] else Same(""),
            refused("no such", "no such"),
        ],
        "regroup": differs(True),
        "external": differs(["tool"]),
        "external_frame": differs("body", "base", external=["tool"]),
        "**options": Same("of the algorithm"),
    }


@rows_of("Robot.derivative_pattern")
def _():
    return lambda name="inverse_dynamics", **w: [
        [list(map(int, np.ravel(x))) for x in np.atleast_1d(np.asarray(one, object)) if x is not None]
        for one in map(np.asarray, _tuple(arm().derivative_pattern(name, **w)))
    ], {
        "by": differs("q", ("q", "qd", "qdd")),
        "at": Same("the frame of what is about one"),
        "**keywords": Same("of the call"),
    }


def _tuple(x):
    return x if isinstance(x, tuple) else (x,)


STATE = ([0.3, 0.2], [0.5, 0.1], [0.2, 0.4])


@rows_of("Robot.derivatives")
def _():
    return lambda **w: arm().derivatives("inverse_dynamics", *STATE, **w), {
        "by": [differs("q", "qd"), refused("qx", "qx")],
        "packed": differs(True),
        "return_status": differs(True),
        "**keywords": Same("of the algorithm"),
    }


@rows_of("Robot.inverse_dynamics_derivatives", "Robot.forward_dynamics_derivatives")
def _():
    def call(**w):
        return [f(*STATE, **w) for f in (arm().inverse_dynamics_derivatives, arm().forward_dynamics_derivatives)]

    return call, {"packed": differs(True), "**how": Same("of the algorithm")}


@rows_of("Robot.jvp")
def _():
    return lambda **w: arm().jvp("mass_matrix", ([0.3, 0.2],), ([1.0, 0.0],), **w), {
        "**keywords": Same("of the algorithm")
    }


@rows_of("Robot.vjp")
def _():
    return lambda **w: arm().vjp("inverse_dynamics", STATE, np.ones(2), **w), {
        "by": [differs("q", "qd"), refused("qx", "qx")],
        "**keywords": Same("of the algorithm"),
    }


@rows_of("Robot.second_derivatives")
def _():
    def call(**w):
        return arm().second_derivatives("potential_energy", [0.3, 0.2], **w)

    return call, {
        "by": refused("qx", "qx"),
        "weights": differs(2.0),
        "along": differs({"q": [1.0, 0.5]}),
        "**keywords": Same("of the algorithm"),
    }


@rows_of("Robot.linearize")
def _():
    return lambda **w: arm().linearize(*STATE, **w), {
        "h": differs(0.01),
        "method": [differs("euler", "rk4", h=0.1), refused("rk5", "rk5", h=0.1)],
        "**keywords": Same("of forward_dynamics"),
    }


@rows_of("Robot.kernel")
def _():
    def call(name="inverse_dynamics", arrays=STATE, **w):
        return arm().kernel(name, **w)(*arrays)

    return call, {
        "given": Same("other inputs that it takes; tests/backends"),
        "joint_terms": differs((), TERMS),
        "status": differs(True),
        "regroup": Same("results are the same to rounding"),
        "at": differs("hand", "link1", name="pose", arrays=STATE[:1]),
        "by": Same("of derivatives; tests/derivatives"),
        "packed": Same("of derivatives; tests/derivatives"),
        "**options": Same("of the algorithm"),
    }


@rows_of("Robot.source")
def _():
    return lambda name="mass_matrix", **w: arm().source(name, **w), {
        "language": [differs("c", "llvm"), refused("cobol", "cobol")],
        "at": differs("hand", "link1", name="pose"),
        "method": refused("no such", "no such"),
        "scalar": [differs("double", "float", language="c"), refused("half", "half", language="c")],
        "**options": Same("of the algorithm"),
    }


@rows_of("Robot.equations")
def _():
    pytest.importorskip("sympy")
    return lambda name="gravity_force", **w: str(arm().equations(name, **w)), {
        "method": refused("no such", "no such"),
        "at": refused("nowhere", "nowhere", name="pose"),
        "simplify": differs(False, True),
        "shared": differs(True),
        "digits": differs(1, 12),
        "**options": Same("of the algorithm"),
    }


@rows_of("latex")
def _():
    sympy = pytest.importorskip("sympy")
    return lambda **w: hinge.latex(sympy.Symbol("a") * 2, **w), {"**settings": Same("of sympy.latex")}


@rows_of("Robot.ode")
def _():
    return lambda **w: arm().ode(**w)(0.0, [0.3, 0.2, 0.5, 0.1]), {"control": differs(drive())}


@rows_of("Robot.prescribe")
def _():
    return lambda **w: arm().prescribe(**({"joint1": [0]} | w)).nv, {"**parts": Same("joints by name")}


@rows_of("Robot.with_elastic")
def _():
    def call(**w):
        return (
            arm().with_elastic("joint1", 30.0, **w).forward_dynamics([0.1] * 3, [0.3] * 3, [0.0] * 3, joint_terms=TERMS)
        )

    return call, {"damping": differs(2.0), "motor_inertia": differs(0.5)}


@rows_of("Robot.with_payload")
def _():
    return lambda **w: arm().with_payload("hand", 2.0, **w).inverse_dynamics(*STATE), {
        "com": differs((0.1, 0.2, 0.3)),
        "inertia": differs(np.eye(3)),
    }


@rows_of("Robot.with_potential")
def _():
    return (
        lambda **w: (
            arm()
            .with_potential(lambda x: x[0] * 2.0 if w.get("at") is None else 2.0 * x[0][3], **w)
            .gravity_force(STATE[0])
        ),
        {"at": differs("hand")},
    )


@rows_of("Robot.exponentials")
def _():
    return lambda **w: arm().exponentials("hand", **w).twists, {"q": differs([0.3, 0.2])}


@rows_of("Robot.gradient")
def _():
    return lambda **w: arm().gradient(**w)([0.3, 0.2]), {"V": differs(lambda q: q[0] * q[1])}


@rows_of("Robot.geodesic")
def _():
    return lambda **w: (lambda made: [made[0][..., -1, :] if np.ndim(made[0]) > 1 else made[0], np.shape(made[0])])(
        arm().geodesic([0.1, 0.5], [1.0, 0.2], **({"steps": 10} | w))
    ), {"t": differs(0.5, 1.0), "steps": differs(5, 10)}


@rows_of("Robot.geodesic_between")
def _():
    return lambda **w: np.shape(arm().geodesic_between([0.1, 0.5], [0.3, 0.2], **w).q), {"steps": differs(5, 10)}


@rows_of("Robot.length", "Robot.energy_integral")
def _():
    def call(**w):
        return arm().length(lambda t: [t, 2 * t], **w) + arm().energy_integral(lambda t: [t, 2 * t], **w)

    return call, {"start": grows(0.5, 0.0), "stop": grows(0.5, 1.0)}


@rows_of("Robot.assemble")
def _():
    robot = four_bar()
    start = robot.neutral() + 0.3

    def call(robot=robot, q=start, **w):
        made = robot.assemble(q, **w)
        return [made.q, made.status]

    varied = robot.vary(f"{robot.joint_names[-1]}.placement")
    shifted = np.eye(4)
    shifted[:3, 3] = np.asarray(varied.target.vary[0].nominal(robot.model))[:3, 3] * 0.9
    return call, {
        "hold": [differs([robot.joint_names[0]]), refused(["nothing"], "nothing")],
        "tolerance": differs(1e-12, 0.5),
        "iterations": differs(1, 50, strict=False),
        "strict": refused(True, ".", iterations=1),
        "parameters": refused({"x": 1.0}, "x"),
        "prescribed": refused(([0.1],), "prescribed"),
    }


@rows_of("Robot.loop_inverse_dynamics")
def _():
    robot = four_bar()
    q = robot.assemble(robot.neutral() + 0.1).q
    zero = np.zeros(robot.nv)
    return lambda **w: [np.asarray(x, float) for x in _tuple(robot.loop_inverse_dynamics(q, zero, zero, **w))], {
        "actuated": differs([robot.joint_names[0]], [robot.joint_names[-1]]),
        "parameters": refused({"x": 1.0}, "x"),
    }


@rows_of("Robot.mobility", "Robot.random_state")
def _():
    robot = four_bar()
    q = robot.assemble(robot.neutral() + 0.1).q

    def call(**w):
        robot.random_state(0, 2, **w)
        return robot.mobility(q, **w).freedoms

    return call, {"parameters": refused({"x": 1.0}, "x")}


# ---- control and motion

AT = (0.3, np.array([0.3, 0.2]), np.array([0.5, -0.4]))
GOAL = np.array([0.1, 0.4])
long_arm = cache(lambda: _arm(4))
LONG = (0.3, np.array([0.3, 0.2, 0.5, -0.3]), np.array([0.5, -0.4, 0.2, 0.1]))


def _null(t, q, qd):
    return [1.0, 2.0, -1.0, 3.0]


@rows_of("control.pd")
def _():
    return lambda **w: hinge.control.pd(arm(), GOAL, **w)(*AT), {
        "kp": differs(10.0, 20.0),
        "kd": differs(1.0, 2.0),
        "gravity": differs(False),
    }


@rows_of("control.computed_torque")
def _():
    return lambda **w: hinge.control.computed_torque(arm(), GOAL, **w)(*AT), {
        "kp": differs(10.0, 20.0),
        "kd": differs(1.0, 2.0),
        "joint_terms": differs((), TERMS),
    }


@rows_of("control.adaptive")
def _():
    def call(**w):
        law = hinge.control.adaptive(arm(), GOAL, **w)
        return [law(t, *AT[1:]) for t in (0.0, 0.1, 0.2)]

    return call, {"rate": differs(5.0, 10.0), "learning": differs(0.1, 10.0)}


@rows_of("control.posture")
def _():
    return lambda **w: hinge.control.posture(arm(), GOAL, **w)(*AT), {
        "kp": differs(10.0, 20.0),
        "kd": differs(1.0, 2.0),
    }


@rows_of("control.saturate")
def _():
    return lambda **w: hinge.control.saturate(arm(), hinge.control.pd(arm(), GOAL, kp=1e4), **w)(*AT), {
        "effort": differs(2.0)
    }


@rows_of("control.compiled")
def _():
    return lambda **w: hinge.control.compiled(planar(), drive(), **w)(*AT), {}


@rows_of("control.c_code")
def _():
    return lambda **w: hinge.control.c_code(planar(), drive(), **w), {
        "scalar": [differs("double", "float"), refused("half", "half")]
    }


def _hand_rows(f, *given):
    goal = long_arm().pose(np.full(4, 0.3), "hand")

    def call(**w):
        return f(long_arm(), goal, "hand", *given, **w)(*LONG)

    rows = {
        "kp": differs(10.0, 20.0),
        "kd": differs(1.0, 2.0),
        "task": [
            differs("pose", "position"),
            refused("place", "place"),
        ],
        "metric": [differs("unit", "inertia", task="position"), refused("weight", "weight")],
        "null": Row(ABSENT, _null, "differs", {} if given else {"task": "position"}),
        "damping": differs(1e-6, 0.9),
        "most": differs(0.1, 1e3),
        "joint_terms": differs((), TERMS),
        "method": NO_EFFECT["method"],
    }
    words = keywords(f)
    return call, {word: row for word, row in rows.items() if word in words}


@rows_of("control.reach")
def _():
    return _hand_rows(hinge.control.reach)


@rows_of("control.resolved_acceleration")
def _():
    return _hand_rows(hinge.control.resolved_acceleration)


@rows_of("control.operational_space")
def _():
    return _hand_rows(hinge.control.operational_space)


@rows_of("control.impedance")
def _():
    def call(**w):
        robot = _arm(7)
        goal = robot.pose(np.full(7, 0.3), "hand")
        law = hinge.control.impedance(robot, goal, "hand", 50.0, 4.0, **w)
        return law(0.0, np.linspace(0.2, 1.0, 7), np.full(7, 0.1))

    return call, {
        "null": differs(lambda t, q, qd: [1.0, 2, 3, 4, 5, 6, 7]),
        "joint_terms": differs((), TERMS),
    }


def _moved(motion):
    made = motion(0.3 * motion.duration)
    return [motion.duration, *(x for x in (made if isinstance(made, tuple) else vars(made).values()))]


@rows_of("motion.line")
def _():
    slow = {"speed": 0.1, "turning": 5.0}
    return lambda **w: _moved(hinge.motion.line(np.eye(4), TURNED, **w)), {
        "duration": differs(1.0, 2.0),
        "speed": differs(0.1, 0.2, turning=9.0),
        "turning": differs(0.1, 0.2, speed=9.0),
        "law": [differs("quintic", "trapezoidal", **slow), refused("cubic", "cubic", **slow)],
    }


@rows_of("motion.circle")
def _():
    def call(**w):
        return _moved(hinge.motion.circle(np.eye(4), [0.0, 1.0, 0.0], [0, 0, 1.0], **w))

    timed = {"duration": 1.0}
    return call, {
        "angle": differs(1.0, 2.0, **timed),
        "duration": differs(1.0, 2.0),
        "speed": differs(0.1, 0.2),
        "turn": differs(False, True, **timed),
        "law": [differs("quintic", "trapezoidal", **timed), refused("cubic", "cubic", **timed)],
    }


def _joint_motion(f, *given):
    timed = {"times": [0.0, 1.0, 3.0]} if "times" in keywords(f) else {"duration": 1.0}
    rows = {
        "times": differs([0.0, 1.0, 3.0], [0.0, 2.0, 3.0]),
        "duration": differs(5.0, 6.0),
        "velocity": differs(0.5, 1.0),
        "acceleration": differs(0.5, 1.0),
        "ends": [differs("rest", "natural", **timed), refused("free", "free", **timed)],
    }
    return lambda **w: _moved(f(arm(), *given, **w)), {word: row for word, row in rows.items() if word in keywords(f)}


@rows_of("motion.cubic_spline")
def _():
    return _joint_motion(hinge.motion.cubic_spline, [[0, 0], [1, 0], [1, 1]])


@rows_of("motion.quintic_spline")
def _():
    return _joint_motion(hinge.motion.quintic_spline, [[0, 0], [1, 0], [1, 1]])


@rows_of("motion.quintic")
def _():
    return _joint_motion(hinge.motion.quintic, [0, 0], [1, 0.5])


@rows_of("motion.trapezoidal")
def _():
    call, rows = _joint_motion(hinge.motion.trapezoidal, [0, 0], [1, 0.5])
    return lambda **w: call(**({"acceleration": 2.0} | w)), rows


@rows_of("check_motion")
def _():
    def call(**w):
        made = hinge.check_motion(arm(), hinge.motion.quintic(arm(), [0, 0], [1, 0.5], duration=1.0), **w)
        return [str(made), *(x for x in vars(made).values() if isinstance(x, float | np.ndarray))]

    return call, {"samples": differs(7, 1000), "joint_terms": differs((), TERMS)}


# ---- planning


@rows_of("inverse_kinematics")
def _():
    goal = puma().pose(np.array([0.3, 0.4, 0.2, 0.5, 0.6, 0.7]), "tool")

    def call(robot=None, **w):
        made = hinge.inverse_kinematics(robot or puma(), w.pop("poses", goal), "tool", **w)
        return [made.q, made.status]

    far = goal + 9.0 * np.eye(4, k=3)
    varied = (
        puma().vary("joint6.placement")
        if "joint6" in puma().joint_names
        else puma().vary(f"{puma().joint_names[-1]}.placement")
    )
    one = varied.target.vary[0]
    place = np.array(one.nominal(puma().model))
    place[:3, 3] += 0.05
    return call, {
        "start": differs(np.zeros(6), np.full(6, 0.5), match="position"),
        "starts": Same("how many starts are tried where the first leads nowhere"),
        "match": [differs("pose", "position"), refused("place", "place")],
        "tolerance": differs(1e-10, 0.3),
        "steps": differs(1, 40),
        "seed": differs(0, 1, poses=far),
        "parameters": Row({one.name: one.nominal(puma().model)}, {one.name: place}, "differs", {"robot": varied}),
        "prescribed": refused(([0.1],), "prescribed"),
    }


@rows_of("hand_accelerations")
def _():
    force = {"external": {"hand": [0.0, 0, 0, 1, 2, 3]}}

    def call(robot=None, **w):
        made = hinge.hand_accelerations(robot or long_arm(), *LONG[1:], "hand", **({"effort": [60.0] * 4} | w))
        return made.most([1.0, 0.2, 0.1])

    return call, {
        "part": [differs("linear", "angular"), refused("place", "place")],
        "effort": grows([60.0] * 4, [90.0] * 4),
        "external": differs(force["external"]),
        "external_frame": [differs("body", "base", **force), refused("hand", "external_frame='hand'", **force)],
        "parameters": Row(
            {"link2.mass": 1.0}, {"link2.mass": 3.0}, "differs", {"robot": long_arm().vary("link2.mass")}
        ),
    }


def _path(s):
    s, ones = np.atleast_1d(s), np.ones((len(np.atleast_1d(s)), 1))
    bend = np.outer(np.cos(s), [0.5, 0.3])
    return (
        np.outer(np.sin(s), [0.5, 0.3]) + np.outer(s, [1.0, 0.5]),
        bend + ones * [1.0, 0.5],
        np.outer(np.sin(s), [-0.5, -0.3]),
    )


def _timed_rows(f):
    force = {"external": {"hand": [0.0, 0, 0, 5, 5, 5]}}

    def call(robot=None, **w):
        made = f(robot or arm(), _path, **({"points": 32, "velocity": 50.0} | w))
        return made.duration

    rows = {
        "velocity": grows(3.0, 0.3),
        "effort": grows(60.0, 19.0),
        "acceleration": grows(9.0, 0.5),
        "over": differs((0.0, 0.5), (0.0, 1.0)),
        "start": grows(0.1, 0.0),
        "end": grows(0.1, 0.0),
        "points": [differs(16, 64), refused(0, "points")],
        "external": differs(force["external"], effort=20.0),
        "external_frame": [
            differs("body", "base", effort=20.0, **force),
            refused("hand", "external_frame='hand'", **force),
        ],
        "parameters": differs({"link2.mass": 1.0}, {"link2.mass": 2.0}, robot=arm().vary("link2.mass"), effort=20.0),
        "joint_terms": differs((), ("armature",), effort=20.0),
        "duration": differs(20.0, 30.0),
    }
    return call, {word: row for word, row in rows.items() if word in keywords(f)}


@rows_of("time_optimal")
def _():
    return _timed_rows(hinge.time_optimal)


@rows_of("time_uniform")
def _():
    return _timed_rows(hinge.time_uniform)


@rows_of("gradient")
def _():
    def call(batch=0, **w):
        q = np.array([0.3, 0.2]) if not batch else np.array([[0.3, 0.2], [0.5, 0.1]])
        return hinge.gradient(lambda q, u: np.sum(q * u * u), batch=batch, **w)(q, 3 * q)

    return call, {"by": [differs(0, 1), refused(9, "by=9")], "batch": differs(0, 1)}


@rows_of("jacobian")
def _():
    def call(batch=0, **w):
        q = np.array([0.3, 0.2]) if not batch else np.array([[0.3, 0.2], [0.5, 0.1]])
        return hinge.jacobian(lambda q, u: q * u * u, batch=batch, **w)(q, 3 * q)

    return call, {"by": [differs(0, 1), refused(9, "by=9")], "batch": differs(0, 1)}


# ---- optimal control


def _push(u):
    return 1e-3 * u * u


def _solved(problem, q, **w):
    made = hinge.optimal.ddp(problem, q, **({"iterations": 3} | w))
    return [made.u, made.q, made.cost]


@rows_of("optimal.Problem")
def _():
    goal = hinge.optimal.posture(arm(), GOAL)

    def call(robot=None, q=(0.3, 0.2), qd=None, **w):
        problem = hinge.optimal.Problem(
            robot or arm(), 4, 0.05, **({"running": [goal, hinge.optimal.effort(1e-3)]} | w)
        )
        made = _solved(problem, q, qd=qd)
        return made if {"contacts", "ground"} & w.keys() else [*made, problem.nu, *problem.bounds]

    limit = lambda q, qd: [qd[0] + 0.5]
    lie = {"robot": ball(), "q": [0.099], "qd": [-1.0], "running": [hinge.optimal.effort(1e3)]}
    bars = four_bar()
    closed = {"robot": bars, "q": bars.assemble(np.full(bars.nq, 0.1)).q, "running": [hinge.optimal.speed()]}
    closed["qd"] = bars.loop_project(closed["q"], np.ones(bars.nv))[1]
    flat = hinge.constrain(arm(), lambda q, t: [[1.0, 1.0]])
    return call, {
        "running": differs([goal], [goal, hinge.optimal.speed()]),
        "final": differs([hinge.optimal.speed(10.0)]),
        "driven": [differs(["joint1"]), refused(["joint9"], "joint9")],
        "method": [differs("euler", "rk4"), refused("rk5", "rk5")],
        "given": Same("names of numbers of the costs; given to ddp, which has a row"),
        "equal": differs([lambda q, qd: [qd[0]]]),
        "below": differs([limit]),
        "final_equal": differs([lambda q, qd: [qd[0]]]),
        "final_below": differs([limit]),
        "limits": [differs(("effort",), ()), refused(("force",), "force")],
        "effort": differs([1.0, 1.0], [5.0, 5.0]),
        "joint_terms": differs((), ("armature", "damping")),
        "contacts": refused("selves", "selves", **lie),
        "ground": [differs(0.0, -9.0, **lie), refused(True, "True", **lie)],
        "law": [refused("softly", "softly", ground=0.0, **lie), refused("soft", "law='soft' has no effect")],
        "constraint": differs(flat),
        "loops": [differs("baumgarte", "project", **closed), refused("project", "has none")],
        "loop_time": Same("of loops='baumgarte'; simulate has a row"),
    }


problem = cache(
    lambda: hinge.optimal.Problem(arm(), 4, 0.05, [hinge.optimal.posture(arm(), GOAL), hinge.optimal.effort(1e-3)])
)


def _wanted(q, wish):
    return q - wish


@rows_of("optimal.ddp")
def _():
    wish = {"wish": np.array([0.5, 0.1])}
    asked = cache(lambda: hinge.optimal.Problem(arm(), 4, 0.05, [_wanted, hinge.optimal.effort(1e-3)], given=wish))
    varied = cache(
        lambda: hinge.optimal.Problem(
            arm().vary("link2.mass"), 4, 0.05, [hinge.optimal.posture(arm(), GOAL), hinge.optimal.effort(1e-3)]
        )
    )

    def call(which=problem, **w):
        return _solved(which(), (0.3, 0.2), **w)

    return call, {
        "qd": differs([0.5, 0.1]),
        "u": differs(np.full((4, 2), 9.0), iterations=1),
        "path": differs((np.full((5, 2), 0.4), np.zeros((5, 2))), iterations=1, u=np.ones((4, 2))),
        "iterations": differs(1, 5),
        "tolerance": differs(1e-12, 1e3, iterations=20),
        "hessians": [differs("gauss_newton", "exact", iterations=2), refused("newton", "newton")],
        "given": [
            Row({"wish": np.zeros(2)}, {"wish": np.ones(2)}, "differs", {"which": asked}),
            refused({"x": 1.0}, "x"),
        ],
        "parameters": Row({"link2.mass": 1.0}, {"link2.mass": 3.0}, "differs", {"which": varied}),
    }


@rows_of("optimal.mppi")
def _():
    def call(q=(0.3, 0.2), **w):
        made = hinge.optimal.mppi(problem(), q, **({"samples": 16, "iterations": 3} | w))
        return [made.u, made.cost]

    def weighted(**w):
        free = hinge.optimal.Problem(arm(), 4, 0.05, [hinge.optimal.effort(1e-3)], below=[lambda q, qd: [q[0]]])
        made = hinge.optimal.mppi(free, [0.3, 0.2], samples=16, iterations=3, **w)
        return [made.u]

    return lambda **w: weighted(**w) if "weight" in w else call(**w), {
        "qd": differs([0.5, 0.1]),
        "u": differs(np.full((4, 2), 5.0)),
        "samples": differs(8, 16),
        "iterations": differs(1, 3),
        "temperature": differs(1e-3, 10.0),
        "noise": differs(0.1, 3.0),
        "decay": differs(0.5, 0.99),
        "weight": differs(1.0, 1e6),
        "seed": differs(0, 1),
        "given": refused({"x": 1.0}, "x"),
        "parameters": refused({"x": 1.0}, "x"),
    }


def test_a_lower_temperature_of_samples_counts_the_best_more():
    """One iteration gives the mean of what was tried, weighted by cost: it costs the less the lower the temperature."""
    found = []
    for temperature in (1e-3, 1e3):
        made = hinge.optimal.mppi(problem(), [0.3, 0.2], samples=64, iterations=8, temperature=temperature)
        found.append(float(made.cost))
    assert np.isfinite(found).all()
    assert found[0] < found[1]


@rows_of("optimal.rolled")
def _():
    def call(q=(0.3, 0.2), **w):
        made = hinge.optimal.rolled(problem(), q, [0.0, 0.0], np.ones((4, 2)), **w)
        return [made.q, made.cost]

    return call, {"given": refused({"x": 1.0}, "x"), "parameters": refused({"x": 1.0}, "x")}


@rows_of("optimal.mpc")
def _():
    def call(**w):
        law = hinge.optimal.mpc(problem(), 20.0, **w)
        return [law(t, np.array([0.3 + 9 * t, 0.2]), np.zeros(2)) for t in (0.0, 0.05, 0.1)]

    return call, {"iterations": differs(1, 5), "budget": Same("a time on the clock"), "given": refused({"x": 1.0}, "x")}


def _cost_rows(make, *given, **rows):
    return lambda: (lambda **w: make(**w)(*given), {"weight": differs(1.0, 4.0)} | rows)


ROWS |= {
    "optimal.barrier": _cost_rows(
        lambda **w: hinge.optimal.barrier(arm(), **w),
        np.array([2.5, 0.3]),
        np.array([9.0, 0.1]),
        share=differs(0.5, 1.0),
    ),
    "optimal.posture": _cost_rows(lambda **w: hinge.optimal.posture(arm(), GOAL, **w), [0.3, 0.2]),
    "optimal.reach": _cost_rows(
        lambda target=0, task="pose", **w: hinge.optimal.reach(
            arm(), "hand", TURNED if task != "orientation" else TURNED[:3, :3], task=task, **w
        ),
        [0.3, 0.2],
        task=[Row("pose", "orientation", "differs", {"target": None}), refused("place", "place")],
    ),
    "optimal.speed": _cost_rows(lambda **w: hinge.optimal.speed(**w), np.array([0.3, 0.2])),
    "optimal.effort": _cost_rows(lambda **w: hinge.optimal.effort(**w), np.array([0.3, 0.2])),
    "optimal.smoothness": _cost_rows(
        lambda **w: hinge.optimal.smoothness(arm(), **w),
        [0.3, 0.2],
        [0.1, 0.2],
        [1.0, 2.0],
        driven=refused(["joint9"], "joint9"),
    ),
}


@rows_of("optimal.equilibrium")
def _():
    def call(q=(0.3, 0.2), **w):
        made = hinge.optimal.equilibrium(arm(), q, **w)
        return [made.q, made.tau, made.status]

    return call, {
        "driven": [differs(["joint2"]), refused(["joint9"], "joint9")],
        "held": [differs(["joint1"], ["joint2"], tau=[0.5, 0.1]), refused(["joint9"], "joint9")],
        "tau": differs([0.5, 0.1]),
        "tolerance": Same("when it is found; tests/optimal"),
        "iterations": differs(1, 100, driven=["joint2"]),
        "**how": Same("of bias_force"),
    }


@rows_of("optimal.lqr")
def _():
    pytest.importorskip("scipy")

    def call(**w):
        return hinge.optimal.lqr(arm(), [0.3, 0.2], 1.0, 0.1, **w).gains

    tau = hinge.optimal.equilibrium(arm(), [0.3, 0.2]).tau
    return call, {
        "tau": refused(tau + 1.0, "is not at rest at q"),
        "driven": refused(["joint9"], "joint9"),
        "step": differs(0.01),
        "method": [differs("euler", "rk4", step=0.05), refused("rk5", "rk5", step=0.05)],
        "**how": Same("of linearize"),
    }


@rows_of("optimal.tvlqr")
def _():
    run = hinge.simulate(arm(), 0.1, [0.3, 0.2], control=[1.0, 2.0], step=0.02, method="euler")
    bare = type("Run", (), {"q": run.q, "qd": run.qd, "tau": run.tau})()

    def call(run=run, **w):
        return hinge.optimal.tvlqr(arm(), run, 1.0, 0.1, **w).K

    return call, {
        "final": differs(100.0),
        "driven": [differs(["joint1"]), refused(["joint9"], "joint9")],
        "step": Row(0.01, 0.05, "differs", {"run": bare, "method": "euler"}),
        "method": [
            Row("euler", "rk4", "differs", {"run": bare, "step": 0.05}),
            refused("rk5", "rk5", run=bare, step=0.05),
        ],
        "**how": Same("of linearize"),
    }


# ---- identification


@cache
def measured():
    """A log of the arm that moves, with the forces of another arm."""
    t = np.arange(200.0) / 100.0
    w = np.array([3.0, 5.0])
    q, qd, qdd = (
        f(np.outer(t, w) + [0.1, 0.4]) * w**k for k, f in ((0, np.sin), (1, np.cos), (2, lambda x: -np.sin(x)))
    )
    tau = arm().with_payload("hand", 0.3).inverse_dynamics(q, qd, qdd, joint_terms=TERMS)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}


@rows_of("identify.fit")
def _():
    still = {word: x * [1.0, 0.0] if word[0] == "q" else x for word, x in measured().items()}

    def call(log=None, **w):
        made = hinge.identify.fit(arm(), log or measured(), **({"partial": True} | w))
        return [made.parameters, made.base_values, [*made.notes], [len(x) for x in made.drive.values()]]

    return call, {
        "joint_terms": [differs((), TERMS), refused(("dampin",), "dampin")],
        "held_out": differs(0.1, 0.5),
        "weights": differs([1.0, 1.0], [1.0, 100.0]),
        "consistent": differs(False, True),
        "partial": refused(False, ".", log=still),
        "nearness": differs(1e-3, 1.0),
        "drive_terms": [differs(("offset",)), refused(("ofset",), "ofset")],
        "stribeck_velocity": differs(0.05, 0.5, drive_terms=("stribeck",)),
    }


@rows_of("identify.Log", "identify.read")
def _():
    def call(robot=None, **w):
        said = {**measured()}
        qdd = w.pop("qdd", said.pop("qdd"))
        log = hinge.identify.Log(**said, **({"qdd": qdd} | w))
        made = hinge.identify.read(
            arm(), said | {"qdd": qdd}, **{k: x for k, x in w.items() if k in ("cutoff", "load")}
        )
        return [log.q, log.qdd, made.qd, made.qdd, [str(log.load), str(log.cutoff)]]

    load = ("link2", 1.0, (0.0, 0.0, 0.0), np.eye(3))
    return call, {"qdd": differs(np.ones((200, 2))), "load": differs(load), "cutoff": differs(5.0, 20.0)}


@rows_of("identify.base_parameters")
def _():
    def call(**w):
        made = hinge.identify.base_parameters(arm(), **w)
        return [made.rank, made.K]

    few = tuple(measured()[name][:2] for name in ("q", "qd", "qdd"))
    return call, {
        "joint_terms": differs((), TERMS),
        "states": differs(few),
        "tol": differs(1e-8, 0.5),
        "seed": Same("of the states that are looked at where none are given"),
    }


def _term_rows(f):
    return lambda: (lambda **w: f(**w), {"joint_terms": [differs((), TERMS), refused(("dampin",), "dampin")]})


ROWS |= {
    "identify.parameters": _term_rows(lambda **w: hinge.identify.parameters(arm(), **w)),
    "identify.parameter_names": _term_rows(lambda **w: list(hinge.identify.parameter_names(arm(), **w))),
    "identify.residual": _term_rows(
        lambda **w: hinge.identify.residual(arm(), *(measured()[name] for name in ("q", "qd", "qdd", "tau")), **w)
    ),
    "identify.with_parameters": _term_rows(
        lambda **w: hinge.identify.with_parameters(
            arm(), 1.5 * hinge.identify.parameters(arm(), **w), **w
        ).inverse_dynamics(*STATE, joint_terms=TERMS)
    ),
}


def _watched(make, *names):
    def call(**w):
        watch = make(**({"window": 3} | w))
        for k in range(5):
            made = watch.update(*(measured()[name][k] for name in names))
        return [made, watch.mean, watch.drift]

    return lambda: (
        call,
        {
            "joint_terms": differs((), TERMS),
            "window": differs(2, 3),
            "gain": differs(10.0, 50.0),
            "limit": differs(1e-6, 1e6),
        },
    )


@rows_of("identify.Monitor")
def _():
    call, rows = _watched(lambda **w: hinge.identify.Monitor(arm(), **w), "q", "qd", "qdd", "tau")()
    return call, {word: row for word, row in rows.items() if word != "gain"}


@rows_of("identify.Observer")
def _():
    return _watched(lambda **w: hinge.identify.Observer(arm(), 0.01, **w), "q", "qd", "tau")()


@rows_of("identify.excite")
def _():
    pytest.importorskip("scipy")

    def call(**w):
        made = hinge.identify.excite(planar(), **({"duration": 2.0, "speed": 2.0, "harmonics": 2, "tries": 1} | w))
        return made(0.7)

    return call, {
        "duration": differs(2.0, 3.0),
        "harmonics": differs(2, 3),
        "joint_terms": differs((), ("armature", "damping")),
        "middle": differs([0.5, 0.1]),
        "speed": differs(1.0, 2.0),
        "acceleration": differs(0.5, 5.0),
        "effort": refused("clip", "effort is 'clip'"),
        "tries": Same("how many shapes are tried"),
        "seed": differs(0, 1),
        "workspace": refused({"nowhere": ([-1] * 3, [1] * 3)}, "nowhere"),
        "clearance": refused(0.1, "collision shape"),
        "ground": refused(0.0, "."),
    }


# ---- environments, pictures, logs, samples, geometry


@rows_of("envs.VectorEnv", "envs.make")
def _():
    pytest.importorskip("gymnasium")

    task = hinge.envs.CartPoleSwingUp()

    def call(num_envs=2, **w):
        env = hinge.envs.VectorEnv(task, num_envs, **w)
        env.reset(seed=1)
        made = []
        for _ in range(4):
            seen, reward, ended, cut, _ = env.step(np.full(env.action_space.shape, 0.3))
            made += [seen, reward, ended, cut]
        return made, str(seen.dtype), type(seen).__name__

    names = task.robot.body_names
    return call, {
        "num_envs": differs(1, 2),
        "autoreset": [differs("next_step", "same_step", max_episode_steps=2), refused("now", "now")],
        "parameters": [differs({f"{names[-1]}.mass": 3.0}), refused({"x": 1.0}, "x")],
        "max_episode_steps": differs(2, 9),
        "device": refused("tpu", "tpu"),
        "arrays": refused("tensorflow", "tensorflow"),
        "dtype": refused(np.int32, "."),
        "**options": Same("of VectorEnv"),
    }


@rows_of("envs.Env")
def _():
    pytest.importorskip("gymnasium")
    return lambda **w: hinge.envs.Env(hinge.envs.CartPoleSwingUp(), **w).reset(seed=1)[0], {
        "**options": Same("of VectorEnv")
    }


@cache
def _drawn_run():
    return hinge.simulate(planar(), 0.1, q0=[[0.3, 0.5], [1.0, 0.1]], step=0.01)


@rows_of("viewing.picture", "film")
def _():
    def call(**w):
        hinge.film(_drawn_run(), "film.html", **w)
        with open("film.html") as file:
            text = file.read()
        w.pop("speed", None), w.pop("rate", None)
        return [hinge.viewing.picture(_drawn_run(), 0.05, **({"size": (60, 40)} | w)), text]

    return call, {
        "rollout": [differs(0, 1), refused(9, "9")],
        "speed": differs(1.0, 2.0),
        "rate": differs(10.0, 20.0),
        "size": differs((60, 40), (64, 48)),
        "layout": [differs("grid", "ghosts", rollout=[0, 1]), refused("pile", "pile")],
        "trails": [differs(["hand"]), refused(["nowhere"], "nowhere")],
    }


@rows_of("logs.run")
def _():
    def call(name="inverse_dynamics", **w):
        np.savez("log.npz", **{k: measured()[k] for k in ("q", "qd", "qdd")})
        hinge.logs.run(arm(), name, "log.npz", "out.npz", **w)
        with np.load("out.npz") as found:
            made = {word: found[word] for word in found}
        os.remove("out.npz")
        return made

    return call, {
        "at": [differs("hand", "link1", name="pose"), refused("hnd", "hnd", name="pose")],
        "joint_terms": [differs((), TERMS), refused(("dampin",), "dampin")],
        "chunk": Same("how many rows go together"),
    }


def _sample_rows(make, **rows):
    return lambda: (lambda **w: _numbers(make(**w)), rows)


_rng = np.random.default_rng
ROWS |= {
    "samples.pendulum": _sample_rows(
        hinge.samples.pendulum, n=differs(1, 2), length=differs(1.0, 2.0), mass=differs(2.0)
    ),
    "samples.planar_2r": lambda: (
        lambda **w: str(hinge.samples.planar_2r(**w).mass),
        {"length": Same("the mass matrix has it; tests"), "mass": differs(2.0), "symbols": differs(True)},
    ),
    "samples.chain": _sample_rows(lambda **w: hinge.samples.chain(_rng(0), 2, **w), kind=differs("prismatic")),
    "samples.random_tree": _sample_rows(
        lambda **w: hinge.samples.random_tree(_rng(0), 2, **w), kinds=differs(("prismatic",))
    ),
    "samples.four_bar": _sample_rows(
        hinge.samples.four_bar, ground=differs(2.5, 2.6), crank=differs(0.9), coupler=differs(2.1), rocker=differs(1.9)
    ),
    "samples.slider_crank": _sample_rows(
        hinge.samples.slider_crank, crank=differs(0.4), rod=differs(1.7), mass=differs(3.0)
    ),
    "samples.piston_joint": _sample_rows(
        hinge.samples.piston_joint,
        loop=differs("revolute", "sphere_in_cylinder"),
        powered=Same("takes forces in loop_tau"),
    ),
    "samples.five_bar": _sample_rows(
        hinge.samples.five_bar, ground=differs(1.1), inner=differs(1.2), outer=differs(1.7)
    ),
    "samples.stewart_platform": _sample_rows(
        hinge.samples.stewart_platform, radius=differs(1.3), top=differs(0.7), height=differs(1.4)
    ),
    "inertias.principal_screws": lambda: (
        lambda **w: hinge.geometry.inertias.principal_screws(np.diag([1.0, 2, 3, 4, 4, 4]), **w),
        {"freedom": differs(np.eye(6)[:, 2:4])},
    ),
    "check_joint": lambda: (lambda **w: 1.0, {}),
    "Robot": lambda: (
        lambda **w: [".", *(one.name for one in hinge.Robot(arm().model, **w).target.vary)],
        {"vary": differs(("link2.mass",))},
    ),
    "view": lambda: (
        lambda **w: 1.0,
        dict.fromkeys(("port", "host", "browser"), Same("where the page is"))
        | dict.fromkeys(("ghost", "rollout", "layout", "trails"), Same("what the page draws; film has rows")),
    ),
}
ALMOST = TURNED + 1e-4 * np.eye(4)[:, ::-1] * [[1], [1], [1], [0]]
OTHERS = {
    "other": TURNED,
    "outer": np.arange(6.0),
    "inner": np.arange(6.0),
    "twist": np.arange(6.0),
    "wrench": np.arange(6.0),
    "rate": None,
    "pose": ALMOST,
}


def _nearest_rows(f):
    names = [name for name, one in inspect.signature(f).parameters.items() if one.default is one.empty]
    twist = hinge.geometry.se3.exp(np.array([0.1, 0.2, 0.3, 1.0, 2.0, 3.0]))
    rate = (twist - np.eye(4)) @ TURNED

    def call(**w):
        given = [OTHERS[name] if name != "rate" else rate for name in names]
        return f(*given, **w)

    return lambda: (
        call,
        {
            "nearest": [
                refused(False, "rotation|orthogonal|pose"),
                Same("takes the nearest pose; without it such a pose is refused"),
            ]
        },
    )


ROWS |= {name: _nearest_rows(f) for name, f in CALLS.items() if "nearest" in keywords(f)}
