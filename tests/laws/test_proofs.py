"""The proofs of the doctor hold for every kind of robot, and fail for a robot that computes something else."""

import numpy as np
import pytest
from robots import families, robot_of

import hinge
from hinge.checking.proofs import LAWS, Proof, apart, draw, prove, rate

# many robots of a few calls each, which are not worth compiling
pytestmark = pytest.mark.usefixtures("plain_interpreter")

OUTSIDE = ("agrees with Pinocchio", "agrees with MuJoCo")


def outcomes(robot, **given):
    return {proof.name: proof.outcome for proof in prove(robot, **given)}


@families
def test_every_proof_holds_for_every_family_of_robots(family):
    proofs = prove(robot_of(family, 1), states=4)
    assert [proof.name for proof in proofs] == [*LAWS, *OUTSIDE]
    failed = [str(proof) for proof in proofs[: len(LAWS)] if proof.passed is not True and proof.name != "machine code"]
    assert failed == []
    assert all(proof.detail.endswith("at 4 random states.") for proof in proofs[:7])


class Wrong:
    """A robot with one quantity that is a little off."""

    def __init__(self, robot, **methods):
        self.robot, self.methods = robot, methods

    def __getattr__(self, name):
        change, method = self.methods.get(name), getattr(self.robot, name)
        return (lambda *args, **options: change(method(*args, **options))) if change else method


def off_in_one_entry(x):
    made = np.array(x)
    made[..., 0] *= 1 + 1e-6
    return made


def off_diagonal(x):
    made = np.array(x)
    made[..., 0, 1] *= 1 + 1e-6
    return made


def off(x):
    return np.array(x) * (1 + 1e-6)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [
        ("forward_dynamics", off_in_one_entry, {"forward undoes inverse"}),
        ("inverse_dynamics", off_in_one_entry, {"symmetric", "mass matrix", "energy", "forward undoes inverse"}),
        ("mass_matrix", off, {"mass matrix", "passive"}),
        ("mass_matrix", lambda H: -np.asarray(H), {"mass matrix", "positive definite", "passive"}),
        ("coriolis_matrix", off_diagonal, {"passive"}),
        ("kinetic_energy", off, {"energy"}),
        ("potential_energy", off, {"energy"}),
        ("jacobian", off_in_one_entry, {"Jacobian"}),
        ("pose", off_in_one_entry, {"Jacobian"}),
        ("forward_dynamics", lambda qdd: np.full_like(qdd, np.nan), {"forward undoes inverse"}),
    ],
)
def test_a_quantity_that_is_off_by_a_millionth_fails_its_proofs(name, change, fails):
    robot = hinge.samples.puma560()
    proofs = prove(Wrong(robot, **{name: change}))
    assert {proof.name for proof in proofs if proof.passed is False} == fails
    assert all(proof.worst is not None for proof in proofs if proof.passed is False)


def test_machine_code_that_is_off_is_found(monkeypatch):
    monkeypatch.setattr("hinge.checking.proofs.default_backend", lambda: "llvm")
    robot = hinge.samples.planar_2r()
    call = robot.inverse_dynamics

    def served(*args, backend=None):
        return call(*args, backend="interpret") * (1 + 1e-9 * (backend == "llvm"))

    robot.__dict__["inverse_dynamics"] = served
    assert outcomes(robot)["machine code"] == "failed"
    robot.__dict__["inverse_dynamics"] = lambda *args, backend=None: call(*args, backend="interpret")
    assert outcomes(robot)["machine code"] == "passed"


def test_a_joint_that_moves_nothing_is_named():
    builder = hinge.Builder("arm")
    for name in ("base", "upper", "lower"):
        builder.link(name, mass=float(name == "upper"), inertia=np.eye(3) * 0.1 * (name == "upper"))
    builder.joint("shoulder", "revolute", "base", "upper")
    builder.joint("elbow", "revolute", "upper", "lower")
    proofs = {proof.name: proof for proof in prove(hinge.Robot(builder.build()))}
    assert proofs["positive definite"] == Proof(
        "positive definite", False, 0.0, 1e-12, "joint 'elbow' moves nothing that has inertia, at 16 random states."
    )
    assert proofs["forward undoes inverse"].passed is None
    assert "joint 'elbow' moves nothing that has inertia" in proofs["forward undoes inverse"].detail
    assert proofs["energy"].passed


def test_where_nothing_moves_nothing_is_proven():
    assert set(outcomes(hinge.load('<robot name="r"><link name="a"/></robot>')).values()) == {"skipped"}


def test_a_robot_that_is_no_file_is_not_compared():
    skipped = {proof.name: proof.detail for proof in prove(hinge.samples.planar_2r()) if proof.passed is None}
    assert set(skipped) == {"machine code", *OUTSIDE}


@pytest.mark.parametrize(("module", "name"), [("pinocchio", "Pinocchio"), ("mujoco", "MuJoCo")])
def test_a_library_that_is_not_installed_is_skipped_and_said_to_be(monkeypatch, module, name):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    robot = hinge.samples.planar_2r()
    proofs = {proof.name: proof for proof in prove(robot, text="<robot/>")}
    assert proofs[f"agrees with {name}"] == Proof(f"agrees with {name}", None, None, None, f"{name} is not installed.")


def test_rates_are_exact_for_what_the_series_holds():
    """Sixth order: a polynomial of degree six has its derivative exactly, but for rounding."""
    assert abs(rate(lambda t: np.array(3.0 * t - t**2 + 5 * t**3 - t**6)) - 3.0) < 1e-13


def test_apart_is_relative_to_the_largest_number_state_by_state():
    a, b = np.array([[1.0, 1e6], [1.0, 0.0]]), np.array([[1.0 + 1e-3, 1e6], [1.0, 0.0]])
    assert apart(a, b) == pytest.approx(1e-9)
    assert apart(a * 0, b * 0) == 0.0
    assert apart(a, a * np.nan) == np.inf
    assert apart(a[:1], b[:1], [[1e9]]) == pytest.approx(1e-12)


def test_states_are_the_same_every_time_and_velocities_have_unit_length():
    robot = hinge.samples.puma560()
    first, second = draw(robot, 5), draw(robot, 5)
    assert np.array_equal(first.q, second.q)
    assert np.allclose(np.linalg.norm(first.qd, axis=1), 1.0)
