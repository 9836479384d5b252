"""docs/contract.md is true: what its tables name is there, takes what they say, and gives arrays of those shapes."""

import inspect
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hinge
from hinge.model.file_physics import Actuator, FilePhysics
from hinge.robot import ALGORITHMS

TEXT = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))
COMMON = re.search(r"All take (.+?)\.\n", SECTIONS["What a robot computes"], re.DOTALL)[1]


def rows(section):
    """The cells of each row of a section's table, below its head."""
    lines = [line for line in SECTIONS[section].splitlines() if line.startswith("|")]
    cells = [[c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return cells[2:]


def calls(cell):
    """(name, parameters as written) for each `name(…)` in a cell."""
    return re.findall(r"`(?:hinge\.)?\.?([\w.]+)\((.*?)\)`", cell)


def parameters(written):
    """Parameter → its first alternative as written, or None where it has to be given."""
    made = {}
    for part in filter(None, (p.strip() for p in written.split(","))):
        name, equals, value = part.partition("=")
        made[name] = value.split("|")[0] if equals else None
    return made


def shapes(cell, robot):
    """Each (…) of a cell as a shape: "tau (nv)" is [(nv,)]."""
    sizes = {"nq": robot.nq, "nv": robot.nv, "3 nv": 3 * robot.nv, "p": robot.model.parameter_count}
    found = re.findall(r"\(((?:n[qv]|3 nv|p|\d|, |,)*)\)", cell)
    return [tuple(sizes[s] if s in sizes else int(s) for s in re.split(r",\s*", one) if s) for one in found]


COMPUTED = [(name, written, row) for row in rows("What a robot computes") for name, written in calls(row[0])]
ARRAYS = [one for one in COMPUTED if one[0] not in ("cost", "source", "equations", "kernel")]
# their results are tuples
SEVERAL = {"control_forces", "hybrid_dynamics", "floating_inverse_dynamics", "joint_reactions", "force_parts", "step"}
SIZE = dict.fromkeys(("q", "q0", "q1"), "nq") | dict.fromkeys(
    ("qd", "qdd", "tau", "u", "v", "known", "actuators", "impulses"), "nv"
)
SIZE |= {"ctrl": "nu", "qdd_joints": "nv - 6", "h": "()", "twist": "6", "acceleration": "6"}


@pytest.fixture(scope="module")
def robot():
    """A tree with joints of every kind, so that nq and nv differ."""
    made = hinge.samples.random_tree(np.random.default_rng(4), 6)
    assert made.nq > made.nv > 6
    return made


def given(robot, written, batch=()):
    rng = np.random.default_rng(0)
    q, _ = robot.random_state(rng, 1)
    arrays = {"nq": np.broadcast_to(q[0], (*batch, robot.nq)), "nv": rng.normal(size=(*batch, robot.nv))}
    arrays |= {"()": np.full(batch, 0.01), "6": rng.normal(size=(*batch, 6))}
    names = [name for name, value in parameters(written).items() if value is None]
    return [robot.body_names[-1] if name == "name" else arrays[SIZE[name]] for name in names]


def test_the_tables_are_found():
    assert {name for name, _, _ in COMPUTED} >= {"inverse_dynamics", "mass_matrix", "pose", "integrate", "cost"}
    assert len(COMPUTED) >= 20


def test_every_algorithm_is_in_the_contract_and_every_call_of_it_exists():
    looped = {name.removeprefix("robot.") for row in rows("Loops") for name, _ in calls(row[0])}
    derived = {name for row in rows("Derivatives") for name, _ in calls(row[0])}
    assert {name for name, _, _ in ARRAYS} | ((looped | derived) & set(ALGORITHMS)) == set(ALGORITHMS)
    assert all(hasattr(hinge.Robot, name) for name in derived if "." not in name)
    assert all(
        hasattr(hinge.Robot, name) for name in looped if "." not in name and name not in dir(hinge.samples) + ["load"]
    )
    assert all(hasattr(hinge.Robot, name) for name, _, _ in COMPUTED)


@pytest.mark.parametrize(("name", "written", "row"), ARRAYS)
def test_a_call_has_the_parameters_the_contract_names(name, written, row):
    there = inspect.signature(getattr(hinge.Robot, name)).parameters
    wanted = parameters(written)
    required = [p.name for p in there.values() if p.default is p.empty and p.name != "self"]
    assert required == [p for p, value in wanted.items() if value is None]
    optional = {p: value for p, value in wanted.items() if value is not None}
    assert set(optional) <= {p.name for p in there.values() if p.kind is p.KEYWORD_ONLY}
    for p, value in optional.items():
        if value:
            assert there[p].default == value.strip('"')


@pytest.mark.parametrize(("name", "written", "row"), ARRAYS)
def test_a_call_takes_the_options_that_all_take(name, written, row):
    there = inspect.signature(getattr(hinge.Robot, name)).parameters
    common = re.findall(r"`(\w+)=", COMMON)
    assert {"out", "method", "backend"} <= set(common)
    assert {p: there[p].kind for p in common} == dict.fromkeys(common, inspect.Parameter.KEYWORD_ONLY)


@pytest.mark.parametrize(("name", "written", "row"), ARRAYS)
def test_the_contract_says_how_long_the_arrays_are(name, written, row):
    needed = [SIZE[p] for p, value in parameters(written).items() if value is None and p != "name"]
    together = [n for n, _ in calls(row[0])]
    told = [part.split(", ") for part in row[1].split("; ")]
    mine = told[together.index(name)] if len(told) > 1 else told[0]
    assert mine[: len(needed)] == needed


@pytest.mark.parametrize(("name", "written", "row"), [one for one in ARRAYS if one[0] in SEVERAL])
def test_a_call_gives_the_shapes_the_contract_says(name, written, row):
    robot = hinge.samples.random_tree(np.random.default_rng(4), 3, ("revolute",))
    free = hinge.Builder("base")
    free.link("world")
    free.link("body", 1.0, inertia=np.eye(3))
    free.joint("base", "free", "world", "body")
    robot = hinge.Robot(free.build()).attach(robot, at="body")
    motors = FilePhysics(actuators=tuple(Actuator(joint, "joint", joint) for joint in robot.joint_names[1:]))
    robot = hinge.Robot(replace(robot.model, physics=motors))
    sizes = {"nq": robot.nq, "nv": robot.nv, "nu": 3, "nv - 6": robot.nv - 6, "bodies": robot.model.count, "6": 6}
    told = [tuple(sizes[s] for s in re.split(r",\s*", one) if s) for one in re.findall(r"\(([^)]*)\)", row[2])]
    told = told * (3 if name == "joint_reactions" else 1)
    told = [told[0]] * 3 + [told[1]] if name == "joint_reactions" else told
    arrays = {"nq": robot.neutral(), "nv": np.zeros(robot.nv), "nv - 6": np.zeros(robot.nv - 6), "()": 0.01}
    arrays["nu"] = np.zeros(3)
    given = [arrays[SIZE[p]] for p, value in parameters(written).items() if value is None]
    assert [made.shape for made in getattr(robot, name)(*given, backend="interpret")] == told


@pytest.mark.parametrize(("name", "written", "row"), [one for one in ARRAYS if one[0] not in SEVERAL])
def test_a_call_gives_the_shape_the_contract_says(robot, name, written, row):
    if all(algorithm.refuses(robot.model) for algorithm in ALGORITHMS[name].values()):
        robot = hinge.samples.random_tree(np.random.default_rng(4), 4, ("revolute", "universal"))
    call, told = getattr(robot, name), shapes(row[2], robot)
    together = [n for n, _ in calls(row[0])]
    shape = told[together.index(name)] if len(told) > 1 else told[0]
    one = call(*given(robot, written), backend="interpret")
    assert (one.shape, one.dtype) == (shape, np.float64)
    many = call(*given(robot, written, (2, 3)), backend="interpret")
    assert many.shape == (2, 3, *shape)


@pytest.mark.parametrize(("name", "written", "row"), [one for one in ARRAYS if "|" in one[1]])
def test_every_word_the_contract_offers_is_taken(robot, name, written, row):
    for option, words in re.findall(r'(\w+)=((?:"\w+"\|?)+)', written):
        results = [
            getattr(robot, name)(*given(robot, written), **{option: word}, backend="interpret")
            for word in re.findall(r'"(\w+)"', words)
        ]
        assert len(results) > 1
        assert len({r.tobytes() for r in results}) == len(results)  # and each word means something else


def test_cost_source_and_kernel_are_as_told(robot):
    told = {name: row[2] for name, _, row in COMPUTED}
    cost = robot.cost("mass_matrix", method="composite")
    fields = re.findall(r"\.(\w+)", told["cost"])
    assert fields == ["mul", "add", "div", "sqrt", "trig", "neg", "other", "depth", "method"]
    assert all(hasattr(cost, field) for field in fields)
    (written,) = (written for name, written, _ in COMPUTED if name == "source")
    for language in re.findall(r'"(\w+)"', written):
        word = {"llvm": "define", "latex": r"\tau_{"}.get(language, "inverse_dynamics")
        assert word in robot.source("inverse_dynamics", language)
    kernel = robot.kernel("gravity_force", backend="interpret")
    assert kernel(robot.neutral()).shape == (robot.nv,)


def test_the_methods_the_contract_names_are_those_there_are():
    sentence = re.search(r"Methods: (.+?)\.", " ".join(SECTIONS["What a robot computes"].split()))[1]
    told = dict(re.findall(r"`(\w+)` ([\w, ]+)", sentence))
    assert {"inverse_dynamics", "mass_matrix", "forward_dynamics"} <= set(told)
    for name, methods in told.items():
        assert sorted(methods.split(", ")) == sorted(ALGORITHMS[name])


# ---- a robot, and how to get one


def test_the_attributes_of_a_robot_are_there(robot):
    names = [n for row in rows("A robot") for n in re.findall(r"`\.?([\w.]+)(?:\(.*?\))?`", row[0])]
    assert set(names) >= {"nq", "nv", "joint_names", "report", "limits.lower", "coordinates", "random_state"}
    for name in names:
        owner = robot.limits if name in ("upper", "velocity", "effort") else robot
        for part in name.split("."):
            assert hasattr(owner, part), name
            owner = getattr(owner, part)


def test_the_attributes_of_a_robot_have_the_shapes_told(robot):
    nq, nv = robot.nq, robot.nv
    assert [a.shape for a in robot.limits] == [(nq,), (nq,), (nv,), (nv,)]
    assert robot.limits._fields == ("lower", "upper", "velocity", "effort")
    assert robot.neutral().shape == (nq,)
    q, qd = robot.random_state(np.random.default_rng(0), 4)
    assert (q.shape, qd.shape) == ((4, nq), (4, nv))
    at = [robot.coordinates(joint) for joint in robot.joint_names]
    assert [len(range(nq)[a]) for a, _ in at] == [j.nq for j in robot.model.joint[1:]]
    assert [k for _, b in at for k in range(nv)[b]] == list(range(nv))
    assert list(robot.report) == []
    assert robot.mass == pytest.approx(sum(I.m for I in robot.model.inertia[1:]))


def test_robots_are_had_the_ways_the_contract_says():
    told = {name: written for row in rows("Getting a robot") for name, written in calls(row[0])}
    for name in ("load", "dh"):
        there = inspect.signature(getattr(hinge, name)).parameters
        (first, *rest), wanted = there.values(), parameters(told[name])
        assert first.default is first.empty
        assert [p.name for p in rest] == [p for p, value in wanted.items() if value is not None]
        assert {p.name: str(p.default) for p in rest} == {p: v.strip('"') for p, v in wanted.items() if v is not None}
    samples = {"samples.pendulum", "planar_2r", "puma560", "chain", "random_tree"}
    assert samples <= set(told)
    rng = np.random.default_rng(0)
    for make in samples:
        made = getattr(hinge.samples, make.split(".")[-1])(*{"n": [2], "rng, n": [rng, 2], "": []}[told[make]])
        assert type(made) is hinge.Robot
    builder = hinge.Builder(name="r")
    builder.link("a")
    builder.frame("f", "a")
    assert hinge.Robot(builder.build()).name == "r"


def test_the_errors_are_those_told():
    named = re.findall(r"`(?:hinge\.)?([A-Z]\w+)`", SECTIONS["Errors"])
    assert named[0] == "HingeError"
    assert all(issubclass(getattr(hinge, name), hinge.HingeError) for name in named)
    with pytest.raises(hinge.ModelError) as caught:
        hinge.Builder("r").build()
    for attribute in re.findall(r"`\.(\w+)`", SECTIONS["Errors"]):
        assert hasattr(caught.value, attribute)
