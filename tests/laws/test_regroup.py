"""Inertia moved across joints: joint-space results stay, per-body ones are refused, and operations go away."""

import numpy as np
import pytest

import hinge
from hinge.model import reframe
from hinge.model.regroup import regrouped

JOINT_SPACE = {
    "inverse_dynamics": 3, "forward_dynamics": 3, "mass_matrix": 1, "inverse_mass_matrix": 1, "bias_force": 2,
    "gravity_force": 1, "coriolis_matrix": 2,
}  # fmt: skip


def robots():
    rng = np.random.default_rng(3)
    yield "chain", hinge.samples.chain(rng, 6)
    yield "tree", hinge.samples.random_tree(rng, 9)
    yield "puma", hinge.samples.puma560()


@pytest.mark.parametrize(("name", "count"), JOINT_SPACE.items())
@pytest.mark.parametrize("robot", [r for _, r in robots()], ids=[n for n, _ in robots()])
def test_joint_space_results_do_not_change(robot, name, count):
    rng = np.random.default_rng(4)
    q, qd = robot.random_state(rng, 4)
    given = (q, qd, rng.normal(size=qd.shape))[:count]
    plain = getattr(robot, name)(*given, backend="interpret")
    moved = getattr(robot, name)(*given, backend="interpret", regroup=True)
    assert np.abs(plain - moved).max() <= 1e-11 * np.abs(plain).max()


def test_what_a_hinge_cannot_feel_is_gone():
    arm = regrouped(reframe(hinge.samples.chain(np.random.default_rng(0), 5).model))
    for i, _ in arm.outward():
        assert arm.inertia[i].m == 0.0
        assert arm.inertia[i].h[2] == 0.0
        assert arm.inertia[i].I[1] == 0.0


def test_operations_go_away():
    arm = hinge.samples.chain(np.random.default_rng(1), 6)
    plain, moved = arm.cost("inverse_dynamics"), arm.cost("inverse_dynamics", regroup=True)
    assert moved.mul + moved.add <= 0.92 * (plain.mul + plain.add)


@pytest.mark.parametrize(
    "name", ["kinetic_energy", "potential_energy", "momentum", "center_of_mass", "joint_reactions"]
)
def test_results_for_bodies_refuse_it(name):
    arm = hinge.samples.puma560()
    given = [np.zeros(6)] * {"kinetic_energy": 2, "momentum": 2, "joint_reactions": 3}.get(name, 1)
    with pytest.raises(hinge.NotCovered, match="regroup=True"):
        getattr(arm, name)(*given, regroup=True)


def test_masses_that_vary_are_moved_too():
    arm = hinge.samples.puma560()
    link = list(arm.model.links)[3]
    varied = arm.vary(f"{link}.mass")
    q, qd = arm.random_state(np.random.default_rng(0), 3)
    given = {f"{link}.mass": np.array([1.0, 2.0, 30.0])[:, None]}
    plain = varied.inverse_dynamics(q, qd, qd, parameters=given, backend="interpret")
    moved = varied.inverse_dynamics(q, qd, qd, parameters=given, backend="interpret", regroup=True)
    assert np.allclose(plain, moved, rtol=1e-11, atol=1e-11)


def test_a_method_that_needs_the_mass_of_each_body_refuses_it_by_name():
    arm = hinge.samples.puma560()
    with pytest.raises(hinge.NotCovered, match="no centre of mass"):
        arm.inverse_dynamics(*[np.zeros(6)] * 3, method="silver", regroup=True)
