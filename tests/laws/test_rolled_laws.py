"""A robot whose bodies are gone through by loops has the same dynamics as one written out body by body."""

from dataclasses import replace

import numpy as np
import pytest
from back_ends import COMPILER, in_c, same_bits
from robots import random_body, random_place

import hinge
from hinge.backends import interpret
from hinge.backends.llvm import DOUBLE, SINGLE, Native
from hinge.dynamics import rolled
from hinge.dynamics.registry import ALGORITHMS
from hinge.model import JOINTS, Builder, unmoved
from hinge.model.vary import parameter
from hinge.spatial import RigidInertia
from hinge.status import Status

STATES = 5
ROLLING = [(name, key) for name, known in ALGORITHMS.items() for key, one in known.items() if one.rolls]


def grown(seed, parents, kinds):
    """A tree with joint terms everywhere, general placements and inertias."""
    rng = np.random.default_rng(seed)
    builder = Builder("grown")
    builder.link("link0")
    for k, (parent, kind) in enumerate(zip(parents, kinds, strict=True), start=1):
        builder.link(f"link{k}", **random_body(rng))
        R, p = random_place(rng)
        lined = "axis" in JOINTS[kind].__dataclass_fields__
        terms = {name: float(rng.uniform(0.1, 0.5)) for name in ("armature", "damping", "friction")}
        spring = {} if kind == "free" else {"stiffness": 0.3}
        extra = {"pitch": float(rng.uniform(-0.2, 0.2))} if kind == "helical" else {}
        builder.joint(f"joint{k}", kind, f"link{parent}", f"link{k}", p, R, rng.normal(size=3) if lined else None,
                      **terms, **spring, **extra)  # fmt: skip
    return hinge.Robot(builder.build())


def bushy(seed, n):
    rng = np.random.default_rng(seed)
    return [int(rng.integers(max(0, k - 3), k + 1)) for k in range(n)]


ROBOTS = {
    "chain": grown(0, range(12), ["revolute"] * 12),
    "slides": grown(1, range(9), ["prismatic"] * 9),
    "balls": grown(2, range(9), ["spherical"] * 9),
    "screws": grown(3, range(9), ["helical"] * 9),
    "tree": grown(4, bushy(4, 14), ["revolute"] * 14),
    "star": grown(5, [0, *[1] * 9], ["revolute"] * 10),
    "floating": grown(6, range(10), ["free"] + ["revolute"] * 9),
    "mixed": grown(7, [*range(9), 3, *range(10, 15), 8, *range(16, 21)],
                   ["free"] + ["revolute"] * 8 + ["spherical"] * 6 + ["cylindrical"] * 6),
    "comb": grown(8, [0, 1, 2, 3, 4, 5, 6, 7, 3, 9, 10, 11], ["revolute"] * 12),
    "sample": hinge.samples.chain(np.random.default_rng(0), 11),
    "pendulum": hinge.samples.pendulum(9),
}  # fmt: skip
TERMS = frozenset({"armature", "damping", "friction", "stiffness"})


def framed(robot):
    """A robot as algorithms see it; a tree in its own frames, where all its placements have one form."""
    chain = all(p == i - 1 for i, p in robot.model.outward())
    return robot.target.traced if chain else unmoved(robot.model)


def traced(monkeypatch, long, model, name, key, **how):
    """The program of an algorithm, rolled where there are more bodies than that."""
    monkeypatch.setattr(rolled, "LONG", long)
    monkeypatch.setattr(rolled, "SHORTEST", 4)
    return ALGORITHMS[name][key].trace(model, **how)


def both(monkeypatch, robot, name, key, terms=TERMS, **how):
    """The same program rolled and written out."""
    model = replace(framed(robot), terms=terms)
    made = [traced(monkeypatch, long, model, name, key, **how) for long in (4, 10**6)]
    assert [any(op == "loop" for op, _ in program.code) for program in made] == [True, False]
    return made


def states(robot, program, number=np.float64):
    """Random numbers for each input of a program."""
    rng = np.random.default_rng(0)
    given = {"q": robot.random_state(rng, STATES)[0]}
    return [np.ascontiguousarray(given.get(one.name, rng.normal(size=(STATES, one.size))), number)
            for one in program.inputs]  # fmt: skip


def interpreted(program, given):
    outs = [np.empty((STATES, len(one.entries)), given[0].dtype) for one in program.outputs]
    interpret.run(program, given, outs)
    return outs


def compiled(program, given):
    outs = [np.full((STATES, len(one.entries)), 7, np.uint8 if one.whole else given[0].dtype)
            for one in program.outputs]  # fmt: skip
    Native(program, DOUBLE if given[0].dtype == np.float64 else SINGLE).run(given, outs)
    return outs


def agree(program, other, given, tolerance):
    """What two programs give is the same but for rounding; machine code gives the bits of the interpreter."""
    mine, theirs, machine = interpreted(program, given), interpreted(other, given), compiled(program, given)
    for one, a, b, c in zip(program.outputs, mine, theirs, machine, strict=True):
        if one.whole:
            np.testing.assert_array_equal(a, b)
            np.testing.assert_array_equal(a, c)
        else:
            np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * np.nanmax(np.abs(b), initial=1e-300))
            assert same_bits(a, c).all()


@pytest.mark.sampled(6)
@pytest.mark.parametrize("family", ROBOTS)
@pytest.mark.parametrize(("name", "key"), ROLLING)
def test_a_rolled_robot_has_the_same_dynamics(name, key, family, monkeypatch):
    robot = ROBOTS[family]
    program, other = both(monkeypatch, robot, name, key, status=True)
    agree(program, other, states(robot, program), 1e-12)


def test_what_rolls():
    assert {name for name, _ in ROLLING} == {
        "inverse_dynamics", "forward_dynamics", "bias_force", "gravity_force", "kinetic_energy", "potential_energy",
        "center_of_mass", "momentum",
    }  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize("family", ["chain", "mixed", "comb"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "bias_force"])
def test_forces_on_bodies_and_a_moving_base(name, family, monkeypatch):
    robot, key = ROBOTS[family], next(key for n, key in ROLLING if n == name)
    given = frozenset({"external", "base_motion"})
    program, other = both(monkeypatch, robot, name, key, given=given)
    agree(program, other, states(robot, program), 1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("terms", [(), ("armature",), ("damping", "stiffness")])
def test_joint_terms(terms, monkeypatch):
    robot = ROBOTS["mixed"]
    for name, key in (("inverse_dynamics", "newton_euler"), ("forward_dynamics", "articulated")):
        program, other = both(monkeypatch, robot, name, key, frozenset(terms))
        agree(program, other, states(robot, program), 1e-12)


@pytest.mark.parametrize("about", ["base", "com"])
def test_options(about, monkeypatch):
    robot = ROBOTS["mixed"]
    program, other = both(monkeypatch, robot, "momentum", "momentum", options={"about": about})
    agree(program, other, states(robot, program), 1e-12)


@pytest.mark.parametrize("family", ["chain", "tree"])
def test_single_precision(family, monkeypatch):
    robot = ROBOTS[family]
    for name, key in (("inverse_dynamics", "newton_euler"), ("forward_dynamics", "articulated")):
        program, other = both(monkeypatch, robot, name, key)
        agree(program, other, states(robot, program, np.float32), 1e-3)


def test_numbers_that_are_inputs(monkeypatch):
    robot = ROBOTS["chain"]
    vary = [parameter(robot.model, name) for name in ("link2.mass", "gravity")]
    program, other = both(monkeypatch, robot, "forward_dynamics", "articulated", vary=vary)
    agree(program, other, states(robot, program), 1e-12)


def test_regrouped_inertia(monkeypatch):
    robot = ROBOTS["chain"]
    program, other = both(monkeypatch, robot, "inverse_dynamics", "newton_euler", regroup=True)
    agree(program, other, states(robot, program), 1e-12)


def test_states_without_an_answer_are_the_same_ones(monkeypatch):
    robot = ROBOTS["chain"]
    inertia = list(robot.target.traced.inertia)
    I = inertia[9]
    inertia[9] = RigidInertia(-I.m, -I.h, type(I.I)(-x for x in I.I))
    model = replace(robot.target.traced, inertia=tuple(inertia), terms=frozenset())
    program, other = (traced(monkeypatch, long, model, "forward_dynamics", "articulated", status=True)
                      for long in (4, 10**6))  # fmt: skip
    assert any(op == "loop" for op, _ in program.code)
    rng = np.random.default_rng(3)
    given = [rng.uniform(-3, 3, (64, one.size)) for one in program.inputs]
    given[1][7, 4] = np.nan
    mine, theirs = ([np.empty((64, len(o.entries))) for o in program.outputs] for _ in range(2))
    interpret.run(program, given, mine)
    interpret.run(other, given, theirs)
    assert {Status.OK, Status.SINGULAR, Status.NONFINITE} == set(theirs[1].ravel())
    np.testing.assert_array_equal(mine[1], theirs[1])
    np.testing.assert_array_equal(np.isnan(mine[0]), np.isnan(theirs[0]))


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_c_gives_the_bits_of_the_interpreter(monkeypatch):
    robot = ROBOTS["mixed"]
    program, _ = both(monkeypatch, robot, "potential_energy", "potential_energy")
    given = states(robot, program)
    assert same_bits(in_c(program, given[0], "-ffp-contract=off"), interpreted(program, given)[0]).all()


def test_a_joint_that_moves_nothing_is_refused_by_its_name(monkeypatch):
    monkeypatch.setattr(rolled, "LONG", 4)
    builder = Builder("light")
    builder.link("link0")
    for k in range(1, 12):
        builder.link(f"link{k}", *((1.0, (0.1, 0.0, 0.2), np.eye(3)) if k < 11 else ()))
        builder.joint(f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", (0.1, 0.2, 0.3), axis=(0, 1, 0))
    with pytest.raises(hinge.NotCovered, match="joint 'joint11' moves nothing"):
        hinge.Robot(builder.build()).kernel("forward_dynamics", "articulated", "interpret")(*np.zeros((3, 11)))


def test_coupled_joints_are_written_out(monkeypatch):
    builder = Builder("mimic")
    builder.link("link0")
    rng = np.random.default_rng(0)
    for k in range(1, 12):
        builder.link(f"link{k}", **random_body(rng))
        builder.joint(f"joint{k}", "revolute", f"link{k - 1}", f"link{k}", (0.1, 0.2, 0.3), axis=(0, 1, 0),
                      mimic=("joint1", 0.5, 0.1) if k > 1 else None)  # fmt: skip
    model = hinge.Robot(builder.build()).target.traced
    program = traced(monkeypatch, 4, model, "inverse_dynamics", "newton_euler")
    assert not any(op == "loop" for op, _ in program.code)


@pytest.mark.sweep
def test_a_chain_of_a_thousand_joints_comes_back():
    robot = hinge.samples.chain(np.random.default_rng(0), 1000)
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (1000,)), rng.uniform(-0.01, 0.01, 1000), rng.uniform(-0.01, 0.01, 1000)
    tau = robot.inverse_dynamics(q, qd, qdd)
    back = robot.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(back, qdd, rtol=0, atol=1e-6)
    work = 0.5 * qd @ (robot.inverse_dynamics(q, np.zeros(1000), qd) - robot.gravity_force(q))
    np.testing.assert_allclose(robot.kinetic_energy(q, qd), work, rtol=1e-9)
    assert robot.cost("inverse_dynamics").method == "newton_euler"
