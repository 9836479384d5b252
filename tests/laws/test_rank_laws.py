"""One rule says how many constraints count: mobility, dynamics and projection agree, on a closure and near it."""

import numpy as np
import pytest
from loop_states import bennett, line_symmetric_bricard, moving

import hinge
from hinge.status import Status

OFF = (0.0, 1e-10, 1e-8, 1e-6, 1e-5)


def linkage(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "bricard":
        return line_symmetric_bricard(rng)
    if kind == "bennett":
        return bennett(rng.uniform(0.05, 2.0), *rng.uniform(0.2, 1.3, 2))
    if kind == "stewart":
        return hinge.samples.stewart_platform(*rng.uniform((0.6, 0.3, 0.8), (1.2, 0.8, 1.5)))
    return hinge.samples.five_bar(*rng.uniform(0.8, 1.2, 3))


def closed_state(robot, seed):
    """A closed state that can move: some assemblies of a Bricard linkage are structures."""
    rng = np.random.default_rng(seed)
    starts = rng.normal(size=(10, robot.nv)) * (0.1 if robot.nq > robot.nv else 1.5)
    made = robot.assemble(robot.integrate(np.broadcast_to(robot.neutral(), (10, robot.nq)), starts))
    sizes = np.linalg.svd(robot.loop_jacobian(made.q), compute_uv=False)
    moves = (sizes > 1e-6).sum(axis=1) < robot.nv
    q = made.q[moves & (made.status == Status.OK)][0]
    qd, tau = moving(robot, q, seed)
    return *robot.loop_project(q, qd), tau


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("kind", "seed"), [*(("bricard", k) for k in range(5)), *(("bennett", k) for k in range(4)), ("stewart", 0),
                       ("planar", 0), ("planar", 1)],
)  # fmt: skip
def test_near_a_closure_the_same_constraints_count_as_on_it(kind, seed):
    robot = linkage(kind, seed)
    q, qd, tau = closed_state(robot, seed)
    sizes = np.linalg.svd(robot.loop_jacobian(q), compute_uv=False)
    rank = int((sizes > 1e-6 * sizes[0]).sum())
    least = sizes[rank - 1] / sizes[0]
    wanted = robot.loop_dynamics(q, qd, tau)[0]
    for off in OFF:
        away = off * np.random.default_rng(seed).normal(size=(20, robot.nv))
        near = robot.integrate(np.broadcast_to(q, (20, robot.nq)), away)
        found = robot.mobility(near)
        assert (found.rank == rank).all()
        assert (found.freedoms == robot.nv - rank).all()
        for method in ("mass_matrix",) if kind == "stewart" else ("mass_matrix", "sparse", "articulated"):
            qdd, _, status = robot.loop_dynamics(near, qd, tau, method=method, return_status=True)
            assert (status == Status.OK).all()
            assert np.abs(qdd - wanted).max() <= (1e-9 + 100 * off / least**2) * np.abs(wanted).max()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(3))
def test_a_regular_linkage_runs_on_under_projection(seed):
    """Regular mechanisms with a small least singular value are not singular."""
    robot = line_symmetric_bricard(np.random.default_rng(seed))
    q, qd, _ = closed_state(robot, seed)
    run = hinge.simulate(robot, t=0.5, q0=q, qd0=2.0 * qd / np.abs(qd).max(), loops="project")
    assert run.status == Status.OK
    assert np.abs(robot.loop_gap(run.q)).max() < 1e-9


def test_a_rigid_assembly_has_no_freedom():
    """A Bricard linkage closes off its moving branch too, and is a structure there: five constraints count."""
    robot = line_symmetric_bricard(np.random.default_rng(4))
    made = robot.assemble(np.random.default_rng(0).normal(size=(30, 5)) * 1.5)
    q = made.q[made.status == Status.OK]
    sizes = np.linalg.svd(robot.loop_jacobian(q), compute_uv=False)
    rigid = sizes[:, -1] > 1e-3
    assert rigid.any()
    assert not rigid.all()
    np.testing.assert_array_equal(robot.mobility(q).freedoms, np.where(rigid, 0, 1))


def test_projection_that_leaves_a_loop_open_is_not_ok():
    robot = hinge.samples.four_bar()
    q = robot.assemble([0.5, 0.5, 1.5], hold=["crank"]).q
    starts = q + np.array([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [1e-6, 0.0, 0.0], [0.0, 2.0, 1.0]])
    at, _, status = robot.loop_project(starts, np.zeros(3), return_status=True)
    open_ = np.abs(robot.loop_gap(at)).max(axis=1) > 1e-6
    assert open_[0]
    assert not open_[1:3].any()
    np.testing.assert_array_equal(status, np.where(open_, Status.UNCLOSED, Status.OK))


def test_constraints_that_contradict_each_other_are_singular():
    arm, still = hinge.samples.planar_2r(), np.zeros(2)
    held = hinge.constrain(arm, lambda q, t: ([[1.0, 0.0], [1.0, 0.0]], [t, 2 * t]))
    qdd, _, status = held.forward([0.1, 0.2], still, still, return_status=True)
    assert status == Status.SINGULAR
    assert np.isnan(qdd).all()
    assert held.project([0.1, 0.2], still, 1.0, return_status=True)[-1] == Status.SINGULAR
    assert held.project([0.1, 0.2], still, 0.0, return_status=True)[-1] == Status.OK  # at t = 0 both rows ask for zero
    twice = hinge.constrain(arm, lambda q, t: ([[1.0, 0.0], [2.0, 0.0]], [t, 2 * t]))
    assert twice.forward([0.1, 0.2], still, still, return_status=True)[-1] == Status.OK


@pytest.mark.parametrize("method", ["mass_matrix", "sparse", "articulated"])
def test_a_massless_end_link_is_moved_by_its_loop(method):
    builder = hinge.Builder("rod")
    builder.link("base")
    builder.link("crank", 1.0, (0.5, 0, 0), np.diag([1e-3, 0.1, 0.1]))
    builder.joint("crank", "continuous", "base", "crank", axis=(0, -1, 0))
    builder.link("rod")
    builder.joint("rod", "continuous", "crank", "rod", (1.0, 0, 0), axis=(0, -1, 0))
    robot = hinge.Robot(builder.build()).close("cylindrical", "base", "rod", (0, 0, 0), (1.5, 0, 0), axis=(1, 0, 0))
    q = robot.assemble([0.5, -0.8], strict=True).q
    qdd, _, status = robot.loop_dynamics(q, np.zeros(2), np.zeros(2), method=method, return_status=True)
    assert status == Status.OK
    np.testing.assert_allclose(robot.loop_jacobian(q) @ qdd, 0.0, atol=1e-9)
    np.testing.assert_allclose(qdd, robot.loop_dynamics(q, np.zeros(2), np.zeros(2))[0], atol=1e-12)


def test_a_mechanism_stretched_out_straight_is_assembled():
    """At the neutral configuration every step of the solver is along the bars, and none closes the loop."""
    for kind, seed in (("planar", 0), ("planar", 1), ("bennett", 2), ("bricard", 3)):
        robot = linkage(kind, seed)
        made = robot.assemble(robot.neutral())
        assert made.status == Status.OK
        batch = robot.assemble(np.stack([robot.neutral(), made.q]))
        np.testing.assert_array_equal(batch.q[0], made.q)
    bars = hinge.samples.four_bar(2.2, 1.0, 1.5, 1.0)
    assert bars.assemble(bars.neutral()).status == Status.OK
    assert hinge.samples.four_bar(9.0).assemble([0.0, 0.0, 0.0]).status == Status.UNCLOSED
