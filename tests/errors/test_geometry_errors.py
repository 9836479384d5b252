"""What geometry refuses, and what it says."""

import numpy as np
import pytest

import hinge
from hinge.errors import GeometryError, SizeError, TraceError
from hinge.geometry import inertias, screws, se3, spaces

SKEWED = np.eye(4) + 0.01 * np.arange(16).reshape(4, 4) * np.array([[1], [1], [1], [0]])


def test_a_pose_that_is_none_says_how_far_it_is_and_what_to_do():
    away = np.linalg.norm(SKEWED - se3.nearest(SKEWED))
    with pytest.raises(GeometryError) as problem:
        se3.log(SKEWED)
    assert str(problem.value) == (
        f"geometry.se3.log: the pose is not in SE(3): it is {away:.3g} from the nearest matrix that is.\n"
        "  A pose is a rotation, a shift, and a last row 0 0 0 1. With nearest=True the nearest one is taken."
    )
    assert se3.log(SKEWED, nearest=True) == pytest.approx(se3.log(se3.nearest(SKEWED)))


def test_of_many_poses_the_bad_one_is_named():
    many = np.broadcast_to(np.eye(4), (2, 3, 4, 4)).copy()
    many[1, 2] = SKEWED
    with pytest.raises(GeometryError, match=r"pose\[1, 2\] is not in SE\(3\)"):
        se3.adjoint(many)
    many[1, 2] = np.nan
    with pytest.raises(GeometryError, match="not finite"):
        se3.adjoint(many, nearest=True)


@pytest.mark.parametrize("flat", [np.zeros((4, 4)), np.diag([0.0, 2.0, 0.0, 1.0]), np.ones((4, 4))])
def test_a_matrix_that_says_nothing_of_directions_is_nearest_to_no_pose(flat):
    words = (
        "is nearest to no pose: its rotation part is zero or has rank one.\n"
        "  How a frame is turned takes two directions at least."
    )
    for name, call in (("log", lambda T: se3.log(T, nearest=True)), ("nearest", se3.nearest)):
        with pytest.raises(GeometryError) as problem:
            call(flat)
        assert str(problem.value) == f"geometry.se3.{name}: the pose {words}"
        with pytest.raises(GeometryError) as problem:
            call(np.stack([SKEWED, flat]))
        assert str(problem.value) == f"geometry.se3.{name}: pose[1] {words}"
    with pytest.raises(GeometryError) as problem:
        se3.nearest(np.full((4, 4), np.nan))
    assert str(problem.value) == "geometry.se3.nearest: the pose has entries that are not finite."


@pytest.mark.parametrize("bad", [np.diag([1.0, 1, -1, 1]), 1.1 * np.eye(4), np.eye(4) + np.eye(4)[[3, 0, 1, 2]]])
def test_reflections_scalings_and_projections_are_no_poses(bad):
    with pytest.raises(GeometryError):
        se3.inverse(bad)
    made = se3.nearest(bad)
    assert made[:3, :3] @ made[:3, :3].T == pytest.approx(np.eye(3))
    assert np.linalg.det(made[:3, :3]) == pytest.approx(1.0)


def test_nothing_has_no_axis():
    with pytest.raises(GeometryError, match="of_twist: twist is zero, and has no axis"):
        screws.of_twist(np.zeros(6))
    with pytest.raises(GeometryError, match=r"of_wrench: wrench\[1\] is zero"):
        screws.of_wrench([[1, 0, 0, 0, 0, 0], [0] * 6])
    with pytest.raises(GeometryError, match="has no axis"):
        screws.of_pose(np.eye(4))
    with pytest.raises(GeometryError, match="twist 2 is zero, and has no axis"):
        hinge.from_twists([[0, 0, 1, 0, 0, 0], [0] * 6], np.eye(4))
    with pytest.raises(GeometryError, match="twist 1 is 2 long"):
        hinge.from_twists([[0, 0, 2, 0, 0, 0]], np.eye(4))


def test_arrays_of_another_shape_are_refused():
    with pytest.raises(SizeError, match=r"geometry.se3.exp: twist has shape \(5,\); it has to end in \(6,\)"):
        se3.exp(np.zeros(5))
    with pytest.raises(SizeError, match="not an array of real numbers"):
        se3.exp(["a"] * 6 if False else np.zeros(6, complex))
    with pytest.raises(SizeError):
        spaces.complement(np.zeros((5, 2)))
    arm = hinge.samples.planar_2r()
    with pytest.raises(SizeError, match=r"geodesic: qd has shape \(3,\); it has to end in \(2,\)"):
        arm.geodesic([0, 0], [0, 0, 0])
    with pytest.raises(SizeError, match="geodesic: the batches do not fit together"):
        arm.geodesic(np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(SizeError, match="steps=0"):
        arm.geodesic([0, 0], [0, 0], steps=0)


def test_a_curve_whose_length_does_not_settle_is_refused():
    arm = hinge.samples.pendulum(1)
    with pytest.raises(GeometryError, match="length: the integral along the curve does not settle"):
        arm.length(lambda t: [np.sqrt(t[()])])  # infinitely fast at the start
    assert arm.length(lambda t: [0.0 * t]) == 0.0


@pytest.mark.parametrize(("ask", "kind", "said"), [
    (lambda arm: arm.exponentials("hand", [0.1]), SizeError, r"exponentials: q has shape \(1,\)"),
    (lambda arm: arm.exponentials("hand", [0.1, 0.2, 0.3]), SizeError, r"exponentials: q has shape \(3,\)"),
    (lambda arm: hinge.from_twists(np.zeros((6, 2)), np.eye(4)), SizeError, r"twists has shape \(6, 2\); .* \(6, 6\)"),
    (lambda arm: hinge.from_twists(3.0, np.eye(4)), SizeError, "twists is a float"),
    (lambda arm: inertias.to_binor(np.eye(3)), SizeError, r"inertia has shape \(3, 3\)"),
    (lambda arm: arm.geodesic([0, 0], [1, 1], steps=2.5), SizeError, "geodesic: steps=2.5 is not known"),
    (lambda arm: arm.length(lambda t: ["a", t]), TraceError, "the curve gave 'a', which is neither"),
    (lambda arm: arm.gradient(lambda q: None)([0, 0]), TraceError, "V gave None"),
])  # fmt: skip
def test_what_is_no_branch_curve_or_potential_is_said(ask, kind, said):
    with pytest.raises(kind, match=said):
        ask(hinge.samples.planar_2r())


def test_spaces_that_are_none_are_refused():
    with pytest.raises(GeometryError, match="complement: S has entries that are not finite"):
        spaces.complement(np.full((6, 1), np.nan))
    with pytest.raises(SizeError, match="complement: S is not an array of real numbers"):
        spaces.complement("S")
    with pytest.raises(GeometryError, match="not independent"):
        spaces.complement(np.ones((6, 2)))
    with pytest.raises(GeometryError, match="not felt by T"):
        spaces.resolve(np.ones(6), np.eye(6)[:, :1], np.eye(6)[:, 1:2])
    with pytest.raises(GeometryError, match="not positive"):
        spaces.orthogonal_basis(np.eye(6), np.zeros((6, 6)))
    with pytest.raises(GeometryError, match="no mass"):
        inertias.principal_screws(np.diag([1.0, 1, 1, 0, 0, 0]))


def test_fields_that_cannot_be_traced_or_have_another_size_are_refused():
    arm = hinge.samples.planar_2r()
    with pytest.raises(TraceError):
        arm.covariant_derivative(lambda q: [1.0, 0.0], lambda q: [1.0, 0.0] if q[0] > 0 else [0.0, 1.0])([0.0, 0.0])
    with pytest.raises(SizeError, match="nv = 2 components"):
        arm.covariant_derivative(lambda q: [1.0], lambda q: q)([0.0, 0.0])
    with pytest.raises(TraceError, match="takes numbers, SymPy's symbols, or the q of another field's function"):
        arm.covariant_derivative(lambda q: q, lambda q: q)(["0.1", "0.2"])
    with pytest.raises(SizeError, match="a potential is one number"):
        arm.gradient(lambda q: q)([0.0, 0.0])
    with pytest.raises(SizeError, match="nq = 2"):
        arm.length(lambda t: [t])
