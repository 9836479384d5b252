"""Laws of spatial vectors, transforms and inertias, over plain numbers.

A number in the margin is an equation of featherstone1987, in our order of blocks.
"""

import math

import numpy as np
import pytest
from hypothesis import given
from robots import law, random_rotation, seeds
from yardsticks import (
    array,
    articulated_inertia,
    as_matrix,
    assert_close,
    derivative,
    matrix_of,
    rigid_inertia,
    skew3,
    vector,
)

from hinge.spatial import (
    Force,
    ForceSpace,
    Mat3,
    Motion,
    MotionSpace,
    Rigid,
    Screw,
    Transform,
    Vec3,
    comoving,
    cross,
    dot,
    slide,
    turn,
)
from hinge.spatial.rotation import displacement_exp, rotation_from_quaternion


def rigid(rng):
    return Rigid(Mat3(random_rotation(rng).ravel().tolist()), Vec3(rng.normal(size=3).tolist()))


def screw(rng, axis):
    """About a coordinate axis: any angle, or a quarter turn; any shift, or none."""
    angle = rng.choice([rng.uniform(-3, 3), 0.0, math.pi / 2, math.pi, -math.pi / 2])
    return Screw(axis, float(angle), float(rng.choice([rng.normal(), 0.0])))


TRANSFORMS = {
    "no factor": lambda rng: Transform(),
    "a screw about x": lambda rng: Transform(screw(rng, 0)),
    "a screw about y": lambda rng: Transform(screw(rng, 1)),
    "a screw about z": lambda rng: Transform(screw(rng, 2)),
    "a general transform": lambda rng: Transform(rigid(rng)),
    "screws about one axis": lambda rng: Transform(screw(rng, 1)) @ Transform(screw(rng, 1)),
    "screws about two axes": lambda rng: Transform(screw(rng, 2)) @ Transform(screw(rng, 0)),
    "a product of all": lambda rng: Transform(screw(rng, 2), rigid(rng)) @ Transform(screw(rng, 0), screw(rng, 2)),
}
every_transform = pytest.mark.parametrize("made", TRANSFORMS.values(), ids=TRANSFORMS.keys())


def pose_matrix(X):
    """The 6×6 matrix of a transform, from its pose alone: [Rᵀ 0; -Rᵀ p× Rᵀ]."""
    R, p = X.pose()
    R = np.array(R, float).reshape(3, 3)
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ skew3(p), R.T]])


@every_transform
@given(seed=seeds)
@law(12)
def test_a_transform_is_the_matrix_its_pose_says(made, seed):
    X = made(np.random.default_rng(seed))
    assert_close(as_matrix(lambda m: X @ m), pose_matrix(X), 1e-14)


@every_transform
@given(seed=seeds)
@law(6)
def test_a_product_of_transforms_is_the_product_of_their_matrices(made, seed):
    rng = np.random.default_rng(seed)
    X = made(rng)
    for Y in (Transform(screw(rng, 1)), Transform(rigid(rng)), Transform(screw(rng, 2), screw(rng, 2))):
        product = pose_matrix(X) @ pose_matrix(Y)
        assert_close(as_matrix(lambda m, Y=Y: (X @ Y) @ m), product, 1e-14, 10.0)
        assert_close(pose_matrix(X @ Y), product, 1e-14, 10.0)


@every_transform
@given(seed=seeds)
@law(8)
def test_power_is_the_same_in_all_coordinates(made, seed):
    rng = np.random.default_rng(seed)
    X, m, f = made(rng), vector(rng, Motion), vector(rng, Force)
    assert_close(dot(X @ m, f), dot(m, X.T @ f), 1e-14, 10.0)
    assert_close(array(X.T @ f), pose_matrix(X).T @ array(f), 1e-14, 10.0)


@every_transform
@pytest.mark.parametrize("inertia", [rigid_inertia, articulated_inertia])
@given(seed=seeds)
@law(8)
def test_an_inertia_moves_by_congruence(made, inertia, seed):
    rng = np.random.default_rng(seed)
    X, I = made(rng), inertia(rng)
    moved = X.T @ I
    assert type(moved) is type(I)
    want = pose_matrix(X).T @ matrix_of(I) @ pose_matrix(X)
    assert_close(matrix_of(moved), want, 1e-14, 10.0)
    m = vector(rng, Motion)
    assert_close(array(moved @ m), want @ array(m), 1e-14, 100.0)


@every_transform
@given(seed=seeds)
@law(4)
def test_transforms_keep_the_cross_product(made, seed):
    rng = np.random.default_rng(seed)
    X, v, m, f = made(rng), vector(rng, Motion), vector(rng, Motion), vector(rng, Force)
    assert_close(array(X @ cross(v, m)), array(cross(X @ v, X @ m)), 1e-13, 10.0)
    assert_close(array(cross(v, X.T @ f)), array(X.T @ cross(X @ v, f)), 1e-13, 10.0)


@given(seed=seeds)
@law(10)
def test_turns_and_slides_about_any_axis_go_where_they_say(seed):
    rng = np.random.default_rng(seed)
    angle, distance = rng.normal(size=2).tolist()
    for axis in (*np.eye(3), *-np.eye(3), rng.normal(size=3)):
        u = axis / np.linalg.norm(axis)
        R, p = turn(Vec3(u.tolist()), angle).pose()
        Rodrigues = np.eye(3) + math.sin(angle) * skew3(u) + (1 - math.cos(angle)) * skew3(u) @ skew3(u)
        assert_close(np.array(R).reshape(3, 3), Rodrigues, 1e-15)
        assert_close(p, np.zeros(3))
        R, p = slide(Vec3(u.tolist()), distance).pose()
        assert_close(np.array(R).reshape(3, 3), np.eye(3), 0.0)
        assert_close(p, u * distance, 1e-15)


# rates in moving coordinates


def moving(seed):
    """X(t) from base to body for a body in steady motion, its velocity in body and in base coordinates."""
    rng = np.random.default_rng(seed)
    start, twist = Transform(rigid(rng)), vector(rng, Motion)

    def X(t):
        quaternion, shift = displacement_exp(twist.ang * t, twist.lin * t)
        return Transform(Rigid(rotation_from_quaternion(quaternion).T, shift)) @ start

    return rng, X, twist, inverse(X(0.0)) @ twist


def inverse(X):
    R, p = X.pose()
    return Transform(Rigid(R, -(R.T @ p)))


@given(seed=seeds)
@law(10)
def test_the_rate_of_a_transform_is_the_velocity_crossed_with_it(seed):
    _, X, body, base = moving(seed)
    into, out = (lambda t: as_matrix(lambda m: X(t) @ m)), (lambda t: as_matrix(lambda m: inverse(X(t)) @ m))
    assert_close(derivative(into), -as_matrix(lambda m: cross(body, X(0.0) @ m)), 1e-10)
    assert_close(
        derivative(out), as_matrix(lambda m: cross(base, inverse(X(0.0)) @ m)), 1e-10
    )  # (2.27), column by column


@given(seed=seeds)
@law(10)
def test_the_rate_of_a_vector_in_moving_coordinates_has_two_parts(seed):
    rng, X, body, base = moving(seed)
    for kind, there in ((Motion, lambda t, m: inverse(X(t)) @ m), (Force, lambda t, f: X(t).T @ f)):
        x, xd = vector(rng, kind), vector(rng, kind)
        rate = derivative(lambda t, x=x, xd=xd, there=there: array(there(t, x + xd * t)))
        assert_close(rate, array(there(0.0, xd + cross(body, x))), 1e-10, 10.0)  # (2.26)
        carried = derivative(lambda t, x=x, there=there: array(there(t, x)))
        assert_close(carried, array(cross(base, there(0.0, x))), 1e-10, 10.0)  # (2.27)


@pytest.mark.parametrize("inertia", [rigid_inertia, articulated_inertia])
@given(seed=seeds)
@law(8)
def test_the_rate_of_an_inertia_is_carried_along_from_both_sides(inertia, seed):
    rng, X, _, base = moving(seed)
    I = inertia(rng)
    here = X(0.0).T @ I
    rate = derivative(lambda t: matrix_of(X(t).T @ I))
    want = as_matrix(lambda m: cross(base, here @ m) - here @ cross(base, m))  # (3.7)
    assert_close(rate, want, 1e-9, 10.0)


@given(seed=seeds)
@law(6)
def test_an_observer_who_moves_with_the_origin_sees_the_same_force(seed):
    rng = np.random.default_rng(seed)
    I, v, a = rigid_inertia(rng), vector(rng, Motion), vector(rng, Motion)
    force = lambda v, a: array(I @ a + cross(v, I @ v))
    assert_close(force(*comoving(v, a)), force(v, a), 1e-14, 10.0)


# products


@given(seed=seeds)
@law(10)
def test_cross_is_antisymmetric_on_motions_and_dual_on_forces(seed):
    rng = np.random.default_rng(seed)
    u, v, w, f = (vector(rng, kind) for kind in (Motion, Motion, Motion, Force))
    assert_close(array(cross(u, v)), -array(cross(v, u)), 1e-15)
    assert_close(array(cross(u, u)), np.zeros(6), 1e-15)
    assert_close(dot(cross(u, v), f), -dot(v, cross(u, f)), 1e-14, 10.0)
    jacobi = cross(u, cross(v, w)) + cross(v, cross(w, u)) + cross(w, cross(u, v))
    assert_close(array(jacobi), np.zeros(6), 1e-14, 10.0)
    on_motions, on_forces = as_matrix(lambda m: cross(u, m)), array(cross(u, f))
    assert_close(on_forces, -on_motions.T @ array(f), 1e-14, 10.0)


@given(seed=seeds)
@law(6)
def test_spaces_act_column_by_column(seed):
    rng = np.random.default_rng(seed)
    S, U = MotionSpace(vector(rng, Motion) for _ in range(3)), ForceSpace(vector(rng, Force) for _ in range(2))
    A, B = np.array([array(s) for s in S]).T, np.array([array(u) for u in U]).T
    x, y, f, m = rng.normal(size=3), rng.normal(size=2), vector(rng, Force), vector(rng, Motion)
    assert_close(array(S @ x.tolist()), A @ x, 1e-15, 10.0)
    assert_close(array(U @ y.tolist()), B @ y, 1e-15, 10.0)
    assert_close(S.T @ f, A.T @ array(f), 1e-15, 10.0)
    assert_close(S.T @ U, A.T @ B, 1e-15, 10.0)
    assert_close(U.T @ m, B.T @ array(m), 1e-15, 10.0)
