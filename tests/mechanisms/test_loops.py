"""Kinematic loops: featherstone1987 chapter 9, against closed forms, each other, and Pinocchio."""

from dataclasses import replace

import numpy as np
import pytest
from loop_states import moving

import hinge
from hinge.model import parameter
from hinge.model.joints import JOINTS

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

SAMPLES = ("four_bar", "slider_crank", "piston_joint", "five_bar", "stewart_platform")


def closed(name):
    robot = getattr(hinge.samples, name)()
    start = robot.neutral() + (0.3 if name != "stewart_platform" else 0.0)
    made = robot.assemble(start)
    assert made.status == hinge.Status.OK
    assert made.residual < 1e-12
    return robot, made.q


# ---- positions against closed forms


def freudenstein(theta, ground=2.2, crank=1.0, coupler=2.5, rocker=2.0):
    """Directions of coupler and rocker of a four-bar, open branch, from the triangle over the diagonal."""
    x, z = crank * np.cos(theta) - ground, crank * np.sin(theta)
    d = np.hypot(x, z)
    at_rocker = np.arctan2(z, x) - np.arccos((rocker**2 + d**2 - coupler**2) / (2 * rocker * d))
    tip = np.array([ground + rocker * np.cos(at_rocker), rocker * np.sin(at_rocker)])
    along = tip - crank * np.array([np.cos(theta), np.sin(theta)])
    return np.arctan2(along[1], along[0]), at_rocker


def test_a_four_bar_stands_where_the_closed_form_says_all_the_way_round():
    robot = hinge.samples.four_bar()
    q = np.array([0.0, 0.5, 1.5])
    for theta in np.linspace(0.0, 2 * np.pi, 25):
        q[0] = theta
        made = robot.assemble(q, hold=["crank"], strict=True)
        q = made.q.copy()
        coupler, rocker = freudenstein(theta)
        assert made.q[0] == theta
        off = np.array([q[0] + q[1] - coupler, q[2] - rocker])
        np.testing.assert_allclose(np.sin(off), 0.0, atol=1e-11)
        np.testing.assert_allclose(np.cos(off), 1.0, atol=1e-11)


def test_a_slider_crank_moves_as_the_closed_form_says():
    robot, r, rod = hinge.samples.slider_crank(), 0.5, 1.5
    theta, speed, gain = 0.8, 1.7, -0.6
    q = robot.assemble([theta, -0.5, 1.8], hold=["crank"], strict=True).q

    def place(t):
        return r * np.cos(t) + np.sqrt(rod**2 - (r * np.sin(t)) ** 2)

    h = 1e-4
    slope = (place(theta + h) - place(theta - h)) / (2 * h)
    bend = (place(theta + h) - 2 * place(theta) + place(theta - h)) / h**2
    assert q[2] == pytest.approx(place(theta), abs=1e-12)
    Z = np.linalg.svd(robot.loop_jacobian(q))[2][2]
    qd = Z / Z[0] * speed
    assert qd[2] == pytest.approx(slope * speed, abs=1e-7)
    lift = np.linalg.lstsq(robot.loop_jacobian(q)[:, 1:], -robot.loop_bias(q, qd) - robot.loop_jacobian(q)[:, 0] * gain,
                           rcond=1e-9)[0]  # fmt: skip
    assert lift[1] == pytest.approx(slope * gain + bend * speed**2, abs=1e-6)


def test_assembly_finds_the_nearest_configuration():
    robot = hinge.samples.five_bar()
    rng = np.random.default_rng(0)
    start = np.array([1.8, -0.9, 1.2, 0.9]) + rng.normal(size=4) * 0.2
    made = robot.assemble(start, strict=True)
    # at the nearest point the way back is square to every motion the loop allows
    Z = np.linalg.svd(robot.loop_jacobian(made.q))[2][2:]
    assert np.abs(Z @ (start - made.q)).max() < 1e-6


def test_assembly_of_a_batch_keeps_failures_in_their_rows():
    robot = hinge.samples.four_bar()
    q = np.array([[0.3, 0.2, 1.0], [np.nan, 0.0, 0.0], [1.0, 0.1, 1.2]])
    made = robot.assemble(q)
    assert made.status.tolist() == [hinge.Status.OK, hinge.Status.NONFINITE, hinge.Status.OK]
    assert made.residual[[0, 2]].max() < 1e-12
    np.testing.assert_array_equal(made.q[2], robot.assemble(q[2]).q)


def test_an_assembly_that_cannot_close_says_so_and_names_the_loop():
    robot = hinge.samples.planar_2r().close("spherical", "base", "hand", placement_a=[3.0, 0.0, 0.0], name="anchor")
    made = robot.assemble([0.3, 0.4])
    assert made.status == hinge.Status.UNCLOSED
    assert made.residual == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(hinge.ModelError, match=r"loop 'anchor: force along \(1, 0, 0\)' is open by 1"):
        robot.assemble([0.3, 0.4], strict=True)


# ---- the equations


@pytest.mark.parametrize("kind", [k for k, joint in JOINTS.items() if k not in ("free", "rolling") and joint.is_ours])
def test_gap_jacobian_and_bias_of_every_kind_of_loop_agree(kind):
    rng = np.random.default_rng(3)
    robot = hinge.samples.chain(rng, 7)
    parameters = {"pitch": 0.15} if kind == "helical" else {}
    pose = robot.pose(robot.random_state(rng, 1)[0][0], "link3")
    axis = [0.3, -0.5, 0.8] if hasattr(JOINTS[kind], "axis") else None
    robot = robot.close(kind, "link2", "link7", pose, [0.1, 0.2, -0.1], axis=axis, **parameters)
    q, qd = (a[0] for a in robot.random_state(rng, 1))
    A, h = robot.loop_jacobian(q), 1e-6
    assert A.shape == (6 - JOINTS[kind].nv, 7)
    rate = (robot.loop_gap(q + h * qd) - robot.loop_gap(q - h * qd)) / (2 * h)
    np.testing.assert_allclose(A @ qd, rate, atol=1e-7)
    bend = (robot.loop_jacobian(q + h * qd) - robot.loop_jacobian(q - h * qd)) @ qd / (2 * h)
    np.testing.assert_allclose(robot.loop_bias(q, qd), bend, atol=1e-7)


@pytest.mark.parametrize("kind", [k for k, joint in JOINTS.items() if k not in ("free", "rolling") and joint.is_ours])
def test_a_pose_the_joint_can_have_has_no_gap_and_its_motions_are_free(kind):
    """A loop laid beside a joint of its own kind is closed wherever that joint goes, and takes none of its freedoms."""
    rng = np.random.default_rng(5)
    if kind == "fixed":
        robot = hinge.samples.planar_2r().close("fixed", "lower", "upper", [-1.0, 0.0, 0.0])
        assert np.abs(robot.loop_gap([0.4, 0.0])).max() < 1e-14
        return
    builder = hinge.Builder("beside")
    builder.link("base")
    builder.link("body", 1.0, inertia=np.eye(3))
    parameters = {"pitch": 0.15} if kind == "helical" else {}
    axis = [0.3, -0.5, 0.8] if hasattr(JOINTS[kind], "axis") else None
    builder.joint("joint", kind, "base", "body", axis=axis, **parameters)
    alone = hinge.Robot(builder.build())
    robot = alone.close(kind, "base", "body", axis=axis, **parameters)
    q, qd = alone.random_state(rng, 4)
    q = alone.integrate(q, 0.0 * qd)
    assert np.abs(robot.loop_gap(q)).max() < 1e-13
    assert np.abs(robot.loop_jacobian(q)).max() < 1e-13
    tau = rng.normal(size=(4, alone.nv))
    np.testing.assert_allclose(robot.loop_dynamics(q, qd, tau)[0], alone.forward_dynamics(q, qd, tau), atol=1e-11)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("name", SAMPLES)
def test_three_methods_give_the_same_motion_and_forces(name):
    robot, q = closed(name)
    qd, tau = moving(robot, q)
    qdd, forces = robot.loop_dynamics(q, qd, tau)
    for method in ("sparse", "articulated"):
        other = robot.loop_dynamics(q, qd, tau, method=method)
        np.testing.assert_allclose(other[0], qdd, atol=1e-10)
        np.testing.assert_allclose(other[1], forces, atol=1e-10)
    A = robot.loop_jacobian(q)
    assert np.abs(A @ qdd + robot.loop_bias(q, qd)).max() < 1e-11
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd) - A.T @ forces, tau, atol=1e-10)
    np.testing.assert_array_equal(robot.forward_dynamics(q, qd, tau), qdd)


def test_two_coupled_loops_by_inertias_and_by_the_mass_matrix():
    """Two loops that share bodies on a branched tree: the text's method against its equation (9.17)."""
    rng = np.random.default_rng(9)
    tree = hinge.samples.random_tree(rng, 9, ("revolute", "universal", "spherical"))
    q, qd = (a[0] for a in tree.random_state(rng, 1))
    q = tree.integrate(q, 0.0 * qd)
    robot = tree
    for k, (a, b) in enumerate((("link9", "link4"), ("link9", "link7"))):
        pose = np.linalg.inv(tree.pose(q, a)) @ tree.pose(q, b)
        robot = robot.close(("spherical", "universal")[k], a, b, placement_a=pose)
    assert np.abs(robot.loop_gap(q)).max() < 1e-12
    assert (np.abs(robot.circuit).sum(axis=0) == 2).any()  # a joint in both
    qd, tau = moving(robot, q)
    qdd, forces = robot.loop_dynamics(q, qd, tau)
    other = robot.loop_dynamics(q, qd, tau, method="articulated")
    np.testing.assert_allclose(other[0], qdd, atol=1e-8 * np.abs(qdd).max())
    np.testing.assert_allclose(other[1], forces, atol=1e-8 * np.abs(forces).max())


def test_the_sparse_method_grows_in_proportion_to_the_tree():
    def work(n):
        robot = hinge.samples.pendulum(n).close("spherical", "base", f"rod{n}", [0.3, 0, 0], [0, 0, -1.0])
        costs = [robot.cost("loop_dynamics", method=m) for m in ("sparse", "mass_matrix")]
        return [cost.mul + cost.add for cost in costs]

    small, middle, large = (np.array(work(n)) for n in (8, 16, 32))
    growth = (large - middle) / (middle - small)
    assert growth[0] == pytest.approx(2.0, abs=0.05)
    assert growth[1] > 3.0


@pytest.mark.parametrize("frame", ["body", "base", "aligned"])
def test_inverse_and_cross_inertias_are_those_of_the_jacobians(frame):
    rng = np.random.default_rng(2)
    robot = hinge.samples.random_tree(rng, 8)
    q = robot.random_state(rng, 3)[0]
    H = robot.inverse_mass_matrix(q)
    Ja, Jb = (robot.jacobian(q, name, frame=frame) for name in ("link8", "link5"))
    wanted = Ja @ H @ np.swapaxes(Jb, 1, 2)
    for method in ("articulated", "mass_matrix"):
        made = robot.cross_inertia(q, "link8", "link5", frame=frame, method=method)
        np.testing.assert_allclose(made, wanted, atol=1e-9 * np.abs(wanted).max())
        made = robot.inverse_inertia(q, "link8", frame=frame, method=method)
        wanted_own = Ja @ H @ np.swapaxes(Ja, 1, 2)
        np.testing.assert_allclose(made, wanted_own, atol=1e-9 * np.abs(wanted_own).max())


def test_the_circuit_says_which_way_each_joint_is_passed():
    robot = hinge.samples.stewart_platform()
    E = robot.circuit
    assert E.shape == (6, 13)
    platform = robot.joint_names.index("platform")
    for k, name in enumerate(f"ball{n + 1}" for n in range(6)):
        ends = {"platform": -1, f"swing{k + 1}": 1, f"leg{k + 1}": 1}
        assert robot.loops[k].name == name
        assert {n: x for n, x in zip(robot.joint_names, E[k], strict=True) if x} == ends
    assert (E[:, platform] == -1).all()
    # around each loop the joints' motions make the motion across the cut joint: J of its successor less its predecessor
    q = robot.neutral()
    for k, loop in enumerate(robot.loops):
        across = robot.jacobian(q, loop.b, frame="base") - robot.jacobian(q, loop.a, frame="base")
        used = [bool(np.abs(across[:, robot.coordinates(n)[1]]).max() > 1e-9) for n in robot.joint_names]
        assert used == (E[k] != 0).tolist()


def test_figure_9_2_two_ways():
    """A revolute loop has five constraints, three of them redundant; a sphere in a cylinder has the two that count."""
    pin, ball = hinge.samples.piston_joint(), hinge.samples.piston_joint(loop="sphere_in_cylinder")
    q = pin.assemble([0.9, 1.0, 0.3], hold=["arm"], strict=True).q
    assert np.abs(ball.loop_gap(q)).max() < 1e-12
    found, other = pin.mobility(q), ball.mobility(q)
    assert (found.freedoms, found.constraints, found.rank) == (1, 5, 2)
    assert (other.freedoms, other.constraints, other.rank) == (1, 2, 2)
    assert len(found.indeterminate) == 3
    assert other.indeterminate == ()
    qd, tau = moving(pin, q)
    qdd, forces = pin.loop_dynamics(q, qd, tau)
    again, two = ball.loop_dynamics(q, qd, tau)
    np.testing.assert_allclose(qdd, again, atol=1e-11)
    named = [k for k, name in enumerate(pin.loop_names) if name not in found.indeterminate]
    assert np.linalg.norm(forces[named]) == pytest.approx(np.linalg.norm(two), rel=1e-10)


def test_a_powered_loop_joint_pushes_like_a_motor_between_its_bodies():
    passive, driven = hinge.samples.piston_joint(), hinge.samples.piston_joint(powered=True)
    q = passive.assemble([0.9, 1.0, 0.3], hold=["arm"], strict=True).q
    qd, tau = moving(passive, q)
    qdd, _ = driven.loop_dynamics(q, qd, tau, loop_tau=[1.3])
    # a couple about y on the piston and its reaction on the arm; the axis of the pin points along -y
    pair = {"piston": [0, -1.3, 0, 0, 0, 0], "arm": [0, 1.3, 0, 0, 0, 0]}
    wanted, _ = passive.loop_dynamics(q, qd, tau, external=pair)
    np.testing.assert_allclose(qdd, wanted, atol=1e-11)
    with pytest.raises(hinge.SizeError, match="has none: loop_tau are forces of the powered loop joints"):
        passive.loop_dynamics(q, qd, tau, loop_tau=[1.3])


def test_the_forces_on_bodies_make_the_tree_move_as_the_loops_do():
    robot, q = closed("stewart_platform")
    qd, tau = moving(robot, q)
    qdd, forces = robot.loop_dynamics(q, qd, tau)
    tree = hinge.Robot(replace(robot.model, loops=()))
    platform, external = tree.pose(q, "platform")[:3, :3], {}
    for k, force in enumerate(forces.reshape(6, 3)):
        for frame, sign in ((f"ball{k + 1}.b", 1.0), (f"ball{k + 1}.a", -1.0)):  # along the axes of the platform
            turned = tree.pose(q, frame)[:3, :3].T @ platform @ force
            external[frame] = np.concatenate([np.zeros(3), sign * turned])
    np.testing.assert_allclose(tree.forward_dynamics(q, qd, tau, external=external), qdd, atol=1e-9)


# ---- what is asked of motors


def test_inverse_dynamics_of_the_legs_of_a_platform():
    robot, q = closed("stewart_platform")
    legs = [f"leg{k + 1}" for k in range(6)]
    qd, tau = moving(robot, q)
    columns = [robot.coordinates(name)[1].start for name in legs]
    only = np.zeros(robot.nv)
    only[columns] = tau[columns]
    qdd, forces = robot.loop_dynamics(q, qd, only)
    found, reaction = robot.loop_inverse_dynamics(q, qd, qdd, actuated=legs)
    np.testing.assert_allclose(found, only, atol=1e-10)
    np.testing.assert_allclose(reaction, forces, atol=1e-10)
    more, _ = robot.loop_inverse_dynamics(q, qd, qdd, actuated=[*legs, "swing1"])
    assert np.linalg.norm(more) < np.linalg.norm(found)
    np.testing.assert_allclose(robot.loop_dynamics(q, qd, more)[0], qdd, atol=1e-9)
    with pytest.raises(hinge.NotCovered, match="6 freedoms, 5 of them reached"):
        robot.loop_inverse_dynamics(q, qd, qdd, actuated=legs[:5])
    with pytest.raises(hinge.NotCovered, match="opens a loop: ball"):
        robot.loop_inverse_dynamics(q, qd, qdd + 1.0, actuated=legs)


# ---- bad input


def test_bad_loops_are_refused_by_name():
    arm = hinge.samples.planar_2r()
    with pytest.raises(hinge.UnknownName, match=r"no body or frame 'hnd'\. Did you mean 'hand'"):
        arm.close("revolute", "base", "hnd")
    with pytest.raises(hinge.ModelError, match="loop 'loop1' has type 'revolut'"):
        arm.close("revolut", "base", "hand")
    with pytest.raises(hinge.ModelError, match="which are one rigid body"):
        arm.close("revolute", "lower", "hand")
    with pytest.raises(hinge.NotCovered, match="a rolling joint cannot close a loop"):
        arm.close("rolling", "base", "hand", radius=0.1)
    with pytest.raises(hinge.ModelError, match="cannot be powered"):
        arm.close("universal", "base", "hand", powered=True)
    with pytest.raises(hinge.ModelError, match="placement_b is not a pose"):
        arm.close("revolute", "base", "hand", placement_b=np.ones((4, 4)))
    twice = arm.close("spherical", "base", "hand", name="pin")
    with pytest.raises(hinge.ModelError, match="has a loop 'pin' already"):
        twice.close("spherical", "base", "hand", name="pin")
    with pytest.raises(hinge.NotCovered, match="has no kinematic loops"):
        arm.loop_jacobian([0.1, 0.2])
    with pytest.raises(hinge.NotCovered, match="kinematic loops"):
        twice.hybrid_dynamics([0.1, 0.2], [0, 0], [0, 0], [0, 0], [True, False])
    with pytest.raises(hinge.NotCovered, match="no loops to close"):
        arm.assemble([0.1, 0.2])


def test_a_row_of_nan_stays_alone_and_compiled_code_agrees():
    robot, q = closed("five_bar")
    qd, tau = moving(robot, q)
    rows = np.repeat(q[None], 5, axis=0)
    rows[3, 1] = np.nan
    plain, quick = (robot.loop_dynamics(rows, qd, tau, backend=b) for b in ("interpret", "llvm"))
    for a, b in zip(plain, quick, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11)
        assert np.isnan(b).any(axis=1).tolist() == [False, False, False, True, False]


@pytest.mark.parametrize("method", ["mass_matrix", "sparse", "articulated"])
def test_where_a_loop_is_nowhere_no_force_in_it_is_known(method):
    robot, q = closed("five_bar")
    rows = np.repeat(q[None], 3, axis=0)
    rows[1, 0] = np.nan  # the first angle is in A, and not in the mass matrix
    for made in robot.loop_dynamics(rows, np.zeros(4), np.zeros(4), method=method):
        assert np.isnan(made).all(axis=1).tolist() == [False, True, False]
        assert np.isfinite(made[[0, 2]]).all()


def test_loops_go_with_the_robot_when_it_is_edited():
    four = hinge.samples.four_bar()
    both = hinge.samples.planar_2r().attach(four, at="hand", prefix="my_")
    assert both.loops[0].name == "my_pin"
    q = four.assemble([0.4, 0.1, 1.2]).q
    np.testing.assert_allclose(both.loop_gap(np.concatenate([[0.7, -0.2], q])), 0.0, atol=1e-12)
    held = four.lock({"rocker": q[2]})
    np.testing.assert_allclose(held.loop_gap(q[:2]), 0.0, atol=1e-12)
    assert held.mobility(q[:2]).freedoms == 0


def test_a_motion_that_opens_a_loop_is_found_beside_one_that_is_fast():
    robot = hinge.samples.four_bar()
    q, still = robot.assemble([0.5, 0.0, 0.0], hold=["crank"]).q, np.zeros(3)
    free = np.linalg.svd(robot.loop_jacobian(q))[2][-1]  # the one motion the loop leaves
    fast = 1e9 * free
    tau, _ = robot.loop_inverse_dynamics(q, still, np.stack([fast, np.full(3, np.nan), 0.0 * free]))
    assert np.isfinite(tau).all(axis=1).tolist() == [True, False, True]
    with pytest.raises(hinge.NotCovered, match="opens a loop: pin"):
        robot.loop_inverse_dynamics(q, still, np.stack([fast, np.ones(3)]))
    with pytest.raises(hinge.SizeError):
        robot.loop_inverse_dynamics(q, still, np.zeros(4))


def test_a_tree_has_all_its_freedoms():
    assert hinge.samples.planar_2r().mobility([0.1, 0.2]) == (2, 0, 0, ())
    freedoms, constraints, _, open_ = hinge.samples.planar_2r().mobility(np.zeros((3, 2)))
    assert (freedoms.tolist(), constraints, open_) == ([2, 2, 2], 0, ((), (), ()))
    with pytest.raises(hinge.SizeError, match="assemble: q is not an array of real numbers"):
        hinge.samples.four_bar().assemble("abc")


def test_freedoms_are_not_counted_where_there_is_no_configuration():
    robot = hinge.samples.four_bar()
    with pytest.raises(hinge.SizeError, match="mobility: q has a state whose loops have no finite Jacobian"):
        robot.mobility([0.5, np.nan, 0.0])


def test_assembly_takes_the_numbers_of_each_state():
    robot = hinge.samples.slider_crank()
    name = f"{robot.joint_names[1]}.placement"
    varied, place = robot.vary(name), np.array(parameter(robot.model, name).nominal(robot.model))
    places = np.stack([place] * 3)
    places[1, 0, 3] *= 1.1
    places[2, 0, 3] *= 100.0  # which no coupler reaches
    made = varied.assemble([0.6, 0.0, 0.0], hold=["crank"], parameters={name: places})
    assert made.status.tolist() == [hinge.Status.OK, hinge.Status.OK, hinge.Status.UNCLOSED]
    assert np.abs(varied.loop_gap(made.q, parameters={name: places})[:2]).max() < 1e-12
    for k, one in enumerate(places):
        alone = varied.assemble([0.6, 0.0, 0.0], hold=["crank"], parameters={name: one})
        assert np.array_equal(alone.q, made.q[k])
    assert np.abs(made.q[0] - robot.assemble([0.6, 0.0, 0.0], hold=["crank"]).q).max() < 1e-12
