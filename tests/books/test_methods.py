"""featherstone1987, chapters 5 to 7: the equations of the three methods, and the tree of Figure 7-1."""

import numpy as np
import pytest
from book_matrices import absolute, cross, force, inertia, link_inertias, transpose

import hinge
from hinge.dynamics import choose
from hinge.spatial import ForceSpace, Motion, MotionSpace, RigidInertia, Vec3


def poses(robot, q):
    return [robot.pose(q, name, backend="interpret") for name in robot.body_names]


def random_body(rng):
    points, m = rng.normal(size=(6, 3)) * 0.3, rng.uniform(0.2, 1.0, 6)
    c = m @ points / m.sum()
    p = points - c
    I = sum(w * (x @ x * np.eye(3) - np.outer(x, x)) for w, x in zip(m, p, strict=True))
    return {"mass": m.sum(), "com": c, "inertia": I}


def axis_of(joint):
    """The axis of a joint with one freedom, in its own coordinates: Table 8-1 on any line."""
    n, none = np.array(joint.axis), np.zeros(3)
    pitch = joint.pitch if joint.kind == "helical" else 0.0
    return np.concatenate([none, n] if joint.kind == "prismatic" else [n, pitch * n])


# chapter 5


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
def test_an_entry_of_the_mass_matrix_is_axis_times_composite_inertia_times_axis(kind):
    # (5.10) and (5.20), in absolute coordinates
    rng = np.random.default_rng(510)
    robot = hinge.samples.chain(rng, 5, kind=kind)
    q = rng.normal(size=5)
    I, X = link_inertias(robot.model, poses(robot, q))
    s = [X[i] @ axis_of(robot.model.joint[i + 1]) for i in range(5)]
    composite = [sum(I[i:]) for i in range(5)]
    printed = [[transpose(s[i]) @ composite[max(i, j)] @ s[j] for j in range(5)] for i in range(5)]
    armature = np.diag([robot.model.armature(i)[0] for i in range(1, 6)])
    np.testing.assert_allclose(robot.mass_matrix(q), printed + armature, rtol=1e-12, atol=1e-13)


def test_an_entry_of_the_mass_matrix_is_the_force_per_acceleration_of_equation_5_15():
    rng = np.random.default_rng(515)
    robot = hinge.samples.random_tree(rng, 8)
    (q,), (qd,) = robot.random_state(rng, 1)
    column = [robot.inverse_dynamics(q, qd, e) - robot.inverse_dynamics(q, qd, 0 * e) for e in np.eye(robot.nv)]
    np.testing.assert_allclose(np.transpose(column), robot.mass_matrix(q), rtol=1e-11, atol=1e-11)


def test_an_entry_of_the_mass_matrix_is_the_second_derivative_of_kinetic_energy_of_equation_5_19():
    rng = np.random.default_rng(519)
    robot = hinge.samples.random_tree(rng, 8)
    (q,), _ = robot.random_state(rng, 1)
    e = np.eye(robot.nv)
    alone = robot.kinetic_energy(q, e)
    both = robot.kinetic_energy(q, e[:, None] + e[None])  # quadratic in the velocities, so differences are exact
    np.testing.assert_allclose(both - alone[:, None] - alone[None], robot.mass_matrix(q), rtol=1e-12, atol=1e-12)


# chapter 6


@pytest.fixture(scope="module", params=["revolute", "prismatic", "helical"])
def pair(request):
    """Two bodies on one joint, the first of them free, without gravity: everything in absolute coordinates."""
    rng = np.random.default_rng(66)
    builder = hinge.Builder("pair", gravity=(0, 0, 0))
    builder.link("ground")
    builder.link("handle", **random_body(rng))
    builder.link("link", **random_body(rng))
    builder.joint("free", "free", "ground", "handle")
    parameters = {"pitch": 0.15} if request.param == "helical" else {}
    builder.joint("joint", request.param, "handle", "link", rng.normal(size=3), axis=rng.normal(size=3), **parameters)
    robot = hinge.Robot(builder.build())
    (q,), (qd,) = robot.random_state(rng, 1)
    (I1, I2), (X1, X2) = link_inertias(robot.model, poses(robot, q))
    s = X2 @ axis_of(robot.model.joint[2])
    v1 = X1 @ qd[:6]
    return robot, q, qd, (I1, I2, X1, s, v1, v1 + s * qd[6])


def test_a_joint_on_a_moving_base_accelerates_by_equation_6_6(pair):
    robot, q, qd, (_, I, X1, s, vb, vl) = pair
    rng = np.random.default_rng(67)
    for tau in rng.normal(size=(3, 7)):
        qdd = robot.forward_dynamics(q, qd, tau, method="articulated")
        ab = X1 @ qdd[:6]  # the rate of body components is the spatial acceleration: v × v = 0
        needed = transpose(s) @ (I @ (ab + cross(vb) @ s * qd[6]) + cross(vl) @ I @ vl)
        np.testing.assert_allclose(qdd[6], (tau[6] - needed) / (transpose(s) @ I @ s), rtol=1e-11)


@pytest.mark.parametrize("method", ["articulated", "composite", "composite_llt"])
def test_two_bodies_answer_a_force_by_equations_6_25_and_6_26(pair, method):
    robot, q, qd, (I1, I2, X1, s, v1, v2) = pair
    d, c = transpose(s) @ I2 @ s, cross(v1) @ v2
    IA = I1 + I2 - np.outer(I2 @ s, transpose(s) @ I2) / d
    bias1, bias2 = cross(v1) @ I1 @ v1, cross(v2) @ I2 @ v2
    rng = np.random.default_rng(625)
    for tau in rng.normal(size=(8, 7)):  # seven settle every entry of IA and p
        p = bias1 + bias2 + I2 @ (c + s * (tau[6] - transpose(s) @ (I2 @ c + bias2)) / d)
        f = X1 @ force(tau[:6])  # what the free joint's force is on the handle
        a = X1 @ robot.forward_dynamics(q, qd, tau, method=method)[:6]
        np.testing.assert_allclose(IA @ a + p, f, rtol=1e-11, atol=1e-12)


def test_an_articulated_inertia_loses_what_its_joint_gives_way_to_as_in_equation_6_25():
    rng = np.random.default_rng(17)
    one, s = random_body(rng), rng.normal(size=6)
    I = RigidInertia.at_com(one["mass"], Vec3(one["com"]), one["inertia"]).articulated()
    axis = MotionSpace((Motion(Vec3(s[:3]), Vec3(s[3:])),))
    U = I @ axis
    (d,) = (axis.T @ U)[0]
    left = I.without(U, ForceSpace(f / d for f in U))
    full = inertia(one["mass"], one["com"], one["inertia"])
    printed = full - np.outer(full @ s, transpose(s) @ full) / (transpose(s) @ full @ s)
    np.testing.assert_allclose(force(np.array(left.matrix()).T).T, printed, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(printed @ s, 0.0, atol=1e-13)


# chapter 7

PARENT = (0, 1, 2, 1, 4, 4)  # λ of Figure 7-1


@pytest.fixture(scope="module")
def figure_7_1():
    rng = np.random.default_rng(71)
    builder = hinge.Builder("figure 7-1")
    builder.link("0")
    for i, p in enumerate(PARENT, start=1):
        builder.link(str(i), **random_body(rng))
        builder.joint(str(i), "revolute", str(p), str(i), rng.normal(size=3), axis=rng.normal(size=3))
    return hinge.Robot(builder.build())


def test_the_tree_of_figure_7_1_has_the_printed_sets(figure_7_1):
    model = figure_7_1.model
    assert model.parent[1:] == PARENT
    assert [set(c) for c in model.children] == [{1}, {2, 4}, {3}, set(), {5, 6}, set(), set()]
    assert model.subtree[1] == {1, 2, 3, 4, 5, 6}
    assert model.subtree[2] == {2, 3}
    assert [model.subtree[i] for i in (3, 4, 5, 6)] == [{3}, {4, 5, 6}, {5}, {6}]
    assert figure_7_1.body_names == ("1", "2", "3", "4", "5", "6")


def test_the_mass_matrix_of_figure_7_1_has_zeros_that_are_never_computed(figure_7_1):
    program = choose(figure_7_1.model, "mass_matrix").trace(figure_7_1.model)
    entries = np.reshape(np.array(program.outputs[0].entries, object), (6, 6))
    below = figure_7_1.model.subtree
    for i in range(1, 7):
        for j in range(1, 7):
            entry = entries[i - 1, j - 1]
            if j in below[i] or i in below[j]:
                assert entry != 0.0
            else:
                assert type(entry) is float
                assert entry == 0.0
    assert entries[1, 4] == entries[2, 4] == 0.0  # H25 and H35, the printed example
    H = figure_7_1.mass_matrix(np.random.default_rng(0).normal(size=6))
    assert H[1, 4] == H[2, 4] == 0.0
    assert np.all(H[[0, 3, 4], 4] != 0.0)


def test_a_tree_with_joints_of_several_freedoms_has_the_mass_matrix_of_equation_7_18():
    rng = np.random.default_rng(718)
    robot = hinge.samples.random_tree(rng, 9)
    model = robot.model
    (q,), _ = robot.random_state(rng, 1)
    assert max(joint.nv for joint in model.joint) > 1
    I, X = link_inertias(model, poses(robot, q))
    at = [model.slices[i] for i in range(10)]
    S = [np.transpose([X[i - 1] @ np.array(list(s), float) for s in model.joint[i].axes(q[at[i][0]])])
         for i in range(1, 10)]  # fmt: skip
    printed = np.diag([J for i in range(1, 10) for J in model.armature(i)])
    for i in range(1, 10):
        for j in model.subtree[i]:  # j is the outer one
            block = force(S[i - 1].T) @ sum(I[k - 1] for k in model.subtree[j]) @ S[j - 1]
            printed[at[i][1], at[j][1]] += block
            if i != j:
                printed[at[j][1], at[i][1]] += block.T
    np.testing.assert_allclose(robot.mass_matrix(q), printed, rtol=1e-11, atol=1e-12)


def test_absolute_coordinates_are_those_of_section_4_3():
    # the pose of a link is the product of its adjacent-link transforms, from the base outward
    rng = np.random.default_rng(43)
    robot = hinge.samples.random_tree(rng, 6)
    model = robot.model
    (q,), _ = robot.random_state(rng, 1)
    X = [np.eye(6)]
    for i in range(1, 7):
        R, p = (model.joint[i].transform(list(q[model.slices[i][0]])) @ model.placement[i]).pose()
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = np.reshape(R, (3, 3)), p
        X.append(X[model.parent[i]] @ absolute(pose))
        np.testing.assert_allclose(absolute(poses(robot, q)[i - 1]), X[i], rtol=1e-12, atol=1e-13)
