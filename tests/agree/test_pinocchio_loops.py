"""Loop dynamics against Pinocchio's constrained dynamics: a platform carried by two arms, and Bennett's linkage."""

from dataclasses import replace

import numpy as np
import pytest
from loop_states import bennett, swinging

import hinge

pin = pytest.importorskip("pinocchio")


def two_arms(seed):
    rng = np.random.default_rng(seed)
    first, second = hinge.samples.chain(rng, 6), hinge.samples.chain(rng, 6)
    return first.attach(second, at="base", placement=[0.3, -0.2, 0.1], prefix="other_"), rng


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("kind", "size"), [("fixed", 6), ("spherical", 3)])
@pytest.mark.parametrize("method", ["mass_matrix", "sparse", "articulated"])
def test_a_parallel_mechanism_accelerates_as_in_pinocchio(kind, size, method, tmp_path, monkeypatch):
    monkeypatch.setenv("HINGE_BACKEND", "interpret")
    tree, rng = two_arms(4)
    q, qd = (a[0] for a in tree.random_state(rng, 1))
    held = np.linalg.inv(tree.pose(q, "link6")) @ tree.pose(q, "other_link6")
    robot = tree.close(kind, "link6", "other_link6", placement_a=held)
    A = robot.loop_jacobian(q)
    qd = qd - np.linalg.pinv(A) @ (A @ qd)
    tau = rng.normal(size=12)
    qdd, forces = robot.loop_dynamics(q, qd, tau, method=method)

    path = tmp_path / "tree.urdf"
    hinge.write(tree, path)
    model = pin.buildModelFromUrdf(str(path))
    assert list(model.names)[1:] == list(tree.joint_names)
    data = model.createData()
    ids = [model.getJointId(name) for name in ("joint6", "other_joint6")]
    contact = pin.ContactType.CONTACT_6D if size == 6 else pin.ContactType.CONTACT_3D
    closing = pin.RigidConstraintModel(
        contact, model, ids[0], pin.SE3(held), ids[1], pin.SE3.Identity(), pin.ReferenceFrame.LOCAL
    )
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.append(closing)
    datas.append(closing.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    at = pin.integrate(model, pin.neutral(model), q)  # angles without limits are pairs there
    settings = pin.ProximalSettings(1e-14, 1e-14, 0.0, 50)
    wanted = pin.constraintDynamics(model, data, at, qd, tau, models, datas, settings)
    assert np.abs(wanted).max() > 1.0
    np.testing.assert_allclose(qdd, wanted, rtol=1e-8, atol=1e-8 * np.abs(wanted).max())
    assert forces.shape == (size,)


def test_an_overconstrained_linkage_accelerates_as_in_pinocchio(tmp_path):
    """Bennett's linkage: its cut hinge there is two points on the axis that stay together, six constraints of rank two.

    Pinocchio solves them by proximal iterations.
    """
    robot = bennett()
    q, qd = swinging(robot)
    tau = np.array([3.0, -2.0, 1.0])
    qdd = robot.loop_dynamics(q, qd, tau)[0]
    tree = hinge.Robot(replace(robot.model, loops=()))
    hinge.write(tree, tmp_path / "tree.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "tree.urdf"))
    data = model.createData()
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    pose = robot.pose(q, "loop1.a")
    for along in (0.0, 0.7):
        shift = np.eye(4)
        shift[2, 3] = along
        ends = [pose @ shift, np.linalg.inv(robot.pose(q, "link2")) @ robot.pose(q, "loop1.b") @ shift]
        closing = pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, 0, pin.SE3(ends[0]), model.getJointId("joint2"), pin.SE3(ends[1]),
            pin.ReferenceFrame.LOCAL,
        )  # fmt: skip
        models.append(closing)
        datas.append(closing.createData())
    pin.initConstraintDynamics(model, data, models, datas)
    at = pin.integrate(model, pin.neutral(model), q)
    settings = pin.ProximalSettings(1e-13, 1e-13, 1e-8, 100)
    wanted = pin.constraintDynamics(model, data, at, qd, tau, models, datas, settings)
    np.testing.assert_allclose(qdd, wanted, rtol=1e-7)
