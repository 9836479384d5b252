"""Laws of inertias, and what motions and forces refuse to do.

A number in the margin is an equation of featherstone1987, in our order of blocks.
"""

import operator

import numpy as np
import pytest
from hypothesis import given
from robots import drawn, families, law, random_rotation, seeds
from yardsticks import array, articulated_inertia, as_matrix, assert_close, matrix_of, rigid_inertia, skew3, vector

import hinge
from hinge.dynamics.solve import LDL, plus_diagonal
from hinge.graph import Graph
from hinge.spatial import (
    ArticulatedInertia,
    Force,
    ForceSpace,
    InverseInertia,
    Mat3,
    Motion,
    MotionSpace,
    Rigid,
    RigidInertia,
    Transform,
    Vec3,
    dot,
)

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

DUAL = (
    "cannot {} a {} and a {}: they are dual to each other.\n"
    "  An inertia takes a motion to a force; dot(motion, force) is their power."
)


@given(seed=seeds)
@law(8)
def test_a_rigid_inertia_is_that_of_mass_centre_and_rotational_inertia(seed):
    I = rigid_inertia(np.random.default_rng(seed))
    cx, m = skew3(I.com), I.m
    about = np.array(I.about_com.full()).reshape(3, 3)
    want = np.block([[about - m * cx @ cx, m * cx], [-m * cx, m * np.eye(3)]])
    assert_close(matrix_of(I), want, 1e-14)
    assert_close(as_matrix(lambda x: I @ x), want, 1e-14)
    assert np.linalg.eigvalsh(want)[0] > 0.0


@given(seed=seeds)
@law(8)
def test_inertias_of_bodies_joined_rigidly_add(seed):
    rng = np.random.default_rng(seed)
    for kind in (rigid_inertia, articulated_inertia):
        A, B = kind(rng), kind(rng)
        assert_close(matrix_of(A + B), matrix_of(A) + matrix_of(B), 1e-15)  # (3.8)
    A, B = rigid_inertia(rng), rigid_inertia(rng)
    centre = (np.array(A.com) * A.m + np.array(B.com) * B.m) / (A.m + B.m)
    assert_close((A + B).com, centre, 1e-14)


@given(seed=seeds)
@law(8)
def test_the_closed_form_of_the_inverse_is_the_inverse(seed):
    I = rigid_inertia(np.random.default_rng(seed))
    scale = np.linalg.cond(matrix_of(I))  # rounding in I is worth this much in its inverse
    assert_close(matrix_of(I.inverse()) @ matrix_of(I), np.eye(6), 1e-14, scale)  # (3.14)


@given(seed=seeds)
@law(8)
def test_inverse_inertias_add_where_one_force_moves_two_bodies(seed):
    rng = np.random.default_rng(seed)
    A, B = rigid_inertia(rng), rigid_inertia(rng)
    f = vector(rng, Force)
    both = matrix_of(A.inverse() + B.inverse())
    apart = np.linalg.solve(matrix_of(A), array(f)) + np.linalg.solve(matrix_of(B), array(f))
    scale = np.linalg.norm(both) * np.linalg.norm(array(f))
    assert_close(both @ array(f), apart, 1e-13, scale)
    # their harmonic sum is what the pair opposes to being driven apart
    harmonic = matrix_of(A) @ np.linalg.solve(matrix_of(A + B), matrix_of(B))
    assert_close(np.linalg.inv(both), harmonic, 1e-12)


@given(seed=seeds)
@law(8)
def test_without_leaves_no_inertia_along_the_axes(seed):
    rng = np.random.default_rng(seed)
    I, S = articulated_inertia(rng), MotionSpace(vector(rng, Motion) for _ in range(2))
    U = I @ S
    V = ForceSpace(LDL(S.T @ U, str).solve(U))
    A = matrix_of(I)
    columns = np.array([array(s) for s in S]).T
    want = A - A @ columns @ np.linalg.solve(columns.T @ A @ columns, columns.T @ A)
    scale = np.linalg.norm(A) * np.linalg.cond(columns.T @ A @ columns)
    assert_close(matrix_of(I.without(U, V)), want, 1e-14, scale)
    assert_close(matrix_of(I.without(U, V)) @ columns, np.zeros((6, 2)), 1e-14, scale)


# articulated bodies


def inertias(model, q):
    """Articulated and composite inertias of all bodies: the inward pass of articulated.py, on numbers."""
    at = model.joint_positions(q.tolist())
    IA, IC = [I.articulated() for I in model.inertia], list(model.inertia)
    for i, p in model.inward():
        X = model.joint[i].transform(at[i]) @ model.placement[i]
        S = model.joint[i].axes(at[i])
        U = IA[i] @ S
        V = ForceSpace(LDL(plus_diagonal(S.T @ U, model.armature(i)), model.joint_label(i)).solve(U))
        IA[p], IC[p] = IA[p] + X.T @ IA[i].without(U, V), IC[p] + X.T @ IC[i]
    return [matrix_of(I) for I in IA], [matrix_of(I) for I in IC]


@families
@given(seed=seeds)
@law(5)
def test_an_articulated_inertia_lies_between_the_body_and_the_composite_body(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    model = robot.model
    IA, IC = inertias(model, q)
    gained = 0
    for i in range(1, len(model.parent)):
        dust = 1e-13 * np.linalg.norm(IC[i])  # differences of equal matrices are rounding, of either sign
        assert np.linalg.eigvalsh(IA[i] - matrix_of(model.inertia[i]))[0] >= -dust  # section 6.3
        assert np.linalg.eigvalsh(IC[i] - IA[i])[0] >= -dust
        gained += bool(np.linalg.norm(IC[i] - IA[i]) > 1e-3)
    assert gained >= bool(robot.model.children[1])  # a body that carries another gives way somewhere


@pytest.mark.parametrize("family", ["floating"])
@given(seed=seeds)
@law(6)
def test_the_articulated_inertia_of_a_floating_base_is_what_a_push_on_it_meets(family, seed):
    robot, _, q, _, _ = drawn(family, seed)
    base = robot.coordinates("base")[1]
    IA = inertias(robot.model, q)[0][1]
    met = robot.inverse_mass_matrix(q)[base, base]  # accelerations of the base by forces on it
    assert_close(met @ IA, np.eye(6), 1e-13, np.linalg.cond(robot.mass_matrix(q)))


# what is refused


def message(action):
    with pytest.raises(hinge.TraceError) as caught:
        action()
    return str(caught.value)


def test_a_motion_and_a_force_do_not_mix():
    m, f, X = Motion(), Force(), Transform(Rigid())
    assert message(lambda: m + f) == DUAL.format("add", "motion", "force")
    assert message(lambda: f + m) == DUAL.format("add", "force", "motion")
    assert message(lambda: m - f) == DUAL.format("subtract", "motion", "force")
    assert message(lambda: f - m) == DUAL.format("subtract", "force", "motion")
    assert message(lambda: dot(f, m)) == "dot takes a motion and a force, not a Force and a Motion."
    assert message(lambda: dot(m, m)) == "dot takes a motion and a force, not a Motion and a Motion."
    assert message(lambda: X @ f) == "a transform takes motions to the child; a Force goes back with X.T @ f."
    assert message(lambda: X.T @ m) == "X.T @ takes forces and inertias to the parent; a Motion goes with X @ m."
    for I in (rigid_inertia(np.random.default_rng(0)), ArticulatedInertia()):
        assert message(lambda I=I: I @ f) == "an inertia takes a motion to a force; it was given a Force."


# every operator on every pair of types


def operands(seed):
    """One of each type, and its matrix or vector."""
    rng = np.random.default_rng(seed)
    X = Transform(Rigid(Mat3(random_rotation(rng).ravel().tolist()), Vec3(rng.normal(size=3).tolist())))
    return {
        "rigid": rigid_inertia(rng), "articulated": articulated_inertia(rng), "inverse": rigid_inertia(rng).inverse(),
        "motion": vector(rng, Motion), "force": vector(rng, Force), "transform": X, "transpose": X.T,
        "number": 1.7, "numpy number": np.float64(-0.6), "node": Graph().input("x", 0),
        "motions": MotionSpace(vector(rng, Motion) for _ in range(2)),
        "forces": ForceSpace(vector(rng, Force) for _ in range(2)),
    }  # fmt: skip


def meaning(x):
    """The matrix, vector or number that an operand stands for; for symbols, nothing."""
    if isinstance(x, Transform):
        return as_matrix(lambda m: x @ m)
    if isinstance(x, RigidInertia | ArticulatedInertia | InverseInertia):
        return matrix_of(x)
    if isinstance(x, MotionSpace | ForceSpace):
        return np.array([array(one) for one in x]).T
    return array(x) if isinstance(x, Motion | Force) else x


INERTIAS, SCALARS = ("rigid", "articulated", "inverse"), ("number", "numpy number", "node")
BODIES = ("rigid", "articulated")
RESULTS = {  # by operator, the pairs that have a meaning, and what kind of thing comes of them
    "+": {("rigid", "rigid"): RigidInertia, ("inverse", "inverse"): InverseInertia}
    | {(a, b): ArticulatedInertia for a in BODIES for b in BODIES if "articulated" in (a, b)},
    "*": {(a, s): None for a in (*INERTIAS, "motion", "force") for s in SCALARS}
    | {(s, a): None for a in (*INERTIAS, "motion", "force") for s in SCALARS},
    "@": {(a, "motion"): Force for a in BODIES} | {(a, "motions"): ForceSpace for a in BODIES}
    | {("inverse", "force"): Motion, ("inverse", "forces"): MotionSpace, ("transform", "inverse"): InverseInertia}
    | {("transpose", "rigid"): RigidInertia, ("transpose", "articulated"): ArticulatedInertia},
}  # fmt: skip
RESULTS["-"] = RESULTS["+"]
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "@": operator.matmul}


@pytest.mark.sampled(288)
@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize("left", operands(0))
@pytest.mark.parametrize("right", operands(0))
def test_an_operator_on_an_inertia_gives_what_its_matrices_give_or_says_why_not(sign, left, right):
    if left not in INERTIAS and right not in INERTIAS and (left, right) not in RESULTS[sign]:
        return  # of vectors, above
    for seed in range(3):
        x, y = operands(seed)[left], operands(seed)[right]
        if (left, right) not in RESULTS[sign]:
            message(lambda x=x, y=y: OPERATORS[sign](x, y))
            continue
        result = OPERATORS[sign](x, y)
        kind = RESULTS[sign][left, right] or type(y if left in SCALARS else x)
        assert type(result) is kind
        if "node" in (left, right):
            continue
        if left == "transform":
            A = meaning(x)
            want = A @ meaning(y) @ A.T
        elif left == "transpose":
            A = meaning(x.X)
            want = A.T @ meaning(y) @ A
        else:
            want = OPERATORS[sign](meaning(x), meaning(y))
        assert_close(meaning(result), want, 1e-13, 100.0)


@given(seed=seeds)
@law(8)
def test_an_inverse_inertia_takes_the_momentum_of_a_motion_back_to_it(seed):
    rng = np.random.default_rng(seed)
    I, v, X = rigid_inertia(rng), vector(rng, Motion), operands(seed)["transform"]
    scale = np.linalg.cond(matrix_of(I))
    assert_close(array(I.inverse() @ (I @ v)), array(v), 1e-13, scale)  # section 3.5
    there = X.T @ I  # in the parent's coordinates, whose inverse comes to the child by X
    assert_close(matrix_of(X @ there.inverse()), matrix_of(I.inverse()), 1e-12, np.linalg.cond(matrix_of(there)))
