"""Loop dynamics against Pinocchio's constrained dynamics, on a platform carried by two arms."""

import numpy as np
import pytest

import hinge

pin = pytest.importorskip("pinocchio")


def two_arms(seed):
    rng = np.random.default_rng(seed)
    first, second = hinge.samples.chain(rng, 6), hinge.samples.chain(rng, 6)
    return first.attach(second, at="base", placement=[0.3, -0.2, 0.1], prefix="other_"), rng


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
