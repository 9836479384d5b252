"""silver1981: what it says of ω and of rates of rotation matrices, and of Lagrange's equation with either.

Numbers in brackets are equations there.
"""

import itertools

import numpy as np
import pytest
from moving import Moving, close, cloud, cross_matrix

import hinge
from hinge.dynamics.turney import pseudo
from hinge.formulations.links import inertia, links
from hinge.formulations.mat4 import Mat4
from hinge.formulations.silver import fictitious_link
from hinge.formulations.uicker_kahn import generator, inertia4
from hinge.model import Builder
from hinge.spatial import Force, Mat3, Vec3, cross3, dot3
from hinge.spatial.linear3 import Sym3, congruence

EPSILON = np.array([[[(i - j) * (j - k) * (k - i) / 2 for k in range(3)] for j in range(3)] for i in range(3)])
ONE = np.eye(3)
KINDS = ("revolute", "prismatic", "revolute", "continuous")


# the vector product as a tensor


def test_the_product_of_two_permutation_tensors():
    close(np.einsum("ijk,ijl->kl", EPSILON, EPSILON), 2 * ONE)  # (2.3)
    deltas = np.einsum("jl,km->jklm", ONE, ONE) - np.einsum("jm,kl->jklm", ONE, ONE)
    close(np.einsum("ijk,ilm->jklm", EPSILON, EPSILON), deltas)  # (2.4)


def test_the_permutation_tensor_is_the_vector_product():
    a, b, c = np.random.default_rng(0).normal(size=(3, 3))
    close(np.einsum("ijk,j,k->i", EPSILON, a, b), np.cross(a, b))
    close(np.einsum("ijk,i,j,k->", EPSILON, a, b, c), a @ np.cross(b, c))


# one body, by ω and by W


def test_the_two_inertias_give_each_other():
    _, _, _, J, I = cloud(np.random.default_rng(1))
    close(np.trace(J) * ONE - J, I)  # (2.11), with (2.7) and (2.9) summed over points
    close(np.trace(I) / 2 * ONE - I, J)
    packed = Sym3((I[0, 0], I[1, 1], I[2, 2], I[1, 2], I[0, 2], I[0, 1]))
    close(np.reshape(pseudo(packed).full(), (3, 3)), J)
    close(inertia(pseudo(packed)), packed)


@pytest.fixture(scope="module")
def arm():
    """An arm of four links with a slide among them, in motion: model, symbols, links, and what the text names."""
    return Arm(7)


class Arm:
    """What the text calls W, ω, v and I, in base coordinates, as symbols."""

    def __init__(self, seed):
        rng = np.random.default_rng(seed)
        builder = Builder("silver")
        builder.link("base")
        for k, kind in enumerate(KINDS, start=1):
            _, weights, com, _, I = cloud(rng)
            builder.link(f"link{k}", weights.sum(), com, I)
            Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
            builder.joint(f"joint{k}", kind, f"link{k - 1}" if k > 1 else "base", f"link{k}", rng.normal(size=3),
                          Q * np.sign(np.linalg.det(Q)), rng.normal(size=3))  # fmt: skip
        self.robot = hinge.Robot(builder.build())
        self.model, self.t = self.robot.model, Moving(rng, len(KINDS))
        self.link = links(self.model, self.t.per_joint[0])
        self.W, self.origin = [Mat3((1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))], [Vec3((0.0, 0.0, 0.0))]
        for one in self.link[1:]:
            self.origin.append(self.origin[-1] + self.W[-1] @ one.p)
            self.W.append(self.W[-1].times(one.R))
        self.r = [o + W @ one.r_bar for o, W, one in zip(self.origin, self.W, self.link, strict=True)]
        self.v = [self.t.rate(r) for r in self.r]
        self.I = [congruence(W, one.I_com).full() for W, one in zip(self.W, self.link, strict=True)]
        self.turn = [W @ one.turn for W, one in zip(self.W, self.link, strict=True)]
        self.slide = [W @ one.slide for W, one in zip(self.W, self.link, strict=True)]
        self.w = [Vec3((0.0, 0.0, 0.0))]
        for k in range(1, self.n + 1):
            self.w.append(self.w[-1] + self.turn[k] * self.t.qd[k - 1])  # (3.14)

    @property
    def n(self):
        return len(KINDS)

    def pairs(self):
        """Link i and coordinate j, and the symbols of coordinate and rate."""
        for i, j in itertools.product(range(1, self.n + 1), repeat=2):
            yield i, j, self.t.q[j - 1], self.t.qd[j - 1]


def test_angular_velocity_and_rate_of_rotation_give_each_other(arm):
    for W, w in zip(arm.W[1:], arm.w[1:], strict=True):
        W, Wd, w = arm.t(W), arm.t(arm.t.rate(W)), arm.t(w)
        close(Wd, np.einsum("ikl,k,lj->ij", EPSILON, w, W))  # (2.5)
        close(w, 0.5 * np.einsum("ijk,jl,kl->i", EPSILON, W, Wd))  # (2.6)


def test_angular_velocity_is_that_of_the_robot(arm):
    q, qd, _ = arm.t.numbers
    for i, name in enumerate(arm.robot.body_names, start=1):
        close(arm.t(arm.w[i]), arm.robot.velocity(q, qd, name, frame="base")[:3])


def test_the_two_rotational_energies_are_equal(arm):
    for i in range(1, arm.n + 1):
        Wd, w = arm.t(arm.t.rate(arm.W[i])), arm.t(arm.w[i])
        K = np.reshape(arm.link[i].K.full(), (3, 3))
        close(np.trace(Wd @ K @ Wd.T) / 2, w @ arm.t(arm.I[i]) @ w / 2)  # (2.8), (2.10)


def test_the_two_energies_of_an_arm_are_its_kinetic_energy(arm):
    q, qd, _ = arm.t.numbers
    vectors = matrices = 0.0
    for i in range(1, arm.n + 1):
        v, w, I = arm.t(arm.v[i]), arm.t(arm.w[i]), arm.t(arm.I[i])
        vectors += arm.link[i].m * v @ v / 2 + w @ I @ w / 2  # (3.1)
        W = Mat4.of(arm.W[i], arm.origin[i], 1.0)
        Wd, J = (np.reshape(arm.t(x), (4, 4)) for x in (arm.t.rate(W), inertia4(arm.link[i])))
        matrices += np.trace(Wd @ J @ Wd.T) / 2
    close(vectors, arm.robot.kinetic_energy(q, qd))
    close(matrices, arm.robot.kinetic_energy(q, qd))


def test_the_two_generalised_forces_are_equal(arm):
    for i, _, q, qd in arm.pairs():
        w, wd, I = arm.t(arm.w[i]), arm.t(arm.t.rate(arm.w[i])), arm.t(arm.I[i])
        by_vectors = (wd @ I + np.cross(w, I @ w)) @ arm.t(arm.t.by(arm.w[i], qd))
        Wdd, K = arm.t(arm.t.rate(arm.t.rate(arm.W[i]))), np.reshape(arm.link[i].K.full(), (3, 3))
        close(np.trace(arm.t(arm.t.by(arm.W[i], q)) @ K @ Wdd.T), by_vectors)  # the table after (2.11)


# the steps from the energy to the generalised force


def energy(arm):
    total = 0.0
    for i in range(1, arm.n + 1):
        total = total + 0.5 * arm.link[i].m * dot3(arm.v[i], arm.v[i]) + 0.5 * dot3(arm.w[i], arm.I[i] @ arm.w[i])
    return total


def test_derivatives_of_velocities(arm):
    d = arm.t
    for i, j, q, qd in arm.pairs():
        v, w = arm.v[i], arm.w[i]
        close(d(d.by(v, qd)), d(d.by(arm.r[i], q)))  # (A.1)
        close(d(d.rate(d.by(v, qd))), d(d.by(v, q)))  # (3.4)
        by_rate = d.by(w, qd)
        close(d(d.rate(by_rate)), d(d.by(w, q)) + np.cross(d(w), d(by_rate)))  # (3.6)
        if j <= i:
            close(d(d.rate(by_rate)), np.cross(d(arm.w[j]), d(arm.turn[j])))  # (A.2)
            close(d(d.by(arm.turn[i], q)), np.cross(d(arm.turn[j]), d(arm.turn[i])))  # (A.3)


def test_terms_with_the_inertia(arm):
    d = arm.t
    for i, _, q, qd in arm.pairs():
        w, I, Id, dI = (d(x) for x in (arm.w[i], arm.I[i], d.rate(arm.I[i]), d.by(arm.I[i], q)))
        by_rate = d(d.by(arm.w[i], qd))
        close(w @ Id @ by_rate, np.cross(w, I @ w) @ by_rate)  # (3.5)
        close(w @ I @ np.cross(w, by_rate), -np.cross(w, I @ w) @ by_rate)  # (3.7)
        close(w @ dI @ w / 2, -np.cross(w, I @ w) @ by_rate)  # (3.10)


def test_derivatives_of_the_energy(arm):
    d, K = arm.t, energy(arm)
    for j in range(1, arm.n + 1):
        q, qd = d.q[j - 1], d.qd[j - 1]
        momentum = rate = slope = 0.0
        for i in range(1, arm.n + 1):
            m, v, vd, w, wd, I = arm.link[i].m, *(d(x) for x in (arm.v[i], d.rate(arm.v[i]), arm.w[i],
                                                                  d.rate(arm.w[i]), arm.I[i]))  # fmt: skip
            v_rate, w_rate, v_by, w_by = (d(d.by(x, s)) for s in (qd, q) for x in (arm.v[i], arm.w[i]))
            momentum += m * v @ v_rate + w @ I @ w_rate
            rate += m * vd @ v_rate + m * v @ v_by + wd @ I @ w_rate + w @ I @ w_by
            slope += m * v @ v_by + w @ I @ w_by + w @ d(d.by(arm.I[i], q)) @ w / 2
        close(d(d.by(K, qd)), momentum)  # (3.2)
        close(d(d.rate(d.by(K, qd))), rate)  # (3.3), (3.8)
        close(d(d.by(K, q)), slope)  # (3.9)


def newton_and_euler(arm, i):
    """F and N of a link."""
    d = arm.t
    w, wd, I = d(arm.w[i]), d(d.rate(arm.w[i])), d(arm.I[i])
    return arm.link[i].m * d(d.rate(arm.v[i])), I @ wd + np.cross(w, I @ w)


def test_the_generalised_forces_are_those_of_the_robot(arm):
    floating = arm.robot.with_gravity((0.0, 0.0, 0.0))
    tau, d, K = floating.inverse_dynamics(*arm.t.numbers), arm.t, energy(arm)
    for j in range(1, arm.n + 1):
        q, qd = d.q[j - 1], d.qd[j - 1]
        close(d(d.rate(d.by(K, qd))) - d(d.by(K, q)), tau[j - 1])  # (1.1)
        total = 0.0
        for i in range(1, arm.n + 1):
            F, N = newton_and_euler(arm, i)
            total += F @ d(d.by(arm.v[i], qd)) + N @ d(d.by(arm.w[i], qd))
        close(total, tau[j - 1])  # (3.11), (3.12)


def test_velocities_are_sums_over_the_joints(arm):
    d = arm.t
    for i in range(1, arm.n + 1):
        arms = [arm.r[i] - arm.origin[j] for j in range(1, i + 1)]
        terms = [(cross3(arm.turn[j], arms[j - 1]) + arm.slide[j]) * d.qd[j - 1] for j in range(1, i + 1)]
        close(d(arm.v[i]), sum(d(x) for x in terms))  # (3.13)
        for j, symbol in enumerate(d.qd, start=1):
            turn, slide = (d(x) * (j <= i) for x in (arm.turn[j], arm.slide[j]))
            close(d(d.by(arm.v[i], symbol)), np.cross(turn, d(arm.r[i]) - d(arm.origin[j])) + slide)  # (3.15)
            close(d(d.by(arm.w[i], symbol)), turn)  # (3.16)


@pytest.mark.parametrize("along_axis", [0.0, 0.7, -30.0])
def test_any_point_of_the_axis_will_do(arm, along_axis):
    tau, d = arm.robot.with_gravity((0.0, 0.0, 0.0)).inverse_dynamics(*arm.t.numbers), arm.t
    for j in range(1, arm.n + 1):
        z, s = d(arm.turn[j]), d(arm.slide[j])
        point, total = d(arm.origin[j]) + along_axis * (z + s), 0.0
        for i in range(j, arm.n + 1):
            F, N = newton_and_euler(arm, i)
            total += s @ F + z @ (np.cross(d(arm.r[i]) - point, F) + N)  # after (3.16)
        close(total, tau[j - 1], 1e-11)


# gravity and forces from outside


def test_gravity_is_a_base_that_accelerates_against_it(arm):
    lifted = (np.zeros(6), [0.0, 0.0, 0.0, 0.0, 0.0, 9.81])
    floating = arm.robot.with_gravity((0.0, 0.0, 0.0))
    for method in ("newton_euler", "silver", "hollerbach", "hollerbach_4x4"):
        given = floating.inverse_dynamics(*arm.t.numbers, base_motion=lifted, method=method)
        close(given, arm.robot.inverse_dynamics(*arm.t.numbers))


def test_a_fictitious_link_needs_what_the_load_gives():
    load = Force(Vec3((1.0, 2.0, 3.0)), Vec3((4.0, 5.0, 6.0)))
    assert list(fictitious_link(load)) == [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0]


@pytest.mark.parametrize(("mass", "inertia"), [(1.0, 1.0), (0.3, 2.5)])
def test_a_load_is_one_more_link_that_moves_against_it(arm, mass, inertia):
    """The further link is a body on a free joint, whose acceleration is chosen; the text's way, with a real body."""
    (q, qd, qdd), wrench = arm.t.numbers, np.random.default_rng(5).normal(size=6)
    extra = Builder("extra")
    extra.link("ground")
    extra.link("pusher", mass, (0.0, 0.0, 0.0), inertia * np.eye(3))
    extra.joint("held", "free", "ground", "pusher")
    both = arm.robot.with_gravity((0.0, 0.0, 0.0)).attach(hinge.Robot(extra.build()), at="link4")
    still = np.concatenate([q, [1.0], np.zeros(6)])  # where the last link is, and turning neither with it nor at all
    spin = both.velocity(still, np.concatenate([qd, np.zeros(6)]), "pusher")
    qd_both = np.concatenate([qd, -spin[:3], np.zeros(3)])
    wanted = -np.concatenate([wrench[:3] / inertia, wrench[3:] / mass])
    has = both.acceleration(still, qd_both, np.concatenate([qdd, np.zeros(6)]), "pusher", kind="classical")
    tau = both.inverse_dynamics(still, qd_both, np.concatenate([qdd, wanted - has]))
    pushed = arm.robot.with_gravity((0.0, 0.0, 0.0)).inverse_dynamics(q, qd, qdd, external={"link4": wrench})
    close(tau[: arm.n], pushed)
    close(tau[: arm.n], arm.robot.with_gravity((0.0, 0.0, 0.0)).inverse_dynamics(
        q, qd, qdd, external={"link4": wrench}, method="silver"))  # fmt: skip


def test_the_matrix_of_a_joint_is_the_derivative_of_its_pose(arm):
    for one, q in zip(arm.link[1:], arm.t.q, strict=True):
        T = Mat4.of(one.R, one.p, 1.0)
        dT, T, Q = (np.reshape(arm.t(x), (4, 4)) for x in (arm.t.by(T, q), T, generator(one)))
        close(dT, T @ Q)
        close(Q[:3, :3], cross_matrix(one.turn))
