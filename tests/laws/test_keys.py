"""Keys of kernels: every value that a program is traced from is part of its key, or its program does not depend on it.

The fields of a model, of the physics of its file, of a contact model and of a run are changed one by one.
"""

import dataclasses
import importlib
import math
import pkgutil
from collections.abc import Mapping
from copy import copy

import numpy as np
import pytest

import hinge
from hinge import dynamics
from hinge.calls.call import WORDS, Call
from hinge.calls.poses import _algorithm as poses_algorithm
from hinge.calls.target import Target
from hinge.contact.contact_model import contact_model
from hinge.dynamics.place import At
from hinge.dynamics.registry import ALGORITHMS, RULES
from hinge.dynamics.slopes import Slope
from hinge.graph import Graph
from hinge.integrators import METHODS, TABLEAUS, explicit
from hinge.keys import LEFT_OUT, Opaque, digest_of, key_fields
from hinge.model.shapes import SHAPES, Box
from hinge.sim import simulation
from hinge.sim.rollouts import kernel

MACHINE = """<mujoco model="machine"><option timestep="0.002" integrator="implicitfast"/>
<worldbody><geom type="plane" size="5 5 .1"/>
<body name="a" pos="0 0 1" gravcomp="0.5"><joint name="j" axis="0 1 0" damping="0.3" stiffness="2" springref="0.1"
 range="-90 90" frictionloss="0.05" armature="0.01"/><geom name="rod" type="capsule" fromto="0 0 0 .4 0 0" size=".05"/>
<body name="b" pos=".4 0 0"><joint name="k" axis="0 1 0" damping="0.1"/><geom type="sphere" size=".06"/>
<site name="tip" pos=".1 0 0"/></body></body></worldbody>
<contact><exclude body1="a" body2="b"/></contact>
<tendon><fixed name="t" stiffness="3" damping="0.2"><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed>
</tendon>
<equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0" active="false"/></equality>
<actuator><position name="p" joint="j" kp="20" kv="1" ctrlrange="-1 1" forcerange="-5 5"/>
<motor name="m" tendon="t" gear="2"/><general name="s" site="tip" gear="0 0 1 0 0 0"/></actuator></mujoco>"""


def follower():
    builder = hinge.Builder("follower")
    builder.link("base")
    for k in (1, 2, 3):
        builder.link(f"link{k}", 1.0 + k, (0.1 * k, 0.05, -0.1), np.diag([0.02, 0.03, 0.025]) * k)
    builder.joint("one", "spherical", "base", "link1", (0.1, 0, 0), damping=0.1)
    builder.joint("two", "revolute", "link1", "link2", (0.3, 0, 0), axis=(0, 1, 0), lower=-2.0, upper=2.0)
    builder.joint("three", "prismatic", "link2", "link3", (0.2, 0, 0), axis=(1, 0, 0), mimic=("two", -1.5, 0.2))
    return hinge.Robot(builder.build(base="floating"))


ROBOTS = {
    "machine": lambda: hinge.load(MACHINE),
    "follower": follower,
    "potential": lambda: hinge.samples.planar_2r().with_potential(lambda q: np.cos(q[0]), at=None),
    "elastic": lambda: hinge.samples.pendulum(2).with_elastic("joint1", 30.0, 0.1, 0.2),
    "closed": hinge.samples.four_bar,
    "puma": hinge.samples.puma560,
}


def changed(value):
    """Another value of the same kind as a leaf, or None where the kind is not known."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float | int):
        return type(value)(value + 1) if math.isfinite(value) else 1.0
    if isinstance(value, str):
        return value + "x"
    return None


def leaves(value, path=(), out=False):
    """(path, whether a field on the way is left out of keys, the whole with that leaf changed), for every leaf."""
    rebuilt = None
    if dataclasses.is_dataclass(value):
        parts = {f.name: (getattr(value, f.name), LEFT_OUT in f.metadata) for f in dataclasses.fields(value)}
        rebuilt = lambda name, x: _put(value, name, x)
    elif isinstance(value, Mapping):
        parts = {name: (x, False) for name, x in value.items()}
        rebuilt = lambda name, x: {**value, name: x}
    elif isinstance(value, tuple | list):
        parts = {k: (x, False) for k, x in enumerate(value)}
        rebuilt = lambda k, x: _joined(value, k, x)
    elif hasattr(value, "__slots__") or "key_fields" in vars(type(value)):
        parts = {name: (getattr(value, name), False) for name in key_fields(type(value))}
        rebuilt = lambda name, x: _put(value, name, x)
    if rebuilt is None:
        other = changed(value)
        if other is not None:
            yield path, out, other
        elif value is not None and not isinstance(value, frozenset | np.ndarray):
            raise TypeError(f"{'.'.join(map(str, path))} is a {type(value).__name__}: say here how it is changed")
        return
    for name, (part, left) in parts.items():
        for where, skipped, other in leaves(part, (*path, name), out or left):
            yield where, skipped, rebuilt(name, other)


def _put(value, name, x):
    made = copy(value)
    object.__setattr__(made, name, x)
    for cached in [one for one in getattr(made, "__dict__", {}) if one not in _declared(type(value))]:
        del made.__dict__[cached]
    return made


def _declared(cls):
    return {f.name for f in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set(key_fields(cls))


def _joined(value, k, x):
    items = (*value[:k], x, *value[k + 1 :])
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def programs(model):
    """The program of every algorithm that covers a model, by name."""
    target, made = Target(model), {}
    for name in sorted(ALGORITHMS):
        try:
            call = Call.parse(target, name, backend="interpret", joint_terms=("armature", "damping", "stiffness"))
            made[name] = call.kernel.program_digest
        except hinge.HingeError as why:
            made[name] = type(why).__name__
    return made


@pytest.mark.parametrize("name", ROBOTS)
def test_every_field_of_a_model_is_part_of_its_key(name):
    model = ROBOTS[name]().model
    whole, seen = digest_of(model), 0
    for path, out, other in leaves(model):
        assert (digest_of(other) == whole) == out, path
        seen += 1
    assert seen > 100
    assert digest_of(model) == whole == digest_of(copy(model))


def test_programs_do_not_depend_on_fields_that_are_left_out():
    model = ROBOTS["machine"]().model
    model = dataclasses.replace(model, data=tuple(dataclasses.replace(d, other={"word": 1.0}) for d in model.data))
    want, tried = programs(model), {}
    for path, out, other in leaves(model):
        kind = tuple(part for part in path if isinstance(part, str))[:2] if path[0] == "data" else path[:1]
        if out and tried.setdefault(kind, 0) < 2:
            tried[kind] += 1
            assert programs(other) == want, path
    assert {path[0] for path in tried} == {"shapes", "report", "file", "data", "written"}


def _run(robot, **options):
    """The kernel of a rollout, which is not run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "_taken", lambda course, q, qd: course)
        course = hinge.rollout(robot, robot.neutral(), np.zeros(robot.nv), 1, 1e-3, backend="interpret", **options)
    return kernel(robot, course.physics, course.outside, {"q": robot.nq, "qd": robot.nv}, "interpret")


def test_a_shape_changes_the_key_of_a_run_with_contact_or_not_its_program():
    """Shapes are left out of the key of a model. A run has those that may touch in its contact model."""
    robot = ROBOTS["machine"]()
    first = _run(robot, physics="file")
    same, differ, tried = 0, 0, set()
    for path, _, shapes in leaves({link: own for link, own in robot.model.shapes.items() if link != "b"}):
        kind = robot.model.shapes[path[0]][path[1]].role, *path[2:]
        if kind in tried:
            continue
        tried.add(kind)
        shapes = {**robot.model.shapes, **shapes}
        model = dataclasses.replace(robot.model, shapes=shapes)
        try:
            other = _run(hinge.Robot(model), physics="file")
        except (hinge.HingeError, LookupError, ValueError, ArithmeticError):  # no robot any more
            continue
        if other.plan.source_digest != first.plan.source_digest:
            differ += 1
            continue
        same += 1
        assert other.program_digest == first.program_digest, path
    assert same > 5
    assert differ > 20


def test_every_field_of_a_contact_model_and_of_a_step_is_part_of_its_key():
    robot = ROBOTS["machine"]()
    for law in ("rigid", "soft"):
        touch = contact_model(robot.target, "self", hinge.Ground(0.1, friction=0.4), law)
        physics = hinge.rollout(robot, [0, 0], [0, 0], 1, 1e-3, ground=0.0, law=law).course.physics
        for value in (touch, dataclasses.replace(physics, touch=None, springs=((1.0, 2.0),))):
            whole = digest_of(value)
            for path, out, other in leaves(value):
                if path[-1] == "method":
                    continue  # a name that selects a row: below
                assert (digest_of(other) == whole) == out, path


OTHER_WORDS = {
    "name": "inverse_dynamics", "method": "articulated", "optional": ("external",), "terms": ("damping",),
    "status": True, "regroup": True, "frames": (("external", At(("a",))),), "options": (("reference", "world"),),
    "derivatives": (Slope("columns", ("q",)),), "by_numbers": True, "packed": True,
}  # fmt: skip


def test_every_word_of_a_call_is_part_of_its_key():
    """The back end is in the name of every entry, and a call with a recipe is known by its program."""
    assert WORDS.keys() == OTHER_WORDS.keys() | {"backend", "recipe"}
    call = Call.parse(hinge.load(MACHINE).target, "forward_dynamics")
    digests = [digest_of(call.but(**{word: value})) for word, value in OTHER_WORDS.items()]
    assert len({digest_of(call), *digests}) == 1 + len(OTHER_WORDS)
    assert digest_of(call) == digest_of(call.but(backend="interpret"))
    with pytest.raises(Opaque):
        digest_of(Call.outside_registry(call.target, (poses_algorithm, ("a",))))


REASONS = {
    "Input.label": "only messages have it",
    "Model.shapes": "programs about contact are traced from a ContactModel, which has them",
    "Model.report": "findings about the file",
    "Model.file": "a path; meshes are read when a ContactModel is made",
    "Model.written": "only messages name the line",
    "JointData.other": "words of the file, kept to be written",
    "JointData.where": "only messages name the line",
}
DECLARED = {
    "Target": ("model", "vary"),
    "Heights": ("rows", "size", "base"),
    "Call": tuple(word for word in ("target", *WORDS) if word not in ("backend", "recipe")),
}


def test_what_is_left_out_of_keys_is_listed_here_with_its_reason():
    out, declared = {}, {}
    for module in pkgutil.walk_packages(hinge.__path__, "hinge."):
        if module.name.startswith(("hinge.calls.jax", "hinge.calls.torch", "hinge.calls.casadi", "hinge.__main__")):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # an extra that is not installed
            continue
        for cls in (x for x in names.values() if isinstance(x, type) and x.__module__ == module.name):
            if dataclasses.is_dataclass(cls):
                own = vars(cls).get("__annotations__", {})
                marked = [f for f in dataclasses.fields(cls) if LEFT_OUT in f.metadata and f.name in own]
                out |= {f"{cls.__name__}.{f.name}": f.metadata[LEFT_OUT] for f in marked}
            if "key_fields" in vars(cls):
                declared[cls.__name__] = cls.key_fields
    assert (out, declared) == (REASONS, DECLARED)


# rows of registries


class Slab(Box):
    """A user's shape."""

    kind = "slab"


def _shape_of_the_user():
    robot = hinge.load(MACHINE)
    shapes = {
        link: tuple(dataclasses.replace(one, kind="slab", size=(0.1, 0.1, 0.1)) for one in own)
        for link, own in robot.model.shapes.items()
        if link == "b"
    }
    return hinge.Robot(dataclasses.replace(robot.model, shapes=shapes))


def test_a_row_of_the_user_in_a_registry_makes_a_source_opaque(monkeypatch):
    robot = hinge.load(MACHINE)
    own = _run(robot, method="rk4").plan.source_digest
    assert own is not None
    monkeypatch.setitem(METHODS, "rk4", explicit(dataclasses.replace(TABLEAUS["rk4"], b=(0.25, 0.25, 0.25, 0.25))))
    replaced = _run(hinge.load(MACHINE), method="rk4").plan.source_digest
    assert replaced not in (own, None)  # another tableau is other data
    step = lambda: Call.parse(hinge.load(MACHINE).target, "step", method="rk4")
    assert digest_of(step()) != (monkeypatch.undo(), digest_of(step()))[1]

    taken = METHODS["rk4"]
    advance = lambda *given: taken.advance(*given)
    monkeypatch.setitem(METHODS, "rk4", dataclasses.replace(taken, advance=advance))
    assert _run(hinge.load(MACHINE), method="rk4").plan.source_digest is None
    monkeypatch.undo()

    first = next(iter(ALGORITHMS["forward_dynamics"].values()))
    rival = dataclasses.replace(first, method="mine", function=lambda *given, **more: first.function(*given, **more))
    monkeypatch.setitem(ALGORITHMS["forward_dynamics"], "mine", rival)
    assert _run(hinge.load(MACHINE), method="rk4").plan.source_digest is None
    with pytest.raises(Opaque):
        digest_of(step())
    assert dynamics.ALGORITHMS is ALGORITHMS
    monkeypatch.undo()

    monkeypatch.setitem(RULES, "forward_dynamics", lambda *given, **more: None)
    with pytest.raises(Opaque):
        digest_of(Call.parse(hinge.load(MACHINE).target, "forward_dynamics"))
    monkeypatch.undo()

    assert SHAPES["slab"] is Slab
    assert _run(_shape_of_the_user(), ground=-1.0).plan.source_digest is None
    assert _run(robot, ground=-1.0).plan.source_digest is not None


# values


def test_equal_values_have_equal_digests():
    assert digest_of((1, 2.0)) == digest_of((1.0, 2))
    assert digest_of({"a": 1.0, "b": 2.0}) == digest_of({"b": 2.0, "a": 1.0})
    assert digest_of(frozenset({"x", "y"})) == digest_of(frozenset({"y", "x"}))
    assert digest_of(np.float64(0.5)) == digest_of(0.5)
    assert digest_of(hinge.Ground(0)) == digest_of(hinge.Ground(0.0)) == digest_of(hinge.Ground(-0.0))


def test_different_values_have_different_digests():
    listed = [None, False, True, 0.0, 2.0, "", "a", b"a", (), [], (1.0,), [1.0], ((1.0,),), (1.0, ()), ("a", "b"),
              ("ab",), {}, {"a": "b"}, {"a": 1.0}, frozenset(), frozenset({"a"}), math.inf, -math.inf, 2**60,
              np.zeros(2), np.zeros(2, np.float32), np.zeros((2, 1)), np.ones(2), hinge.Ground(), hinge.Ground(0.1),
              math.sin, math.cos, digest_of, key_fields, hinge.Status.OK]  # fmt: skip
    digests = [digest_of(one) for one in listed]
    assert len(set(digests)) == len(listed)
    assert digests == [digest_of(one) for one in listed]


@pytest.mark.parametrize("value", [lambda: 0, object(), Slab, Graph().input("x", 0), np.array([None]), changed])
def test_what_is_not_data_is_opaque(value):
    with pytest.raises(Opaque):
        digest_of(("a", value))
