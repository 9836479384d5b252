"""A joint, a shape, an operation, a back end, a contact law, a method: each is added here by a class or a row.

Readers, writers, viewer, docs, counts and laws find it unasked, and when the test is over it is gone.
"""

import subprocess
import sys
from fractions import Fraction as F
from importlib.util import module_from_spec, spec_from_file_location
from math import cos as cosine
from math import hypot, pi
from pathlib import Path

import numpy as np
import pytest
import sympy
from back_ends import COMPILER, in_c, interpreted, native
from shape_laws import LAWS, sized
from toy_arrays import ToyArray, ToyDevice

import hinge
from hinge import backends
from hinge.backends import Backend, Code, interpret
from hinge.backends.count import count
from hinge.calls.libraries import LIBRARIES
from hinge.contact.law import ContactLaw, ContactResult
from hinge.contact.laws import LAWS as CONTACT_LAWS
from hinge.contact.slot_contacts import Pairs
from hinge.contact.slot_rows import columns, directions, shares, slot_rows
from hinge.dynamics.composite import composite
from hinge.dynamics.registry import ALGORITHMS, FORCE, POSITION, SCALAR, algorithm, choose, default, rivals
from hinge.dynamics.solve import LDL
from hinge.graph import OPS, Graph, Input, cos, jacobian, maximum, order, sin
from hinge.graph.ops import function
from hinge.integrators import METHODS, Tableau, explicit
from hinge.model import JOINTS
from hinge.model.moments import Moments, joined
from hinge.model.shapes import SHAPES, Geometry, Shape, dataclass, turned
from hinge.spatial import Motion, MotionSpace, Vec3, slide, turn
from hinge.viewing import shapes as drawn

Z = Vec3((0.0, 0.0, 1.0))
LINK = '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>{1}</link>'
ARM = ('<robot name="arm"><link name="base"/>{0}<joint name="j" type="{1}"><parent link="base"/><child link="l"/>'
       '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>')  # fmt: skip
TABLES = (JOINTS, SHAPES, OPS, METHODS, backends._ROWS, ALGORITHMS, *ALGORITHMS.values(), LIBRARIES, CONTACT_LAWS)


@pytest.fixture(autouse=True)
def _as_it_was():
    """What a test adds is gone after it."""
    kept = [dict(table) for table in TABLES]
    yield
    for table, before in zip(TABLES, kept, strict=True):
        table.clear()
        table.update(before)


def made_page(name):
    """A page of the site that is made from the registries."""
    docs = Path(__file__).parents[2] / "docs"
    spec = spec_from_file_location("made_pages", docs / "made_pages.py")
    pages = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(docs)  # as Sphinx does
        spec.loader.exec_module(pages)
    return getattr(pages, name)()


# a shape


def cone():
    @dataclass(frozen=True)
    class Cone(Geometry):
        """A cone whose tip is up."""

        radius: float
        height: float
        kind, urdf, mjcf, halves = "cone", "cone", "cone", (1.0, 0.5)

        def solid(self):
            r, h = self.radius, self.height
            volume = pi * r * r * h / 3
            moments = np.diag([3 / 20 * r * r, 3 / 20 * r * r, 3 / 80 * h * h])
            return Moments(volume, np.array([0.0, 0.0, -h / 4]), volume * moments)

        def shell(self):
            r, h = self.radius, self.height
            side, disc = pi * r * hypot(r, h), pi * r * r
            return joined([
                Moments(side, np.array([0, 0, -h / 6]), side * np.diag([r * r / 4, r * r / 4, h * h / 18])),
                Moments(disc, np.array([0, 0, -h / 2]), disc * np.diag([r * r / 4, r * r / 4, 0.0])),
            ])  # fmt: skip

        @property
        def reach(self):
            return hypot(self.radius, self.height / 2)

        def core(self, d):
            r, h = self.radius, self.height
            across = np.linalg.norm(d[..., :2], axis=-1, keepdims=True)
            rim = np.concatenate([r * d[..., :2] / np.maximum(across, 1e-300), np.full_like(across, -h / 2)], axis=-1)
            return np.where(h * d[..., 2:] > r * across, [0.0, 0.0, h / 2], rim)

        def triangles(self, around=24):
            r, h = self.radius, self.height
            return turned([(0.0, -h / 2), (r, -h / 2), (0.0, h / 2)], around)

    return Cone


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_shape_keeps_the_laws(law):
    cone()
    law(sized("cone"))


def test_a_shape_is_read_drawn_weighed_and_in_the_docs():
    Cone = cone()
    seen = '<visual><geometry><cone radius="0.2" height="0.6"/></geometry></visual>'
    robot = hinge.load(ARM.format(LINK.format("l", seen), "revolute"))
    assert robot.model.shapes["l"][0].geometry == Cone(0.2, 0.6)
    parts, left = drawn.parts(robot.model, np.stack([np.eye(4)] * 2))
    assert not left
    np.testing.assert_allclose(np.ptp(parts[-1].vertices, axis=0), (0.4, 0.4, 0.6))
    geom = '<body name="b"><joint/><geom type="cone" size=".2 .3" density="7"/></body>'
    body = hinge.load(f"<mujoco><worldbody>{geom}</worldbody></mujoco>").model.links["b"]
    assert body.mass == pytest.approx(7.0 * pi * 0.2**2 * 0.6 / 3)
    assert body.com == pytest.approx((0.0, 0.0, -0.15))
    assert "| `cone` | radius, height | `<cone>` | `cone` | A cone whose tip is up. |" in made_page("kinds")


def test_a_shape_without_corners_is_refused_by_contact_and_one_with_corners_stands():
    cone()

    @dataclass(frozen=True)
    class Spike(Geometry):
        """A triangle, on edge."""

        width: float
        kind = "spike"

        def solid(self):
            return Moments(1.0, np.zeros(3), np.eye(3))

        @property
        def corners(self):
            return self.width * np.array([(-1.0, 0.0, -1.0), (1.0, 0.0, -1.0), (0.0, 0.0, 1.0)])

    scene = hinge.Scene().ground().body("it", "spike", 0.5, mass=1.0)
    q = scene.robot.neutral()
    q[6] = 0.5
    assert sorted(c.point[0] for c in scene.contacts(q)) == [-0.5, 0.5]
    with pytest.raises(hinge.UnknownName, match="no loose body of kind 'cone'"):
        hinge.Scene().body("it", "cone", (0.2, 0.6), mass=1.0)
    builder = hinge.Builder("one")
    builder.link("base", shapes=[Shape("collision", "cone", (0.2, 0.6))])
    scene = hinge.Scene().add(hinge.Robot(builder.build()), "r")
    with pytest.raises(hinge.NotCovered, match=r"link 'r/base' .* 'cone'.\n  Contact geometry covers .*, spike"):
        scene.contacts(scene.robot.neutral())


def test_a_kind_of_hinges_own_is_refused():
    with pytest.raises(hinge.ModelError, match="class Ball has kind 'sphere', which is hinge's own"):
        type("Ball", (Geometry,), {"kind": "sphere"})


# a joint


def cam():
    class Cam(hinge.Joint):
        """Turns about z, and is lifted on the way."""

        kind, urdf, nq, nv, axes_vary = "cam", "cam", 1, 1, True

        def transform(self, q):
            return slide(Z, 0.2 * sin(2.0 * q[0])) @ turn(Z, q[0])

        def axes(self, q):
            return MotionSpace((Motion(Z, Z * (0.4 * cos(2.0 * q[0]))),))

    return Cam


def test_a_joint_is_read_written_drawn_lawful_and_in_the_docs(tmp_path):
    Cam = cam()
    hinge.check_joint(Cam())
    robot = hinge.load(ARM.format(LINK.format("l", ""), "cam"))
    assert robot.model.joint[1] == Cam()
    report = hinge.write(robot, tmp_path / "again.urdf")
    assert [finding.code for finding in report] == ["own-joint"]
    again = hinge.load(tmp_path / "again.urdf")
    q, qd, qdd = [0.3], [1.0], [2.0]
    assert again.inverse_dynamics(q, qd, qdd) == robot.inverse_dynamics(q, qd, qdd)
    assert robot.forward_dynamics(q, qd, robot.inverse_dynamics(q, qd, qdd)) == pytest.approx(qdd)
    assert drawn.parts(robot.model, np.stack([np.eye(4)] * 2))[0]
    assert "| `cam` | 1, 1 | `cam` |  |  | Turns about z, and is lifted on the way. |" in made_page("kinds")


def test_a_joint_that_is_made_of_another_does_not_take_its_word(tmp_path):
    class Wobbly(JOINTS["revolute"]):
        """A hinge of another kind, which no file has a word for."""

        kind = "wobbly"

    text = ARM.format(LINK.format("l", ""), "revolute")
    assert hinge.load(text).model.joint[1].kind == "revolute"
    with pytest.raises(hinge.NotCovered, match="class of your own, 'wobbly'"):
        hinge.write(hinge.Robot(_with_joint(Wobbly())), tmp_path / "x.urdf")


def _with_joint(joint):
    builder = hinge.Builder("one")
    builder.link("base")
    builder.link("l", 1.0, inertia=np.eye(3))
    builder.joint("j", joint, "base", "l")
    return builder.build()


# an operation


def test_an_operation_is_a_row_for_every_back_end_numpy_sympy_and_derivatives():
    """The softening sign x / (1 + |x|), whose slope is 1 / (1 + |x|)²."""

    def body(m, x):
        return m.div(x, m.add(m.constant(1.0), m.abs(x)))

    softsign = function("softsign", 1, "x / (1 + |x|)", lambda n, x: ((1.0 - abs(n)) * (1.0 - abs(n)),), "other",
                        numpy=("spacing",), body=body)  # fmt: skip
    graph, x = Graph(), np.linspace(-3.0, 3.0, 37)[:, None]
    node = graph.input("x", 0)
    made = [softsign(node), jacobian([softsign(node)], [node])[0][0], np.spacing(node)]
    program = order([Input("x", 1)], [("y", (3,), made)])
    assert count(program).other >= 1
    assert "softsign(" in str(program)
    wanted = x / (1.0 + np.abs(x))
    for run in [interpreted, lambda p, x: native(p, x, 4), *([in_c] if COMPILER else [])]:
        y = run(program, x)
        np.testing.assert_allclose(y[:, [0, 2]], np.repeat(wanted, 2, axis=1), rtol=1e-15)
        np.testing.assert_allclose(y[:, 1], (1.0 + np.abs(x[:, 0])) ** -2, rtol=1e-14)
    assert softsign(sympy.Symbol("s")).func.__name__ == "softsign"
    assert "| `softsign` | 1 | other |" in made_page("kinds")


# a back end


def test_a_back_end_is_a_row_that_runs_all_the_others_do():
    class Slow(Code):
        def __init__(self, program):
            self.program = program

        def run(self, arrays, outs):
            interpret.run(self.program, arrays, outs)

    class Mine(Backend):
        name, operations = "mine", interpret.BACKEND.operations

        def compile(self, program, dtype):
            return Slow(program)

    backends.register(Mine())
    arm = hinge.samples.planar_2r()
    q = np.array([0.3, -0.2])
    np.testing.assert_array_equal(arm.mass_matrix(q, backend="mine"), arm.mass_matrix(q, backend="interpret"))
    assert hinge.simulate(arm, 0.1, q, backend="mine", method="dopri5").q.shape == (101, 2)


# a library of arrays, and a device that computes on them


def on_device(*arrays):
    return [ToyArray(np.array(x, float)) for x in arrays]


@pytest.fixture
def toy_library():
    backends.register(ToyDevice())
    LIBRARIES["toy_arrays"] = "toy_arrays"


CALLS = {
    "plain": ("forward_dynamics", {}),
    "external and base_motion": (
        "inverse_dynamics",
        {"external": {"link3": [0.1, 0.2, 0.3, 1.0, 2.0, 3.0]}, "base_motion": [[0.1] * 6, [0.2] * 6]},
    ),
    "parameters": ("forward_dynamics", {"parameters": {"link6.mass": [2.0, 3.0]}}),
}


@pytest.mark.parametrize("options", CALLS)
@pytest.mark.usefixtures("toy_library")
def test_calls_take_arrays_of_a_new_library_on_a_new_device(options):
    name, options = CALLS[options]
    arm = hinge.samples.puma560()
    arm = arm.vary(*options.get("parameters", ()))
    states = np.random.default_rng(3).normal(size=(3, 2, 6))
    wanted = getattr(arm, name)(*states, **options)
    moved = {
        key: dict(zip(given, on_device(*given.values()), strict=True)) if isinstance(given, dict) else on_device(*given)
        for key, given in options.items()
    }
    for _ in range(2):  # the second of two plain calls goes through `Entry`
        found = getattr(arm, name)(*on_device(*states), **moved)
        assert type(found) is ToyArray
        np.testing.assert_allclose(found.numbers, wanted, rtol=1e-12)
    assert np.abs(wanted).max() > 0.1


@pytest.mark.usefixtures("toy_library")
def test_rollouts_run_on_such_a_device_too():
    arm = hinge.samples.planar_2r()
    q0, tau = np.array([[0.3, 0.1], [0.5, -0.2]]), np.array([[0.4, 0.1], [0.0, 0.2]])
    wanted = hinge.rollout(arm, q0, np.zeros(2), steps=20, h=1e-3, tau=tau, record=5, backend="interpret")
    found = hinge.rollout(arm, *on_device(q0, np.zeros(2)), steps=20, h=1e-3, tau=on_device(tau)[0], record=5)
    assert all(type(x) is ToyArray for x in (found.q, found.qd, found.status))
    np.testing.assert_array_equal(found.q.numbers, wanted.q)
    np.testing.assert_array_equal(found.qd.numbers, wanted.qd)
    assert np.abs(wanted.q[:, -1] - wanted.q[:, 0]).max() > 1e-4
    assert found.status.numbers.tolist() == [0, 0]


@pytest.mark.usefixtures("toy_library")
def test_arrays_in_two_places_and_unlike_sizes_are_refused_as_on_any_device():
    arm = hinge.samples.planar_2r()
    q, qd = on_device(np.zeros(2), np.zeros(2))
    with pytest.raises(hinge.SizeError, match="mass_matrix: q has 3 entries, robot 'planar_2r' has nq = 2"):
        arm.mass_matrix(*on_device(np.zeros(3)))
    with pytest.raises(hinge.SizeError, match="q is on GPU 0 and tau on GPU 1"):
        arm.forward_dynamics(q, qd, ToyArray(np.zeros(2), 1))
    with pytest.raises(hinge.NotCovered, match="backend='interpret' cannot take arrays on a GPU"):
        arm.mass_matrix(q, backend="interpret")


# an adaptive pair: Bogacki and Shampine's of third and second order

BS32 = Tableau(
    "bs32", 3, ((), (1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)), (2 / 9, 1 / 3, 4 / 9, 0.0),
    low=tuple(float(x) for x in (F(7, 24), F(1, 4), F(1, 3), F(1, 8))),
)  # fmt: skip


@pytest.mark.parametrize("robot", [hinge.samples.planar_2r(), hinge.samples.pendulum(1)], ids=lambda r: r.name)
def test_an_adaptive_pair_is_a_row(robot):
    METHODS["bs32"] = explicit(BS32)
    q0 = np.full(robot.nq, 0.5)
    wanted = hinge.simulate(robot, 1.0, q0, method="dopri5", rtol=1e-12, atol=1e-12, step=0.1)
    errors, events = [], []
    for tol in (1e-4, 1e-6, 1e-8):
        run = hinge.simulate(robot, 1.0, q0, method="bs32", rtol=tol, atol=tol, step=0.1,
                             events=[lambda t, q, qd: qd[0] + 1.0])  # fmt: skip
        errors.append(np.abs(run.q - wanted.q).max())
        events.append(run.events[0].t)
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-5
    assert np.ptp(events[1:]) < 1e-6
    with pytest.raises(hinge.NotCovered, match="file= does not go with method='bs32'"):
        hinge.simulate(robot, 1.0, q0, method="bs32", file="x.zarr")
    assert "| `bs32` | 3 | adaptive |" in made_page("kinds")


def test_the_last_stage_of_every_pair_is_the_rate_at_the_end():
    pairs = [method.tableau for method in METHODS.values() if method.adaptive] + [BS32]
    for pair in pairs:
        assert pair.a[-1] == pair.b[:-1]
        assert pair.b[-1] == 0.0
        for weights in (pair.b, pair.low):
            assert sum(weights) == pytest.approx(1.0, abs=1e-14)
            assert np.dot(weights, pair.c) == pytest.approx(0.5, abs=1e-14)


# a contact law


def penalty(stiffness):
    @dataclass(frozen=True)
    class Penalty(ContactLaw):
        """Springs push bodies apart, which slide on each other freely."""

        name = "penalty"
        pairs: tuple = ()

        @classmethod
        def of(cls, model, weights, pairs, whole):
            return cls(tuple(pairs))

        def weighed(self, model, weights, pushes, whole):
            return self

        def force(self, touch):
            return stiffness * maximum(-touch.gap, 0.0)

        def step(self, step, now):
            model, made = step.model, step.free_motion(now, {})
            slots, axes = step.contacts(model, made.q, made.v[0]), columns(model, made.q)
            bodies = Pairs([{"bodies": (float(pair.first), float(pair.second))} for pair in self.pairs])

            def push(k, *sum_so_far):
                touch = slots[k]
                (row,) = slot_rows(axes, shares(axes, *bodies[touch.pair]["bodies"]), directions(touch, 1))
                return [x + now.h * self.force(touch) * row.get(j, 0.0) for j, x in enumerate(sum_so_far)]

            impulse = slots.each([0.0 * x for x in made.v], push)
            change = LDL(composite(model, made.q), model.joint_label()).solve(impulse)
            v = [x + y for x, y in zip(made.v, change, strict=True)]
            return ContactResult(made.q, v, pivot=made.pivot, made=made, slots=slots,
                                 forces=lambda k: [self.force(slots[k])], size=1)  # fmt: skip

    return Penalty


def test_a_contact_law_is_a_class_and_a_row():
    ball = hinge.Scene().body("ball", "sphere", 0.1, mass=1.0).robot
    start, rest = np.array([1.0, 0, 0, 0, 0, 0, 0.1]), np.zeros(6)
    for stiffness in (1e4, 2e4):  # each has its own kernels
        CONTACT_LAWS["penalty"] = penalty(stiffness)
        sinks, pace = 9.81 / stiffness, stiffness**0.5
        run = hinge.rollout(ball, start, rest, 1000, 1e-5, ground=0.0, law="penalty", method="rk4")
        swing = [0.1 - sinks * (1.0 - cosine(pace * k * 1e-5)) for k in range(1001)]
        np.testing.assert_allclose(run.q[:, 6], swing, rtol=0, atol=0.02 * sinks)
        assert (run.status == 0).all()
        step = ball.contact_step(run.q[-1], run.qd[-1], rest, 1e-5, ground=0.0, law="penalty")
        assert step.forces[0, 2] == pytest.approx(stiffness * (0.1 - step.q[6]), rel=1e-2)
    with pytest.raises(hinge.UnknownName, match="penalty"):
        hinge.rollout(ball, start, rest, 10, 1e-4, ground=0.0, law="penalties")


# a method


def test_a_method_of_a_name_that_is_there_and_of_a_new_one():
    @algorithm("gravity_force", q=POSITION, returns=FORCE)
    def nothing(model, q):
        """No weight at all."""
        return [[0.0] * joint.nv for joint in model.joint]

    @algorithm("first_angle", q=POSITION, returns=SCALAR)
    def first_angle(model, q):
        """The first coordinate."""
        return q[1][0]

    arm = hinge.samples.planar_2r()
    try:
        np.testing.assert_array_equal(arm.gravity_force([0.3, 0.2], method="nothing"), [0.0, 0.0])
        assert np.abs(arm.gravity_force([0.3, 0.2])).max() > 1.0  # it is no default
        np.testing.assert_array_equal(arm.first_angle([[0.3, 0.2], [0.5, 0.1]]), [0.3, 0.5])
        assert arm.first_angle.__doc__ == "The first coordinate."
        assert arm.cost("first_angle").mul == 0
        assert "{py:method} hinge.Robot.first_angle(q," in made_page("robot")
        assert "`nothing`" in made_page("robot")
    finally:
        for owner in hinge.Robot.__mro__:
            for name in [name for name in vars(owner) if name.endswith("first_angle")]:
                delattr(owner, name)
    with pytest.raises(AttributeError, match="'Robot' object has no attribute 'first_angel'"):
        arm.first_angel  # noqa: B018


# priority, not the order of imports


@pytest.mark.parametrize("seed", range(3))
def test_the_order_in_which_methods_were_registered_means_nothing(seed):
    coupled = hinge.load(ARM.format(LINK.format("l", ""), "continuous").replace(
        "</robot>", LINK.format("m", "") + '<joint name="k" type="continuous"><parent link="l"/><child link="m"/>'
        '<mimic joint="j" multiplier="2"/></joint></robot>'))  # fmt: skip
    robots = [hinge.samples.puma560(), coupled, hinge.samples.random_tree(np.random.default_rng(seed), 6)]

    def chosen():
        return [(name, choose(robot.model, name).function, [a.function for a in rivals(robot.model, default(name))])
                for robot in robots for name in sorted(ALGORITHMS) if not all(a.reason(robot.model)
                for a in ALGORITHMS[name].values())]  # fmt: skip

    before, rng = chosen(), np.random.default_rng(seed)
    for known in ALGORITHMS.values():
        rows = list(known.items())
        known.clear()
        known.update(rows[k] for k in rng.permutation(len(rows)))
    assert chosen() == before


def test_older_methods_may_be_imported_first():
    code = ("import hinge.dynamics.turney, hinge.formulations.strobe, hinge.dynamics.cluster, hinge\n"
            "from hinge.dynamics.registry import ALGORITHMS, default\n"
            "hinge.Robot\n"
            "print(*(f'{name}.{default(name).function.__name__}' for name in sorted(ALGORITHMS)))\n"
            "print(*sorted(ALGORITHMS['forward_dynamics']))")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    defaults, forward = run.stdout.splitlines()
    assert defaults.split() == [f"{name}.{default(name).function.__name__}" for name in sorted(ALGORITHMS)]
    assert forward.split() == sorted(ALGORITHMS["forward_dynamics"])
