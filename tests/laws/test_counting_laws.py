"""Laws of counting: what is counted is what is done, schedules obey what they wait for, frames change no force."""

import numpy as np
import pytest

import hinge
from hinge.calls import call as programs
from hinge.counting.measure import arm, costs
from hinge.counting.measure import cost as counted
from hinge.counting.steps import at_once, depth, processors
from hinge.counting.tally import as_written
from hinge.counting.watch import Group, operations
from hinge.dynamics import ALGORITHMS, rivals
from hinge.graph import Graph
from hinge.model.principal import principal
from hinge.spatial import Force, Motion

METHODS = [
    (call, m)
    for call in ("inverse_dynamics", "mass_matrix", "forward_dynamics")
    for m, known in ALGORITHMS[call].items()
    if not known.closes
]
ON_NODES_ONLY = {"euler_lagrange", "composite_llt", "conjugate_gradient"}
WORK = [("inverse_dynamics", "turney"), ("mass_matrix", "composite"), ("forward_dynamics", "articulated")]


@pytest.mark.parametrize(("call", "method"), [one for one in METHODS if one[1] not in ON_NODES_ONLY])
def test_what_is_counted_as_written_computes_the_right_thing(call, method):
    robot = arm(4)
    cost, given, made = as_written(robot, call, method)
    expected = getattr(robot, call)(*given, backend="interpret")
    np.testing.assert_allclose(made, np.ravel(expected), rtol=1e-9, atol=1e-9)
    traced = robot.cost(call, method=method)
    assert cost.mul > traced.mul
    assert cost.add > traced.add


@pytest.mark.parametrize(("call", "method"), WORK)
def test_operations_with_their_lines_are_those_of_the_program(call, method):
    done, cost = operations(arm(5), call, method), arm(5).cost(call, method=method)
    kinds = [one.kind for one in done]
    assert (kinds.count("mul"), kinds.count("add"), kinds.count("trig")) == (cost.mul, cost.add, cost.trig)
    assert all(need < k for k, one in enumerate(done) for need in one.needs)
    assert all(one.line.text for one in done)


@pytest.mark.parametrize(("call", "method"), WORK[:2])
def test_machines_that_do_more_at_once_are_never_slower_and_never_faster_than_the_longest_chain(call, method):
    done = operations(arm(4), call, method)
    steps = [sum(at_once(done, width)) for width in (1, 3, 6, 36, 10_000)]
    assert steps[0] == sum(one.kind != "trig" for one in done)
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] >= depth(done) - 2  # sines are there already
    assert all(many >= steps[0] / width for many, width in zip(steps, (1, 3, 6, 36, 10_000), strict=True))


def test_a_processor_a_term_is_between_one_and_as_many_as_one_likes():
    done = operations(arm(4), "inverse_dynamics", "turney")
    groups = [Group("alpha", ["alpha[i] = "]), Group("A", ["A[i] = acceleration_matrix"])]
    assert depth(done) == arm(4).cost("inverse_dynamics", method="turney").depth
    assert depth(done) < processors(done, groups) < len(done)
    assert processors(done, [Group("all", [""])]) >= processors(done, groups)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kinds", [("revolute",), ("revolute", "prismatic", "spherical")])
def test_frames_at_centres_of_mass_give_the_same_forces(seed, kinds):
    rng = np.random.default_rng(seed)
    robot = hinge.samples.random_tree(rng, 5, kinds)
    q, qd = robot.random_state(rng, 1)
    qdd = rng.normal(size=robot.nv)
    model = principal(robot.target.traced)
    given = model.joint_positions(list(q[0])), model.joint_velocities(list(qd[0])), model.joint_velocities(list(qdd))
    for method in ("newton_euler", "turney"):
        made = ALGORITHMS["inverse_dynamics"][method].function(model, *given, [Force()] * 6, (Motion(), Motion()))
        expected = robot.inverse_dynamics(q[0], qd[0], qdd, backend="interpret")
        np.testing.assert_allclose(model.generalised_forces(made), expected, rtol=1e-10, atol=1e-10)
    assert all(I.h == (0.0, 0.0, 0.0) and I.I[3:] == (0.0, 0.0, 0.0) for I in model.inertia[1:])


@pytest.mark.parametrize("form", [
    lambda x: (3.0 - x) + 4.0, lambda x: 10.0 - (x + 3.0), lambda x: (9.0 - (2.0 - x)) - 0.0 * x,
    lambda x: ((x * 3.0) * (1.0 / 3.0)) + 0.0, lambda x: (x * 49.0) * (1.0 / 49.0),
])  # fmt: skip
def test_constants_meet(form):
    x = Graph().input("x", 0)
    made = form(x)
    assert made is x or (x in made.args and sum(type(a) is float for a in made.args) == 1)


def test_a_method_that_does_not_cover_a_robot_says_why():
    found = dict(costs(hinge.samples.random_tree(np.random.default_rng(0), 3, ("spherical",)), "inverse_dynamics"))
    assert found["luh"] == "joint 'joint1' is spherical, with 3 freedoms"
    assert found["turney"].mul > 100
    assert dict(costs(arm(6), "inverse_dynamics", most=5000))["uicker_kahn_direct"] == "over 5,000 operations"


@pytest.mark.sampled(10)
@pytest.mark.parametrize("small", [0, programs.SMALL])
@pytest.mark.parametrize("call", ["inverse_dynamics", "forward_dynamics", "christoffel"])
@pytest.mark.parametrize(("seed", "n"), [(11, 2), (3, 2), (5, 3), (7, 4), (8, 5)])
def test_what_is_taken_by_itself_is_never_dearer_than_a_rival(seed, n, call, small, monkeypatch):
    monkeypatch.setattr(programs, "SMALL", small)
    robot = hinge.samples.chain(np.random.default_rng(seed), n)
    best = robot.cost(call)
    taken, program = programs.Call.parse(robot.target, call, method="auto").trace()
    assert best.method == taken.method
    for rival in rivals(robot.model, ALGORITHMS[call][best.method]):
        assert program.operations <= rival.trace(robot.target.traced).operations
        cost = robot.cost(call, method=rival.method)
        assert best.mul + best.add <= cost.mul + cost.add


def test_an_arm_is_counted_once_whether_its_inertia_is_named_or_not():
    assert counted("mass_matrix", "composite", 3) is counted("mass_matrix", "composite", 3, "general")


def test_the_second_method_of_walker_and_orin_does_half_of_the_first():
    """As written: of column k only the bodies beyond joint k, (n + 1) / 2n of all columns and bodies."""
    whole, half = (as_written(arm(6), "mass_matrix", method)[0] for method in ("strobe", "strobe_symmetric"))
    for part in ("mul", "add"):
        assert 6 / 12 < getattr(half, part) / getattr(whole, part) < 7 / 12
    assert arm(6).cost("mass_matrix", method="strobe_symmetric").mul == 791  # traced, what is thrown away never counted


def test_the_cost_has_the_name_of_the_method_asked_for():
    robot = hinge.samples.puma560()
    assert [robot.cost("forward_dynamics", method=m).method for m in ("cluster", "articulated", "auto")] == [
        "cluster", "articulated", "composite_turney",
    ]  # fmt: skip


def test_forces_at_frames_are_counted():
    """A force in the frame of the last body costs six sums; in base coordinates its way to the body besides."""
    robot = hinge.samples.puma560()
    plain, own = robot.cost("inverse_dynamics"), robot.cost("inverse_dynamics", external=["link6"])
    base = robot.cost("inverse_dynamics", external=["link6"], external_frame="base")
    assert (own.mul - plain.mul, own.add - plain.add) == (0, 6)
    assert base.mul > own.mul
    with pytest.raises(hinge.UnknownName, match=r"^mass_matrix has no optional input 'external'. There are none.$"):
        robot.cost("mass_matrix", external=["link6"])
