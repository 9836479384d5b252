"""Simulations of robots with potentials besides gravity's."""

import numpy as np
import pytest

import hinge

MOVING = {"revolute": {}, "prismatic": {}, "helical": {"pitch": 0.13}}


def built(kinds, base="fixed", mimic=None):
    """A chain of general bodies, one a kind, the last of which is "tip"."""
    rng, builder, last = np.random.default_rng(44), hinge.Builder("chain"), "base"
    builder.link("base", mass=2.0, inertia=np.diag([0.3, 0.4, 0.5]))
    for k, kind in enumerate(kinds, start=1):
        name = "tip" if k == len(kinds) else f"link{k}"
        builder.link(name, mass=rng.uniform(0.5, 1.5), com=0.2 * rng.normal(size=3), inertia=np.diag([0.1, 0.12, 0.15]))
        axis, follows = rng.normal(size=3), mimic if k == len(kinds) else None
        builder.joint(f"joint{k}", kind, last, name, 0.3 * rng.normal(size=3), axis=axis, mimic=follows, **MOVING[kind])
        last = name
    return hinge.Robot(builder.build(base=base))


ROBOTS = {
    "fixed": lambda: built(("revolute", "prismatic")),
    "coupled": lambda: built(("revolute", "prismatic", "helical"), mimic=("joint1", -1.3, 0.2)),
    "floating": lambda: built(("revolute",), base="floating"),
}
WAYS = [(which, method) for which in ROBOTS for method in ("rk4", "midpoint", "dopri5")]


def bowl(q):
    """A potential that ties all coordinates together."""
    return 3.0 * np.sin(q[0]) * np.sum(np.cos(q - 0.3)) + 0.5 * np.sum(q * q)


def tether(pose):
    """One of where a frame is and how it is turned."""
    away = pose[:3, 3] - np.array([0.3, -0.2, 0.5])
    return 20.0 * (away @ away) + 4.0 * pose[0, 1] * pose[2, 2] + 3.0 * pose[1, 0] ** 2


def pulled(which):
    return ROBOTS[which]().with_potential(bowl).with_potential(tether, at="tip")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("which", "method"), [way for way in WAYS if way != ("floating", "midpoint")])
def test_energy_stays(which, method):
    plain, robot = ROBOTS[which](), pulled(which)
    q, qd = robot.random_state(np.random.default_rng(36), 2)
    options = {"rtol": 1e-10, "atol": 1e-12, "step": 1e-2} if method == "dopri5" else {"step": 5e-4}
    run = hinge.simulate(robot, 0.3, q, 0.3 * qd, method=method, **options)
    energy = run.energy()
    assert np.ptp(energy, axis=-1).max() < (1e-5 if method == "midpoint" else 1e-8) * np.abs(energy).max()
    free = hinge.simulate(plain, 0.3, q, 0.3 * qd, step=5e-4)
    assert np.abs(free.q[:, -1] - run.q[:, -1]).max() > 1e-2  # and the potential moved it


@pytest.mark.sampled(1)
@pytest.mark.parametrize("which", ROBOTS)
def test_rollouts_and_simulations_take_the_same_steps(which):
    robot = pulled(which)
    q, qd = robot.random_state(np.random.default_rng(37), 3)
    tau = np.full(robot.nv, 0.1)
    rolled = hinge.rollout(robot, q, 0.1 * qd, 50, 1e-3, tau=tau)
    run = hinge.simulate(robot, 0.05, q, 0.1 * qd, control=tau, method="semi_implicit", step=1e-3)
    np.testing.assert_array_equal(rolled.q, run.q)


def test_a_linkage_keeps_its_loop_and_its_energy():
    linkage = hinge.samples.four_bar().with_potential(lambda q: 3.0 * np.sin(q[0]) + q[2] ** 2)
    q = linkage.assemble([0.5, 0.5, 1.5], hold=["crank"]).q
    q, qd = linkage.loop_project(q, [1.0, 0.0, 0.0])
    run = hinge.simulate(linkage, 0.5, q, qd, step=1e-3, loops="project")
    assert np.ptp(run.energy()) < 1e-6 * np.abs(run.energy()).max()


def test_a_geodesic_is_free_of_them():
    plain, robot = ROBOTS["coupled"](), pulled("coupled")
    q, qd = robot.random_state(np.random.default_rng(39), 2)
    np.testing.assert_allclose(robot.geodesic(q, qd, steps=20)[0], plain.geodesic(q, qd, steps=20)[0], rtol=1e-12)


def test_a_file_of_a_run_says_that_its_robot_is_not_in_it(tmp_path):
    pytest.importorskip("zarr")
    robot = pulled("fixed")
    with pytest.warns(UserWarning, match="the robot itself is not in the file"):
        run = hinge.simulate(robot, 0.01, step=1e-3, file=tmp_path / "run")
    again = hinge.open(tmp_path / "run", robot)
    np.testing.assert_array_equal(again.energy(), run.energy())
