"""Rollouts as CUDA text: on the host it gives the interpreter's bits, and NVRTC takes it."""

import cuda_on_host
import numpy as np
import pytest
from test_cuda_code import agree, hosted, numbers, with_nvrtc

import hinge
from hinge.backends.cuda import compiler, emit
from hinge.backends.statements import REALS
from hinge.graph import Graph, Input, order
from hinge.graph.random import uniform
from hinge.sim import rollouts, setup
from hinge.sim.parameters import varied
from hinge.steps.clock import CLOCK

STATES, STEPS = 37, 6


def shaken(t, q, qd, target):
    return 3.0 * (target - qd) + np.sin(9.0 * t)


def tree():
    return hinge.samples.random_tree(np.random.default_rng(116), 3, ("revolute", "spherical"))


def computed_torque(robot):
    return lambda t, q, qd, target: robot.inverse_dynamics(q, qd, 100.0 * (target - q) - 20.0 * qd)


CASES = {
    "arm": (hinge.samples.planar_2r, "semi_implicit", {"limits": "spring", "effort": True}),
    "tree": (tree, "rk4", {"joint_terms": ("armature", "damping")}),
    "varied": (lambda: hinge.samples.planar_2r().vary("lower.mass"), "implicit", {}),
}
cases = pytest.mark.parametrize("name", CASES)


def program_of(robot, method, policy=None, joint_terms=("armature",), effort=False, limits="ignore"):
    """The program of a rollout that writes all there is to write."""
    q, qd, _ = setup.start(robot, None, None)
    physics = setup.physics(robot, q, qd, method, joint_terms, effort, limits)
    numbers = varied(robot, None)
    acts = setup.outside(robot, (1,), None if numbers is None else numbers[None], None, "body", None, None)
    setup.driven_by(acts, robot, policy or shaken, [np.zeros((1, robot.nv))], (1,))
    return rollouts.program(robot.target, physics, acts, {"q": robot.nq, "qd": robot.nv, "tau": robot.nv})


@pytest.mark.sampled(1)
@hosted
@numbers
@cases
def test_on_the_host_rollouts_give_the_bits_of_the_interpreter(tmp_path, name, number):
    make, method, more = CASES[name]
    robot, rng = make(), np.random.default_rng(2)
    q, qd = robot.random_state(rng, STATES)
    qd[3] = np.nan  # one is lost at once
    clock = dict.fromkeys(CLOCK, 0.0) | {"h": 1e-2, "steps": STEPS, "every": 2, "first": 5, "done": 1}
    known = {"q": q, "qd": qd, "clock": np.array(list(clock.values()))}
    program = program_of(robot, method, **more)
    arrays = [known.get(one.name, rng.uniform(0.5, 1.0, (STATES, one.size))) for one in program.inputs]
    arrays[2][:] = 0.0
    agree(tmp_path, program, [np.ascontiguousarray(a, number) for a in arrays], rows=STEPS // 2 + 1)


@pytest.mark.sampled(1)
@hosted
@numbers
def test_threads_that_go_together_give_the_same_bits(tmp_path, number, monkeypatch):
    monkeypatch.setattr("hinge.backends.cuda.rows.LONG", 10)
    text = emit(program_of(hinge.samples.planar_2r(), "semi_implicit"), REALS["float"])
    assert text.together
    assert text.source.count("__syncthreads();") == 1
    test_on_the_host_rollouts_give_the_bits_of_the_interpreter(tmp_path, "arm", number)


@pytest.mark.sweep
@hosted
@numbers
def test_contacts_on_the_host_give_the_bits_of_the_interpreter(tmp_path, number):
    """Boxes that fall on a plane and on each other: lists of contacts, and loops within loops over them."""
    box = '<body pos="0 0 {}"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body>'
    robot = hinge.load(
        '<mujoco><option cone="elliptic"/><worldbody><geom type="plane" size="0 0 1"/>'
        f"{box.format(0.099)}{box.format(0.298)}</worldbody></mujoco>"
    )
    q, qd = np.tile(robot.neutral(), (STATES, 1)), 0.1 * np.random.default_rng(3).normal(size=(STATES, robot.nv))
    course = hinge.rollout(robot, q[:2], qd[:2], 1, 1e-2, physics="file").course
    program = rollouts.program(robot.target, course.physics, course.outside, {"q": robot.nq})
    clock = dict.fromkeys(CLOCK, 0.0) | {"h": 2e-3, "steps": STEPS, "every": 2}
    known = {"q": q, "qd": qd, "clock": np.array(list(clock.values()))}
    arrays = [known.get(one.name, np.zeros((STATES, one.size))) for one in program.inputs]
    agree(tmp_path, program, [np.ascontiguousarray(a, number) for a in arrays], rows=STEPS // 2 + 1)


@pytest.mark.sampled(1)
@hosted
@numbers
def test_random_numbers_are_those_of_the_cpu(tmp_path, number):
    graph = Graph()
    key, at = graph.input("key", 0), graph.input("at", 0)
    program = order(
        [Input("key", 1), Input("at", 1)], [("made", (3,), [uniform(key, at), uniform(at, key), uniform(7.0, at)])]
    )
    rng = np.random.default_rng(3)
    arrays = [rng.integers(0, 2**48, (STATES, 1)).astype(number) for _ in range(2)]
    arrays[1][:4, 0] = -1.0, 2.0**54, np.nan, 0.0
    agree(tmp_path, program, arrays)


@with_nvrtc
@pytest.mark.parametrize("scalar", REALS)
@pytest.mark.parametrize(
    "make", [hinge.samples.puma560, tree, lambda: hinge.samples.chain(np.random.default_rng(1), 12)]
)
def test_nvrtc_takes_rollouts(make, scalar):
    robot = make()
    policy = computed_torque(robot) if robot.nq == robot.nv else shaken
    text = emit(program_of(robot, "rk4" if robot.nv < 9 else "semi_implicit", policy), REALS[scalar])
    assert compiler.compiled(text.source, "program", 90).startswith(b"\x7fELF")


def test_states_stay_in_registers():
    """A step reads no array but the clock, and writes nothing but rows of records."""
    text = emit(program_of(hinge.samples.planar_2r(), "semi_implicit"), REALS["float"]).source
    loop = text[text.index("for (k") : text.rindex("}\n    (void)")]
    assert "all_" not in loop
    assert cuda_on_host.COMPILER is None or "q_record[" in loop or "q_record +" in loop
