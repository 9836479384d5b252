"""What annotations say is what there is: calls are made, and what comes back is held against its type."""

import ast
import dataclasses
import inspect
import types
from collections.abc import Mapping
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import hinge
import hinge.typing
from hinge.dynamics import ALGORITHMS, choose
from hinge.dynamics.registry import PLACE, POSITION, default
from hinge.errors import NotCovered
from hinge.motion import task_space
from hinge.planning import accelerations, ik
from hinge.robot import stub, views
from hinge.typing import Array, Flags, Single, Statuses

ARM, LEGS, BARS = hinge.samples.puma560(), hinge.samples.go2(), hinge.samples.four_bar()
DRIVEN = hinge.load(
    '<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody>'
    '<actuator><motor joint="j"/></actuator></mujoco>'
)
Q, STILL = np.full(6, 0.1), np.zeros(6)


def fits(value, kind):
    """Whether a value is of a type, to its last entry."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if kind is None or kind is type(None):
        return value is None
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in args)
    if origin is np.ndarray:
        (number,) = get_args(args[1])
        return isinstance(value, np.ndarray) and (number is Any or issubclass(value.dtype.type, number))
    if origin is tuple and type(value) is not tuple:
        return False
    if origin is tuple:
        every = args[:1] * len(value) if args[-1:] == (...,) else args
        return len(value) == len(every) and all(map(fits, value, every))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, origin) and all(fits(k, args[0]) and fits(x, args[1]) for k, x in value.items())
    if origin is list:
        return isinstance(value, list) and all(fits(x, args[0]) for x in value)
    if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
        said = {name: one for name, one in hints(kind).items() if hasattr(value, name)}
        return isinstance(value, kind) and all(fits(getattr(value, name), one) for name, one in said.items())
    return isinstance(value, (int, float) if kind is float else origin or kind)


def hints(thing):
    try:
        return get_type_hints(thing)
    except NameError:  # of what only checkers import
        return {}


def test_the_checker_itself_tells_kinds_apart():
    assert fits(np.zeros(2), Array)
    assert not fits(np.zeros(2, np.float32), Array)
    assert not fits(np.float64(0.0), Array)
    assert fits((np.zeros(2), np.zeros(1, np.uint8)), tuple[Array, Statuses])
    assert not fits((np.zeros(2), np.zeros(1, int)), tuple[Array, Statuses])
    assert not fits(
        hinge.contact_forces([[1.0]], [1.0])._replace(status=np.zeros(1)), hinge.contact.forces.ContactForces
    )


def declared():
    """(method, how) → what the stub says that an algorithm gives: by the kind of its first array, and for a status."""
    tree, made = ast.parse(stub.PATH.read_text(encoding="utf-8")), {}
    for cls in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for f in (node for node in cls.body if isinstance(node, ast.FunctionDef) and node.args.kwarg):
            kinds = [ast.unparse(a.annotation) for a in f.args.args if a.arg != "self"]
            told = "Told" in ast.unparse(f.args.kwarg.annotation)
            first = next((kind for kind in kinds if kind != "str"), "")
            made.setdefault((cls.name, f.name, first, told), ast.unparse(f.returns))
    return made


DECLARED = declared()


def robot_for(name):
    for robot in (ARM, LEGS, BARS):
        try:
            choose(robot.model, name)
        except NotCovered:
            continue
        return robot
    raise AssertionError(name)


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if stub.from_registry(name)])
def test_an_algorithm_gives_what_the_stub_says(name):
    first = default(name)
    robot = DRIVEN if "ctrl" in first.inputs else BARS if "loop" in name else robot_for(name)
    view, called = views.MEMBERS.get(name, ("", name))
    cls = views.VIEWS[view].name if view else "Algorithms"
    given = []
    for quantity in (one for one in first.inputs.values() if one.absent is None):
        zeros = np.zeros(quantity.shape(robot.model))
        given.append(robot.body_names[0] if quantity is PLACE else robot.neutral() if quantity is POSITION else zeros)
    as_given = {
        "Doubles": lambda x: x,
        "Numbers": lambda x: x.tolist(),
        "Single": lambda x: x.astype(np.float32),
    }
    for kind, made in as_given.items():
        arrays = [x if isinstance(x, str) else made(x) for x in given]
        for told in (False, True):
            value = getattr(robot, name)(*arrays, backend="interpret", return_status=told)
            said = DECLARED[cls, called, kind, told]
            assert fits(value, eval(said, vars(hinge.typing))), (kind, told, said)


SCENE = hinge.Scene().body("ball", "sphere", 0.1, mass=2.0).robot
LYING = [1, 0, 0, 0, 0, 0, 0.1]
TIP = hinge.Contact("hand", (0, 0, 0), normal=(0, 0, 1), friction=0.5)
PLANAR = hinge.samples.planar_2r()
MOTION = hinge.motion.quintic(ARM, STILL, Q, 1.0)
TWO = [0.1, 0.2]
CALLS = [
    (ARM.coordinates, "joint2"), (ARM.neutral,), (ARM.random_state, 0, 3), (ARM.vary, "gravity"),
    (ARM.cost, "inverse_dynamics"), (ARM.kernel, "mass_matrix"), (ARM.source, "gravity_force", "listing"),
    (ARM.linearize, Q, STILL, STILL),
    (ARM.vjp, "kinetic_energy", (Q, STILL), 1.0),
    (ARM.geodesic, Q, STILL, 0.1, 3), (ARM.exponentials, "tool"),
    (SCENE.distances, LYING, None, 0.0), (SCENE.collides, LYING, None, 0.0),
    (BARS.mobility, BARS.assemble([0.5, 0.5, 1.5]).q), (BARS.assemble, [0.5, 0.5, 1.5]),
    (PLANAR.geodesic_between, [0.0, 0.5], [0.1, 0.4]),
    (PLANAR.contact_system, TWO, TWO, TWO, [TIP]), (PLANAR.contact_dynamics, TWO, TWO, TWO, [TIP]),
    (PLANAR.impact, TWO, TWO, [TIP]), (PLANAR.friction_step, TWO, TWO, TWO, [TIP], 1e-3),
    (SCENE.contact_step, LYING, STILL, STILL, 1e-3, None, 0.0),
    (hinge.contact_forces, np.eye(2), [-1.0, 1.0]), (hinge.contact_sets, np.eye(2)),
    (hinge.friction_forces, np.eye(3), [-1.0, 0.1, 0.0], 0.5),
    (hinge.simulate, ARM, 0.002), (hinge.rollout, ARM, Q, STILL, 2, 1e-3),
    (hinge.inverse_kinematics, ARM, ARM.pose(Q, "tool"), "tool"),
    (hinge.hand_accelerations, ARM, Q, STILL, "tool", "linear", Q),
    (hinge.check_motion, ARM, MOTION, 10), (MOTION, 0.1), (MOTION, np.linspace(0, 0.1, 3)),
    (hinge.motion.line, np.eye(4), np.eye(4), 1.0), (hinge.motion.line(np.eye(4), np.eye(4), 1.0), 0.5),
    (hinge.motion.trapezoidal, ARM, STILL, Q, 1.0), (hinge.motion.cubic_spline, ARM, [STILL, Q], [0.0, 1.0]),
    (hinge.identify.parameters, ARM), (hinge.identify.parameter_names, ARM), (hinge.identify.base_parameters, ARM),
    (hinge.identify.differentiate, np.linspace(0, 2, 500), np.zeros((500, 1)), 5.0),
    (hinge.identify.residual, ARM, Q, STILL, STILL, STILL),
    (hinge.identify.Monitor(ARM, 3).update, Q, STILL, STILL, STILL),
    (hinge.approximate, PLANAR, 0.01),
    (hinge.two_body_impact, np.eye(6), np.eye(6), np.eye(6)[3], STILL, STILL, 0.5),
    (hinge.impact_projection, np.eye(2), TWO, [[0.0, 1.0]]),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=lambda call: getattr(call[0], "__qualname__", type(call[0]).__name__))
def test_a_call_gives_what_it_says(call):
    function, *given = call
    own = inspect.unwrap(function if hasattr(function, "__code__") else function.__call__)
    own = getattr(own, "__func__", own)
    said = eval(own.__annotations__["return"], own.__globals__)
    value = function(*given)
    assert fits(value, said), (said, value)


@pytest.mark.parametrize("name", ["inverse_dynamics_derivatives", "forward_dynamics_derivatives"])
def test_derivatives_give_what_their_overloads_say(name):
    method, few = getattr(ARM, name), STILL.astype(np.float32)
    assert fits(method(Q, STILL, STILL), tuple[Array, Array, Array])
    assert fits(method(Q.tolist(), STILL, STILL, return_status=True), tuple[Array, Array, Array, Statuses])
    assert fits(method(Q, STILL, STILL, packed=True), Array)
    assert fits(method(few, few, few), tuple[Single, Single, Single])


def test_controllers_are_functions_that_give_arrays():
    for law in (hinge.control.pd(ARM, Q), hinge.control.computed_torque(ARM, MOTION), hinge.control.reach(
        ARM, ARM.pose(Q, "tool"), "tool"), hinge.control.saturate(ARM, hinge.control.posture(ARM, Q))):  # fmt: skip
        assert fits(law(0.0, Q, STILL), Array)


def test_a_run_has_arrays():
    run = hinge.simulate(ARM, 0.002)
    said = dict.fromkeys(("q", "qd", "tau", "t", "lost"), Array)
    said |= {"status": Statuses, "failed": Flags | np.bool, "final": tuple[Array, Array]}
    assert {name for name, kind in said.items() if not fits(getattr(run, name), kind)} == set()
    assert fits(run.energy(), Array)


def test_words_are_those_of_the_tables():
    tables = [(ik.Match, ik.MATCH), (accelerations.Part, accelerations.PARTS), (task_space.PathLaw, task_space.LAWS)]
    assert [set(get_args(words)) for words, _ in tables] == [set(table) for _, table in tables]
    assert fits(ARM.mass_matrix(Q.astype(np.float32)), Single)
