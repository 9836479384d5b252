"""Products of exponentials: branches of robots, robots from twists, generalised forces as pull-backs; dual numbers."""

import inspect
from contextlib import suppress

import numpy as np
import pytest

import hinge
from hinge.errors import NotCovered
from hinge.geometry import screws, se3
from hinge.graph import Dual
from hinge.spatial import Vec3, turn
from hinge.spatial.rotation import quaternion_exp, rotation_from_quaternion

SIMPLE = ("revolute", "continuous", "prismatic", "helical", "cylindrical")


def a_tree(seed):
    rng = np.random.default_rng(seed)
    robot = hinge.samples.random_tree(rng, 7, SIMPLE)
    return rng, robot.with_frame("tip", robot.body_names[-1], se3.exp(rng.normal(size=6)))


def dh_arm(seed, convention):
    """An arm of a random Denavit-Hartenberg table, of all its types of joint, with a frame "tip" beyond its hand."""
    rng = np.random.default_rng(seed)
    kinds = rng.permutation(["revolute", "prismatic", "screw", "revolute", "cylindric"])
    rows = [
        dict(zip(("a", "alpha", "d", "theta"), rng.normal(size=4).tolist(), strict=True))
        | {"mass": 1.0, "type": str(kind)}
        | ({"pitch": 0.1} if kind == "screw" else {})
        for kind in kinds
    ]
    return hinge.dh(rows, convention, tool=se3.exp(rng.normal(size=6)))


def samples():
    """Every sample that needs no arguments, by name."""
    for name in dir(hinge.samples):
        sample = getattr(hinge.samples, name)
        needed = [p for p in inspect.signature(sample).parameters.values() if p.default is p.empty]
        if not needed:
            yield name, sample


ROBOTS = (
    dict(samples())
    | {f"tree {seed}": lambda seed=seed: a_tree(seed)[1] for seed in range(4)}
    | {
        f"{convention} {seed}": lambda seed=seed, convention=convention: dh_arm(seed, convention)
        for convention in ("classic", "modified")
        for seed in range(3)
    }
)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ROBOTS)
def test_a_branch_is_its_product_of_exponentials_from_any_reference(name):
    robot = ROBOTS[name]()
    q, home = robot.random_state(np.random.default_rng(0), 2)[0]
    tips = [robot.frame_names[-1], robot.body_names[-1]]
    covered = 0
    for tip in tips:
        with suppress(NotCovered):
            assert_is_the_branch(robot, robot.exponentials(tip, home), tip, q, home)
            covered += 1
    assert covered or name in ("go2", "stewart_platform", "piston_joint")  # their joints are no such products


def assert_is_the_branch(robot, arm, tip, q, home):
    """The poses, references and Jacobians of a product of exponentials are those of the robot, frame by frame."""
    x = arm.coordinates(q)
    assert arm.pose(x) == pytest.approx(robot.pose(q, tip), abs=1e-12)
    assert arm.reference == pytest.approx(robot.pose(home, tip), abs=1e-12)
    columns = [k for name in dict.fromkeys(arm.joints) for k in range(*robot.coordinates(name)[1].indices(robot.nv))]
    for frame in ("base", "body"):
        J = robot.jacobian(q, tip, frame=frame)
        assert arm.jacobian(x, frame) == pytest.approx(J[:, columns], abs=1e-12)
    bodies = [robot.model.body_name[robot.model.joint_number(name)] for name in arm.joints]
    last = {name: k for k, name in enumerate(bodies)}  # a joint of two freedoms has a body only after the second
    for name, k in last.items():
        assert arm.poses(x)[k] == pytest.approx(robot.pose(q, name), abs=1e-12)
        assert arm.references[k] == pytest.approx(robot.pose(home, name), abs=1e-12)
        for frame in ("base", "body"):
            J = robot.jacobian(q, name, frame=frame)[:, columns[: k + 1]]
            assert arm.jacobians(x, frame)[k][:, : k + 1] == pytest.approx(J, abs=1e-12)


def test_a_branch_with_joints_that_follow_others():
    urdf = """<robot name="g"><link name="a"/><link name="b"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <link name="c"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>
      <joint name="k" type="continuous"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
      <mimic joint="j" multiplier="-2" offset="0.3"/></joint></robot>"""
    robot = hinge.load(urdf)
    arm = robot.exponentials("c", [0.2])
    assert arm.joints == ("j", "k")
    assert arm.pose(arm.coordinates([0.9])) == pytest.approx(robot.pose([0.9], "c"), abs=1e-12)


def test_a_joint_that_is_no_product_of_exponentials_is_refused_by_name():
    robot = hinge.samples.random_tree(np.random.default_rng(0), 1, ("spherical",))
    with pytest.raises(NotCovered, match="joint 'joint1' is spherical"):
        robot.exponentials(robot.body_names[-1])


def test_a_robot_from_twists_has_them():
    rng = np.random.default_rng(5)
    lines = [se3.displace(se3.exp(rng.normal(size=6)), t) for t in np.eye(6)[[2, 5, 2, 0]]]
    lines.append(np.concatenate([lines[0][:3], lines[0][3:] + 0.2 * lines[0][:3]]))  # a screw
    tool, references = se3.exp(rng.normal(size=6)), se3.exp(rng.normal(size=(5, 6)))
    bodies = [{"mass": 1.0 + k, "com": rng.normal(size=3), "inertia": np.diag([1.0, 1.2, 1.4])} for k in range(5)]
    robot = hinge.from_twists(lines, tool, bodies, references)
    assert [j.kind for j in robot.model.joint[1:]] == ["revolute", "prismatic", "revolute", "revolute", "helical"]
    arm = robot.exponentials("tool")
    assert arm.twists == pytest.approx(np.array(lines), abs=1e-12)
    q = rng.normal(size=5)
    g = np.eye(4)
    for k, twist in enumerate(lines):
        g = g @ se3.exp(twist * q[k])
        assert robot.pose(q, f"body{k + 1}") == pytest.approx(g @ references[k], abs=1e-11)
    assert robot.pose(q, "tool") == pytest.approx(g @ tool, abs=1e-11)
    J = [robot.jacobian(q, f"body{k + 1}") for k in range(5)]
    inertias = [hinge.geometry.inertias.spatial(b["mass"], b["com"], b["inertia"]) for b in bodies]
    assert robot.mass_matrix(q) == pytest.approx(sum(j.T @ I @ j for j, I in zip(J, inertias, strict=True)), abs=1e-10)


def test_a_generalised_force_is_the_pull_back_of_the_wrenches():
    rng, robot = a_tree(1)
    robot = hinge.samples.chain(rng, 5)
    q = robot.random_state(rng, 1)[0][0]
    name = robot.body_names[-1]
    arm = robot.exponentials(name)
    x, W = arm.coordinates(q), rng.normal(size=(5, 6))
    wanted = sum(robot.jacobian(q, b, frame="base").T @ w for b, w in zip(robot.body_names, W, strict=True))
    assert arm.pull_back(x, W) == pytest.approx(wanted, abs=1e-12)
    still = np.zeros(5)
    held = robot.inverse_dynamics(
        q, still, still, external=dict(zip(robot.body_names, W, strict=True)), external_frame="base"
    )
    assert robot.gravity_force(q) - held == pytest.approx(wanted, abs=1e-10)


def test_a_joint_torque_and_its_reaction_are_that_torque_alone():
    rng, slides = np.random.default_rng(2), (False, True, False, True, False)
    twists = [se3.displace(se3.exp(rng.normal(size=6)), np.eye(6)[5 if slide else 2]) for slide in slides]
    arm, x, n = hinge.from_twists(twists, np.eye(4)).exponentials("tool"), rng.normal(size=5), 5
    for i, axis in enumerate(arm.jacobian(x).T):
        W = np.zeros((n, 6))  # a couple about the axis, or a force along it through any point, and its reaction
        W[i] = 2.5 * (screws.line_force(axis[3:], rng.normal(size=3)) if slides[i] else screws.free_force(axis[:3]))
        if i:
            W[i - 1] = -W[i]
        assert arm.pull_back(x, W) == pytest.approx(2.5 * np.eye(n)[i], abs=1e-12)  # zefran2004 (15)


def test_on_symbols_a_branch_is_what_it_is_on_numbers():
    sympy = pytest.importorskip("sympy")
    arm = hinge.samples.planar_2r().exponentials("hand")
    a, b = sympy.symbols("a b")
    made = arm.pose(sympy.Matrix([a, b]))
    J = sympy.nsimplify(arm.jacobian(sympy.Matrix([a, b]), "base"))
    exact = sympy.nsimplify(made)
    assert sympy.simplify(exact[0, 3] - sympy.cos(a) - sympy.cos(a + b)) == 0
    assert sympy.simplify(J[5, 1] + sympy.cos(a)) == 0
    numbers = sympy.lambdify((a, b), made, "numpy")(0.3, 0.4)
    assert np.array(numbers, float) == pytest.approx(arm.pose([0.3, 0.4]), abs=1e-12)


# dual numbers: the principle of transference


def motor(six):
    return Vec3(tuple(Dual(float(a), float(b)) for a, b in zip(six[:3], six[3:], strict=True)))


def six(dual_vector):
    return np.array([x.real for x in dual_vector] + [x.dual for x in dual_vector])


def test_a_rotation_by_dual_numbers_is_a_displacement_of_lines():
    rng = np.random.default_rng(3)
    for _ in range(5):
        twist, line = rng.normal(size=6), rng.normal(size=6)
        R = rotation_from_quaternion(quaternion_exp(motor(twist)))  # vector formulas, dual numbers
        assert six(R @ motor(line)) == pytest.approx(se3.displace(se3.exp(twist), line), abs=1e-12)


def test_the_turn_of_a_joint_with_a_dual_angle_is_a_screw():
    rng = np.random.default_rng(4)
    axis, line = rng.normal(size=3), rng.normal(size=6)
    axis /= np.linalg.norm(axis)
    angle, slide = 0.7, 0.3
    E = turn(Vec3(tuple(axis)), Dual(angle, slide)).pose()[0]
    wanted = se3.displace(se3.exp(np.concatenate([axis * angle, axis * slide])), line)
    assert six(E @ motor(line)) == pytest.approx(wanted, abs=1e-12)


def test_the_cross_and_dot_products_of_motors():
    from hinge.spatial import cross3, dot3

    rng = np.random.default_rng(6)
    a, b, c = rng.normal(size=(3, 6))
    assert six(cross3(motor(a), motor(b))) == pytest.approx(se3.bracket(a, b))
    assert dot3(motor(a), motor(b)).dual == pytest.approx(a[:3] @ b[3:] + a[3:] @ b[:3])  # the work of one on the other
    triple = cross3(motor(a), cross3(motor(b), motor(c)))
    wanted = motor(b) * dot3(motor(a), motor(c)) - motor(c) * dot3(motor(a), motor(b))
    assert six(triple) == pytest.approx(six(wanted))
