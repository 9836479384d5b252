"""Inertias that bodies seem to have: featherstone1987 3.6, 3.7, 5.3 and 6.4."""

import numpy as np
import pytest
from machines import MACHINES, grown, machine, machines, moved, near, refused, state, stiffness

import hinge
from hinge.errors import GeometryError
from hinge.geometry import inertias, screws, spaces

frames = pytest.mark.parametrize("frame", ["body", "base", "aligned"])
TERMS = ("armature", "damping")


def worn(base):
    """A machine whose joints have rotors and dampers."""
    kinds = {"fixed": ("revolute", "universal", "spherical"), "floating": ("revolute", "helical", "planar")}
    return grown(7, kinds[base], (0, 1, 1), base=base, armature=0.3, damping=0.7)


@pytest.mark.sampled(2)
@machines
@frames
def test_the_force_through_a_joint_is_what_its_body_as_a_handle_asks_for(which, frame):
    robot = machine(which)
    q, qd, _, tau = state(robot, 11, 4)
    push = {robot.body_names[-1]: np.random.default_rng(3).normal(size=6)}
    qdd = robot.forward_dynamics(q, qd, tau, external=push)
    total, *_, base = robot.joint_reactions(q, qd, qdd, external=push)
    size = stiffness(robot, q)
    for k, name in enumerate(robot.body_names):
        a = robot.acceleration(q, qd, qdd, name)
        IA, p = robot.articulated_inertia(q, name), robot.articulated_bias(q, qd, tau, name, external=push)
        near(np.einsum("nij,nj->ni", IA, a) + p, total[:, k], 1e-12, size)
        # in other coordinates the same maps
        T = robot.pose(q, name)
        if frame == "aligned":
            T = T.copy()
            T[:, :3, 3] = 0.0
        X = np.eye(6) if frame == "body" else np.array([moved(t) for t in T])
        there = robot.articulated_inertia(q, name, frame=frame)
        near(np.swapaxes(X, -1, -2) @ there @ X, IA, 1e-12)
        near(there, np.swapaxes(there, -1, -2), 1e-14)
        f = robot.articulated_bias(q, qd, tau, name, external=push, frame=frame)
        near(np.einsum("...ji,...j->...i", X, f), p, 1e-12)
    if which != "floating":
        near(robot.articulated_bias(q, qd, tau, "base", external=push), base, 1e-12, size)


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_rotors_and_dampers_are_in_where_joint_terms_say_so(base):
    robot = worn(base)
    q, qd, _, tau = state(robot, 12, 3)
    qdd = robot.forward_dynamics(q, qd, tau, joint_terms=TERMS)
    total = robot.joint_reactions(q, qd, qdd)[0]
    for k, name in enumerate(robot.body_names):
        IA = robot.articulated_inertia(q, name, joint_terms=TERMS)
        p = robot.articulated_bias(q, qd, tau, name, joint_terms=TERMS)
        a = robot.acceleration(q, qd, qdd, name)
        near(np.einsum("nij,nj->ni", IA, a) + p, total[:, k], 1e-11, 50.0)
    assert np.abs(robot.articulated_bias(q, qd, tau, robot.body_names[0]) - p).max() > 0.1


def test_a_free_handle_answers_any_force():
    robot = machine("floating")
    handle = robot.body_names[0]
    rng = np.random.default_rng(5)
    q, qd, _, tau = state(robot, 13, 20)
    tau[:, :6] = 0.0  # the joint that is cut
    f = 30.0 * rng.normal(size=(20, 6))
    qdd = robot.forward_dynamics(q, qd, tau, external={handle: f})
    a = robot.acceleration(q, qd, qdd, handle)
    IA, p = robot.articulated_inertia(q, handle), robot.articulated_bias(q, qd, tau, handle)
    near(np.einsum("nij,nj->ni", IA, a) + p, f, 1e-11, 100.0)
    # and of the whole robot the inverse inertia and the bias acceleration say the same
    phi, b = robot.inverse_inertia(q, handle), robot.bias_acceleration(q, qd, tau, handle)
    near(phi @ IA, np.broadcast_to(np.eye(6), IA.shape), 1e-11)
    near(np.einsum("nij,nj->ni", IA, b), -p, 1e-11, 100.0)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("which", [*MACHINES, "coupled"])
@frames
def test_any_frame_accelerates_by_the_inverse_inertia_and_the_bias(which, frame):
    robot = machine(which).with_frame("tip", machine(which).body_names[-1], [0.1, -0.2, 0.3])
    q, qd, _, tau = state(robot, 14, 5)
    f = 10.0 * np.random.default_rng(6).normal(size=(5, 6))
    qdd = robot.forward_dynamics(q, qd, tau, external={"tip": f}, external_frame=frame)
    a = robot.acceleration(q, qd, qdd, "tip", frame=frame)
    methods = ("mass_matrix",) if which == "coupled" else ("articulated", "mass_matrix")
    for method in methods:
        phi = robot.inverse_inertia(q, "tip", frame=frame, method=method)
        b = robot.bias_acceleration(q, qd, tau, "tip", frame=frame, method=method)
        near(np.einsum("nij,nj->ni", phi, f) + b, a, 1e-11, stiffness(robot, q))


@pytest.mark.parametrize("which", [*MACHINES, "coupled"])
def test_composite_inertias_are_those_of_a_robot_that_does_not_bend(which):
    robot = machine(which)
    q, *_ = state(robot, 15, 3)
    mass, com, _ = inertias.parts(robot.composite_inertia(q, "base", frame="base"))
    near(mass, np.full(3, robot.mass), 1e-14)
    near(com, robot.center_of_mass(q), 1e-13)
    # each joint alone feels the composite body it moves: the blocks on the diagonal of the mass matrix
    if which != "coupled":
        H = robot.mass_matrix(q)
        for name, body in zip(robot.joint_names, robot.body_names, strict=True):
            at = robot.coordinates(name)[1]
            S = robot.jacobian(q, body)[..., at]
            IC = robot.composite_inertia(q, body)
            near(np.swapaxes(S, -1, -2) @ IC @ S, H[:, at, at], 1e-12)
            less = np.linalg.eigvalsh(IC - robot.articulated_inertia(q, body))
            assert (less > -1e-12 * np.abs(IC).max()).all()  # joints that give way take inertia away


def test_an_articulated_body_whose_joints_are_locked_is_a_composite_one():
    robot = machine("floating")
    q, *_ = state(robot, 16)
    stiff = robot.lock(robot.joint_names[1:], q)
    body = robot.body_names[0]
    near(stiff.articulated_inertia(q[:7], body), robot.composite_inertia(q, body), 1e-13)


def test_the_sphere_on_a_shaft_of_figure_3_2():
    """Its mass depends on the direction: m1 along the shaft, m1 + m2 across it."""
    builder = hinge.Builder("sphere")
    builder.link("sphere", mass=2.0, inertia=0.4 * np.eye(3))
    builder.link("shaft", mass=3.0, inertia=np.diag([0.5, 0.1, 0.5]))
    builder.joint("bore", "cylindrical", "sphere", "shaft", axis=[0.0, 1.0, 0.0])
    robot = hinge.Robot(builder.build(base="floating"))
    M = robot.articulated_inertia(robot.neutral(), "sphere")
    near(M[3:, 3:], np.diag([5.0, 2.0, 5.0]), 1e-14)
    near(M[:3, :3], np.diag([0.9, 0.4, 0.9]), 1e-14)
    near(M[:3, 3:], np.zeros((3, 3)), 1e-14)


def test_single_precision_varied_robots_and_prescribed_joints():
    robot = machine("tree")
    q, qd, qdd, tau = state(robot, 17, 6)
    single = robot.articulated_inertia(q.astype(np.float32), "link1")
    assert single.dtype == np.float32
    near(single, robot.articulated_inertia(q, "link1"), 1e-5)
    masses = np.linspace(0.5, 3.0, 6)
    made = robot.vary("link3.mass").articulated_inertia(q, "link1", parameters={"link3.mass": masses})
    heavier = robot.vary("link3.mass")
    for k in (0, 5):
        near(made[k], heavier.articulated_inertia(q[k], "link1", parameters={"link3.mass": masses[k]}), 1e-13)
    assert np.abs(made[0] - made[5]).max() > 0.1
    driven = robot.prescribe("joint2")
    at_q, at_v = robot.coordinates("joint2")
    given = q[:, at_q], qd[:, at_v], qdd[:, at_v]
    rest = np.delete(q, at_q, axis=1), np.delete(qd, at_v, axis=1), np.delete(tau, at_v, axis=1)
    found = driven.forward_dynamics(*rest, prescribed=given)
    a = driven.acceleration(rest[0], rest[1], found, "link1", prescribed=given)
    total = driven.joint_reactions(rest[0], rest[1], found, prescribed=given)[0][:, 0]
    IA = driven.articulated_inertia(rest[0], "link1", prescribed=given)
    p = driven.articulated_bias(*rest, "link1", prescribed=given)
    near(np.einsum("nij,nj->ni", IA, a) + p, total, 1e-11, 100.0)


def test_a_joint_that_follows_another_and_loops_are_refused():
    robot = machine("coupled")
    q, *_ = state(robot, 18)
    message = refused(hinge.NotCovered, robot.articulated_inertia, q, "link1")
    assert message == (
        "articulated_inertia: nothing covers robot 'machine': joint 'joint3' follows another.\n  No method does."
    )
    linkage = hinge.samples.four_bar()
    message = refused(hinge.NotCovered, linkage.bias_acceleration, linkage.neutral(), np.zeros(3), np.zeros(3), "crank")
    assert message == ("bias_acceleration: nothing covers robot 'four_bar': it has kinematic loops.\n  No method does.")


# principal screws


def wrench_on(twist):
    """The wrench of the same axis and pitch."""
    return np.roll(twist, 3, axis=-1)


@pytest.mark.parametrize("r", range(1, 7))
def test_an_impulse_on_a_principal_screw_starts_the_body_on_it(r):
    rng = np.random.default_rng(r)
    S = rng.normal(size=(7, 6, r))
    A = rng.normal(size=(7, 6, 6))
    I = A @ np.swapaxes(A, -1, -2) + np.eye(6)
    pitch, twists = inertias.principal_screws(I, S)
    assert pitch.shape == (7, r)
    assert twists.shape == (7, r, 6)
    phi = spaces.apparent_inverse_inertia(S, I)
    started = np.einsum("nij,nkj->nki", phi, wrench_on(twists))
    along = np.sum(started * twists, axis=-1) / np.sum(twists * twists, axis=-1)
    near(along[..., None] * twists, started, 1e-10)
    gram = twists @ I @ np.swapaxes(twists, -1, -2)  # screws of one body are conjugate to each other
    near(gram * (1.0 - np.eye(r)), np.zeros_like(gram), 1e-10, np.abs(gram).max())
    near(np.linalg.norm(twists[..., :3], axis=-1), np.ones((7, r)), 1e-12)
    near(screws.of_twist(twists).pitch, pitch, 1e-9)


def test_a_free_body_has_the_screws_it_has_without_constraints():
    I = inertias.spatial(2.0, np.array([0.3, -0.1, 0.2]), np.diag([1.0, 2.0, 3.5]))
    free, _ = inertias.principal_screws(I)
    pitch, twists = inertias.principal_screws(I, np.eye(6))
    near(np.sort(pitch), np.sort(free), 1e-12)
    for h, s in zip(pitch, twists, strict=True):
        near(I @ s, 2.0 * h * wrench_on(s), 1e-10)


def test_slides_have_infinite_pitch():
    I = inertias.spatial(2.0, np.array([0.3, -0.1, 0.2]), np.eye(3))
    pitch, twists = inertias.principal_screws(I, np.eye(6)[:, 3:5])
    assert np.isinf(pitch).all()
    near(np.linalg.norm(twists[:, 3:], axis=-1), np.ones(2), 1e-14)
    near(twists[:, :3], np.zeros((2, 3)), 1e-14)


def test_the_hand_of_a_robot_has_as_many_principal_screws_as_freedoms():
    robot = hinge.samples.puma560().lock({"joint6": 0.0, "joint5": 0.3, "joint4": 0.1})
    q, _ = robot.random_state(np.random.default_rng(8), 4)
    J, phi = robot.jacobian(q, "tool"), robot.inverse_inertia(q, "tool")
    _, twists = inertias.principal_screws(np.linalg.pinv(phi, rcond=1e-10), J)
    started = np.einsum("nij,nkj->nki", phi, wrench_on(twists))
    along = np.sum(started * twists, axis=-1) / np.sum(twists * twists, axis=-1)
    near(along[..., None] * twists, started, 1e-8)


@pytest.mark.parametrize("call", [inertias.parts, inertias.to_4x4, inertias.principal_screws])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_forms_of_a_rigid_body_take_composite_inertias_and_refuse_articulated_ones(call, kind):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        robot = hinge.samples.random_tree(rng, 6, ("revolute", "prismatic", "helical", "universal", "cylindrical"))
        q = robot.random_state(rng, 3)[0]
        link = next(name for i, name in enumerate(robot.model.body_name) if i and robot.model.children[i])
        call(robot.composite_inertia(q, link).astype(kind))
        articulated = robot.articulated_inertia(q, link).astype(kind)
        with pytest.raises(GeometryError, match=r"inertia\[0\] is not that of a rigid body"):  # featherstone1987, 3.6.1
            call(articulated)
        with pytest.raises(GeometryError, match="the inertia is not that of a rigid body"):
            call(articulated[0])
        inertias.principal_screws(articulated, np.eye(6))  # of its apparent inertia, in a space of motions


@pytest.mark.parametrize("call", [inertias.parts, inertias.to_4x4])
def test_an_inertia_that_is_not_finite_stays_in_its_row(call):
    I = np.stack([np.diag([1.0, 1, 1, 2, 2, 2])] * 3)
    I[1] = np.nan
    alone = call(I[0])
    for together, one in zip(*(x if isinstance(x, tuple) else (x,) for x in (call(I), alone)), strict=True):
        assert np.array_equal(together[0], one)
        assert np.array_equal(together[2], one)
