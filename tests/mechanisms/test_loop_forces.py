"""Forces in mechanisms with loops: impulses, what joints have to bear, rods without mass, the world as a body."""

from dataclasses import replace

import numpy as np
import pytest
from loop_states import bennett, by_null_space, moving, swinging

import hinge
from hinge.status import Status

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")


def linkage(name):
    """A robot and a closed configuration of it."""
    if name == "bennett":
        robot = bennett()
        return robot, swinging(robot)[0]
    robot = getattr(hinge.samples, name)()
    return robot, robot.assemble(robot.neutral() + (0.3 if name != "stewart_platform" else 0.0), strict=True).q


# ---- impulses


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "stewart_platform", "bennett"])
def test_an_impulse_leaves_loops_closed_and_changes_momentum_by_itself(name):
    robot, q = linkage(name)
    impulses = np.random.default_rng(1).normal(size=(4, robot.nv))
    change = robot.impulse_response(q, impulses)
    A, H = robot.loop_jacobian(q), robot.mass_matrix(q)
    assert np.abs(change @ A.T).max() < 1e-12 * np.abs(change).max()
    _, sizes, V = np.linalg.svd(A)
    free = V[(sizes > 1e-9 * sizes[0]).sum() :]
    np.testing.assert_allclose(change @ H @ free.T, impulses @ free.T, atol=1e-11)  # what the loops take does no work


def test_an_impulse_on_a_body_is_one_on_the_joints():
    robot, q = linkage("four_bar")
    blow = np.array([0.0, 0.3, 0.0, 1.0, 0.0, -2.0])
    J = robot.jacobian(q, "coupler")
    np.testing.assert_allclose(
        robot.impulse_response(q, np.zeros(3), external={"coupler": blow}), robot.impulse_response(q, J.T @ blow),
        atol=1e-13,
    )  # fmt: skip


# ---- what joints bear


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "stewart_platform", "bennett"])
def test_reactions_are_those_of_the_tree_with_the_loops_as_forces_on_its_bodies(name):
    robot, q = linkage(name)
    qd, tau = moving(robot, q)
    qdd, forces = robot.loop_dynamics(q, qd, tau)
    total, active, bearing, _ = robot.loop_reactions(q, qd, qdd, forces)
    np.testing.assert_allclose(total, active + bearing, atol=1e-12 * np.abs(total).max())
    # the powers of the parts: motors push with tau, bearings do no work
    tree = hinge.Robot(replace(robot.model, loops=()))
    held, *_ = tree.joint_reactions(q, qd, qdd)
    assert np.abs(held - total).max() > 1e-3 * np.abs(total).max()  # without the loops they are others
    for k, body in enumerate(robot.body_names[-total.shape[0] :]):
        at = robot.coordinates(robot.joint_names[k])[1]
        own = robot.jacobian(q, body)[:, at]
        np.testing.assert_allclose(own.T @ active[k], tau[at], atol=1e-9 * np.abs(total).max())
        assert np.abs(own.T @ bearing[k]).max() < 1e-9 * np.abs(total).max()


def test_a_linkage_cut_at_another_joint_bears_the_same():
    """A four-bar cut at its pin and one cut at the foot of its rocker: the hinge of the crank feels no difference."""
    builder = hinge.Builder("other")
    builder.link("base")
    before, place = "base", (0, 0, 0)
    for name, length in (("crank", 1.0), ("coupler", 2.5), ("rocker", 2.0)):
        heavy = length**2 / 12
        builder.link(name, 1.0, (length / 2, 0, 0), np.diag([1e-3 * heavy, heavy, heavy]))
        builder.joint(name, "continuous", before, name, place, axis=(0, -1, 0))
        before, place = name, (length, 0, 0)
    other = hinge.Robot(builder.build()).close("revolute", "base", "rocker", (2.2, 0, 0), (2.0, 0, 0), axis=(0, -1, 0))
    robot, q = linkage("four_bar")
    qd, _ = moving(robot, q)
    # there the rocker hangs on the coupler by its tip, and its angle is from the coupler
    turned = np.array([q[0], q[1], q[2] - q[0] - q[1] + np.pi])
    speed = np.array([qd[0], qd[1], qd[2] - qd[0] - qd[1]])
    assert np.abs(other.loop_gap(turned)).max() < 1e-12
    found = []
    for one, at, v in ((robot, q, qd), (other, turned, speed)):
        qdd, forces = one.loop_dynamics(at, v, np.zeros(3))
        found.append(one.loop_reactions(at, v, qdd, forces)[0][0])
    np.testing.assert_allclose(found[0], found[1], atol=1e-10)


def test_reactions_of_a_mechanism_with_loops_ask_for_the_forces_in_them():
    robot, q = linkage("four_bar")
    with pytest.raises(hinge.NotCovered, match="it has kinematic loops, whose forces loop_reactions takes"):
        robot.joint_reactions(q, np.zeros(3), np.zeros(3))


# ---- rods without mass


def four_bar(*masses):
    """A four-bar whose bars have these masses, some of them none."""
    builder = hinge.Builder("light")
    builder.link("base")
    on = {"crank": ("base", (0, 0, 0)), "coupler": ("crank", (1.0, 0, 0)), "rocker": ("base", (2.2, 0, 0))}
    for (name, (parent, place)), length, mass in zip(on.items(), (1.0, 2.5, 2.0), masses, strict=True):
        heavy = mass * length**2 / 12
        builder.link(name, mass, (length / 2, 0, 0), np.diag([1e-3 * heavy, heavy, heavy]))
        builder.joint(name, "continuous", parent, name, place, axis=(0, -1, 0))
    robot = hinge.Robot(builder.build())
    return robot.close("revolute", "rocker", "coupler", (2.0, 0, 0), (2.5, 0, 0), axis=(0, -1, 0))


@pytest.mark.parametrize("masses", [(1.0, 1.0, 0.0), (1.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)])
def test_a_rod_without_mass_moves_as_its_loop_makes_it(masses):
    robot = four_bar(*masses)
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    qd, tau = moving(robot, q)
    qdd, forces, status = robot.loop_dynamics(q, qd, tau, return_status=True)
    assert status == Status.OK
    np.testing.assert_allclose(qdd, by_null_space(robot, q, qd, tau, 2), rtol=1e-9)
    A = robot.loop_jacobian(q)
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd) - A.T @ forces, tau, atol=1e-11)
    np.testing.assert_allclose(A @ robot.impulse_response(q, tau), 0.0, atol=1e-12)
    light = four_bar(*(m or 1e-9 for m in masses))  # all but none
    np.testing.assert_allclose(light.loop_dynamics(q, qd, tau)[0], qdd, rtol=1e-6)


@pytest.mark.parametrize("method", ["rk4", "implicit"])
def test_a_rod_without_mass_is_simulated(method):
    robot = four_bar(1.0, 1.0, 0.0)
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"], strict=True).q
    q, qd = robot.loop_project(q, [1.0, 0.0, 0.0])
    run = hinge.simulate(robot, t=2.0, q0=q, qd0=qd, method=method, loops="project", limits="stop", backend="llvm")
    energy = run.energy()
    assert run.status == Status.OK
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-12
    assert np.abs(energy - energy[0]).max() < (1e-8 if method == "rk4" else 0.2)


def test_a_rod_that_nothing_holds_is_refused_or_singular():
    with pytest.raises(hinge.NotCovered, match="joint 'rocker' moves nothing that has inertia"):
        four_bar(0.0, 0.0, 0.0).loop_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    builder = hinge.Builder("spinning")
    builder.link("base")
    builder.link("bob", 1.0, (0.3, 0.0, 0.0), np.eye(3) * 0.1)
    builder.link("rod")
    builder.joint("bob", "revolute", "base", "bob", axis=(0, 1, 0))
    builder.joint("rod", "spherical", "base", "rod", xyz=(0, 0, 1))
    robot = hinge.Robot(builder.build()).close("spherical", "bob", "rod", (1, 0, 0), (1, 0, -1))
    q = robot.assemble(robot.neutral(), strict=True).q
    qdd, _, status = robot.loop_dynamics(q, np.zeros(4), np.zeros(4), return_status=True)
    assert status == Status.SINGULAR  # it may spin about its own axis as it likes
    assert np.isnan(qdd).all()


# ---- the world


def test_a_floating_robot_is_pinned_to_the_world():
    builder = hinge.Builder("hopper")
    builder.link("trunk", 5.0, (0, 0, 0.1), np.eye(3) * 0.2)
    builder.link("leg", 1.0, (0, 0, -0.2), np.eye(3) * 0.02)
    builder.joint("hip", "revolute", "trunk", "leg", axis=(0, 1, 0))
    builder.frame("foot", "leg", (0, 0, -0.4))
    robot = hinge.Robot(builder.build(base="floating"))
    assert robot.frame_names == ("world", "trunk", "leg", "foot")
    q = robot.integrate(robot.neutral(), [0.1, 0.3, -0.2, 0.4, -0.1, 0.7, 0.5])
    np.testing.assert_array_equal(robot.pose(q, "world"), np.eye(4))
    pinned = robot.close("spherical", "world", "foot", placement_a=robot.pose(q, "foot")[:3, 3])
    assert np.abs(pinned.loop_gap(q)).max() < 1e-14
    q, qd = pinned.loop_project(q, np.ones(7))
    run = hinge.simulate(pinned, t=1.0, q0=q, qd0=qd, loops="project", backend="llvm")
    energy = run.energy()
    foot = robot.pose(run.q, "foot")[:, :3, 3]
    assert run.status == Status.OK
    assert np.abs(foot - foot[0]).max() < 1e-12
    assert np.ptp(energy) < 1e-7 * np.abs(energy).max()
    qdd, forces = pinned.loop_dynamics(q, qd, np.zeros(7))
    momentum = [robot.momentum(robot.integrate(q, h * qd), qd + h * qdd)[3:] for h in (1e-6, -1e-6)]
    weight = np.array([0.0, 0.0, -6.0 * 9.81])
    np.testing.assert_allclose((momentum[0] - momentum[1]) / 2e-6 - weight, forces, atol=1e-4 * np.abs(forces).max())


def test_a_link_that_is_called_world_is_meant_by_that_name():
    for base, body in (("fixed", 0), ("floating", 1)):
        builder = hinge.Builder("named")
        builder.link("world", 1.0, (0, 0, 0), np.eye(3))
        builder.link("arm", 1.0, (0.1, 0, 0), np.eye(3))
        builder.joint("hinge", "revolute", "world", "arm", axis=(0, 1, 0))
        robot = hinge.Robot(builder.build(base=base))
        assert robot.model.frame("world").body == body
        assert robot.frame_names == ("world", "arm")
    with pytest.raises(hinge.UnknownName, match="no body or frame 'wrld'"):
        robot.pose(robot.neutral(), "wrld")
