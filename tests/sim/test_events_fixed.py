"""Events with steps of one length: as exact as the method, whatever is recorded, for every rollout by itself."""

import numpy as np
import pytest
from sim_robots import double_pendulum

import hinge
from hinge.sim import events as looking

FIXED = ("rk4", "euler", "semi_implicit", "implicit", "lie_rk4", "midpoint")


def lowest(t, q, qd):
    return q[0]


def turns(t, q, qd):
    return qd[0]


def marked(function, **marks):
    def copy(t, q, qd):
        return function(t, q, qd)

    for name, value in marks.items():
        setattr(copy, name, value)
    return copy


def times(run, which=0, rollout=()):
    return np.array([e.t for e in run.events if e.which == which and e.rollout == rollout])


@pytest.mark.parametrize("method", FIXED)
def test_a_falling_block_passes_a_height_when_galileo_says(method):
    """s = ½ g t²; methods of first order are off by half a step."""
    builder = hinge.Builder("stone")
    builder.link("base")
    builder.link("stone", 1.0, inertia=np.eye(3))
    builder.joint("z", "prismatic", "base", "stone", axis=(0, 0, -1))
    run = hinge.simulate(hinge.Robot(builder.build()), 1.0, method=method, step=1e-3,
                         events=[lambda t, q, qd: q[0] - 2.0])  # fmt: skip
    first = method in ("euler", "semi_implicit", "implicit")
    assert len(run.events) == 1
    assert abs(run.events[0].t - np.sqrt(4.0 / 9.81)) < (6e-4 if first else 1e-12)
    assert abs(run.events[0].q[0] - 2.0) < 1e-12


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("method", "close"), [("rk4", 1e-8), ("lie_rk4", 1e-8), ("midpoint", 1e-4), ("implicit", 5e-2),
                                              ("semi_implicit", 5e-2)])  # fmt: skip
def test_zeros_are_those_of_the_adaptive_method(method, close):
    robot = double_pendulum()
    functions = [lowest, turns]
    fine = hinge.simulate(robot, 3.0, [1.0, 0.5], method="dopri5", rtol=1e-12, atol=1e-13, events=functions)
    run = hinge.simulate(robot, 3.0, [1.0, 0.5], method=method, step=2e-3, events=functions)
    for which in (0, 1):
        wanted = times(fine, which)
        assert len(wanted) >= 2
        np.testing.assert_allclose(times(run, which), wanted, rtol=0, atol=close)
    for event in run.events:
        assert abs(functions[event.which](event.t, event.q, event.qd)) < 1e-12
    assert [e.t for e in run.events] == sorted(e.t for e in run.events)


def test_directions():
    robot = hinge.samples.pendulum(1)
    up, down = marked(lowest, direction=1.0), marked(lowest, direction=-1.0)
    run = hinge.simulate(robot, 5.0, [0.3], step=5e-3, events=[lowest, up, down])
    every, rising, falling = (times(run, k) for k in range(3))
    assert len(every) > 5
    assert np.array_equal(np.sort(np.concatenate([rising, falling])), every)
    assert np.array_equal(every[::2], falling)  # it begins above, and falls first


@pytest.mark.parametrize("method", FIXED)
def test_a_terminal_event_ends_its_rollout_and_the_others_go_on(method):
    robot = hinge.samples.pendulum(1)
    stop = marked(lowest, terminal=True)
    q = np.array([[0.5], [0.0], [-1.0], [0.2]])
    q[1] = 3.1  # does not come down in time
    run = hinge.simulate(robot, 0.5, q, method=method, step=2e-3, events=[stop, turns])
    free = hinge.simulate(robot, 0.5, q, method=method, step=2e-3)
    assert [e.rollout for e in run.events if e.which == 0] == [(3,), (0,), (2,)]
    for k in range(4):
        end = times(run, 0, (k,))
        before = run.t <= end[0] if len(end) else run.t <= 1.0
        assert np.array_equal(run.q[k, before], free.q[k, before])
        assert np.isnan(run.q[k, ~before]).all()
        assert (times(run, 1, (k,)) <= (end[0] if len(end) else 1.0)).all()
    assert (run.status == 0).all()
    ended = hinge.simulate(robot, 5.0, q[[0, 2]], method=method, step=2e-3, events=[stop])
    assert len(ended.events) == 2
    assert ended.t[-1] <= max(e.t for e in ended.events) < ended.t[-1] + 2e-3


def pd(t, q, qd):
    return 2.0 * (np.sin(4.0 * t) - q) - 0.3 * qd


@pytest.mark.sampled(1)
@pytest.mark.parametrize("method", FIXED)
def test_events_are_the_same_whatever_is_recorded_and_in_whatever_parts(method, monkeypatch, tmp_path):
    robot = double_pendulum()
    q = np.array([[1.0, 0.5], [-0.4, 0.9], [0.1, 0.0]])
    given = {"control": pd, "method": method, "step": 5e-3, "events": [lowest, turns]}
    run = hinge.simulate(robot, 1.0, q, **given)
    assert len(run.events) > 5
    plain = hinge.simulate(robot, 1.0, q, control=pd, method=method, step=5e-3)
    for name in ("t", "q", "qd", "tau"):
        assert np.array_equal(getattr(run, name), getattr(plain, name))
    others = [{"record": 7}, {"record": "last"}, {"fields": ("q",)}, {"file": tmp_path / "run.zarr"}]
    made = [hinge.simulate(robot, 1.0, q, **given, **other) for other in others]
    monkeypatch.setattr(looking, "LOOK", 3)
    made.append(hinge.simulate(robot, 1.0, q, **given))
    for other in made:
        assert [e[:3] for e in other.events] == [e[:3] for e in run.events]
        assert all(np.array_equal(a.q, b.q) for a, b in zip(other.events, run.events, strict=True))
    assert np.array_equal(made[0].q, plain.q[:, [*range(0, 201, 7), 200]])
    alone = hinge.simulate(robot, 1.0, q[1], **given)
    assert np.array_equal(times(alone), times(run, 0, (1,)))


def test_events_of_rows_of_forces_and_of_sampled_controllers():
    """Each step again has the forces of that step."""
    robot = double_pendulum()
    taus = np.random.default_rng(0).normal(size=(200, 2))
    run = hinge.simulate(robot, 1.0, [1.0, 0.5], control=taus, step=5e-3, events=[lowest])
    (event,) = run.events[:1]
    n = int(event.t / 5e-3)
    q, _ = robot.step(run.q[n], run.qd[n], taus[n], event.t - n * 5e-3)
    np.testing.assert_allclose(event.q, q, rtol=0, atol=1e-12)
    held = hinge.simulate(robot, 1.0, [1.0, 0.5], control=pd, sample=7, step=5e-3, events=[lowest])
    plain = hinge.simulate(robot, 1.0, [1.0, 0.5], control=pd, sample=7, step=5e-3)
    assert np.array_equal(held.q, plain.q)
    for event in held.events:
        n = int(event.t / 5e-3)
        q, _ = robot.step(plain.q[n], plain.qd[n], plain.tau[n], event.t - n * 5e-3)
        np.testing.assert_allclose(event.q, q, rtol=0, atol=1e-12)
    assert len(held.events) == 1


def test_forces_that_jump_within_the_step_of_an_event():
    """A push that begins in the middle of the step in which the block passes: the time is the exact one."""
    builder = hinge.Builder("block", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("block", 1.0, inertia=np.eye(3))
    builder.joint("x", "prismatic", "base", "block", axis=(1, 0, 0))
    robot = hinge.Robot(builder.build())

    def push(t, q, qd):
        return np.where(t < 0.505, 0.0, 100.0) + 0.0 * q

    push.knots = (0.505,)
    # x = t until 0.505, then 0.505 + s + 50 s²
    for place, wanted in ((0.502, 0.502), (0.5075, 0.505 + (-1 + np.sqrt(1 + 200 * 0.0025)) / 100)):
        run = hinge.simulate(robot, 1.0, [0.0], [1.0], control=push, step=1e-2,
                             events=[lambda t, q, qd, place=place: q[0] - place])  # fmt: skip
        assert [e.t for e in run.events] == pytest.approx([wanted], abs=1e-12)


def test_stops_and_friction_end_in_events_too():
    builder = hinge.Builder("block", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("block", 1.0, inertia=np.eye(3))
    builder.joint("x", "prismatic", "base", "block", axis=(1, 0, 0), friction=1.0, upper=0.4, lower=-1.0)
    robot = hinge.Robot(builder.build())
    run = hinge.simulate(robot, 1.0, [0.0], [1.0], step=1e-3, limits="stop", joint_terms=("armature", "friction"),
                         events=[lambda t, q, qd: q[0] - 0.3])  # fmt: skip
    assert [e.t for e in run.events] == pytest.approx([1 - np.sqrt(1 - 0.6)], abs=1e-9)
    assert run.q[-1, 0] == 0.4
