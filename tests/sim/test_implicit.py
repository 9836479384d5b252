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


def test_it_is_of_first_order():
    exact = exactly(two_rods, [1.0, 0.5, 0.0, 0.0], 1.0)
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = hinge.simulate(double_pendulum(), 1.0, [1.0, 0.5], method="implicit", step=step, record="last")
        errors.append(np.abs(np.concatenate(run.final) - exact).max())
    assert errors[-1] < 2e-2
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.0, abs=0.1)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.1)


def test_it_comes_to_what_rk4_comes_to():
    robot = light(1e-3)
    given = {"q0": [0.5, 0.3], "qd0": [1.0, -2.0], "joint_terms": DAMPED, "record": "last"}
    fine = hinge.simulate(robot, 0.5, **given, step=1e-4, method="rk4")
    apart = []
    for step in (1e-3, 5e-4):
        run = hinge.simulate(robot, 0.5, **given, step=step, method="implicit")
        apart.append(np.abs(run.q - fine.q).max())
    assert apart[0] < 2e-2
    assert apart[0] / apart[1] == pytest.approx(2.0, abs=0.2)


def test_damping_that_is_stiff_holds():
    """1e4 N m s on 10 g at 1 ms: the finger goes with the arm."""
    robot = light(1e4)
    run = hinge.simulate(robot, 1.0, [0.5, 0.3], [0.0, 0.0], method="implicit", joint_terms=DAMPED)
    assert run.status == 0
    assert np.abs(run.q[:, 1] - 0.3).max() < 1e-4
    assert np.ptp(run.q[:, 0]) > 0.5


def huge(t, q, qd):
    return 1e4 * (0.3 - q) - 1e3 * qd


def test_gains_that_are_huge_hold():
    run = hinge.simulate(light(), 1.0, [0.0, 0.0], control=huge, method="implicit")
    assert run.status == 0
    assert np.abs(run.qd).max() < 10.0
    np.testing.assert_allclose(run.q[-1], 0.3, rtol=0, atol=1e-2)
    with pytest.warns(UserWarning, match=r"rk4 with steps of 0.001 s is not stable here(?s:.*)Use method='implicit'"):
        lost = hinge.simulate(light(), 0.1, [0.0, 0.0], control=huge, method="rk4")
    assert lost.status == Status.DIVERGED


def test_it_takes_the_place_of_rk4_where_that_cannot_be_stable_and_none_is_asked_for():
    with pytest.warns(UserWarning, match=r"rk4 with steps of 0.001 s is not stable here: errors grow .* times in a "
                                         r"step(?s:.*)'implicit' takes its place"):  # fmt: skip
        run = hinge.simulate(light(), 1.0, [0.0, 0.0], control=huge)
    assert run.method == "implicit"
    assert run.status == 0
    asked = hinge.simulate(light(), 1.0, [0.0, 0.0], control=huge, method="implicit")
    assert np.array_equal(run.q, asked.q)


def test_the_file_says_by_which_method(tmp_path):
    with pytest.warns(UserWarning, match="takes its place"):
        hinge.simulate(light(), 0.1, [0.0, 0.0], control=huge, file=tmp_path / "run.zarr")
    assert hinge.open(tmp_path / "run.zarr").method == "implicit"


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
