"""What touched during a run: forces at its recorded states are those that moved it."""

import pickle

import numpy as np
import pytest

import hinge
from hinge import TrajectoryError

G = 9.81
H = 2e-3
LAWS = ("rigid", "soft")


def ball(mass=2.0):
    return hinge.Scene().body("ball", "sphere", 0.1, mass=mass).robot


def block():
    return hinge.Scene().body("block", "box", (0.4, 0.2, 0.1), mass=3.0).robot


def at(height, n=1):
    q = np.tile([1.0, 0, 0, 0, 0, 0, height], (n, 1))
    return q[0] if n == 1 else q


def off_balance(robot, run, mass):
    """Momentum a second that a step gains besides gravity and forces of contact, as a share of the largest of these."""
    p, forces = robot.momentum(run.q, run.qd)[..., 3:], run.contacts.forces.sum(axis=-2)[..., :-1, :]
    gained = np.diff(p, axis=-2) / H - np.array([0.0, 0.0, -mass * G])
    return np.abs(gained - forces).max() / np.abs(forces).max()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
def test_a_standing_block_is_carried(law):
    run = hinge.simulate(block(), 0.5, q0=at(0.05), step=H, ground=0.0, law=law)
    made = run.contacts
    assert made.forces.shape == made.points.shape == made.normals.shape == (251, 4, 3)
    assert made.gaps.shape == made.pairs.shape == (251, 4)
    assert (made.pairs[-1] == 0).all()
    assert made.names == (("ground", "block"),)
    np.testing.assert_allclose(made.forces[-1].sum(axis=0), [0.0, 0.0, 3.0 * G], atol=1e-5)
    np.testing.assert_allclose(np.abs(made.points[-1, :, :2]), [[0.2, 0.1]] * 4, atol=1e-6)
    np.testing.assert_allclose(made.normals[-1], [[0.0, 0.0, 1.0]] * 4, atol=1e-12)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("friction", [0.0, (0.5, 0.01, 0.001)])
def test_momentum_is_what_forces_make_it(law, friction):
    """Bounces, spin that friction takes, and rolling, of several balls at once."""
    ground = hinge.Ground(friction=friction, restitution=0.6)
    qd0 = np.array([[0, 20.0, 0, 0, 0, 0], [5.0, 0, 3.0, 1.0, 0, -1.0], [0, 0, 0, 2.0, 1.0, 0]])
    run = hinge.simulate(ball(), 1.0, at(0.3, 3), qd0, step=H, ground=ground, law=law)
    assert (run.contacts.pairs >= 0).any(axis=(1, 2)).all()
    assert off_balance(ball(), run, 2.0) < (1e-6 if law == "rigid" and friction else 1e-8)  # the error of rk4, or none


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
def test_a_tumbling_box_keeps_the_balance(law):
    turn = np.array([0.97, 0.15, 0.15, 0.1])
    q0 = np.r_[turn / np.linalg.norm(turn), 0, 0, 0.3]
    run = hinge.simulate(block(), 0.6, q0, step=H, ground=hinge.Ground(friction=0.6), law=law)
    forces = run.contacts.forces
    p = block().momentum(run.q, run.qd)[..., 3:]
    given = H * (forces.sum(axis=-2)[:-1].sum(axis=0) - len(forces[1:]) * np.array([0.0, 0.0, 3.0 * G]))
    np.testing.assert_allclose(p[-1] - p[0], given, atol=0.01 * 3.0 * G * 0.6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
def test_a_rollout_and_a_sparse_record_have_the_same(law):
    given = {"ground": 0.0, "law": law}
    qd0 = np.array([[1.0, 2.0, 0, 0.5, 0, 0], [0, 0, 0, 0, 1.0, -1.0]])
    run = hinge.simulate(ball(), 0.5, at(0.15, 2), qd0, step=H, **given)
    thin = hinge.simulate(ball(), 0.5, at(0.15, 2), qd0, step=H, record=10, **given)
    rolled = hinge.rollout(ball(), at(0.15, 2), qd0, 250, H, record=10,
                           method="rk4" if law == "rigid" else "semi_implicit", **given)  # fmt: skip
    for other in (thin.contacts, rolled.contacts, run[::10].contacts):
        np.testing.assert_array_equal(other.pairs, run.contacts.pairs[:, ::10])
        np.testing.assert_allclose(other.forces, run.contacts.forces[:, ::10], atol=1e-6)


@pytest.mark.sweep
def test_forces_from_python_and_from_a_law_are_the_same():
    def lift(t, q, qd):
        return np.array([0.0, 0, 0, 2.0 * np.sin(9.0 * t), 0, 8.0 * np.cos(7.0 * t)])

    def untraceable(t, q, qd):
        return lift(float(t), q, qd)

    traced = hinge.simulate(block(), 0.2, q0=at(0.05), step=H, ground=0.0, control=lift, method="semi_implicit")
    taus = np.array([lift(k * H, None, None) for k in range(100)])
    streamed = hinge.simulate(block(), 0.2, q0=at(0.05), step=H, ground=0.0, control=taus, method="semi_implicit")
    with pytest.warns(UserWarning, match="runs in Python"):
        python = hinge.simulate(
            block(), 0.2, q0=at(0.05), step=H, ground=0.0, control=untraceable, method="semi_implicit"
        )
    sampled = hinge.simulate(block(), 0.2, q0=at(0.05), step=H, ground=0.0, control=lift, sample=1, record=7,
                             method="semi_implicit")  # fmt: skip
    for run, rows in ((streamed, slice(100)), (python, slice(101)), (sampled, slice(0, 101, 7))):
        found = traced.contacts.forces[rows]
        np.testing.assert_allclose(run.contacts.forces[: len(found)], found, atol=1e-8)


def test_numbers_of_rollouts_are_in_it():
    heavy = ball().vary("ball.mass")
    run = hinge.simulate(heavy, 0.1, at(0.1, 2), step=H, ground=0.0, parameters={"ball.mass": [1.0, 4.0]})
    np.testing.assert_allclose(run.contacts.forces[:, -1, 0, 2], [G, 4.0 * G], rtol=1e-9)


def test_a_file_has_states_and_no_contacts(tmp_path):
    run = hinge.simulate(ball(), 0.1, at(0.1), step=H, ground=0.0, file=tmp_path / "run.zarr")
    assert run.contacts.forces.shape == (51, 1, 3)
    run = hinge.simulate(ball(), 0.1, step=H, ground=0.0, file=tmp_path / "run.zarr", append=True)
    with pytest.raises(TrajectoryError, match=r"the states before t = 0\.1 s were there before this run"):
        _ = run.contacts
    assert run[50:].contacts.forces.shape == (51, 1, 3)
    for other in (hinge.open(tmp_path / "run.zarr"), pickle.loads(pickle.dumps(run))):
        with pytest.raises(TrajectoryError, match="does not know what touched"):
            _ = other.contacts


def test_what_was_lost_touches_nothing():
    run = hinge.simulate(ball(), 0.1, at(0.1, 2), [[0.0] * 6, [0, 0, 0, 0, 0, 1e9]], step=H, ground=0.0)
    assert run.failed.tolist() == [False, True]
    assert (run.contacts.pairs[0] == 0).all()
    assert (run.contacts.pairs[1, 1:] == -1).all()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("law", LAWS)
def test_surfaces_of_rollouts_are_in_it(law):
    """Blocks that slide are held back by what the friction of each says."""
    mu = np.array([0.1, 0.3])
    qd0 = np.array([0.0, 0, 0, 2.0, 0, 0])
    run = hinge.simulate(block(), 0.2, at(0.05, 2), qd0, step=H, ground=0.0, law=law, parameters={"friction": mu})
    pull = run.contacts.forces.sum(axis=-2)[:, :-1]
    assert (pull[..., 2] > 0.0).sum(axis=1).min() > 10  # by the soft law it chatters
    np.testing.assert_allclose(pull[..., 0], -mu[:, None] * pull[..., 2], rtol=1e-6, atol=1e-9)
