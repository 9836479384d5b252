"""The implicit methods: what is stiff stays where it belongs, and a step that cannot be stable is said."""

import warnings

import numpy as np
import pytest
from sim_robots import double_pendulum, exactly, massless_rods, two_rods

import hinge
from hinge import Status

DAMPED = ("armature", "damping")


def light(damping=0.0):
    """A finger of 10 g on an arm of a kilogram."""
    builder = hinge.Builder("light")
    builder.link("base")
    builder.link("arm", 1.0, (0.3, 0, 0), np.diag([0.001, 0.03, 0.03]))
    builder.link("finger", 0.01, (0.03, 0, 0), 1e-6 * np.eye(3))
    builder.joint("turn", "continuous", "base", "arm", axis=(0, -1, 0), damping=0.2)
    builder.joint("bend", "continuous", "arm", "finger", (0.6, 0, 0), axis=(0, -1, 0), damping=damping)
    return hinge.Robot(builder.build())


def test_it_is_of_second_order():
    exact = exactly(two_rods, [1.0, 0.5, 0.0, 0.0], 1.0)
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = hinge.simulate(double_pendulum(), 1.0, [1.0, 0.5], method="implicit", step=step, record="last")
        errors.append(np.abs(np.concatenate(run.final) - exact).max())
    assert errors[-1] < 1e-4
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.1)


def test_it_comes_to_what_rk4_comes_to():
    robot = light(1e-3)
    given = {"q0": [0.5, 0.3], "qd0": [1.0, -2.0], "joint_terms": DAMPED, "record": "last"}
    fine = hinge.simulate(robot, 0.5, **given, step=1e-4, method="rk4")
    apart = []
    for step in (1e-3, 5e-4):
        run = hinge.simulate(robot, 0.5, **given, step=step, method="implicit")
        apart.append(np.abs(run.q - fine.q).max())
    assert apart[0] < 1e-4
    assert apart[0] / apart[1] == pytest.approx(4.0, abs=0.4)


def test_damping_that_is_stiff_holds():
    """1e4 N m s on 10 g at 1 ms: the finger goes with the arm."""
    robot = light(1e4)
    run = hinge.simulate(robot, 1.0, [0.5, 0.3], [0.0, 0.0], method="implicit", joint_terms=DAMPED)
    assert run.status == 0
    assert np.abs(run.q[:, 1] - 0.3).max() < 1e-4
    assert np.ptp(run.q[:, 0]) > 0.5


# springs

SPRUNG = ("armature", "stiffness", "damping")


def elastic_arm(**elbow):
    """Two rods in the vertical plane, driven through elastic joints."""
    builder = hinge.Builder("elastic arm")
    builder.link("base")
    bar = np.diag([0.01, 1 / 12, 1 / 12])
    builder.link("upper", 1.0, (0.5, 0, 0), bar)
    builder.link("lower", 1.0, (0.5, 0, 0), bar)
    builder.joint("shoulder", "revolute", "base", "upper", axis=(0, -1, 0), lower=-9.0, upper=9.0, effort=40.0)
    builder.joint("elbow", "revolute", "upper", "lower", (1, 0, 0), axis=(0, -1, 0),
                  **{"lower": -9.0, "upper": 9.0, "effort": 10.0} | elbow)  # fmt: skip
    robot = hinge.Robot(builder.build())
    for name in ("shoulder", "elbow"):
        robot = robot.with_elastic(name, 5e5, 20.0, 0.05)
    return robot


def test_stiff_elastic_joints_are_right():
    """2e5 to 1e6 N m/rad with damping from 0 to 200 N m s/rad, in steps of 1 ms, in which the springs swing through up
    to 5 rad: 24 cases beside a method with error control."""
    springs = ("shoulder_spring", "elbow_spring")
    robot = elastic_arm().vary(*(f"{name}.{term}" for name in springs for term in ("stiffness", "damping")))
    stiffness, damping = (x.ravel() for x in np.meshgrid([2e5, 4e5, 7e5, 1e6], [0.0, 1.0, 5.0, 20.0, 70.0, 200.0]))
    numbers = {f"{name}.stiffness": stiffness for name in springs} | {f"{name}.damping": damping for name in springs}
    start = np.zeros((24, robot.nq))
    given = {"joint_terms": SPRUNG, "parameters": numbers, "record": "last"}
    run = hinge.simulate(robot, 0.5, start, method="implicit", step=1e-3, **given)
    exact = hinge.simulate(robot, 0.5, start, method="dopri5", rtol=1e-10, atol=1e-11, **given)
    assert (run.status == 0).all()
    assert np.abs(exact.q).max() > 0.5
    assert np.abs(run.q - exact.q).max() < 1e-5


@pytest.mark.parametrize("damping", [0.0, 20.0])
def test_springs_that_swing_too_fast_for_the_step_come_to_rest(damping):
    """A method that is L-stable damps what it cannot follow, and what is slow goes on."""
    builder = hinge.Builder("spring", gravity=(0, 0, 0))
    builder.link("base")
    builder.link("body", 1.0, (0, 0, 0), np.eye(3))
    builder.joint("slide", "prismatic", "base", "body", stiffness=1e9, damping=damping)
    builder.link("hand", 1.0, (0, 0, 0), np.eye(3))
    builder.joint("turn", "revolute", "body", "hand")
    run = hinge.simulate(hinge.Robot(builder.build()), 0.05, [1e-3, 0.0], [0.0, 1.0], method="implicit",
                         joint_terms=SPRUNG)  # fmt: skip
    assert np.abs(run.q[10:, 0]).max() < 1e-9
    np.testing.assert_allclose(run.q[:, 1], run.t, rtol=0, atol=1e-12)


def stiff_pd(t, q, qd):
    return 4e3 * (0.4 - q) - 80.0 * qd


COMBINED = {
    "stops": (elastic_arm(lower=-0.3), {"limits": "stop"}),
    "springs as limits": (elastic_arm(lower=-0.3), {"limits": "spring"}),
    "dry friction": (elastic_arm(friction=1.0), {"joint_terms": (*SPRUNG, "friction")}),
    "a stiff controller": (elastic_arm(), {"control": stiff_pd}),
    "saturation": (elastic_arm(), {"control": stiff_pd, "effort": True}),
    "a driven joint": (elastic_arm().prescribe("shoulder"), {"prescribed": lambda t: (2.0 * t * t, 4.0 * t, 4.0)}),
    "a force": (elastic_arm(), {"external": {"lower": [0, 0, 0, 0, 0, 20.0]}}),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", COMBINED)
def test_stiff_springs_go_with_all_else_that_acts(name):
    """Beside rk4 with steps of 10 µs."""
    robot, given = COMBINED[name]
    given = {"joint_terms": SPRUNG, "q0": np.zeros(robot.nq), "record": 50} | given
    run = hinge.simulate(robot, 0.3, method="implicit", step=1e-3, **given)
    fine = hinge.simulate(robot, 0.3, method="rk4", step=1e-5, **given | {"record": 5000})
    assert run.status == fine.status == 0
    assert np.ptp(fine.q, axis=0).max() > 0.1
    assert np.abs(run.q - fine.q).max() < (5e-3 if "friction" in name else 2e-3)  # friction acts at the end of a step


def test_a_stiff_leg_lands():
    """A leg with a stiff spring under a body on a rail, which falls on the ground."""
    builder = hinge.Builder("leg")
    builder.link("base")
    builder.link("body", 5.0, (0, 0, 0), 0.1 * np.eye(3))
    builder.link("foot", 0.5, (0, 0, 0), 0.01 * np.eye(3))
    builder.joint("rail", "prismatic", "base", "body", axis=(0, 0, 1))
    builder.joint("leg", "prismatic", "body", "foot", (0, 0, -0.5), axis=(0, 0, 1), stiffness=1e6, damping=2e3)
    foot = hinge.Contact("foot", (0, 0, -0.05), normal=(0, 0, 1))
    run = hinge.simulate(hinge.Robot(builder.build()), 0.5, [0.65, 0.0], method="implicit", step=1e-3,
                         joint_terms=SPRUNG, contacts=[foot], record="last")  # fmt: skip
    assert run.status == 0
    np.testing.assert_allclose(run.q[-1], [0.55, 0.0], rtol=0, atol=5e-4)  # contacts act after the springs of a step
    assert np.abs(run.qd[-1]).max() < 1e-6


def huge(t, q, qd):
    return 1e4 * (0.3 - q) - 1e3 * qd


def test_gains_that_are_huge_hold():
    run = hinge.simulate(light(), 1.0, [0.0, 0.0], control=huge, method="implicit")
    assert run.status == 0
    assert np.abs(run.qd).max() < 10.0
    np.testing.assert_allclose(run.q[-1], 0.3, rtol=0, atol=1e-3)
    with pytest.warns(UserWarning, match=r"rk4 with steps of 0.001 s is not stable here: errors grow .* times in a "
                                         r"step, most at joint .*\n  Use a shorter step, such as step=.*, or "
                                         r"method='implicit'"):  # fmt: skip
        lost = hinge.simulate(light(), 0.1, [0.0, 0.0], control=huge)
    assert lost.method == "rk4"
    assert lost.status in (Status.DIVERGED, Status.UNSTABLE)


def tree(seed):
    return hinge.samples.random_tree(np.random.default_rng(seed), 6, ("revolute", "prismatic"))


def dry(t, q, qd):
    return 2.0 * (0.5 - q) - 0.3 * qd


ORDINARY = {
    "puma560": lambda: (hinge.samples.puma560(), {}),
    "puma560, held": lambda: (hinge.samples.puma560(), {"control": lambda t, q, qd: 200.0 * (0.5 - q) - 40.0 * qd}),
    "planar_2r": lambda: (hinge.samples.planar_2r(), {"control": dry}),
    "pendulum": lambda: (hinge.samples.pendulum(3), {}),
    "friction and springs": lambda: (light(1e-3), {"joint_terms": ("armature", "damping", "friction", "stiffness")}),
    **{f"tree {k}": lambda k=k: (tree(k), {}) for k in range(4)},
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ORDINARY)
def test_nothing_is_said_of_ordinary_robots(name):
    robot, given = ORDINARY[name]()
    (q,), (qd,) = robot.random_state(np.random.default_rng(0), 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for start in ({}, {"q0": q, "qd0": qd}):
            run = hinge.simulate(robot, 0.02, **given, **start)
            assert run.method == "rk4"


def test_nothing_is_said_of_steps_where_it_is_friction_that_stops_errors():
    builder = hinge.Builder("dry")
    builder.link("base")
    builder.link("rod", 1.0, (0.5, 0, 0), np.diag([0.01, 1 / 12, 1 / 12]))
    builder.joint("turn", "continuous", "base", "rod", axis=(0, -1, 0), friction=0.5, damping=0.1, stiffness=2.0)
    robot = hinge.Robot(builder.build())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for q in np.linspace(-3, 3, 13):
            run = hinge.simulate(robot, 0.01, [q], joint_terms=(*DAMPED, "friction", "stiffness"))
            assert run.method == "rk4"


def test_a_state_that_has_no_step_is_not_called_unstable():
    """A mass on two rods without any, straight: no step of any length helps."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = hinge.simulate(massless_rods(), 0.05, [0.3, 0.0])
    assert run.status == Status.SINGULAR
    assert run.method == "rk4"


def test_loops_stay_closed():
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    q, qd = robot.loop_project(q, [1.0, 0.0, 0.0])
    run = hinge.simulate(robot, 0.5, q, qd, method="implicit", step=1e-3, loops="project",
                         control=lambda t, q, qd: -50.0 * qd)  # fmt: skip
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-12
    assert np.abs(np.einsum("srk,sk->sr", robot.loop_jacobian(run.q), run.qd)).max() < 1e-11
    fine = hinge.simulate(robot, 0.5, q, qd, method="rk4", step=1e-3, loops="project",
                          control=lambda t, q, qd: -50.0 * qd)  # fmt: skip
    np.testing.assert_allclose(run.q, fine.q, rtol=0, atol=5e-3)
    assert np.ptp(run.q[:, 0]) > 1e-3


# midpoint


@pytest.mark.parametrize("damping", [1.0, 1e4])
def test_midpoint_with_stiff_damping_is_solved(damping):
    """A fixed point of the velocity alone would go away from it by h d / 2m, far above one."""
    run = hinge.simulate(light(damping), 0.5, [0.5, 0.3], [0.0, 0.0], method="midpoint", joint_terms=DAMPED)
    assert run.status == 0
    assert np.abs(run.q[:, 1] - 0.3).max() < 1e-2


def test_midpoint_with_huge_gains_is_solved():
    run = hinge.simulate(light(), 0.5, [0.28, 0.28], control=huge, method="midpoint")
    assert run.status == 0
    assert np.abs(run.q[-1] - 0.3).max() < 2e-2


def test_midpoint_says_where_it_finds_no_solution():
    """A force that goes up and down many times within what a step changes."""
    robot = hinge.samples.pendulum(1)

    def rough(t, q, qd):
        return 40.0 * np.sin(300.0 * qd) + 50.0 * np.cos(170.0 * q)

    run = hinge.simulate(robot, 1.0, [[0.0], [0.5]], control=rough, method="midpoint", step=0.05)
    lost = run.status == Status.UNCONVERGED
    assert lost.any()
    assert np.isnan(run.q[lost, -1]).all()
    assert np.isfinite(run.lost[lost]).all()
    assert set(run.status.tolist()) <= {Status.OK, Status.UNCONVERGED}
    small = hinge.simulate(robot, 0.1, [0.0], control=rough, method="midpoint", step=1e-6, record="last")
    assert small.status == 0
